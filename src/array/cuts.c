/* SPDX-License-Identifier: MIT */
/* Cutting a chunk's object at the bounds of its tiles. */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "profiler/counters.h"
#include "src/array/cuts.h"

static enum radio_status
fail_in_object (const struct rd_cuts *cuts, enum radio_status status)
{
  return rd_fail_in (status, "%s/%s", cuts->io->uri, cuts->key);
}

static enum radio_status
fail_changed (const struct rd_cuts *cuts, uint64_t nbytes)
{
  return rd_fail (RADIO_ERROR_IO, "%s/%s: changed while it was read: %" PRIu64
                  " bytes instead of %" PRIu64, cuts->io->uri, cuts->key,
                  nbytes, cuts->object_nbytes);
}

/* The place of the index, which fits into the object. */
static uint64_t
index_offset (const struct rd_cuts *cuts)
{
  const struct rd_layout *layout = cuts->layout;
  return layout->sharding->u.sharding.index_at_start
         ? 0 : cuts->object_nbytes - layout->index_nbytes;
}

static enum radio_status
read_index (struct rd_cuts *cuts)
{
  const struct rd_layout *layout = cuts->layout;
  if (cuts->object_nbytes < layout->index_nbytes) {
    rd_fail (RADIO_ERROR_FORMAT, "the shard has %" PRIu64 " bytes, less than "
             "its index of %" PRIu64, cuts->object_nbytes,
             layout->index_nbytes);
    return fail_in_object (cuts, RADIO_ERROR_FORMAT);
  }
  struct rd_io_get get = {
    .key = cuts->key, .file = cuts->file, .range = RD_RANGE_SPAN,
    .offset = index_offset (cuts), .nbytes = (size_t) layout->index_nbytes,
    .into = &cuts->index,
  };
  RD_TRY (rd_io_read (cuts->io, &get));
  if (get.object_nbytes != cuts->object_nbytes
      || cuts->index.nbytes != layout->index_nbytes)
    return fail_changed (cuts, get.object_nbytes);
  return RADIO_OK;
}

static int
compare_tiles (const void *a, const void *b)
{
  const struct rd_cut_tile *x = a, *y = b;
  int order = rd_compare_u64 (x->offset, y->offset);
  return order ? order : rd_compare_u64 (x->tile, y->tile);
}

static enum radio_status
check_length (const struct rd_cuts *cuts,
              const struct rd_shard_entry *entry)
{
  uint64_t most = cuts->layout->tile_most_nbytes;
  if (entry->nbytes < most)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_FORMAT, "the index claims %" PRIu64 " bytes at "
                  "%" PRIu64 ": the codecs cannot make so much of a tile",
                  entry->nbytes, entry->offset);
}

static enum radio_status
take_entries (struct rd_cuts *cuts, const struct rd_shard_index *index)
{
  for (uint64_t i = 0; i < index->n; i++) {
    const struct rd_shard_entry *entry = &index->entries[i];
    if (entry->offset == RD_SHARD_MISSING)
      continue;
    RD_TRY (check_length (cuts, entry));
    cuts->tiles[cuts->n++]
      = (struct rd_cut_tile) { entry->offset, entry->nbytes, i };
  }
  cuts->tiles[cuts->n++] = (struct rd_cut_tile) {
    index_offset (cuts), cuts->layout->index_nbytes, RD_CUT_INDEX,
  };
  qsort (cuts->tiles, cuts->n, sizeof *cuts->tiles, compare_tiles);
  return RADIO_OK;
}

/* The index and the list of tiles come to less than this many times what is
 * stored of the index, which has 16 bytes a tile. */
#define INDEX_TIMES 4

static enum radio_status
open_shard (struct rd_cuts *cuts, struct rd_scratch *scratch)
{
  const struct rd_layout *layout = cuts->layout;
  RD_FREE struct rd_shard_index *index = NULL;
  RD_TRY (rd_context_allows (cuts->context,
                             rd_mul_sat (layout->index_nbytes, INDEX_TIMES),
                             "a shard's index"));
  RD_TRY (read_index (cuts));
  size_t nbytes = (size_t) (layout->ntiles + 1) * sizeof *cuts->tiles;
  cuts->tiles = rd_malloc (nbytes);
  if (!cuts->tiles)
    return rd_fail_memory (nbytes);
  enum radio_status status = rd_shard_index_decode (
    layout->sharding, &layout->chunk, scratch, cuts->index.data,
    cuts->index.nbytes, cuts->object_nbytes, &index);
  if (status == RADIO_OK)
    status = take_entries (cuts, index);
  return status == RADIO_OK ? RADIO_OK : fail_in_object (cuts, status);
}

/* A chunk without an index is one tile. */
static enum radio_status
open_chunk (struct rd_cuts *cuts)
{
  if (cuts->object_nbytes == 0)
    return rd_fail (RADIO_ERROR_FORMAT, "%s/%s: is empty", cuts->io->uri,
                    cuts->key);
  cuts->tiles = rd_malloc (sizeof *cuts->tiles);
  if (!cuts->tiles)
    return rd_fail_memory (sizeof *cuts->tiles);
  cuts->tiles[0] = (struct rd_cut_tile) { 0, cuts->object_nbytes, 0 };
  cuts->n = 1;
  return RADIO_OK;
}

enum radio_status
rd_cuts_open (struct rd_cuts *cuts, struct rd_scratch *scratch)
{
  RD_SCOPE ("shard index", RD_IN_METADATA);
  return cuts->layout->sharding ? open_shard (cuts, scratch)
                                : open_chunk (cuts);
}

void
rd_cuts_close (struct rd_cuts *cuts)
{
  rd_buffer_free (&cuts->index);
  rd_free (cuts->tiles);
}

/* Tiles may overlap: a writer may store equal ones once.  So a cut is where
 * no tile that began before reaches to. */
bool
rd_cuts_next (struct rd_cuts *cuts, struct rd_cut *piece)
{
  uint64_t start = cuts->at, end = start;
  uint64_t least = rd_min_u64 (cuts->object_nbytes,
                               rd_add_sat (start, cuts->target_nbytes));
  if (start >= cuts->object_nbytes)
    return false;
  piece->offset = start;
  piece->first = cuts->next;
  while (cuts->next < cuts->n) {
    const struct rd_cut_tile *tile = &cuts->tiles[cuts->next];
    if (tile->offset >= end && tile->offset >= least)
      break;
    end = rd_max_u64 (end, tile->offset + tile->nbytes);
    cuts->next++;
  }
  end = rd_max_u64 (end, least);
  piece->nbytes = end - start;
  piece->n = cuts->next - piece->first;
  cuts->at = end;
  return true;
}

enum radio_status
rd_cuts_ask (const struct rd_cuts *cuts, const struct rd_cut *piece,
             struct rd_io_get *get)
{
  enum radio_status status = rd_context_allows (
    cuts->context,
    rd_add_sat (piece->nbytes, cuts->layout->decode_nbytes),
    cuts->layout->sharding ? "a tile" : "the chunk");
  if (status != RADIO_OK)
    return fail_in_object (cuts, status);
  get->key = cuts->key;
  get->file = cuts->file;
  get->range = RD_RANGE_SPAN;
  get->offset = piece->offset;
  get->nbytes = (size_t) piece->nbytes;
  get->needed_nbytes = 0;
  return RADIO_OK;
}

enum radio_status
rd_cuts_look (const struct rd_cuts *cuts, const struct rd_cut *piece,
              const struct rd_io_get *get)
{
  RD_TRY (rd_error_raise (&get->error));
  if (get->object_nbytes != cuts->object_nbytes
      || get->into->nbytes != piece->nbytes)
    return fail_changed (cuts, get->object_nbytes);
  return RADIO_OK;
}

static enum radio_status
check_index (const struct rd_cuts *cuts, const unsigned char *bytes)
{
  if (memcmp (cuts->index.data, bytes, cuts->index.nbytes) == 0)
    return RADIO_OK;
  rd_fail (RADIO_ERROR_CHECKSUM, "shard index: reads differently each time");
  return fail_in_object (cuts, RADIO_ERROR_CHECKSUM);
}

static enum radio_status
check_tile (const struct rd_cuts *cuts, const struct rd_cut_tile *tile,
            const unsigned char *bytes, struct rd_scratch *scratch)
{
  const struct rd_layout *layout = cuts->layout;
  char name[RD_TILE_NAME_NBYTES];
  if (tile->tile == RD_CUT_INDEX)
    return check_index (cuts, bytes);
  enum radio_status status = rd_chain_verify (
    layout->chain, &layout->tile, scratch, bytes, (size_t) tile->nbytes);
  if (status == RADIO_OK)
    return RADIO_OK;
  if (layout->sharding)
    rd_fail_in (status, "%s", rd_layout_tile_name (layout, tile->tile,
                                                   name));
  return fail_in_object (cuts, status);
}

enum radio_status
rd_cuts_check (const struct rd_cuts *cuts, const struct rd_cut *piece,
               const unsigned char *bytes, struct rd_scratch *scratch)
{
  RD_SCOPE ("check", RD_IN_DECODE);
  uint64_t ntiles = 0;
  for (uint64_t i = piece->first; i < piece->first + piece->n; i++) {
    const struct rd_cut_tile *tile = &cuts->tiles[i];
    RD_TRY (check_tile (cuts, tile, bytes + (tile->offset - piece->offset),
                        scratch));
    ntiles += tile->tile != RD_CUT_INDEX;
  }
  RD_COUNT (tiles, ntiles);
  return RADIO_OK;
}

bool
rd_layout_has_checksums (const struct rd_layout *layout)
{
  return rd_chain_has_checksum (layout->chain)
         && (!layout->sharding
             || rd_chain_has_checksum (layout->sharding->u.sharding.index));
}
