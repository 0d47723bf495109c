/* SPDX-License-Identifier: MIT */
/* radio diff: compares two profiles path by path, and separates changes from
 * noise. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "tools/json.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/profile/output.h"
#include "tools/profile/report.h"
#include "tools/report.h"
#include "tools/text.h"

/* Paths whose times are below this part of the whole are left out, unless
 * all are asked for. */
#define LEAST_SHARE 0.01

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
 * What was measured
 *----------------------------------------------------------------------*/

static const char *
find_fact (const struct radio_profile *profile, const char *wanted)
{
  struct radio_profile_info info;
  radio_profile_get_info (profile, &info);
  for (size_t i = 0; i < info.nfacts; i++) {
    const char *key;
    const char *value = radio_profile_fact (profile, i, &key);
    if (strcmp (key, wanted) == 0)
      return value;
  }
  return NULL;
}

/* True if the other profile has another value of fact i, which does not differ
 * between any two recordings. */
static bool
differs (const struct radio_profile *profile, size_t i,
         const struct radio_profile *other, const char **key,
         const char **value, const char **other_value)
{
  static const char *const incidental[] = {
    "pid", "command", "runs", "warmup", "seed", "cpu ns", "steal ns",
    "page faults", "page faults from disks", "bytes read from disks",
    "bytes resident at most", "failed", "scopes not recorded",
    "paths no longer logged", "events dropped in signal handlers",
    "threads recorded by another recorder", "recorded by another recorder ns",
    "scopes left without an end", "clock jumped",
    "counts and texts outside of scopes", "texts not kept",
    "counter values not kept", "gauge samples not kept",
    "threads not recorded",
  };
  *value = radio_profile_fact (profile, i, key);
  *other_value = find_fact (other, *key);
  for (size_t k = 0; k < sizeof incidental / sizeof incidental[0]; k++)
    if (strcmp (incidental[k], *key) == 0)
      return false;
  return *other_value != NULL && strcmp (*value, *other_value) != 0;
}

/* True if the operations have the same name, and some root in common if both
 * have any. */
static bool
is_same_operation (const struct rd_diff *diff)
{
  const char *before = find_fact (diff->before, "operation");
  const char *after = find_fact (diff->after, "operation");
  size_t nbefore = 0, nafter = 0;
  if (before && after && strcmp (before, after) != 0)
    return false;
  for (size_t i = 0; i < diff->n; i++) {
    const struct radio_difference *d = path_of (diff, i);
    if (d->parent != RADIO_NO_PARENT)
      continue;
    if (d->before != RADIO_NO_PARENT && d->after != RADIO_NO_PARENT)
      return true;
    nbefore += d->before != RADIO_NO_PARENT;
    nafter += d->after != RADIO_NO_PARENT;
  }
  return nbefore == 0 || nafter == 0;
}

/* Prints, before any figure, which conditions differ. */
static void
print_conditions (const struct rd_diff *diff)
{
  struct radio_profile_info info;
  bool any = !is_same_operation (diff);
  radio_profile_get_info (diff->before, &info);
  if (any)
    puts ("The profiles are of different operations.");
  for (size_t i = 0; i < info.nfacts; i++) {
    const char *key, *before, *after;
    if (!differs (diff->before, i, diff->after, &key, &before, &after))
      continue;
    any = true;
    fputs ("differs: ", stdout);
    rd_text_print (stdout, key);
    if (!diff->redact) {
      fputs (": ", stdout);
      rd_text_print (stdout, before);
      fputs (" -> ", stdout);
      rd_text_print (stdout, after);
    }
    putchar ('\n');
  }
  if (any)
    putchar ('\n');
}

/*------------------------------------------------------------------------
 * The paths
 *----------------------------------------------------------------------*/

static enum radio_edge
edge_of (const struct rd_diff *diff, const struct radio_difference *d)
{
  return d->before != RADIO_NO_PARENT
         ? radio_profile_get_node (diff->before, d->before)->edge
         : radio_profile_get_node (diff->after, d->after)->edge;
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

/* Sums of the roots: the whole before and after. */
static void
sum_roots (const struct rd_diff *diff, int64_t *before, int64_t *after)
{
  *before = *after = 0;
  for (size_t i = 0; i < diff->n; i++) {
    const struct radio_difference *d = path_of (diff, i);
    if (d->parent != RADIO_NO_PARENT)
      continue;
    *before = sum (*before, d->total_before_ns);
    *after = sum (*after, d->total_after_ns);
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
percent (int64_t before, int64_t after, char text[32])
{
  if (before <= 0 || after <= 0)
    snprintf (text, 32, "-");
  else if (after / 3 >= before)
    snprintf (text, 32, "%.1f x", (double) after / (double) before);
  else
    snprintf (text, 32, "%+.1f %%",
              100 * (double) (after - before) / (double) before);
}

static int
print_table (const struct rd_diff *diff, const bool *shown)
{
  static const char *const titles[] = {
    "ms of a run", "before", "after", "delta", "", "95 % of delta",
    "self", "change"
  };
  struct rd_table table = { .ncolumns = 8, .alignment = "lrrrrrrl" };
  bool ok = rd_table_add_row (&table, titles);
  size_t hidden = 0;
  for (size_t i = 0; i < diff->n && ok; i++) {
    const struct radio_difference *d = path_of (diff, i);
    char before[32], after[32], delta[32], share[32], self[32];
    char range[80] = "-", low[32], high[32];
    if (!shown[i]) {
      hidden++;
      continue;
    }
    RD_FREE char *name = rd_format ("%*s%s%s", (int) (2 * (d->depth % 40)),
                                    "", radio_edge_mark (edge_of (diff, d)),
                                    d->name);
    rd_text_ms ((double) d->total_before_ns / 1e9, before);
    rd_text_ms ((double) d->total_after_ns / 1e9, after);
    signed_ms (d->total_after_ns - d->total_before_ns, delta);
    percent (d->total_before_ns, d->total_after_ns, share);
    if (d->delta_low_ns != 0 || d->delta_high_ns != 0) {
      signed_ms (d->delta_low_ns, low);
      signed_ms (d->delta_high_ns, high);
      snprintf (range, sizeof range, "%s to %s", low, high);
    }
    signed_ms (d->self_after_ns - d->self_before_ns, self);
    const char *cells[] = {
      name, d->before == RADIO_NO_PARENT ? "-" : before,
      d->after == RADIO_NO_PARENT ? "-" : after, delta, share, range, self,
      change_names[d->change]
    };
    ok = name && rd_table_add_row (&table, cells);
  }
  if (ok)
    rd_table_print (&table, stdout);
  if (ok && hidden > 0)
    printf ("and %zu path%s below 1 %% (--all shows them)\n", hidden,
            hidden == 1 ? "" : "s");
  rd_table_clear (&table);
  return ok ? RD_EXIT_OK : RD_EXIT_FAILED;
}

static void
print_summary (const struct rd_diff *diff)
{
  size_t counts[RADIO_CHANGE_UNKNOWN + 1] = { 0 };
  int64_t before, after;
  char a[32], b[32], change[32];
  for (size_t i = 0; i < diff->n; i++)
    counts[path_of (diff, i)->change]++;
  sum_roots (diff, &before, &after);
  percent (before, after, change);
  printf ("\n%s ms -> %s ms (%s); ", rd_text_ms ((double) before / 1e9, a),
          rd_text_ms ((double) after / 1e9, b), change);
  if (counts[RADIO_CHANGE_UNKNOWN] > 0)
    puts ("with a single run, changes cannot be distinguished from noise "
          "(--runs)");
  else {
    printf ("paths: %zu slower, %zu faster, %zu new, %zu gone, %zu within "
            "noise\n", counts[RADIO_CHANGE_SLOWER],
            counts[RADIO_CHANGE_FASTER], counts[RADIO_CHANGE_NEW],
            counts[RADIO_CHANGE_GONE], counts[RADIO_CHANGE_NONE]);
    /* Each path is classified with an error of 5 %: of many, some that did
     * not change are called changed. */
    size_t ncompared = 0;
    for (size_t i = 0; i < diff->n; i++)
      ncompared += path_of (diff, i)->before != RADIO_NO_PARENT
                   && path_of (diff, i)->after != RADIO_NO_PARENT;
    if (ncompared >= 20)
      printf ("(each with 95 %% confidence: of %zu that did not change, about "
              "%zu are called slower or faster by chance)\n", ncompared,
              ncompared / 20);
  }
}

static const char *const edge_names[] = {
  [RADIO_EDGE_CALL] = "call", [RADIO_EDGE_HANDOFF] = "handoff",
  [RADIO_EDGE_ASYNC] = "request", [RADIO_EDGE_PHASE] = "phase",
  [RADIO_EDGE_INSTANT] = "instant",
};

static void
print_json (const struct rd_diff *diff)
{
  struct json_object *object = json_object_new_object ();
  struct json_object *conditions = json_object_new_array ();
  struct json_object *paths = json_object_new_array ();
  struct radio_profile_info info;
  int64_t before, after;
  sum_roots (diff, &before, &after);
  radio_profile_get_info (diff->before, &info);
  for (size_t i = 0; i < info.nfacts; i++) {
    const char *key, *value, *other;
    if (!differs (diff->before, i, diff->after, &key, &value, &other))
      continue;
    struct json_object *one = json_object_new_object ();
    rd_json_set_text (one, "name", key);
    if (!diff->redact) {
      rd_json_set_text (one, "before", value);
      rd_json_set_text (one, "after", other);
    }
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
      { "delta_low_ns", d->delta_low_ns },
      { "delta_high_ns", d->delta_high_ns },
    };
    struct json_object *one = json_object_new_object ();
    rd_json_set_text (one, "name", d->name);
    rd_json_set_text (one, "edge", edge_names[edge_of (diff, d)]);
    rd_json_set (one, "parent", d->parent == RADIO_NO_PARENT
                 ? NULL : json_object_new_uint64 (d->parent));
    rd_json_set_u64 (one, "depth", d->depth);
    rd_json_set_text (one, "change", change_names[d->change]);
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
      rd_json_set (one, numbers[k].key,
                   json_object_new_int64 (numbers[k].value));
    rd_json_set_u64 (one, "calls_before", d->calls_before);
    rd_json_set_u64 (one, "calls_after", d->calls_after);
    json_object_array_add (paths, one);
  }
  rd_json_set_bool (object, "same_operation", is_same_operation (diff));
  rd_json_set (object, "conditions", conditions);
  rd_json_set (object, "before_ns", json_object_new_int64 (before));
  rd_json_set (object, "after_ns", json_object_new_int64 (after));
  rd_json_set (object, "paths", paths);
  rd_json_print (object);
}

/* Fails when a root is slower by more than was allowed, and not by noise; of
 * single runs the figures alone decide. */
static int
check_roots (const struct rd_diff *diff)
{
  for (size_t i = 0; i < diff->n && diff->fail_percent >= 0; i++) {
    const struct radio_difference *d = path_of (diff, i);
    if (d->parent != RADIO_NO_PARENT || d->total_before_ns <= 0
        || (d->change != RADIO_CHANGE_SLOWER
            && d->change != RADIO_CHANGE_UNKNOWN))
      continue;
    double slower = 100 * (double) (d->total_after_ns - d->total_before_ns)
                    / (double) d->total_before_ns;
    if (slower > diff->fail_percent)
      return rd_error ("'%s' is slower by %.1f %%, more than the %g %% "
                       "allowed", d->name, slower, diff->fail_percent);
  }
  return RD_EXIT_OK;
}

int
rd_diff_report (struct rd_diff *diff)
{
  int64_t before, after;
  diff->n = radio_comparison_count (diff->comparison);
  sum_roots (diff, &before, &after);
  diff->whole_ns = larger (before, after);
  if (diff->json) {
    print_json (diff);
    return check_roots (diff);
  }
  RD_FREE bool *shown = calloc (diff->n + 1, sizeof *shown);
  if (shown == NULL)
    return rd_error_memory ();
  /* A path is shown if it changed or takes its share, or is above one that is
   * shown.  Parents come first, so from the end. */
  for (size_t i = diff->n; i-- > 0;) {
    const struct radio_difference *d = path_of (diff, i);
    double most = (double) larger (d->total_before_ns, d->total_after_ns);
    if (diff->all || most >= LEAST_SHARE * (double) diff->whole_ns)
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
    "PERCENT, beyond noise" },
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
    "RADIO_PROFILE), path by path: times of one run (medians over the runs), "
    "their difference, and its 95 % confidence interval. A difference within "
    "the spread of the runs is called noise. Different operations or "
    "conditions are reported first. The exit status is 0 also when there are "
    "differences.",
  .options = options,
  .examples =
    "radio diff before.json after.json\n"
    "radio diff main.html branch.html --fail-if-slower 5\n"
    "radio diff before.json after.json -o changes.html",
  .run = run_diff,
};
