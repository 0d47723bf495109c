/* SPDX-License-Identifier: MIT */
/* Streaming: a box is cut into slabs, and read ahead into two buffers: the
 * calling thread and the pool read into one, while a task of the pool
 * consumes the other. */
#include <config.h>

#include <stdlib.h>

#include "profiler/counters.h"
#include "src/array/parts.h"
#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "src/element/box.h"
#include "src/volume/stream.h"

/* The target size of a slab: large enough for reads to use all cores. */
#define SLAB_NBYTES ((uint64_t) 16 << 20)

/* The share of the memory limit that a slab takes at most. */
#define SLAB_SHARE 8

struct rd_stream
rd_stream_of (struct radio_array *array)
{
  const struct rd_array_doc *doc = array->doc;
  struct rd_stream stream = {
    .array = array, .box = rd_box_whole (doc->rank, doc->shape),
    .dtype = doc->type.dtype, .item_nbytes = doc->type.item_nbytes,
  };
  for (size_t i = 0; i < doc->rank; i++)
    stream.order[i] = i;
  return stream;
}

/* The bytes of one element of the axis at a place of the order, with all
 * faster axes. */
static uint64_t
inner_nbytes (const struct rd_stream *stream, size_t place)
{
  uint64_t nbytes = stream->item_nbytes;
  for (size_t i = place + 1; i < stream->box.rank; i++)
    nbytes = rd_mul_sat (nbytes, stream->box.size[stream->order[i]]);
  return nbytes;
}

/* The thickness of a layer of whole tiles, in elements of the box. */
static uint64_t
layer_size (const struct rd_stream *stream, const uint64_t *tile_shape,
            size_t place)
{
  size_t axis = stream->order[place];
  return rd_min_u64 (tile_shape[axis], stream->box.size[axis]);
}

void
rd_slabs_choose (const struct rd_stream *stream, const uint64_t *tile_shape,
                 uint64_t target_nbytes, uint64_t max_nbytes,
                 struct rd_slabs *slabs)
{
  /* Cut at the slowest axis whose layers of tiles fit the target.  Cutting
   * at a faster axis than one whose tiles are thicker than one element
   * decodes them repeatedly: that is done only if max_nbytes requires it. */
  size_t cut = 0;
  uint64_t cut_nbytes = UINT64_MAX;
  bool decoded_once = true;
  for (size_t place = 0; place < stream->box.rank; place++) {
    if (!decoded_once && cut_nbytes <= max_nbytes)
      break;
    uint64_t thickness = layer_size (stream, tile_shape, place);
    uint64_t inner = inner_nbytes (stream, place);
    cut = place;
    cut_nbytes = rd_mul_sat (thickness, inner);
    if (cut_nbytes <= target_nbytes)
      break;
    /* A part of a layer, as thick as fits, repeats less than slabs of one
     * element do. */
    if (cut_nbytes > max_nbytes && inner <= max_nbytes)
      break;
    decoded_once = decoded_once && thickness == 1;
  }
  uint64_t layer = layer_size (stream, tile_shape, cut);
  uint64_t inner = inner_nbytes (stream, cut);
  uint64_t step = target_nbytes / inner / layer * layer;
  if (step == 0)
    step = rd_mul_sat (layer, inner) <= max_nbytes ? layer
                                                   : max_nbytes / inner;
  slabs->cut = cut;
  slabs->step = rd_max_u64 (step, 1);
}

static enum radio_status
plan_slabs (const struct rd_stream *stream, struct rd_slabs *slabs,
            uint64_t *nbytes)
{
  const struct radio_context *context = stream->array->store->context;
  /* Two slabs in a quarter of the memory leave the rest to reading. */
  uint64_t max_nbytes = context->memory_limit_nbytes / SLAB_SHARE;
  rd_slabs_choose (stream, stream->array->doc->tile_shape,
                   rd_min_u64 (SLAB_NBYTES, max_nbytes), max_nbytes, slabs);

  /* The thickest slab is the first or second. */
  size_t cut_axis = stream->order[slabs->cut];
  *nbytes = rd_mul_sat (inner_nbytes (stream, slabs->cut),
                        rd_min_u64 (stream->box.size[cut_axis],
                                    slabs->step));
  if (*nbytes > SIZE_MAX / 4)
    return rd_fail_memory (SIZE_MAX);
  return rd_context_allows (context, 2 * *nbytes, "reading ahead");
}

/* Set a slab's extent on the axis that is cut: up to the next multiple of
 * the step, or the box's end. */
static void
set_extent (const struct rd_stream *stream, const struct rd_slabs *slabs,
            struct radio_box *slab)
{
  size_t axis = stream->order[slabs->cut];
  uint64_t start = slab->start[axis];
  uint64_t left = stream->box.start[axis] + stream->box.size[axis] - start;
  slab->size[axis] = rd_min_u64 (slabs->step - start % slabs->step, left);
}

void
rd_slabs_first (const struct rd_stream *stream, const struct rd_slabs *slabs,
                struct radio_box *slab)
{
  *slab = stream->box;
  for (size_t i = 0; i < slabs->cut; i++)
    slab->size[stream->order[i]] = 1;
  set_extent (stream, slabs, slab);
}

bool
rd_slabs_next (const struct rd_stream *stream, const struct rd_slabs *slabs,
               struct radio_box *slab)
{
  for (size_t place = slabs->cut + 1; place-- > 0;) {
    size_t axis = stream->order[place];
    uint64_t first = stream->box.start[axis];
    slab->start[axis] += slab->size[axis];
    if (slab->start[axis] - first < stream->box.size[axis]) {
      set_extent (stream, slabs, slab);
      return true;
    }
    slab->start[axis] = first;
  }
  return false;
}

/* Adds what the slabs of a file inflate. */
static void
add_inflation (const struct rd_stream *stream, const struct rd_slabs *slabs,
               struct rd_inflation *inflation)
{
  struct radio_box slab;
  rd_slabs_first (stream, slabs, &slab);
  do
    rd_inflation_add (inflation, stream->array, &slab);
  while (rd_slabs_next (stream, slabs, &slab));
}

enum radio_status
rd_slabs_plan (const struct rd_stream *stream, struct rd_slabs *slabs,
               uint64_t *nbytes)
{
  struct rd_inflation inflation = { 0 };
  RD_TRY (plan_slabs (stream, slabs, nbytes));
  if (!rd_array_is_inflated (stream->array))
    return RADIO_OK;
  add_inflation (stream, slabs, &inflation);
  rd_inflation_warn (&inflation, stream->array,
                     rd_mul_sat (rd_mul_sat (radio_box_count (&stream->box),
                                             stream->item_nbytes),
                                 SLAB_SHARE));
  return RADIO_OK;
}

enum radio_status
rd_stream_inflation (const struct rd_stream *stream,
                     struct rd_inflation *inflation)
{
  struct rd_slabs slabs;
  uint64_t nbytes;
  *inflation = (struct rd_inflation) { 0 };
  if (radio_box_count (&stream->box) == 0)
    return RADIO_OK;
  RD_TRY (plan_slabs (stream, &slabs, &nbytes));
  add_inflation (stream, &slabs, inflation);
  return RADIO_OK;
}

/* The job that consumes a slab. */
struct taking {
  struct rd_job job;          /* first: what the task gets */
  rd_stream_fn *take;
  void *user_data;
  void *data;
  size_t nbytes;
  bool started;
};

struct run {
  struct rd_pool *pool;
  struct rd_slabs slabs;
  struct taking taking;
  unsigned char *rooms[2];
};

static enum radio_status
take_slab (struct rd_job *job, uint64_t task, struct rd_scratch *scratch)
{
  struct taking *taking = (struct taking *) job;
  (void) task;
  (void) scratch;
  return taking->take (taking->user_data, taking->data, taking->nbytes);
}

/* Wait until the previous slab, if any, has been consumed. */
static enum radio_status
wait_taken (struct run *run)
{
  if (!run->taking.started)
    return RADIO_OK;
  run->taking.started = false;
  return rd_pool_wait (run->pool, &run->taking.job);
}

/* Wait for the task and free the buffers.  After a failure its message is
 * kept. */
static void
end_run (struct run *run)
{
  struct rd_error first;
  rd_error_save (&first, RADIO_ERROR_IO);
  if (run->taking.started && wait_taken (run) != RADIO_OK)
    rd_error_raise (&first);
  rd_free (run->rooms[0]);
  rd_free (run->rooms[1]);
}

/* Makes the request of a slab with its bytes in the stream's order. */
static struct radio_request
make_request (const struct rd_stream *stream, const struct radio_box *slab,
              void *data, int64_t strides[RADIO_MAX_RANK])
{
  size_t nbytes = stream->item_nbytes;
  for (size_t place = slab->rank; place-- > 0;) {
    size_t axis = stream->order[place];
    strides[axis] = (int64_t) nbytes;
    nbytes *= slab->size[axis];
  }
  return (struct radio_request) {
    .box = *slab, .buffer = data, .nbytes = nbytes, .strides = strides,
  };
}

enum radio_status
rd_slab_read (const struct rd_stream *stream, const struct radio_box *slab,
              void *data, size_t *nbytes)
{
  RD_SCOPE ("read slab", RD_IN_OPERATION);
  int64_t strides[RADIO_MAX_RANK];
  const struct radio_request request = make_request (stream, slab, data,
                                                     strides);
  *nbytes = request.nbytes;
  return rd_array_read_once (stream->array, &request, stream->dtype,
                             stream->scaling, stream->stop);
}

bool
rd_slab_may_start (const struct rd_stream *stream)
{
  const struct radio_array *array = stream->array;
  const struct radio_context *context = array->store->context;
  /* One thread is enough to wait: another one would be more than was
   * allowed. */
  return !array->store->io->ops->is_blocking && context->nthreads > 1
         && !array->linear && !array->sampled && !array->derived;
}

enum radio_status
rd_slab_start (const struct rd_stream *stream, const struct radio_box *slab,
               void *data, size_t *nbytes, struct rd_slab_read *read)
{
  const struct radio_request request = make_request (stream, slab, data,
                                                     read->strides);
  *nbytes = request.nbytes;
  return rd_array_read_async (stream->array, &request, 1, stream->dtype,
                              stream->scaling, NULL, true, NULL, NULL,
                              &read->read);
}

enum radio_status
rd_slab_wait (struct rd_slab_read *read)
{
  RD_SCOPE_WAIT ("wait for slab", RD_IN_OPERATION);
  return radio_read_wait (read->read);
}

void
rd_slab_end (struct rd_slab_read *read)
{
  struct rd_error first;
  if (!read->read)
    return;
  rd_error_save (&first, RADIO_ERROR_IO);
  radio_read_cancel (read->read);
  if (radio_read_wait (read->read) != RADIO_OK)
    rd_error_raise (&first);
  radio_read_close (RD_STEAL (read->read));
}

enum radio_status
rd_stream_run (const struct rd_stream *stream, rd_stream_fn *take,
               void *user_data)
{
  if (radio_box_count (&stream->box) == 0)
    return RADIO_OK;
  struct run run RD_CLEANUP (end_run) = {
    .pool = stream->array->store->context->pool,
    .taking = { .take = take, .user_data = user_data },
  };
  struct taking *taking = &run.taking;
  uint64_t room;
  RD_TRY (rd_slabs_plan (stream, &run.slabs, &room));
  run.rooms[0] = rd_malloc (room);
  run.rooms[1] = rd_malloc (room);
  if (run.rooms[0] == NULL || run.rooms[1] == NULL)
    return rd_fail_memory (2 * room);

  struct radio_box slab;
  int turn = 0;
  rd_slabs_first (stream, &run.slabs, &slab);
  do {
    size_t nbytes;
    RD_TRY (rd_slab_read (stream, &slab, run.rooms[turn], &nbytes));
    RD_TRY (wait_taken (&run));
    taking->job = (struct rd_job) {
      .run = take_slab, .n = 1, .site = stream->site,
    };
    taking->data = run.rooms[turn];
    taking->nbytes = nbytes;
    RD_TRY (rd_pool_start (run.pool, &taking->job));
    taking->started = true;
    turn ^= 1;
  } while (rd_slabs_next (stream, &run.slabs, &slab));
  return wait_taken (&run);
}
