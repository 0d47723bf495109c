/* SPDX-License-Identifier: MIT */
/* radio bench compare: what two benchmarks say of each other. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "tools/bench/result.h"
#include "tools/bench/shift.h"
#include "tools/profile/commands.h"
#include "tools/profile/report.h"
#include "tools/table.h"
#include "tools/text.h"

/* Two processes differ by so much for reasons that no number of rounds
 * within one shows: where their memory lies, who else uses the machine. */
#define LEAST_CHANGE 0.02

enum change { NOISE, FASTER, SLOWER, UNKNOWN };

static const char *const change_names[] = {
  [NOISE] = "noise", [FASTER] = "faster", [SLOWER] = "slower",
  [UNKNOWN] = "too few runs"
};

struct row {
  const struct rd_result_row *before, *after;
  struct rd_shift shift;      /* after to before */
  enum change change;
};

struct comparison {
  struct rd_result before, after;
  struct row *rows;           /* of both; allocated */
  size_t nrows;
  size_t unmatched_count;     /* rows of one alone */
  bool json;
  double fail_percent;        /* negative: differences do not fail */
};

static bool
take_option (struct comparison *c, int id, struct rd_args *args)
{
  if (id == RD_OPTION_JSON)
    c->json = true;
  if (id != RD_OPTION_FAIL_IF_SLOWER
      || (rd_parse_double (args->value, &c->fail_percent)
          && c->fail_percent >= 0))
    return true;
  rd_usage_error (args, "--fail-if-slower: '%s' is not a percentage from 0 "
                  "on", args->value);
  return false;
}

static bool
parse (struct comparison *c, struct rd_args *args)
{
  int id;
  while ((id = rd_args_next (args)) > 0)
    if (!take_option (c, id, args))
      return false;
  return id == 0 && rd_args_want (args, 2, 2, args->noperands == 0 ? "OLD"
                                                                   : "NEW");
}

static enum change
judge (const struct rd_shift *shift)
{
  if (shift->low == 0 && shift->high == 0)
    return UNKNOWN;
  if (shift->low > 1 && shift->ratio > 1 + LEAST_CHANGE)
    return SLOWER;
  if (shift->high < 1 && shift->ratio < 1 - LEAST_CHANGE)
    return FASTER;
  return NOISE;
}

static int
match (struct comparison *c)
{
  c->rows = calloc (c->after.nrows + 1, sizeof *c->rows);
  if (c->rows == NULL)
    return rd_error_memory ();
  for (size_t i = 0; i < c->after.nrows; i++) {
    const struct rd_result_row *after = &c->after.rows[i];
    const struct rd_result_row *before = rd_result_find (&c->before, after);
    struct row *row = &c->rows[c->nrows];
    if (before == NULL)
      continue;
    *row = (struct row) { .before = before, .after = after };
    if (!rd_shift_of (before->values, before->nvalues, after->values,
                      after->nvalues, &row->shift))
      return rd_error_memory ();
    row->change = judge (&row->shift);
    c->nrows++;
  }
  c->unmatched_count = c->before.nrows + c->after.nrows - 2 * c->nrows;
  return RD_EXIT_OK;
}

/* What both should have in common is told where they have not. */
static int
warn_of_conditions (const struct comparison *c)
{
  static const char *const keys[] = {
    "shape", "dtype", "threads", "destination", "seed"
  };
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    RD_FREE char *before = rd_result_text (&c->before, keys[i]);
    RD_FREE char *after = rd_result_text (&c->after, keys[i]);
    if (before == NULL || after == NULL)
      return RD_EXIT_FAILED;
    if (strcmp (before, after) == 0)
      continue;
    RD_FREE char *text = rd_format ("%s differs: %s before, %s after",
                                    keys[i], before, after);
    if (text)
      rd_warn (text);
  }
  return RD_EXIT_OK;
}

static bool
add_row (struct rd_table *table, const struct comparison *c,
         const struct row *row)
{
  char text[4][32], range[80] = "-";
  RD_FREE char *layout = rd_result_layout (&c->after, row->after);
  if (layout == NULL)
    return false;
  snprintf (text[2], 32, "%.3f", row->shift.ratio);
  if (row->change != UNKNOWN)
    snprintf (range, sizeof range, "%.3f-%.3f", row->shift.low,
              row->shift.high);
  const char *cells[] = {
    layout, row->after->row, rd_text_ms (row->before->median_s, text[0]),
    rd_text_ms (row->after->median_s, text[1]), text[2], range,
    change_names[row->change]
  };
  bool ok = true;
  for (size_t i = 0; i < table->ncolumns && ok; i++)
    ok = rd_table_add (table, cells[i]);
  return ok;
}

/* The geometric mean of all ratios. */
static double
mean_ratio (const struct comparison *c)
{
  double sum = 0;
  for (size_t i = 0; i < c->nrows; i++)
    sum += log (c->rows[i].shift.ratio);
  return c->nrows ? exp (sum / (double) c->nrows) : 0;
}

static void
print_sentence (const struct comparison *c)
{
  size_t counts[UNKNOWN + 1] = { 0 };
  for (size_t i = 0; i < c->nrows; i++)
    counts[c->rows[i].change]++;
  printf ("\n%zu row%s: %zu faster, %zu slower, %zu within noise", c->nrows,
          c->nrows == 1 ? "" : "s", counts[FASTER], counts[SLOWER],
          counts[NOISE]);
  if (counts[UNKNOWN] > 0)
    printf (", %zu with too few runs to tell", counts[UNKNOWN]);
  printf ("; geometric mean %.3f\n", mean_ratio (c));
  if (c->unmatched_count > 0)
    printf ("%zu row%s only in one of the two\n", c->unmatched_count,
            c->unmatched_count == 1 ? " is" : "s are");
}

static int
print_table (const struct comparison *c)
{
  static const char *const titles[] = {
    "layout", "row", "old ms", "new ms", "new/old", "95 %", "change"
  };
  struct rd_table table = { .ncolumns = 7, .alignment = "llrrrrl" };
  bool ok = true;
  for (size_t i = 0; i < table.ncolumns && ok; i++)
    ok = rd_table_add (&table, titles[i]);
  for (size_t i = 0; i < c->nrows && ok; i++)
    ok = add_row (&table, c, &c->rows[i]);
  if (ok) {
    rd_table_print (&table, stdout);
    print_sentence (c);
  }
  rd_table_clear (&table);
  return ok ? RD_EXIT_OK : RD_EXIT_FAILED;
}

static struct json_object *
row_json (const struct row *row)
{
  struct json_object *object = json_object_new_object ();
  rd_report_put_text (object, "volume", row->after->volume);
  rd_report_put_text (object, "tiling", row->after->tiling);
  rd_report_put_text (object, "codec", row->after->codec);
  rd_report_put_u64 (object, "threads", row->after->nthreads);
  rd_report_put_text (object, "row", row->after->row);
  rd_report_put_double (object, "old_median_s", row->before->median_s);
  rd_report_put_double (object, "new_median_s", row->after->median_s);
  rd_report_put_double (object, "ratio", row->shift.ratio);
  rd_report_put_double (object, "low", row->shift.low);
  rd_report_put_double (object, "high", row->shift.high);
  rd_report_put_u64 (object, "old_stored_nbytes",
                     row->before->stored_nbytes);
  rd_report_put_u64 (object, "new_stored_nbytes", row->after->stored_nbytes);
  rd_report_put_text (object, "change", change_names[row->change]);
  return object;
}

static int
print_json (const struct comparison *c)
{
  struct json_object *object = json_object_new_object ();
  struct json_object *rows = json_object_new_array ();
  for (size_t i = 0; i < c->nrows; i++)
    json_object_array_add (rows, row_json (&c->rows[i]));
  rd_report_put (object, "rows", rows);
  rd_report_put_double (object, "geometric_mean", mean_ratio (c));
  rd_report_put_u64 (object, "unmatched", c->unmatched_count);
  rd_report_print (object);
  return RD_EXIT_OK;
}

static int
check (const struct comparison *c)
{
  for (size_t i = 0; i < c->nrows && c->fail_percent >= 0; i++) {
    const struct row *row = &c->rows[i];
    double slower = 100 * (row->shift.ratio - 1);
    if (row->change != SLOWER || slower <= c->fail_percent)
      continue;
    RD_FREE char *layout = rd_result_layout (&c->after, row->after);
    return rd_error ("%s, %s: slower by %.1f %%, more than the %g %% "
                     "allowed", layout ? layout : "?", row->after->row,
                     slower, c->fail_percent);
  }
  return RD_EXIT_OK;
}

static int
compare (struct comparison *c, const struct rd_args *args)
{
  int failed = rd_result_read (args->operands[0], &c->before);
  if (!failed)
    failed = rd_result_read (args->operands[1], &c->after);
  if (!failed)
    failed = match (c);
  if (failed)
    return failed;
  if (c->nrows == 0)
    return rd_error ("%s and %s have no layout and row in common",
                     args->operands[0], args->operands[1]);
  failed = warn_of_conditions (c);
  if (!failed)
    failed = c->json ? print_json (c) : print_table (c);
  return failed ? failed : check (c);
}

static int
run_compare (struct rd_args *args)
{
  struct comparison c = { .fail_percent = -1 };
  int status = parse (&c, args) ? compare (&c, args) : args->status;
  rd_result_clear (&c.before);
  rd_result_clear (&c.after);
  free (c.rows);
  return status;
}

static const struct rd_option options[] = {
  { RD_OPTION_FAIL_IF_SLOWER, "fail-if-slower", "PERCENT",
    "exit 1 when a row got slower by more\n"
    "than PERCENT, and that is not noise" },
  { RD_OPTION_JSON, "json", NULL, "print a JSON object" },
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_bench_compare = {
  .name = "bench compare",
  .operands = "OLD NEW [OPTION]...",
  .summary = "what two benchmarks say of each other",
  .description =
    "Compares what two runs of 'radio bench --json' printed, row by row of "
    "the same layout: the ratio of the times, new to old, and an interval "
    "that holds it with 95 % confidence by the medians of the rounds. What "
    "that interval or 2 % explain is called noise: two processes differ by "
    "as much without any change. The exit status is 0 also when there are "
    "differences.",
  .options = options,
  .examples =
    "radio bench compare old.json new.json\n"
    "radio bench compare main.json branch.json --fail-if-slower 10",
  .run = run_compare,
};
