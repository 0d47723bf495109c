/* SPDX-License-Identifier: MIT */
/* Allocations that fail when a test requests it, and a record of how much was
 * requested.  They reach all code that is linked statically into the test,
 * hence the library (libradio-internal.la), not other shared libraries.
 *
 * To use it, add to the test program in its Makefile.inc
 *
 *   tests_x_test_y_LDADD = $(ALLOC_FAIL_LDADD)
 *   tests_x_test_y_LDFLAGS = $(ALLOC_FAIL_WRAPS)
 *
 * and go through every allocation of an operation, which must succeed once
 * none fails any more:
 *
 *   for (size_t nth = 1;; nth++) {
 *     alloc_fail_nth (nth);
 *     enum radio_status status = operation ();
 *     if (!alloc_fail_end ()) {
 *       assert_ok (status);
 *       break;
 *     }
 *     assert_int_equal (status, RADIO_ERROR_MEMORY);
 *   }
 *
 * Only allocations of the thread that called alloc_fail_nth count and fail;
 * no assertion may stand between it and alloc_fail_end. */
#ifndef RD_TESTS_ALLOC_FAIL_H
#define RD_TESTS_ALLOC_FAIL_H

#include <stdbool.h>
#include <stddef.h>

/* Lets the nth allocation from now on fail, once, counted from 1; with 0 none
 * does, and all are counted. */
void alloc_fail_nth (size_t nth);

/* Lets every allocation of more than nbytes fail: this finds code that
 * allocates by the claim of a header. */
void alloc_fail_above (size_t nbytes);

/* Lets all succeed again; returns whether one was made to fail. */
bool alloc_fail_end (void);

/* The largest allocation requested since the last alloc_fail_nth or
 * alloc_fail_above, failed ones too. */
size_t alloc_fail_largest (void);

/* The number of those requested since. */
size_t alloc_fail_count (void);

#endif /* RD_TESTS_ALLOC_FAIL_H */
