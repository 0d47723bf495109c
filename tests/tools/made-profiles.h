/* SPDX-License-Identifier: MIT */
/* Profiles with made-up figures for the tests of the command, which cannot
 * include the library's insides: both have their own cleanup macros. */
#ifndef RD_TESTS_MADE_PROFILES_H
#define RD_TESTS_MADE_PROFILES_H

#include <radio/calltree.h>

/* A run: "read" of so many microseconds, in it "decode", and what else. */
struct radio_profile *make_run (uint64_t read_us, uint64_t decode_us,
                                const char *other, uint64_t other_us);

/* n runs joined; every one a little different, by jitter_us at most. */
struct radio_profile *make_runs (size_t n, enum radio_profile_parts parts,
                                 uint64_t read_us, uint64_t decode_us,
                                 uint64_t jitter_us, const char *other);

/* Three equal ranks, and one whose decoding takes three times as long. */
struct radio_profile *make_ranks (void);

/* Two roots that both claim the longest time there is. */
struct radio_profile *make_longest (void);

/* A run of an operation on a box, in which a scope "tiles" is run by the
 * caller and by another thread; root: the name of its root. */
struct radio_profile *make_operation (const char *root, const char *operation,
                                      const char *box, const char *pid);

#endif /* RD_TESTS_MADE_PROFILES_H */
