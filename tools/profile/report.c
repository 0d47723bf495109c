/* SPDX-License-Identifier: MIT */
/* Reports of measurements and of profiles of several processes. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "tools/profile/report.h"
#include "tools/json.h"
#include "tools/report.h"
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

int
rd_report_timing (const struct rd_timing *timing)
{
  static const char *const titles[] = {
    "", "n", "mean ms", "median", "min", "max", "std", "MB/s"
  };
  const struct rd_summary *s = &timing->seconds;
  struct rd_table table = { .ncolumns = 8, .alignment = "lrrrrrrr" };
  char text[7][32];
  const char *cells[] = {
    timing->name, rd_number_grouped (s->n, text[0]),
    rd_text_ms (s->mean, text[1]), rd_text_ms (s->median, text[2]),
    rd_text_ms (s->min, text[3]), rd_text_ms (s->max, text[4]),
    rd_text_ms (s->std, text[5]),
    rd_text_rate (timing->nbytes, s->median, text[6])
  };
  bool ok = rd_table_add_row (&table, titles)
            && rd_table_add_row (&table, cells);
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
  rd_json_set_text (object, "name", timing->name);
  rd_json_set_u64 (object, "n", s->n);
  rd_json_set_double (object, "mean_s", s->mean);
  rd_json_set_double (object, "median_s", s->median);
  rd_json_set_double (object, "min_s", s->min);
  rd_json_set_double (object, "max_s", s->max);
  rd_json_set_double (object, "std_s", s->std);
  rd_json_set_double (object, "quartile_low_s", s->low);
  rd_json_set_double (object, "quartile_high_s", s->high);
  rd_json_set_u64 (object, "nbytes", timing->nbytes);
  rd_json_set_double (object, "mb_per_s", s->median > 0
                      ? (double) timing->nbytes / 1e6 / s->median : 0);
  return object;
}

struct json_object *
rd_profile_paths_json (const struct radio_profile *p)
{
  struct radio_profile_info info;
  struct json_object *list = json_object_new_array ();
  radio_profile_get_info (p, &info);
  for (size_t i = 0; i < info.nnodes; i++) {
    const struct radio_profile_node *node = radio_profile_get_node (p, i);
    struct json_object *object = json_object_new_object ();
    struct json_object *counters = json_object_new_object ();
    for (size_t k = 0; k < info.ncounters; k++) {
      const char *unit;
      const char *name = radio_profile_counter_name (p, k, &unit);
      uint64_t value = radio_profile_counter (p, i, name, true);
      if (value > 0)
        rd_json_set_u64 (counters, name, value);
    }
    rd_json_set_text (object, "name", node->name);
    rd_json_set_text (object, "category", node->category);
    rd_json_set (object, "parent", node->parent == RADIO_NO_PARENT
                 ? NULL : json_object_new_uint64 (node->parent));
    rd_json_set_u64 (object, "depth", node->depth);
    rd_json_set_u64 (object, "calls", node->calls);
    rd_json_set_u64 (object, "total_ns", node->total_ns);
    rd_json_set_u64 (object, "self_ns", node->self_ns);
    rd_json_set_u64 (object, "work_ns", node->work_ns);
    rd_json_set_u64 (object, "starved_ns", node->starved_ns);
    rd_json_set_u64 (object, "wait_ns", node->wait_ns);
    rd_json_set_u64 (object, "queue_ns", node->queue_ns);
    rd_json_set_u64 (object, "min_ns", node->min_ns);
    rd_json_set_u64 (object, "max_ns", node->max_ns);
    rd_json_set (object, "counters", counters);
    json_object_array_add (list, object);
  }
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
  radio_profile_get_info (p, &info);
  for (size_t i = 0; i < info.nfindings; i++) {
    const struct radio_finding *finding = radio_profile_finding (p, i);
    struct json_object *object = json_object_new_object ();
    rd_json_set_text (object, "id", finding->id);
    rd_json_set_text (object, "weight", weights[finding->weight]);
    rd_json_set_text (object, "title", finding->title);
    rd_json_set_text (object, "evidence", finding->evidence);
    rd_json_set (object, "scope", finding->node == RADIO_NO_PARENT
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
      rd_json_set_text (object, conditions->list[i].key,
                        conditions->list[i].value);
}

/*------------------------------------------------------------------------
 * How processes shared the work
 *----------------------------------------------------------------------*/

/* Paths below this part of the longest wall time, and those below this
 * imbalance, are left out. */
#define LEAST_SHARE 0.01
#define LEAST_IMBALANCE 1.05

/* The most rows that are printed. */
#define MAX_ROWS 12

char *
rd_profile_path (const struct radio_profile *profile, size_t node)
{
  char *path = NULL;
  while (node != RADIO_NO_PARENT) {
    const struct radio_profile_node *n = radio_profile_get_node (profile, node);
    const char *mark = radio_edge_mark (n->edge);
    char *longer = path ? rd_format ("%s%s / %s", mark, n->name, path)
                        : rd_format ("%s%s", mark, n->name);
    free (path);
    if (longer == NULL)
      return NULL;
    path = longer;
    node = n->parent;
  }
  return path;
}

static uint64_t
longest_wall (const struct radio_profile *profile, size_t nparts)
{
  uint64_t longest = 0, wall, work;
  for (size_t i = 0; i < nparts; i++) {
    radio_profile_part (profile, i, &wall, &work);
    if (wall > longest)
      longest = wall;
  }
  return longest;
}

int
rd_ranks_print (const struct radio_profile *profile)
{
  static const char *const titles[] = {
    "", "wall ms", "work ms", "of the longest"
  };
  struct rd_table table = { .ncolumns = 4, .alignment = "lrrr" };
  struct radio_profile_info info;
  radio_profile_get_info (profile, &info);
  uint64_t longest = longest_wall (profile, info.nparts);
  bool ok = rd_table_add_row (&table, titles);
  for (size_t i = 0; i < info.nparts && ok; i++) {
    uint64_t wall, work;
    char text[3][32];
    const char *name = radio_profile_part (profile, i, &wall, &work);
    snprintf (text[2], sizeof text[2], "%.0f %%",
              longest ? 100 * (double) wall / (double) longest : 0);
    ok = rd_table_add_row (&table, (const char *const[]) {
                           name, rd_text_ms ((double) wall / 1e9, text[0]),
                           rd_text_ms ((double) work / 1e9, text[1]),
                           text[2] });
  }
  if (ok) {
    rd_table_print (&table, stdout);
    putchar ('\n');
  }
  rd_table_clear (&table);
  return ok ? RD_EXIT_OK : RD_EXIT_FAILED;
}

/* A path that is worth a row. */
struct uneven {
  size_t node;
  struct radio_imbalance imbalance;
};

/* The time above the mean, which the others wait for. */
static uint64_t
lost_ns (const struct uneven *uneven)
{
  return uneven->imbalance.max_ns - uneven->imbalance.mean_ns;
}

static int
by_loss (const void *a, const void *b)
{
  uint64_t x = lost_ns (a), y = lost_ns (b);
  return (x < y) - (x > y);
}

/* Finds all paths that matter, most time lost first; *rows is allocated.  Ranks
 * need not wait for paths that they do not have, such as writing the result. */
static size_t
find_uneven (const struct radio_profile *profile, struct uneven **rows)
{
  struct radio_profile_info info;
  radio_profile_get_info (profile, &info);
  uint64_t longest = longest_wall (profile, info.nparts);
  size_t n = 0;
  *rows = calloc (info.nnodes + 1, sizeof **rows);
  if (*rows == NULL)
    return 0;
  for (size_t i = 0; i < info.nnodes && info.nparts > 1; i++) {
    struct uneven row = { .node = i };
    radio_profile_imbalance (profile, i, &row.imbalance);
    const struct radio_imbalance *u = &row.imbalance;
    if (u->min_ns == 0)
      continue;
    bool matters = (double) u->max_ns >= LEAST_SHARE * (double) longest
                   && u->imbalance >= LEAST_IMBALANCE;
    if (matters || u->straggler)
      (*rows)[n++] = row;
  }
  qsort (*rows, n, sizeof **rows, by_loss);
  return n;
}

int
rd_imbalance_print (const struct radio_profile *profile)
{
  static const char *const titles[] = {
    "imbalance (max / mean)", "mean ms", "max ms", "ratio", "slowest"
  };
  struct rd_table table = { .ncolumns = 5, .alignment = "lrrrl" };
  RD_FREE struct uneven *rows = NULL;
  size_t n = find_uneven (profile, &rows);
  if (rows == NULL)
    return rd_error_memory ();
  bool ok = rd_table_add_row (&table, titles);
  for (size_t i = 0; i < n && i < MAX_ROWS && ok; i++) {
    const struct radio_imbalance *u = &rows[i].imbalance;
    char mean[32], max[32], ratio[32];
    uint64_t wall, work;
    RD_FREE char *path = rd_profile_path (profile, rows[i].node);
    const char *slowest = radio_profile_part (profile, u->slowest, &wall,
                                              &work);
    RD_FREE char *name = rd_format ("%s%s", slowest,
                                    u->straggler ? " (straggler)" : "");
    snprintf (ratio, sizeof ratio, "%.2f", u->imbalance);
    const char *cells[] = {
      path, rd_text_ms ((double) u->mean_ns / 1e9, mean),
      rd_text_ms ((double) u->max_ns / 1e9, max), ratio, name
    };
    ok = path && name && rd_table_add_row (&table, cells);
  }
  if (ok && n > 0)
    rd_table_print (&table, stdout);
  else if (ok)
    puts ("no path that all have is uneven (max / mean of 1.05 or more)");
  if (ok && n > MAX_ROWS)
    printf ("and %zu more\n", n - MAX_ROWS);
  if (ok)
    putchar ('\n');
  rd_table_clear (&table);
  return ok ? RD_EXIT_OK : RD_EXIT_FAILED;
}

struct json_object *
rd_ranks_json (const struct radio_profile *profile)
{
  struct radio_profile_info info;
  struct json_object *list = json_object_new_array ();
  radio_profile_get_info (profile, &info);
  for (size_t i = 0; i < info.nparts; i++) {
    uint64_t wall, work;
    struct json_object *object = json_object_new_object ();
    rd_json_set_text (object, "name",
                      radio_profile_part (profile, i, &wall, &work));
    rd_json_set_u64 (object, "wall_ns", wall);
    rd_json_set_u64 (object, "work_ns", work);
    json_object_array_add (list, object);
  }
  return list;
}

struct json_object *
rd_imbalance_json (const struct radio_profile *profile)
{
  struct json_object *list = json_object_new_array ();
  RD_FREE struct uneven *rows = NULL;
  size_t n = find_uneven (profile, &rows);
  for (size_t i = 0; i < n; i++) {
    const struct radio_imbalance *u = &rows[i].imbalance;
    struct json_object *object = json_object_new_object ();
    RD_FREE char *path = rd_profile_path (profile, rows[i].node);
    rd_json_set_text (object, "path", path ? path : "");
    rd_json_set_u64 (object, "mean_ns", u->mean_ns);
    rd_json_set_u64 (object, "max_ns", u->max_ns);
    rd_json_set_u64 (object, "min_ns", u->min_ns);
    rd_json_set_double (object, "imbalance", u->imbalance);
    rd_json_set_u64 (object, "slowest", u->slowest);
    rd_json_set_bool (object, "straggler", u->straggler);
    json_object_array_add (list, object);
  }
  return list;
}

const char *
rd_find_fact (const struct radio_profile *profile, const char *wanted)
{
  const char *key, *value;
  for (size_t i = 0; (value = radio_profile_fact (profile, i, &key)); i++)
    if (strcmp (key, wanted) == 0)
      return value;
  return NULL;
}

void
rd_profile_info_put (struct json_object *object,
                     const struct radio_profile *profile, bool redacted)
{
  struct radio_profile_info info;
  struct json_object *facts = json_object_new_object ();
  radio_profile_get_info (profile, &info);
  rd_json_set_text (object, "title", info.title);
  rd_json_set_text (object, "program", info.program);
  rd_json_set_u64 (object, "started_unix_ns", info.started_unix_ns);
  rd_json_set_u64 (object, "wall_ns", info.wall_ns);
  rd_json_set_u64 (object, "work_ns", info.work_ns);
  rd_json_set_u64 (object, "starved_ns", info.starved_ns);
  rd_json_set_u64 (object, "wait_ns", info.wait_ns);
  rd_json_set_u64 (object, "nparts", info.nparts);
  rd_json_set_u64 (object, "spans", info.nspans);
  rd_json_set_u64 (object, "dropped", info.dropped_count);
  rd_json_set_u64 (object, "open", info.open_count);
  rd_json_set_u64 (object, "late", info.late_count);
  rd_json_set_u64 (object, "overhead_ns", info.overhead_ns);
  rd_json_set_u64 (object, "alloc_count", info.alloc_count);
  rd_json_set_u64 (object, "alloc_nbytes", info.alloc_nbytes);
  rd_json_set_u64 (object, "alloc_live_nbytes", info.alloc_live_nbytes);
  for (size_t i = 0; i < info.nfacts && !redacted; i++) {
    const char *key;
    const char *value = radio_profile_fact (profile, i, &key);
    rd_json_set_text (facts, key, value);
  }
  rd_json_set (object, "facts", facts);
}
