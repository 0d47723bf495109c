/* SPDX-License-Identifier: MIT */
/* Reports of measured operations.  MB/s are of the volume's bytes as stored:
 * the input. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tools/bench/ops-report.h"
#include "tools/json.h"
#include "tools/output.h"
#include "tools/report.h"
#include "tools/text.h"

/* The version of the JSON format. */
#define FORMAT 1

/* The parts of a whole run, in seconds; without a recording it is not known how
 * a read is shared, and plan, convert and operate are NAN. */
enum part { ALLOCATE, FAULT_IN, PLAN, CONVERT, OPERATE, NPARTS };

static const char *const part_names[NPARTS] = {
  "allocate", "fault in", "plan", "convert", "operate"
};

struct figures {
  struct rd_summary seconds;
  double parts_s[NPARTS];
  double limit_s;             /* 0: unknown */
};

static int
compute_figures (const struct rd_ops *ops, const struct rd_limits *limits,
                 const struct rd_op_case *one, struct figures *figures)
{
  if (rd_sample_summarize (&one->sample, &figures->seconds, NULL)
      != RD_EXIT_OK)
    return RD_EXIT_FAILED;
  const struct rd_op_parts parts = rd_op_mean_parts (one);
  const struct rd_op_fractions fractions = rd_op_mean_fractions (one);
  double read_s = one->nrecorded > 0 ? parts.read_s : (double) NAN;
  /* The clock was read between the parts: that is of no part. */
  double clock_s = parts.whole_s - parts.allocate_s - parts.fault_in_s
                   - parts.read_s;
  figures->parts_s[ALLOCATE] = parts.allocate_s;
  figures->parts_s[FAULT_IN] = parts.fault_in_s;
  figures->parts_s[CONVERT] = read_s * fractions.convert;
  figures->parts_s[OPERATE] = read_s * fractions.operate;
  figures->parts_s[PLAN] = read_s * fractions.plan + clock_s;
  figures->limit_s = rd_op_limit_s (ops, limits, one);
  return RD_EXIT_OK;
}

static bool
was_measured (const struct rd_op_case *one)
{
  return one->skipped == NULL && one->sample.n > 0;
}

/*------------------------------------------------------------------------
 * Tables: one for each type, number of threads and kind of image
 *----------------------------------------------------------------------*/

/* "12 %" of a whole; "-" for no number. */
static const char *
percent_text (double part, double whole, char text[32])
{
  if (isnan (part) || !(whole > 0))
    return "-";
  double percent = 100 * part / whole;
  snprintf (text, 32, percent < 9.95 ? "%.1f %%" : "%.0f %%", percent);
  return text;
}

/* Add the rows of the two tables. */
static bool
add_times (struct rd_table *table, const struct rd_ops *ops,
           const struct rd_limits *limits, const struct rd_op_case *one)
{
  struct figures f;
  char text[7][32];
  if (compute_figures (ops, limits, one, &f) != RD_EXIT_OK)
    return false;
  const struct rd_summary *s = &f.seconds;
  snprintf (text[0], 32, "%" PRIu64, one->source->size);
  snprintf (text[4], 32, "%.1f %%", s->median > 0
            ? 100 * (s->high - s->low) / s->median : 0);
  const char *cells[] = {
    one->name, text[0], rd_number_grouped (s->n, text[1]),
    rd_text_ms (s->mean, text[2]), rd_text_ms (s->median, text[3]), text[4],
    rd_text_rate (one->source->nbytes, s->median, text[5]),
    f.limit_s > 0 ? percent_text (f.limit_s, s->median, text[6]) : "-",
  };
  return rd_table_add_row (table, cells);
}

static bool
add_parts (struct rd_table *table, const struct rd_ops *ops,
           const struct rd_limits *limits, const struct rd_op_case *one)
{
  struct figures f;
  char size[32], text[32], parts[NPARTS][32];
  const char *cells[3 + NPARTS] = { one->name, size, text };
  if (compute_figures (ops, limits, one, &f) != RD_EXIT_OK)
    return false;
  double mean = f.seconds.mean;
  snprintf (size, 32, "%" PRIu64, one->source->size);
  rd_text_ms (mean, text);
  for (size_t k = 0; k < NPARTS; k++)
    cells[3 + k] = percent_text (f.parts_s[k], mean, parts[k]);
  return rd_table_add_row (table, cells);
}

static bool
is_of_table (const struct rd_op_source *a, const struct rd_op_source *b)
{
  return a->dtype == b->dtype && a->nthreads == b->nthreads
         && a->is_plane == b->is_plane;
}

/* True if a source begins a table. */
static bool
is_first (const struct rd_ops *ops, size_t i)
{
  for (size_t k = 0; k < i; k++)
    if (is_of_table (&ops->sources[k], &ops->sources[i]))
      return false;
  return true;
}

/* Prints the times, or the parts of the mean. */
static int
print_table (const struct rd_ops *ops, const struct rd_limits *limits,
             const struct rd_op_source *first, bool parts)
{
  static const char *const titles[2][8] = {
    { "", "size", "n", "mean ms", "median", "spread", "MB/s", "of limit" },
    { "", "size", "mean ms", "allocate", "fault in", "plan", "convert",
      "operate" },            /* as part_names */
  };
  struct rd_table table = { .ncolumns = 8, .alignment = "lrrrrrrr" };
  bool ok = rd_table_add_row (&table, titles[parts]);
  /* The sizes of an operation stand together. */
  for (size_t i = 0; i < ops->ncases && ok; i++) {
    const struct rd_op_case *head = &ops->cases[i];
    if (head->source != first)
      continue;
    for (size_t k = i; k < ops->ncases && ok; k++) {
      const struct rd_op_case *one = &ops->cases[k];
      if (is_of_table (one->source, first)
          && strcmp (one->name, head->name) == 0 && was_measured (one))
        ok = (parts ? add_parts : add_times) (&table, ops, limits, one);
    }
  }
  if (ok)
    rd_table_print (&table, stdout);
  rd_table_clear (&table);
  putchar ('\n');
  return ok ? RD_EXIT_OK : RD_EXIT_FAILED;
}

static void
print_skipped (const struct rd_ops *ops)
{
  char size[80];
  for (size_t i = 0; i < ops->nsources; i++)
    if (ops->sources[i].skipped)
      printf ("%s: not measured: %s\n",
              rd_op_source_text (&ops->sources[i], size),
              ops->sources[i].skipped);
  for (size_t i = 0; i < ops->ncases; i++)
    if (ops->cases[i].skipped && !ops->cases[i].source->skipped)
      printf ("%s of %s: not measured: %s\n", ops->cases[i].name,
              rd_op_source_text (ops->cases[i].source, size),
              ops->cases[i].skipped);
}

int
rd_ops_print (const struct rd_ops *ops, const struct rd_limits *limits)
{
  int failed = RD_EXIT_OK;
  for (size_t i = 0; i < ops->nsources && !failed; i++)
    if (is_first (ops, i)) {
      const struct rd_op_source *first = &ops->sources[i];
      printf ("%s of %s, %u thread%s\n\n", first->is_plane ? "planes"
              : "volumes", radio_dtype_name (first->dtype), first->nthreads,
              rd_plural (first->nthreads));
      failed = print_table (ops, limits, first, false);
      if (!failed)
        failed = print_table (ops, limits, first, true);
    }
  print_skipped (ops);
  printf ("limits: memcpy %.0f MB/s by 1 thread, %.0f by %u;\n%.1f and %.1f "
          "GFLOP/s of float32\n", limits->copy_one / 1e6,
          limits->copy_all / 1e6, limits->nthreads, limits->compute_one / 1e9,
          limits->compute_all / 1e9);
  return failed;
}

/*------------------------------------------------------------------------
 * CSV
 *----------------------------------------------------------------------*/

static void
write_row (FILE *stream, const struct rd_op_case *one,
           const struct figures *f)
{
  const struct rd_op_source *source = one->source;
  const struct rd_summary *s = &f->seconds;
  const double fields[] = {
    s->mean, s->median, s->low, s->high, s->min, s->max,
    s->median > 0 ? (double) source->nbytes / 1e6 / s->median : 0,
    f->limit_s > 0 ? f->limit_s : (double) NAN,
    f->parts_s[ALLOCATE], f->parts_s[FAULT_IN], f->parts_s[PLAN],
    f->parts_s[CONVERT], f->parts_s[OPERATE]
  };
  /* Pipelines have commas, and no quotation marks. */
  fprintf (stream, "\"%s\",\"%s\",%s,%" PRIu64 ",%s,%u,%" PRIu64 ",%" PRIu64
           ",%zu", one->name, one->text, source->is_plane ? "plane" : "volume",
           source->size, radio_dtype_name (source->dtype), source->nthreads,
           source->nbytes, one->output_nbytes, s->n);
  for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
    char text[RD_TEXT_NBYTES];
    fprintf (stream, ",%s", isnan (fields[k]) ? ""
             : rd_number_exact (fields[k], text));
  }
  fputc ('\n', stream);
}

int
rd_ops_write_csv (const struct rd_ops *ops, const struct rd_limits *limits,
                  const char *name, bool overwrite)
{
  struct rd_new_file file = { .name = name, .overwrite = overwrite };
  int failed = rd_new_file_open (&file);
  if (failed)
    return failed;
  fputs ("operation,pipeline,kind,size,dtype,threads,input_nbytes,"
         "output_nbytes,n,mean_s,median_s,quartile_low_s,quartile_high_s,"
         "min_s,max_s,mb_per_s,limit_s,allocate_s,fault_in_s,plan_s,"
         "convert_s,operate_s\n", file.stream);
  for (size_t i = 0; i < ops->ncases && !failed; i++) {
    struct figures f;
    if (!was_measured (&ops->cases[i]))
      continue;
    failed = compute_figures (ops, limits, &ops->cases[i], &f);
    if (!failed)
      write_row (file.stream, &ops->cases[i], &f);
  }
  int unwritten = rd_new_file_end (&file, 0);
  return failed ? failed : unwritten;
}

/*------------------------------------------------------------------------
 * JSON
 *----------------------------------------------------------------------*/

static struct json_object *
breakdown_json (const struct rd_op_case *one, const struct figures *f)
{
  struct json_object *object = json_object_new_object ();
  rd_json_set_double (object, "whole_s", f->seconds.mean);
  for (size_t i = 0; i < NPARTS; i++)
    rd_json_set_double (object, part_names[i], f->parts_s[i]);
  struct json_object *faults = json_object_new_object ();
  rd_json_set_u64 (faults, "allocate", one->faults.allocate);
  rd_json_set_u64 (faults, "fault in", one->faults.fault_in);
  rd_json_set_u64 (faults, "read", one->faults.read);
  rd_json_set (object, "page_faults", faults);
  return object;
}

static int
add_row_json (const struct rd_ops *ops, const struct rd_limits *limits,
              const struct rd_op_case *one, struct json_object *rows)
{
  const struct rd_op_source *source = one->source;
  struct figures f;
  struct json_object *row = json_object_new_object ();
  json_object_array_add (rows, row);
  rd_json_set_text (row, "operation", one->name);
  rd_json_set_text (row, "pipeline", one->text);
  rd_json_set_text (row, "kind", source->is_plane ? "plane" : "volume");
  rd_json_set_u64 (row, "size", source->size);
  rd_json_set_text (row, "dtype", radio_dtype_name (source->dtype));
  rd_json_set_u64 (row, "threads", source->nthreads);
  if (!was_measured (one)) {
    rd_json_set_text (row, "skipped", one->skipped ? one->skipped
                                                   : "interrupted");
    return RD_EXIT_OK;
  }
  int failed = compute_figures (ops, limits, one, &f);
  if (failed)
    return failed;
  rd_json_set_text (row, "output_dtype", radio_dtype_name (one->dtype));
  rd_json_set_u64 (row, "input_nbytes", source->nbytes);
  rd_json_set_u64 (row, "output_nbytes", one->output_nbytes);
  rd_json_set_u64 (row, "n", f.seconds.n);
  rd_json_set_u64 (row, "runs_of_a_round", one->sample.nperround);
  rd_json_set_double (row, "mean_s", f.seconds.mean);
  rd_json_set_double (row, "median_s", f.seconds.median);
  rd_json_set_double (row, "quartile_low_s", f.seconds.low);
  rd_json_set_double (row, "quartile_high_s", f.seconds.high);
  rd_json_set_double (row, "min_s", f.seconds.min);
  rd_json_set_double (row, "max_s", f.seconds.max);
  rd_json_set (row, "times_s", rd_json_double_list (one->sample.seconds,
                                                    one->sample.n));
  if (f.limit_s > 0)
    rd_json_set_double (row, "limit_s", f.limit_s);
  rd_json_set_double (row, "copy_bytes_per_s", source->copy);
  rd_json_set (row, "breakdown", breakdown_json (one, &f));
  return RD_EXIT_OK;
}

int
rd_ops_print_json (const struct rd_ops *ops, const struct rd_limits *limits,
                   const struct rd_conditions *conditions)
{
  struct json_object *object = json_object_new_object ();
  struct json_object *rates = json_object_new_object ();
  struct json_object *rows = json_object_new_array ();
  int failed = RD_EXIT_OK;
  rd_json_set_u64 (object, "radio_bench_ops", FORMAT);
  rd_json_set_text (object, "version", radio_version ());
  rd_json_set_text (object, "destination",
                    rd_destination_names[ops->destination.kind]);
  rd_json_set_u64 (object, "rounds", ops->nrounds);
  rd_json_set_u64 (object, "warmup", ops->nwarm);
  rd_conditions_put (object, conditions, false);
  rd_json_set (object, "limits_bytes_per_s", rd_limits_json (limits));
  rd_json_set_double (rates, "one", limits->compute_one);
  rd_json_set_double (rates, "all", limits->compute_all);
  rd_json_set (object, "limits_flop_per_s", rates);
  for (size_t i = 0; i < ops->ncases && !failed; i++)
    failed = add_row_json (ops, limits, &ops->cases[i], rows);
  rd_json_set (object, "rows", rows);
  rd_json_print (object);
  return failed;
}
