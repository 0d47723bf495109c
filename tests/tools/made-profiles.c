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
