/* SPDX-License-Identifier: MIT */
/* A growable run of bytes that is reused: its capacity only grows, so that
 * a worker's second tile needs no allocation. */
#ifndef RD_BUFFER_H
#define RD_BUFFER_H

#include <radio/base.h>

#include "src/base/cleanup.h"

struct rd_buffer {
  unsigned char *data;        /* NULL as long as capacity is 0 */
  size_t nbytes;              /* in use */
  size_t capacity;
};

/* Reserves a capacity of nbytes in total; keeps the bytes in use.
 * RADIO_ERROR_MEMORY. */
enum radio_status rd_buffer_reserve (struct rd_buffer *buffer, size_t nbytes)
  RADIO_USE_RESULT;

/* Append bytes; grows by at least half.  RADIO_ERROR_MEMORY. */
enum radio_status rd_buffer_append (struct rd_buffer *buffer,
                                    const void *data, size_t nbytes)
  RADIO_USE_RESULT;

/* Release the memory; the buffer is empty and usable again. */
void rd_buffer_free (struct rd_buffer *buffer);

#define RD_BUFFER_SCOPE RD_CLEANUP (rd_buffer_free)

#endif /* RD_BUFFER_H */
