/* SPDX-License-Identifier: MIT */
/* The elements of an array in a gzip file, read from anywhere in it.  On the
 * way through the file points of entry are kept: where a block of deflate
 * begins, and the 32 KiB before it that the block may refer to.  A later read
 * begins at the nearest point, and threads inflate from several at once.
 * Known as zran, after the example of that name in zlib. */
#ifndef RD_GUNZIP_H
#define RD_GUNZIP_H

#include "src/array/linear.h"

/* The object is one of the store, which lives longer.  The elements are the
 * nbytes bytes from offset on, after inflating.  point_gap_nbytes is inflated
 * between two points; 0: as much as is of use. */
enum radio_status rd_gunzip_open (struct radio_store *store, const char *key,
                                  uint64_t offset, uint64_t nbytes,
                                  uint64_t point_gap_nbytes,
                                  struct rd_linear **linear)
  RADIO_USE_RESULT;

/* Returns the number of points that are kept now.  For tests. */
size_t rd_gunzip_npoints (struct rd_linear *linear);

#endif /* RD_GUNZIP_H */
