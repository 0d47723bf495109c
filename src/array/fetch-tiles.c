/* SPDX-License-Identifier: MIT */
/* One fetch: the read that it needs, the check of the bytes read, and its
 * tiles.  The key and the tile are added to messages here. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "src/base/checked.h"
#include "profiler/counters.h"
#include "src/array/fetch.h"
#include "src/array/refetch.h"
#include "src/codec/codec.h"
#include "src/element/box.h"

static const struct rd_plan_chunk *
chunk_of (const struct rd_fetch_job *job, uint32_t i)
{
  return &job->plan->chunks[job->plan->tiles[i].chunk];
}

/* Adds the key and, of a shard, the tile to the message. */
static enum radio_status
fail_at (const struct rd_fetch_job *job, uint32_t i, enum radio_status status)
{
  const struct radio_array *array = job->read->array;
  uint64_t tile = job->plan->tiles[i].tile;
  char key[RD_KEY_NBYTES], name[RD_TILE_NAME_NBYTES];
  rd_array_chunk_key (array, chunk_of (job, i)->chunk, key);
  if (!array->layout.sharding)
    return rd_fail_in (status, "%s/%s", array->store->io->uri, key);
  return rd_fail_in (status, "%s/%s: %s", array->store->io->uri, key,
                     rd_layout_tile_name (&array->layout, tile, name));
}

/* True when tiles i - 1 and i of a fetch are the same tile. */
static bool
is_same_tile (const struct rd_fetch_job *job, uint32_t i)
{
  const struct rd_plan_tile *tiles = job->plan->tiles;
  return tiles[i - 1].tile == tiles[i].tile;
}

/* Finds an object by its size; over a network by a request that ends with the
 * read. */
static enum radio_status
find_object (const struct rd_tile_read *read, const char *key)
{
  struct rd_io *io = read->array->store->io;
  RD_BUFFER_SCOPE struct rd_buffer none = { 0 };
  uint64_t nbytes;
  struct rd_io_get get = {
    .key = key, .range = RD_RANGE_SPAN, .into = &none,
  };
  return io->ops->is_blocking ? io->ops->size (io, key, &nbytes)
                              : rd_read_stop_io_read (read->stop, io, &get);
}

enum radio_status
rd_fetch_check_exists (const struct rd_tile_read *read)
{
  const struct radio_array *array = read->array;
  struct rd_io *io = array->store->io;
  char key[RD_KEY_NBYTES];
  rd_path_key (array->path, "zarr.json", key);
  enum radio_status status = find_object (read, key);
  if (status != RADIO_ERROR_NOT_FOUND)
    return status;
  return rd_fail (status, "%s/%s: the array was removed or replaced while it "
                  "was open; open it again", io->uri, key);
}

enum radio_status
rd_read_missing (struct rd_tile_read *read)
{
  read->found_missing = true;
  if (!read->array->is_complete)
    return RADIO_OK;
  RD_TRY (rd_fetch_check_exists (read));
  const char *what = read->array->layout.sharding ? "shard" : "chunk";
  return rd_fail (RADIO_ERROR_FORMAT, "the %s is missing; radio stores "
                  "every %s, so this one was lost", what, what);
}

enum radio_status
rd_fetch_missing_object (const struct rd_fetch_job *job,
                         const struct rd_plan_fetch *fetch)
{
  enum radio_status status = rd_read_missing (job->read);
  return status == RADIO_ERROR_FORMAT ? fail_at (job, fetch->first, status)
                                      : status;
}

enum radio_status
rd_fetch_prepare_read (const struct rd_fetch_job *job,
                       const struct rd_plan_fetch *fetch, const char *key,
                       struct rd_io_get *get, bool *missing)
{
  const struct radio_array *array = job->read->array;
  const struct radio_context *context = array->store->context;
  uint64_t decode_nbytes = array->layout.decode_nbytes;
  enum radio_status status = rd_context_allows (
    context, rd_add_sat (fetch->nbytes, decode_nbytes),
    fetch->kind == RD_FETCH_SPAN ? "a tile" : "the chunk");
  *missing = false;
  if (status != RADIO_OK) {
    /* The object may not even exist. */
    struct rd_error error;
    rd_error_save (&error, fail_at (job, fetch->first, status));
    *missing = fetch->kind == RD_FETCH_OBJECT
      && find_object (job->read, key) == RADIO_ERROR_NOT_FOUND;
    return *missing ? rd_fetch_missing_object (job, fetch)
                    : rd_error_raise (&error);
  }
  bool is_span = fetch->kind == RD_FETCH_SPAN;
  *get = (struct rd_io_get) {
    .key = key, .file = fetch->file, .range = RD_RANGE_SPAN,
    .offset = fetch->offset, .nbytes = fetch->nbytes, .into = get->into,
    .object_nbytes = is_span ? fetch->shard_nbytes : 0,
    .version = is_span ? fetch->shard_version : 0,
    .stop = rd_read_stop_io (job->read->stop),
  };
  /* For profiles: the tiles without the gaps between them. */
  if (is_span && radio_profile_is_on ())
    for (uint32_t i = fetch->first; i < fetch->first + fetch->n; i++)
      if (i == fetch->first || !is_same_tile (job, i))
        get->needed_nbytes += job->plan->tiles[i].nbytes;
  if (fetch->kind == RD_FETCH_OBJECT) {
    get->range = RD_RANGE_ALL;
    uint64_t most = rd_min_u64 (job->max_object_nbytes,
                                context->memory_limit_nbytes);
    get->nbytes = most > decode_nbytes ? most - decode_nbytes : 0;
  }
  return RADIO_OK;
}

enum radio_status
rd_fetch_check_read (const struct rd_fetch_job *job,
                     const struct rd_plan_fetch *fetch,
                     const struct rd_io_get *get, bool *missing)
{
  const struct radio_array *array = job->read->array;
  enum radio_status status = rd_error_raise (&get->error);
  *missing = status == RADIO_ERROR_NOT_FOUND
    && fetch->kind == RD_FETCH_OBJECT;
  if (*missing)
    return RADIO_OK;
  /* Stores that have versions set them also when the read fails. */
  bool is_other = get->is_other
    || (fetch->shard_version != 0 && get->version != 0
        && get->version != fetch->shard_version);
  bool is_resized = get->object_nbytes != fetch->shard_nbytes;
  if (fetch->kind != RD_FETCH_SPAN
      || !(is_other || status == RADIO_ERROR_NOT_FOUND || is_resized))
    return status;

  /* It is not the shard whose index is known. */
  if (is_other || is_resized)
    atomic_store (&job->read->found_stale, true);
  rd_index_cache_drop (array->indexes, chunk_of (job, fetch->first)->chunk);
  rd_io_forget (array->store->io, get->key);
  if (status != RADIO_OK)
    return rd_error_raise (&get->error);
  if (is_resized)
    rd_fail (RADIO_ERROR_IO, "the shard changed while it was read: %" PRIu64
             " bytes instead of %" PRIu64, get->object_nbytes,
             fetch->shard_nbytes);
  else
    rd_fail (RADIO_ERROR_IO, "the shard was replaced since its index was "
             "read; read it again");
  return fail_at (job, fetch->first, RADIO_ERROR_IO);
}

static const unsigned char no_bytes[1];

/* Finds the bytes of a tile within those that were read. */
static enum radio_status
find_bytes (const struct rd_plan_fetch *fetch,
            const struct rd_plan_tile *tile, uint64_t most,
            const struct rd_io_get *get, struct rd_bytes *bytes)
{
  uint64_t start = 0, end = get->into->nbytes;
  if (fetch->kind == RD_FETCH_SPAN && tile->nbytes == most)
    return rd_fail (RADIO_ERROR_FORMAT, "the index claims at least %" PRIu64
                    " bytes at %" PRIu64 ": the codecs cannot make so much "
                    "of a tile", most, tile->offset);
  if (fetch->kind == RD_FETCH_SPAN) {
    start = tile->offset - fetch->offset;
    end = start + tile->nbytes;
  }
  if (end > get->into->nbytes)
    return rd_fail (RADIO_ERROR_FORMAT, "the shard ends at byte %" PRIu64
                    " within the tile's %" PRIu64 " bytes at %" PRIu64,
                    fetch->offset + get->into->nbytes, tile->nbytes,
                    tile->offset);
  bytes->nbytes = (size_t) (end - start);
  /* A buffer that only empty objects were read into has no memory; codecs
   * count from where their input begins. */
  bytes->data = bytes->nbytes > 0 ? get->into->data + start : no_bytes;
  return RADIO_OK;
}

static const struct rd_counter_set tile_set = {
  .counters = {
    [RD_AMOUNT_MAIN] = &rd_count_tiles,
    [RD_AMOUNT_BYTES] = &rd_count_decoded,
    [RD_AMOUNT_MORE_BYTES] = &rd_count_delivered,
  },
};

/* Adds tile i to the cache, if its elements are in C order, as tiles are
 * cached.  Their byte order is that of the array. */
static void
cache_tile (const struct rd_fetch_job *job, uint32_t i,
            const struct rd_view *view)
{
  const struct rd_tile_read *read = job->read;
  const struct rd_layout *layout = &read->array->layout;
  int64_t strides[RADIO_MAX_RANK];
  RD_COUNT (misses, 1);
  if (!rd_c_strides (layout->rank, layout->tile.shape,
                     layout->tile.type.item_nbytes, strides)
      || memcmp (strides, view->strides,
                 layout->rank * sizeof *strides) != 0)
    return;
  const struct rd_tile_key key = rd_plan_tile_key (&read->cache,
                                                   chunk_of (job, i),
                                                   &job->plan->tiles[i]);
  rd_tile_cache_add (read->cache.tiles, &key, view->data,
                     (size_t) layout->tile_nbytes);
}

enum radio_status
rd_fetch_place_cached (const struct rd_fetch_job *job,
                       const struct rd_plan_fetch *fetch)
{
  struct rd_tile_read *read = job->read;
  const struct rd_layout *layout = &read->array->layout;
  RD_SCOPE ("cache hit", RD_IN_PLACE);
  RD_COUNT (hits, fetch->n);
  struct rd_view view = {
    .swapped = rd_chain_is_swapped (layout->chain, &layout->tile.type),
  };
  (void) rd_c_strides (layout->rank, layout->tile.shape,
                       layout->tile.type.item_nbytes, view.strides);
  for (uint32_t i = fetch->first; i < fetch->first + fetch->n; i++) {
    const struct rd_plan_tile *tile = &job->plan->tiles[i];
    const struct rd_plan_chunk *chunk = chunk_of (job, i);
    const struct radio_box box = rd_layout_tile (layout, chunk->chunk,
                                                 tile->tile);
    uint64_t nbytes = 0;
    RD_TRY (rd_read_stop_check (read->stop));
    view.data = tile->cached->data;
    enum radio_status status = read->place (read, chunk->request, &box, &view,
                                            &nbytes);
    if (status != RADIO_OK)
      return fail_at (job, i, status);
  }
  return RADIO_OK;
}

/* Places tile i for all requests that want it. */
static enum radio_status
place_tile (const struct rd_fetch_job *job, const struct rd_plan_fetch *fetch,
            uint32_t i, const struct radio_box *box,
            const struct rd_view *view, uint64_t *nbytes)
{
  struct rd_tile_read *read = job->read;
  do
    RD_TRY (read->place (read, chunk_of (job, i)->request, box, view,
                         nbytes));
  while (++i < fetch->first + fetch->n && is_same_tile (job, i));
  return RADIO_OK;
}

/* Decodes tile i, and places it if it is left shuffled: unshuffling is then
 * part of the decoding, and a scope of its own would cost as much again. */
static enum radio_status
decode_tile (const struct rd_fetch_job *job, const struct rd_plan_fetch *fetch,
             uint32_t i, const struct radio_box *box, struct rd_bytes in,
             struct rd_scratch *scratch, struct rd_view *view)
{
  const struct rd_tile_read *read = job->read;
  const struct rd_layout *layout = &read->array->layout;
  const struct rd_plan_chunk *chunk = chunk_of (job, i);
  bool keeps = chunk->request < read->nadmissions
    && rd_admits_tile (&read->admissions[chunk->request],
                       &read->requests[chunk->request].box, box,
                       layout->shape);
  RD_COUNTING_SCOPE struct rd_counting counting = rd_count_next_in (
    layout->decode_site, &tile_set);
  /* Cached tiles are not shuffled. */
  RD_TRY ((read->takes_shuffled && !keeps ? rd_chain_decode_shuffled
                                          : rd_chain_decode) (
    layout->chain, &layout->tile, scratch, in.data, in.nbytes, view));
  counting.amounts[RD_AMOUNT_MAIN] = 1;
  counting.amounts[RD_AMOUNT_BYTES] = layout->tile_nbytes;
  rd_counting_tile (&counting,
                    chunk->number_base + job->plan->tiles[i].tile, in.nbytes);
  if (keeps)
    cache_tile (job, i, view);
  if (!view->shuffled)
    return RADIO_OK;
  return place_tile (job, fetch, i, box, view,
                     &counting.amounts[RD_AMOUNT_MORE_BYTES]);
}

/* Reads tile i alone. */
static enum radio_status
fetch_tile_again (const struct rd_fetch_job *job,
                  const struct rd_plan_fetch *fetch, uint32_t i,
                  struct rd_scratch *scratch, struct rd_bytes *bytes)
{
  const struct rd_plan_tile *tile = &job->plan->tiles[i];
  struct rd_plan_fetch alone = *fetch;
  struct rd_io_get get = { .into = &scratch->fetched };
  char key[RD_KEY_NBYTES];
  bool missing;
  if (fetch->kind == RD_FETCH_SPAN) {
    alone.offset = tile->offset;
    alone.nbytes = tile->nbytes;
  }
  rd_array_chunk_key (job->read->array, chunk_of (job, i)->chunk, key);
  RD_TRY (rd_fetch_prepare_read (job, &alone, key, &get, &missing));
  enum radio_status status = rd_read_stop_io_read (
    job->read->stop, job->read->array->store->io, &get);
  (void) status;                      /* it is in get.error as well */
  RD_TRY (rd_fetch_check_read (job, &alone, &get, &missing));
  if (missing)
    return rd_error_raise (&get.error);
  return find_bytes (&alone, tile, job->read->array->layout.tile_most_nbytes,
                     &get, bytes);
}

enum radio_status
rd_fetch_place_tile (const struct rd_fetch_job *job,
                     const struct rd_plan_fetch *fetch, uint32_t i,
                     const struct rd_io_get *get, struct rd_scratch *scratch)
{
  struct rd_tile_read *read = job->read;
  const struct rd_layout *layout = &read->array->layout;
  const struct rd_plan_tile *tile = &job->plan->tiles[i];
  if (i > fetch->first && is_same_tile (job, i))
    return RADIO_OK;
  RD_TRY (rd_read_stop_check (read->stop));
  struct rd_bytes in = { NULL, 0 };
  struct rd_refetch refetch = { 0 };
  enum radio_status status = find_bytes (fetch, tile,
                                         layout->tile_most_nbytes, get, &in);
  while (status == RADIO_OK) {
    const struct radio_box box = rd_layout_tile (
      layout, chunk_of (job, i)->chunk, tile->tile);
    struct rd_view view;
    uint64_t nbytes = 0;
    status = decode_tile (job, fetch, i, &box, in, scratch, &view);
    if (status == RADIO_OK && !view.shuffled)
      status = place_tile (job, fetch, i, &box, &view, &nbytes);
    if (status == RADIO_OK)
      return RADIO_OK;
    if (!rd_refetch_is_due (&refetch, read->array->store->io, status,
                            in.data, in.nbytes))
      break;
    RD_TRY (fetch_tile_again (job, fetch, i, scratch, &in));
    status = RADIO_OK;
  }
  status = fail_at (job, i, status);
  return read->on_error ? read->on_error (read, status, 1,
                                          RD_READ_FIRST_TILE_ORDER + i)
                        : status;
}

enum radio_status
rd_fetch_fill_tile (const struct rd_fetch_job *job, uint32_t i)
{
  struct rd_tile_read *read = job->read;
  const struct rd_layout *layout = &read->array->layout;
  const struct rd_plan_chunk *chunk = chunk_of (job, i);
  uint64_t tile = job->plan->tiles[i].tile;
  RD_TRY (rd_read_stop_check (read->stop));
  const struct radio_box box = tile == RD_TILE_WHOLE_CHUNK
    ? rd_grid_cell (layout->rank, layout->chunk.shape, chunk->chunk)
    : rd_layout_tile (layout, chunk->chunk, tile);
  uint64_t nbytes = 0;
  enum radio_status status = read->place (read, chunk->request, &box, NULL,
                                          &nbytes);
  return status == RADIO_OK ? status : fail_at (job, i, status);
}

enum radio_status
rd_fetch_fill (const struct rd_fetch_job *job,
               const struct rd_plan_fetch *fetch)
{
  for (uint32_t i = 0; i < fetch->n; i++)
    RD_TRY (rd_fetch_fill_tile (job, fetch->first + i));
  return RADIO_OK;
}
