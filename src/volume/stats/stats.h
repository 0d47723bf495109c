/* SPDX-License-Identifier: MIT */
/* Statistics of elements that come in blocks from any source: for narrow
 * types by a table of all their values in one pass over the data, for wide
 * ones in several passes. */
#ifndef RD_STATS_H
#define RD_STATS_H

#include <radio/stats.h>

#include "src/element/type.h"

struct radio_array;
struct rd_range_bins;
struct rd_stats_more;
struct rd_read_stop;
struct rd_stream;

/* Consumes a block of elements. */
typedef void rd_take_fn (void *sink, const void *elements, size_t n);

/* Pass all elements to take, in blocks of any size; called once for each
 * pass over the data. */
typedef enum radio_status rd_scan_fn (void *source, rd_take_fn *take,
                                      void *sink);

/* RADIO_ERROR_UNSUPPORTED names a type that is not of real numbers. */
enum radio_status rd_stats_check (enum radio_dtype dtype) RADIO_USE_RESULT;

/* The most memory that computing takes; more may be NULL. */
uint64_t rd_stats_nbytes (enum radio_dtype dtype,
                          const struct rd_stats_more *more);

/* The most percentiles besides those of radio_stats. */
#define RD_STATS_MAX_PERCENTS RADIO_GROUP_MAX_PERCENTS

/* Figures that radio_stats does not have. */
struct rd_stats_more {
  /* Set by the caller: zeros are left out, also of the others; the percentiles
   * and the histogram of radio_stats are not wanted, which take passes and
   * memory; percentages that are wanted. */
  bool nonzero, no_usual;
  size_t npercents;
  double percents[RD_STATS_MAX_PERCENTS];

  /* Their percentiles, and the extremes of finite values; NaN without any. */
  double percentiles[RD_STATS_MAX_PERCENTS];
  double low, high;

  /* A histogram of the finite values in a range, to which is added; NULL: none
   * is wanted. */
  const struct rd_range_bins *bins;
};

/* A table of counts of the values of a narrow type (src/volume/stats/values.h),
 * which are scaled; slope is not 0. */
struct rd_counts {
  enum radio_dtype dtype;
  double slope, inter;
  uint64_t *counts;           /* as rd_values_count has them */
};

/* The bits of a narrow type's keys, at most. */
#define RD_MAX_NARROW_NBITS 16

/* Counts elements in a table: an rd_take_fn, whose sink is a struct
 * rd_counts. */
void rd_counts_add (void *counts, const void *elements, size_t n);

/* Statistics of the values of n tables together. */
enum radio_status rd_stats_of_counts (const struct rd_counts *counts, size_t n,
                                      struct rd_stats_more *more,
                                      struct radio_stats *stats)
  RADIO_USE_RESULT;

/* Statistics of elements of a type of 32 or 64 bits that are added in several
 * passes, the same ones in each. */
struct rd_wide_stats;
enum radio_status rd_wide_open (enum radio_dtype dtype, double slope,
                                double inter, struct rd_stats_more *more,
                                struct radio_stats *stats,
                                struct rd_wide_stats **wide)
  RADIO_USE_RESULT;
void rd_wide_close (struct rd_wide_stats *wide);

/* Adds elements: an rd_take_fn. */
void rd_wide_add (void *wide, const void *elements, size_t n);

/* Ends a pass; is_done: the statistics are complete, and no further pass is
 * needed. */
enum radio_status rd_wide_end_pass (struct rd_wide_stats *wide, bool *is_done)
  RADIO_USE_RESULT;

/* Statistics of value * slope + inter over all elements of a real type
 * (rd_stats_check); slope is not 0.  Their bits do not depend on the blocks in
 * which elements come.  more may be NULL. */
enum radio_status rd_stats_compute (enum radio_dtype dtype, double slope,
                                    double inter, rd_scan_fn *scan,
                                    void *source, struct rd_stats_more *more,
                                    struct radio_stats *stats)
  RADIO_USE_RESULT;

/* Plans a pass over all elements of an array, in C order, whose values can be
 * counted in the memory that the context allows. */
enum radio_status rd_stats_plan (struct radio_array *array,
                                 const struct rd_stats_more *more,
                                 struct rd_read_stop *stop,
                                 struct rd_stream *stream) RADIO_USE_RESULT;

/* The statistics of an array, which is read until stop, which may be NULL. */
enum radio_status rd_stats_array (struct radio_array *array, double slope,
                                  double inter, struct rd_read_stop *stop,
                                  struct rd_stats_more *more,
                                  struct radio_stats *stats)
  RADIO_USE_RESULT;

#endif /* RD_STATS_H */
