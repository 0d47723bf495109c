/* SPDX-License-Identifier: MIT */
/* Statistics of an array's values, in one or two passes of bounded memory. */
#ifndef RADIO_STATS_H
#define RADIO_STATS_H

#include <radio/array.h>
#include <radio/base.h>
#include <radio/volume.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RADIO_STATS_NBINS 64
#define RADIO_STATS_NPERCENTILES 7

/* Where there is no value to tell of (an empty array, nothing but NaN),
 * min, max, mean, std and the percentiles are NaN. */
struct radio_stats {
  uint64_t count;             /* elements looked at */
  uint64_t nan_count;         /* NaN: in no other figure */
  uint64_t inf_count;         /* infinite: in min and max only */
  double min, max;            /* infinite when such a value is there */
  double mean, std;           /* population, of the finite values */
  /* 1, 5, 25, 50, 75, 95, 99 %, by linear interpolation between the order
   * statistics, as numpy's default; exact for integers of 8 and 16 bits,
   * for others too (by selection on the value's bits). */
  double percentile[RADIO_STATS_NPERCENTILES];
  /* Equal bins from min to max of the finite values, the last one closed,
   * as numpy.histogram has them. */
  uint64_t histogram[RADIO_STATS_NBINS];
  double bin_low, bin_high;   /* edges of the first and last bin */
};

/* Statistics of a whole array of real numbers (bool counts as 0 and 1).
 * Errors: RADIO_ERROR_UNSUPPORTED (complex or raw), those of reading. */
RADIO_API enum radio_status
radio_array_stats (struct radio_array *array, struct radio_stats *stats)
  RADIO_USE_RESULT;

/* The same of a volume: of scaled values, or with raw of stored ones. */
RADIO_API enum radio_status
radio_volume_stats (struct radio_volume *volume, bool raw,
                    struct radio_stats *stats) RADIO_USE_RESULT;

#ifdef __cplusplus
}
#endif

#endif /* RADIO_STATS_H */
