/* SPDX-License-Identifier: MIT */
/* What recording costs a read.  Both sides of a pair read the same places.
 * A recording is started before the clock runs, with one read that is not
 * timed, as on the other side: what is compared is how much longer reads
 * take while they are recorded. */
#include <config.h>

#include <string.h>

#include "tools/bench/reads.h"
#include "tools/profile/temp.h"
#include "tools/progress.h"

/* A measurement is of so many reads that it takes about so long: short
 * enough for what slows the machine to slow both sides of a pair, long
 * enough for the clock and the first read of a recording not to matter. */
#define LEAST_S 0.02
#define MIN_READS 8           /* of reads that are shorter than that */
#define MAX_READS 200
#define PROBES 5

/* Pairs, if it was not said how many: as many as fit into the time. */
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

/* Seconds of one read, of n after one that is not timed. */
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
time_recorded (const struct reads *reads, size_t n, uint64_t random,
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
measure_pair (const struct reads *reads, struct rd_bench_reads *bench,
              size_t i, uint64_t random)
{
  double *off = &bench->off.values[i], *on = &bench->on.values[i];
  size_t n = bench->nreads;
  int failed = i % 2 ? time_recorded (reads, n, random, on)
                     : time_reads (reads, n, random, off);
  if (failed)
    return failed;
  return i % 2 ? time_reads (reads, n, random, off)
               : time_recorded (reads, n, random, on);
}

static size_t
count_for (double seconds)
{
  double wanted = seconds > 0 ? LEAST_S / seconds : MAX_READS;
  if (wanted < 1)
    return 1;
  if (wanted < MIN_READS)
    return MIN_READS;
  return wanted > MAX_READS ? MAX_READS : (size_t) wanted;
}

/* Settle how many reads make a measurement, after warming up: by the
 * fastest of some, since another program may have had the processor during
 * the others. */
static int
settle_count (const struct reads *reads, struct rd_bench_reads *bench)
{
  double fastest;
  int failed = time_reads (reads, 1, 1, &fastest);
  for (unsigned i = 0; i < PROBES && !failed; i++) {
    double seconds;
    failed = time_reads (reads, 1, i + 2, &seconds);
    if (seconds < fastest)
      fastest = seconds;
  }
  bench->nreads = count_for (fastest);
  return failed;
}

/* The whole: as a box it is as long as the axes, with what lies beside x, y
 * and z at its first place. */
static int
prepare (struct reads *reads, uint64_t size, struct rd_bench_reads *bench)
{
  const struct radio_array_info *array = &reads->subject->info.array;
  struct radio_box box;
  uint64_t random = 0;
  for (size_t i = 0; i < 3; i++) {
    size_t axis = reads->subject->axis_of[i];
    reads->size[i] = size;
    if (size == 0)
      reads->size[i] = axis < array->rank ? array->shape[axis] : 1;
  }
  int failed = rd_subject_box (reads->subject, reads->size, NULL, &random,
                               &box);
  if (failed)
    return failed;
  reads->nbytes = bench->nbytes = rd_subject_nbytes (reads->subject, &box);
  reads->buffer = malloc ((size_t) reads->nbytes + 1);
  if (reads->buffer == NULL)
    return rd_error_memory ();
  memset (reads->buffer, 1, (size_t) reads->nbytes + 1);
  snprintf (bench->name, sizeof bench->name, size ? "box of %llu each way"
            : "whole volume", (unsigned long long) size);
  return RD_EXIT_OK;
}

/* Whether i pairs are enough. */
static bool
is_enough (size_t i, size_t npairs, double since)
{
  if (npairs > 0)
    return i >= npairs;
  return i >= MAX_PAIRS
    || (i >= MIN_PAIRS && rd_clock_s () - since >= BUDGET_S);
}

static int
measure (const struct reads *reads, size_t npairs, uint64_t seed,
         struct rd_bench_reads *bench)
{
  size_t most = npairs > 0 ? npairs : MAX_PAIRS, i = 0;
  struct rd_progress progress;
  if (!rd_series_open (&bench->off, "off", most)
      || !rd_series_open (&bench->on, "on", most))
    return RD_EXIT_FAILED;
  int failed = settle_count (reads, bench);
  double since = rd_clock_s ();
  rd_progress_start (&progress, NULL);
  for (; !is_enough (i, npairs, since) && !failed && !rd_interrupted ();
       i++) {
    size_t expected = npairs > 0 ? npairs : i < MIN_PAIRS ? MIN_PAIRS : i + 1;
    rd_progress_update (&progress, bench->name, i, expected);
    failed = measure_pair (reads, bench, i, rd_random (&seed));
  }
  rd_progress_clear (&progress);
  bench->off.n = bench->on.n = i;
  return failed;
}

int
rd_bench_reads (const struct rd_subject *subject, uint64_t size,
                size_t npairs, uint64_t seed, struct rd_bench_reads *bench)
{
  struct reads reads = { .subject = subject };
  int failed = prepare (&reads, size, bench);
  if (!failed)
    failed = measure (&reads, npairs, seed, bench);
  free (reads.buffer);
  return failed;
}

void
rd_bench_reads_clear (struct rd_bench_reads *bench)
{
  rd_series_clear (&bench->off);
  rd_series_clear (&bench->on);
}
