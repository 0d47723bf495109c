/* SPDX-License-Identifier: MIT */
/* radio diff: compares two profiles path by path, and separates changes from
 * noise. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "tools/json.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/profile/against.h"
#include "tools/profile/output.h"
#include "tools/profile/report.h"
#include "tools/report.h"
#include "tools/text.h"

/* Paths whose times are below this part of the whole are left out, unless
 * all are asked for. */
#define LEAST_SHARE 0.01

/* A smaller floor is not worth a sentence. */
#define MIN_SHOWN_FLOOR 0.1

static const char *const change_names[] = {
  [RADIO_CHANGE_NONE] = "noise",
  [RADIO_CHANGE_FASTER] = "faster",
  [RADIO_CHANGE_SLOWER] = "slower",
  [RADIO_CHANGE_NEW] = "new",
  [RADIO_CHANGE_GONE] = "gone",
  [RADIO_CHANGE_UNKNOWN] = "one run",
};

static const struct radio_difference *
path_of (const struct rd_diff *diff, size_t i)
{
  return radio_comparison_get (diff->comparison, i);
}

/*------------------------------------------------------------------------
 * Measurements
 *----------------------------------------------------------------------*/

/* Prints, before any figure, which conditions differ, and what follows. */
static void
print_conditions (const struct rd_diff *diff)
{
  const struct radio_comparison_info *info = &diff->info;
  if (!info->is_same_operation)
    puts ("The profiles are of different operations.");
  for (size_t i = 0; i < info->nconditions; i++) {
    const struct radio_condition *condition
      = radio_comparison_condition (diff->comparison, i);
    fputs ("differs: ", stdout);
    rd_text_print (stdout, condition->name);
    if (!diff->redact || !condition->is_fact) {
      fputs (": ", stdout);
      rd_text_print (stdout, condition->before);
      fputs (" -> ", stdout);
      rd_text_print (stdout, condition->after);
    }
    putchar ('\n');
  }
  char before[32], after[32];
  if (info->basis != RADIO_BASIS_WALL)
    printf ("wall time: %s ms, %s ms: not comparable%s%s\n",
            rd_text_ms (diff->wall_ns[0] / 1e9, before),
            rd_text_ms (diff->wall_ns[1] / 1e9, after),
            info->is_unfair ? "" : ", since threads had CPUs for less than "
                                   "90 % of their work",
            info->basis == RADIO_BASIS_NONE
              ? ", nor do the recordings show which scopes had CPUs"
              : ", so CPU time is compared, apart from waits");
  if (info->basis == RADIO_BASIS_CPU && info->floor >= MIN_SHOWN_FLOOR)
    printf ("Differences of less than %.0f %% may come from the conditions, "
            "and count as noise.\n", 100 * info->floor);
  if (!info->is_same_operation || info->nconditions > 0
      || info->basis != RADIO_BASIS_WALL)
    putchar ('\n');
}

/*------------------------------------------------------------------------
 * The paths
 *----------------------------------------------------------------------*/

static const struct radio_profile_node *
node_of (const struct rd_diff *diff, const struct radio_difference *d)
{
  return d->before != RADIO_NO_PARENT
         ? radio_profile_get_node (diff->before, d->before)
         : radio_profile_get_node (diff->after, d->after);
}

/* True if a path, or one above it, was handed to another thread. */
static bool
is_elsewhere (const struct rd_diff *diff, const struct radio_difference *d)
{
  const struct radio_profile *profile
    = d->before != RADIO_NO_PARENT ? diff->before : diff->after;
  const struct radio_profile_node *node = node_of (diff, d);
  while (node->edge != RADIO_EDGE_HANDOFF && node->parent != RADIO_NO_PARENT)
    node = radio_profile_get_node (profile, node->parent);
  return node->edge == RADIO_EDGE_HANDOFF;
}

static int64_t
larger (int64_t a, int64_t b)
{
  return a > b ? a : b;
}

/* A sum of two times; files can claim any below 2^63. */
static int64_t
sum (int64_t a, int64_t b)
{
  return b > 0 && a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* The times that are compared. */
static bool
is_by_cpu (const struct rd_diff *diff)
{
  return diff->info.basis == RADIO_BASIS_CPU;
}

static int64_t
before_of (const struct rd_diff *diff, const struct radio_difference *d)
{
  return is_by_cpu (diff) ? d->cpu_before_ns : d->total_before_ns;
}

static int64_t
after_of (const struct rd_diff *diff, const struct radio_difference *d)
{
  return is_by_cpu (diff) ? d->cpu_after_ns : d->total_after_ns;
}

static int64_t
self_delta_of (const struct rd_diff *diff, const struct radio_difference *d)
{
  return is_by_cpu (diff) ? d->self_cpu_after_ns - d->self_cpu_before_ns
                          : d->self_after_ns - d->self_before_ns;
}

/* The wall time of a run, the mean; ranks are one. */
static double
wall_ns_of (const struct radio_profile *profile)
{
  struct radio_profile_info info;
  radio_profile_get_info (profile, &info);
  return (double) info.wall_ns
         / (info.parts == RADIO_PARTS_RUNS ? (double) info.nparts : 1);
}

/* The whole before and after: sums of the roots. */
static void
sum_roots (struct rd_diff *diff)
{
  diff->wall_ns[0] = wall_ns_of (diff->before);
  diff->wall_ns[1] = wall_ns_of (diff->after);
  for (size_t i = 0; i < diff->n; i++) {
    const struct radio_difference *d = path_of (diff, i);
    if (d->parent != RADIO_NO_PARENT)
      continue;
    diff->ns[0] = sum (diff->ns[0], before_of (diff, d));
    diff->ns[1] = sum (diff->ns[1], after_of (diff, d));
  }
}

/* "+0.123", "-1.2": milliseconds with their sign. */
static void
signed_ms (int64_t ns, char text[32])
{
  char plain[32];
  rd_text_ms (fabs ((double) ns) / 1e9, plain);
  snprintf (text, 32, "%s%.30s", ns < 0 ? "-" : "+", plain);
}

static void
percent (double before, double after, char text[32])
{
  if (before <= 0 || after <= 0)
    snprintf (text, 32, "-");
  else if (after / 3 >= before)
    snprintf (text, 32, "%.1f x", after / before);
  else
    snprintf (text, 32, "%+.1f %%", 100 * (after - before) / before);
}

/* Returns the change of a path itself, or if it did not change, of the paths
 * below it. */
static const char *
change_of (const struct rd_diff *diff, const struct radio_difference *d)
{
  if (d->is_split)
    return "";
  if (diff->info.basis == RADIO_BASIS_NONE
      && d->change == RADIO_CHANGE_UNKNOWN)
    return "unclear";
  if (d->change == RADIO_CHANGE_NONE
      && d->total_change == RADIO_CHANGE_SLOWER)
    return "slower below";
  if (d->change == RADIO_CHANGE_NONE
      && d->total_change == RADIO_CHANGE_FASTER)
    return "faster below";
  if (d->change == RADIO_CHANGE_NONE && d->is_unclear)
    return "unclear";
  return change_names[d->change];
}

static bool
add_row (const struct rd_diff *diff, const struct radio_difference *d,
         struct rd_table *table)
{
  char before[32], after[32], delta[32], share[32], self[32];
  char medians[80] = "-", range[80] = "-", low[32], high[32];
  const char *place = !d->is_split ? ""
                      : is_elsewhere (diff, d) ? " on other threads"
                      : " on its caller's thread";
  RD_FREE char *name = rd_format (
    "%*s%s%s%s", (int) (2 * (d->depth % 40)), "",
    radio_edge_mark (node_of (diff, d)->edge), d->name, place);
  rd_text_ms ((double) before_of (diff, d) / 1e9, before);
  rd_text_ms ((double) after_of (diff, d) / 1e9, after);
  signed_ms (after_of (diff, d) - before_of (diff, d), delta);
  percent ((double) before_of (diff, d), (double) after_of (diff, d), share);
  rd_text_ms ((double) d->median_before_ns / 1e9, low);
  rd_text_ms ((double) d->median_after_ns / 1e9, high);
  if (d->change != RADIO_CHANGE_UNKNOWN && !d->is_split)
    snprintf (medians, sizeof medians, "%s, %s",
              d->before == RADIO_NO_PARENT ? "-" : low,
              d->after == RADIO_NO_PARENT ? "-" : high);
  if (d->self_low_ns != 0 || d->self_high_ns != 0) {
    signed_ms (d->self_low_ns, low);
    signed_ms (d->self_high_ns, high);
    snprintf (range, sizeof range, "%s to %s", low, high);
  }
  signed_ms (self_delta_of (diff, d), self);
  const char *cells[] = {
    name, d->before == RADIO_NO_PARENT ? "-" : before,
    d->after == RADIO_NO_PARENT ? "-" : after, delta, share, medians, self,
    range, change_of (diff, d)
  };
  return name && rd_table_add_row (table, cells);
}

static int
print_table (const struct rd_diff *diff, const bool *shown)
{
  const char *titles[] = {
    is_by_cpu (diff) ? "CPU ms of a run" : "ms of a run", "before", "after",
    "delta", "", "medians", "self", "95 % of its median", "change"
  };
  struct rd_table table = { .ncolumns = 9, .alignment = "lrrrrrrrl" };
  bool ok = rd_table_add_row (&table, titles);
  size_t hidden = 0, npaths = 0;
  while (npaths < diff->n && !path_of (diff, npaths)->is_split)
    npaths++;
  size_t split = npaths;
  for (size_t i = 0; i < npaths && ok; i++) {
    hidden += !shown[i];
    ok = !shown[i] || add_row (diff, path_of (diff, i), &table);
    /* Its parts by thread are in the same order. */
    for (; split < diff->n && path_of (diff, split)->parent == i; split++)
      if (ok && shown[split])
        ok = add_row (diff, path_of (diff, split), &table);
  }
  if (ok)
    rd_table_print (&table, stdout);
  if (ok && hidden > 0)
    printf ("and %zu path%s below 1 %% (--all shows them)\n", hidden,
            rd_plural (hidden));
  rd_table_clear (&table);
  return ok ? RD_EXIT_OK : RD_EXIT_FAILED;
}

/* True if --against can run what made the first recording again: it says how,
 * and not by a pseudonym. */
static bool
is_repeatable (const struct rd_diff *diff)
{
  const char *made = rd_find_fact (diff->before, RD_MADE_BY);
  return made && *made == '{';
}

#define SAME "record both under the same conditions, or "
#define AGAINST "compare in turn (radio profile --against)"
#define FOUR(what) "compare four recordings of each " what " in turn (radio " \
  "profile merge --as runs)"

/* The advice for an unclear change, the same as on the page (conditions.mjs).
 * Both limits are equal if each side has several processes; a job of ranks is
 * repeated whole. */
static const char *
advice_of (const struct rd_diff *diff)
{
  static const char *const advice[2][3] = {
    { AGAINST, FOUR ("program"), FOUR ("job") },
    { SAME AGAINST, SAME FOUR ("program"), SAME FOUR ("job") },
  };
  struct radio_profile_info before, after;
  radio_profile_get_info (diff->before, &before);
  radio_profile_get_info (diff->after, &after);
  bool are_ranks = before.parts == RADIO_PARTS_RANKS
                   || after.parts == RADIO_PARTS_RANKS;
  if (diff->info.is_unfair && diff->info.root_floor <= diff->info.floor)
    return "measure both again in turn, on a quieter machine or with more runs";
  return advice[diff->info.is_unfair][are_ranks ? 2 : !is_repeatable (diff)];
}

/* The reason for the floor of a root's change. */
static const char *
what_differs (const struct rd_diff *diff)
{
  return is_by_cpu (diff) || diff->info.is_unfair
         ? "processes of one program under such conditions"
         : "processes of one program";
}

/* The change of a root's waits, in words.  Waits of processes of one program
 * differ, too. */
static const char *
wait_change_of (const struct rd_diff *diff, const struct radio_difference *d)
{
  double before = (double) d->wait_before_ns;
  double after = (double) d->wait_after_ns;
  if (d->wait_change == RADIO_CHANGE_UNKNOWN)
    return "";
  if (d->wait_change == RADIO_CHANGE_NONE)
    return ", noise";
  if (fabs (after - before) <= diff->info.root_floor * fmin (before, after))
    return ", unclear";
  return d->wait_change == RADIO_CHANGE_SLOWER ? ", longer" : ", shorter";
}

/* Prints about a root what the compared times do not show. */
static void
print_root (const struct rd_diff *diff, const struct radio_difference *d)
{
  char before[32], after[32], change[32];
  bool is_reported = diff->fail_percent >= 0      /* with the exit status */
                     && rd_diff_verdict (&diff->info, d, diff->fail_percent)
                        != RD_ROOT_NOT_SLOWER;
  if (d->is_unclear && d->total_change == RADIO_CHANGE_NONE && !is_reported)
    printf ("'%s' changed by less than the %.0f %% that %s differ by: %s\n",
            d->name, 100 * diff->info.root_floor, what_differs (diff),
            advice_of (diff));
  if (d->wait_before_ns == 0 && d->wait_after_ns == 0)
    return;
  percent ((double) d->wait_before_ns, (double) d->wait_after_ns, change);
  printf ("'%s' waited for disks, requests and locks, which a busy machine "
          "prolongs, too: median %s ms -> %s ms (%s)", d->name,
          rd_text_ms ((double) d->wait_before_ns / 1e9, before),
          rd_text_ms ((double) d->wait_after_ns / 1e9, after), change);
  if (d->wait_low_ns != 0 || d->wait_high_ns != 0) {
    signed_ms (d->wait_low_ns, before);
    signed_ms (d->wait_high_ns, after);
    printf (", a difference of %s to %s ms with 95 %% confidence", before,
            after);
  }
  puts (wait_change_of (diff, d));
}

static void
print_summary (const struct rd_diff *diff)
{
  size_t counts[RADIO_CHANGE_UNKNOWN + 1] = { 0 };
  char a[32], b[32], change[32];
  size_t nroots = 0, nunclear = 0;
  for (size_t i = 0; i < diff->n; i++) {
    const struct radio_difference *d = path_of (diff, i);
    nroots += d->parent == RADIO_NO_PARENT;
    /* A path of both that took nothing says nothing. */
    bool is_counted = !d->is_split
                      && (d->change == RADIO_CHANGE_NEW
                          || d->change == RADIO_CHANGE_GONE
                          || before_of (diff, d) > 0
                          || after_of (diff, d) > 0);
    if (d->is_unclear && d->change == RADIO_CHANGE_NONE)
      nunclear += is_counted;
    else
      counts[d->change] += is_counted;
  }
  if (diff->info.basis == RADIO_BASIS_NONE) {
    printf ("\nwhat changed is unclear: %s\n", advice_of (diff));
    return;
  }
  putchar ('\n');
  if (diff->info.is_summed) {
    percent (diff->wall_ns[0], diff->wall_ns[1], change);
    printf ("wall time %s ms -> %s ms (%s); ",
            rd_text_ms (diff->wall_ns[0] / 1e9, a),
            rd_text_ms (diff->wall_ns[1] / 1e9, b), change);
  }
  percent ((double) diff->ns[0], (double) diff->ns[1], change);
  printf ("%s%s ms -> %s ms (%s)", is_by_cpu (diff) ? "CPU time "
          : diff->info.is_summed ? "summed over threads " : "",
          rd_text_ms ((double) diff->ns[0] / 1e9, a),
          rd_text_ms ((double) diff->ns[1] / 1e9, b), change);
  const struct radio_difference *first = diff->n ? path_of (diff, 0) : NULL;
  bool has_medians = nroots == 1 && first->change != RADIO_CHANGE_UNKNOWN
                     && first->median_before_ns > 0;
  if (has_medians) {
    percent ((double) first->median_before_ns,
             (double) first->median_after_ns, change);
    printf (", median %s", change);
  }
  fputs ("; ", stdout);
  if (counts[RADIO_CHANGE_UNKNOWN] > 0)
    printf ("with a single run, changes cannot be distinguished from noise: "
            "%s\n", advice_of (diff));
  else {
    char unclear[48] = "";
    if (nunclear > 0)
      snprintf (unclear, sizeof unclear, "%zu unclear, ", nunclear);
    printf ("paths: %zu slower, %zu faster, %zu new, %zu gone, %s%zu within "
            "noise\n", counts[RADIO_CHANGE_SLOWER],
            counts[RADIO_CHANGE_FASTER], counts[RADIO_CHANGE_NEW],
            counts[RADIO_CHANGE_GONE], unclear, counts[RADIO_CHANGE_NONE]);
  }
  for (size_t i = 0; i < diff->n; i++)
    if (path_of (diff, i)->parent == RADIO_NO_PARENT)
      print_root (diff, path_of (diff, i));
}

static const char *const edge_names[] = {
  [RADIO_EDGE_CALL] = "call", [RADIO_EDGE_HANDOFF] = "handoff",
  [RADIO_EDGE_ASYNC] = "request", [RADIO_EDGE_PHASE] = "phase",
  [RADIO_EDGE_INSTANT] = "instant",
};

/* A sum of tenths has 17 digits. */
static double
to_six_digits (double part)
{
  return round (1e6 * part) / 1e6;
}

static void
print_json (const struct rd_diff *diff)
{
  static const char *const basis_names[] = {
    [RADIO_BASIS_WALL] = "wall", [RADIO_BASIS_CPU] = "cpu",
    [RADIO_BASIS_NONE] = "none"
  };
  struct json_object *object = json_object_new_object ();
  struct json_object *conditions = json_object_new_array ();
  struct json_object *paths = json_object_new_array ();
  for (size_t i = 0; i < diff->info.nconditions; i++) {
    const struct radio_condition *condition
      = radio_comparison_condition (diff->comparison, i);
    struct json_object *one = json_object_new_object ();
    rd_json_set_text (one, "name", condition->name);
    if (!diff->redact || !condition->is_fact) {
      rd_json_set_text (one, "before", condition->before);
      rd_json_set_text (one, "after", condition->after);
    }
    rd_json_set_bool (one, "unfair", condition->is_unfair);
    json_object_array_add (conditions, one);
  }
  for (size_t i = 0; i < diff->n; i++) {
    const struct radio_difference *d = path_of (diff, i);
    const struct {
      const char *key;
      int64_t value;
    } numbers[] = {
      { "total_before_ns", d->total_before_ns },
      { "total_after_ns", d->total_after_ns },
      { "self_before_ns", d->self_before_ns },
      { "self_after_ns", d->self_after_ns },
      { "cpu_before_ns", d->cpu_before_ns },
      { "cpu_after_ns", d->cpu_after_ns },
      { "self_cpu_before_ns", d->self_cpu_before_ns },
      { "self_cpu_after_ns", d->self_cpu_after_ns },
      { "delta_low_ns", d->delta_low_ns },
      { "delta_high_ns", d->delta_high_ns },
      { "self_low_ns", d->self_low_ns },
      { "self_high_ns", d->self_high_ns },
      { "wait_before_ns", d->wait_before_ns },
      { "wait_after_ns", d->wait_after_ns },
      { "wait_low_ns", d->wait_low_ns },
      { "wait_high_ns", d->wait_high_ns },
    };
    struct json_object *one = json_object_new_object ();
    rd_json_set_text (one, "name", d->name);
    rd_json_set_text (one, "edge", edge_names[node_of (diff, d)->edge]);
    rd_json_set (one, "parent", d->parent == RADIO_NO_PARENT
                 ? NULL : json_object_new_uint64 (d->parent));
    rd_json_set_u64 (one, "depth", d->depth);
    rd_json_set_bool (one, "split", d->is_split);
    rd_json_set_text (one, "change", change_names[d->change]);
    rd_json_set_text (one, "total_change", change_names[d->total_change]);
    rd_json_set_bool (one, "unclear", d->is_unclear);
    rd_json_set_text (one, "wait_change", change_names[d->wait_change]);
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
      rd_json_set (one, numbers[k].key,
                   json_object_new_int64 (numbers[k].value));
    bool has_medians[2] = { !d->is_split && d->before != RADIO_NO_PARENT,
                            !d->is_split && d->after != RADIO_NO_PARENT };
    rd_json_set (one, "median_before_ns", has_medians[0]
                 ? json_object_new_int64 (d->median_before_ns) : NULL);
    rd_json_set (one, "median_after_ns", has_medians[1]
                 ? json_object_new_int64 (d->median_after_ns) : NULL);
    rd_json_set_u64 (one, "calls_before", d->calls_before);
    rd_json_set_u64 (one, "calls_after", d->calls_after);
    json_object_array_add (paths, one);
  }
  rd_json_set_bool (object, "same_operation", diff->info.is_same_operation);
  rd_json_set_text (object, "basis", basis_names[diff->info.basis]);
  rd_json_set_bool (object, "unfair", diff->info.is_unfair);
  rd_json_set_double (object, "floor", to_six_digits (diff->info.floor));
  rd_json_set_double (object, "root_floor",
                      to_six_digits (diff->info.root_floor));
  rd_json_set (object, "conditions", conditions);
  rd_json_set (object, "before_ns", json_object_new_int64 (diff->ns[0]));
  rd_json_set (object, "after_ns", json_object_new_int64 (diff->ns[1]));
  rd_json_set_u64 (object, "wall_before_ns",
                   (uint64_t) (diff->wall_ns[0] + 0.5));
  rd_json_set_u64 (object, "wall_after_ns",
                   (uint64_t) (diff->wall_ns[1] + 0.5));
  rd_json_set (object, "paths", paths);
  rd_json_print (object);
}

/* How much slower, in percent; 0 where nothing is known. */
static double
slower_by (int64_t before, int64_t after)
{
  return before > 0 ? 100 * ((double) after - (double) before)
                      / (double) before : 0;
}

/* By how many percent a root is slower, in the times compared. */
static double
root_slower_by (const struct radio_comparison_info *info,
                const struct radio_difference *d)
{
  return d->total_change != RADIO_CHANGE_UNKNOWN
         ? slower_by (d->median_before_ns, d->median_after_ns)
         : info->basis == RADIO_BASIS_CPU
         ? slower_by (d->cpu_before_ns, d->cpu_after_ns)
         : slower_by (d->total_before_ns, d->total_after_ns);
}

enum rd_root_verdict
rd_diff_verdict (const struct radio_comparison_info *info,
                 const struct radio_difference *root, double fail_percent)
{
  bool is_slower = root_slower_by (info, root) > fail_percent;
  double by_wall = slower_by (root->wall_before_ns, root->wall_after_ns);
  bool is_called = root->total_change == RADIO_CHANGE_SLOWER
                   || root->total_change == RADIO_CHANGE_UNKNOWN;
  bool waits_longer = root->wait_change == RADIO_CHANGE_SLOWER
                      || root->wait_change == RADIO_CHANGE_UNKNOWN;
  /* The root's time, without the time that lacked CPUs. */
  double before = (double) root->wait_before_ns
                  + (double) root->median_before_ns;
  double more = (double) root->wait_after_ns - (double) root->wait_before_ns;
  if (info->is_unfair
      && ((is_slower && (is_called || root->is_unclear))
          || by_wall > fail_percent))
    return RD_ROOT_UNCLEAR_BY_CONDITIONS;
  if (is_slower && root->is_unclear)
    return RD_ROOT_UNCLEAR_BY_PROCESSES;
  if (is_slower && is_called)
    return RD_ROOT_SLOWER;
  return waits_longer && more > fail_percent / 100 * before
         ? RD_ROOT_UNCLEAR_BY_WAITS : RD_ROOT_NOT_SLOWER;
}

/* Reports a root that may be slower.  Returns an exit status. */
static int
report_verdict (const struct rd_diff *diff, const struct radio_difference *d)
{
  double slower = root_slower_by (&diff->info, d);
  double by_wall = slower_by (d->wall_before_ns, d->wall_after_ns);
  char a[32], b[32];
  switch (rd_diff_verdict (&diff->info, d, diff->fail_percent)) {
  case RD_ROOT_NOT_SLOWER:
    return RD_EXIT_OK;
  case RD_ROOT_SLOWER:
    return rd_error ("'%s' is slower by %.1f %%, more than the %g %% allowed",
                     d->name, slower, diff->fail_percent);
  case RD_ROOT_UNCLEAR_BY_CONDITIONS:
    rd_error ("'%s' took %.1f %% more time%s, but the conditions differ: it is "
              "unclear if it is slower; %s", d->name,
              by_wall > slower ? by_wall : slower,
              by_wall > slower ? " by the clock" : "", advice_of (diff));
    break;
  case RD_ROOT_UNCLEAR_BY_PROCESSES:
    rd_error ("'%s' is slower by %.1f %%, but %s differ by up to %.0f %%: it "
              "is unclear if the program is slower; %s", d->name, slower,
              what_differs (diff), 100 * diff->info.root_floor,
              advice_of (diff));
    break;
  case RD_ROOT_UNCLEAR_BY_WAITS:
    rd_error ("'%s' waited %s ms instead of %s ms, which CPU time does not "
              "show: it is unclear if it is slower; %s", d->name,
              rd_text_ms ((double) d->wait_after_ns / 1e9, a),
              rd_text_ms ((double) d->wait_before_ns / 1e9, b),
              advice_of (diff));
  }
  return RD_EXIT_UNCLEAR;
}

/* True if a root is in one profile alone, which it took more of than a root may
 * get slower: so it may be one of the other, by another name. */
static bool
is_alone (const struct rd_diff *diff, const struct radio_difference *d)
{
  bool is_old = d->after == RADIO_NO_PARENT;
  int64_t ns = is_old ? before_of (diff, d) : after_of (diff, d);
  return (is_old || d->before == RADIO_NO_PARENT)
         && (double) ns > diff->fail_percent / 100
                          * (double) diff->ns[is_old ? 0 : 1];
}

/* Fails when a root is slower by more than was allowed; it is unclear, too, if
 * no root is in both, or one that takes much is not. */
static int
check_roots (const struct rd_diff *diff)
{
  int status = RD_EXIT_OK;
  bool is_compared = false;
  const struct radio_difference *alone = NULL;
  if (diff->fail_percent < 0)
    return RD_EXIT_OK;
  for (size_t i = 0; i < diff->n && status != RD_EXIT_FAILED; i++) {
    const struct radio_difference *d = path_of (diff, i);
    if (d->parent != RADIO_NO_PARENT)
      continue;
    is_compared |= d->before != RADIO_NO_PARENT
                   && d->after != RADIO_NO_PARENT;
    if (!alone && is_alone (diff, d))
      alone = d;
    int of_root = report_verdict (diff, d);
    if (of_root != RD_EXIT_OK)
      status = of_root;
  }
  if (status == RD_EXIT_FAILED)
    return status;
  if (is_compared && alone) {
    rd_error ("'%s' is in the %s profile alone, and takes more than %g %% of "
              "it: it is unclear if something is slower; compare recordings "
              "of the same operations", alone->name,
              alone->after == RADIO_NO_PARENT ? "first" : "second",
              diff->fail_percent);
    return RD_EXIT_UNCLEAR;
  }
  if (is_compared)
    return status;
  rd_error ("no root of the tree is in both profiles: it is unclear if one is "
            "slower; compare recordings of the same operation");
  return RD_EXIT_UNCLEAR;
}

int
rd_diff_report (struct rd_diff *diff)
{
  diff->n = radio_comparison_count (diff->comparison);
  radio_comparison_get_info (diff->comparison, &diff->info);
  sum_roots (diff);
  if (diff->json) {
    print_json (diff);
    return check_roots (diff);
  }
  RD_FREE bool *shown = calloc (diff->n + 1, sizeof *shown);
  if (shown == NULL)
    return rd_error_memory ();
  /* A path is shown if it changed or takes its share, or is above one that is
   * shown.  Parents come first, so from the end. */
  double whole = (double) larger (diff->ns[0], diff->ns[1]);
  for (size_t i = diff->n; i-- > 0;) {
    const struct radio_difference *d = path_of (diff, i);
    double most = (double) larger (before_of (diff, d), after_of (diff, d));
    if (diff->all || most >= LEAST_SHARE * whole)
      shown[i] = true;
    if (shown[i] && d->parent != RADIO_NO_PARENT)
      shown[d->parent] = true;
  }
  print_conditions (diff);
  int failed = print_table (diff, shown);
  if (failed)
    return failed;
  print_summary (diff);
  return check_roots (diff);
}

/*------------------------------------------------------------------------
 * The command
 *----------------------------------------------------------------------*/

static int
run_diff (struct rd_args *args)
{
  struct rd_diff diff = { .fail_percent = -1 };
  RD_CLEAR_OUTPUT struct rd_profile_output output = { 0 };
  int id;
  while ((id = rd_args_next (args)) > 0) {
    if (id == 'o' && !rd_has_suffix (args->value, ".html"))
      return rd_usage_error (args, "-o: '%s' does not end in .html: a "
                             "comparison is written as a page", args->value);
    if (rd_profile_output_take (args, id, &output) < 0)
      return args->status;
    if (id == RD_OPTION_ALL)
      diff.all = true;
    if (id == RD_OPTION_FAIL_IF_SLOWER
        && !rd_args_percentage (args, &diff.fail_percent))
      return args->status;
  }
  if (id < 0 || !rd_args_want (args, 2, 2, args->noperands == 0 ? "BEFORE"
                                                                : "AFTER"))
    return args->status;
  int failed = rd_profile_output_prepare (&output, args, NULL);
  if (failed)
    return failed;
  RD_CLOSE_PROFILE struct radio_profile *before = NULL;
  RD_CLOSE_PROFILE struct radio_profile *after = NULL;
  struct radio_comparison *comparison = NULL;
  if (radio_profile_read (args->operands[0], &before) != RADIO_OK)
    return rd_error_library (args->operands[0]);
  if (radio_profile_read (args->operands[1], &after) != RADIO_OK)
    return rd_error_library (args->operands[1]);
  if (radio_profile_compare (before, after, &comparison) != RADIO_OK)
    return rd_error_library (NULL);
  diff.comparison = comparison;
  diff.before = output.before = before;
  diff.after = after;
  diff.redact = output.redact;
  diff.json = args->json;
  int status = rd_diff_report (&diff);
  /* With --json nothing else is printed on stdout. */
  failed = rd_profile_output_write (&output, after, diff.json);
  radio_comparison_close (comparison);
  return failed ? failed : status;
}

static const struct rd_option options[] = {
  { RD_OPTION_ALL, "all", NULL, "also show paths that take less than 1 %" },
  { RD_OPTION_FAIL_IF_SLOWER, "fail-if-slower", "PERCENT",
    "exit 1 when an operation got slower by more than\n"
    "PERCENT, beyond noise; 3 when that is unclear,\n"
    "since conditions or processes differ as much" },
  RD_JSON_OPTION,
  { 'o', "output", "FILE",
    "write a page (.html) that shows both, and what\n"
    "changed; can be given several times" },
  { RD_OPTION_OVERWRITE, "overwrite", NULL, "replace FILE" },
  RD_REDACT_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_diff = {
  .name = "diff",
  .operands = "BEFORE AFTER [OPTION]...",
  .summary = "compare two profiles",
  .description =
    "Compares two profiles (.json or .html of 'radio profile' or of "
    "RADIO_PROFILE), path by path and summed over threads: mean times of one "
    "run, their difference, medians, and what the path itself did, with its "
    "95 % confidence interval. A difference within the spread of the runs is "
    "called noise. Different operations or conditions are reported first; "
    "where these make wall times incomparable, time on CPUs is compared. The "
    "exit status is 0 also when there are differences.",
  .options = options,
  .examples =
    "radio diff before.json after.json\n"
    "radio diff main.html branch.html --fail-if-slower 5\n"
    "radio diff before.json after.json -o changes.html",
  .run = run_diff,
};
