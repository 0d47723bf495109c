/* SPDX-License-Identifier: MIT */
/* Getting tiles: every tile that some boxes touch is read, decoded and
 * handed over, in any order, by the pool's threads.  Reading and checking
 * differ only in what is done with a tile, and with one that fails. */
#ifndef RD_FETCH_H
#define RD_FETCH_H

#include "src/array/array.h"
#include "src/array/path.h"
#include "src/array/plan.h"

/* Failures are ordered: those of indexes first, then those of tiles. */
#define RD_FETCH_FIRST_ITEM_ORDER ((uint64_t) 1 << 32)

struct rd_fetch {
  struct radio_array *array;
  const struct radio_request *requests;
  size_t n;

  /* Do not believe indexes that were read before. */
  bool fresh_indexes;

  /* place takes views of shuffled elements, too. */
  bool takes_shuffled;

  /* Tiles decoded before, and those of the first requests that are to be
   * kept; others are not. */
  struct rd_known known;
  const struct rd_admission *admissions;
  size_t nadmissions;

  /* Take a part of the array: a tile or, where view is NULL, a tile or
   * whole chunk that is not stored.  box is not clipped to the array.
   * What is delivered of a shuffled view is added to *nbytes, for the scope
   * of its decoding to tell; other views have a scope of their own.  Called
   * by several threads at once. */
  enum radio_status (*place) (struct rd_fetch *fetch, size_t request,
                              const struct radio_box *box,
                              const struct rd_view *view, uint64_t *nbytes);

  /* ntiles tiles failed, and the thread's message says why.  RADIO_OK goes
   * on with the others.  `order' rises with the place in the batch.  Called
   * by several threads at once.  NULL: the first failure ends it all. */
  enum radio_status (*forgive) (struct rd_fetch *fetch,
                                enum radio_status status, uint64_t ntiles,
                                uint64_t order);

  /* A batch is done; called on the calling thread.  May be NULL. */
  enum radio_status (*batch_done) (struct rd_fetch *fetch);

  /* Set when some chunk had no object, and so was placed as fill. */
  atomic_bool found_missing;
};

/* Get all tiles that the requests touch; only their boxes are used here,
 * and they lie within the array. */
enum radio_status rd_fetch_run (struct rd_fetch *fetch) RADIO_USE_RESULT;

/* RADIO_ERROR_NOT_FOUND when the array was removed under its handle.  Who
 * removes an array removes its document first: if that is still there after
 * a read, no chunk was missing because it was gone. */
enum radio_status rd_fetch_check_array (const struct radio_array *array)
  RADIO_USE_RESULT;

/* What the ways of fetching share; src/array/fetch-*.c. */

/* A chunk has no object: RADIO_OK when it stands for fill values; else the
 * array was removed, or it is one that stores every chunk and lost it. */
enum radio_status rd_fetch_missing (struct rd_fetch *fetch)
  RADIO_USE_RESULT;

/* A batch of a fetch, as a job's tasks see it. */
struct rd_fetch_job {
  struct rd_job job;
  struct rd_fetch *fetch;
  struct rd_batch *batch;
  uint64_t most_object_nbytes;        /* to accept of one that is read
                                         whole: each read has its share */
};

/* The scope of those who decode, and place or fill. */
extern const struct radio_site rd_fetch_tiles_site;

/* The memory limit in parts: indexes kept and indexes in use have one each,
 * the rest is for tiles. */
#define RD_FETCH_PARTS 8
#define RD_FETCH_INDEX_PARTS 1
#define RD_FETCH_TILE_PARTS 6

/* The key of a chunk. */
void rd_fetch_key (const struct radio_array *array, const uint64_t *chunk,
                   char key[RD_KEY_NBYTES]);

/* The part of the chunk's object that a unit needs; RADIO_ERROR_LIMIT when
 * that and decoding it would take too much memory.  Then *missing when there
 * is no such object: filling needs no memory, however large a chunk is. */
enum radio_status rd_unit_ask (const struct rd_fetch_job *job,
                               const struct rd_unit *unit,
                               const char *key, struct rd_io_get *get,
                               bool *missing) RADIO_USE_RESULT;

/* As rd_fetch_missing for a unit's object, which a message names. */
enum radio_status rd_unit_missing (const struct rd_fetch_job *job,
                                   const struct rd_unit *unit)
  RADIO_USE_RESULT;

/* Look at what came, which waits for nothing: *missing when there is no such
 * object, and then the caller asks rd_unit_missing, where it may wait. */
enum radio_status rd_unit_look (const struct rd_fetch_job *job,
                                const struct rd_unit *unit,
                                const struct rd_io_get *get, bool *missing)
  RADIO_USE_RESULT;

/* Decode item i of a unit from what came, and place it for all items of
 * its tile; nothing to do when i is not the first of its tile. */
enum radio_status rd_unit_item (const struct rd_fetch_job *job,
                                const struct rd_unit *unit, uint32_t i,
                                const struct rd_io_get *get,
                                struct rd_scratch *scratch)
  RADIO_USE_RESULT;

/* Place the tiles of a unit that were decoded before. */
enum radio_status rd_unit_place_cached (const struct rd_fetch_job *job,
                                        const struct rd_unit *unit)
  RADIO_USE_RESULT;

/* Place fill values for item i, or for all of a unit. */
enum radio_status rd_unit_fill_item (const struct rd_fetch_job *job,
                                     uint32_t i) RADIO_USE_RESULT;
enum radio_status rd_unit_fill (const struct rd_fetch_job *job,
                                const struct rd_unit *unit)
  RADIO_USE_RESULT;

/* Fill in the entries of a batch's touches, by blocking reads on the pool
 * or by reads that are all started at once. */
enum radio_status rd_fetch_indexes (struct rd_fetch *fetch,
                                    struct rd_batch *batch)
  RADIO_USE_RESULT;
void rd_fetch_release_indexes (struct rd_fetch *fetch,
                               struct rd_batch *batch);

/* End the hold of the shards' files, which the units read. */
void rd_fetch_release_files (struct rd_fetch *fetch, struct rd_batch *batch);

/* Do a batch's units by reads that go on by themselves. */
enum radio_status rd_fetch_units_async (struct rd_fetch_job *job)
  RADIO_USE_RESULT;

/* How many of so much fit into a part of the memory limit; at least 1, and
 * no more than `most'. */
unsigned rd_fetch_share (const struct rd_fetch *fetch, unsigned part,
                         uint64_t nbytes_each, unsigned most);

#endif /* RD_FETCH_H */
