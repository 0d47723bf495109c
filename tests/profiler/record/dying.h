/* SPDX-License-Identifier: MIT */
/* Processes that die while they record with a ring in a file, and what must be
 * in the profile of that file: what they did is counted in memory that they
 * share with the test. */
#ifndef RD_TESTS_RECORD_DYING_H
#define RD_TESTS_RECORD_DYING_H

#include <stdatomic.h>
#include <sys/types.h>

#include <radio/profile.h>

#define DYING_NTHREADS 3
#define DYING_RING_NBYTES ((uint64_t) 256 << 10)

enum {
  DYING_STEP, DYING_PLAIN, DYING_COUNTED, DYING_NOTED, DYING_WAITS,
  DYING_BLOCKS, DYING_RECEIVED, DYING_BRIEF, DYING_NSITES
};

/* Scopes that ended, by thread: those whose end has returned. */
struct dying_progress {
  _Atomic uint64_t ended[DYING_NTHREADS][DYING_NSITES];
  _Atomic int started, rested;
  uint64_t since_ns, until_ns;          /* of a process that hangs */
};

/* DYING_RESTING: killed once no thread records any more. */
enum dying_death {
  DYING_KILLED, DYING_SEGV, DYING_TERM, DYING_EXIT, DYING_QUICK_EXIT,
  DYING_NDEATHS, DYING_RESTING
};

extern const char *const dying_names[DYING_NSITES];
extern struct dying_progress *dying_progress;
extern char dying_path[64];   /* the file of the ring */

/* Run the tests of a program, which may use all of this; returns the number
 * that failed. */
#define DYING_RUN_TESTS(tests)                                          \
  (dying_begin (), dying_end (run_recording_tests (tests)))
void dying_begin (void);
int dying_end (int nfailed);

/* Some scopes of each kind, by a thread of this number. */
void dying_work (size_t thread, uint64_t i);

/* Records in a process that dies in this way, not before its threads run, and
 * then after a time. */
void dying_die (enum dying_death way, useconds_t after_us);

/* Figures of all paths whose last scope has this name, which are checked. */
struct radio_profile_node
dying_sum_of (const struct radio_profile *profile, const char *name);
uint64_t dying_counter_of (const struct radio_profile *profile,
                           const char *name, const char *counter);

/* Checks the profile of a process that died.  Each thread may have ended one
 * more than it says; one that had begun is open. */
void dying_check (const struct radio_profile *profile);

#endif /* RD_TESTS_RECORD_DYING_H */
