/* SPDX-License-Identifier: MIT */
/* The walk over chunks, and from touches to units. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "src/base/error.h"
#include "src/array/plan.h"
#include "src/element/box.h"

/* A fetch below this is not worth splitting further among workers. */
#define MIN_UNIT_NBYTES ((uint64_t) 32 << 10)

/* Units that each worker shall have, so that none idles at the end. */
#define UNITS_PER_WORKER 16

/* Fill values that are placed as one unit. */
#define MAX_FILL_ITEMS 64

/* And tiles that were decoded before. */
#define MAX_CACHED_ITEMS 32

void
rd_batch_init (struct rd_batch *batch)
{
  batch->touches = batch->inline_touches;
  batch->items = batch->inline_items;
  batch->units = batch->inline_units;
  batch->ntouches = batch->nitems = batch->nunits = 0;
  batch->touch_room = RD_BATCH_INLINE / 2;
  batch->item_room = batch->unit_room = RD_BATCH_INLINE;
  batch->ncached = 0;
  batch->most_unit_nbytes = 0;
}

void
rd_batch_free (struct rd_batch *batch)
{
  if (batch->touches != batch->inline_touches)
    rd_free (batch->touches);
  if (batch->items != batch->inline_items)
    rd_free (batch->items);
  if (batch->units != batch->inline_units)
    rd_free (batch->units);
  rd_batch_init (batch);
}

/* Make room for one more; *list leaves the batch for the heap when it is
 * full, *room doubles. */
static enum radio_status
reserve_one (void **list, const void *inline_list, uint32_t used,
             uint32_t *room, size_t item_nbytes)
{
  if (used < *room)
    return RADIO_OK;
  size_t nbytes = 2 * (size_t) *room * item_nbytes;
  bool on_heap = *list != inline_list;
  void *grown = rd_realloc (on_heap ? *list : NULL, nbytes);
  if (!grown)
    return rd_fail_memory (nbytes);
  if (!on_heap)
    memcpy (grown, inline_list, used * item_nbytes);
  *list = grown;
  *room *= 2;
  return RADIO_OK;
}

static enum radio_status
add_touch (struct rd_batch *batch, const struct rd_touch *touch)
{
  void *list = batch->touches;
  RD_TRY (reserve_one (&list, batch->inline_touches, batch->ntouches,
                       &batch->touch_room, sizeof *touch));
  batch->touches = list;
  batch->touches[batch->ntouches++] = *touch;
  return RADIO_OK;
}

static enum radio_status
reserve_item (struct rd_batch *batch)
{
  void *list = batch->items;
  RD_TRY (reserve_one (&list, batch->inline_items, batch->nitems,
                       &batch->item_room, sizeof *batch->items));
  batch->items = list;
  return RADIO_OK;
}

static enum radio_status
add_unit (struct rd_batch *batch, const struct rd_unit *unit)
{
  void *list = batch->units;
  RD_TRY (reserve_one (&list, batch->inline_units, batch->nunits,
                       &batch->unit_room, sizeof *unit));
  batch->units = list;
  batch->units[batch->nunits++] = *unit;
  batch->most_unit_nbytes = rd_max_u64 (batch->most_unit_nbytes,
                                        unit->nbytes);
  return RADIO_OK;
}

/* The next request that is not empty; false when there is none. */
static bool
begin_request (struct rd_walk *walk)
{
  while (walk->at < walk->n
         && radio_box_count (&walk->requests[walk->at].box) == 0)
    walk->at++;
  if (walk->at == walk->n)
    return false;
  rd_grid_touched (&walk->requests[walk->at].box, walk->layout->chunk.shape,
                   &walk->chunks);
  memcpy (walk->chunk, walk->chunks.start, sizeof walk->chunk);
  walk->inside = true;
  walk->first = 0;
  return true;
}

/* The tiles of the walk's chunk that its request touches. */
static void
find_tiles (const struct rd_walk *walk, struct radio_box *tiles)
{
  const struct rd_layout *layout = walk->layout;
  struct radio_box cell = rd_grid_cell (layout->rank, layout->chunk.shape,
                                        walk->chunk);
  struct radio_box part = { .rank = layout->rank };
  (void) rd_box_intersect (&walk->requests[walk->at].box, &cell, &part);
  for (size_t i = 0; i < layout->rank; i++)
    part.start[i] -= cell.start[i];
  rd_grid_touched (&part, layout->tile.shape, tiles);
}

/* The next touch, of at most max_tiles; false at the end. */
static bool
next_touch (struct rd_walk *walk, uint64_t max_tiles, struct rd_touch *touch)
{
  if (!walk->inside && !begin_request (walk))
    return false;
  *touch = (struct rd_touch) { .request = walk->at, .first = walk->first };
  memcpy (touch->chunk, walk->chunk, sizeof touch->chunk);
  touch->first_tile = rd_layout_first_tile (walk->layout, walk->chunk);
  find_tiles (walk, &touch->tiles);
  uint64_t left = radio_box_count (&touch->tiles) - walk->first;
  touch->n = rd_min_u64 (left, max_tiles);
  walk->first += touch->n;
  if (touch->n == left) {
    walk->first = 0;
    if (!rd_box_next (&walk->chunks, walk->chunk)) {
      walk->inside = false;
      walk->at++;
    }
  }
  return true;
}

static int
compare_chunks (const uint64_t *a, const uint64_t *b)
{
  for (size_t i = 0; i < RADIO_MAX_RANK; i++)
    if (a[i] != b[i])
      return a[i] < b[i] ? -1 : 1;
  return 0;
}

static int
compare_touches (const void *a, const void *b)
{
  const struct rd_touch *x = a, *y = b;
  int order = compare_chunks (x->chunk, y->chunk);
  if (order == 0 && x->request != y->request)
    order = x->request < y->request ? -1 : 1;
  if (order == 0 && x->first != y->first)
    order = x->first < y->first ? -1 : 1;
  return order;
}

bool
rd_touch_is_head (const struct rd_batch *batch, uint32_t i)
{
  return i == 0 || compare_chunks (batch->touches[i].chunk,
                                   batch->touches[i - 1].chunk) != 0;
}

enum radio_status
rd_plan_touches (struct rd_walk *walk, uint64_t max_index_nbytes,
                 struct rd_batch *batch)
{
  uint64_t ntiles = 0, index_nbytes = 0;
  struct rd_touch touch;
  batch->ntouches = 0;
  while (batch->ntouches < RD_BATCH_MAX_TOUCHES
         && ntiles < RD_BATCH_MAX_TILES
         && (index_nbytes < max_index_nbytes || batch->ntouches == 0)
         && next_touch (walk, RD_BATCH_MAX_TILES - ntiles, &touch)) {
    RD_TRY (add_touch (batch, &touch));
    ntiles += touch.n;
    index_nbytes += walk->layout->index_nbytes;
  }
  /* One request touches each chunk once, and in order. */
  if (walk->n > 1)
    qsort (batch->touches, batch->ntouches, sizeof touch, compare_touches);
  return RADIO_OK;
}

/* A tile's number in its chunk. */
static uint64_t
ravel (const struct rd_layout *layout, const uint64_t *at)
{
  uint64_t tile = 0;
  for (size_t i = 0; i < layout->rank; i++)
    tile = tile * layout->grid[i] + at[i];
  return tile;
}

struct rd_tile_key
rd_item_key (const struct rd_known *known, const struct rd_touch *touch,
             const struct rd_item *item)
{
  struct rd_tile_key key = { .array = known->array, .tile = item->tile };
  memcpy (key.chunk, touch->chunk, sizeof key.chunk);
  return key;
}

/* Take an item's tile from those decoded before, if it is there. */
static void
look_for_tile (const struct rd_known *known, const struct rd_touch *touch,
               struct rd_item *item)
{
  const struct rd_tile_key key = rd_item_key (known, touch, item);
  item->cached = rd_tile_cache_find (known->cache, &key);
  if (!item->cached)
    return;
  item->offset = RD_ITEM_CACHED;
  item->nbytes = 0;
}

/* Items of a touch whose shard's index is at hand. */
static enum radio_status
add_tiles (const struct rd_layout *layout, uint32_t number,
           const struct rd_shard_index *index, const struct rd_known *known,
           struct rd_batch *batch)
{
  const struct rd_touch touch = batch->touches[number];
  uint64_t at[RADIO_MAX_RANK] = { 0 };
  rd_box_unravel (&touch.tiles, touch.first, at);
  for (uint64_t i = 0; i < touch.n; i++) {
    uint64_t tile = ravel (layout, at);
    const struct rd_shard_entry *entry = &index->entries[tile];
    bool missing = entry->offset == RD_SHARD_MISSING;
    /* One that is longer than a tile can be is an error, of which a byte
     * is proof enough. */
    uint64_t nbytes = rd_min_u64 (entry->nbytes, layout->tile_most_nbytes);
    struct rd_item item = { NULL, entry->offset, missing ? 0 : nbytes, tile,
                            number };
    RD_TRY (reserve_item (batch));
    if (known->cache && !missing)
      look_for_tile (known, &touch, &item);
    batch->ncached += item.cached != NULL;
    batch->items[batch->nitems++] = item;
    rd_box_next (&touch.tiles, at);
  }
  return RADIO_OK;
}

static enum radio_status
add_items (const struct rd_layout *layout, uint32_t number,
           const struct rd_touch *head, const struct rd_known *known,
           struct rd_batch *batch)
{
  const struct rd_touch *touch = &batch->touches[number];
  if (head->failed)
    return RADIO_OK;
  if (head->entry)
    return add_tiles (layout, number, head->entry->index, known, batch);
  struct rd_item item = { NULL, 0, 0, 0, number };
  if (head->missing) {
    item.offset = RD_SHARD_MISSING;
    item.tile = RD_ITEM_WHOLE;
    if (touch->first > 0)
      return RADIO_OK;
  }
  RD_TRY (reserve_item (batch));
  batch->items[batch->nitems++] = item;
  return RADIO_OK;
}

static int
compare_items (const void *a, const void *b)
{
  const struct rd_item *x = a, *y = b;
  if (x->offset != y->offset)
    return x->offset < y->offset ? -1 : 1;
  if (x->tile != y->tile)
    return x->tile < y->tile ? -1 : 1;
  return x->touch < y->touch ? -1 : x->touch > y->touch;
}

/* By offset; what is missing comes last.  Most shards are in order. */
static void
sort_items (struct rd_item *items, size_t n)
{
  for (size_t i = 1; i < n; i++)
    if (compare_items (&items[i - 1], &items[i]) > 0) {
      qsort (items, n, sizeof *items, compare_items);
      return;
    }
}

/* Whether an item can be fetched with the unit before it. */
static bool
joins (const struct rd_unit *unit, const struct rd_item *items,
       const struct rd_item *item, const struct rd_coalesce *coalesce)
{
  if (unit->kind == RD_UNIT_FILL)
    return item->offset == RD_SHARD_MISSING && unit->n < MAX_FILL_ITEMS;
  if (unit->kind == RD_UNIT_CACHED || item->cached)
    return unit->kind == RD_UNIT_CACHED && item->cached
      && unit->n < MAX_CACHED_ITEMS;
  if (items[unit->first + unit->n - 1].tile == item->tile)
    return true;
  if (item->offset == RD_SHARD_MISSING || unit->kind == RD_UNIT_OBJECT)
    return false;
  uint64_t end = unit->offset + unit->nbytes;
  if (item->offset > end && item->offset - end > coalesce->gap_nbytes)
    return false;
  return item->offset + item->nbytes - unit->offset <= coalesce->cap_nbytes;
}

static struct rd_unit
unit_of (const struct rd_item *item, uint32_t first,
         const struct rd_touch *head)
{
  struct rd_unit unit = { .first = first, .n = 1, .file = head->file };
  if (item->offset == RD_SHARD_MISSING)
    unit.kind = RD_UNIT_FILL;
  else if (item->cached)
    unit.kind = RD_UNIT_CACHED;
  else if (!head->entry)
    unit.kind = RD_UNIT_OBJECT;
  else {
    unit.kind = RD_UNIT_SPAN;
    unit.offset = item->offset;
    unit.nbytes = item->nbytes;
    unit.shard_nbytes = head->entry->shard_nbytes;
    unit.shard_version = head->entry->shard_version;
  }
  return unit;
}

/* Units of the items of one chunk. */
static enum radio_status
join_items (uint32_t first, uint32_t end, const struct rd_touch *head,
            const struct rd_coalesce *coalesce, struct rd_batch *batch)
{
  const struct rd_item *items = batch->items;
  sort_items (batch->items + first, end - first);
  struct rd_unit unit = unit_of (&items[first], first, head);
  for (uint32_t i = first + 1; i < end; i++) {
    if (!joins (&unit, items, &items[i], coalesce)) {
      RD_TRY (add_unit (batch, &unit));
      unit = unit_of (&items[i], i, head);
      continue;
    }
    unit.n++;
    if (unit.kind == RD_UNIT_SPAN)
      unit.nbytes = rd_max_u64 (unit.nbytes, items[i].offset
                                + items[i].nbytes - unit.offset);
  }
  return add_unit (batch, &unit);
}

/* With few bytes for many workers each fetch is made smaller. */
static struct rd_coalesce
share_out (const struct rd_coalesce *asked, const struct rd_batch *batch)
{
  struct rd_coalesce coalesce = *asked;
  if (asked->nworkers == 0)
    return coalesce;
  uint64_t total = 0;
  for (uint32_t i = 0; i < batch->nitems; i++)
    total += batch->items[i].nbytes;
  uint64_t share = total / (UNITS_PER_WORKER * (uint64_t) asked->nworkers);
  share = rd_max_u64 (share, MIN_UNIT_NBYTES);
  coalesce.cap_nbytes = rd_min_u64 (coalesce.cap_nbytes, share);
  return coalesce;
}

enum radio_status
rd_plan_units (const struct rd_layout *layout,
               const struct rd_coalesce *asked,
               const struct rd_known *known, struct rd_batch *batch)
{
  batch->nitems = batch->nunits = batch->ncached = 0;
  batch->most_unit_nbytes = 0;
  struct rd_touch *head = NULL;
  for (uint32_t i = 0; i < batch->ntouches; i++) {
    if (rd_touch_is_head (batch, i)) {
      head = &batch->touches[i];
      head->first_item = batch->nitems;
    }
    RD_TRY (add_items (layout, i, head, known, batch));
  }
  struct rd_coalesce coalesce = share_out (asked, batch);
  for (uint32_t i = 0, next = 0; i < batch->ntouches; i = next) {
    next = i + 1;
    while (next < batch->ntouches && !rd_touch_is_head (batch, next))
      next++;
    uint32_t first = batch->touches[i].first_item;
    uint32_t end = next < batch->ntouches ? batch->touches[next].first_item
                                          : batch->nitems;
    if (first < end)
      RD_TRY (join_items (first, end, &batch->touches[i], &coalesce, batch));
  }
  return RADIO_OK;
}

void
rd_plan_release (const struct rd_known *known, struct rd_batch *batch)
{
  for (uint32_t i = 0; batch->ncached > 0 && i < batch->nitems; i++)
    if (batch->items[i].cached) {
      rd_tile_cache_release (known->cache, batch->items[i].cached);
      batch->items[i].cached = NULL;
      batch->ncached--;
    }
}
