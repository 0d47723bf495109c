/* SPDX-License-Identifier: MIT */
/* Reading an object of a network in order: its pieces are requested before
 * they are needed, as far as is known to be needed. */
#ifndef RD_READ_AHEAD_H
#define RD_READ_AHEAD_H

#include "src/array/linear.h"
#include "src/array/stop.h"

struct rd_read_ahead;

/* The most memory that one takes. */
#define RD_READ_AHEAD_NBYTES ((uint64_t) 4 << 20)

/* Begins without a request.  The object's store, key and file (which may be
 * NULL) live longer; its object_nbytes is known.  For one thread at a time. */
enum radio_status rd_read_ahead_open (const struct rd_linear_object *object,
                                      struct rd_io_file *file,
                                      struct rd_read_ahead **ahead)
  RADIO_USE_RESULT;

/* Ends the requests that are active.  NULL is legal. */
void rd_read_ahead_close (struct rd_read_ahead *ahead);

/* Reads up to nbytes from an offset on: *got is 0 at the object's end only, but
 * may be less than nbytes anywhere.  The following bytes are requested up to
 * the offset `end', which is no limit.  The stop (or NULL) ends waiting; pieces
 * that were requested are kept for the next read. */
enum radio_status rd_read_ahead_read (struct rd_read_ahead *ahead,
                                      struct rd_read_stop *stop,
                                      uint64_t offset, uint64_t end,
                                      void *data, size_t nbytes, size_t *got)
  RADIO_USE_RESULT;

#endif /* RD_READ_AHEAD_H */
