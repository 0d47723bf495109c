/* SPDX-License-Identifier: MIT */
/* Encoding tiles, and writing shards in sequence, each of which grows by
 * layers of encoded tiles.  With several threads there is one more that only
 * does the disk's work: it creates a shard's file before it is needed, and
 * commits complete shards, so that encoding and reading never wait for it. */
#ifndef RD_WRITE_SHARDS_H
#define RD_WRITE_SHARDS_H

#include "src/array/array.h"

/* The elements of a box in the caller's memory. */
struct rd_given {
  struct radio_box box;
  const unsigned char *elements;      /* the first one */
  int64_t strides[RADIO_MAX_RANK];    /* bytes */
  bool swapped;                       /* not in the machine's byte order */
};

/* Encoded tiles, in any order. */
struct rd_arena {
  unsigned char *data;
  uint64_t nbytes;
  _Atomic uint64_t used;
};

/* Gathers the elements of a tile (or whole chunk) in C order, padded at the
 * array's edges; *elements is NULL when it is outside of the given box or
 * holds only the fill value. */
enum radio_status rd_write_gather (const struct rd_layout *layout,
                                   const struct rd_given *given,
                                   const struct radio_box *tile,
                                   struct rd_scratch *scratch,
                                   const void **elements) RADIO_USE_RESULT;

/* Encodes one tile into an arena, which many threads share; *entry is set to
 * its offset in the arena, or to missing. */
enum radio_status rd_write_tile (const struct rd_layout *layout,
                                 const struct rd_given *given,
                                 const struct radio_box *tile,
                                 struct rd_scratch *scratch,
                                 struct rd_arena *arena,
                                 struct rd_shard_entry *entry)
  RADIO_USE_RESULT;

/* Appends those of n tiles that are not missing to a shard. */
enum radio_status rd_write_append (struct rd_io_writer *writer,
                                   const struct rd_arena *arena,
                                   const struct rd_shard_entry *tiles,
                                   uint64_t n) RADIO_USE_RESULT;

/* Passes the expected size of a shard to its writer: ntiles of its tiles, at
 * least 1, have nbytes together.  Tiles beyond the array's end are missing. */
void rd_write_expect (struct rd_io_writer *writer,
                      const struct rd_layout *layout, const uint64_t *chunk,
                      uint64_t ntiles, uint64_t nbytes);

struct rd_shards;

/* An encoded layer. */
struct rd_encoded {
  uint64_t chunk[RADIO_MAX_RANK];     /* its shard */
  struct radio_box tiles;             /* in the array's grid of tiles */
  uint64_t ntiles;
  struct rd_arena arena;
  struct rd_shard_entry *entries;     /* offsets in the arena, in C order */
};

/* Starts to write shards that have their index at the end. */
enum radio_status rd_shards_open (struct radio_array *array,
                                  struct rd_shards **shards)
  RADIO_USE_RESULT;

/* Announces the shard of the next layers, as soon as it is known: after all
 * shards that were announced before, and before its first layer is appended.
 * Announcing it again changes nothing.  Waits while too many shards are not
 * committed; returns failures of earlier ones, too. */
enum radio_status rd_shards_announce (struct rd_shards *shards,
                                      const uint64_t *chunk)
  RADIO_USE_RESULT;

/* Appends a layer to its shard.  One thread at a time, while another one may
 * announce. */
enum radio_status rd_shards_append (struct rd_shards *shards,
                                    const struct rd_encoded *layer,
                                    struct rd_scratch *scratch)
  RADIO_USE_RESULT;

/* Completes the last shard, after all announced ones got their layers, and
 * leaves it to be committed.  May be repeated. */
enum radio_status rd_shards_complete (struct rd_shards *shards,
                                      struct rd_scratch *scratch)
  RADIO_USE_RESULT;

/* Waits until all shards are durable; *stored_nbytes is increased by their
 * size. */
enum radio_status rd_shards_finish (struct rd_shards *shards,
                                    uint64_t *stored_nbytes)
  RADIO_USE_RESULT;

/* Drops the shards that are not committed, and frees the rest.  NULL is
 * legal. */
void rd_shards_close (struct rd_shards *shards);

#endif /* RD_WRITE_SHARDS_H */
