/* SPDX-License-Identifier: MIT */
/* Random histories of everything at once: threads that hand work to others,
 * requests with phases, instants, and names that need escaping. */
#ifndef RD_TESTS_HISTORY_H
#define RD_TESTS_HISTORY_H

#include "tests/profiler/build.h"

/* Names that a caller may pass: quotes, control characters, right-to-left
 * text, invalid UTF-8, ends of scripts. */
extern const char *const odd_names[];
extern const size_t odd_names_count;

/* Returns a finished profile.  The same seed gives the same profile.  With
 * `odd', names are from the table, otherwise they are plain. */
struct radio_profile *history_random (uint64_t seed, bool odd);

#endif /* RD_TESTS_HISTORY_H */
