/* SPDX-License-Identifier: MIT */
/* What all measurements of 'radio profile' have in common: their options,
 * the loop, and what comes out at the end. */
#ifndef RD_PROFILE_MEASURE_H
#define RD_PROFILE_MEASURE_H

#include "tools/profile/cold.h"
#include "tools/profile/output.h"
#include "tools/profile/report.h"
#include "tools/profile/runs.h"
#include "tools/profile/subject.h"

struct rd_measure {
  const char *operation;      /* "slice" */
  size_t nruns, nwarm;
  bool cold, json;
  uint64_t seed, random;      /* random: the state that seed began */
  struct rd_profile_output output;
  struct rd_conditions conditions;
  struct rd_cold worst;       /* of all runs: what stayed in memory most */
};

#define RD_MEASURE_OPTIONS(nruns)                                       \
  { RD_OPTION_RUNS, "runs", "N",                                        \
    "measured runs (default: " nruns ")" },                             \
  { RD_OPTION_WARMUP, "warmup", "N",                                    \
    "runs before, not measured (default: 1; --cold: 0)" },              \
  { RD_OPTION_COLD, "cold", NULL,                                       \
    "drop the files from memory before each run" }

/* Of those that read at random places. */
#define RD_SEED_OPTION                                                  \
  { RD_OPTION_SEED, "seed", "N", "other random positions (default: 0)" }

/* Take one of the options above, or of the output's, or --json: 1, 0 when
 * it is none of them, -1 after telling a mistake. */
int rd_measure_take (struct rd_args *args, int id,
                     struct rd_measure *measure);

/* Parse a whole number of 1 or least to most; false after telling. */
bool rd_take_number (struct rd_args *args, const char *option,
                     uint64_t least, uint64_t most, uint64_t *number);

/* After the last option: what goes together, the files, Ctrl-C.  Returns an
 * exit status, after complaining. */
int rd_measure_begin (struct rd_measure *measure);

/* The conditions that every measurement has. */
int rd_measure_describe (struct rd_measure *measure,
                         const struct rd_subject *subject);

/* And of those that read at places: of random ones, what decides them. */
int rd_measure_describe_places (struct rd_measure *measure,
                                bool are_random);

/* Print what is measured, unless --json. */
void rd_measure_tell (const struct rd_measure *measure);

/* Drop the pages of a file or folder, if --cold; told at the end. */
void rd_measure_cool (struct rd_measure *measure, const char *path);

/* Measure, and report everything: the table, the tree, the files.  nbytes
 * are delivered by one run; name heads the table.  Returns an exit status,
 * after complaining. */
int rd_measure_run (struct rd_measure *measure,
                    const struct rd_operation *operation, const char *name,
                    uint64_t nbytes);

/* The parts of it, for who has more to tell.  runs is to be cleared. */
int rd_measure_record (struct rd_measure *measure, struct rd_runs *runs,
                       const struct rd_operation *operation,
                       struct radio_profile **profile);
struct json_object *rd_measure_json (const struct rd_measure *measure,
                                     const struct radio_profile *profile);

void rd_measure_clear (struct rd_measure *measure);
#define RD_CLEAR_MEASURE RD_CLEANUP (rd_measure_clear)

#endif /* RD_PROFILE_MEASURE_H */
