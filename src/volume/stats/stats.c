/* SPDX-License-Identifier: MIT */
/* Statistics of arrays and volumes: their elements as a stream, which is
 * read ahead while a slab is being processed. */
#include <config.h>

#include <inttypes.h>

#include "src/base/error.h"
#include "src/base/structs.h"
#include "profiler/counters.h"
#include "src/volume/stats/stats.h"
#include "src/volume/stream.h"
#include "src/volume/volume.h"

/* More elements than this cannot be read in a lifetime, and would not be
 * counted exactly. */
#define MAX_COUNT (UINT64_C (1) << 47)

/* The source of rd_stats_compute. */
struct array_scan {
  struct rd_stream stream;
  rd_take_fn *take;
  void *sink;
};

static enum radio_status
take_slab (void *user_data, void *data, size_t nbytes)
{
  struct array_scan *scan = user_data;
  scan->take (scan->sink, data, nbytes / scan->stream.item_nbytes);
  return RADIO_OK;
}

static enum radio_status
scan_array (void *source, rd_take_fn *take, void *sink)
{
  struct array_scan *scan = source;
  scan->take = take;
  scan->sink = sink;
  return rd_stream_run (&scan->stream, take_slab, scan);
}

/* Counting values is neither decoding nor moving: the operation's own. */
static const struct radio_site count_site = {
  "count values", RD_IN_OPERATION, "radio_volume_stats", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

enum radio_status
rd_stats_plan (struct radio_array *array, const struct rd_stats_more *more,
               struct rd_read_stop *stop, struct rd_stream *stream)
{
  *stream = rd_stream_of (array);
  stream->stop = stop;
  enum radio_dtype dtype = stream->dtype;
  uint64_t count = radio_box_count (&stream->box);
  enum radio_status status
    = count <= MAX_COUNT
      ? rd_stats_check (dtype)
      : rd_fail (RADIO_ERROR_LIMIT, "%" PRIu64 " elements; statistics "
                 "are of at most %" PRIu64, count,
                 MAX_COUNT);
  if (status == RADIO_OK)
    status = rd_context_allows (array->store->context,
                                rd_stats_nbytes (dtype, more),
                                "counting values");
  /* An array may be the store itself: its path is empty then. */
  if (status != RADIO_OK)
    return rd_fail_in (status, "%s%s%s", array->store->io->uri,
                       *array->path ? "/" : "", array->path);
  return RADIO_OK;
}

enum radio_status
rd_stats_array (struct radio_array *array, double slope, double inter,
                struct rd_read_stop *stop, struct rd_stats_more *more,
                struct radio_stats *stats)
{
  struct array_scan scan;
  RD_TRY (rd_stats_plan (array, more, stop, &scan.stream));
  scan.stream.site = &count_site;
  return rd_stats_compute (scan.stream.dtype, slope, inter, scan_array, &scan,
                           more, stats);
}

static enum radio_status
compute (struct radio_array *array, double slope, double inter,
         struct radio_stats *stats, size_t stats_nbytes)
{
  struct radio_stats full = { 0 };
  RD_TRY (rd_stats_array (array, slope, inter, NULL, NULL, &full));
  rd_fill_result (stats, stats_nbytes, &full, sizeof full);
  return RADIO_OK;
}

enum radio_status
(radio_array_stats) (struct radio_array *array, struct radio_stats *stats,
                     size_t stats_nbytes)
{
  RD_NOT_NULL (array);
  RD_NOT_NULL (stats);
  RD_SCOPE ("stats", RD_IN_OPERATION);
  RD_NOTE_NAME ("array", rd_array_name (array));
  return rd_scope_end_with (compute (array, 1, 0, stats, stats_nbytes));
}

enum radio_status
(radio_volume_stats) (struct radio_volume *volume, bool raw,
                      struct radio_stats *stats, size_t stats_nbytes)
{
  RD_NOT_NULL (volume);
  RD_NOT_NULL (stats);
  RD_SCOPE ("stats", RD_IN_OPERATION);
  RD_NOTE_NAME ("volume", volume->path);
  const struct radio_volume_info *info = &volume->info;
  /* NIfTI's scaling applies to numbers, not to colours. */
  bool scaled = !raw && (!volume->meta.has_nifti
                         || volume->meta.nifti.colour == RD_COLOUR_NONE);
  double slope = scaled ? info->scl_slope : 1;
  double inter = scaled ? info->scl_inter : 0;
  return rd_scope_end_with (
    compute (volume->array, slope, inter, stats, stats_nbytes));
}
