/* SPDX-License-Identifier: MIT */
/* NumPy's file format, version 1.0 (numpy.lib.format): a header in the
 * form of a Python dictionary, then the elements as they are in memory. */
#ifndef RD_NPY_H
#define RD_NPY_H

#include "src/base/buffer.h"
#include "src/element/type.h"

/* Room for any descr, also that of a four-coloured voxel. */
#define RD_NPY_DESCR_NBYTES 80

/* NumPy's name for an element in this machine's byte order: "<i2", "|b1",
 * "|V3".  Returns buffer. */
const char *rd_npy_descr (const struct rd_type *type,
                          char buffer[RD_NPY_DESCR_NBYTES]);

/* The name for a colour, a structured type as nibabel has it; ncolours is 3
 * or 4.  Static storage. */
const char *rd_npy_colour_descr (unsigned ncolours);

/* Replace out by the header, padded so that the elements start at a multiple
 * of 64: the same bytes as numpy.save writes.  shape is in numpy's order; rank
 * may be 0. */
enum radio_status rd_npy_header (const char *descr, bool fortran_order,
                                 size_t rank, const uint64_t *shape,
                                 struct rd_buffer *out) RADIO_USE_RESULT;

#endif /* RD_NPY_H */
