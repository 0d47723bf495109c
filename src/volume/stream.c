/* SPDX-License-Identifier: MIT */
/* Reading ahead: two buffers, one being read into by the calling thread and
 * the pool, the other being taken by one task of the pool. */
#include <config.h>

#include <stdlib.h>

#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "profiler/counters.h"
#include "src/array/array.h"
#include "src/element/box.h"
#include "src/volume/stream.h"

/* What a slab shall be: large enough for reads to use all cores. */
#define SLAB_NBYTES ((uint64_t) 16 << 20)

/* A slab that was read. */
struct taking {
  struct rd_job job;          /* first: what the task gets */
  rd_stream_fn *take;
  void *user_data;
  void *data;
  size_t nbytes;
  bool started;
};

struct run {
  const struct rd_stream *stream;
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

/* Wait until the slab before was taken, if there was one. */
static enum radio_status
wait_taken (struct run *run)
{
  if (!run->taking.started)
    return RADIO_OK;
  run->taking.started = false;
  return rd_pool_wait (run->pool, &run->taking.job);
}

/* A task may not be left behind on the way out after a failure, whose message
 * is the one to keep. */
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

static enum radio_status
start_taking (struct run *run, void *data, size_t nbytes)
{
  struct taking *taking = &run->taking;
  taking->job = (struct rd_job) {
    .run = take_slab, .n = 1, .site = run->stream->site,
  };
  taking->data = data;
  taking->nbytes = nbytes;
  RD_TRY (rd_pool_start (run->pool, &taking->job));
  taking->started = true;
  return RADIO_OK;
}

/* Strides of a slab whose bytes lie in the stream's order.  The slab fits
 * into memory, so nothing wraps. */
static size_t
slab_strides (const struct rd_stream *stream, const struct radio_box *slab,
              int64_t *strides)
{
  size_t nbytes = stream->item_nbytes;
  for (size_t place = slab->rank; place-- > 0;) {
    size_t axis = stream->order[place];
    strides[axis] = (int64_t) nbytes;
    nbytes *= slab->size[axis];
  }
  return nbytes;
}

/* The bytes of a slab; the thickest one comes first or right after it. */
static enum radio_status
slab_room (const struct run *run, size_t *room)
{
  const struct rd_stream *stream = run->stream;
  uint64_t nbytes = stream->item_nbytes;
  bool wraps = false;
  for (size_t place = run->slabs.cut; place < stream->box.rank; place++) {
    uint64_t size = stream->box.size[stream->order[place]];
    if (place == run->slabs.cut)
      size = rd_min_u64 (size, run->slabs.step);
    wraps |= rd_mul_overflows (nbytes, size, &nbytes);
  }
  *room = nbytes;
  if (wraps || nbytes > SIZE_MAX / 4)
    return rd_fail_memory (SIZE_MAX);
  return RADIO_OK;
}

static enum radio_status
read_slab (const struct rd_stream *stream, const struct radio_box *slab,
           void *data, size_t *nbytes)
{
  RD_SCOPE ("read slab", RD_IN_OPERATION);
  int64_t strides[RADIO_MAX_RANK];
  *nbytes = slab_strides (stream, slab, strides);
  const struct radio_request request = {
    .box = *slab, .buffer = data, .nbytes = *nbytes, .strides = strides,
  };
  return rd_array_read_once (stream->array, &request, stream->dtype,
                             stream->scaling);
}

static enum radio_status
run_slabs (struct run *run)
{
  struct radio_box slab;
  int turn = 0;
  rd_slabs_first (run->stream, &run->slabs, &slab);
  do {
    size_t nbytes;
    RD_TRY (read_slab (run->stream, &slab, run->rooms[turn], &nbytes));
    RD_TRY (wait_taken (run));
    RD_TRY (start_taking (run, run->rooms[turn], nbytes));
    turn ^= 1;
  } while (rd_slabs_next (run->stream, &run->slabs, &slab));
  return wait_taken (run);
}

enum radio_status
rd_stream_run (const struct rd_stream *stream, rd_stream_fn *take,
               void *user_data)
{
  const struct radio_context *context = stream->array->store->context;
  if (radio_box_count (&stream->box) == 0)
    return RADIO_OK;
  struct run run RD_CLEANUP (end_run) = {
    .stream = stream, .pool = context->pool,
    .taking = { .take = take, .user_data = user_data },
  };
  /* Two slabs in a quarter of the memory leave the rest to reading. */
  uint64_t max_nbytes = context->memory_limit_nbytes / 8;
  rd_slabs_choose (stream, stream->array->doc->tile_shape,
                   rd_min_u64 (SLAB_NBYTES, max_nbytes), max_nbytes,
                   &run.slabs);
  size_t room;
  RD_TRY (slab_room (&run, &room));
  RD_TRY (rd_context_allows (context, 2 * room, "two slabs"));
  run.rooms[0] = rd_malloc (room);
  run.rooms[1] = rd_malloc (room);
  if (run.rooms[0] == NULL || run.rooms[1] == NULL)
    return rd_fail_memory (2 * room);
  return run_slabs (&run);
}
