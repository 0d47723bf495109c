/* SPDX-License-Identifier: MIT */
/* The stored lengths of all tiles of an array, as a volume's document repeats
 * them.  Where each shard holds its tiles in C order from its start, without
 * gaps, its index follows from the lengths: so a first read need not wait for
 * the index.  They are collected while the array is written, and used while
 * it is read. */
#ifndef RD_TILE_LENGTHS_H
#define RD_TILE_LENGTHS_H

#include <pthread.h>

#include "src/array/layout.h"

/* Empty if zero-filled, except the mutex. */
struct rd_tile_lengths {
  uint64_t nshards;           /* that were added */
  bool is_unusable;           /* a shard has another order, or gaps */
  struct rd_buffer added;     /* uint32_t of each tile; 0: not stored */

  pthread_mutex_t mutex;
  struct {
    char *text;               /* as in the document, until it is needed */
    uint32_t *lengths;        /* then of all tiles; NULL: none */
  } synced;
};

void rd_tile_lengths_init (struct rd_tile_lengths *lengths);
void rd_tile_lengths_destroy (struct rd_tile_lengths *lengths);

/* Adds a shard that was written, after all those before it in C order: else,
 * and if the shard does not follow from its lengths, none are written.
 * RADIO_ERROR_MEMORY. */
enum radio_status rd_tile_lengths_add (struct rd_tile_lengths *lengths,
                                       const struct rd_layout *layout,
                                       const uint64_t *chunk,
                                       const struct rd_shard_index *index)
  RADIO_USE_RESULT;

/* Makes the text for a document from the shards that were added; empty when
 * it would be too long or not all shards follow from it. */
enum radio_status rd_tile_lengths_write (
  const struct rd_tile_lengths *lengths, const struct rd_layout *layout,
  struct rd_buffer *text) RADIO_USE_RESULT;

/* Sets the text of a document, which is taken. */
void rd_tile_lengths_set (struct rd_tile_lengths *lengths, char *text);

/* Makes the index of a shard, and the shard's size.  *index is NULL when there
 * are no lengths, or they do not fit the array: the shard's own index says
 * the same.  *index is allocated, freed with rd_free ().
 * RADIO_ERROR_MEMORY. */
enum radio_status rd_tile_lengths_find (struct rd_tile_lengths *lengths,
                                        const struct rd_layout *layout,
                                        const uint64_t *chunk,
                                        struct rd_shard_index **index,
                                        uint64_t *shard_nbytes)
  RADIO_USE_RESULT;

/* Forgets the lengths, since a shard is not what they say. */
void rd_tile_lengths_drop (struct rd_tile_lengths *lengths);

#endif /* RD_TILE_LENGTHS_H */
