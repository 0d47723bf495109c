/* SPDX-License-Identifier: MIT */
/* The benchmark's loop. */
#include <config.h>

#include <string.h>

#include "tools/bench/perform.h"
#include "tools/bench/run.h"
#include "tools/profile/output.h"
#include "tools/profile/temp.h"
#include "tools/progress.h"

/* Without --runs a row is done for about so long in each round. */
#define SLICE_S 0.1
#define MOST_RUNS 50

/* A row that took so long already is left out of further rounds, once it
 * has enough runs for a median. */
#define ENOUGH_S 4.0
#define ENOUGH_RUNS 3

/* Runs whose counters are looked at. */
#define MOST_COUNTED 16

static int
append (struct rd_sample *sample, const struct rd_outcome *outcome)
{
  if (sample->n == sample->capacity) {
    size_t capacity = sample->capacity ? 2 * sample->capacity : 64;
    double *seconds = reallocarray (sample->seconds, capacity,
                                    sizeof *seconds);
    if (seconds == NULL)
      return rd_error_memory ();
    sample->seconds = seconds;
    sample->capacity = capacity;
  }
  sample->seconds[sample->n++] = outcome->seconds;
  sample->sum_s += outcome->seconds;
  sample->sum_nbytes += outcome->nbytes;
  return RD_EXIT_OK;
}

/* What one recording counted, over all that it holds. */
static uint64_t
counter_of (const struct radio_profile *profile, size_t nnodes,
            const char *name)
{
  uint64_t sum = 0;
  for (size_t i = 0; i < nnodes; i++)
    sum += radio_profile_counter (profile, i, name, false);
  return sum;
}

static void
take_counters (const struct radio_profile *profile, struct rd_sample *sample)
{
  struct radio_profile_info info;
  radio_profile_info (profile, &info);
  sample->decoded_nbytes = counter_of (profile, info.nnodes,
                                       "bytes decoded");
  sample->fetched_nbytes = counter_of (profile, info.nnodes,
                                       "bytes fetched");
  sample->ntiles = counter_of (profile, info.nnodes, "tiles");
}

/* Do the first runs of a row once more, recorded.  A library that was built
 * without the profiler has no counters. */
static int
count (struct rd_bench *bench, struct rd_layout *layout, size_t row)
{
  struct rd_sample *sample = &layout->samples[row];
  struct radio_recorder_options options = { .tree_only = true };
  struct radio_recorder *recorder = NULL;
  RD_CLOSE_PROFILE struct radio_profile *profile = NULL;
  size_t n = sample->nperround < MOST_COUNTED ? sample->nperround
                                              : MOST_COUNTED;
  int failed = RD_EXIT_OK;
  enum radio_status status = radio_recorder_start (&options, &recorder);
  if (status == RADIO_ERROR_UNSUPPORTED)
    return RD_EXIT_OK;
  if (status != RADIO_OK)
    return rd_error_library (NULL);
  for (size_t i = 0; i < n && !failed; i++) {
    struct rd_outcome outcome = { 0 };
    failed = rd_bench_perform (bench, layout, row, i, &outcome);
    sample->counted_nbytes += outcome.nbytes
      * (rd_rows[row].kind == RD_ROW_SCROLL ? RD_SCROLL_NPLANES : 1);
  }
  if (radio_recorder_stop (recorder, &profile) != RADIO_OK)
    return rd_error_library (NULL);
  take_counters (profile, sample);
  return failed;
}

static size_t
settle_runs (const struct rd_bench *bench, double seconds)
{
  if (bench->nruns)
    return bench->nruns;
  double wanted = seconds > 0 ? SLICE_S / seconds : MOST_RUNS;
  return wanted < 1 ? 1 : wanted > MOST_RUNS ? MOST_RUNS : (size_t) wanted;
}

/* Before the first round: see whether the row can be measured, warm up, and
 * settle how many runs make a round. */
static int
begin_row (struct rd_bench *bench, struct rd_layout *layout, size_t row)
{
  struct rd_sample *sample = &layout->samples[row];
  struct rd_outcome outcome = { 0 };
  int failed = RD_EXIT_OK;
  sample->skipped = rd_bench_hindrance (layout, row);
  if (sample->skipped)
    return RD_EXIT_OK;
  for (uint64_t i = 0; i < bench->nwarm && !failed; i++)
    failed = rd_bench_perform (bench, layout, row, i, &outcome);
  sample->nperround = settle_runs (bench, outcome.seconds);
  if (!failed && rd_row_reads (&rd_rows[row]))
    failed = count (bench, layout, row);
  return failed;
}

static int
measure_row (struct rd_bench *bench, struct rd_layout *layout, size_t row,
             uint64_t round)
{
  struct rd_sample *sample = &layout->samples[row];
  int failed = round == 0 ? begin_row (bench, layout, row) : RD_EXIT_OK;
  if (sample->skipped
      || (sample->n >= ENOUGH_RUNS && sample->sum_s > ENOUGH_S))
    return failed;
  for (size_t k = 0; k < sample->nperround && !failed; k++) {
    struct rd_outcome outcome = { 0 };
    failed = rd_bench_perform (bench, layout, row,
                               round * sample->nperround + k, &outcome);
    if (!failed)
      failed = append (sample, &outcome);
  }
  return failed;
}

static int
measure_limits (struct rd_bench *bench, struct rd_limits *limits,
                uint64_t round)
{
  struct rd_layout *first = &bench->layouts[0];
  uint64_t source_nbytes = first->raw_nbytes
                           + first->subject.info.header_nbytes;
  int failed = rd_limits_memory (limits, first->raw_nbytes);
  for (size_t i = 0; i < RD_NROWS && !failed; i++)
    if (bench->chosen[i] && rd_rows[i].kind == RD_ROW_INGEST
        && rd_rows[i].which && !first->samples[i].skipped) {
      const char *file = rd_bench_source (bench, first, true);
      failed = file ? rd_limits_inflate (limits, file, source_nbytes)
                    : RD_EXIT_FAILED;
    }
  for (size_t i = 0; i < bench->nlayouts && !failed; i++)
    failed = rd_limits_decode (bench->seed + round, &bench->layouts[i]);
  return failed;
}

static int
measure_round (struct rd_bench *bench, struct rd_limits *limits,
               uint64_t round, struct rd_progress *progress)
{
  int failed = RD_EXIT_OK;
  size_t n = bench->nlayouts * RD_NROWS;
  for (size_t i = 0; i < n && !failed && !rd_interrupted (); i++) {
    /* What a row takes in one layout and in the next one are close in time,
     * so that their ratio holds for both. */
    size_t row = i / bench->nlayouts;
    if (!bench->chosen[row])
      continue;
    rd_progress_update (progress, rd_rows[row].name, round * n + i,
                        bench->nrounds * n);
    failed = measure_row (bench, &bench->layouts[i % bench->nlayouts], row,
                          round);
  }
  if (!failed && !rd_interrupted ())
    failed = measure_limits (bench, limits, round);
  return failed;
}

int
rd_bench_measure (struct rd_bench *bench, struct rd_limits *limits)
{
  struct rd_progress progress;
  int failed = RD_EXIT_OK;
  for (size_t i = 0; i < bench->nlayouts; i++)
    if (bench->layouts[i].nthreads > limits->nthreads)
      limits->nthreads = bench->layouts[i].nthreads;
  rd_progress_start (&progress, NULL);
  for (uint64_t i = 0; i < bench->nrounds && !failed && !rd_interrupted ();
       i++)
    failed = measure_round (bench, limits, i, &progress);
  rd_progress_clear (&progress);
  return failed;
}

static double
most_of (const double *values, size_t n)
{
  double most = 0;
  for (size_t i = 0; i < n; i++)
    if (values[i] > most)
      most = values[i];
  return most;
}

double
rd_bench_limit_s (const struct rd_bench *bench,
                  const struct rd_limits *limits,
                  const struct rd_layout *layout, size_t row)
{
  const struct rd_sample *sample = &layout->samples[row];
  const double touches[] = {
    limits->touch_one, limits->huge_one, limits->touch_all, limits->huge_all
  };
  double touch = most_of (touches, layout->nthreads == 1 ? 2 : 4);
  if (sample->n == 0)
    return 0;
  double nbytes = (double) sample->sum_nbytes / (double) sample->n;
  if (rd_rows[row].kind == RD_ROW_INGEST)
    return rd_rows[row].which && limits->inflate > 0
           ? nbytes / limits->inflate : 0;
  if (!rd_row_reads (&rd_rows[row]) || sample->counted_nbytes == 0
      || !(layout->decode_all.whole > 0 && layout->decode_all.thin > 0))
    return 0;
  double decoded_nbytes = nbytes * (double) sample->decoded_nbytes
                          / (double) sample->counted_nbytes;
  double seconds = rd_limits_decode_s (layout, &layout->decode_all,
                                       decoded_nbytes, nbytes);
  if (rd_destination_faults (&bench->destination, (uint64_t) nbytes)
      && touch > 0)
    seconds += nbytes / touch;
  return seconds;
}
