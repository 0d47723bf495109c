/* SPDX-License-Identifier: MIT */
/* The inside of a write: tasks encode tiles into the arena of their shard,
 * and whoever encodes a shard's last tile publishes it. */
#ifndef RD_WRITE_H
#define RD_WRITE_H

#include <pthread.h>

#include "src/array/array.h"
#include "src/array/path.h"

/* Shards that are under way at one time: while one is being synced to the
 * disk the next is being encoded. */
#define RD_WRITE_MAX_SLOTS 2

/* A shard being made. */
struct rd_slot {
  _Atomic uint64_t turn;              /* the chunk that it is free for */
  _Atomic uint64_t nleft;             /* tiles not yet encoded */
  _Atomic uint64_t used;              /* of the arena */
  unsigned char *arena;               /* encoded tiles, in any order */
  struct rd_shard_entry *tiles;       /* where they are in it, by number */
};

struct rd_write {
  struct rd_job job;                  /* first: tasks find the write by it */
  struct radio_array *array;
  struct radio_box box;
  const unsigned char *elements;
  int64_t strides[RADIO_MAX_RANK];    /* bytes */
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
 * in *elements when it lies outside of the array or holds nothing but the
 * fill value. */
enum radio_status rd_write_gather (const struct rd_write *write,
                                   const struct radio_box *tile,
                                   struct rd_scratch *scratch,
                                   const void **elements) RADIO_USE_RESULT;

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
