/* SPDX-License-Identifier: MIT */
/* Copying rows of bytes between strided memory: of the few tens of bytes
 * that a tile's rows have, where a call of memcpy costs more than the
 * bytes. */
#ifndef RD_ROWS_H
#define RD_ROWS_H

#include <radio/base.h>

/* Copy nrows rows of nbytes each; steps in bytes from start to start.  The
 * sides do not overlap. */
void rd_rows_copy (const unsigned char *from, int64_t from_step,
                   unsigned char *to, int64_t to_step, size_t nbytes,
                   size_t nrows);

/* Rows will be written soon: have the memory of short ones in the cache by
 * then.  They are far apart, so that nothing else foresees them, and waiting
 * for each would take as long as decoding a tile. */
void rd_rows_expect (const unsigned char *to, int64_t to_step, size_t nbytes,
                     size_t nrows);

#endif /* RD_ROWS_H */
