/* SPDX-License-Identifier: MIT */
/* Parts that all measurements of `radio profile' share: their options, the
 * loop of recorded runs, and the report. */
#ifndef RD_TOOLS_PROFILE_MEASURE_H
#define RD_TOOLS_PROFILE_MEASURE_H

#include "tools/json.h"
#include "tools/profile/cold.h"
#include "tools/profile/output.h"
#include "tools/profile/report.h"
#include "tools/profile/samples.h"
#include "tools/profile/subject.h"
#include "tools/tool.h"

/* An operation that is measured.  Each function returns an exit status, and
 * prints errors; run counts from 0, including warm-ups. */
struct rd_operation {
  const char *title;          /* of the recordings */
  /* Before a run, neither timed nor recorded; may be NULL. */
  int (*prepare) (void *data, size_t run);
  /* The run. */
  int (*perform) (void *data, size_t run);
  /* After a run; may be NULL. */
  int (*finish) (void *data, size_t run);
  void *data;
};

struct rd_runs {
  size_t nwarm;               /* first, and not kept */
  size_t n;                   /* wanted */
  size_t ndone;
  double *seconds;            /* of each run that was done; sorted later */
  struct radio_profile **profiles;
};

void rd_runs_clear (struct rd_runs *runs);
#define RD_CLEAR_RUNS RD_CLEANUP (rd_runs_clear)

struct rd_measure {
  const char *operation;      /* "slice" */
  size_t nruns, nwarm;
  bool cold, json;
  uint64_t seed, random;      /* random: its state now */
  struct rd_profile_output output;
  struct rd_conditions conditions;
  struct rd_cold worst;       /* the run whose files stayed in memory most */
  const char *against;        /* a recording whose command is run in turn */
  double fail_percent;        /* of that; negative: never */
  struct json_object *arguments;        /* options that were given, but --runs
                                           and those of output */
};

#define RD_MEASURE_OPTIONS(nruns)                                       \
  { RD_OPTION_RUNS, "runs", "N",                                        \
    "measured runs (default: " nruns ")" },                             \
  { RD_OPTION_WARMUP, "warmup", "N",                                    \
    "runs before that are not measured (default: 1; with\n"              \
    "--cold: 0)" },              \
  { RD_OPTION_COLD, "cold", NULL,                                       \
    "drop the files from the page cache before each run" }

/* For operations that read at random places. */
#define RD_SEED_OPTION                                                  \
  { RD_OPTION_SEED, "seed", "N", "seed of the random places (default: 0)" }

/* Handles one of the options above, or of the output's: 1, 0 for any other, -1
 * after a usage error. */
int rd_measure_take (struct rd_args *args, int id,
                     struct rd_measure *measure);

/* Called after the last option: completes the options, checks the files and
 * catches Ctrl-C.  Returns an exit status; prints errors. */
int rd_measure_begin (struct rd_measure *measure,
                      const struct rd_args *args);

/* Add the conditions that all measurements have; and where places are read,
 * those. */
int rd_measure_describe (struct rd_measure *measure,
                         const struct rd_subjects *subjects);
int rd_measure_describe_places (struct rd_measure *measure,
                                bool are_random);

/* Prints the operation and its conditions, unless --json. */
void rd_measure_print (const struct rd_measure *measure);

/* Drops the pages of a file or folder, if --cold; problems are reported at the
 * end. */
void rd_measure_cool (struct rd_measure *measure, const char *path);

/* Measures, and reports everything: the table, the tree, the files.  One run
 * delivers nbytes; name is the title of the table's row.  Returns an exit
 * status; prints errors. */
int rd_measure_run (struct rd_measure *measure,
                    const struct rd_operation *operation, const char *name,
                    uint64_t nbytes);

/* Parts of it, for commands that report more.  runs is to be cleared. */
int rd_measure_record (struct rd_measure *measure, struct rd_runs *runs,
                       const struct rd_operation *operation,
                       struct radio_profile **profile);
struct json_object *rd_measure_json (const struct rd_measure *measure,
                                     const struct radio_profile *profile);

void rd_measure_clear (struct rd_measure *measure);

#endif /* RD_TOOLS_PROFILE_MEASURE_H */
