/* SPDX-License-Identifier: MIT */
/* Profiles with made-up figures for the tests of the command, which cannot
 * include the library's private headers: both have their own cleanup
 * macros. */
#ifndef RD_TESTS_MADE_PROFILES_H
#define RD_TESTS_MADE_PROFILES_H

#include <radio/calltree.h>

/* Returns a run of "read" with its time in microseconds, within it "decode"
 * and, unless NULL, the scope `other'. */
struct radio_profile *make_run (uint64_t read_us, uint64_t decode_us,
                                const char *other, uint64_t other_us);

/* Returns n joined runs that differ by jitter_us at most. */
struct radio_profile *make_runs (size_t n, enum radio_profile_parts parts,
                                 uint64_t read_us, uint64_t decode_us,
                                 uint64_t jitter_us, const char *other);

/* Returns three equal ranks, and one whose decoding takes three times as
 * long. */
struct radio_profile *make_ranks (void);

/* Returns a profile of two roots that both claim the longest possible time. */
struct radio_profile *make_longest (void);

/* Returns a run of an operation on a box, in which the caller and another
 * thread run a scope "tiles"; root: the name of its root. */
struct radio_profile *make_operation (const char *root, const char *operation,
                                      const char *box, const char *pid);

/* Conditions of runs: times of one run in microseconds. */
struct made_conditions {
  uint64_t wall_us, cpu_us;   /* of "read" and "decode" below it, half each;
                                 the rest is without a CPU; "never" beside
                                 that took nothing */
  uint64_t wait_us;           /* in "read" besides, for a disk */
  bool is_starved_unknown;    /* of that only the process's CPU time is
                                 known */
  uint64_t others_us;         /* CPU time of other processes */
  uint64_t disk_wait_us;      /* CPUs idle while these waited for a disk */
  bool is_pressure_known;
  uint64_t disk_pressure_us;  /* the time in which these waited */
  uint64_t steal_us, clock_mhz, disk_nbytes;
  uint64_t outside_us;        /* recorded outside of scopes, half of it on a
                                 CPU */
  uint64_t ncold;             /* runs that used disks themselves */
  const char *cpu_model;      /* NULL: not known */
  bool are_ranks;             /* on one machine at once */
  uint64_t pid;               /* 0: 4711 */
  uint64_t long_run_us;       /* in the last of the runs besides, on no CPU */
};

/* Returns 10 joined runs of such an operation, which differ by 2 %; or
 * ranks. */
struct radio_profile *make_loaded (const struct made_conditions *conditions);

#endif /* RD_TESTS_MADE_PROFILES_H */
