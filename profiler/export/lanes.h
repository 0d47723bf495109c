/* SPDX-License-Identifier: MIT */
/* How lanes are called and numbered in the formats of others. */
#ifndef RD_LANES_H
#define RD_LANES_H

#include "profiler/model/profile.h"

/* The number of each lane as a thread: the one that the operating system
 * gave it, so that it can be found in other tools; another where two lanes
 * have the same, or none.  All are different, and none is 0. */
struct rd_lane_ids {
  uint64_t *tid;
};

/* RADIO_ERROR_MEMORY. */
enum radio_status rd_lane_ids_make (const struct radio_profile *profile,
                                    struct rd_lane_ids *ids)
  RADIO_USE_RESULT;

void rd_lane_ids_free (struct rd_lane_ids *ids);

#define RD_LANE_IDS_SCOPE RD_CLEANUP (rd_lane_ids_free)

/* The number of a lane's process: one for each rank, else 1. */
static inline unsigned
rd_lane_pid (const struct radio_profile *profile, uint32_t lane)
{
  return profile->info.parts == RADIO_PARTS_RANKS
    ? profile->lanes.at[lane].part + 1 : 1;
}

/* The name of a lane within its process: without that of its rank in front,
 * which joining puts there. */
const char *rd_lane_short_name (const struct radio_profile *profile,
                                uint32_t lane);

/* The first note of a span, or some other note if it has none. */
size_t rd_lanes_first_note (const struct radio_profile *profile,
                            uint32_t span_id);

#endif /* RD_LANES_H */
