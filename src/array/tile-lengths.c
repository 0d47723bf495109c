/* SPDX-License-Identifier: MIT */
/* Lengths of tiles as text: 32-bit integers, encoded as a tile of them would
 * be, with a checksum, in base64. */
#include <config.h>

#include <string.h>

#include "src/array/tile-lengths.h"
#include "src/base/base64.h"
#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/codec/chain.h"
#include "src/element/copy.h"

/* A document stays small, since it is read whole to list a volume: longer
 * texts are not written.  One that was written by another program may be
 * longer; it is not used. */
#define MAX_TEXT_NBYTES ((size_t) 64 << 10)
#define MAX_TILES ((uint64_t) 1 << 18)

/* format.md has the same. */
static const struct rd_chain chain = {
  .n = 3,
  .codecs = {
    { .id = RD_CODEC_BYTES },
    { .id = RD_CODEC_BLOSC,
      .u.blosc = { .cname = "zstd", .clevel = 1,
                   .shuffle = RD_BLOSC_SHUFFLE, .typesize = 4 } },
    { .id = RD_CODEC_CRC32C },
  },
};

static struct rd_chunk
chunk_of (uint64_t ntiles)
{
  static const uint32_t zero;
  return (struct rd_chunk) {
    .rank = 1, .shape = { ntiles }, .type = rd_type_of (RADIO_UINT32),
    .fill = &zero,
  };
}

/* Returns the number of tiles in all shards, those beyond the array's end
 * too; more than MAX_TILES: it has no lengths. */
static uint64_t
count_tiles (const struct rd_layout *layout)
{
  uint64_t n = layout->ntiles;
  if (!layout->sharding || layout->sharding->u.sharding.index_at_start)
    return UINT64_MAX;
  for (size_t i = 0; i < layout->rank; i++)
    n = rd_mul_sat (n, layout->chunks[i]);
  return n;
}

void
rd_tile_lengths_init (struct rd_tile_lengths *lengths)
{
  pthread_mutex_init (&lengths->mutex, NULL);
}

void
rd_tile_lengths_destroy (struct rd_tile_lengths *lengths)
{
  rd_buffer_free (&lengths->added);
  rd_free (lengths->synced.text);
  rd_free (lengths->synced.lengths);
  pthread_mutex_destroy (&lengths->mutex);
}

enum radio_status
rd_tile_lengths_add (struct rd_tile_lengths *lengths,
                     const struct rd_layout *layout, const uint64_t *chunk,
                     const struct rd_shard_index *index)
{
  uint64_t offset = 0;
  lengths->is_unusable |= count_tiles (layout) > MAX_TILES
    || rd_layout_first_tile (layout, chunk)
       != lengths->nshards++ * layout->ntiles;
  for (uint64_t i = 0; i < index->n && !lengths->is_unusable; i++) {
    const struct rd_shard_entry *entry = &index->entries[i];
    bool is_stored = entry->offset != RD_SHARD_MISSING;
    uint32_t nbytes = is_stored ? (uint32_t) entry->nbytes : 0;
    lengths->is_unusable = is_stored
      && (entry->offset != offset || nbytes != entry->nbytes || nbytes == 0);
    offset += nbytes;
    RD_TRY (rd_buffer_append (&lengths->added, &nbytes, sizeof nbytes));
  }
  return RADIO_OK;
}

enum radio_status
rd_tile_lengths_write (const struct rd_tile_lengths *lengths,
                       const struct rd_layout *layout,
                       struct rd_buffer *text)
{
  RD_CLEANUP (rd_scratch_free) struct rd_scratch scratch = { 0 };
  RD_BUFFER_SCOPE struct rd_buffer encoded = { 0 };
  uint64_t n = lengths->added.nbytes / sizeof (uint32_t);
  text->nbytes = 0;
  if (lengths->is_unusable || n == 0 || n != count_tiles (layout))
    return RADIO_OK;
  const struct rd_chunk chunk = chunk_of (n);
  RD_TRY (rd_chain_encode (&chain, &chunk, &scratch, lengths->added.data,
                           &encoded));
  if (encoded.nbytes / 3 * 4 + 4 > MAX_TEXT_NBYTES)
    return RADIO_OK;
  return rd_base64_encode (encoded.data, encoded.nbytes, text);
}

void
rd_tile_lengths_set (struct rd_tile_lengths *lengths, char *text)
{
  RD_LOCK_SCOPE (&lengths->mutex);
  rd_free (lengths->synced.text);
  lengths->synced.text = text;
}

/* Decodes a text to n lengths; NULL when it does not hold them. */
static uint32_t *
decode (const char *text, uint64_t n)
{
  RD_CLEANUP (rd_scratch_free) struct rd_scratch scratch = { 0 };
  RD_BUFFER_SCOPE struct rd_buffer encoded = { 0 };
  const struct rd_chunk chunk = chunk_of (n);
  struct rd_view view;
  size_t nbytes = strlen (text);
  if (nbytes > MAX_TEXT_NBYTES || n > MAX_TILES
      || rd_base64_decode (text, nbytes, &encoded) != RADIO_OK
      || rd_chain_decode (&chain, &chunk, &scratch, encoded.data,
                          encoded.nbytes, &view) != RADIO_OK)
    return NULL;
  RD_FREE uint32_t *lengths = rd_malloc ((size_t) n * sizeof *lengths);
  const struct rd_box_copy copy = {
    .rank = 1, .shape = { n }, .from = view.data, .from_type = chunk.type,
    .from_strides = { view.strides[0] }, .from_swapped = view.swapped,
    .to = (unsigned char *) lengths, .to_dtype = RADIO_UINT32,
    .to_strides = { sizeof *lengths },
  };
  return lengths && rd_box_copy_run (&copy) == RADIO_OK ? RD_STEAL (lengths)
                                                        : NULL;
}

enum radio_status
rd_tile_lengths_find (struct rd_tile_lengths *lengths,
                      const struct rd_layout *layout, const uint64_t *chunk,
                      struct rd_shard_index **index, uint64_t *shard_nbytes)
{
  uint64_t offset = 0;
  *index = NULL;
  RD_LOCK_SCOPE (&lengths->mutex);
  if (lengths->synced.text) {
    lengths->synced.lengths = decode (lengths->synced.text,
                                      count_tiles (layout));
    rd_free (RD_STEAL (lengths->synced.text));
  }
  if (!lengths->synced.lengths)
    return RADIO_OK;
  size_t nbytes = sizeof **index
    + (size_t) layout->ntiles * sizeof (*index)->entries[0];
  struct rd_shard_index *made = rd_malloc (nbytes);
  if (!made)
    return rd_fail_memory (nbytes);
  const uint32_t *first = lengths->synced.lengths
    + rd_layout_first_tile (layout, chunk);
  made->n = layout->ntiles;
  for (uint64_t i = 0; i < made->n; i++) {
    made->entries[i] = first[i] > 0
      ? (struct rd_shard_entry) { offset, first[i] }
      : (struct rd_shard_entry) { RD_SHARD_MISSING, RD_SHARD_MISSING };
    offset += first[i];
  }
  *shard_nbytes = offset + layout->index_nbytes;
  *index = made;
  return RADIO_OK;
}

void
rd_tile_lengths_drop (struct rd_tile_lengths *lengths)
{
  RD_LOCK_SCOPE (&lengths->mutex);
  rd_free (RD_STEAL (lengths->synced.text));
  rd_free (RD_STEAL (lengths->synced.lengths));
}
