/* SPDX-License-Identifier: MIT */
/* Random histories of everything at once: threads that hand work to others,
 * requests with phases, instants, and names that need escaping. */
#ifndef RD_TESTS_HISTORY_H
#define RD_TESTS_HISTORY_H

#include "tests/profiler/build.h"

/* What a caller may pass as a name: quotes, control characters, text that
 * runs from right to left, bytes that are no UTF-8, ends of scripts. */
extern const char *const odd_names[];
extern const size_t odd_names_count;

/* Finished; the same for the same seed.  odd: with names from the table,
 * else with plain ones. */
struct radio_profile *history_random (uint64_t seed, bool odd);

#endif /* RD_TESTS_HISTORY_H */
