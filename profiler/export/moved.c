/* SPDX-License-Identifier: MIT */
/* Which counter of bytes speaks for a node. */
#include <config.h>

#include <string.h>

#include "src/base/checked.h"
#include "profiler/export/moved.h"

const struct rd_move rd_moves[RD_NMOVES] = {
  { "bytes delivered", "delivered" }, { "bytes encoded", "encoded" },
  { "bytes decoded", "decoded" }, { "bytes inflated", "inflated" },
  { "bytes written", "written" }, { "bytes fetched", "fetched" },
  { "bytes asked", "asked for" },
};

uint64_t
rd_moved (const struct radio_profile *profile, size_t node, bool inclusive)
{
  uint64_t most = 0;
  for (size_t i = 0; i < RD_NMOVES; i++) {
    uint64_t value = radio_profile_counter (profile, node,
                                            rd_moves[i].counter, inclusive);
    if (value > 0)
      return value;
  }
  for (size_t i = 0; i < profile->counters.n; i++)
    if (strcmp (profile->counters.at[i].unit, "bytes") == 0)
      most = rd_max_u64 (most, radio_profile_counter (
        profile, node, profile->counters.at[i].name, inclusive));
  return most;
}
