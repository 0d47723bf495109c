/* SPDX-License-Identifier: MIT */
/* Statistics of an array's values, in bounded memory.  The array is read once
 * (types of 8 and 16 bits), twice (32 bits) or up to four times (64 bits). */
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

/* Without any value (an empty array, nothing but NaN) min, max, mean, std and
 * the percentiles are NaN, and the bins reach from 0 to 1.  A result: later
 * versions may add members at its end. */
struct radio_stats {
  uint64_t count;             /* elements */
  uint64_t nan_count;         /* NaN: not in any other figure */
  uint64_t inf_count;         /* infinite: in min and max only */
  double min, max;            /* infinite if such a value exists */
  double mean, std;           /* population, of the finite values */
  /* 1, 5, 25, 50, 75, 95, 99 %, by linear interpolation between the order
   * statistics, numpy's default; exact for every type (integers of 8 and 16
   * bits are counted, others selected by the value's bits). */
  double percentile[RADIO_STATS_NPERCENTILES];
  /* Equal bins from min to max of the finite values, the last one closed, as
   * in numpy.histogram. */
  uint64_t histogram[RADIO_STATS_NBINS];
  double bin_low, bin_high;   /* edges of the first and last bin */
};

/* Computes statistics of an array of real numbers (bool counts as 0 and 1).
 * Errors: RADIO_ERROR_UNSUPPORTED (complex or raw), RADIO_ERROR_LIMIT (also of
 * more than 2^47 elements), RADIO_ERROR_FORMAT (also of an array that was
 * written meanwhile), those of radio_array_read. */
RADIO_API enum radio_status
radio_array_stats (struct radio_array *array, struct radio_stats *stats,
                   size_t stats_nbytes)
  RADIO_USE_RESULT;
#define radio_array_stats(array, stats) \
  radio_array_stats (array, stats, sizeof (struct radio_stats))

/* The same for a volume: of values scaled by NIfTI's scl_slope and scl_inter,
 * or of stored ones if raw.  Colours are never scaled; their channels count as
 * elements. */
RADIO_API enum radio_status
radio_volume_stats (struct radio_volume *volume, bool raw,
                    struct radio_stats *stats, size_t stats_nbytes)
  RADIO_USE_RESULT;
#define radio_volume_stats(volume, raw, stats) \
  radio_volume_stats (volume, raw, stats, sizeof (struct radio_stats))

/* Computes the statistics of scaled values, and of those that are not zero, and
 * keeps them in the store: pipelines that begin with an operation that needs a
 * statistic (znorm, rescale from percentiles; flips, rot90 and reorient may be
 * before it) take it from there and read no voxel for it, for as long as the
 * volume has the same level and shards.  Percentiles are kept of 0, 0.5, 1, 2,
 * 5, 10, 25, 50, 75, 90, 95, 98, 99, 99.5 and 100 %; others take a pass.
 * The extremes that a rescale needs also follow, to the last bit, from the kept
 * ones through linear, clamp, window, rescale and znorm, unless the volume has
 * infinite values; means, deviations and percentiles do not, as each value is
 * rounded, nor does anything of a part of the volume or of a resampled one.
 * Replaces what was kept before, atomically.  stats (may be NULL) gets what
 * radio_volume_stats does.
 *
 * Errors: RADIO_ERROR_UNSUPPORTED (a file, a volume with a pipeline, colours,
 * data of other programs), RADIO_ERROR_NOT_FOUND (the volume was replaced or
 * removed meanwhile), those of radio_volume_stats and of writing. */
RADIO_API enum radio_status
radio_volume_keep_stats (struct radio_volume *volume,
                         struct radio_stats *stats, size_t stats_nbytes)
  RADIO_USE_RESULT;
#define radio_volume_keep_stats(volume, stats) \
  radio_volume_keep_stats (volume, stats, sizeof (struct radio_stats))

/* The most percentages of a group. */
#define RADIO_GROUP_MAX_PERCENTS 16

/* Opens volume i of a group, from 0, and its mask, or leaves that NULL.  Called
 * on the calling thread, for each volume in turn, in each pass over the group.
 * Both are closed by radio_volume_close when they have been read, also after an
 * error of this function that has set them. */
typedef enum radio_status
radio_group_open_fn (size_t i, struct radio_volume **volume,
                     struct radio_volume **mask, void *user_data);

/* Figures of a group of volumes.  Valid during the callback.  Later versions
 * may add members at the end. */
struct radio_group_figures {
  const int64_t *label;               /* NULL: of all labels above 0, or
                                         without masks */
  const struct radio_stats *stats;
  const double *percentiles;          /* those of options.percents, NaN without
                                         values */
  const uint64_t *bins;               /* options.nbins counts */
};

/* Called for each label, in their order; anything but RADIO_OK ends it and is
 * returned. */
typedef enum radio_status
radio_group_fn (const struct radio_group_figures *figures, void *user_data);

/* Zero-filled members are defaults. */
struct radio_group_options {
  bool raw;                           /* see radio_volume_stats */

  /* Count the voxels whose mask is each of these labels; none: those whose mask
   * is above 0.  Without a mask the whole volume is counted, and labels are an
   * error. */
  const int64_t *labels;
  size_t nlabels;

  /* A label that is left out, if has_ignored. */
  int64_t ignored;
  bool has_ignored;

  /* Percentages of percentiles, each from 0 to 100, at most
   * RADIO_GROUP_MAX_PERCENTS, besides those of struct radio_stats. */
  const double *percents;
  size_t npercents;

  /* A histogram of equal bins from low to high, closed at both ends, as
   * numpy.histogram (range=...) counts it; 0: none. */
  size_t nbins;
  double low, high;

  /* Must be zero: later versions may have members here. */
  uint64_t reserved[6];
};

/* Computes statistics of the voxels of n volumes together, as if they were one
 * array, where their masks choose them; report gets them for each label.  All
 * are exact.  Volumes of 8 and 16 bits are read once: their values are counted,
 * in 1 MiB for each label, for each combination of type and scaling (at most
 * 16).  If there are more of these, or other types, volumes are read up to four
 * times, with some 20 MiB for each label.
 *
 * A mask must be on the grid of its volume, as radio_store_check_pairs
 * (radio/pairs.h) checks it, and may lack axes of length 1 and t and c, whose
 * elements then have the same mask.  A voxel that is no integer in the mask has
 * no label, but is above 0 or not.
 *
 * Errors: RADIO_ERROR_ARGUMENT (labels without a mask; percentages, a number of
 * bins above 2^20 or a range that cannot be; a mask on another grid: the
 * message has both values), RADIO_ERROR_UNSUPPORTED (complex or raw; axes of
 * the mask in another order), RADIO_ERROR_LIMIT, those of open, report and
 * radio_volume_read. */
RADIO_API enum radio_status
radio_group_stats (size_t n, radio_group_open_fn *open,
                   const struct radio_group_options *options,
                   radio_group_fn *report, void *user_data) RADIO_USE_RESULT;

#ifdef __cplusplus
}
#endif

#endif /* RADIO_STATS_H */
