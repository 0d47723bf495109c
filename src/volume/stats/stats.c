/* SPDX-License-Identifier: MIT */
/* Statistics of arrays and volumes: their elements as a stream, which is
 * read ahead while a slab is being counted. */
#include <config.h>

#include <inttypes.h>

#include "src/base/error.h"
#include "profiler/counters.h"
#include "src/element/box.h"
#include "src/volume/stats/stats.h"
#include "src/volume/stream.h"
#include "src/volume/volume.h"

struct scanning {
  struct rd_stream stream;
  rd_take_fn *take;
  void *sink;
};

static enum radio_status
hand_on (void *user_data, void *data, size_t nbytes)
{
  struct scanning *scanning = user_data;
  scanning->take (scanning->sink, data, nbytes / scanning->stream.item_nbytes);
  return RADIO_OK;
}

static enum radio_status
scan_array (void *source, rd_take_fn *take, void *sink)
{
  struct scanning *scanning = source;
  scanning->take = take;
  scanning->sink = sink;
  return rd_stream_run (&scanning->stream, hand_on, scanning);
}

static enum radio_status
check_type_and_count (enum radio_dtype dtype, uint64_t count)
{
  if (count > RD_STATS_MAX_COUNT)
    return rd_fail (RADIO_ERROR_LIMIT,
                    "statistics of %" PRIu64 " elements would never be done; "
                    "at most %" PRIu64 " are possible", count,
                    RD_STATS_MAX_COUNT);
  return rd_stats_check (dtype);
}

/* An array may be the store itself: its path is empty then. */
static enum radio_status
check_array (const struct radio_array *array, const struct radio_box *box)
{
  enum radio_status status
    = check_type_and_count (array->doc->type.dtype, radio_box_count (box));
  if (status != RADIO_OK)
    return rd_fail_in (status, "%s%s%s", array->store->io->uri,
                       *array->path ? "/" : "", array->path);
  return rd_context_allows (array->store->context,
                            rd_stats_nbytes (array->doc->type.dtype),
                            "statistics");
}

/* Counting values is neither decoding nor moving: the operation's own. */
static const struct radio_site count_site = {
  "count values", RD_IN_OPERATION, "radio_volume_stats", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

static enum radio_status
compute (struct radio_array *array, double slope, double inter,
         struct radio_stats *stats)
{
  const struct rd_array_doc *doc = array->doc;
  struct scanning scanning = {
    .stream = {
      .array = array, .box = rd_box_whole (doc->rank, doc->shape),
      .dtype = doc->type.dtype, .item_nbytes = doc->type.item_nbytes,
      .site = &count_site,
    },
  };
  for (size_t i = 0; i < doc->rank; i++)
    scanning.stream.order[i] = i;
  RD_TRY (check_array (array, &scanning.stream.box));
  return rd_stats_compute (doc->type.dtype, slope, inter, scan_array,
                           &scanning, stats);
}

enum radio_status
radio_array_stats (struct radio_array *array, struct radio_stats *stats)
{
  if (array == NULL || stats == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "radio_array_stats: an argument is NULL");
  RD_SCOPE ("stats", RD_IN_OPERATION);
  RD_NOTE_NAME ("array", array->path);
  return rd_scope_end_with (compute (array, 1, 0, stats));
}

/* NIfTI's scaling is of numbers, not of colours. */
static bool
has_scaling (const struct radio_volume *volume)
{
  return !volume->meta.has_nifti
    || volume->meta.nifti.colour == RD_COLOUR_NONE;
}

enum radio_status
radio_volume_stats (struct radio_volume *volume, bool raw,
                    struct radio_stats *stats)
{
  if (volume == NULL || stats == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "radio_volume_stats: an argument is NULL");
  RD_SCOPE ("stats", RD_IN_OPERATION);
  RD_NOTE_NAME ("volume", volume->path);
  const struct radio_volume_info *info = &volume->info;
  bool scaled = !raw && has_scaling (volume);
  double slope = scaled ? info->scl_slope : 1;
  double inter = scaled ? info->scl_inter : 0;
  return rd_scope_end_with (compute (volume->array, slope, inter, stats));
}
