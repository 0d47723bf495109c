/* SPDX-License-Identifier: MIT */
/* Reading tiles: every tile that some boxes overlap is read, decoded and
 * passed to a callback, in any order, by the pool's threads.  Reading and
 * checking an array differ only in the callbacks. */
#ifndef RD_FETCH_H
#define RD_FETCH_H

#include "src/array/array.h"
#include "src/array/context.h"
#include "src/array/plan.h"
#include "src/array/stop.h"

/* Failures are ordered: those of indexes first, then those of tiles. */
#define RD_READ_FIRST_TILE_ORDER ((uint64_t) 1 << 32)

struct rd_tile_read {
  struct radio_array *array;
  const struct radio_request *requests;
  size_t n;

  /* Ends it early; or NULL. */
  struct rd_read_stop *stop;

  /* Read indexes again that are cached, and a gzip file from its start to its
   * checksum. */
  bool fresh_indexes;

  /* Set when an index was made of the lengths in a volume's document. */
  bool used_lengths;

  /* place accepts views of shuffled elements, too. */
  bool takes_shuffled;

  /* Cached tiles; of the first requests, which tiles to add. */
  struct rd_cache_ref cache;
  const struct rd_admission *admissions;
  size_t nadmissions;

  /* Takes a part of the array: a tile or, where view is NULL, a tile or whole
   * chunk that is not stored.  box is not clipped to the array.  The bytes
   * delivered of a shuffled view are added to *nbytes, to be counted in the
   * scope of its decoding; other views have a scope of their own.  Called by
   * several threads at once. */
  enum radio_status (*place) (struct rd_tile_read *read, size_t request,
                              const struct radio_box *box,
                              const struct rd_view *view, uint64_t *nbytes);

  /* Returns where the elements of a box, which is within a request's, lie in
   * the caller's memory if they are wanted at these distances, as they are
   * stored: a source may then read them there instead of having them placed.
   * Or, if computes is not NULL and values of that size are computed of them:
   * sets it; then they are given to compute.  NULL where they are wanted
   * otherwise.  May be NULL. */
  unsigned char *(*find_destination) (const struct rd_tile_read *read,
                                      size_t request,
                                      const struct radio_box *box,
                                      const int64_t *strides,
                                      bool *computes);

  /* Computes the values of nbytes of elements, and of those of the rest that
   * follow, where find_destination said.  from may lie in the same memory, at
   * its place or after it. */
  enum radio_status (*compute) (struct rd_tile_read *read, unsigned char *to,
                                const unsigned char *from, size_t nbytes,
                                const unsigned char *rest,
                                size_t rest_nbytes);

  /* Pages of the caller's memory: a source that reads there populates them
   * first.  Not NULL if there is find_destination. */
  struct rd_pages *pages;

  /* ntiles tiles failed, for the reason in the thread's message.  RADIO_OK
   * continues with the others.  `order' increases with the place in the part
   * of the plan.  Called by several threads at once.  NULL: the first failure
   * ends the read. */
  enum radio_status (*on_error) (struct rd_tile_read *read,
                                 enum radio_status status, uint64_t ntiles,
                                 uint64_t order);

  /* A part of the plan is done, or will be read again, as it is if a shard was
   * replaced meanwhile: then nothing that was placed or failed counts.  Called
   * on the calling thread.  NULL for reads that only place. */
  enum radio_status (*part_done) (struct rd_tile_read *read);
  void (*part_again) (struct rd_tile_read *read);

  /* Set when some chunk had no object and was filled. */
  atomic_bool found_missing;

  /* Set when a shard was not the one that its index is of. */
  atomic_bool found_stale;
};

/* Reads all tiles that the requests overlap; only their boxes are used here,
 * and they are within the array. */
enum radio_status rd_fetch_tiles (struct rd_tile_read *read) RADIO_USE_RESULT;

/* The same for a store that does not block, without a thread that waits: what
 * follows a request is done by the pool.  done is called once, on a thread of
 * the pool, with the status and its message; read stays valid until then. */
typedef void rd_tiles_done_fn (struct rd_tile_read *read,
                               enum radio_status status);
enum radio_status rd_fetch_tiles_start (struct rd_tile_read *read,
                                        rd_tiles_done_fn *done)
  RADIO_USE_RESULT;

/* Ends a started read whose stop was cancelled: its requests, and its wait for
 * memory. */
void rd_fetch_tiles_wake (struct rd_tile_read *read);

/* Returns the result of a read of tiles that ended with this status: the array
 * still exists if some chunk was missing, and messages name the array (here
 * `array', of which the read may be a part). */
enum radio_status rd_read_result (struct rd_tile_read *read,
                                  const struct radio_array *array,
                                  enum radio_status status) RADIO_USE_RESULT;

/* RADIO_ERROR_NOT_FOUND when the array was removed under its handle.  Removing
 * an array removes its document first: if that still exists after a read, no
 * chunk was missing because it was being removed. */
enum radio_status rd_fetch_check_exists (const struct rd_tile_read *read)
  RADIO_USE_RESULT;

/* Called for a chunk that has no object: RADIO_OK when it stands for fill
 * values; else the array was removed, or it stores every chunk and has lost
 * this one. */
enum radio_status rd_read_missing (struct rd_tile_read *read)
  RADIO_USE_RESULT;

/* The memory limit is divided in parts: one for cached indexes, one for
 * indexes in use, the rest for tiles. */
#define RD_LIMIT_PARTS 8
#define RD_INDEX_PARTS 1
#define RD_TILE_PARTS 6

/* Returns how many buffers of nbytes_each fit into some parts of the memory
 * limit; at least 1 and at most `most'. */
unsigned rd_fetch_share_limit (const struct rd_tile_read *read,
                               unsigned nparts, uint64_t nbytes_each,
                               unsigned most);

/* The indexes of a part of a plan (fetch-indexes.c). */
struct rd_index_job {
  struct rd_job job;
  struct rd_tile_read *read;
  struct rd_plan *plan;
  uint64_t generation;
  uint32_t n;
  uint32_t chunks[RD_PLAN_MAX_CHUNKS];    /* to read indexes for */

  /* For asynchronous reads; else NULL. */
  struct rd_io_get *gets;
  struct rd_index_read *reads;
  pthread_mutex_t mutex;
  pthread_cond_t arrived;
  struct {
    uint32_t narrived;
  } synced;
};

/* Sets the indexes of the plan's chunks that are known, and makes the job of
 * reading the others. */
enum radio_status rd_indexes_list (struct rd_index_job *job,
                                   struct rd_tile_read *read,
                                   struct rd_plan *plan) RADIO_USE_RESULT;

/* Prepares the asynchronous reads of all of them.  The last one that arrives
 * posts the job if it is detached. */
enum radio_status rd_indexes_open_reads (struct rd_index_job *job)
  RADIO_USE_RESULT;
void rd_indexes_close_reads (struct rd_index_job *job);

/* Sets the index of each of the plan's chunks, from the cache or read. */
enum radio_status rd_indexes_find (struct rd_tile_read *read,
                                   struct rd_plan *plan) RADIO_USE_RESULT;

/* The fetches of a part of a plan: how each is read, checked, decoded and
 * placed (fetch-tiles.c), by blocking reads or by asynchronous ones
 * (fetch.c). */
struct rd_fetch_job {
  struct rd_job job;
  struct rd_tile_read *read;
  struct rd_plan *plan;
  uint64_t max_object_nbytes;         /* of one that is read whole: each of
                                         the concurrent reads has its share */
};

/* Sets up the read of a fetch; RADIO_ERROR_LIMIT when it and decoding it
 * would take too much memory.  Then *missing when there is no such object:
 * filling needs no memory, however large a chunk is. */
enum radio_status rd_fetch_prepare_read (const struct rd_fetch_job *job,
                                         const struct rd_plan_fetch *fetch,
                                         const char *key,
                                         struct rd_io_get *get, bool *missing)
  RADIO_USE_RESULT;

/* As rd_read_missing for a fetch's object, which the message names. */
enum radio_status rd_fetch_missing_object (const struct rd_fetch_job *job,
                                           const struct rd_plan_fetch *fetch)
  RADIO_USE_RESULT;

/* Checks the result of a read without blocking: *missing when there is no such
 * object, and then the caller calls rd_fetch_missing_object, which may
 * block. */
enum radio_status rd_fetch_check_read (const struct rd_fetch_job *job,
                                       const struct rd_plan_fetch *fetch,
                                       const struct rd_io_get *get,
                                       bool *missing) RADIO_USE_RESULT;

/* Decodes tile i of the plan from the bytes that its fetch has read, and
 * places it for all requests; does nothing when tile i - 1 of the fetch is the
 * same. */
enum radio_status rd_fetch_place_tile (const struct rd_fetch_job *job,
                                       const struct rd_plan_fetch *fetch,
                                       uint32_t i,
                                       const struct rd_io_get *get,
                                       struct rd_scratch *scratch)
  RADIO_USE_RESULT;

/* Places the cached tiles of a fetch. */
enum radio_status rd_fetch_place_cached (const struct rd_fetch_job *job,
                                         const struct rd_plan_fetch *fetch)
  RADIO_USE_RESULT;

/* Places fill values for tile i of the plan, or for all tiles of a fetch. */
enum radio_status rd_fetch_fill_tile (const struct rd_fetch_job *job,
                                      uint32_t i) RADIO_USE_RESULT;
enum radio_status rd_fetch_fill (const struct rd_fetch_job *job,
                                 const struct rd_plan_fetch *fetch)
  RADIO_USE_RESULT;

#endif /* RD_FETCH_H */
