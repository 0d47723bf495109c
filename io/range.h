/* SPDX-License-Identifier: MIT */
/* Which bytes of an object of a known size a read asks for: the same rule
 * in every store. */
#ifndef RD_RANGE_H
#define RD_RANGE_H

#include <radio/profile.h>

#include "io/io.h"

struct rd_span {
  uint64_t offset;
  uint64_t nbytes;            /* all of them inside the object */
};

/* Also sets get->object_nbytes.  RADIO_ERROR_LIMIT when the whole object is
 * asked for and larger than accepted. */
enum radio_status rd_range_resolve (const struct rd_io *io,
                                    struct rd_io_get *get,
                                    uint64_t object_nbytes,
                                    struct rd_span *span) RADIO_USE_RESULT;

/* Set the outcome of a read and call its done. */
void rd_get_finish (struct rd_io_get *get, enum radio_status status);

/* Tell a profile what a finished read came to: tell is called with each
 * counter, for the scope or request that it is about. */
typedef void rd_get_tell_fn (void *scope,
                             const struct radio_counter *counter,
                             uint64_t value);
void rd_get_tell (const struct rd_io_get *get, rd_get_tell_fn *tell,
                  void *scope);

#endif /* RD_RANGE_H */
