/* SPDX-License-Identifier: MIT */
/* What a scope costs: measured with the very functions that scopes call, in
 * a recorder of its own, as the least mean of many short batches, so that
 * what else the machine did meanwhile is not in it. */
#include <config.h>

#include "profiler/record/recorder.h"
#include "profiler/record/writer.h"

#define NBATCHES 24
#define BATCH 128             /* some 4 us: mostly undisturbed */

/* By clock, in units of 1/1024 ns; 0: not measured yet. */
static _Atomic uint64_t known_costs[2];

static uint64_t
run_batch (const struct rd_clock *clock)
{
  static const struct radio_site site = {
    "scope", "profiler", __func__, __FILE__, __LINE__, RADIO_SCOPE_WORK
  };
  uint64_t begin = rd_clock_now (clock);
  for (int i = 0; i < BATCH; i++)
    radio_scope_end (radio_scope_begin (&site));
  return rd_clock_now (clock) - begin;
}

static uint64_t
least_batch (struct rd_writer_state *writer)
{
  struct rd_writer_state *before = rd_this_thread.current;
  uint64_t least = UINT64_MAX;
  rd_this_thread.current = writer;
  for (int i = 0; i < NBATCHES; i++) {
    uint64_t ticks = run_batch (&writer->clock);
    if (ticks < least)
      least = ticks;
  }
  rd_this_thread.current = before;
  return least;
}

static uint64_t
measure (const struct rd_clock *clock)
{
  struct radio_recorder *recorder
    = rd_recorder_alone (clock, NBATCHES * BATCH * 2);
  if (!recorder)
    return 0;
  uint64_t cost = 0;
  struct rd_writer_state *writer = rd_recorder_take_writer (recorder);
  if (writer) {
    uint64_t ticks = least_batch (writer);
    cost = rd_rate_ns (&recorder->rate, ticks * 1024) / BATCH;
    rd_recorder_unref (recorder);
  }
  rd_recorder_unref (recorder);
  return cost;
}

double
rd_scope_cost_ns (const struct rd_clock *clock)
{
  _Atomic uint64_t *known = &known_costs[clock->tsc];
  uint64_t cost = atomic_load (known);
  if (cost == 0) {
    cost = measure (clock);
    atomic_store (known, cost);
  }
  return (double) cost / 1024;
}
