/* SPDX-License-Identifier: MIT */
/* How several processes shared the work. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "tools/profile/ranks.h"
#include "tools/profile/report.h"
#include "tools/table.h"

/* Paths below this part of the longest wall are no matter, nor is it below
 * this imbalance. */
#define LEAST_SHARE 0.01
#define LEAST_IMBALANCE 1.05

/* At most so many rows are printed. */
#define MAX_ROWS 12

char *
rd_profile_path (const struct radio_profile *profile, size_t node)
{
  char *path = NULL;
  while (node != RADIO_NO_PARENT) {
    const struct radio_profile_node *n = radio_profile_node (profile, node);
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

static bool
add_row (struct rd_table *table, const char *const *cells)
{
  bool ok = true;
  for (size_t i = 0; i < table->ncolumns && ok; i++)
    ok = rd_table_add (table, cells[i]);
  return ok;
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

static bool
add_part (struct rd_table *table, const struct radio_profile *profile,
          size_t i, uint64_t longest)
{
  uint64_t wall, work;
  char ms[3][32];
  const char *name = radio_profile_part (profile, i, &wall, &work);
  rd_text_ms ((double) wall / 1e9, ms[0]);
  rd_text_ms ((double) work / 1e9, ms[1]);
  snprintf (ms[2], sizeof ms[2], "%.0f %%",
            longest ? 100 * (double) wall / (double) longest : 0);
  return add_row (table, (const char *const[]) { name, ms[0], ms[1], ms[2] });
}

int
rd_ranks_print (const struct radio_profile *profile)
{
  static const char *const titles[] = {
    "", "wall ms", "work ms", "of the longest"
  };
  struct rd_table table = { .ncolumns = 4, .alignment = "lrrr" };
  struct radio_profile_info info;
  radio_profile_info (profile, &info);
  uint64_t longest = longest_wall (profile, info.nparts);
  bool ok = add_row (&table, titles);
  for (size_t i = 0; i < info.nparts && ok; i++)
    ok = add_part (&table, profile, i, longest);
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

/* What the others wait for: the time above the mean. */
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

/* All paths that matter, most time lost first; *rows is allocated. */
static size_t
find_uneven (const struct radio_profile *profile, struct uneven **rows)
{
  struct radio_profile_info info;
  radio_profile_info (profile, &info);
  uint64_t longest = longest_wall (profile, info.nparts);
  size_t n = 0;
  *rows = calloc (info.nnodes + 1, sizeof **rows);
  if (*rows == NULL)
    return 0;
  for (size_t i = 0; i < info.nnodes && info.nparts > 1; i++) {
    struct uneven row = { .node = i };
    radio_profile_imbalance (profile, i, &row.imbalance);
    const struct radio_imbalance *u = &row.imbalance;
    bool matters = (double) u->max_ns >= LEAST_SHARE * (double) longest
                   && u->imbalance >= LEAST_IMBALANCE;
    if (matters || (u->straggler && u->max_ns > 0))
      (*rows)[n++] = row;
  }
  qsort (*rows, n, sizeof **rows, by_loss);
  return n;
}

static bool
add_uneven (struct rd_table *table, const struct radio_profile *profile,
            const struct uneven *row)
{
  const struct radio_imbalance *u = &row->imbalance;
  char mean[32], max[32], ratio[32];
  uint64_t wall, work;
  RD_FREE char *path = rd_profile_path (profile, row->node);
  if (path == NULL)
    return false;
  const char *slowest = radio_profile_part (profile, u->slowest, &wall,
                                            &work);
  RD_FREE char *who = rd_format ("%s%s", slowest,
                                 u->straggler ? " (straggler)" : "");
  if (who == NULL)
    return false;
  rd_text_ms ((double) u->mean_ns / 1e9, mean);
  rd_text_ms ((double) u->max_ns / 1e9, max);
  snprintf (ratio, sizeof ratio, "%.2f", u->imbalance);
  return add_row (table, (const char *const[]) { path, mean, max, ratio,
                                                 who });
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
  bool ok = add_row (&table, titles);
  for (size_t i = 0; i < n && i < MAX_ROWS && ok; i++)
    ok = add_uneven (&table, profile, &rows[i]);
  if (ok && n > 0)
    rd_table_print (&table, stdout);
  else if (ok)
    puts ("all paths are shared evenly (max / mean below 1.05)");
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
  radio_profile_info (profile, &info);
  for (size_t i = 0; i < info.nparts; i++) {
    uint64_t wall, work;
    struct json_object *object = json_object_new_object ();
    rd_report_put_text (object, "name",
                        radio_profile_part (profile, i, &wall, &work));
    rd_report_put_u64 (object, "wall_ns", wall);
    rd_report_put_u64 (object, "work_ns", work);
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
    rd_report_put_text (object, "path", path ? path : "");
    rd_report_put_u64 (object, "mean_ns", u->mean_ns);
    rd_report_put_u64 (object, "max_ns", u->max_ns);
    rd_report_put_u64 (object, "min_ns", u->min_ns);
    rd_report_put_double (object, "imbalance", u->imbalance);
    rd_report_put_u64 (object, "slowest", u->slowest);
    rd_report_put_bool (object, "straggler", u->straggler);
    json_object_array_add (list, object);
  }
  return list;
}

void
rd_profile_info_put (struct json_object *object,
                     const struct radio_profile *profile, bool redacted)
{
  struct radio_profile_info info;
  struct json_object *facts = json_object_new_object ();
  radio_profile_info (profile, &info);
  rd_report_put_text (object, "title", info.title);
  rd_report_put_text (object, "program", info.program);
  rd_report_put_u64 (object, "started_unix_ns", info.started_unix_ns);
  rd_report_put_u64 (object, "wall_ns", info.wall_ns);
  rd_report_put_u64 (object, "work_ns", info.work_ns);
  rd_report_put_u64 (object, "wait_ns", info.wait_ns);
  rd_report_put_u64 (object, "nparts", info.nparts);
  rd_report_put_u64 (object, "spans", info.nspans);
  rd_report_put_u64 (object, "dropped", info.dropped_count);
  rd_report_put_u64 (object, "open", info.open_count);
  rd_report_put_u64 (object, "late", info.late_count);
  rd_report_put_u64 (object, "overhead_ns", info.overhead_ns);
  rd_report_put_u64 (object, "alloc_count", info.alloc_count);
  rd_report_put_u64 (object, "alloc_nbytes", info.alloc_nbytes);
  rd_report_put_u64 (object, "alloc_live_nbytes", info.alloc_live_nbytes);
  for (size_t i = 0; i < info.nfacts && !redacted; i++) {
    const char *key;
    const char *value = radio_profile_fact (profile, i, &key);
    rd_report_put_text (facts, key, value);
  }
  rd_report_put (object, "facts", facts);
}
