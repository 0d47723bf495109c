/* SPDX-License-Identifier: MIT */
/* Statistics that are kept beside a volume's level, in the object
 * LEVEL/statistics.json (docs/format.md): pipelines need no pass over the
 * voxels then.  The object is put atomically, and the volume's document is not
 * touched: no writer's work is lost, and a level that is removed takes its
 * statistics with it. */
#ifndef RD_KEPT_STATS_H
#define RD_KEPT_STATS_H

#include "src/volume/stats/stats.h"
#include "src/volume/volume.h"

/* The percentages that are kept, ascending. */
#define RD_KEPT_NMORE 6
#define RD_KEPT_NPERCENTS (RADIO_STATS_NPERCENTILES + RD_KEPT_NMORE)
extern const double rd_kept_percents[RD_KEPT_NPERCENTS];

/* Figures of all voxels, or of those that are not zero.  Without finite values
 * they are NaN. */
struct rd_kept_figures {
  uint64_t count, nan_count, inf_count;
  double low, high;           /* of finite values, as all that follow */
  double mean, std;
  double percentiles[RD_KEPT_NPERCENTS];
};

struct rd_kept_stats {
  struct rd_kept_figures all, nonzero;
};

/* Computes the statistics of a volume's scaled values; *full is what
 * radio_volume_stats gives of it. */
enum radio_status rd_kept_stats_compute (struct radio_volume *volume,
                                         struct rd_kept_stats *kept,
                                         struct radio_stats *full)
  RADIO_USE_RESULT;

/* True if they are the same, to the last bit. */
bool rd_kept_stats_equal (const struct rd_kept_stats *a,
                          const struct rd_kept_stats *b);

/* Puts them, if the volume is one of radio's and still has the level.
 * RADIO_ERROR_UNSUPPORTED says why statistics of a volume cannot be kept. */
enum radio_status rd_kept_stats_put (struct radio_volume *volume,
                                     const struct rd_kept_stats *kept)
  RADIO_USE_RESULT;

enum rd_kept_state {
  RD_KEPT_NONE,               /* there are none, or there cannot be any */
  RD_KEPT_CURRENT,
  RD_KEPT_STALE,              /* of another level, or of other shards */
  RD_KEPT_BAD,                /* damaged; the thread's message says how */
};

/* Reads the statistics of a volume, which has no pipeline, until stop (or
 * NULL); kept is set if they are current.  Unreadable ones count as not kept:
 * fails only without memory and if the read is to end. */
enum radio_status rd_kept_stats_get (struct radio_volume *volume,
                                     struct rd_read_stop *stop,
                                     struct rd_kept_stats *kept,
                                     enum rd_kept_state *state)
  RADIO_USE_RESULT;

/* Copies the statistics kept beside a level, if any, to the same level of
 * another volume, whose writer holds the level's lock: they are of the copied
 * shards, too.  Unreadable or damaged ones count as not kept. */
enum radio_status rd_kept_stats_copy (struct radio_store *from,
                                      const char *level_path,
                                      struct radio_store *to,
                                      const char *to_level_path)
  RADIO_USE_RESULT;

#endif /* RD_KEPT_STATS_H */
