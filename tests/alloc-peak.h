/* SPDX-License-Identifier: MIT */
/* The peak of the memory held by all threads together, counting allocations of
 * code that is linked statically into the test, hence of the library.  To use
 * it, add to the test program in its Makefile.inc
 *
 *   tests_x_test_y_LDADD = $(ALLOC_PEAK_LDADD)
 *   tests_x_test_y_LDFLAGS = $(ALLOC_PEAK_WRAPS)
 */
#ifndef RD_TESTS_ALLOC_PEAK_H
#define RD_TESTS_ALLOC_PEAK_H

#include <stddef.h>

/* Count from here on: what is held now is nothing. */
void alloc_peak_begin (void);

/* The most that was held since, and what still is. */
size_t alloc_peak (void);
size_t alloc_peak_held (void);

#endif /* RD_TESTS_ALLOC_PEAK_H */
