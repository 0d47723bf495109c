/* SPDX-License-Identifier: MIT */
/* The conditions of two recordings: whether their times can be compared, which
 * of them, and how exactly. */
#ifndef RD_CONDITIONS_H
#define RD_CONDITIONS_H

#include "profiler/model/profile.h"

#define RD_MAX_MEASURED 8

struct rd_conditions {
  RD_VECTOR (struct radio_condition) list;      /* measured ones first */
  char texts[2 * RD_MAX_MEASURED][40];  /* of these */
  size_t ntexts;
  enum radio_basis basis;
  bool is_unfair;             /* a condition is */
  double least_floor;         /* without what conditions add but the clock,
                                 which explains a change */
  double floor, root_floor;   /* see radio_comparison_info */
  double least_share;         /* of the whole: less is of no relevance */
};

/* Runs of one process, which share its place in memory and the machine's state:
 * so a round says as much as a run only.  Processes are distinguished by
 * rd_is_same_process; ranks that ran at once, which are one run, by the first
 * of them. */
#define RD_MIN_ROUNDS 4

/* The number of runs to compare; ranks ran once, together. */
size_t rd_count_runs (const struct radio_profile *profile);

/* The number of rounds: stretches of runs of one process.  0 if processes are
 * unknown. */
size_t rd_count_rounds (const struct radio_profile *profile);

/* True if runs are compared by rounds: both sides have enough. */
bool rd_is_by_rounds (const struct radio_profile *before,
                      const struct radio_profile *after);

/* True if roots ran on several threads of a run, or on several ranks: so the
 * sum of their times is not a time of the clock. */
bool rd_is_summed (const struct radio_profile *profile);

/* Fills conditions, which the caller zeroed and clears.  The texts of measured
 * ones are in the struct itself: it may not be moved. */
enum radio_status
rd_conditions_compare (const struct radio_profile *before,
                       const struct radio_profile *after,
                       struct rd_conditions *conditions) RADIO_USE_RESULT;

#endif /* RD_CONDITIONS_H */
