/* SPDX-License-Identifier: MIT */
/* Runs of the benchmark: one run of a row, and the loop over all. */
#include <config.h>

#include <string.h>
#include <unistd.h>

#include "tools/bench/run.h"
#include "tools/facts.h"
#include "tools/interrupt.h"
#include "tools/profile/cold.h"
#include "tools/profile/output.h"
#include "tools/profile/samples.h"
#include "tools/progress.h"

/* The time of a run and the bytes it delivered. */
struct outcome {
  double seconds;
  uint64_t nbytes;
};

struct run {
  struct rd_bench *bench;
  struct rd_layout *layout;
  const struct rd_row *row;
  uint64_t random;            /* decides its places */
};

/*------------------------------------------------------------------------
 * Reads
 *----------------------------------------------------------------------*/

static int
read_box (const struct run *run, struct radio_volume *volume,
          const struct radio_box *box, uint64_t nbytes)
{
  struct rd_destination *destination = &run->bench->destination;
  void *buffer = rd_destination_take (destination, (size_t) nbytes);
  if (buffer == NULL)
    return RD_EXIT_FAILED;
  enum radio_status status = radio_volume_read (volume, box, RADIO_STORED,
                                                buffer, (size_t) nbytes,
                                                NULL);
  rd_destination_return (destination, buffer);
  if (status == RADIO_OK)
    return RD_EXIT_OK;
  return rd_error_library (run->layout->subject.target.name);
}

static void
whole_box (const struct radio_array_info *info, struct radio_box *box)
{
  memset (box, 0, sizeof *box);
  box->rank = info->rank;
  memcpy (box->size, info->shape, sizeof info->shape);
}

static int
do_box (struct run *run, struct outcome *outcome)
{
  const struct rd_subject *subject = &run->layout->subject;
  uint64_t edge = run->row->which;
  const uint64_t size[3] = { edge, edge, edge };
  struct radio_box box;
  int failed = RD_EXIT_OK;
  if (run->row->kind == RD_ROW_FULL)
    whole_box (&subject->info.array, &box);
  else
    failed = rd_subject_box (subject, size, NULL, &run->random, &box);
  outcome->nbytes = rd_subject_nbytes (subject, &box);
  double start = rd_clock_s ();
  if (!failed)
    failed = read_box (run, subject->target.volume, &box, outcome->nbytes);
  outcome->seconds = rd_clock_s () - start;
  return failed;
}

/* The number of the row's planes; *nbytes is the size of one. */
static uint64_t
count_planes (const struct run *run, uint64_t *nbytes)
{
  const struct rd_subject *subject = &run->layout->subject;
  const struct radio_volume_info *info = &subject->info;
  enum radio_plane plane = (enum radio_plane) run->row->which;
  uint64_t shape[2];
  radio_volume_plane_shape (subject->target.volume, plane, shape);
  *nbytes = shape[0] * shape[1] * info->array.item_nbytes;
  return rd_plane_count (info, plane);
}

static int
read_plane (const struct run *run, struct radio_volume *volume,
            uint64_t index, uint64_t nbytes)
{
  struct rd_destination *destination = &run->bench->destination;
  void *buffer = rd_destination_take (destination, (size_t) nbytes);
  if (buffer == NULL)
    return RD_EXIT_FAILED;
  enum radio_status status = radio_volume_read_plane (
    volume, (enum radio_plane) run->row->which, index, RADIO_STORED, buffer,
    (size_t) nbytes, NULL);
  rd_destination_return (destination, buffer);
  if (status == RADIO_OK)
    return RD_EXIT_OK;
  return rd_error_library (run->layout->subject.target.name);
}

/* Reads n planes, beginning with a random one. */
static int
read_planes (struct run *run, struct radio_volume *volume, uint64_t n,
             struct outcome *outcome)
{
  uint64_t nbytes, count = count_planes (run, &nbytes);
  if (n > count)
    n = count;
  uint64_t first = rd_random_below (&run->random, count - n + 1);
  int failed = RD_EXIT_OK;
  double start = rd_clock_s ();
  for (uint64_t i = 0; i < n && !failed; i++)
    failed = read_plane (run, volume, first + i, nbytes);
  outcome->seconds = (rd_clock_s () - start) / (double) n;
  outcome->nbytes = nbytes;
  return failed;
}

/* Opened again with the default cache, so that tiles cached between two planes
 * count, and those of earlier runs do not. */
static int
do_scroll (struct run *run, struct outcome *outcome)
{
  const struct rd_subject *subject = &run->layout->subject;
  struct rd_args args = subject->args;
  struct rd_target target;
  args.cache_nbytes = 0;
  int failed = rd_target_open (&args, rd_target_operand (&subject->target),
                               false, &target);
  if (!failed)
    failed = read_planes (run, target.volume, RD_SCROLL_NPLANES, outcome);
  rd_target_close (&target);
  return failed;
}

/* Opens a volume of the subject's store, with the pipeline if there is one. */
static int
open_volume (const struct rd_subject *subject, const char *path,
             struct radio_volume **volume)
{
  const struct radio_pipeline *pipeline = subject->args.pipeline;
  struct radio_volume *derived = NULL;
  enum radio_status status = radio_volume_open (subject->target.store, path,
                                                volume);
  if (status == RADIO_OK && pipeline) {
    status = radio_volume_apply (*volume, pipeline, &derived);
    radio_volume_close (*volume);
    *volume = derived;
  }
  return status == RADIO_OK ? RD_EXIT_OK : rd_error_library (path);
}

/* Opens one of the collection's volumes and reads all of it. */
static int
do_loader (struct run *run, struct outcome *outcome)
{
  const struct rd_layout *layout = run->layout;
  uint64_t i = rd_random_below (&run->random, layout->npaths);
  struct radio_volume *volume = NULL;
  struct radio_volume_info info;
  struct radio_box box;
  double start = rd_clock_s ();
  int failed = open_volume (&layout->subject, layout->paths[i], &volume);
  if (failed)
    return failed;
  radio_volume_get_info (volume, &info);
  whole_box (&info.array, &box);
  outcome->nbytes = rd_raw_nbytes (&info.array);
  failed = read_box (run, volume, &box, outcome->nbytes);
  radio_volume_close (volume);
  outcome->seconds = rd_clock_s () - start;
  return failed;
}

/*------------------------------------------------------------------------
 * Opening
 *----------------------------------------------------------------------*/

static int
do_open (struct run *run, struct outcome *outcome)
{
  const struct rd_subject *subject = &run->layout->subject;
  struct radio_volume *volume = NULL;
  bool reads = run->row->kind == RD_ROW_FIRST;
  uint64_t nbytes, count = count_planes (run, &nbytes);
  uint64_t index = rd_random_below (&run->random, count);
  double start = rd_clock_s ();
  int failed = open_volume (subject, subject->target.path, &volume);
  if (failed)
    return failed;
  if (reads)
    failed = read_plane (run, volume, index, nbytes);
  radio_volume_close (volume);
  outcome->seconds = rd_clock_s () - start;
  outcome->nbytes = reads ? nbytes : 0;
  return failed;
}

static int
do_open_store (struct run *run, struct outcome *outcome)
{
  const struct rd_subject *subject = &run->layout->subject;
  bool reads = run->row->kind == RD_ROW_COLD;
  uint64_t nbytes, count = count_planes (run, &nbytes);
  uint64_t index = rd_random_below (&run->random, count);
  struct rd_target target;
  if (reads) {
    struct rd_cold cold;
    rd_cold_drop (run->layout->subject.folder, &cold);
    RD_FREE char *problem = rd_cold_problem (&cold);
    if (problem && !run->bench->warned_cold)
      rd_warn (problem);
    run->bench->warned_cold |= problem != NULL;
  }
  double start = rd_clock_s ();
  int failed = rd_target_open (&subject->args,
                               rd_target_operand (&subject->target), false,
                               &target);
  if (!failed && reads)
    failed = read_plane (run, target.volume, index, nbytes);
  rd_target_close (&target);
  outcome->seconds = rd_clock_s () - start;
  outcome->nbytes = reads ? nbytes : 0;
  return failed;
}

/*------------------------------------------------------------------------
 * Files
 *----------------------------------------------------------------------*/

static int
do_export (struct run *run, struct outcome *outcome)
{
  const struct rd_target *target = &run->layout->subject.target;
  RD_FREE char *file = rd_format ("%s/export.nii", run->bench->temp);
  if (file == NULL)
    return RD_EXIT_FAILED;
  double start = rd_clock_s ();
  enum radio_status status = radio_volume_export (target->volume, NULL, file,
                                                  NULL);
  outcome->seconds = rd_clock_s () - start;
  outcome->nbytes = run->layout->raw_nbytes;
  (void) unlink (file);
  return status == RADIO_OK ? RD_EXIT_OK : rd_error_library (target->name);
}

/* Returns the value asked for, or that of the existing volume. */
static const char *
either (const char *asked, const char *known)
{
  return asked || *known == '\0' ? asked : known;
}

static int
do_ingest (struct run *run, struct outcome *outcome)
{
  struct rd_layout *layout = run->layout;
  const struct radio_volume_info *info = &layout->subject.info;
  struct radio_ingest_options options = {
    .tiling = either (layout->tiling, info->tiling),
    .codec = either (layout->codec, info->codec),
  };
  struct radio_ingest_result result = { 0 };
  const char *file = rd_bench_source (run->bench, layout, run->row->which);
  if (file == NULL)
    return RD_EXIT_FAILED;
  double start = rd_clock_s ();
  enum radio_status status = radio_ingest (layout->scratch, file, "bench/new",
                                           &options, &result);
  outcome->seconds = rd_clock_s () - start;
  outcome->nbytes = result.source_nbytes;
  if (status == RADIO_OK)
    status = radio_store_remove (layout->scratch, "bench/new");
  return status == RADIO_OK ? RD_EXIT_OK : rd_error_library (file);
}

/* Does run i of a row.  The time is all that a caller pays: allocating the
 * memory, the call, freeing the memory; for rows that open something, also
 * closing it.  Returns an exit status; prints errors. */
static int
perform_run (struct rd_bench *bench, struct rd_layout *layout,
             size_t row, uint64_t i, struct outcome *outcome)
{
  struct run run = {
    .bench = bench,
    .layout = layout,
    .row = &rd_rows[row],
    .random = rd_row_state (row, bench->seed, i),
  };
  switch (rd_rows[row].kind) {
  case RD_ROW_PLANE:
    return read_planes (&run, layout->subject.target.volume, 1, outcome);
  case RD_ROW_FULL:
  case RD_ROW_BOX:
    return do_box (&run, outcome);
  case RD_ROW_SCROLL:
    return do_scroll (&run, outcome);
  case RD_ROW_LOADER:
    return do_loader (&run, outcome);
  case RD_ROW_OPEN:
  case RD_ROW_FIRST:
    return do_open (&run, outcome);
  case RD_ROW_OPEN_STORE:
  case RD_ROW_COLD:
    return do_open_store (&run, outcome);
  case RD_ROW_EXPORT:
    return do_export (&run, outcome);
  case RD_ROW_INGEST:
    return do_ingest (&run, outcome);
  }
  return RD_EXIT_FAILED;
}

/* Returns why a row cannot be measured of a layout; NULL: it can. */
static const char *
find_obstacle (const struct rd_layout *layout, size_t row)
{
  const struct rd_subject *subject = &layout->subject;
  const struct radio_array_info *array = &subject->info.array;
  enum rd_row_kind kind = rd_rows[row].kind;
  for (size_t i = 0; i < 3 && kind == RD_ROW_BOX; i++) {
    size_t axis = subject->axis_of[i];
    if ((axis < array->rank ? array->shape[axis] : 1) < rd_rows[row].which)
      return "larger than the volume";
  }
  if ((kind == RD_ROW_EXPORT || kind == RD_ROW_INGEST)
      && subject->info.header_nbytes == 0)
    return "the volume has no NIfTI header";
  return NULL;
}

/*------------------------------------------------------------------------
 * The loop
 *----------------------------------------------------------------------*/

/* The default duration of a row in each round. */
#define SLICE_S 0.1
#define MOST_RUNS 50

/* A row that took longer is left out of further rounds, once it has enough
 * runs for a median. */
#define ENOUGH_S 4.0
#define ENOUGH_RUNS 3

/* The most runs whose bytes are counted. */
#define MOST_COUNTED 16

/* The sum of a counter over all nodes. */
static uint64_t
counter_of (const struct radio_profile *profile, size_t nnodes,
            const char *name)
{
  uint64_t sum = 0;
  for (size_t i = 0; i < nnodes; i++)
    sum += radio_profile_counter (profile, i, name, false);
  return sum;
}

/* Repeats the first runs of a row, recorded, to count bytes.  A library that
 * was built without the profiler has no counters. */
static int
count_bytes (struct rd_bench *bench, struct rd_layout *layout, size_t row)
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
    struct outcome outcome = { 0 };
    failed = perform_run (bench, layout, row, i, &outcome);
    sample->counted_nbytes += outcome.nbytes
      * (rd_rows[row].kind == RD_ROW_SCROLL ? RD_SCROLL_NPLANES : 1);
  }
  if (radio_recorder_stop (recorder, &profile) != RADIO_OK)
    return rd_error_library (NULL);
  struct radio_profile_info info;
  radio_profile_get_info (profile, &info);
  n = info.nnodes;
  sample->decoded_nbytes = counter_of (profile, n, "bytes decoded");
  sample->fetched_nbytes = counter_of (profile, n, "bytes fetched");
  sample->ntiles = counter_of (profile, n, "tiles");
  return failed;
}

/* Before the first round it checks that the row can be measured, warms up, and
 * chooses how many runs make a round. */
static int
measure_row (struct rd_bench *bench, struct rd_layout *layout, size_t row,
             uint64_t round)
{
  struct rd_sample *sample = &layout->samples[row];
  int failed = RD_EXIT_OK;
  if (round == 0)
    sample->skipped = find_obstacle (layout, row);
  if (sample->skipped)
    return RD_EXIT_OK;
  if (round == 0) {
    struct outcome outcome = { 0 };
    for (uint64_t i = 0; i < bench->nwarm && !failed; i++)
      failed = perform_run (bench, layout, row, i, &outcome);
    rd_sample_plan (sample, bench->nruns, outcome.seconds, SLICE_S, MOST_RUNS);
    if (!failed && rd_row_reads (&rd_rows[row]))
      failed = count_bytes (bench, layout, row);
  }
  if (sample->n >= ENOUGH_RUNS && sample->sum_s > ENOUGH_S)
    return failed;
  for (size_t k = 0; k < sample->nperround && !failed; k++) {
    struct outcome outcome = { 0 };
    failed = perform_run (bench, layout, row,
                          round * sample->nperround + k, &outcome);
    if (!failed)
      failed = rd_sample_add (sample, outcome.seconds);
    if (failed)
      return failed;
    sample->sum_s += outcome.seconds;
    sample->sum_nbytes += outcome.nbytes;
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

int
rd_bench_measure (struct rd_bench *bench, struct rd_limits *limits)
{
  struct rd_progress progress;
  int failed = RD_EXIT_OK;
  for (size_t i = 0; i < bench->nlayouts; i++)
    if (bench->layouts[i].nthreads > limits->nthreads)
      limits->nthreads = bench->layouts[i].nthreads;
  size_t n = bench->nlayouts * RD_NROWS;
  rd_progress_start (&progress, NULL);
  for (uint64_t round = 0; round < bench->nrounds && !failed; round++) {
    for (size_t i = 0; i < n && !failed && !rd_interrupted (); i++) {
      /* A row is measured in all layouts before the next row, so that their
       * ratio is of the same state of the machine. */
      size_t row = i / bench->nlayouts;
      if (!bench->chosen[row])
        continue;
      rd_progress_update (&progress, rd_rows[row].name, round * n + i,
                          bench->nrounds * n);
      failed = measure_row (bench, &bench->layouts[i % bench->nlayouts], row,
                            round);
    }
    if (rd_interrupted ())
      break;
    if (!failed)
      failed = measure_limits (bench, limits, round);
  }
  rd_progress_clear (&progress);
  return failed;
}

double
rd_bench_limit_s (const struct rd_bench *bench,
                  const struct rd_limits *limits,
                  const struct rd_layout *layout, size_t row)
{
  const struct rd_sample *sample = &layout->samples[row];
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
  return rd_limits_decode_s (layout, &layout->decode_all, decoded_nbytes,
                             nbytes)
         + rd_limits_touch_s (limits, layout->nthreads, &bench->destination,
                              nbytes);
}
