/* SPDX-License-Identifier: MIT */
/* Shared by the files that look for findings: a summary of the profile, and
 * the report of a finding. */
#ifndef RD_FINDINGS_H
#define RD_FINDINGS_H

#include <radio/profile.h>

#include "profiler/model/builder.h"
#include "profiler/model/format.h"

/* Categories by their number. */
enum rd_category {
  RD_DECODE, RD_DISK, RD_NETWORK, RD_ENCODE, RD_PLACE, RD_METADATA, RD_QUEUE,
  RD_OTHER,
  RD_NCATEGORIES
};

/* Threads' times in the scopes of a category. */
struct rd_category_times {
  uint64_t ran_ns;            /* work, less what was without a CPU */
  uint64_t wait_ns;
  uint64_t most_ns;           /* of both, in one node */
  size_t most;                /* that node, or RADIO_NO_PARENT */
};

struct rd_scored {
  struct radio_finding finding;
  double score;               /* among those of its weight */
};

struct rd_finder {
  struct radio_profile *profile;
  struct rd_category_times times[RD_NCATEGORIES];
  uint64_t span_ns;           /* rd_profile_span_ns */
  uint64_t work_ns;
  uint64_t starved_ns;        /* of work: runnable, without a CPU */
  uint64_t ran_ns;            /* of work: rd_profile_ran_ns */
  uint64_t cpu_ns;            /* the same, no more than the process had */
  uint64_t busy_ns;           /* work but starved, and waits, but those for
                                 threads */
  uint64_t request_ns;        /* in which a network request was under way;
                                 0 without a log */
  uint64_t nthreads;          /* lanes of threads a part, at least 1 */
  uint64_t ncpus;             /* 0: unknown */
  uint64_t noperations;       /* calls of those not within others */
  RD_VECTOR (struct rd_scored) found;
};

/* Another thread's work, or a request, that covers this part of a wait is what
 * the thread waited for. */
#define RD_AWAITED_SHARE 0.8

/* True if a node is a request, or ran on another thread than `top', which
 * is above it. */
bool rd_finder_is_elsewhere (const struct radio_profile *profile, size_t node,
                             size_t top);

enum rd_category rd_category_of (const struct rd_finder *finder, size_t node);

/* The sum of a counter over all nodes. */
uint64_t rd_finder_sum (const struct rd_finder *finder,
                        const struct radio_counter *counter);

/* The text of a node (not of a span), or NULL; with *varies. */
const char *rd_finder_note (const struct rd_finder *finder, size_t node,
                            const char *key, bool *varies);

/* The work on CPUs, as in all views: all but what threads were runnable without
 * one, which is also the sum of the tree's; or, where that is not known of any
 * scope, no more than the process's CPU time, which the second one never
 * exceeds. */
uint64_t rd_profile_ran_ns (const struct radio_profile *profile);
uint64_t rd_profile_cpu_ns (const struct radio_profile *profile);

/* The CPU time that recording took: of the latter, and of the recorder's own
 * threads, which are not in it.  *cpu_ns: what both are a part of; 0: there is
 * hardly any, as in a run that waits, and a share of it says nothing.  The
 * cost of scopes is computed from calls, which of tiny ones may come out as
 * more than all that was measured. */
uint64_t rd_profile_recording_ns (const struct radio_profile *profile,
                                  uint64_t *cpu_ns);

/* The divisor of that for the mean number of "threads busy": the wall time;
 * of ranks, whose work is added up, the sum of theirs, whether they ran at
 * once or not. */
uint64_t rd_profile_span_ns (const struct radio_profile *profile);

/* A fact that is a number; 0 without one. */
uint64_t rd_finder_number (const struct rd_finder *finder, const char *key);

/* How many threads were busy at a time: "1 thread", "0.7 threads". */
struct rd_formatted rd_finder_threads (const struct rd_finder *finder);

/* True if threads had no CPU for much of their work: then some of their
 * waits may have been for a CPU, too.  And for so much of it that nothing else
 * can be said to limit the program; or, where that is not known of each scope,
 * nothing can be said of scopes. */
bool rd_finder_lacked_cpus (const struct rd_finder *finder);
bool rd_finder_is_blurred (const struct rd_finder *finder);

/* The part of the threads' time, but what they waited for each other, in which
 * they were runnable without a CPU. */
double rd_finder_starved_share (const struct rd_finder *finder);

/* A finding without its evidence. */
struct rd_claim {
  const char *id, *title;
  enum radio_finding_weight weight;
  double score;
  size_t node;
};

/* Adds a finding; the format gives its evidence. */
enum radio_status rd_found (struct rd_finder *finder,
                            const struct rd_claim *claim,
                            const char *format, ...)
  RADIO_PRINTF (3, 4) RADIO_USE_RESULT;

/* The kinds, each in its file. */
typedef enum radio_status rd_find_fn (struct rd_finder *finder);

rd_find_fn rd_find_process;           /* find-recorder.c */
rd_find_fn rd_find_bound;             /* find-bound.c */
rd_find_fn rd_find_limits;            /* find-limits.c */
rd_find_fn rd_find_amplification;     /* find-amplification.c */
rd_find_fn rd_find_transfer;          /* find-transfer.c */
rd_find_fn rd_find_memory;            /* find-transfer.c */
rd_find_fn rd_find_recorder;          /* find-recorder.c */
rd_find_fn rd_find_parts;             /* find-parts.c */
rd_find_fn rd_find_curve;             /* find-parts.c */
rd_find_fn rd_find_steps;             /* find-steps.c */

#endif /* RD_FINDINGS_H */
