/* SPDX-License-Identifier: MIT */
/* What a measurement tells: under which conditions, how long it took, and
 * where the time went; for people and, as JSON, for programs. */
#ifndef RD_PROFILE_REPORT_H
#define RD_PROFILE_REPORT_H

#include "tools/json.h"
#include "tools/profile/output.h"
#include "tools/profile/samples.h"

#define RD_MAX_CONDITIONS 24

/* What the figures depend on; the recordings carry it as facts. */
struct rd_conditions {
  struct {
    const char *key;
    char *value;              /* allocated */
    enum radio_text_kind kind;
  } list[RD_MAX_CONDITIONS];
  size_t n;
};

/* Add one, a copy, or replace the one with this key.  Returns an exit
 * status, after complaining. */
int rd_conditions_add (struct rd_conditions *conditions, const char *key,
                       const char *value, enum radio_text_kind kind);
int rd_conditions_add_u64 (struct rd_conditions *conditions, const char *key,
                           uint64_t value);

/* A value, or NULL. */
const char *rd_conditions_find (const struct rd_conditions *conditions,
                                const char *key);

enum radio_status rd_conditions_record (const struct rd_conditions *c,
                                        struct radio_recorder *recorder);

void rd_conditions_clear (struct rd_conditions *conditions);

/* Milliseconds with four figures: "0.4213", "12.35", "1234". */
const char *rd_text_ms (double seconds, char text[32]);

/* Megabytes (10^6) in a second, three figures; "-" for no time. */
const char *rd_text_rate (uint64_t nbytes, double seconds, char text[32]);

/* A row for each name: n, mean, median, min, max, std and MB/s. */
struct rd_timing {
  const char *name;
  struct rd_summary seconds;
  uint64_t nbytes;            /* delivered by one run; 0: unknown */
};

/* Returns an exit status, after complaining. */
int rd_report_timings (const struct rd_timing *timings, size_t n);

/* The same as JSON; and the paths of a profile with what each took; and the
 * conditions, without names when redacted. */
struct json_object *rd_timing_json (const struct rd_timing *timing);
struct json_object *rd_profile_paths_json (const struct radio_profile *p);
struct json_object *rd_profile_findings_json (const struct radio_profile *p);
void rd_conditions_put (struct json_object *object,
                        const struct rd_conditions *conditions,
                        bool redacted);

#endif /* RD_PROFILE_REPORT_H */
