/* SPDX-License-Identifier: MIT */
/* Reading into the caller's memory: the requests are checked, then each
 * tile that was fetched is placed where its part of the box belongs. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "src/base/checked.h"
#include "profiler/counters.h"
#include "src/array/fetch.h"
#include "src/array/note.h"
#include "src/array/pages.h"
#include "src/element/box.h"
#include "src/element/copy.h"

struct read {
  struct rd_fetch fetch;
  enum radio_dtype dtype;             /* never STORED */
  size_t item_nbytes;                 /* delivered */
  bool scaled;
  double slope, inter;
};

/* Strides of the caller's memory. */
static void
find_strides (const struct read *read, const struct radio_request *request,
              int64_t *strides)
{
  if (request->strides)
    memcpy (strides, request->strides,
            request->box.rank * sizeof *strides);
  else
    (void) rd_c_strides (request->box.rank, request->box.size,
                         read->item_nbytes, strides);
}

/* Where, relative to some start, a point lies in memory. */
static int64_t
distance (size_t rank, const uint64_t *from, const uint64_t *to,
          const int64_t *strides)
{
  uint64_t sum = 0;
  for (size_t i = 0; i < rank; i++)
    sum += (to[i] - from[i]) * (uint64_t) strides[i];
  return (int64_t) sum;
}

static const struct radio_site fill_site = {
  "fill", RD_IN_PLACE, "place", __FILE__, __LINE__, RADIO_SCOPE_WORK
};
static const struct radio_site place_site = {
  "place", RD_IN_PLACE, "place", __FILE__, __LINE__, RADIO_SCOPE_WORK
};
static const struct radio_site convert_site = {
  "convert", RD_IN_PLACE, "place", __FILE__, __LINE__, RADIO_SCOPE_WORK
};

/* Put a part of a tile in order on its way to the caller. */
static void
unshuffle (const struct rd_view *view, const struct rd_copy *copy,
           int64_t offset)
{
  int64_t item_nbytes = (int64_t) copy->from_type.item_nbytes;
  struct rd_shuffled_box box = {
    .rank = copy->rank,
    .first = (size_t) (offset / item_nbytes),
    .to = copy->to,
  };
  memcpy (box.shape, copy->shape, sizeof box.shape);
  memcpy (box.to_steps, copy->to_strides, sizeof box.to_steps);
  for (size_t i = 0; i < copy->rank; i++)
    box.steps[i] = view->strides[i] / item_nbytes;
  rd_unshuffle_box (&view->block, &box);
}

/* What is delivered of a tile. */
static uint64_t
part_nbytes (const struct read *read, const struct radio_box *part)
{
  uint64_t nbytes = read->item_nbytes;
  for (size_t i = 0; i < part->rank; i++)
    if (rd_mul_overflows (nbytes, part->size[i], &nbytes))
      return UINT64_MAX;
  return nbytes;
}

/* Write a part of a tile to where a request wants it. */
static enum radio_status
deliver (const struct read *read, const struct radio_request *request,
         const struct radio_box *box, const struct radio_box *part,
         const struct rd_view *view)
{
  const struct rd_array_doc *doc = read->fetch.array->doc;
  struct rd_copy copy = {
    .rank = part->rank,
    .from = doc->fill,
    .from_type = doc->type,
    .to_dtype = read->dtype,
    .scaled = read->scaled,
    .slope = read->slope,
    .inter = read->inter,
  };
  memcpy (copy.shape, part->size, sizeof copy.shape);
  find_strides (read, request, copy.to_strides);
  copy.to = (unsigned char *) request->buffer
    + distance (part->rank, request->box.start, part->start,
                copy.to_strides);
  if (!view)
    return rd_copy_run (&copy);
  int64_t offset = distance (part->rank, box->start, part->start,
                             view->strides);
  if (view->shuffled) {
    unshuffle (view, &copy, offset);
    return RADIO_OK;
  }
  memcpy (copy.from_strides, view->strides, sizeof copy.from_strides);
  copy.from = view->data + offset;
  copy.from_swapped = view->swapped;
  return rd_copy_run (&copy);
}

static const struct rd_counter_set place_set = {
  .counters = { [RD_AMOUNT_BYTES] = &rd_count_delivered },
};

/* What is still shuffled is placed while its decoding's scope is open. */
static enum radio_status
place (struct rd_fetch *fetch, size_t number, const struct radio_box *box,
       const struct rd_view *view, uint64_t *nbytes)
{
  const struct read *read = (const struct read *) fetch;
  const struct radio_request *request = &fetch->requests[number];
  struct radio_box part;
  if (!rd_box_intersect (box, &request->box, &part))
    return RADIO_OK;
  if (view && view->shuffled) {
    *nbytes += part_nbytes (read, &part);
    return deliver (read, request, box, &part, view);
  }
  bool converts = read->scaled
    || read->dtype != fetch->array->doc->type.dtype;
  RD_COUNTING_SCOPE struct rd_counting counting = rd_count_next_in (
    !view ? &fill_site : converts ? &convert_site : &place_site, &place_set);
  counting.amounts[RD_AMOUNT_BYTES] = part_nbytes (read, &part);
  return deliver (read, request, box, &part, view);
}

static enum radio_status
check_box (const struct radio_array *array, const struct radio_box *box)
{
  const struct rd_array_doc *doc = array->doc;
  if (box->rank != doc->rank)
    return rd_fail (RADIO_ERROR_ARGUMENT, "the box has rank %zu, the array "
                    "'%s' has %zu", box->rank, array->path, doc->rank);
  for (size_t i = 0; i < doc->rank; i++)
    if (box->start[i] > doc->shape[i]
        || box->size[i] > doc->shape[i] - box->start[i])
      return rd_fail (RADIO_ERROR_ARGUMENT, "on axis %zu the box starts at %"
                      PRIu64 " and has size %" PRIu64 ", but the array '%s' "
                      "has %" PRIu64 " elements", i, box->start[i],
                      box->size[i], array->path, doc->shape[i]);
  return RADIO_OK;
}

/* Whether a request can be served: within the array and the buffer. */
static enum radio_status
check_request (const struct read *read, const struct radio_request *request)
{
  RD_TRY (check_box (read->fetch.array, &request->box));
  uint64_t count = radio_box_count (&request->box), nbytes;
  if (count == 0)
    return RADIO_OK;
  if (!request->buffer)
    return rd_fail (RADIO_ERROR_ARGUMENT, "the buffer is NULL");
  if (request->strides)
    return RADIO_OK;
  bool overflows = count == UINT64_MAX
    || rd_mul_overflows (count, read->item_nbytes, &nbytes);
  if (overflows || nbytes > request->nbytes)
    return rd_fail (RADIO_ERROR_ARGUMENT, "the buffer has %zu bytes, the box "
                    "needs %" PRIu64 " elements of %zu bytes",
                    request->nbytes, count, read->item_nbytes);
  return RADIO_OK;
}

/* Whether a request's elements follow each other along the last axis, and so
 * do those of a tile: then rows can be unshuffled straight into memory. */
static bool
takes_rows (const struct read *read, const struct radio_request *request)
{
  const struct rd_layout *layout = &read->fetch.array->layout;
  const struct radio_box *box = &request->box;
  if (box->rank == 0 || layout->chain->n_array > 0)
    return false;
  size_t last = box->rank - 1;
  return !request->strides || box->size[last] <= 1
    || request->strides[last] == (int64_t) read->item_nbytes;
}

/* Bytes of the tiles that a box touches. */
static uint64_t
count_tile_nbytes (const struct rd_layout *layout,
                   const struct radio_box *box)
{
  struct radio_box tiles;
  if (radio_box_count (box) == 0)
    return UINT64_MAX;
  rd_grid_touched (box, layout->tile.shape, &tiles);
  return rd_mul_sat (radio_box_count (&tiles), layout->tile_nbytes);
}

/* Planes of three directions may be read together. */
#define MAX_ADMISSIONS 3

/* Use the tiles that were decoded before, and find which ones to keep.  That
 * only works for chunks that never change, and only what is small beside the
 * cache is worth it. */
static void
look_back (struct read *read, struct rd_admission *admissions)
{
  struct rd_fetch *fetch = &read->fetch;
  struct radio_array *array = fetch->array;
  struct rd_tile_cache *cache = array->store->context->tiles;
  if (!cache || !array->layout.sharding || array->is_written)
    return;
  fetch->known = (struct rd_known) { cache, array->number };
  if (fetch->n > MAX_ADMISSIONS)
    return;
  uint64_t share = rd_tile_cache_share (cache);
  for (size_t i = 0; i < fetch->n; i++) {
    const struct radio_box *box = &fetch->requests[i].box;
    if (count_tile_nbytes (&array->layout, box) > share)
      return;
    rd_recent_note (&array->recent, box, &admissions[i]);
  }
  fetch->admissions = admissions;
  fetch->nadmissions = fetch->n;
}

static enum radio_status
read_requests (struct radio_array *array,
               const struct radio_request *requests, size_t n,
               enum radio_dtype dtype, const struct rd_scaling *scaling,
               bool is_once)
{
  const struct rd_type *stored = &array->doc->type;
  struct read read = {
    .fetch = { .array = array, .requests = requests, .n = n,
               .place = place },
    .dtype = dtype == RADIO_STORED ? stored->dtype : dtype,
    .scaled = scaling != NULL,
    .slope = scaling ? scaling->slope : 1,
    .inter = scaling ? scaling->inter : 0,
  };
  RD_TRY (rd_copy_check (stored, dtype, read.scaled));
  read.item_nbytes = read.dtype == stored->dtype
    ? stored->item_nbytes : radio_dtype_nbytes (read.dtype);
  read.fetch.takes_shuffled = !read.scaled && read.dtype == stored->dtype
    && read.dtype != RADIO_BOOL;
  for (size_t i = 0; i < n; i++) {
    enum radio_status status = check_request (&read, &requests[i]);
    if (status != RADIO_OK)
      return n == 1 ? status : rd_fail_in (status, "request %zu", i);
    read.fetch.takes_shuffled &= takes_rows (&read, &requests[i]);
  }
  RD_TRY (rd_pool_check (array->store->context->pool));
  rd_note_boxes (&array->layout, requests, n);
  struct rd_admission admissions[MAX_ADMISSIONS];
  if (array->is_complete && !is_once)
    look_back (&read, admissions);
  for (size_t i = 0; i < n && !array->store->context->no_huge_pages; i++)
    rd_pages_advise (&requests[i], read.item_nbytes);
  RD_TRY (rd_fetch_run (&read.fetch));
  return read.fetch.found_missing ? rd_fetch_check_array (array) : RADIO_OK;
}

enum radio_status
rd_array_read_scaled (struct radio_array *array,
                      const struct radio_request *requests, size_t n,
                      enum radio_dtype dtype,
                      const struct rd_scaling *scaling)
{
  return read_requests (array, requests, n, dtype, scaling, false);
}

enum radio_status
rd_array_read_once (struct radio_array *array,
                    const struct radio_request *request,
                    enum radio_dtype dtype, const struct rd_scaling *scaling)
{
  return read_requests (array, request, 1, dtype, scaling, true);
}

/* An array alone has no scaling: its values stand for themselves. */
static const struct rd_scaling unscaled = { 1, 0 };

static const struct rd_scaling *
scaling_of (const struct radio_read_options *options)
{
  return options && options->scaled ? &unscaled : NULL;
}

enum radio_status
radio_array_read_many (struct radio_array *array,
                       const struct radio_request *requests, size_t n,
                       enum radio_dtype dtype,
                       const struct radio_read_options *options)
{
  if (!array || (!requests && n > 0))
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_array_read_many: %s is "
                    "NULL", array ? "requests" : "array");
  RD_SCOPE ("read many", RD_IN_OPERATION);
  RD_NOTE_NAME ("array", array->path);
  return rd_scope_end_with (
    read_requests (array, requests, n, dtype, scaling_of (options), false));
}

enum radio_status
radio_array_read (struct radio_array *array, const struct radio_box *box,
                  enum radio_dtype dtype, void *buffer, size_t nbytes,
                  const struct radio_read_options *options)
{
  if (!array || !box)
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_array_read: %s is NULL",
                    array ? "box" : "array");
  RD_SCOPE ("read", RD_IN_OPERATION);
  RD_NOTE_NAME ("array", array->path);
  struct radio_request request = { .box = *box, .buffer = buffer,
                                   .nbytes = nbytes };
  if (options)
    request.strides = options->strides;
  return rd_scope_end_with (
    read_requests (array, &request, 1, dtype, scaling_of (options), false));
}
