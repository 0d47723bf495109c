/* SPDX-License-Identifier: MIT */
/* Reading into the caller's memory: the requests are checked, then the part of
 * each tile that is in the box is copied to its place. */
#include <config.h>

#include <inttypes.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "src/base/cancel.h"
#include "src/base/checked.h"
#include "src/base/structs.h"
#include "profiler/counters.h"
#include "src/array/derived.h"
#include "src/array/fetch.h"
#include "src/array/layout.h"
#include "src/array/linear.h"
#include "src/array/sampled.h"
#include "src/element/pages.h"
#include "src/element/box.h"
#include "src/element/copy.h"

/* A read that delivers as much or more leaves most last-level caches with
 * nothing of its beginning. */
#define LARGE_NBYTES ((uint64_t) 16 << 20)

/* Planes of three directions may be read together. */
#define MAX_ADMISSIONS 3

struct read {
  struct rd_tile_read tiles;          /* of the source, if it is derived */
  struct radio_array *array;
  enum radio_dtype dtype;             /* never STORED */
  size_t item_nbytes;                 /* delivered */
  bool scaled;
  double slope, inter;
  bool maps;                          /* values are computed: by map */
  struct rd_row_map map;
  bool loads;                         /* they are converted by loader: by map */
  struct rd_row_program loader;
  struct rd_pieces pieces;            /* the requests, if it is derived */
  bool is_large;                      /* all that is delivered */
  struct rd_pages pages;              /* of the first request as it was given */
  atomic_bool has_nan;                /* some value that was computed */
  radio_warning_fn *warning;          /* of it; or NULL */
  void *user_data;
  struct rd_read_stop stop;           /* if the caller may end it */
  struct rd_admission admissions[MAX_ADMISSIONS];
};

/* Returns the distance in memory between two points. */
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

/* One pass does all operations of a pipeline with values; the scope has the
 * name of the operation where there is one, and counts them by name. */
#define OPERATION(name) \
  { name, RD_IN_PLACE, "place", __FILE__, __LINE__, RADIO_SCOPE_WORK }

static const struct radio_site operate_site = OPERATION ("operate");
static const struct radio_site operation_sites[RD_OP_FIRST_SPATIAL] = {
  [RD_OP_LINEAR] = OPERATION ("linear"),
  [RD_OP_CLAMP] = OPERATION ("clamp"),
  [RD_OP_RESCALE] = OPERATION ("rescale"),
  [RD_OP_WINDOW] = OPERATION ("window"),
  [RD_OP_GAMMA] = OPERATION ("gamma"),
  [RD_OP_ZNORM] = OPERATION ("znorm"),
};

/* Returns the site of a program; that of conversion if it has no operations. */
static const struct radio_site *
site_of_program (const struct rd_row_program *program)
{
  if (program->nkernels == 0)
    return &convert_site;
  for (size_t i = 1; i < program->nkernels; i++)
    if (program->kernels[i].operation != program->kernels[0].operation)
      return &operate_site;
  return &operation_sites[program->kernels[0].operation];
}

/* How a part of a request is repeated; NULL if it is not. */
static const struct rd_piece *
repeated_piece (const struct read *read, size_t number)
{
  const struct rd_piece *piece = read->pieces.list
    ? &read->pieces.list[number] : NULL;
  return piece && piece->repeats ? piece : NULL;
}

/* Returns where a part of a request's box is delivered, and sets its
 * strides. */
static unsigned char *
find_part (const struct read *read, const struct radio_request *request,
           const struct radio_box *part, int64_t *strides)
{
  (void) rd_given_strides (request->strides, part->rank, request->box.size,
                           read->item_nbytes, strides);
  return (unsigned char *) request->buffer
    + distance (part->rank, request->box.start, part->start, strides);
}

/* True if elements are delivered as they are stored.  Bools are checked when
 * they are copied. */
static bool
delivers_stored (const struct read *read)
{
  return !read->scaled && !read->maps && read->dtype != RADIO_BOOL
         && read->dtype == read->tiles.array->doc->type.dtype;
}

/* True if values are computed of elements of the type that is delivered. */
static bool
computes_in_place (const struct read *read)
{
  const struct rd_row_program *program = read->map.program;
  return read->maps && program->from == read->dtype
         && program->compute == read->dtype && program->slope == 1
         && program->inter == 0;
}

static unsigned char *
find_destination (const struct rd_tile_read *tiles, size_t number,
                  const struct radio_box *box, const int64_t *strides,
                  bool *computes)
{
  const struct read *read = (const struct read *) tiles;
  int64_t wanted[RADIO_MAX_RANK];
  if (computes)
    *computes = computes_in_place (read);
  if (!(computes && *computes) && !delivers_stored (read))
    return NULL;
  if (repeated_piece (read, number))
    return NULL;
  unsigned char *to = find_part (read, &tiles->requests[number], box, wanted);
  for (size_t i = 0; i < box->rank; i++)
    if (box->size[i] > 1 && wanted[i] != strides[i])
      return NULL;
  return to;
}

/* Populates the huge pages that a part is delivered to. */
static void
populate_part (struct read *read, const struct rd_box_copy *copy)
{
  uintptr_t begin;
  if (read->pages.n == 0)
    return;
  uint64_t span = rd_strided_span (copy->to, copy->rank, copy->shape,
                                   copy->to_strides, read->item_nbytes,
                                   &begin);
  rd_pages_populate (&read->pages, (const void *) begin, span);
}

/* Copies a part of a tile to where a request wants it. */
static enum radio_status
deliver (struct read *read, size_t number, const struct radio_box *box,
         const struct radio_box *part, const struct rd_view *view)
{
  const struct radio_request *request = &read->tiles.requests[number];
  const struct rd_piece *repeated = repeated_piece (read, number);
  const struct rd_array_doc *doc = read->tiles.array->doc;
  struct rd_box_copy copy = {
    .rank = part->rank,
    .from = doc->fill,
    .from_type = doc->type,
    .to_dtype = read->dtype,
    .scaled = read->scaled,
    .slope = read->slope,
    .inter = read->inter,
    .map = read->maps || read->loads ? rd_row_map_run : NULL,
    .map_data = &read->map,
    .is_large = read->is_large,
  };
  memcpy (copy.shape, part->size, sizeof copy.shape);
  for (size_t i = 0; repeated && i < part->rank; i++)
    if (repeated->repeat[i] > 1)
      copy.shape[i] = repeated->repeat[i];
  copy.to = find_part (read, request, part, copy.to_strides);
  populate_part (read, &copy);
  if (!view)
    return rd_box_copy_run (&copy);
  int64_t offset = distance (part->rank, box->start, part->start,
                             view->strides);
  if (!view->shuffled) {
    memcpy (copy.from_strides, view->strides, sizeof copy.from_strides);
    for (size_t i = 0; repeated && i < part->rank; i++)
      if (repeated->repeat[i] > 1)
        copy.from_strides[i] = 0;
    copy.from = view->data + offset;
    copy.from_swapped = view->swapped;
    /* In place, as it is. */
    if (copy.from == copy.to && !copy.map)
      return RADIO_OK;
    return rd_box_copy_run (&copy);
  }
  int64_t item_nbytes = (int64_t) doc->type.item_nbytes;
  struct rd_shuffled_box elements = {
    .rank = part->rank,
    .first = (size_t) (offset / item_nbytes),
    .to = copy.to,
  };
  memcpy (elements.shape, copy.shape, sizeof elements.shape);
  memcpy (elements.to_steps, copy.to_strides, sizeof elements.to_steps);
  for (size_t i = 0; i < part->rank; i++)
    elements.steps[i] = view->strides[i] / item_nbytes;
  rd_unshuffle_box (&view->block, &elements);
  return RADIO_OK;
}

static const struct rd_counter_set place_set = {
  .counters = {
    [RD_AMOUNT_BYTES] = &rd_count_delivered,
    [RD_AMOUNT_MORE_BYTES] = &rd_count_converted,
  },
};
static const struct rd_counter_set operate_set = {
  .counters = {
    [RD_AMOUNT_BYTES] = &rd_count_delivered,
    [RD_AMOUNT_MORE_BYTES] = &rd_count_converted,
    [RD_AMOUNT_OTHER] = &rd_count_operated,
  },
};

/* Shuffled elements are placed within the scope of their decoding. */
static enum radio_status
place (struct rd_tile_read *tiles, size_t number,
       const struct radio_box *box, const struct rd_view *view,
       uint64_t *nbytes)
{
  struct read *read = (struct read *) tiles;
  const struct radio_request *request = &tiles->requests[number];
  struct radio_box part;
  if (!rd_box_intersect (box, &request->box, &part))
    return RADIO_OK;
  const struct rd_type *stored = &tiles->array->doc->type;
  const struct rd_piece *repeated = repeated_piece (read, number);
  uint64_t count = radio_box_count (&part);
  for (size_t i = 0; repeated && i < part.rank; i++)
    count = rd_mul_sat (count, repeated->repeat[i]);
  uint64_t part_nbytes = rd_mul_sat (count, read->item_nbytes);
  if (view && view->shuffled) {
    *nbytes += part_nbytes;
    return deliver (read, number, box, &part, view);
  }
  bool converts = read->scaled || read->maps || read->dtype != stored->dtype;
  RD_COUNTING_SCOPE struct rd_counting counting = rd_count_next_in (
    read->maps ? site_of_program (read->map.program) : !view ? &fill_site
    : converts ? &convert_site : &place_site,
    read->maps ? &operate_set : &place_set);
  counting.amounts[RD_AMOUNT_BYTES] = part_nbytes;
  if (converts)
    counting.amounts[RD_AMOUNT_MORE_BYTES]
      = rd_mul_sat (count, stored->item_nbytes);
  if (read->maps) {
    counting.amounts[RD_AMOUNT_OTHER]
      = rd_mul_sat (count, read->map.program->nkernels);
    rd_row_count (read->map.program, count);
  }
  return deliver (read, number, box, &part, view);
}

static enum radio_status
compute (struct rd_tile_read *tiles, unsigned char *to,
         const unsigned char *from, size_t nbytes,
         const unsigned char *rest, size_t rest_nbytes)
{
  const struct read *read = (const struct read *) tiles;
  size_t item_nbytes = read->item_nbytes;
  uint64_t count = (nbytes + rest_nbytes) / item_nbytes;
  const struct rd_rows rows = {
    .from = from, .to = to, .n = nbytes / item_nbytes, .nrows = 1,
  };
  const struct rd_rows others = {
    .from = rest, .to = to + nbytes, .n = rest_nbytes / item_nbytes, .nrows = 1,
  };
  RD_COUNTING_SCOPE struct rd_counting counting
    = rd_count_next_in (site_of_program (read->map.program), &operate_set);
  counting.amounts[RD_AMOUNT_BYTES] = nbytes + rest_nbytes;
  counting.amounts[RD_AMOUNT_MORE_BYTES] = nbytes + rest_nbytes;
  counting.amounts[RD_AMOUNT_OTHER]
    = rd_mul_sat (count, read->map.program->nkernels);
  rd_row_count (read->map.program, count);
  RD_TRY (rd_row_map_run (&read->map, &rows));
  return rest_nbytes > 0 ? rd_row_map_run (&read->map, &others) : RADIO_OK;
}

enum radio_status
rd_array_check_box (const struct radio_array *array,
                    const struct radio_box *box)
{
  const struct rd_array_doc *doc = array->doc;
  enum radio_status status = RADIO_OK;
  if (box->rank != doc->rank)
    status = rd_fail (RADIO_ERROR_ARGUMENT, "the box has rank %zu, the array "
                      "has %zu", box->rank, doc->rank);
  for (size_t i = 0; i < doc->rank && status == RADIO_OK; i++)
    if (box->start[i] > doc->shape[i]
        || box->size[i] > doc->shape[i] - box->start[i])
      status = rd_fail (RADIO_ERROR_ARGUMENT, "on axis %zu the box starts at %"
                        PRIu64 " and has size %" PRIu64 ", but the array has "
                        "%" PRIu64 " elements", i, box->start[i],
                        box->size[i], doc->shape[i]);
  return status == RADIO_OK ? status : rd_array_fail_in (array, status);
}

/* Checks that a request is within the array and its buffer. */
static enum radio_status
check_request (const struct read *read, const struct radio_request *request)
{
  const struct radio_array *array = read->array;
  RD_TRY (rd_array_check_box (array, &request->box));
  uint64_t count = radio_box_count (&request->box), nbytes;
  if (count == 0)
    return RADIO_OK;
  if (!request->buffer)
    return rd_array_fail_in (array, rd_fail (RADIO_ERROR_ARGUMENT,
                                             "the buffer is NULL"));
  if (request->strides)
    return RADIO_OK;
  bool overflows = count == UINT64_MAX
    || rd_mul_overflows (count, read->item_nbytes, &nbytes);
  if (!overflows && nbytes <= request->nbytes)
    return RADIO_OK;
  rd_fail (RADIO_ERROR_ARGUMENT, "the buffer has %zu bytes, the box needs %"
           PRIu64 " elements of %zu bytes", request->nbytes, count,
           read->item_nbytes);
  return rd_array_fail_in (array, RADIO_ERROR_ARGUMENT);
}

/* True when elements are contiguous along the last axis, both of a request and
 * of a tile: then rows can be unshuffled straight into memory. */
static bool
takes_rows (const struct read *read, size_t number)
{
  const struct radio_request *request = &read->tiles.requests[number];
  const struct rd_layout *layout = &read->tiles.array->layout;
  const struct radio_box *box = &request->box;
  if (box->rank == 0 || layout->chain->n_array > 0
      || repeated_piece (read, number))
    return false;
  size_t last = box->rank - 1;
  return !request->strides || box->size[last] <= 1
    || request->strides[last] == (int64_t) read->item_nbytes;
}

/* Uses cached tiles, and finds which ones to add.  That only works for chunks
 * that never change, and is only worth it for reads that are small relative to
 * the cache. */
static void
use_cache (struct rd_tile_read *tiles, struct rd_admission *admissions)
{
  struct radio_array *array = tiles->array;
  struct rd_tile_cache *cache = array->store->context->tiles;
  if (!cache || !array->layout.sharding || array->is_written)
    return;
  tiles->cache = (struct rd_cache_ref) { cache, array->number };
  if (tiles->n > MAX_ADMISSIONS)
    return;
  for (size_t i = 0; i < tiles->n; i++) {
    const struct radio_box *box = &tiles->requests[i].box;
    struct radio_box cells;
    if (radio_box_count (box) == 0)
      return;
    rd_grid_touched (box, array->layout.tile.shape, &cells);
    if (rd_mul_sat (radio_box_count (&cells), array->layout.tile_nbytes)
        > rd_tile_cache_share (cache))
      return;
    rd_read_history_add (&array->history, box, &admissions[i]);
  }
  tiles->admissions = admissions;
  tiles->nadmissions = tiles->n;
}

/* Replaces the requests, which are checked, by those for the source. */
static enum radio_status
cut_requests (struct read *read)
{
  struct rd_derived *derived = read->array->derived;
  struct rd_tile_read *tiles = &read->tiles;
  RD_TRY (rd_derived_complete (derived, tiles->stop));
  const struct rd_row_program padding = {
    .from = derived->program.compute, .compute = derived->program.compute,
    .slope = 1, .saturates = derived->program.saturates,
  };
  const struct rd_row_map map = { &padding, read->dtype, &read->has_nan };
  struct rd_box_copy delivery = {
    .from_type = derived->source->doc->type,
    .to_dtype = read->dtype,
    .scaled = read->scaled,
    .slope = read->slope,
    .inter = read->inter,
  };
  if (derived->computes) {
    read->maps = true;
    read->map = (struct rd_row_map) {
      &derived->program, read->dtype, &read->has_nan,
    };
    delivery.from_type = rd_type_of (padding.compute);
    delivery.scaled = read->scaled = false;
    delivery.map = rd_row_map_run;
    delivery.map_data = &map;
  }
  RD_TRY (rd_derived_cut (derived, tiles->requests, tiles->n, &delivery,
                          read->item_nbytes, &read->pieces));
  tiles->array = derived->source;
  tiles->requests = read->pieces.requests;
  tiles->n = read->pieces.n;
  return RADIO_OK;
}

/* Checks that elements can be delivered as wanted. */
static enum radio_status
check_delivery (const struct read *read, enum radio_dtype dtype)
{
  const struct radio_array *array = read->array;
  if (array->doc->type.dtype == RADIO_STRING)
    return rd_array_fail_in (array, rd_fail (
      RADIO_ERROR_ARGUMENT, "an array of strings; use "
      "radio_array_read_strings"));
  bool computes = array->derived && array->derived->computes;
  enum radio_status status = computes && !read->scaled
    ? rd_row_check (read->dtype)
    : rd_box_copy_check (&array->doc->type, dtype, read->scaled);
  return status == RADIO_OK ? status : rd_array_fail_in (array, status);
}

/* Small integers become float32, scaled or not, by the vectors that pipelines
 * have for that: a program without operations. */
static void
set_loader (struct read *read)
{
  enum radio_dtype from = read->tiles.array->doc->type.dtype;
  bool is_small = from == RADIO_INT8 || from == RADIO_INT16
                  || from == RADIO_UINT8 || from == RADIO_UINT16;
  read->loads = is_small && !read->maps && read->dtype == RADIO_FLOAT32;
  if (!read->loads)
    return;
  read->loader = (struct rd_row_program) {
    .from = from, .compute = RADIO_FLOAT32, .slope = read->slope,
    .inter = read->inter,
  };
  read->map = (struct rd_row_map) { &read->loader, RADIO_FLOAT32, NULL };
}

/* Before padding is written, which makes pages, too. */
static void
advise_pages (struct read *read, const struct radio_request *requests,
              size_t n)
{
  struct rd_pages others;
  read->pages.n = 0;
  for (size_t i = 0; i < n && !read->array->store->context->no_huge_pages; i++)
    rd_pages_advise (&requests[i], read->item_nbytes,
                     i == 0 ? &read->pages : &others);
}

/* Checks and prepares a read; options may be NULL, and stop is another read's,
 * or NULL.  end_read ends it, also after a failure. */
static enum radio_status
begin_read (struct read *read, struct radio_array *array,
            const struct radio_request *requests, size_t n,
            enum radio_dtype dtype, const struct rd_scaling *scaling,
            const struct radio_read_options *options, bool is_once,
            bool is_async, struct rd_read_stop *stop)
{
  const struct rd_type *stored = &array->doc->type;
  read->tiles = (struct rd_tile_read) {
    .array = array, .requests = requests, .n = n, .place = place,
    .find_destination = find_destination, .compute = compute,
    .stop = stop,
  };
  read->array = array;
  read->tiles.pages = &read->pages;
  read->maps = false;
  atomic_init (&read->has_nan, false);
  read->warning = options ? options->warning : NULL;
  read->user_data = options ? options->user_data : NULL;
  read->pieces = (struct rd_pieces) { 0 };
  read->dtype = dtype == RADIO_STORED ? stored->dtype : dtype;
  read->scaled = scaling != NULL;
  read->slope = scaling ? scaling->slope : 1;
  read->inter = scaling ? scaling->inter : 0;
  if (options)
    RD_TRY (RD_CHECK_RESERVED (radio_read_options, options));
  if (options && (options->cancel || options->deadline_ms > 0)) {
    rd_read_stop_init (&read->stop, array->store->io, options);
    read->tiles.stop = &read->stop;
  } else if (!stop && !is_async)
    read->tiles.stop = rd_read_stop_of_thread (&read->stop, array->store->io);
  RD_TRY (check_delivery (read, dtype));
  read->item_nbytes = read->dtype == stored->dtype
    ? stored->item_nbytes : radio_dtype_nbytes (read->dtype);
  uint64_t nbytes = 0;
  for (size_t i = 0; i < n; i++) {
    enum radio_status status = check_request (read, &requests[i]);
    if (status != RADIO_OK)
      return n == 1 ? status : rd_fail_in (status, "request %zu", i);
    nbytes = rd_add_sat (nbytes, rd_mul_sat (radio_box_count (&requests[i].box),
                                             read->item_nbytes));
  }
  bool computes = array->derived && array->derived->computes;
  RD_TRY (rd_memory_check (array, requests, n, read->item_nbytes,
                           !computes && (read->scaled
                                         || read->dtype != stored->dtype)));
  read->is_large = nbytes >= LARGE_NBYTES;
  RD_TRY (rd_pool_check (array->store->context->pool));
  advise_pages (read, requests, n);
  if (array->derived)
    RD_TRY (cut_requests (read));
  set_loader (read);
  const struct radio_array *source = read->tiles.array;
  read->tiles.takes_shuffled = delivers_stored (read);
  for (size_t i = 0; i < read->tiles.n && read->tiles.takes_shuffled; i++)
    read->tiles.takes_shuffled = takes_rows (read, i);
  rd_annotate_boxes (&source->layout, read->tiles.requests, read->tiles.n);
  if (source->is_complete && !is_once)
    use_cache (&read->tiles, read->admissions);
  return rd_read_stop_check (read->tiles.stop);
}

enum radio_status
rd_read_result (struct rd_tile_read *read, const struct radio_array *array,
                enum radio_status status)
{
  if (status == RADIO_OK && read->found_missing)
    status = rd_fetch_check_exists (read);
  if (status == RADIO_ERROR_CANCELLED)
    rd_fail (status, "the read was cancelled");
  else if (status == RADIO_ERROR_TIMEOUT)
    rd_fail (status, "the read is not done after %" PRIu64 " ms; allow more "
             "by deadline_ms", read->stop->deadline_ms);
  else
    return status;
  return rd_array_fail_in (array, status);
}

/* Returns the result of a read whose tiles were read with this status. */
static enum radio_status
end_read (struct read *read, enum radio_status status)
{
  const struct radio_array *array = read->array;
  status = rd_read_result (&read->tiles, array, status);
  rd_pieces_free (&read->pieces);
  if (atomic_load (&read->has_nan)) {
    atomic_store (&array->derived->has_nan, true);
    if (status == RADIO_OK)
      rd_derived_warn (array, read->warning, read->user_data);
  }
  return status;
}

/* Does the prepared read, on this thread and the pool's. */
static enum radio_status
run_read (struct rd_tile_read *tiles)
{
  return tiles->array->sampled ? rd_sampled_read (tiles)
         : tiles->array->linear ? rd_linear_read (tiles)
                                : rd_fetch_tiles (tiles);
}

static enum radio_status
read_requests (struct radio_array *array,
               const struct radio_request *requests, size_t n,
               enum radio_dtype dtype, const struct rd_scaling *scaling,
               const struct radio_read_options *options, bool is_once,
               struct rd_read_stop *stop)
{
  struct read read;
  enum radio_status status = begin_read (&read, array, requests, n, dtype,
                                         scaling, options, is_once, false,
                                         stop);
  if (status == RADIO_OK)
    status = run_read (&read.tiles);
  return end_read (&read, status);
}

enum radio_status
rd_array_read_scaled (struct radio_array *array,
                      const struct radio_request *requests, size_t n,
                      enum radio_dtype dtype,
                      const struct rd_scaling *scaling,
                      const struct radio_read_options *options)
{
  return read_requests (array, requests, n, dtype, scaling, options, false,
                        NULL);
}

enum radio_status
rd_array_read_once (struct radio_array *array,
                    const struct radio_request *request,
                    enum radio_dtype dtype, const struct rd_scaling *scaling,
                    struct rd_read_stop *stop)
{
  return read_requests (array, request, 1, dtype, scaling, NULL, true, stop);
}

enum radio_status
rd_array_read_within (struct radio_array *array,
                      const struct radio_request *requests, size_t n,
                      struct rd_read_stop *stop)
{
  return read_requests (array, requests, n, RADIO_STORED, NULL, NULL, false,
                        stop);
}

/* An array alone has no scaling. */
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
  RD_NOT_NULL (array);
  if (n > 0)
    RD_NOT_NULL (requests);
  RD_SCOPE ("read many", RD_IN_OPERATION);
  RD_NOTE_NAME ("array", rd_array_name (array));
  return rd_scope_end_with (
    read_requests (array, requests, n, dtype, scaling_of (options), options,
                   false, NULL));
}

enum radio_status
radio_array_read (struct radio_array *array, const struct radio_box *box,
                  enum radio_dtype dtype, void *buffer, size_t nbytes,
                  const struct radio_read_options *options)
{
  RD_NOT_NULL (array);
  RD_NOT_NULL (box);
  RD_SCOPE ("read", RD_IN_OPERATION);
  RD_NOTE_NAME ("array", rd_array_name (array));
  struct radio_request request = { .box = *box, .buffer = buffer,
                                   .nbytes = nbytes };
  if (options)
    request.strides = options->strides;
  return rd_scope_end_with (
    read_requests (array, &request, 1, dtype, scaling_of (options), options,
                   false, NULL));
}

/*------------------------------------------------------------------------
 * Asynchronous reads
 *----------------------------------------------------------------------*/

struct radio_read {
  struct read read;                   /* first */
  struct rd_job job;                  /* has only its end: reads all of a store
                                         that blocks */
  struct radio_request *requests;
  radio_read_done_fn *done;
  void *user_data;
  atomic_uint nrefs;                  /* the caller's, and its own */
  pid_t pid;                          /* of the process that started it */
  struct radio_handoff handoff;       /* if the store blocks */
  pthread_mutex_t mutex;
  pthread_cond_t ended;
  struct {
    bool is_done;                     /* the array may be closed */
    struct rd_error error;
  } synced;
};

void
radio_read_close (struct radio_read *read)
{
  if (!read || atomic_fetch_sub (&read->nrefs, 1) != 1)
    return;
  pthread_cond_destroy (&read->ended);
  pthread_mutex_destroy (&read->mutex);
  rd_free (read->requests);
  rd_free (read);
}

static void
finish_read (struct rd_tile_read *tiles, enum radio_status status)
{
  struct radio_read *read = (struct radio_read *) tiles;
  status = end_read (&read->read, status);
  struct rd_error error = { .status = RADIO_OK };
  if (status != RADIO_OK)
    rd_error_save (&error, status);
  if (read->done)
    read->done (status, read->user_data);
  {
    RD_LOCK_SCOPE (&read->mutex);
    read->synced.error = error;
    read->synced.is_done = true;
    pthread_cond_broadcast (&read->ended);
  }
  radio_read_close (read);
}

static enum radio_status
read_blocking (struct rd_job *job, enum radio_status status)
{
  struct radio_read *read = (struct radio_read *)
    ((char *) job - offsetof (struct radio_read, job));
  if (status == RADIO_OK) {
    RD_SCOPE_RECEIVED (&read->handoff, "read", RD_IN_OPERATION);
    status = run_read (&read->read.tiles);
  }
  if (read->handoff.parent)
    radio_handoff_release (&read->handoff);
  finish_read (&read->read.tiles, status);
  return RADIO_OK;
}

static enum radio_status
start_read (struct radio_read *read)
{
  struct radio_store *store = read->read.tiles.array->store;
  struct rd_pool *pool = store->context->pool;
  const struct radio_array *source = read->read.tiles.array;
  if (!store->io->ops->is_blocking && !source->linear && !source->sampled)
    return rd_fetch_tiles_start (&read->read.tiles, finish_read);
  RD_TRY (rd_pool_need_worker (pool));
  read->job.end = read_blocking;
  read->job.parent = &read->handoff;
  if (radio_profile_is_on ())
    radio_handoff_give (&read->handoff);
  rd_pool_post (pool, &read->job);
  return RADIO_OK;
}

enum radio_status
rd_array_read_async (struct radio_array *array,
                     const struct radio_request *requests, size_t n,
                     enum radio_dtype dtype, const struct rd_scaling *scaling,
                     const struct radio_read_options *options, bool is_once,
                     radio_read_done_fn *done, void *user_data,
                     struct radio_read **result)
{
  static const struct radio_read_options defaults;
  if (options && options->cancel)
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_read_options: cancel of an "
                    "asynchronous read; use radio_read_cancel");
  struct radio_read *read = rd_calloc (1, sizeof *read);
  if (!read)
    return rd_fail_memory (sizeof *read);
  pthread_mutex_init (&read->mutex, NULL);
  pthread_cond_init (&read->ended, NULL);
  atomic_init (&read->nrefs, result ? 2 : 1);
  read->pid = getpid ();
  read->done = done;
  read->user_data = user_data;
  read->requests = rd_calloc (n + 1, sizeof *read->requests);
  enum radio_status status = read->requests ? RADIO_OK
                                            : rd_fail_memory (n);
  if (status == RADIO_OK) {
    for (size_t i = 0; i < n; i++)
      read->requests[i] = requests[i];
    status = begin_read (&read->read, array, read->requests, n, dtype,
                         scaling, options, is_once, true, NULL);
    read->read.warning = NULL;
  }
  if (status == RADIO_OK && !read->read.tiles.stop) {
    rd_read_stop_init (&read->read.stop, array->store->io, &defaults);
    read->read.tiles.stop = &read->read.stop;
  }
  /* Only radio_read_cancel ends it: the thread may do something else now. */
  read->read.stop.cancel = NULL;
  /* Before the read can end. */
  struct radio_read *before = result ? *result : NULL;
  if (status == RADIO_OK && result)
    *result = read;
  if (status == RADIO_OK)
    status = start_read (read);
  if (status == RADIO_OK)
    return RADIO_OK;
  status = end_read (&read->read, status);
  if (result)
    *result = before;
  atomic_store (&read->nrefs, 1);
  radio_read_close (read);
  return status;
}

enum radio_status
radio_array_read_async (struct radio_array *array,
                        const struct radio_request *requests, size_t n,
                        enum radio_dtype dtype,
                        const struct radio_read_options *options,
                        radio_read_done_fn *done, void *user_data,
                        struct radio_read **read)
{
  RD_NOT_NULL (array);
  if (n > 0)
    RD_NOT_NULL (requests);
  return rd_array_read_async (array, requests, n, dtype, scaling_of (options),
                              options, false, done, user_data, read);
}

/* In a child process nothing ends the read, and its mutex may be held for
 * ever. */
static bool
is_forked (const struct radio_read *read)
{
  return read->pid != getpid ();
}

/* Returns whether the read is done; waits until it is, or for a moment if the
 * thread has a function to be asked. */
static bool
wait_briefly (struct radio_read *read)
{
  bool is_asked = rd_thread_has_cancel ();
  RD_LOCK_SCOPE (&read->mutex);
  while (!read->synced.is_done
         && !rd_cancel_wait (&read->ended, &read->mutex, is_asked))
    continue;
  return read->synced.is_done;
}

enum radio_status
radio_read_wait (struct radio_read *read)
{
  RD_NOT_NULL (read);
  if (is_forked (read))
    return rd_fail (RADIO_ERROR_FORKED, "the read was started before fork: "
                    "start it again in the child process");
  while (!wait_briefly (read))
    if (rd_thread_is_cancelled ())
      radio_read_cancel (read);
  return rd_error_raise (&read->synced.error);
}

bool
radio_read_is_done (struct radio_read *read)
{
  if (!read || is_forked (read))
    return true;
  RD_LOCK_SCOPE (&read->mutex);
  return read->synced.is_done;
}

void
radio_read_cancel (struct radio_read *read)
{
  if (!read || is_forked (read))
    return;
  atomic_store (&read->read.stop.io.is_cancelled, true);
  RD_LOCK_SCOPE (&read->mutex);
  if (!read->synced.is_done)
    rd_fetch_tiles_wake (&read->read.tiles);
}
