/* SPDX-License-Identifier: MIT */
/* Statistics of elements that come in blocks from any source: for narrow
 * types by a table of all their values in one pass over the data, for wide
 * ones in several passes. */
#ifndef RD_STATS_H
#define RD_STATS_H

#include <radio/stats.h>

#include "src/element/type.h"

/* Consumes a block of elements. */
typedef void rd_take_fn (void *sink, const void *elements, size_t n);

/* Pass all elements to take, in blocks of any size; called once for each
 * pass over the data. */
typedef enum radio_status rd_scan_fn (void *source, rd_take_fn *take,
                                      void *sink);

/* RADIO_ERROR_UNSUPPORTED names a type that is not of real numbers. */
enum radio_status rd_stats_check (enum radio_dtype dtype) RADIO_USE_RESULT;

/* The most memory that rd_stats_compute takes. */
uint64_t rd_stats_nbytes (enum radio_dtype dtype);

/* Statistics of value * slope + inter over all elements of a real type
 * (rd_stats_check); slope is not 0. */
enum radio_status rd_stats_compute (enum radio_dtype dtype, double slope,
                                    double inter, rd_scan_fn *scan,
                                    void *source, struct radio_stats *stats)
  RADIO_USE_RESULT;

#endif /* RD_STATS_H */
