/* SPDX-License-Identifier: MIT */
/* One unit: what to ask the store for, what to think of the answer, and its
 * tiles.  Messages get the key and the tile put before them here. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "src/base/checked.h"
#include "profiler/counters.h"
#include "src/array/fetch.h"
#include "src/codec/codec.h"
#include "src/element/box.h"

void
rd_fetch_key (const struct radio_array *array, const uint64_t *chunk,
              char key[RD_KEY_NBYTES])
{
  char name[RD_CHUNK_KEY_NBYTES];
  rd_chunk_key (array->doc, chunk, name);
  rd_path_key (array->path, name, key);
}

static const struct rd_touch *
touch_of (const struct rd_fetch_job *job, uint32_t item)
{
  return &job->batch->touches[job->batch->items[item].touch];
}

/* Put the key before the message and, of a shard, the tile. */
static enum radio_status
fail_at (const struct rd_fetch_job *job, uint32_t item,
         enum radio_status status)
{
  const struct radio_array *array = job->fetch->array;
  uint64_t tile = job->batch->items[item].tile;
  char key[RD_KEY_NBYTES], name[RD_TILE_NAME_NBYTES];
  rd_fetch_key (array, touch_of (job, item)->chunk, key);
  if (!array->layout.sharding)
    return rd_fail_in (status, "%s/%s", array->store->io->uri, key);
  return rd_fail_in (status, "%s/%s, %s", array->store->io->uri, key,
                     rd_layout_tile_name (&array->layout, tile, name));
}

/* Whether items i-1 and i of a unit are of one tile. */
static bool
is_same_tile (const struct rd_fetch_job *job, uint32_t i)
{
  const struct rd_item *items = job->batch->items;
  return items[i - 1].tile == items[i].tile;
}

static enum radio_status
forgive (const struct rd_fetch_job *job, uint32_t item,
         enum radio_status status)
{
  struct rd_fetch *fetch = job->fetch;
  if (!fetch->forgive)
    return status;
  return fetch->forgive (fetch, status, 1, RD_FETCH_FIRST_ITEM_ORDER + item);
}

enum radio_status
rd_unit_missing (const struct rd_fetch_job *job, const struct rd_unit *unit)
{
  enum radio_status status = rd_fetch_missing (job->fetch);
  return status == RADIO_ERROR_FORMAT ? fail_at (job, unit->first, status)
                                      : status;
}

/* There is too little memory for a unit; its object may not even exist. */
static enum radio_status
fail_limit (const struct rd_fetch_job *job, const struct rd_unit *unit,
            const char *key, enum radio_status status, bool *missing)
{
  struct rd_io *io = job->fetch->array->store->io;
  uint64_t nbytes;
  struct rd_error error;
  rd_error_save (&error, fail_at (job, unit->first, status));
  *missing = unit->kind == RD_UNIT_OBJECT
    && io->ops->size (io, key, &nbytes) == RADIO_ERROR_NOT_FOUND;
  if (!*missing)
    return rd_error_raise (&error);
  return rd_unit_missing (job, unit);
}

/* The stored bytes of a unit's tiles, without the gaps between them. */
static uint64_t
count_needed (const struct rd_fetch_job *job, const struct rd_unit *unit)
{
  uint64_t nbytes = 0;
  for (uint32_t i = unit->first; i < unit->first + unit->n; i++)
    if (i == unit->first || !is_same_tile (job, i))
      nbytes += job->batch->items[i].nbytes;
  return nbytes;
}

enum radio_status
rd_unit_ask (const struct rd_fetch_job *job, const struct rd_unit *unit,
             const char *key, struct rd_io_get *get, bool *missing)
{
  const struct radio_array *array = job->fetch->array;
  const struct radio_context *context = array->store->context;
  uint64_t decode_nbytes = array->layout.decode_nbytes, need;
  if (rd_add_overflows (unit->nbytes, decode_nbytes, &need))
    need = UINT64_MAX;
  enum radio_status status = rd_context_allows (
    context, need, unit->kind == RD_UNIT_SPAN ? "a tile" : "the chunk");
  *missing = false;
  if (status != RADIO_OK)
    return fail_limit (job, unit, key, status, missing);
  get->key = key;
  get->file = unit->file;
  get->range = RD_RANGE_SPAN;
  get->offset = unit->offset;
  get->nbytes = unit->nbytes;
  get->needed_nbytes = 0;
  get->version = 0;
  if (unit->kind == RD_UNIT_SPAN && radio_profile_is_on ())
    get->needed_nbytes = count_needed (job, unit);
  if (unit->kind == RD_UNIT_OBJECT) {
    get->range = RD_RANGE_ALL;
    uint64_t most = rd_min_u64 (job->most_object_nbytes,
                                context->memory_limit_nbytes);
    get->nbytes = most > decode_nbytes ? most - decode_nbytes : 0;
  }
  return RADIO_OK;
}

/* The shard is not the one whose index is known. */
static enum radio_status
fail_changed (const struct rd_fetch_job *job, const struct rd_unit *unit,
              const struct rd_io_get *get)
{
  if (get->object_nbytes != unit->shard_nbytes)
    rd_fail (RADIO_ERROR_IO, "the shard changed while it was read: %" PRIu64
             " bytes instead of %" PRIu64, get->object_nbytes,
             unit->shard_nbytes);
  else
    rd_fail (RADIO_ERROR_IO, "the shard was replaced since its index was "
             "read; read it again");
  return fail_at (job, unit->first, RADIO_ERROR_IO);
}

/* What tells of versions tells of them when it fails as well. */
static bool
is_changed (const struct rd_unit *unit, const struct rd_io_get *get)
{
  enum radio_status status = get->error.status;
  bool is_other = unit->shard_version != 0 && get->version != 0
                  && get->version != unit->shard_version;
  if (unit->kind != RD_UNIT_SPAN)
    return false;
  return is_other || status == RADIO_ERROR_NOT_FOUND
         || (status == RADIO_OK && get->object_nbytes != unit->shard_nbytes);
}

enum radio_status
rd_unit_look (const struct rd_fetch_job *job, const struct rd_unit *unit,
              const struct rd_io_get *get, bool *missing)
{
  enum radio_status status = rd_error_raise (&get->error);
  *missing = status == RADIO_ERROR_NOT_FOUND
    && unit->kind == RD_UNIT_OBJECT;
  if (*missing)
    return RADIO_OK;
  if (!is_changed (unit, get))
    return status;
  rd_index_cache_drop (job->fetch->array->indexes,
                       touch_of (job, unit->first)->chunk);
  rd_io_forget (job->fetch->array->store->io, get->key);
  return status == RADIO_OK ? fail_changed (job, unit, get)
                            : rd_error_raise (&get->error);
}

/* The bytes of an item within what came. */
static enum radio_status
find_bytes (const struct rd_unit *unit, const struct rd_item *item,
            uint64_t most, const struct rd_io_get *get,
            const unsigned char **data, size_t *nbytes)
{
  uint64_t start = 0, end = get->into->nbytes;
  if (unit->kind == RD_UNIT_SPAN && item->nbytes == most)
    return rd_fail (RADIO_ERROR_FORMAT, "the index claims at least %" PRIu64
                    " bytes at %" PRIu64 ": the codecs cannot make so much "
                    "of a tile", most, item->offset);
  if (unit->kind == RD_UNIT_SPAN) {
    start = item->offset - unit->offset;
    end = start + item->nbytes;
  }
  if (end > get->into->nbytes)
    return rd_fail (RADIO_ERROR_FORMAT, "the shard ends at byte %" PRIu64
                    " within the tile's %" PRIu64 " bytes at %" PRIu64,
                    unit->offset + get->into->nbytes, item->nbytes,
                    item->offset);
  *data = get->into->data + start;
  *nbytes = (size_t) (end - start);
  return RADIO_OK;
}

static enum radio_status
decode_tile (const struct rd_fetch *fetch, bool shuffled,
             struct rd_scratch *scratch, struct rd_bytes in,
             struct rd_view *view)
{
  const struct rd_layout *layout = &fetch->array->layout;
  return (shuffled ? rd_chain_decode_shuffled : rd_chain_decode) (
    layout->chain, &layout->tile, scratch, in.data, in.nbytes, view);
}

static const struct rd_counter_set tile_set = {
  .counters = {
    [RD_AMOUNT_MAIN] = &rd_count_tiles,
    [RD_AMOUNT_BYTES] = &rd_count_decoded,
    [RD_AMOUNT_MORE_BYTES] = &rd_count_delivered,
  },
};

/* Say of the decoding of item i what it came to. */
static void
count_tile (const struct rd_fetch_job *job, uint32_t i, size_t stored_nbytes,
            struct rd_counting *counting)
{
  counting->amounts[RD_AMOUNT_MAIN] = 1;
  counting->amounts[RD_AMOUNT_BYTES] = job->fetch->array->layout.tile_nbytes;
  rd_counting_tile (counting,
                    touch_of (job, i)->first_tile
                    + job->batch->items[i].tile, stored_nbytes);
}

/* Whether a view is of elements in C order, as tiles are kept. */
static bool
is_plain (const struct rd_layout *layout, const struct rd_view *view)
{
  int64_t strides[RADIO_MAX_RANK];
  return !view->swapped
    && rd_c_strides (layout->rank, layout->tile.shape,
                     layout->tile.type.item_nbytes, strides)
    && memcmp (strides, view->strides, layout->rank * sizeof *strides) == 0;
}

/* Whether the tile of item i is to be kept for later reads. */
static bool
is_admitted (const struct rd_fetch_job *job, uint32_t i,
             const struct radio_box *box)
{
  const struct rd_fetch *fetch = job->fetch;
  size_t request = touch_of (job, i)->request;
  return request < fetch->nadmissions
    && rd_recent_admits (&fetch->admissions[request],
                         &fetch->requests[request].box, box,
                         fetch->array->layout.shape);
}

static void
keep_tile (const struct rd_fetch_job *job, uint32_t i,
           const struct rd_view *view)
{
  const struct rd_fetch *fetch = job->fetch;
  const struct rd_layout *layout = &fetch->array->layout;
  RD_COUNT (misses, 1);
  if (!is_plain (layout, view))
    return;
  const struct rd_tile_key key = rd_item_key (&fetch->known,
                                              touch_of (job, i),
                                              &job->batch->items[i]);
  rd_tile_cache_add (fetch->known.cache, &key, view->data,
                     (size_t) layout->tile_nbytes);
}

static enum radio_status
place_cached (const struct rd_fetch_job *job, uint32_t i)
{
  struct rd_fetch *fetch = job->fetch;
  const struct rd_layout *layout = &fetch->array->layout;
  const struct rd_item *item = &job->batch->items[i];
  const struct rd_touch *touch = touch_of (job, i);
  const struct radio_box box = rd_layout_tile (layout, touch->chunk,
                                               item->tile);
  struct rd_view view = { .data = item->cached->data };
  (void) rd_c_strides (layout->rank, layout->tile.shape,
                       layout->tile.type.item_nbytes, view.strides);
  uint64_t nbytes = 0;
  return fetch->place (fetch, touch->request, &box, &view, &nbytes);
}

enum radio_status
rd_unit_place_cached (const struct rd_fetch_job *job,
                      const struct rd_unit *unit)
{
  RD_SCOPE ("cache hit", RD_IN_PLACE);
  RD_COUNT (hits, unit->n);
  for (uint32_t i = unit->first; i < unit->first + unit->n; i++) {
    enum radio_status status = place_cached (job, i);
    if (status != RADIO_OK)
      return fail_at (job, i, status);
  }
  return RADIO_OK;
}

/* Place the tile of item i for all items that want it. */
static enum radio_status
place_tile (const struct rd_fetch_job *job, const struct rd_unit *unit,
            uint32_t i, const struct radio_box *box,
            const struct rd_view *view, uint64_t *nbytes)
{
  struct rd_fetch *fetch = job->fetch;
  do
    RD_TRY (fetch->place (fetch, touch_of (job, i)->request, box, view,
                          nbytes));
  while (++i < unit->first + unit->n && is_same_tile (job, i));
  return RADIO_OK;
}

/* Decode item i's tile, and place it if it is left shuffled: putting its
 * elements in order is then part of the decoding, and a scope of its own
 * would cost as much again. */
static enum radio_status
decode_item (const struct rd_fetch_job *job, const struct rd_unit *unit,
             uint32_t i, const struct radio_box *box, struct rd_bytes in,
             struct rd_scratch *scratch, struct rd_view *view)
{
  const struct rd_fetch *fetch = job->fetch;
  bool keeps = fetch->nadmissions > 0 && is_admitted (job, i, box);
  RD_COUNTING_SCOPE struct rd_counting counting = rd_count_next_in (
    fetch->array->layout.decode_site, &tile_set);
  /* What is kept is in order, as whoever finds it takes it to be. */
  RD_TRY (decode_tile (fetch, fetch->takes_shuffled && !keeps, scratch, in,
                       view));
  count_tile (job, i, in.nbytes, &counting);
  if (keeps)
    keep_tile (job, i, view);
  if (!view->shuffled)
    return RADIO_OK;
  return place_tile (job, unit, i, box, view,
                     &counting.amounts[RD_AMOUNT_MORE_BYTES]);
}

static enum radio_status
do_item (const struct rd_fetch_job *job, const struct rd_unit *unit,
         uint32_t i, const struct rd_io_get *get, struct rd_scratch *scratch)
{
  const struct rd_layout *layout = &job->fetch->array->layout;
  const struct rd_item *item = &job->batch->items[i];
  struct rd_bytes in = { NULL, 0 };
  struct rd_view view;
  RD_TRY (find_bytes (unit, item, layout->tile_most_nbytes, get, &in.data,
                      &in.nbytes));
  const struct radio_box box = rd_layout_tile (
    layout, touch_of (job, i)->chunk, item->tile);
  RD_TRY (decode_item (job, unit, i, &box, in, scratch, &view));
  uint64_t nbytes = 0;
  return view.shuffled ? RADIO_OK
                       : place_tile (job, unit, i, &box, &view, &nbytes);
}

enum radio_status
rd_unit_item (const struct rd_fetch_job *job, const struct rd_unit *unit,
              uint32_t i, const struct rd_io_get *get,
              struct rd_scratch *scratch)
{
  if (i > unit->first && is_same_tile (job, i))
    return RADIO_OK;
  enum radio_status status = do_item (job, unit, i, get, scratch);
  if (status == RADIO_OK)
    return RADIO_OK;
  return forgive (job, i, fail_at (job, i, status));
}

enum radio_status
rd_unit_fill_item (const struct rd_fetch_job *job, uint32_t i)
{
  struct rd_fetch *fetch = job->fetch;
  const struct rd_layout *layout = &fetch->array->layout;
  const struct rd_touch *touch = touch_of (job, i);
  uint64_t tile = job->batch->items[i].tile;
  struct radio_box box;
  if (tile == RD_ITEM_WHOLE) {
    box.rank = layout->rank;
    for (size_t axis = 0; axis < layout->rank; axis++) {
      box.size[axis] = layout->chunk.shape[axis];
      box.start[axis] = touch->chunk[axis] * box.size[axis];
    }
  } else
    box = rd_layout_tile (layout, touch->chunk, tile);
  uint64_t nbytes = 0;
  enum radio_status status = fetch->place (fetch, touch->request, &box,
                                           NULL, &nbytes);
  return status == RADIO_OK ? status : fail_at (job, i, status);
}

enum radio_status
rd_unit_fill (const struct rd_fetch_job *job, const struct rd_unit *unit)
{
  for (uint32_t i = 0; i < unit->n; i++)
    RD_TRY (rd_unit_fill_item (job, unit->first + i));
  return RADIO_OK;
}
