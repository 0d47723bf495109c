/* SPDX-License-Identifier: MIT */
/* The cases of the conformance suite. */
#ifndef RD_TESTS_CONFORMANCE_CASES_H
#define RD_TESTS_CONFORMANCE_CASES_H

#include "tests/io/store-asserts.h"

/* The store of a case. */
struct rd_io *io_of (void **state);

/* The cases of each file. */
const struct CMUnitTest *conformance_objects (size_t *n);
const struct CMUnitTest *conformance_trees (size_t *n);
const struct CMUnitTest *conformance_writers (size_t *n);
const struct CMUnitTest *conformance_locks (size_t *n);

#endif /* RD_TESTS_CONFORMANCE_CASES_H */
