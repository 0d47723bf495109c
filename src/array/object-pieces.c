/* SPDX-License-Identifier: MIT */
/* Splitting a chunk's object at the bounds of its tiles. */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "profiler/counters.h"
#include "src/array/object-pieces.h"
#include "src/array/refetch.h"

/* The index in the list of tiles. */
#define INDEX_TILE UINT64_MAX

static enum radio_status
fail_in_object (const struct rd_object_pieces *pieces, enum radio_status status)
{
  return rd_fail_in (status, "%s/%s", pieces->io->uri, pieces->key);
}

static enum radio_status
fail_changed (const struct rd_object_pieces *pieces, uint64_t nbytes)
{
  return rd_fail (RADIO_ERROR_IO, "%s/%s: changed while it was read: %" PRIu64
                  " bytes instead of %" PRIu64, pieces->io->uri, pieces->key,
                  nbytes, pieces->object_nbytes);
}

static int
compare_tiles (const void *a, const void *b)
{
  const struct rd_object_tile *x = a, *y = b;
  int order = rd_compare_u64 (x->offset, y->offset);
  return order ? order : rd_compare_u64 (x->tile, y->tile);
}

/* The index and the list of tiles take less than this many times the stored
 * index, which has 16 bytes a tile. */
#define INDEX_TIMES 4

/* Reads a shard's index, and lists its tiles and the index itself. */
static enum radio_status
open_shard (struct rd_object_pieces *pieces, struct rd_scratch *scratch)
{
  const struct rd_layout *layout = pieces->layout;
  RD_TRY (rd_context_allows (pieces->context,
                             rd_mul_sat (layout->index_nbytes, INDEX_TIMES),
                             "a shard's index"));
  if (pieces->object_nbytes < layout->index_nbytes) {
    rd_fail (RADIO_ERROR_FORMAT, "the shard has %" PRIu64 " bytes, less than "
             "its index of %" PRIu64, pieces->object_nbytes,
             layout->index_nbytes);
    return fail_in_object (pieces, RADIO_ERROR_FORMAT);
  }
  uint64_t offset = layout->sharding->u.sharding.index_at_start
                    ? 0 : pieces->object_nbytes - layout->index_nbytes;
  struct rd_refetch refetch = { 0 };
  RD_FREE struct rd_shard_index *index = NULL;
  enum radio_status status;
  do {
    struct rd_io_get get = {
      .key = pieces->key, .file = pieces->file, .range = RD_RANGE_SPAN,
      .offset = offset, .nbytes = (size_t) layout->index_nbytes,
      .into = &pieces->index, .object_nbytes = pieces->object_nbytes,
    };
    status = rd_io_read (pieces->io, &get);
    pieces->found_other |= get.is_other;
    RD_TRY (status);
    if (get.object_nbytes != pieces->object_nbytes
        || pieces->index.nbytes != layout->index_nbytes)
      return fail_changed (pieces, get.object_nbytes);
    status = rd_shard_index_decode (
      layout->sharding, &layout->chunk, scratch, pieces->index.data,
      pieces->index.nbytes, pieces->object_nbytes, &index);
  } while (rd_refetch_is_due (&refetch, pieces->io, status,
                              pieces->index.data, pieces->index.nbytes));
  if (status != RADIO_OK)
    return fail_in_object (pieces, status);

  size_t nbytes = (size_t) (layout->ntiles + 1) * sizeof *pieces->tiles;
  pieces->tiles = rd_malloc (nbytes);
  if (!pieces->tiles)
    return rd_fail_memory (nbytes);
  for (uint64_t i = 0; status == RADIO_OK && i < index->n; i++) {
    const struct rd_shard_entry *entry = &index->entries[i];
    if (entry->offset == RD_SHARD_MISSING)
      continue;
    if (entry->nbytes >= layout->tile_most_nbytes)
      status = rd_fail (RADIO_ERROR_FORMAT, "the index claims %" PRIu64
                        " bytes at %" PRIu64 ": the codecs cannot make so "
                        "much of a tile", entry->nbytes, entry->offset);
    pieces->tiles[pieces->n++]
      = (struct rd_object_tile) { entry->offset, entry->nbytes, i };
  }
  if (status != RADIO_OK)
    return fail_in_object (pieces, status);
  pieces->tiles[pieces->n++] = (struct rd_object_tile) {
    offset, layout->index_nbytes, INDEX_TILE,
  };
  qsort (pieces->tiles, pieces->n, sizeof *pieces->tiles, compare_tiles);
  return RADIO_OK;
}

enum radio_status
rd_object_pieces_open (struct rd_object_pieces *pieces,
                       struct rd_scratch *scratch)
{
  RD_SCOPE ("shard index", RD_IN_METADATA);
  if (pieces->layout->sharding)
    return open_shard (pieces, scratch);
  /* A chunk without an index is one tile. */
  if (pieces->object_nbytes == 0)
    return rd_fail (RADIO_ERROR_FORMAT, "%s/%s: empty", pieces->io->uri,
                    pieces->key);
  pieces->tiles = rd_malloc (sizeof *pieces->tiles);
  if (!pieces->tiles)
    return rd_fail_memory (sizeof *pieces->tiles);
  pieces->tiles[0] = (struct rd_object_tile) { 0, pieces->object_nbytes, 0 };
  pieces->n = 1;
  return RADIO_OK;
}

void
rd_object_pieces_close (struct rd_object_pieces *pieces)
{
  rd_buffer_free (&pieces->index);
  rd_free (pieces->tiles);
}

/* Tiles may overlap: a writer may store equal ones once.  So a piece ends where
 * all tiles that begin before have ended. */
bool
rd_object_pieces_next (struct rd_object_pieces *pieces,
                       struct rd_object_piece *piece)
{
  uint64_t start = pieces->at, end = start;
  uint64_t least = rd_min_u64 (pieces->object_nbytes,
                               rd_add_sat (start, pieces->target_nbytes));
  if (start >= pieces->object_nbytes)
    return false;
  piece->offset = start;
  piece->first = pieces->next;
  while (pieces->next < pieces->n) {
    const struct rd_object_tile *tile = &pieces->tiles[pieces->next];
    if (tile->offset >= end && tile->offset >= least)
      break;
    end = rd_max_u64 (end, tile->offset + tile->nbytes);
    pieces->next++;
  }
  end = rd_max_u64 (end, least);
  piece->nbytes = end - start;
  piece->n = pieces->next - piece->first;
  pieces->at = end;
  return true;
}

enum radio_status
rd_object_pieces_prepare_read (const struct rd_object_pieces *pieces,
                               const struct rd_object_piece *piece,
                               struct rd_io_get *get)
{
  enum radio_status status = rd_context_allows (
    pieces->context,
    rd_add_sat (piece->nbytes, pieces->layout->decode_nbytes),
    pieces->layout->sharding ? "a tile" : "the chunk");
  if (status != RADIO_OK)
    return fail_in_object (pieces, status);
  *get = (struct rd_io_get) {
    .key = pieces->key, .file = pieces->file, .range = RD_RANGE_SPAN,
    .offset = piece->offset, .nbytes = (size_t) piece->nbytes,
    .into = get->into, .object_nbytes = pieces->object_nbytes,
  };
  return RADIO_OK;
}

enum radio_status
rd_object_pieces_check_read (struct rd_object_pieces *pieces,
                             const struct rd_object_piece *piece,
                             const struct rd_io_get *get)
{
  pieces->found_other |= get->is_other;
  RD_TRY (rd_error_raise (&get->error));
  if (get->object_nbytes != pieces->object_nbytes
      || get->into->nbytes != piece->nbytes)
    return fail_changed (pieces, get->object_nbytes);
  return RADIO_OK;
}

static enum radio_status
verify_tile (const struct rd_object_pieces *pieces,
             const struct rd_object_tile *tile, const unsigned char *bytes,
             struct rd_scratch *scratch)
{
  const struct rd_layout *layout = pieces->layout;
  char name[RD_TILE_NAME_NBYTES];
  if (tile->tile == INDEX_TILE) {
    if (memcmp (pieces->index.data, bytes, pieces->index.nbytes) == 0)
      return RADIO_OK;
    rd_fail (RADIO_ERROR_CHECKSUM, "shard index: reads differently each "
             "time");
    return fail_in_object (pieces, RADIO_ERROR_CHECKSUM);
  }
  enum radio_status status = rd_chain_verify (
    layout->chain, &layout->tile, scratch, bytes, (size_t) tile->nbytes);
  if (status == RADIO_OK)
    return RADIO_OK;
  if (layout->sharding)
    rd_fail_in (status, "%s", rd_layout_tile_name (layout, tile->tile,
                                                   name));
  return fail_in_object (pieces, status);
}

enum radio_status
rd_object_pieces_verify (const struct rd_object_pieces *pieces,
                         const struct rd_object_piece *piece,
                         const unsigned char *bytes,
                         struct rd_scratch *scratch)
{
  RD_SCOPE ("check", RD_IN_DECODE);
  uint64_t ntiles = 0;
  for (uint64_t i = piece->first; i < piece->first + piece->n; i++) {
    const struct rd_object_tile *tile = &pieces->tiles[i];
    RD_TRY (verify_tile (pieces, tile, bytes + (tile->offset - piece->offset),
                         scratch));
    ntiles += tile->tile != INDEX_TILE;
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
