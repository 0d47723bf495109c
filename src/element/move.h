/* SPDX-License-Identifier: MIT */
/* Moving rows of elements with any strides, as they are or with the bytes
 * of their units reversed: no conversion. */
#ifndef RD_MOVE_H
#define RD_MOVE_H

#include "src/element/dtype.h"

/* Move n elements; strides in bytes.  The sides must not overlap.
 * item_nbytes is only looked at by the function for RAW types. */
typedef void rd_move_fn (const unsigned char *from, int64_t from_stride,
                         unsigned char *to, int64_t to_stride, uint64_t n,
                         size_t item_nbytes);

/* The function for elements of a type. */
rd_move_fn *rd_move_find (const struct rd_type *type, bool swapped);

#endif /* RD_MOVE_H */
