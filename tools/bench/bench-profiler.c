/* SPDX-License-Identifier: MIT */
/* bench-profiler: the cost of recording, compared with its targets. */
#include <config.h>

#include <string.h>
#include <time.h>

#if defined __x86_64__
#include <x86intrin.h>
#endif

#include "tools/bench/paired.h"
#include "tools/interrupt.h"
#include "tools/json.h"
#include "tools/profile/measure.h"
#include "tools/profile/subject.h"
#include "tools/progress.h"
#include "tools/report.h"

enum {
  BARE,                       /* only two readings of the timer */
  OFF,                        /* a scope while nothing records */
  TREE,                       /* recorded in the tree */
  LOG,                        /* in tree and log */
  RING,                       /* in tree and log, which is a full ring */
  NSERIES,
};

/* Nanoseconds of one, less those of the empty loop; a value per round. */
struct scopes_result {
  struct rd_series series[NSERIES];
  const char *timer;          /* "rdtsc", "cntvct" or "clock_gettime" */
};

/* Scopes of one measurement: few enough that none is dropped from the log or
 * throttled. */
#define NSCOPES 20000

/* A ring of fewer than that. */
#define RING_NBYTES ((uint64_t) 512 << 10)

struct reads_result {
  char name[64];              /* "64 x 64 x 64 box" */
  size_t nreads;              /* in each measurement */
  uint64_t nbytes;            /* of one read */
  struct rd_series off, on;   /* seconds of one read; a value a pair */
};

/*------------------------------------------------------------------------
 * Scopes.  The loops are as plain as a caller's: the compiler may not merge
 * their iterations, and that is all.
 *----------------------------------------------------------------------*/

#if defined __x86_64__
#define TIMER "rdtsc"
static inline uint64_t
read_timer (void)
{
  return __rdtsc ();
}
#elif defined __aarch64__
#define TIMER "cntvct"
static inline uint64_t
read_timer (void)
{
  uint64_t ticks;
  __asm__ __volatile__ ("mrs %0, cntvct_el0" : "=r" (ticks));
  return ticks;
}
#else
#define TIMER "clock_gettime"
static inline uint64_t
read_timer (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (uint64_t) now.tv_sec * 1000000000u + (uint64_t) now.tv_nsec;
}
#endif

/* A compiler barrier. */
static inline void
barrier (void)
{
  __asm__ __volatile__ ("" ::: "memory");
}

static void
empty_loop (size_t n)
{
  for (size_t i = 0; i < n; i++)
    barrier ();
}

static void
bare_loop (size_t n)
{
  for (size_t i = 0; i < n; i++) {
    uint64_t begin = read_timer ();
    barrier ();
    uint64_t duration = read_timer () - begin;
    __asm__ __volatile__ ("" :: "r" (duration) : "memory");
  }
}

static void
scope_loop (size_t n)
{
  for (size_t i = 0; i < n; i++) {
    RADIO_SCOPE ("bench");
    barrier ();
  }
}

/* Seconds of a loop. */
static double
time_of (void (*loop) (size_t), size_t n)
{
  double start = rd_clock_s ();
  loop (n);
  return rd_clock_s () - start;
}

/* The same while recording, warm: the first scopes allocate the buffers of the
 * thread and the node of the tree, or fill the ring. */
static int
time_recorded_scopes (const struct radio_recorder_options *options,
                      double *seconds)
{
  struct radio_recorder *recorder = NULL;
  if (radio_recorder_start (options, &recorder) != RADIO_OK)
    return rd_error_library (NULL);
  scope_loop (options->ring_nbytes ? NSCOPES : NSCOPES / 10);
  *seconds = time_of (scope_loop, NSCOPES);
  if (radio_recorder_stop (recorder, NULL) != RADIO_OK)
    return rd_error_library (NULL);
  return RD_EXIT_OK;
}

static int
measure_scopes_round (struct scopes_result *bench, size_t round)
{
  const double n = NSCOPES;
  double seconds[NSERIES];
  double empty = time_of (empty_loop, NSCOPES);
  seconds[BARE] = time_of (bare_loop, NSCOPES);
  seconds[OFF] = time_of (scope_loop, NSCOPES);
  static const struct radio_recorder_options options[NSERIES] = {
    [TREE] = { .tree_only = true },
    [LOG] = { .max_spans = 4 * NSCOPES },
    [RING] = { .ring_nbytes = RING_NBYTES },
  };
  int failed = RD_EXIT_OK;
  for (size_t i = TREE; i < NSERIES && !failed; i++)
    failed = time_recorded_scopes (&options[i], &seconds[i]);
  for (size_t i = 0; i < NSERIES && !failed; i++) {
    double ns = 1e9 * (seconds[i] - empty) / n;
    bench->series[i].values[round] = ns > 0 ? ns : 0;
  }
  return failed;
}

static int
measure_scopes (size_t nrounds, struct scopes_result *bench)
{
  static const char *const names[] = {
    [BARE] = ("bare pair of " TIMER),
    [OFF] = "scope, nothing records",
    [TREE] = "scope, tree only",
    [LOG] = "scope, tree and log",
    [RING] = "scope, tree and ring",
  };
  struct rd_progress progress;
  bench->timer = TIMER;
  for (size_t i = 0; i < NSERIES; i++)
    if (!rd_series_open (&bench->series[i], names[i], nrounds))
      return RD_EXIT_FAILED;
  int failed = measure_scopes_round (bench, 0);
  rd_progress_start (&progress, NULL);
  for (size_t i = 0; i < nrounds && !failed && !rd_interrupted (); i++) {
    rd_progress_update (&progress, "scopes", i, nrounds);
    failed = measure_scopes_round (bench, i);
  }
  rd_progress_clear (&progress);
  return failed;
}

/*------------------------------------------------------------------------
 * Reads.  Both sides of a pair read the same places.  A recording is started
 * before the clock runs, with one read that is not timed, as on the other
 * side: the comparison is of how much longer reads take while recorded.
 *----------------------------------------------------------------------*/

/* The duration of a measurement: short enough for disturbances to slow both
 * sides of a pair, long enough for the clock and the first read of a recording
 * not to matter. */
#define LEAST_S 0.02
#define MIN_READS 8           /* unless they take longer than that */
#define MAX_READS 200
#define PROBES 5

/* The default number of pairs: as many as fit into the time. */
#define MIN_PAIRS 40
#define MAX_PAIRS 2000
#define BUDGET_S 5.0

struct reads {
  const struct rd_subject *subject;
  uint64_t size[3];           /* x, y, z */
  uint64_t nbytes;
  void *buffer;
};

static int
read_once (const struct reads *reads, uint64_t *random)
{
  struct radio_box box;
  int failed = rd_subject_box (reads->subject, reads->size, NULL, random,
                               &box);
  if (failed)
    return failed;
  if (radio_volume_read (reads->subject->target.volume, &box, RADIO_STORED,
                         reads->buffer, (size_t) reads->nbytes, NULL)
      == RADIO_OK)
    return RD_EXIT_OK;
  return rd_error_library (reads->subject->target.name);
}

/* Seconds of one read, the mean of n after one that is not timed. */
static int
time_reads (const struct reads *reads, size_t n, uint64_t random,
            double *seconds)
{
  int failed = read_once (reads, &random);
  double start = rd_clock_s ();
  for (size_t i = 0; i < n && !failed; i++)
    failed = read_once (reads, &random);
  *seconds = (rd_clock_s () - start) / (double) n;
  return failed;
}

static int
time_recorded_reads (const struct reads *reads, size_t n, uint64_t random,
                     double *seconds)
{
  struct radio_recorder_options options = { .title = "bench" };
  struct radio_recorder *recorder = NULL;
  if (radio_recorder_start (&options, &recorder) != RADIO_OK)
    return rd_error_library (NULL);
  int failed = time_reads (reads, n, random, seconds);
  if (radio_recorder_stop (recorder, NULL) != RADIO_OK)
    return rd_error_library (NULL);
  return failed;
}

static int
measure_pairs (const struct reads *reads, size_t npairs, uint64_t seed,
               struct reads_result *result)
{
  size_t most = npairs > 0 ? npairs : MAX_PAIRS, i = 0;
  struct rd_progress progress;
  if (!rd_series_open (&result->off, "off", most)
      || !rd_series_open (&result->on, "on", most))
    return RD_EXIT_FAILED;
  /* How many reads make a measurement is chosen after warming up: by the
   * fastest of some, since other programs may slow the others. */
  double fastest;
  int failed = time_reads (reads, 1, 1, &fastest);
  for (unsigned k = 0; k < PROBES && !failed; k++) {
    double seconds;
    failed = time_reads (reads, 1, k + 2, &seconds);
    if (seconds < fastest)
      fastest = seconds;
  }
  double wanted = fastest > 0 ? LEAST_S / fastest : MAX_READS;
  result->nreads = wanted < 1 ? 1 : wanted < MIN_READS ? MIN_READS
                   : wanted > MAX_READS ? MAX_READS : (size_t) wanted;

  double start = rd_clock_s ();
  rd_progress_start (&progress, NULL);
  for (; i < most && !failed && !rd_interrupted (); i++) {
    if (npairs == 0 && i >= MIN_PAIRS && rd_clock_s () - start >= BUDGET_S)
      break;
    size_t expected = npairs > 0 ? npairs : i < MIN_PAIRS ? MIN_PAIRS : i + 1;
    double *off = &result->off.values[i], *on = &result->on.values[i];
    uint64_t random = rd_random (&seed);
    rd_progress_update (&progress, result->name, i, expected);
    /* The order within a pair alternates. */
    if (i % 2)
      failed = time_recorded_reads (reads, result->nreads, random, on);
    if (!failed)
      failed = time_reads (reads, result->nreads, random, off);
    if (!failed && i % 2 == 0)
      failed = time_recorded_reads (reads, result->nreads, random, on);
  }
  rd_progress_clear (&progress);
  result->off.n = result->on.n = i;
  return failed;
}

/* Reads boxes of a size at random places, or with size 0 the whole volume;
 * npairs pairs of measurements (0: as many as take some seconds).  Returns an
 * exit status; prints errors; to be cleared in any case. */
static int
measure_reads (const struct rd_subject *subject, uint64_t size,
               size_t npairs, uint64_t seed, struct reads_result *result)
{
  const struct radio_array_info *array = &subject->info.array;
  struct reads reads = { .subject = subject };
  struct radio_box box;
  uint64_t random = 0;
  for (size_t i = 0; i < 3; i++) {
    size_t axis = subject->axis_of[i];
    reads.size[i] = size;
    if (size == 0)
      reads.size[i] = axis < array->rank ? array->shape[axis] : 1;
  }
  int failed = rd_subject_box (subject, reads.size, NULL, &random, &box);
  if (failed)
    return failed;
  reads.nbytes = result->nbytes = rd_subject_nbytes (subject, &box);
  RD_FREE void *buffer = malloc ((size_t) reads.nbytes + 1);
  if (buffer == NULL)
    return rd_error_memory ();
  memset (buffer, 1, (size_t) reads.nbytes + 1);
  reads.buffer = buffer;
  snprintf (result->name, sizeof result->name, size ? "box of %llu each way"
            : "whole volume", (unsigned long long) size);
  return measure_pairs (&reads, npairs, seed, result);
}

static void
clear_reads (struct reads_result *bench)
{
  rd_series_clear (&bench->off);
  rd_series_clear (&bench->on);
}

/*------------------------------------------------------------------------
 * The program
 *----------------------------------------------------------------------*/

/* The targets: nanoseconds of a scope that is off, and ratios of the others
 * to their bases. */
#define BAR_OFF_NS 1.0
#define BAR_LOG 1.3
#define BAR_BOX 1.03
#define BAR_WHOLE 1.01

#define BOX_SIZE 64

struct bench {
  bool check;
  uint64_t nrounds, npairs, seed;
  struct rd_subject_options subject_options;
  struct rd_subject subject;
  struct scopes_result scopes;
  struct reads_result box, whole;
  struct rd_ratio off, tree, log, ring, box_ratio, whole_ratio;
};

static bool
parse_bench (struct bench *bench, struct rd_args *args)
{
  int id;
  while ((id = rd_args_next (args)) > 0) {
    bool ok = true;
    switch (id) {
    case RD_OPTION_ROUNDS:
      ok = rd_args_number (args, 6, 100000, &bench->nrounds);
      break;
    case RD_OPTION_RUNS:
      ok = rd_args_number (args, 6, 100000, &bench->npairs);
      break;
    case RD_OPTION_SEED:
      ok = rd_args_number (args, 0, UINT64_MAX, &bench->seed);
      break;
    case RD_OPTION_CHECK:
      bench->check = true;
      break;
    default:
      ok = rd_subject_take (args, id, &bench->subject_options) >= 0;
    }
    if (!ok)
      return false;
  }
  return id == 0 && rd_args_want (args, 0, 1, "VOLUME")
         && rd_subject_check (args, &bench->subject_options);
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
    "cost of a scope", "ns", "quartiles", "x bare (95 %)", "target"
  };
  const struct rd_series *series = bench->scopes.series;
  struct rd_table table = { .ncolumns = 5, .alignment = "lrrrl" };
  struct rd_ratio off_x;
  char off[64], log[64];
  bool ok = rd_ratio_of (&series[OFF], &series[BARE],
                         &off_x) == RD_EXIT_OK;
  snprintf (off, sizeof off, "< %g ns: %s", BAR_OFF_NS,
            rd_verdict_name (rd_classify (&bench->off, BAR_OFF_NS)));
  snprintf (log, sizeof log, "<= %g: %s", BAR_LOG,
            rd_verdict_name (rd_classify (&bench->log, BAR_LOG)));
  ok = ok && rd_table_add_row (&table, titles)
       && add_scope (&table, &series[BARE], NULL, "-")
       && add_scope (&table, &series[OFF], &off_x, off)
       && add_scope (&table, &series[TREE], &bench->tree, "-")
       && add_scope (&table, &series[LOG], &bench->log, log)
       && add_scope (&table, &series[RING], &bench->ring, "-");
  if (ok) {
    rd_table_print (&table, stdout);
    printf ("medians of %zu rounds of %d scopes, without the empty loop"
            "\n\n", series[0].n, NSCOPES);
  }
  rd_table_clear (&table);
  return ok ? RD_EXIT_OK : RD_EXIT_FAILED;
}

static bool
add_reads (struct rd_table *table, const struct reads_result *reads,
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
            rd_verdict_name (rd_classify (ratio, bar)));
  return rd_table_add (table, reads->name) && rd_table_add (table, n)
         && rd_table_add (table, rd_text_ms (off.median, texts[0]))
         && rd_table_add (table, rd_text_ms (on.median, texts[1]))
         && rd_table_add (table, delta) && rd_table_add (table, verdict);
}

static int
print_reads (const struct bench *bench)
{
  static const char *const titles[] = {
    "cost for a read", "pairs", "off ms", "on ms", "slower (95 %)", "target"
  };
  struct rd_table table = { .ncolumns = 6, .alignment = "lrrrrl" };
  bool ok = rd_table_add_row (&table, titles)
       && add_reads (&table, &bench->box, &bench->box_ratio, BAR_BOX)
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
  rd_json_set_u64 (object, "n", s.n);
  rd_json_set_double (object, "median", s.median);
  rd_json_set_double (object, "quartile_low", s.low);
  rd_json_set_double (object, "quartile_high", s.high);
  rd_json_set_double (object, "min", s.min);
  return object;
}

static struct json_object *
reads_json (const struct reads_result *reads, const struct rd_ratio *ratio,
            double bar)
{
  struct json_object *object = json_object_new_object ();
  struct json_object *slower = json_object_new_object ();
  rd_ratio_put (slower, ratio, bar);
  rd_json_set_u64 (object, "nbytes", reads->nbytes);
  rd_json_set_u64 (object, "reads", reads->nreads);
  rd_json_set (object, "off_s", series_json (&reads->off));
  rd_json_set (object, "on_s", series_json (&reads->on));
  rd_json_set (object, "ratio", slower);
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
  rd_json_set_text (object, "timer", bench->scopes.timer);
  rd_json_set (object, "bare_ns", series_json (&series[BARE]));
  rd_json_set (object, "off_ns", series_json (&series[OFF]));
  rd_json_set (object, "tree_ns", series_json (&series[TREE]));
  rd_json_set (object, "log_ns", series_json (&series[LOG]));
  rd_json_set (object, "ring_ns", series_json (&series[RING]));
  rd_json_set (object, "off", off);
  rd_json_set_double (object, "tree_ratio", bench->tree.median);
  rd_json_set (object, "log_ratio", log);
  rd_json_set_double (object, "ring_ratio", bench->ring.median);
  rd_json_set (object, "box",
               reads_json (&bench->box, &bench->box_ratio, BAR_BOX));
  rd_json_set (object, "whole",
               reads_json (&bench->whole, &bench->whole_ratio, BAR_WHOLE));
  rd_json_print (object);
}

/* Fails when a target is clearly missed. */
static int
check_targets (const struct bench *bench)
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
    if (rd_classify (bars[i].ratio, bars[i].bar) == RD_MISSED)
      status = rd_error ("%s: %.3f, the target is %g", bars[i].name,
                         bars[i].ratio->median, bars[i].bar);
  return status;
}

static int
run_bench (struct bench *bench, const struct rd_args *args)
{
  const char *operand = args->noperands ? args->operands[0] : NULL;
  rd_interrupt_catch ();
  struct rd_args decoding = *args;
  decoding.cache_nbytes = RADIO_NO_CACHE;
  int failed = rd_subject_open (&decoding, operand, &bench->subject_options,
                                args->json, &bench->subject);
  if (!failed)
    failed = measure_scopes (bench->nrounds, &bench->scopes);
  if (!failed)
    failed = measure_reads (&bench->subject, BOX_SIZE, bench->npairs,
                             bench->seed, &bench->box);
  if (!failed)
    failed = measure_reads (&bench->subject, 0, bench->npairs, bench->seed,
                             &bench->whole);
  if (failed || rd_interrupted ())
    return RD_EXIT_FAILED;
  const struct rd_series *series = bench->scopes.series;
  const struct rd_series *bare = &series[BARE];
  failed = rd_ratio_alone (&series[OFF], &bench->off);
  if (!failed)
    failed = rd_ratio_of (&series[TREE], bare, &bench->tree);
  if (!failed)
    failed = rd_ratio_of (&series[LOG], bare, &bench->log);
  if (!failed)
    failed = rd_ratio_of (&series[RING], bare, &bench->ring);
  if (!failed)
    failed = rd_ratio_of (&bench->box.on, &bench->box.off,
                          &bench->box_ratio);
  if (!failed)
    failed = rd_ratio_of (&bench->whole.on, &bench->whole.off,
                          &bench->whole_ratio);
  if (failed)
    return failed;
  if (args->json)
    print_json (bench);
  else {
    failed = print_scopes (bench);
    if (!failed)
      failed = print_reads (bench);
  }
  return failed ? failed : check_targets (bench);
}

static int
run_profiler (struct rd_args *args)
{
  struct bench bench = {
    .nrounds = 100,
    .subject_options.shape = RD_SUBJECT_SHAPE,
  };
  int status = parse_bench (&bench, args) ? run_bench (&bench, args)
                                          : args->status;
  for (size_t i = 0; i < NSERIES; i++)
    rd_series_clear (&bench.scopes.series[i]);
  clear_reads (&bench.box);
  clear_reads (&bench.whole);
  rd_subject_close (&bench.subject);
  return status;
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  { RD_OPTION_ROUNDS, "rounds", "N",
    "rounds of scopes (default: 100)" },
  { RD_OPTION_RUNS, "runs", "N", "pairs of reads (default: 40 or more, for "
    "5 s)" },
  { RD_OPTION_SEED, "seed", "N", "seed of the random places (default: 0)" },
  { RD_OPTION_CHECK, "check", NULL,
    "exit 1 when a target is clearly missed" },
  RD_JSON_FIGURES_OPTION,
  RD_SUBJECT_OPTIONS,
  RD_WORK_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

static const struct rd_command bench_profiler = {
  .name = "bench-profiler",
  .is_program = true,
  .operands = "[VOLUME] [OPTION]...",
  .description =
    "Measures what the profiler costs: nanoseconds of a scope (while nothing "
    "records, in the tree, in tree and log, in tree and ring) compared with a "
    "bare pair of "
    "timer readings; and how much slower reads of a 64^3 box and of the whole "
    "volume are while they are recorded. All are measured in turn, and each "
    "target is met, unclear or missed by the 95 % confidence interval of the "
    "median.",
  .options = options,
  .examples =
    "bench-profiler\n"
    "bench-profiler ct/sub-01 --runs 200\n"
    "bench-profiler --check --json",
  .run = run_profiler,
};

int
main (int argc, char **argv)
{
  return rd_program_main (&bench_profiler, argc, argv);
}
