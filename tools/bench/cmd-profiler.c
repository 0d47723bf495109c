/* SPDX-License-Identifier: MIT */
/* radio bench profiler: what recording costs, held against its bars. */
#include <config.h>

#include <string.h>

#include "tools/bench/reads.h"
#include "tools/bench/scopes.h"
#include "tools/profile/commands.h"
#include "tools/profile/measure.h"
#include "tools/profile/temp.h"
#include "tools/table.h"
#include "tools/text.h"

/* What is promised: nanoseconds of a scope that is off, and ratios of the
 * others to their bases. */
#define BAR_OFF_NS 1.0
#define BAR_LOG 1.3
#define BAR_BOX 1.03
#define BAR_WHOLE 1.01

#define BOX_SIZE 64

struct bench {
  bool json, check;
  uint64_t nrounds, npairs, seed;
  struct rd_subject_options subject_options;
  struct rd_subject subject;
  struct rd_bench_scopes scopes;
  struct rd_bench_reads box, whole;
  struct rd_ratio off, tree, log, box_ratio, whole_ratio;
};

static bool
take_option (struct bench *bench, int id, struct rd_args *args)
{
  switch (id) {
  case RD_OPTION_ROUNDS:
    return rd_take_number (args, "--rounds", 6, 100000, &bench->nrounds);
  case RD_OPTION_RUNS:
    return rd_take_number (args, "--runs", 6, 100000, &bench->npairs);
  case RD_OPTION_SEED:
    return rd_take_number (args, "--seed", 0, UINT64_MAX, &bench->seed);
  case RD_OPTION_JSON:
    return bench->json = true;
  case RD_OPTION_CHECK:
    return bench->check = true;
  default:
    return rd_subject_take (args, id, &bench->subject_options) >= 0;
  }
}

static bool
parse (struct bench *bench, struct rd_args *args)
{
  int id;
  while ((id = rd_args_next (args)) > 0)
    if (!take_option (bench, id, args))
      return false;
  return id == 0 && rd_args_want (args, 0, 1, "VOLUME")
         && rd_subject_settle (args, &bench->subject_options);
}

static bool
add_scope (struct rd_table *table, const struct rd_series *series,
           const struct rd_ratio *ratio, const char *bar)
{
  struct rd_summary s;
  char ns[32], spread[80], times[80];
  if (rd_series_summary (series, &s) != RD_EXIT_OK)
    return false;
  snprintf (ns, sizeof ns, "%.2f", s.median);
  snprintf (spread, sizeof spread, "%.2f-%.2f", s.low, s.high);
  snprintf (times, sizeof times, ratio ? "%.3f (%.3f-%.3f)" : "1",
            ratio ? ratio->median : 0, ratio ? ratio->low : 0,
            ratio ? ratio->high : 0);
  return rd_table_add (table, series->name) && rd_table_add (table, ns)
         && rd_table_add (table, spread) && rd_table_add (table, times)
         && rd_table_add (table, bar);
}

static int
print_scopes (const struct bench *bench)
{
  static const char *const titles[] = {
    "cost of a scope", "ns", "quartiles", "x bare (95 %)", "bar"
  };
  const struct rd_series *series = bench->scopes.series;
  struct rd_table table = { .ncolumns = 5, .alignment = "lrrrl" };
  struct rd_ratio off_x;
  char off[64], log[64];
  bool ok = rd_ratio_of (&series[RD_BENCH_OFF], &series[RD_BENCH_BARE],
                         &off_x) == RD_EXIT_OK;
  snprintf (off, sizeof off, "< %g ns: %s", BAR_OFF_NS,
            rd_verdict_name (rd_judge (&bench->off, BAR_OFF_NS)));
  snprintf (log, sizeof log, "<= %g: %s", BAR_LOG,
            rd_verdict_name (rd_judge (&bench->log, BAR_LOG)));
  for (size_t i = 0; i < 5 && ok; i++)
    ok = rd_table_add (&table, titles[i]);
  ok = ok && add_scope (&table, &series[RD_BENCH_BARE], NULL, "-")
       && add_scope (&table, &series[RD_BENCH_OFF], &off_x, off)
       && add_scope (&table, &series[RD_BENCH_TREE], &bench->tree, "-")
       && add_scope (&table, &series[RD_BENCH_LOG], &bench->log, log);
  if (ok) {
    rd_table_print (&table, stdout);
    printf ("medians of %zu rounds of %d scopes, the empty loop taken "
            "away\n\n", series[0].n, RD_BENCH_NSCOPES);
  }
  rd_table_clear (&table);
  return ok ? RD_EXIT_OK : RD_EXIT_FAILED;
}

static bool
add_reads (struct rd_table *table, const struct rd_bench_reads *reads,
           const struct rd_ratio *ratio, double bar)
{
  struct rd_summary off, on;
  char texts[2][32], delta[80], verdict[64], n[32];
  if (rd_series_summary (&reads->off, &off) != RD_EXIT_OK
      || rd_series_summary (&reads->on, &on) != RD_EXIT_OK)
    return false;
  snprintf (n, sizeof n, "%zu x %zu", reads->off.n, reads->nreads);
  snprintf (delta, sizeof delta, "%+.2f %% (%+.2f to %+.2f)",
            100 * (ratio->median - 1), 100 * (ratio->low - 1),
            100 * (ratio->high - 1));
  snprintf (verdict, sizeof verdict, "<= %g %%: %s",
            (double) (int) (100 * (bar - 1) + 0.5),
            rd_verdict_name (rd_judge (ratio, bar)));
  return rd_table_add (table, reads->name) && rd_table_add (table, n)
         && rd_table_add (table, rd_text_ms (off.median, texts[0]))
         && rd_table_add (table, rd_text_ms (on.median, texts[1]))
         && rd_table_add (table, delta) && rd_table_add (table, verdict);
}

static int
print_reads (const struct bench *bench)
{
  static const char *const titles[] = {
    "cost for a read", "pairs", "off ms", "on ms", "slower (95 %)", "bar"
  };
  struct rd_table table = { .ncolumns = 6, .alignment = "lrrrrl" };
  bool ok = true;
  for (size_t i = 0; i < 6 && ok; i++)
    ok = rd_table_add (&table, titles[i]);
  ok = ok && add_reads (&table, &bench->box, &bench->box_ratio, BAR_BOX)
       && add_reads (&table, &bench->whole, &bench->whole_ratio, BAR_WHOLE);
  if (ok)
    rd_table_print (&table, stdout);
  rd_table_clear (&table);
  return ok ? RD_EXIT_OK : RD_EXIT_FAILED;
}

static struct json_object *
series_json (const struct rd_series *series)
{
  struct rd_summary s = { 0 };
  struct json_object *object = json_object_new_object ();
  (void) rd_series_summary (series, &s);
  rd_report_put_u64 (object, "n", s.n);
  rd_report_put_double (object, "median", s.median);
  rd_report_put_double (object, "quartile_low", s.low);
  rd_report_put_double (object, "quartile_high", s.high);
  rd_report_put_double (object, "min", s.min);
  return object;
}

static struct json_object *
reads_json (const struct rd_bench_reads *reads, const struct rd_ratio *ratio,
            double bar)
{
  struct json_object *object = json_object_new_object ();
  struct json_object *slower = json_object_new_object ();
  rd_ratio_put (slower, ratio, bar);
  rd_report_put_u64 (object, "nbytes", reads->nbytes);
  rd_report_put_u64 (object, "reads", reads->nreads);
  rd_report_put (object, "off_s", series_json (&reads->off));
  rd_report_put (object, "on_s", series_json (&reads->on));
  rd_report_put (object, "ratio", slower);
  return object;
}

static void
print_json (const struct bench *bench)
{
  const struct rd_series *series = bench->scopes.series;
  struct json_object *object = json_object_new_object ();
  struct json_object *off = json_object_new_object ();
  struct json_object *log = json_object_new_object ();
  rd_ratio_put (off, &bench->off, BAR_OFF_NS);
  rd_ratio_put (log, &bench->log, BAR_LOG);
  rd_report_put_text (object, "timer", bench->scopes.timer);
  rd_report_put (object, "bare_ns", series_json (&series[RD_BENCH_BARE]));
  rd_report_put (object, "off_ns", series_json (&series[RD_BENCH_OFF]));
  rd_report_put (object, "tree_ns", series_json (&series[RD_BENCH_TREE]));
  rd_report_put (object, "log_ns", series_json (&series[RD_BENCH_LOG]));
  rd_report_put (object, "off", off);
  rd_report_put_double (object, "tree_ratio", bench->tree.median);
  rd_report_put (object, "log_ratio", log);
  rd_report_put (object, "box",
                 reads_json (&bench->box, &bench->box_ratio, BAR_BOX));
  rd_report_put (object, "whole",
                 reads_json (&bench->whole, &bench->whole_ratio, BAR_WHOLE));
  rd_report_print (object);
}

static int
divide (struct bench *bench)
{
  const struct rd_series *series = bench->scopes.series;
  const struct rd_series *bare = &series[RD_BENCH_BARE];
  int failed = rd_ratio_alone (&series[RD_BENCH_OFF], &bench->off);
  if (!failed)
    failed = rd_ratio_of (&series[RD_BENCH_TREE], bare, &bench->tree);
  if (!failed)
    failed = rd_ratio_of (&series[RD_BENCH_LOG], bare, &bench->log);
  if (!failed)
    failed = rd_ratio_of (&bench->box.on, &bench->box.off,
                          &bench->box_ratio);
  if (!failed)
    failed = rd_ratio_of (&bench->whole.on, &bench->whole.off,
                          &bench->whole_ratio);
  return failed;
}

/* A bar fails the check only when it is missed beyond doubt. */
static int
judge (const struct bench *bench)
{
  const struct {
    const char *name;
    const struct rd_ratio *ratio;
    double bar;
  } bars[] = {
    { "a scope that is off", &bench->off, BAR_OFF_NS },
    { "a scope in tree and log", &bench->log, BAR_LOG },
    { "a recorded box", &bench->box_ratio, BAR_BOX },
    { "a recorded whole read", &bench->whole_ratio, BAR_WHOLE },
  };
  int status = RD_EXIT_OK;
  for (size_t i = 0; i < sizeof bars / sizeof bars[0] && bench->check; i++)
    if (rd_judge (bars[i].ratio, bars[i].bar) == RD_MISSED)
      status = rd_error ("%s: %.3f, the bar is %g", bars[i].name,
                         bars[i].ratio->median, bars[i].bar);
  return status;
}

static int
measure (struct bench *bench, const struct rd_args *args)
{
  const char *operand = args->noperands ? args->operands[0] : NULL;
  rd_interrupt_catch ();
  struct rd_args decoding = *args;
  decoding.cache_nbytes = RADIO_NO_CACHE;
  int failed = rd_subject_open (&decoding, operand, &bench->subject_options,
                                bench->json, &bench->subject);
  if (!failed)
    failed = rd_bench_scopes (bench->nrounds, &bench->scopes);
  if (!failed)
    failed = rd_bench_reads (&bench->subject, BOX_SIZE, bench->npairs,
                             bench->seed, &bench->box);
  if (!failed)
    failed = rd_bench_reads (&bench->subject, 0, bench->npairs, bench->seed,
                             &bench->whole);
  if (failed || rd_interrupted ())
    return RD_EXIT_FAILED;
  failed = divide (bench);
  if (failed)
    return failed;
  if (bench->json)
    print_json (bench);
  else {
    failed = print_scopes (bench);
    if (!failed)
      failed = print_reads (bench);
  }
  return failed ? failed : judge (bench);
}

static int
run_profiler (struct rd_args *args)
{
  struct bench bench = {
    .nrounds = 100,
    .subject_options.shape = RD_SUBJECT_SHAPE,
  };
  int status = parse (&bench, args) ? measure (&bench, args) : args->status;
  rd_bench_scopes_clear (&bench.scopes);
  rd_bench_reads_clear (&bench.box);
  rd_bench_reads_clear (&bench.whole);
  rd_subject_close (&bench.subject);
  rd_interrupt_die ();
  return status;
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  { RD_OPTION_ROUNDS, "rounds", "N",
    "rounds of scopes (default: 100)" },
  { RD_OPTION_RUNS, "runs", "N", "pairs of reads (default: 40 or more, for "
    "5 s)" },
  { RD_OPTION_SEED, "seed", "N", "other random positions (default: 0)" },
  { RD_OPTION_CHECK, "check", NULL,
    "exit 1 when a bar is missed beyond doubt" },
  { RD_OPTION_JSON, "json", NULL, "print the figures as a JSON object" },
  RD_SUBJECT_OPTIONS,
  RD_WORK_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_bench_profiler = {
  .name = "bench profiler",
  .operands = "[VOLUME] [OPTION]...",
  .summary = "what recording costs",
  .description =
    "Measures what the profiler costs: nanoseconds of a scope (while nothing "
    "records, in the tree, in tree and log) beside a bare pair of readings "
    "of the timer; and how much slower reads of a 64^3 box and of the whole "
    "volume are while they are recorded. Everything is measured in turn, "
    "and the verdict on each bar (met, unclear, missed) is by the 95 % "
    "interval of the median.",
  .options = options,
  .examples =
    "radio bench profiler\n"
    "radio bench profiler ct/sub-01 --runs 200\n"
    "radio bench profiler --check --json",
  .run = run_profiler,
};
