/* SPDX-License-Identifier: MIT */
/* The shards of an array on their way to the store, one after the other,
 * each growing by layers of encoded tiles.  With several threads there is
 * one more that does nothing but wait for the disk: it makes the file of a
 * shard before there is anything to put into it, and commits shards that are
 * complete, so that whoever encodes or reads never waits for that. */
#ifndef RD_WRITE_SHARDS_H
#define RD_WRITE_SHARDS_H

#include "src/array/write.h"

struct rd_shards;

/* The tiles of a layer, encoded. */
struct rd_encoded {
  uint64_t chunk[RADIO_MAX_RANK];     /* the shard that they belong to */
  struct radio_box tiles;             /* in the array's grid of tiles */
  uint64_t ntiles;
  struct rd_arena arena;
  struct rd_shard_entry *entries;     /* where in it, in C order */
};

/* Begin to write shards that have their index at the end. */
enum radio_status rd_shards_open (struct radio_array *array,
                                  struct rd_shards **shards)
  RADIO_USE_RESULT;

/* Say that the next layers belong to this shard, as soon as that is known:
 * after all that were announced before, and before its first layer is
 * appended.  Saying it again changes nothing.  Waits when too many shards
 * are not on the disk yet; failures of earlier ones are told here, too. */
enum radio_status rd_shards_announce (struct rd_shards *shards,
                                      const uint64_t *chunk)
  RADIO_USE_RESULT;

/* Append a layer to its shard.  By one thread at a time, while another one
 * may announce. */
enum radio_status rd_shards_append (struct rd_shards *shards,
                                    const struct rd_encoded *layer,
                                    struct rd_scratch *scratch)
  RADIO_USE_RESULT;

/* Complete the last shard, after all announced ones got their layers, and
 * leave it to be committed.  Twice is legal. */
enum radio_status rd_shards_complete (struct rd_shards *shards,
                                      struct rd_scratch *scratch)
  RADIO_USE_RESULT;

/* Wait until all of them are durable; *stored_nbytes is increased by what
 * they hold. */
enum radio_status rd_shards_finish (struct rd_shards *shards,
                                    uint64_t *stored_nbytes)
  RADIO_USE_RESULT;

/* Drop the shards that are not committed, and release the rest.  NULL is
 * legal. */
void rd_shards_close (struct rd_shards *shards);

#endif /* RD_WRITE_SHARDS_H */
