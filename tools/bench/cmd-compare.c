/* SPDX-License-Identifier: MIT */
/* radio bench compare: compares the outputs of two runs of `radio bench
 * --json'. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/bench/report.h"
#include "tools/json.h"
#include "tools/options.h"
#include "tools/profile/report.h"
#include "tools/profile/samples.h"
#include "tools/report.h"
#include "tools/text.h"

/* One row of one layout.  Strings belong to the object. */
struct result_row {
  const char *volume;         /* of several; else "" */
  const char *tiling, *codec, *row;
  uint64_t nthreads;          /* 0: the result does not say */
  uint64_t stored_nbytes;
  double median_s;
  double *values;             /* the median of each round; or each time, when
                                 there are fewer than 4 rounds; allocated */
  size_t nvalues;
};

struct result {
  struct json_object *object;
  struct result_row *rows; /* allocated */
  size_t nrows;
};

/*------------------------------------------------------------------------
 * Reading the JSON.  Errors name the file and the member.
 *----------------------------------------------------------------------*/

/* More than any benchmark prints. */
#define MOST_NBYTES ((off_t) 64 << 20)

/* Fewer rounds than this have no interval. */
#define LEAST_ROUNDS 4

/* A member of a type; NULL after complaining. */
static struct json_object *
get_member (const char *file, struct json_object *object, const char *key,
            enum json_type type)
{
  struct json_object *value = NULL;
  if (json_object_is_type (object, json_type_object)
      && json_object_object_get_ex (object, key, &value)
      && json_object_is_type (value, type))
    return value;
  rd_error ("%s: '%s' is missing, or is not %s", file, key,
            json_type_to_name (type));
  return NULL;
}

static double
time_of (struct json_object *times, size_t i)
{
  return json_object_get_double (json_object_array_get_idx (times, i));
}

static double
median_of (struct json_object *times, size_t first, size_t n, double *room)
{
  struct rd_summary summary;
  for (size_t i = 0; i < n; i++)
    room[i] = time_of (times, first + i);
  rd_summarize (room, n, &summary);
  return summary.median;
}

/* A row that was not measured is left out.  Times of one round share the
 * places and the state of the machine; the medians of rounds are independent
 * samples. */
static int
take_row (const char *file, struct json_object *layout,
          struct json_object *object, struct result *result)
{
  struct result_row *row = &result->rows[result->nrows];
  struct json_object *name = get_member (file, object, "row", json_type_string);
  if (name == NULL)
    return RD_EXIT_FAILED;
  if (json_object_object_get_ex (object, "skipped", NULL))
    return RD_EXIT_OK;
  struct json_object *times = get_member (file, object, "times_s",
                                          json_type_array);
  struct json_object *runs = get_member (file, object, "runs_of_a_round",
                                         json_type_int);
  struct json_object *tiling = get_member (file, layout, "tiling",
                                           json_type_string);
  struct json_object *codec = get_member (file, layout, "codec",
                                          json_type_string);
  struct json_object *stored = get_member (file, layout, "stored_nbytes",
                                           json_type_int);
  if (!times || !runs || !tiling || !codec || !stored)
    return RD_EXIT_FAILED;
  /* Older results do not have these. */
  struct json_object *volume = NULL, *threads = NULL;
  json_object_object_get_ex (layout, "volume", &volume);
  json_object_object_get_ex (layout, "threads", &threads);
  row->volume = json_object_is_type (volume, json_type_string)
                ? json_object_get_string (volume) : "";
  row->nthreads = json_object_get_uint64 (threads);
  row->row = json_object_get_string (name);
  row->tiling = json_object_get_string (tiling);
  row->codec = json_object_get_string (codec);
  row->stored_nbytes = json_object_get_uint64 (stored);
  result->nrows++;

  size_t n = json_object_array_length (times);
  size_t nperround = (size_t) json_object_get_uint64 (runs);
  RD_FREE double *room = calloc (n + 1, sizeof *room);
  row->values = calloc (n + 1, sizeof *row->values);
  if (room == NULL || row->values == NULL)
    return rd_error_memory ();
  for (size_t i = 0; i < n; i++)
    if (!(time_of (times, i) > 0) || isinf (time_of (times, i)))
      return rd_error ("%s: a time of row '%s' is not above 0", file,
                       row->row);
  row->median_s = median_of (times, 0, n, room);
  if (nperround == 0 || n / nperround < LEAST_ROUNDS)
    nperround = 1;
  row->nvalues = n / nperround;
  for (size_t i = 0; i < row->nvalues; i++)
    row->values[i] = median_of (times, i * nperround, nperround, room);
  return RD_EXIT_OK;
}

static int
read_result (const char *name, struct result *result)
{
  struct stat st;
  memset (result, 0, sizeof *result);
  int file = open (name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  bool is_open = file >= 0 && fstat (file, &st) == 0;
  int number = errno;
  bool is_file = is_open && S_ISREG (st.st_mode) && st.st_size <= MOST_NBYTES;
  if (is_file)
    result->object = json_object_from_fd (file);
  if (file >= 0)
    close (file);
  if (!is_open)
    return rd_error ("%s: %s", name, strerror (number));
  if (!is_file)
    return rd_error ("%s: not a file that 'radio bench --json' wrote",
                     name);
  struct json_object *format;
  if (!json_object_is_type (result->object, json_type_object)
      || !json_object_object_get_ex (result->object, "radio_bench", &format))
    return rd_error ("%s: not the output of 'radio bench --json'", name);
  if (json_object_get_int (format) != RD_BENCH_FORMAT)
    return rd_error ("%s: radio_bench is %s, this version reads %d", name,
                     json_object_get_string (format), RD_BENCH_FORMAT);

  struct json_object *layouts = get_member (name, result->object, "layouts",
                                            json_type_array);
  if (layouts == NULL)
    return RD_EXIT_FAILED;
  size_t nlayouts = json_object_array_length (layouts);
  int failed = RD_EXIT_OK;
  for (size_t k = 0; k < nlayouts && !failed; k++) {
    struct json_object *layout = json_object_array_get_idx (layouts, k);
    struct json_object *rows = get_member (name, layout, "rows",
                                           json_type_array);
    if (rows == NULL)
      return RD_EXIT_FAILED;
    size_t n = json_object_array_length (rows);
    struct result_row *more = reallocarray (result->rows,
                                            result->nrows + n + 1,
                                            sizeof *more);
    if (more == NULL)
      return rd_error_memory ();
    result->rows = more;
    memset (more + result->nrows, 0, (n + 1) * sizeof *more);
    for (size_t i = 0; i < n && !failed; i++)
      failed = take_row (name, layout, json_object_array_get_idx (rows, i),
                         result);
  }
  return failed;
}

/* True if the rows of a result have different numbers of threads. */
static bool
has_threads (const struct result *result)
{
  for (size_t i = 1; i < result->nrows; i++)
    if (result->rows[i].nthreads != result->rows[0].nthreads)
      return true;
  return false;
}

static char *
layout_name (const struct result *result,
             const struct result_row *row)
{
  char threads[48] = "";
  if (has_threads (result))
    snprintf (threads, sizeof threads, ", %" PRIu64 " thread%s",
              row->nthreads, rd_plural (row->nthreads));
  return rd_format ("%s%s%s %s%s", row->volume, *row->volume ? ", " : "",
                    row->tiling, row->codec, threads);
}

static char *
result_text (const struct result *result, const char *key)
{
  struct json_object *value = NULL;
  json_object_object_get_ex (result->object, key, &value);
  return rd_format ("%s", value ? json_object_get_string (value) : "");
}

static void
clear_result (struct result *result)
{
  for (size_t i = 0; i < result->nrows; i++)
    free (result->rows[i].values);
  free (result->rows);
  json_object_put (result->object);
}

/*------------------------------------------------------------------------
 * Comparing
 *----------------------------------------------------------------------*/

/* Two processes differ by as much for reasons that no number of rounds within
 * one shows: the placement of memory, other users of the machine. */
#define LEAST_CHANGE 0.02

enum change { NOISE, FASTER, SLOWER, UNKNOWN };

static const char *const change_names[] = {
  [NOISE] = "noise", [FASTER] = "faster", [SLOWER] = "slower",
  [UNKNOWN] = "too few runs"
};

struct row_change {
  const struct result_row *before, *after;
  struct rd_shift shift;      /* after to before */
  enum change change;
};

struct comparison {
  struct result before, after;
  struct row_change *rows;           /* of both; allocated */
  size_t nrows;
  size_t unmatched_count;     /* rows of one alone */
  bool json;
  double fail_percent;        /* negative: differences do not fail */
};

/* A single number of threads is a condition of the whole result: a different
 * one causes a warning, and rows are still compared. */
static int
match_rows (struct comparison *c)
{
  bool by_threads = has_threads (&c->before);
  c->rows = calloc (c->after.nrows + 1, sizeof *c->rows);
  if (c->rows == NULL)
    return rd_error_memory ();
  for (size_t i = 0; i < c->after.nrows; i++) {
    const struct result_row *after = &c->after.rows[i];
    const struct result_row *before = c->before.rows;
    const struct result_row *end = before + c->before.nrows;
    while (before < end
           && (strcmp (before->tiling, after->tiling) != 0
               || strcmp (before->codec, after->codec) != 0
               || strcmp (before->row, after->row) != 0
               || strcmp (before->volume, after->volume) != 0
               || (by_threads && before->nthreads != after->nthreads)))
      before++;
    if (before == end)
      continue;
    struct row_change *row = &c->rows[c->nrows++];
    struct rd_shift *shift = &row->shift;
    *row = (struct row_change) { .before = before, .after = after };
    if (!rd_shift_of (before->values, before->nvalues, after->values,
                      after->nvalues, shift))
      return rd_error_memory ();
    if (shift->low == 0 && shift->high == 0)
      row->change = UNKNOWN;
    else if (shift->low > 1 && shift->ratio > 1 + LEAST_CHANGE)
      row->change = SLOWER;
    else if (shift->high < 1 && shift->ratio < 1 - LEAST_CHANGE)
      row->change = FASTER;
  }
  c->unmatched_count = c->before.nrows + c->after.nrows - 2 * c->nrows;
  return RD_EXIT_OK;
}

/* Warns where conditions differ. */
static int
warn_of_conditions (const struct comparison *c)
{
  static const char *const keys[] = {
    "shape", "dtype", "threads", "destination", "seed"
  };
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    RD_FREE char *before = result_text (&c->before, keys[i]);
    RD_FREE char *after = result_text (&c->after, keys[i]);
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

/* The geometric mean of all ratios. */
static double
mean_ratio (const struct comparison *c)
{
  double sum = 0;
  for (size_t i = 0; i < c->nrows; i++)
    sum += log (c->rows[i].shift.ratio);
  return c->nrows ? exp (sum / (double) c->nrows) : 0;
}

static int
print_table (const struct comparison *c)
{
  static const char *const titles[] = {
    "layout", "row", "old ms", "new ms", "new/old", "95 %", "change"
  };
  struct rd_table table = { .ncolumns = 7, .alignment = "llrrrrl" };
  size_t counts[UNKNOWN + 1] = { 0 };
  bool ok = rd_table_add_row (&table, titles);
  for (size_t i = 0; i < c->nrows && ok; i++) {
    const struct row_change *row = &c->rows[i];
    char text[3][32], range[80] = "-";
    RD_FREE char *layout = layout_name (&c->after, row->after);
    snprintf (text[2], 32, "%.3f", row->shift.ratio);
    if (row->change != UNKNOWN)
      snprintf (range, sizeof range, "%.3f-%.3f", row->shift.low,
                row->shift.high);
    const char *cells[] = {
      layout, row->after->row, rd_text_ms (row->before->median_s, text[0]),
      rd_text_ms (row->after->median_s, text[1]), text[2], range,
      change_names[row->change]
    };
    counts[row->change]++;
    ok = layout && rd_table_add_row (&table, cells);
  }
  if (ok) {
    rd_table_print (&table, stdout);
    printf ("\n%zu row%s: %zu faster, %zu slower, %zu within noise", c->nrows,
            rd_plural (c->nrows), counts[FASTER], counts[SLOWER],
            counts[NOISE]);
    if (counts[UNKNOWN] > 0)
      printf (", %zu with too few runs", counts[UNKNOWN]);
    printf ("; geometric mean %.3f\n", mean_ratio (c));
    if (c->unmatched_count > 0)
      printf ("%zu row%s only in one of the two\n", c->unmatched_count,
              c->unmatched_count == 1 ? " is" : "s are");
  }
  rd_table_clear (&table);
  return ok ? RD_EXIT_OK : RD_EXIT_FAILED;
}

static int
print_json (const struct comparison *c)
{
  struct json_object *object = json_object_new_object ();
  struct json_object *rows = json_object_new_array ();
  for (size_t i = 0; i < c->nrows; i++) {
    const struct row_change *row = &c->rows[i];
    const struct result_row *before = row->before, *after = row->after;
    struct json_object *one = json_object_new_object ();
    rd_json_set_text (one, "volume", after->volume);
    rd_json_set_text (one, "tiling", after->tiling);
    rd_json_set_text (one, "codec", after->codec);
    rd_json_set_u64 (one, "threads", after->nthreads);
    rd_json_set_text (one, "row", after->row);
    rd_json_set_double (one, "old_median_s", before->median_s);
    rd_json_set_double (one, "new_median_s", after->median_s);
    rd_json_set_double (one, "ratio", row->shift.ratio);
    rd_json_set_double (one, "low", row->shift.low);
    rd_json_set_double (one, "high", row->shift.high);
    rd_json_set_u64 (one, "old_stored_nbytes", before->stored_nbytes);
    rd_json_set_u64 (one, "new_stored_nbytes", after->stored_nbytes);
    rd_json_set_text (one, "change", change_names[row->change]);
    json_object_array_add (rows, one);
  }
  rd_json_set (object, "rows", rows);
  rd_json_set_double (object, "geometric_mean", mean_ratio (c));
  rd_json_set_u64 (object, "unmatched", c->unmatched_count);
  rd_json_print (object);
  return RD_EXIT_OK;
}

static int
compare_results (struct comparison *c, const struct rd_args *args)
{
  int failed = read_result (args->operands[0], &c->before);
  if (!failed)
    failed = read_result (args->operands[1], &c->after);
  if (!failed)
    failed = match_rows (c);
  if (failed)
    return failed;
  if (c->nrows == 0)
    return rd_error ("%s and %s have no layout and row in common",
                     args->operands[0], args->operands[1]);
  failed = warn_of_conditions (c);
  if (!failed)
    failed = c->json ? print_json (c) : print_table (c);
  for (size_t i = 0; i < c->nrows && c->fail_percent >= 0 && !failed; i++) {
    const struct row_change *row = &c->rows[i];
    double slower = 100 * (row->shift.ratio - 1);
    if (row->change != SLOWER || slower <= c->fail_percent)
      continue;
    RD_FREE char *layout = layout_name (&c->after, row->after);
    failed = rd_error ("%s, %s: slower by %.1f %%, more than the %g %% "
                       "allowed", layout ? layout : "?", row->after->row,
                       slower, c->fail_percent);
  }
  return failed;
}

static int
run_compare (struct rd_args *args)
{
  struct comparison c = { .fail_percent = -1 };
  int id;
  while ((id = rd_args_next (args)) > 0)
    if (!rd_args_percentage (args, &c.fail_percent))
      return args->status;
  if (id < 0 || !rd_args_want (args, 2, 2, args->noperands == 0 ? "OLD"
                                                                : "NEW"))
    return args->status;
  c.json = args->json;
  int status = compare_results (&c, args);
  clear_result (&c.before);
  clear_result (&c.after);
  free (c.rows);
  return status;
}

static const struct rd_option options[] = {
  { RD_OPTION_FAIL_IF_SLOWER, "fail-if-slower", "PERCENT",
    "exit 1 when a row got slower by more\n"
    "than PERCENT, beyond noise" },
  RD_JSON_OPTION,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_bench_compare = {
  .name = "bench compare",
  .operands = "OLD NEW [OPTION]...",
  .summary = "compare the results of two benchmarks",
  .description =
    "Compares the output of two runs of 'radio bench --json', row by row of "
    "the same layout: the ratio of the times, new to old, and its 95 % "
    "confidence interval by the medians of the rounds. A change within that "
    "interval or 2 % is called noise: two processes differ by as much without "
    "any change. The exit status is 0 also when there are differences.",
  .options = options,
  .examples =
    "radio bench compare old.json new.json\n"
    "radio bench compare main.json branch.json --fail-if-slower 10",
  .run = run_compare,
};
