/* SPDX-License-Identifier: MIT */
/* Profiles with made-up figures. */
#include <config.h>

#include "tests/profiler/build.h"
#include "tests/tools/made-profiles.h"

struct radio_profile *
make_run (uint64_t read_us, uint64_t decode_us, const char *other,
          uint64_t other_us)
{
  struct radio_profile *profile = build_new ("run");
  uint32_t lane = build_lane (profile, "main");
  uint32_t read = build_node (profile, RD_NO_INDEX, "read", "operation");
  uint32_t decode = build_node (profile, read, "decode", "decode");
  uint32_t id = build_span (profile, lane, read, 0, 0, 1000 * read_us);
  build_span (profile, lane, decode, id, 0, 1000 * decode_us);
  if (other) {
    uint32_t node = build_node (profile, read, other, "disk");
    build_span (profile, lane, node, id, 1000 * decode_us,
                1000 * other_us);
  }
  build_finish (profile);
  return profile;
}

struct radio_profile *
make_runs (size_t n, enum radio_profile_parts parts, uint64_t read_us,
           uint64_t decode_us, uint64_t jitter_us, const char *other)
{
  struct radio_profile *runs[16], *joined = NULL;
  assert_true (n <= 16);
  for (size_t i = 0; i < n; i++) {
    uint64_t more = jitter_us * (i * 7 % n) / n;
    runs[i] = make_run (read_us + more, decode_us + more, other, 100);
  }
  assert_ok (radio_profile_join (runs, n, parts, &joined));
  for (size_t i = 0; i < n; i++)
    radio_profile_close (runs[i]);
  return joined;
}

struct radio_profile *
make_ranks (void)
{
  struct radio_profile *ranks[4], *joined = NULL;
  for (size_t i = 0; i < 4; i++)
    ranks[i] = i == 2 ? make_run (4000, 3000, NULL, 0)
                      : make_run (2000, 1000, NULL, 0);
  assert_ok (radio_profile_join (ranks, 4, RADIO_PARTS_RANKS, &joined));
  for (size_t i = 0; i < 4; i++)
    radio_profile_close (ranks[i]);
  return joined;
}

struct radio_profile *
make_longest (void)
{
  struct radio_profile *profile = build_new ("for ever");
  for (int i = 0; i < 2; i++) {
    uint32_t node = build_node (profile, RD_NO_INDEX, i ? "read" : "write",
                                "operation");
    build_times (profile, node, 1, INT64_MAX, INT64_MAX, 0, 0);
  }
  build_finish (profile);
  return profile;
}

struct radio_profile *
make_operation (const char *root, const char *operation, const char *box,
                const char *pid)
{
  struct radio_profile *profile = build_new ("operation");
  uint32_t read = build_node (profile, RD_NO_INDEX, root, "operation");
  uint32_t own = build_node (profile, read, "tiles", "");
  uint32_t other = build_edge_node (profile, read, "tiles", "",
                                    RADIO_EDGE_HANDOFF);
  build_times (profile, read, 1, 9000000, 0, 0, 0);
  build_times (profile, own, 1, 4000000, 0, 0, 0);
  build_times (profile, other, 1, 5000000, 0, 0, 0);
  build_fact (profile, "operation", operation, false);
  build_fact (profile, "box", box, false);
  build_fact (profile, "pid", pid, false);
  build_fact (profile, "only", root, false);
  build_finish (profile);
  return profile;
}

static void
add_number (struct radio_profile *profile, const char *key, uint64_t value)
{
  char text[32];
  snprintf (text, sizeof text, "%llu", (unsigned long long) value);
  build_fact (profile, key, text, false);
}

struct radio_profile *
make_loaded (const struct made_conditions *conditions)
{
  enum { NRUNS = 10 };
  struct radio_profile *runs[NRUNS], *joined = NULL;
  for (uint64_t i = 0; i < NRUNS; i++) {
    uint64_t part = 995 + i * 7 % NRUNS;        /* of 1000 */
    uint64_t wall_ns = conditions->wall_us * part
                       + (i == NRUNS - 1 ? 1000 * conditions->long_run_us : 0);
    uint64_t cpu_ns = conditions->cpu_us * part;
    uint64_t wait_ns = conditions->wait_us * part;
    runs[i] = build_new ("run");
    uint32_t read = build_node (runs[i], RD_NO_INDEX, "read", "operation");
    uint32_t decode = build_node (runs[i], read, "decode", "decode");
    build_times (runs[i], read, 1, wall_ns + wait_ns, wall_ns / 2 + wait_ns,
                 wall_ns / 2, wait_ns);
    build_times (runs[i], decode, 4, wall_ns / 2, wall_ns / 2, wall_ns / 2,
                 0);
    (void) build_node (runs[i], read, "never", "");
    for (size_t k = 0; k < 2 && !conditions->is_starved_unknown; k++)
      runs[i]->nodes.at[k].starved_ns = (wall_ns - cpu_ns) / 2;
    runs[i]->info.wall_ns = wall_ns + wait_ns;
    add_number (runs[i], RD_FACT_NCPUS, 2);
    add_number (runs[i], RD_FACT_PID,
                conditions->pid ? conditions->pid : 4711);
    add_number (runs[i], RD_FACT_CPU_NS, cpu_ns);
    add_number (runs[i], RD_FACT_MACHINE_NS,
                (conditions->are_ranks ? NRUNS : 1) * cpu_ns
                + 1000 * conditions->others_us
                + 500 * conditions->outside_us);
    uint64_t recorded_ns = wall_ns + 1000 * conditions->outside_us;
    bool is_cold = i < conditions->ncold;
    if (conditions->outside_us > 0) {
      add_number (runs[i], RD_FACT_RECORDED_NS, recorded_ns);
      add_number (runs[i], RD_FACT_RECORDED_CPU_NS,
                  cpu_ns + 500 * conditions->outside_us);
    }
    if (!is_cold && (conditions->outside_us > 0 || conditions->ncold > 0))
      add_number (runs[i], RD_FACT_NO_DISK_NS, recorded_ns);
    add_number (runs[i], RD_FACT_STEAL_NS, 1000 * conditions->steal_us);
    if (!is_cold)
      add_number (runs[i], RD_FACT_DISK_WAIT, 1000 * conditions->disk_wait_us);
    if (conditions->is_pressure_known && !is_cold)
      add_number (runs[i], RD_FACT_DISK_PRESSURE,
                  1000 * conditions->disk_pressure_us);
    add_number (runs[i], RD_FACT_BLOCK_INPUT, conditions->disk_nbytes);
    if (conditions->clock_mhz)
      add_number (runs[i], RD_FACT_CLOCK, conditions->clock_mhz);
    if (conditions->cpu_model)
      build_fact (runs[i], RD_FACT_CPU_MODEL, conditions->cpu_model, false);
    build_finish (runs[i]);
  }
  assert_ok (radio_profile_join (runs, NRUNS, conditions->are_ranks
                                 ? RADIO_PARTS_RANKS : RADIO_PARTS_RUNS,
                                 &joined));
  for (size_t i = 0; i < NRUNS; i++)
    radio_profile_close (runs[i]);
  return joined;
}
