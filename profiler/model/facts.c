/* SPDX-License-Identifier: MIT */
/* Rules for facts when profiles are joined, cut, or compared. */
#include <config.h>

#include <string.h>

#include "profiler/model/profile.h"

static const struct rd_fact_rule rules[] = {
  { "command", RD_JOIN_LIST, false, true },
  { "limit flop/s", RD_JOIN_LIST, false, true },
  { "limit flop/s, 1 thread", RD_JOIN_LIST, false, true },
  { "limit memory bytes/s", RD_JOIN_LIST, false, true },
  { "limit memory bytes/s, 1 thread", RD_JOIN_LIST, false, true },
  { "made by", RD_JOIN_LIST, false, true },
  { "runs", RD_JOIN_LIST, false, true },
  { "seed", RD_JOIN_LIST, false, true },
  { "warmup", RD_JOIN_LIST, false, true },
  { RD_FACT_AWAY, RD_JOIN_SUM, true, true },
  { RD_FACT_AWAY_NS, RD_JOIN_SUM, true, true },
  { RD_FACT_BLOCK_INPUT, RD_JOIN_SUM, true, true },
  { RD_FACT_CLOCK, RD_JOIN_MEAN, false, true },
  { RD_FACT_CLOCK_JUMPS, RD_JOIN_SUM, false, true },
  { RD_FACT_CPU_LEAST_NS, RD_JOIN_SUM, true, true },
  { RD_FACT_CPU_NS, RD_JOIN_SUM, true, true },
  { RD_FACT_CPU_UNKNOWN, RD_JOIN_LIST, true, true },
  { RD_FACT_DAMAGE, RD_JOIN_LIST, true, true },
  { RD_FACT_DAMAGED, RD_JOIN_SUM, true, true },
  { RD_FACT_DISK_PRESSURE, RD_JOIN_MACHINES, true, true },
  { RD_FACT_DISK_WAIT, RD_JOIN_MACHINES, true, true },
  { RD_FACT_FAILED, RD_JOIN_LIST, true, true },
  { RD_FACT_INTERRUPTING, RD_JOIN_SUM, true, true },
  { RD_FACT_LEFT, RD_JOIN_SUM, true, true },
  { RD_FACT_MACHINE_NS, RD_JOIN_MACHINES, true, true },
  { RD_FACT_MAJOR, RD_JOIN_SUM, true, true },
  { RD_FACT_MINOR, RD_JOIN_SUM, true, true },
  { RD_FACT_NO_DISK_NS, RD_JOIN_MACHINES, true, true },
  { RD_FACT_NO_FILE, RD_JOIN_LIST, true, true },
  { RD_FACT_OUTSIDE, RD_JOIN_SUM, true, true },
  { RD_FACT_OWN_NS, RD_JOIN_SUM, true, true },
  { RD_FACT_PID, RD_JOIN_LIST, false, true },
  { RD_FACT_QUOTA_NS, RD_JOIN_MACHINES, true, true },
  { RD_FACT_RECORDED_CPU_NS, RD_JOIN_SUM, true, true },
  { RD_FACT_RECORDED_NS, RD_JOIN_MACHINES, true, true },
  { RD_FACT_RECOVERED, RD_JOIN_LIST, true, true },
  { RD_FACT_RESIDENT, RD_JOIN_PEAK, true, true },
  { RD_FACT_RING, RD_JOIN_PEAK, false, false },
  { RD_FACT_RING_BEGIN, RD_JOIN_LIST, true, true },
  { RD_FACT_SAMPLES, RD_JOIN_SUM, true, true },
  { RD_FACT_SEEN, RD_JOIN_LIST, true, true },
  { RD_FACT_SKIPPED, RD_JOIN_SUM, true, true },
  { RD_FACT_SLOW_BEGIN, RD_JOIN_LIST, false, true },
  { RD_FACT_SLOW_CPU, RD_JOIN_LIST, false, true },
  { RD_FACT_SLOW_DROPPED, RD_JOIN_SUM, true, true },
  { RD_FACT_SLOW_ERROR, RD_JOIN_LIST, true, true },
  { RD_FACT_SLOW_UNKNOWN, RD_JOIN_LIST, true, true },
  { RD_FACT_SLOW_WRITTEN, RD_JOIN_SUM, true, true },
  { RD_FACT_STEAL_NS, RD_JOIN_MACHINES, true, true },
  { RD_FACT_TEXTS, RD_JOIN_SUM, true, true },
  { RD_FACT_THREADS, RD_JOIN_SUM, true, true },
  { RD_FACT_THROTTLED, RD_JOIN_SUM, false, true },
  { RD_FACT_VALUES, RD_JOIN_SUM, true, true },
};

const struct rd_fact_rule *
rd_find_fact_rule (const char *key)
{
  static const struct rd_fact_rule others = { "", RD_JOIN_LIST, false, false };
  for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
    if (strcmp (rules[i].key, key) == 0)
      return &rules[i];
  return &others;
}
