/* SPDX-License-Identifier: MIT */
/* Triggers of a recorder, and the queue of runs that were slow. */
#include <config.h>

#include <stdlib.h>

#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "src/base/error.h"
#include "src/base/structs.h"
#include "profiler/model/sum.h"
#include "profiler/record/slow.h"

#define MINUTE_NS UINT64_C (60000000000)

static enum radio_status
fill (struct rd_slow *slow, const struct radio_slow_options *options,
      const struct rd_rate *rate)
{
  RD_TRY (RD_CHECK_RESERVED (radio_slow_options, options));
  if (!options->triggers || !options->report)
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_slow_options: %s is NULL",
                    options->triggers ? "report" : "triggers");
  if (options->per_minute > RD_SLOW_MOST_PER_MINUTE)
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_slow_options: per_minute is "
                    "%u; use 1 to %d, or 0 for %d", options->per_minute,
                    RD_SLOW_MOST_PER_MINUTE, RD_SLOW_PER_MINUTE);
  enum radio_status status = rd_triggers_parse (options->triggers,
                                                &slow->triggers);
  if (status != RADIO_OK)
    return rd_fail_in (status, "radio_slow_options: triggers");
  for (size_t i = 0; i < slow->triggers.n; i++) {
    const struct rd_trigger *trigger = &slow->triggers.at[i];
    uint64_t cpu = trigger->cpu_ns ? rd_rate_ticks (rate, trigger->cpu_ns)
                                   : UINT64_MAX;
    slow->wall[i] = trigger->wall_ns ? rd_rate_ticks (rate, trigger->wall_ns)
                                     : UINT64_MAX;
    slow->least[i] = rd_min_u64 (slow->wall[i], cpu);
  }
  slow->minute = rd_rate_ticks (rate, MINUTE_NS);
  slow->per_minute = options->per_minute ? options->per_minute
                                         : RD_SLOW_PER_MINUTE;
  slow->report = options->report;
  slow->user_data = options->user_data;
  slow->synced.runs = calloc (slow->per_minute, sizeof *slow->synced.runs);
  slow->taken = calloc (slow->per_minute, sizeof *slow->taken);
  slow->synced.ends_of_runs
    = calloc (slow->per_minute, sizeof *slow->synced.ends_of_runs);
  return slow->synced.runs && slow->taken && slow->synced.ends_of_runs
         ? RADIO_OK
         : rd_fail_memory (slow->per_minute * sizeof *slow->synced.runs);
}

enum radio_status
rd_slow_new (const struct radio_slow_options *options,
             const struct rd_rate *rate, struct rd_slow **result)
{
  struct rd_slow *slow = calloc (1, sizeof *slow);
  if (!slow)
    return rd_fail_memory (sizeof *slow);
  pthread_mutex_init (&slow->mutex, NULL);
  pthread_cond_init (&slow->changed, NULL);
  enum radio_status status = fill (slow, options, rate);
  if (status != RADIO_OK) {
    rd_slow_free (slow);
    return status;
  }
  *result = slow;
  return RADIO_OK;
}

void
rd_slow_free (struct rd_slow *slow)
{
  if (!slow)
    return;
  rd_triggers_free (&slow->triggers);
  free (slow->synced.runs);
  free (slow->taken);
  free (slow->synced.ends_of_runs);
  pthread_cond_destroy (&slow->changed);
  pthread_mutex_destroy (&slow->mutex);
  free (slow);
}

uint32_t
rd_slow_find (struct rd_slow *slow, const char *name)
{
  size_t i = slow ? rd_triggers_find (&slow->triggers, name) : 0;
  if (!slow || i == slow->triggers.n)
    return 0;
  for (size_t k = 0; k < slow->triggers.n; k++)
    if (rd_trigger_fits (&slow->triggers.at[k], name))
      atomic_store_explicit (&slow->is_known[k], true, memory_order_relaxed);
  return (uint32_t) i + 1;
}

/* True if the run leaves to each other trigger the rest of its quota of this
 * minute: else one that fires all the time would use all of it. */
static bool
leaves_quotas (const struct rd_slow *slow, const struct rd_slow_run *run,
               uint64_t end)
{
  const size_t quota = slow->per_minute / slow->triggers.n;
  const size_t nkept = rd_min_u64 (slow->synced.nqueued, slow->per_minute);
  size_t counts[RD_MAX_TRIGGERS] = { 0 };
  size_t ntaken = 0;
  for (size_t i = 0; i < nkept; i++) {
    const struct rd_slow_end *other = &slow->synced.ends_of_runs[i];
    if (rd_subtract (end, other->end) < slow->minute) {
      counts[other->trigger]++;
      ntaken++;
    }
  }
  for (size_t i = 0; i < slow->triggers.n; i++)
    if (i != run->trigger && counts[i] < quota)
      ntaken += quota - counts[i];
  return ntaken < slow->per_minute;
}

/* The mutex is held for moments alone: nothing else is locked meanwhile. */
static void
queue_run (struct rd_slow *slow, const struct rd_slow_run *run)
{
  const uint64_t end = run->begin + run->duration;
  RD_LOCK_SCOPE (&slow->mutex);
  struct rd_slow_end *oldest
    = &slow->synced.ends_of_runs[slow->synced.nqueued % slow->per_minute];
  bool is_often = slow->synced.nqueued >= slow->per_minute
                  && rd_subtract (end, oldest->end) < slow->minute;
  if (is_often || slow->synced.ends || slow->synced.n == slow->per_minute
      || !leaves_quotas (slow, run, end)) {
    slow->synced.counts.dropped++;
    return;
  }
  *oldest = (struct rd_slow_end) { end, run->trigger };
  slow->synced.nqueued++;
  size_t last = (slow->synced.first + slow->synced.n++) % slow->per_minute;
  slow->synced.runs[last] = *run;
  pthread_cond_signal (&slow->changed);
}

void
rd_slow_check (const struct rd_writer_state *writer,
               const struct rd_node *node, uint64_t sequence, uint64_t begin,
               uint64_t duration, uint64_t cpu_begin_ns)
{
  struct rd_slow *slow = writer->recorder->slow;
  if (!slow)                  /* of a recovered recorder */
    return;
  const uint32_t i = node->trigger - 1;
  struct rd_slow_run run = {
    .writer = writer->number, .sequence = sequence, .begin = begin,
    .duration = duration, .trigger = i,
  };
  bool is_slow = duration > slow->wall[i];
  const uint64_t cpu_ns = slow->triggers.at[i].cpu_ns;
  const uint64_t ns = rd_rate_ns (&writer->rate, duration);
  /* A thread has no more CPU time than there is time, but the readings of the
   * CPU clock are around those of the other. */
  if (cpu_ns > 0 && cpu_begin_ns != UINT64_MAX && ns > cpu_ns) {
    run.cpu_ns = rd_min_u64 (rd_subtract (rd_clock_cpu_ns (&writer->clock),
                                          cpu_begin_ns), ns);
    run.is_cpu = !is_slow && run.cpu_ns > cpu_ns;
    is_slow |= run.is_cpu;
  }
  if (is_slow)
    queue_run (slow, &run);
}

struct rd_slow_counts
rd_slow_counts (struct rd_slow *slow)
{
  RD_LOCK_SCOPE (&slow->mutex);
  return slow->synced.counts;
}
