/* SPDX-License-Identifier: MIT */
/* Elements of any real type as statistics use them: a double, and a key
 * with the same order. */
#ifndef RD_VALUES_H
#define RD_VALUES_H

#include "src/element/type.h"

/* The bits of a type's keys: 8 or 16 of a narrow type, each of whose values
 * can be counted, 32 or 64 of a wide one. */
static inline unsigned
rd_values_key_nbits (enum radio_dtype dtype)
{
  return 8 * (unsigned) radio_dtype_nbytes (dtype);
}

/* The value of a key. */
double rd_values_of_key (enum radio_dtype dtype, uint64_t key);

/* Count the keys of n elements of a narrow type.  There are two tables of
 * 2^nbits counters one after the other, to be added up: neighbours are
 * often equal, and incrementing one counter for both would stall on the
 * first. */
void rd_values_count (enum radio_dtype dtype, const void *elements, size_t n,
                      uint64_t *counts);

/* The values and keys of n elements of a wide type. */
void rd_values_load (enum radio_dtype dtype, const void *elements, size_t n,
                     double *values, uint64_t *keys);

#endif /* RD_VALUES_H */
