/* SPDX-License-Identifier: MIT */
/* Measuring an earlier command and this one in turn, so that both meet the same
 * conditions: `radio profile ... --against OLD.json'. */
#ifndef RD_PROFILE_AGAINST_H
#define RD_PROFILE_AGAINST_H

#include "tools/profile/measure.h"

#define RD_AGAINST_OPTIONS                                              \
  { RD_OPTION_AGAINST, "against", "OLD",                                \
    "run the command that made OLD (.json or .html)\n"                   \
    "and this one in turn, and compare them as\n"                        \
    "'radio diff' does" },                                              \
  { RD_OPTION_FAIL_IF_SLOWER, "fail-if-slower", "P",                    \
    "with --against: exit 1 when this got slower by\n"                   \
    "more than P percent, 3 when that is unclear" }

/* The key of how a recording was made, of each that `radio profile' makes. */
#define RD_MADE_BY "made by"

/* Checks the options; false after a usage error. */
bool rd_against_check (const struct rd_measure *measure,
                       struct rd_args *args);

/* Adds how the recording is made to its conditions: the program, its files,
 * folder and arguments.  Returns an exit status; prints errors. */
int rd_against_describe (struct rd_measure *measure,
                         const struct rd_args *args);

/* Runs both in turn and reports the comparison.  Called after
 * rd_measure_begin, while there is one thread.  Returns an exit status; prints
 * errors. */
int rd_against_run (struct rd_measure *measure, const struct rd_args *args);

#endif /* RD_PROFILE_AGAINST_H */
