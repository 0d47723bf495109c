/* SPDX-License-Identifier: MIT */
/* Reports of measurements and profiles: conditions, times, ranks and
 * differences, as tables and as JSON. */
#ifndef RD_TOOLS_PROFILE_REPORT_H
#define RD_TOOLS_PROFILE_REPORT_H

#include "tools/json.h"
#include "tools/profile/output.h"
#include "tools/profile/samples.h"

#define RD_MAX_CONDITIONS 24

/* The conditions that figures depend on; recordings have them as facts. */
struct rd_conditions {
  struct {
    const char *key;
    char *value;              /* allocated */
    enum radio_text_kind kind;
  } list[RD_MAX_CONDITIONS];
  size_t n;
};

/* Add a copy of a condition, or replace the one with this key.  Return an
 * exit status; print errors. */
int rd_conditions_add (struct rd_conditions *conditions, const char *key,
                       const char *value, enum radio_text_kind kind);
int rd_conditions_add_u64 (struct rd_conditions *conditions, const char *key,
                           uint64_t value);

/* Returns a value, or NULL. */
const char *rd_conditions_find (const struct rd_conditions *conditions,
                                const char *key);

enum radio_status rd_conditions_record (const struct rd_conditions *c,
                                        struct radio_recorder *recorder);

void rd_conditions_clear (struct rd_conditions *conditions);

/* Milliseconds with four figures: "0.4213", "12.35", "1234". */
const char *rd_text_ms (double seconds, char text[32]);

/* Megabytes (10^6) in a second, three figures; "-" for no time. */
const char *rd_text_rate (uint64_t nbytes, double seconds, char text[32]);

/* A row of times: n, mean, median, min, max, std and MB/s. */
struct rd_timing {
  const char *name;
  struct rd_summary seconds;
  uint64_t nbytes;            /* delivered by one run; 0: unknown */
};

/* Prints a table.  Returns an exit status; prints errors. */
int rd_report_timing (const struct rd_timing *timing);

/* The same as JSON; the paths of a profile with their times; and the
 * conditions, without names when redacted. */
struct json_object *rd_timing_json (const struct rd_timing *timing);
struct json_object *rd_profile_paths_json (const struct radio_profile *p);
struct json_object *rd_profile_findings_json (const struct radio_profile *p);
void rd_conditions_put (struct json_object *object,
                        const struct rd_conditions *conditions,
                        bool redacted);

/* Prints a row for each part: wall, work, share of the slowest.  Returns an
 * exit status; prints errors. */
int rd_ranks_print (const struct radio_profile *profile);

/* Prints a row for each path that is shared unevenly, with the slowest part.
 */
int rd_imbalance_print (const struct radio_profile *profile);

struct json_object *rd_ranks_json (const struct radio_profile *profile);
struct json_object *rd_imbalance_json (const struct radio_profile *profile);

/* Adds title, times and counts, and facts unless redacted. */
void rd_profile_info_put (struct json_object *object,
                          const struct radio_profile *profile, bool redacted);

/* The value of a fact, valid as long as the profile; NULL if it is missing. */
const char *rd_find_fact (const struct radio_profile *profile,
                          const char *wanted);

/* The path of a node, "read / => tiles / decode"; allocated, NULL after an
 * error. */
char *rd_profile_path (const struct radio_profile *profile, size_t node);

struct rd_diff {
  const struct radio_comparison *comparison;
  const struct radio_profile *before, *after;   /* the two compared */
  bool all, json;
  bool redact;                /* print which facts differ, not their values */
  double fail_percent;        /* negative: differences do not fail */

  /* Set by the report. */
  struct radio_comparison_info info;
  size_t n;                   /* paths */
  int64_t ns[2];              /* the roots' sums of the times compared */
  double wall_ns[2];          /* of a run, the mean */
};

/* The verdict on a root. */
enum rd_root_verdict {
  RD_ROOT_NOT_SLOWER = 0,
  RD_ROOT_SLOWER,
  RD_ROOT_UNCLEAR_BY_CONDITIONS,   /* which differ */
  RD_ROOT_UNCLEAR_BY_PROCESSES,    /* of one program, which differ as much */
  RD_ROOT_UNCLEAR_BY_WAITS,        /* which grew, where times on CPUs are
                                 compared */
};

/* Decides if a root is slower by more than fail_percent, and not by noise; for
 * single runs by the figures alone. */
enum rd_root_verdict
rd_diff_verdict (const struct radio_comparison_info *info,
                 const struct radio_difference *root, double fail_percent);

/* Prints the table and a summary, or JSON.  Returns an exit status, after an
 * error: 1 when a root is slower by more than fail_percent, 3 when that is
 * unclear. */
int rd_diff_report (struct rd_diff *diff);

#endif /* RD_TOOLS_PROFILE_REPORT_H */
