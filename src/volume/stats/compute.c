/* SPDX-License-Identifier: MIT */
/* Statistics of blocks of elements: the choice of the way. */
#include <config.h>

#include <math.h>

#include "src/base/error.h"
#include "src/volume/stats/quantile.h"
#include "src/volume/select.h"
#include "src/volume/stats/stats.h"
#include "src/volume/stats/values.h"

void
rd_stats_clear (struct radio_stats *stats)
{
  *stats = (struct radio_stats) {
    .min = NAN, .max = NAN, .mean = NAN, .std = NAN, .bin_high = 1,
  };
  for (int i = 0; i < RADIO_STATS_NPERCENTILES; i++)
    stats->percentile[i] = NAN;
}

uint64_t
rd_stats_nbytes (enum radio_dtype dtype)
{
  if (rd_values_are_narrow (dtype))
    return rd_values_key_count (dtype) * 4 * sizeof (uint64_t);
  return rd_select_nbytes (RD_NRANKS);
}

enum radio_status
rd_stats_check (enum radio_dtype dtype)
{
  if (rd_dtype_is_complex (dtype) || radio_dtype_nbytes (dtype) == 0)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "statistics are of real numbers, not of %s",
                    radio_dtype_name (dtype));
  return RADIO_OK;
}

enum radio_status
rd_stats_compute (enum radio_dtype dtype, double slope, double inter,
                  rd_scan_fn *scan, void *source, struct radio_stats *stats)
{
  RD_TRY (rd_stats_check (dtype));
  struct radio_stats result;
  if (rd_values_are_narrow (dtype))
    RD_TRY (rd_stats_narrow (dtype, slope, inter, scan, source, &result));
  else
    RD_TRY (rd_stats_wide (dtype, slope, inter, scan, source, &result));
  *stats = result;
  return RADIO_OK;
}
