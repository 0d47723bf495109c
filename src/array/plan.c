/* SPDX-License-Identifier: MIT */
/* Boxes to chunks, chunks to tiles, tiles to fetches. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "src/base/error.h"
#include "src/array/plan.h"
#include "src/element/box.h"

/* The most tiles of one part of a plan. */
#define MAX_TILES 16384

/* A smaller fetch is not worth splitting further among workers. */
#define MIN_FETCH_NBYTES ((uint64_t) 32 << 10)

/* Fetches for each worker, so that none idles at the end. */
#define FETCHES_PER_WORKER 16

/* Tiles that are filled as one fetch, and cached ones. */
#define MAX_FILL_TILES 64
#define MAX_CACHED_TILES 32

void
rd_plan_init (struct rd_plan *plan)
{
  plan->chunks = plan->inline_chunks;
  plan->tiles = plan->inline_tiles;
  plan->fetches = plan->inline_fetches;
  plan->nchunks = plan->ntiles = plan->nfetches = 0;
  plan->max_chunks = RD_PLAN_INLINE / 2;
  plan->max_tiles = plan->max_fetches = RD_PLAN_INLINE;
  plan->ncached = 0;
  plan->max_fetch_nbytes = 0;
}

void
rd_plan_free (struct rd_plan *plan)
{
  if (plan->chunks != plan->inline_chunks)
    rd_free (plan->chunks);
  if (plan->tiles != plan->inline_tiles)
    rd_free (plan->tiles);
  if (plan->fetches != plan->inline_fetches)
    rd_free (plan->fetches);
  rd_plan_init (plan);
}

/* Makes room for one more entry: a full list moves from the plan to the heap,
 * and *max doubles. */
static enum radio_status
reserve_one (void **list, const void *inline_list, uint32_t used,
             uint32_t *max, size_t entry_nbytes)
{
  if (used < *max)
    return RADIO_OK;
  size_t nbytes = 2 * (size_t) *max * entry_nbytes;
  bool on_heap = *list != inline_list;
  void *grown = rd_realloc (on_heap ? *list : NULL, nbytes);
  if (!grown)
    return rd_fail_memory (nbytes);
  if (!on_heap)
    memcpy (grown, inline_list, used * entry_nbytes);
  *list = grown;
  *max *= 2;
  return RADIO_OK;
}

static enum radio_status
reserve_tile (struct rd_plan *plan)
{
  void *list = plan->tiles;
  RD_TRY (reserve_one (&list, plan->inline_tiles, plan->ntiles,
                       &plan->max_tiles, sizeof *plan->tiles));
  plan->tiles = list;
  return RADIO_OK;
}

static enum radio_status
add_fetch (struct rd_plan *plan, const struct rd_plan_fetch *fetch)
{
  void *list = plan->fetches;
  RD_TRY (reserve_one (&list, plan->inline_fetches, plan->nfetches,
                       &plan->max_fetches, sizeof *fetch));
  plan->fetches = list;
  plan->fetches[plan->nfetches++] = *fetch;
  plan->max_fetch_nbytes = rd_max_u64 (plan->max_fetch_nbytes,
                                       fetch->nbytes);
  return RADIO_OK;
}

/* Finds the next chunk, with at most max_tiles; false at the end. */
static bool
next_chunk (struct rd_plan_cursor *cursor, uint64_t max_tiles,
            struct rd_plan_chunk *chunk)
{
  const struct rd_layout *layout = cursor->layout;
  if (!cursor->inside) {
    while (cursor->at < cursor->n
           && radio_box_count (&cursor->requests[cursor->at].box) == 0)
      cursor->at++;
    if (cursor->at == cursor->n)
      return false;
    rd_grid_touched (&cursor->requests[cursor->at].box, layout->chunk.shape,
                     &cursor->chunks);
    memcpy (cursor->chunk, cursor->chunks.start, sizeof cursor->chunk);
    cursor->inside = true;
    cursor->first = 0;
  }
  *chunk = (struct rd_plan_chunk) { .request = cursor->at,
                                    .first = cursor->first };
  memcpy (chunk->chunk, cursor->chunk, sizeof chunk->chunk);
  chunk->number_base = rd_layout_first_tile (layout, cursor->chunk);

  struct radio_box cell = rd_grid_cell (layout->rank, layout->chunk.shape,
                                        cursor->chunk);
  struct radio_box part = { .rank = layout->rank };
  (void) rd_box_intersect (&cursor->requests[cursor->at].box, &cell, &part);
  for (size_t i = 0; i < layout->rank; i++)
    part.start[i] -= cell.start[i];
  rd_grid_touched (&part, layout->tile.shape, &chunk->tiles);

  uint64_t left = radio_box_count (&chunk->tiles) - cursor->first;
  chunk->n = rd_min_u64 (left, max_tiles);
  cursor->first += chunk->n;
  if (chunk->n == left) {
    cursor->first = 0;
    if (!rd_box_next (&cursor->chunks, cursor->chunk)) {
      cursor->inside = false;
      cursor->at++;
    }
  }
  return true;
}

static int
compare_coordinates (const uint64_t *a, const uint64_t *b)
{
  for (size_t i = 0; i < RADIO_MAX_RANK; i++)
    if (a[i] != b[i])
      return a[i] < b[i] ? -1 : 1;
  return 0;
}

static int
compare_chunks (const void *a, const void *b)
{
  const struct rd_plan_chunk *x = a, *y = b;
  int order = compare_coordinates (x->chunk, y->chunk);
  if (order == 0)
    order = rd_compare_u64 (x->request, y->request);
  return order ? order : rd_compare_u64 (x->first, y->first);
}

bool
rd_plan_is_first (const struct rd_plan *plan, uint32_t i)
{
  return i == 0 || compare_coordinates (plan->chunks[i].chunk,
                                        plan->chunks[i - 1].chunk) != 0;
}

enum radio_status
rd_plan_chunks (struct rd_plan_cursor *cursor, uint64_t max_index_nbytes,
                struct rd_plan *plan)
{
  uint64_t ntiles = 0, index_nbytes = 0;
  struct rd_plan_chunk chunk;
  plan->nchunks = 0;
  while (plan->nchunks < RD_PLAN_MAX_CHUNKS && ntiles < MAX_TILES
         && (index_nbytes < max_index_nbytes || plan->nchunks == 0)
         && next_chunk (cursor, MAX_TILES - ntiles, &chunk)) {
    void *list = plan->chunks;
    RD_TRY (reserve_one (&list, plan->inline_chunks, plan->nchunks,
                         &plan->max_chunks, sizeof chunk));
    plan->chunks = list;
    plan->chunks[plan->nchunks++] = chunk;
    ntiles += chunk.n;
    index_nbytes += cursor->layout->index_nbytes;
  }
  /* One request has each chunk once, and in order. */
  if (cursor->n > 1)
    qsort (plan->chunks, plan->nchunks, sizeof chunk, compare_chunks);
  return RADIO_OK;
}

struct rd_tile_key
rd_plan_tile_key (const struct rd_cache_ref *cache,
                  const struct rd_plan_chunk *chunk,
                  const struct rd_plan_tile *tile)
{
  struct rd_tile_key key = { .array = cache->array, .tile = tile->tile };
  memcpy (key.chunk, chunk->chunk, sizeof key.chunk);
  return key;
}

/* Plans the tiles of a chunk whose index is known, or that needs none. */
static enum radio_status
add_tiles (const struct rd_layout *layout, uint32_t number,
           const struct rd_plan_chunk *first,
           const struct rd_cache_ref *cache, struct rd_plan *plan)
{
  if (first->failed)
    return RADIO_OK;
  const struct rd_plan_chunk *chunk = &plan->chunks[number];
  if (!first->entry) {
    struct rd_plan_tile tile = { NULL, 0, 0, 0, number };
    if (first->missing) {
      tile.offset = RD_SHARD_MISSING;
      tile.tile = RD_TILE_WHOLE_CHUNK;
      if (chunk->first > 0)
        return RADIO_OK;
    }
    RD_TRY (reserve_tile (plan));
    plan->tiles[plan->ntiles++] = tile;
    return RADIO_OK;
  }
  const struct rd_shard_index *index = first->entry->index;
  uint64_t at[RADIO_MAX_RANK] = { 0 };
  rd_box_unravel (&chunk->tiles, chunk->first, at);
  for (uint64_t i = 0; i < chunk->n; i++) {
    uint64_t tile_number = 0;
    for (size_t axis = 0; axis < layout->rank; axis++)
      tile_number = tile_number * layout->grid[axis] + at[axis];
    const struct rd_shard_entry *entry = &index->entries[tile_number];
    bool missing = entry->offset == RD_SHARD_MISSING;
    /* One that is longer than a tile can be is an error, which one byte too
     * many is enough to show. */
    uint64_t nbytes = rd_min_u64 (entry->nbytes, layout->tile_most_nbytes);
    struct rd_plan_tile tile = { NULL, entry->offset, missing ? 0 : nbytes,
                                 tile_number, number };
    RD_TRY (reserve_tile (plan));
    if (cache->tiles && !missing) {
      const struct rd_tile_key key = rd_plan_tile_key (cache, chunk, &tile);
      tile.cached = rd_tile_cache_find (cache->tiles, &key);
      if (tile.cached) {
        tile.offset = RD_OFFSET_CACHED;
        tile.nbytes = 0;
        plan->ncached++;
      }
    }
    plan->tiles[plan->ntiles++] = tile;
    rd_box_next (&chunk->tiles, at);
  }
  return RADIO_OK;
}

static int
compare_tiles (const void *a, const void *b)
{
  const struct rd_plan_tile *x = a, *y = b;
  if (x->offset != y->offset)
    return x->offset < y->offset ? -1 : 1;
  if (x->tile != y->tile)
    return x->tile < y->tile ? -1 : 1;
  return x->chunk < y->chunk ? -1 : x->chunk > y->chunk;
}

/* True when a tile can join the fetch before it. */
static bool
joins (const struct rd_plan_fetch *fetch, const struct rd_plan_tile *tiles,
       const struct rd_plan_tile *tile, const struct rd_coalesce *coalesce)
{
  if (fetch->kind == RD_FETCH_FILL)
    return tile->offset == RD_SHARD_MISSING && fetch->n < MAX_FILL_TILES;
  if (fetch->kind == RD_FETCH_CACHED || tile->cached)
    return fetch->kind == RD_FETCH_CACHED && tile->cached
      && fetch->n < MAX_CACHED_TILES;
  if (tiles[fetch->first + fetch->n - 1].tile == tile->tile)
    return true;
  if (tile->offset == RD_SHARD_MISSING || fetch->kind == RD_FETCH_OBJECT)
    return false;
  uint64_t end = fetch->offset + fetch->nbytes;
  if (tile->offset > end && tile->offset - end > coalesce->gap_nbytes)
    return false;
  return tile->offset + tile->nbytes - fetch->offset <= coalesce->cap_nbytes;
}

static struct rd_plan_fetch
new_fetch (const struct rd_plan_tile *tile, uint32_t first,
           const struct rd_plan_chunk *chunk)
{
  struct rd_plan_fetch fetch = { .first = first, .n = 1,
                                 .file = chunk->file };
  if (tile->offset == RD_SHARD_MISSING)
    fetch.kind = RD_FETCH_FILL;
  else if (tile->cached)
    fetch.kind = RD_FETCH_CACHED;
  else if (!chunk->entry)
    fetch.kind = RD_FETCH_OBJECT;
  else {
    fetch.kind = RD_FETCH_SPAN;
    fetch.offset = tile->offset;
    fetch.nbytes = tile->nbytes;
    fetch.shard_nbytes = chunk->entry->shard_nbytes;
    fetch.shard_version = chunk->entry->shard_version;
  }
  return fetch;
}

/* Joins the tiles of one chunk, from first to end - 1, to fetches. */
static enum radio_status
join_tiles (uint32_t first, uint32_t end, const struct rd_plan_chunk *chunk,
            const struct rd_coalesce *coalesce, struct rd_plan *plan)
{
  struct rd_plan_tile *tiles = plan->tiles;
  /* By offset, missing ones last.  Most shards are in order already. */
  for (uint32_t i = first + 1; i < end; i++)
    if (compare_tiles (&tiles[i - 1], &tiles[i]) > 0) {
      qsort (tiles + first, end - first, sizeof *tiles, compare_tiles);
      break;
    }
  struct rd_plan_fetch fetch = new_fetch (&tiles[first], first, chunk);
  for (uint32_t i = first + 1; i < end; i++) {
    if (!joins (&fetch, tiles, &tiles[i], coalesce)) {
      RD_TRY (add_fetch (plan, &fetch));
      fetch = new_fetch (&tiles[i], i, chunk);
      continue;
    }
    fetch.n++;
    if (fetch.kind == RD_FETCH_SPAN)
      fetch.nbytes = rd_max_u64 (fetch.nbytes, tiles[i].offset
                                 + tiles[i].nbytes - fetch.offset);
  }
  return add_fetch (plan, &fetch);
}

enum radio_status
rd_plan_fetches (const struct rd_layout *layout,
                 const struct rd_coalesce *wanted,
                 const struct rd_cache_ref *cache, struct rd_plan *plan)
{
  plan->ntiles = plan->nfetches = plan->ncached = 0;
  plan->max_fetch_nbytes = 0;
  struct rd_plan_chunk *first = NULL;
  for (uint32_t i = 0; i < plan->nchunks; i++) {
    if (rd_plan_is_first (plan, i)) {
      first = &plan->chunks[i];
      first->first_tile = plan->ntiles;
    }
    RD_TRY (add_tiles (layout, i, first, cache, plan));
  }

  /* Few bytes for many workers are split into smaller fetches. */
  struct rd_coalesce coalesce = *wanted;
  if (wanted->nworkers > 0) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < plan->ntiles; i++)
      total += plan->tiles[i].nbytes;
    uint64_t share = total / (FETCHES_PER_WORKER
                              * (uint64_t) wanted->nworkers);
    share = rd_max_u64 (share, MIN_FETCH_NBYTES);
    coalesce.cap_nbytes = rd_min_u64 (coalesce.cap_nbytes, share);
  }

  for (uint32_t i = 0, next = 0; i < plan->nchunks; i = next) {
    next = i + 1;
    while (next < plan->nchunks && !rd_plan_is_first (plan, next))
      next++;
    uint32_t start = plan->chunks[i].first_tile;
    uint32_t end = next < plan->nchunks ? plan->chunks[next].first_tile
                                        : plan->ntiles;
    if (start < end)
      RD_TRY (join_tiles (start, end, &plan->chunks[i], &coalesce, plan));
  }
  return RADIO_OK;
}

void
rd_plan_release_cached (const struct rd_cache_ref *cache,
                        struct rd_plan *plan)
{
  for (uint32_t i = 0; plan->ncached > 0 && i < plan->ntiles; i++)
    if (plan->tiles[i].cached) {
      rd_tile_cache_release (cache->tiles, plan->tiles[i].cached);
      plan->tiles[i].cached = NULL;
      plan->ncached--;
    }
}
