/* SPDX-License-Identifier: MIT */
/* The inside of a write: tasks encode tiles into the arena of their shard,
 * and whoever encodes a shard's last tile publishes it.  What writing layer
 * by layer (write-layers.h) has in common with that is here as well. */
#ifndef RD_WRITE_H
#define RD_WRITE_H

#include <pthread.h>

#include "src/array/array.h"
#include "src/array/path.h"

/* Shards that are under way at one time: while one is being synced to the
 * disk the next is being encoded. */
#define RD_WRITE_MAX_SLOTS 2

/* The elements of a box, wherever the caller has them. */
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

/* A shard being made. */
struct rd_slot {
  _Atomic uint64_t turn;              /* the chunk that it is free for */
  _Atomic uint64_t nleft;             /* tiles not yet encoded */
  struct rd_arena arena;
  struct rd_shard_entry *tiles;       /* where they are in it, by number */
};

struct rd_write {
  struct rd_job job;                  /* first: tasks find the write by it */
  struct radio_array *array;
  struct rd_given given;
  struct radio_box chunks;            /* of the box */
  uint64_t arena_nbytes;              /* of a slot */
  _Atomic uint64_t stored_nbytes;
  unsigned nslots;
  struct rd_slot slots[RD_WRITE_MAX_SLOTS];
  pthread_mutex_t mutex;
  pthread_cond_t changed;             /* a slot's turn, or failed */
  struct {
    struct rd_error error;
  } synced;
};

/* The elements of a tile (or whole chunk) in C order, edges filled up; NULL
 * in *elements when it lies outside of what is given or holds nothing but
 * the fill value. */
enum radio_status rd_write_gather (const struct rd_layout *layout,
                                   const struct rd_given *given,
                                   const struct radio_box *tile,
                                   struct rd_scratch *scratch,
                                   const void **elements) RADIO_USE_RESULT;

/* Encode one tile into an arena, which many threads share; *entry tells
 * where in it the tile is, or that it is missing. */
enum radio_status rd_write_tile (const struct rd_layout *layout,
                                 const struct rd_given *given,
                                 const struct radio_box *tile,
                                 struct rd_scratch *scratch,
                                 struct rd_arena *arena,
                                 struct rd_shard_entry *entry)
  RADIO_USE_RESULT;

/* Append those of n tiles that are not missing to a shard. */
enum radio_status rd_write_append (struct rd_io_writer *writer,
                                   const struct rd_arena *arena,
                                   const struct rd_shard_entry *tiles,
                                   uint64_t n) RADIO_USE_RESULT;

/* Write the object of a sharded chunk from its slot, or remove it when all
 * tiles are missing. */
enum radio_status rd_write_publish_shard (struct rd_write *write,
                                          struct rd_slot *slot,
                                          const uint64_t *chunk,
                                          struct rd_scratch *scratch)
  RADIO_USE_RESULT;

/* The same of a chunk that was encoded whole; no bytes remove it. */
enum radio_status rd_write_publish_object (struct rd_write *write,
                                           const uint64_t *chunk,
                                           const struct rd_buffer *encoded)
  RADIO_USE_RESULT;

#endif /* RD_WRITE_H */
