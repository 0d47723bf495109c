/* SPDX-License-Identifier: MIT */
/* Conversion of rows of elements from one type to another, contiguous on
 * both sides and in the machine's byte order. */
#ifndef RD_CONVERT_H
#define RD_CONVERT_H

#include <radio/dtype.h>

/* Converts n elements (of a complex type: n parts).  Returns true when some
 * value does not fit; its result is then undefined.  Neither side needs to be
 * aligned; they must not overlap. */
typedef bool rd_convert_fn (const unsigned char *from, unsigned char *to,
                            size_t n);

/* Returns the function for a pair of types: BOOL, integers and floats only
 * (parts of complex types are floats), and BFLOAT16 only `to'.  NULL for any
 * other. */
rd_convert_fn *rd_convert_find (enum radio_dtype from, enum radio_dtype to);

/* Computes n values * slope + inter, from float64 to float32 or float64.  `to'
 * may be the same as `from' for float64. */
void rd_convert_scale (const double *from, enum radio_dtype to_dtype,
                       unsigned char *to, size_t n, double slope,
                       double inter);

#endif /* RD_CONVERT_H */
