/* SPDX-License-Identifier: MIT */
/* What a measurement tells. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "tools/profile/report.h"
#include "tools/table.h"
#include "tools/text.h"

int
rd_conditions_add (struct rd_conditions *conditions, const char *key,
                   const char *value, enum radio_text_kind kind)
{
  size_t i = 0;
  while (i < conditions->n && strcmp (conditions->list[i].key, key) != 0)
    i++;
  if (i == RD_MAX_CONDITIONS)
    return RD_EXIT_OK;
  char *copy = rd_format ("%s", value);
  if (copy == NULL)
    return RD_EXIT_FAILED;
  if (i == conditions->n)
    conditions->n++;
  else
    free (conditions->list[i].value);
  conditions->list[i].key = key;
  conditions->list[i].value = copy;
  conditions->list[i].kind = kind;
  return RD_EXIT_OK;
}

int
rd_conditions_add_u64 (struct rd_conditions *conditions, const char *key,
                       uint64_t value)
{
  char text[RD_TEXT_NBYTES];
  snprintf (text, sizeof text, "%" PRIu64, value);
  return rd_conditions_add (conditions, key, text, RADIO_TEXT_PLAIN);
}

const char *
rd_conditions_find (const struct rd_conditions *conditions, const char *key)
{
  for (size_t i = 0; i < conditions->n; i++)
    if (strcmp (conditions->list[i].key, key) == 0)
      return conditions->list[i].value;
  return NULL;
}

enum radio_status
rd_conditions_record (const struct rd_conditions *c,
                      struct radio_recorder *recorder)
{
  enum radio_status status = RADIO_OK;
  for (size_t i = 0; i < c->n && status == RADIO_OK; i++)
    status = radio_recorder_fact (recorder, c->list[i].key,
                                  c->list[i].value, c->list[i].kind);
  return status;
}

void
rd_conditions_clear (struct rd_conditions *conditions)
{
  for (size_t i = 0; i < conditions->n; i++)
    free (conditions->list[i].value);
  conditions->n = 0;
}

const char *
rd_text_ms (double seconds, char text[32])
{
  double ms = 1000 * seconds;
  int decimals = 4;
  for (double bound = 0.99995; decimals > 0 && ms >= bound; bound *= 10)
    decimals--;
  snprintf (text, 32, "%.*f", decimals, ms);
  return text;
}

const char *
rd_text_rate (uint64_t nbytes, double seconds, char text[32])
{
  if (nbytes == 0 || !(seconds > 0))
    return strncpy (text, "-", 32);
  double rate = (double) nbytes / 1e6 / seconds;
  snprintf (text, 32, "%.*f", rate < 9.995 ? 2 : rate < 99.95 ? 1 : 0, rate);
  return text;
}

static bool
add_times (struct rd_table *table, const struct rd_summary *s)
{
  const double times[] = { s->mean, s->median, s->min, s->max, s->std };
  char text[32];
  bool ok = true;
  for (size_t i = 0; i < sizeof times / sizeof times[0] && ok; i++)
    ok = rd_table_add (table, rd_text_ms (times[i], text));
  return ok;
}

static bool
add_timing (struct rd_table *table, const struct rd_timing *timing)
{
  char text[32];
  bool ok = rd_table_add (table, timing->name)
            && rd_table_add (table, rd_number_grouped (timing->seconds.n, text))
            && add_times (table, &timing->seconds);
  return ok && rd_table_add (table, rd_text_rate (timing->nbytes,
                                                  timing->seconds.median,
                                                  text));
}

int
rd_report_timings (const struct rd_timing *timings, size_t n)
{
  static const char *const titles[] = {
    "", "n", "mean ms", "median", "min", "max", "std", "MB/s"
  };
  struct rd_table table = { .ncolumns = 8, .alignment = "lrrrrrrr" };
  bool ok = true;
  for (size_t i = 0; i < table.ncolumns && ok; i++)
    ok = rd_table_add (&table, titles[i]);
  for (size_t i = 0; i < n && ok; i++)
    ok = add_timing (&table, &timings[i]);
  if (ok)
    rd_table_print (&table, stdout);
  rd_table_clear (&table);
  return ok ? RD_EXIT_OK : RD_EXIT_FAILED;
}

struct json_object *
rd_timing_json (const struct rd_timing *timing)
{
  struct json_object *object = json_object_new_object ();
  const struct rd_summary *s = &timing->seconds;
  rd_report_put_text (object, "name", timing->name);
  rd_report_put_u64 (object, "n", s->n);
  rd_report_put_double (object, "mean_s", s->mean);
  rd_report_put_double (object, "median_s", s->median);
  rd_report_put_double (object, "min_s", s->min);
  rd_report_put_double (object, "max_s", s->max);
  rd_report_put_double (object, "std_s", s->std);
  rd_report_put_double (object, "quartile_low_s", s->low);
  rd_report_put_double (object, "quartile_high_s", s->high);
  rd_report_put_u64 (object, "nbytes", timing->nbytes);
  rd_report_put_double (object, "mb_per_s", s->median > 0
                        ? (double) timing->nbytes / 1e6 / s->median : 0);
  return object;
}

static struct json_object *
counters_json (const struct radio_profile *p, size_t node, size_t ncounters)
{
  struct json_object *object = json_object_new_object ();
  for (size_t i = 0; i < ncounters; i++) {
    const char *unit;
    const char *name = radio_profile_counter_name (p, i, &unit);
    uint64_t value = radio_profile_counter (p, node, name, true);
    if (value > 0)
      rd_report_put_u64 (object, name, value);
  }
  return object;
}

static struct json_object *
node_json (const struct radio_profile *p, size_t i, size_t ncounters)
{
  const struct radio_profile_node *node = radio_profile_node (p, i);
  struct json_object *object = json_object_new_object ();
  rd_report_put_text (object, "name", node->name);
  rd_report_put_text (object, "category", node->category);
  rd_report_put (object, "parent", node->parent == RADIO_NO_PARENT
                 ? NULL : json_object_new_uint64 (node->parent));
  rd_report_put_u64 (object, "depth", node->depth);
  rd_report_put_u64 (object, "calls", node->calls);
  rd_report_put_u64 (object, "total_ns", node->total_ns);
  rd_report_put_u64 (object, "self_ns", node->self_ns);
  rd_report_put_u64 (object, "work_ns", node->work_ns);
  rd_report_put_u64 (object, "wait_ns", node->wait_ns);
  rd_report_put_u64 (object, "queue_ns", node->queue_ns);
  rd_report_put_u64 (object, "min_ns", node->min_ns);
  rd_report_put_u64 (object, "max_ns", node->max_ns);
  rd_report_put (object, "counters", counters_json (p, i, ncounters));
  return object;
}

struct json_object *
rd_profile_paths_json (const struct radio_profile *p)
{
  struct radio_profile_info info;
  struct json_object *list = json_object_new_array ();
  radio_profile_info (p, &info);
  for (size_t i = 0; i < info.nnodes; i++)
    json_object_array_add (list, node_json (p, i, info.ncounters));
  return list;
}

struct json_object *
rd_profile_findings_json (const struct radio_profile *p)
{
  static const char *const weights[] = {
    [RADIO_FINDING_NOTE] = "note", [RADIO_FINDING_HINT] = "hint",
    [RADIO_FINDING_PROBLEM] = "problem"
  };
  struct radio_profile_info info;
  struct json_object *list = json_object_new_array ();
  radio_profile_info (p, &info);
  for (size_t i = 0; i < info.nfindings; i++) {
    const struct radio_finding *finding = radio_profile_finding (p, i);
    struct json_object *object = json_object_new_object ();
    rd_report_put_text (object, "id", finding->id);
    rd_report_put_text (object, "weight", weights[finding->weight]);
    rd_report_put_text (object, "title", finding->title);
    rd_report_put_text (object, "evidence", finding->evidence);
    rd_report_put (object, "scope", finding->node == RADIO_NO_PARENT
                   ? NULL : json_object_new_uint64 (finding->node));
    json_object_array_add (list, object);
  }
  return list;
}

void
rd_conditions_put (struct json_object *object,
                   const struct rd_conditions *conditions, bool redacted)
{
  for (size_t i = 0; i < conditions->n; i++)
    if (!redacted || conditions->list[i].kind == RADIO_TEXT_PLAIN)
      rd_report_put_text (object, conditions->list[i].key,
                          conditions->list[i].value);
}
