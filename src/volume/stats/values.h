/* SPDX-License-Identifier: MIT */
/* Elements of any real type as statistics use them: a double, and a key
 * with the same order. */
#ifndef RD_VALUES_H
#define RD_VALUES_H

#include "src/element/type.h"

/* True if a type has 8 or 16 bits, so that each of its values can be
 * counted. */
bool rd_values_are_narrow (enum radio_dtype dtype);

/* The number of keys of a narrow type (2^8, 2^16), and of the bits in a
 * wide one's (32, 64). */
size_t rd_values_key_count (enum radio_dtype dtype);
unsigned rd_values_key_nbits (enum radio_dtype dtype);

/* The value of a key. */
double rd_values_of_key (enum radio_dtype dtype, uint64_t key);

/* Count the keys of n elements of a narrow type.  There are two tables of
 * key_count counters one after the other, to be added up: neighbours are
 * often equal, and incrementing one counter for both would stall on the
 * first. */
void rd_values_count (enum radio_dtype dtype, const void *elements, size_t n,
                      uint64_t *counts);

/* The values and keys of n elements of a wide type. */
void rd_values_load (enum radio_dtype dtype, const void *elements, size_t n,
                     double *values, uint64_t *keys);

#endif /* RD_VALUES_H */
