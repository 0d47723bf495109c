/* SPDX-License-Identifier: MIT */
/* Elements of any real type as what statistics work on: a double, and a key
 * whose order is that of the values. */
#ifndef RD_VALUES_H
#define RD_VALUES_H

#include "src/element/type.h"

/* Types of 8 and 16 bits, whose every value can be counted. */
bool rd_values_are_narrow (enum radio_dtype dtype);

/* How many keys a narrow type has (2^8, 2^16), and of how many bits a wide
 * one's are (32, 64). */
size_t rd_values_key_count (enum radio_dtype dtype);
unsigned rd_values_key_nbits (enum radio_dtype dtype);

/* The value of a key. */
double rd_values_of_key (enum radio_dtype dtype, uint64_t key);

/* Count the keys of n elements of a narrow type.  There are two tables of
 * key_count counters one after the other, which are to be added up:
 * neighbours are often equal, and counting both in one place would wait for
 * the first. */
void rd_values_count (enum radio_dtype dtype, const void *elements, size_t n,
                      uint64_t *counts);

/* The values and keys of n elements of a wide type. */
void rd_values_load (enum radio_dtype dtype, const void *elements, size_t n,
                     double *values, uint64_t *keys);

#endif /* RD_VALUES_H */
