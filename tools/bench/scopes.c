/* SPDX-License-Identifier: MIT */
/* What a scope costs.  The loops are kept as plain as a caller's would be:
 * the compiler may not merge their rounds, and nothing more. */
#include <config.h>

#include <string.h>
#include <time.h>

#if defined __x86_64__
#include <x86intrin.h>
#endif

#include "tools/bench/scopes.h"
#include "tools/profile/temp.h"
#include "tools/progress.h"

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

/* The compiler must think that everything may have changed. */
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
    /* As if it were used. */
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

/* The same while a recorder is on, warm: the first scopes make the thread's
 * buffers and the node of the tree. */
static int
time_recorded (bool tree_only, double *seconds)
{
  struct radio_recorder_options options = {
    .tree_only = tree_only,
    .max_spans = 4 * RD_BENCH_NSCOPES,
    .title = "bench",
  };
  struct radio_recorder *recorder = NULL;
  if (radio_recorder_start (&options, &recorder) != RADIO_OK)
    return rd_error_library (NULL);
  scope_loop (RD_BENCH_NSCOPES / 10);
  *seconds = time_of (scope_loop, RD_BENCH_NSCOPES);
  if (radio_recorder_stop (recorder, NULL) != RADIO_OK)
    return rd_error_library (NULL);
  return RD_EXIT_OK;
}

static int
measure_round (struct rd_bench_scopes *bench, size_t round)
{
  const double n = RD_BENCH_NSCOPES;
  double seconds[RD_BENCH_NSERIES];
  double empty = time_of (empty_loop, RD_BENCH_NSCOPES);
  seconds[RD_BENCH_BARE] = time_of (bare_loop, RD_BENCH_NSCOPES);
  seconds[RD_BENCH_OFF] = time_of (scope_loop, RD_BENCH_NSCOPES);
  int failed = time_recorded (true, &seconds[RD_BENCH_TREE]);
  if (!failed)
    failed = time_recorded (false, &seconds[RD_BENCH_LOG]);
  for (size_t i = 0; i < RD_BENCH_NSERIES && !failed; i++) {
    double ns = 1e9 * (seconds[i] - empty) / n;
    bench->series[i].values[round] = ns > 0 ? ns : 0;
  }
  return failed;
}

int
rd_bench_scopes (size_t nrounds, struct rd_bench_scopes *bench)
{
  static const char *const names[] = {
    [RD_BENCH_BARE] = ("bare pair of " TIMER),
    [RD_BENCH_OFF] = "scope, nothing records",
    [RD_BENCH_TREE] = "scope, tree only",
    [RD_BENCH_LOG] = "scope, tree and log",
  };
  struct rd_progress progress;
  bench->timer = TIMER;
  for (size_t i = 0; i < RD_BENCH_NSERIES; i++)
    if (!rd_series_open (&bench->series[i], names[i], nrounds))
      return RD_EXIT_FAILED;
  int failed = measure_round (bench, 0);
  rd_progress_start (&progress, NULL);
  for (size_t i = 0; i < nrounds && !failed && !rd_interrupted (); i++) {
    rd_progress_update (&progress, "scopes", i, nrounds);
    failed = measure_round (bench, i);
  }
  rd_progress_clear (&progress);
  return failed;
}

void
rd_bench_scopes_clear (struct rd_bench_scopes *bench)
{
  for (size_t i = 0; i < RD_BENCH_NSERIES; i++)
    rd_series_clear (&bench->series[i]);
}
