/* SPDX-License-Identifier: MIT */
/* Profiles of reads and writes: work of other threads below the
 * operation that requested it, bytes exactly as arithmetic on tiles and the
 * shards' own indexes have them, and sums that add up. */
#include <config.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/profile-tree.h"

#include "tests/io/deferred.h"
#include "tests/io/wrap.h"
#include "src/array/array.h"

/* An array of shards with an index at their end, in a store in memory that
 * counts what is read of it. */
#define ITEM 2
static const uint64_t SHAPE[3] = { 40, 64, 50 };
static const uint64_t SHARD[3] = { 20, 32, 24 };
static const uint64_t TILE[3] = { 5, 16, 8 };
#define NTILES (4 * 2 * 3)            /* of a shard */
#define INDEX_NBYTES (NTILES * 16 + 4)

static const char codecs[] =
  "[{\"name\":\"sharding_indexed\",\"configuration\":{"
  "\"chunk_shape\":[5,16,8],"
  "\"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":"
  "\"" MACHINE_ENDIAN "\"}}"
  ",{\"name\":\"blosc\",\"configuration\":{\"cname\":\"lz4\",\"clevel\":5,"
  "\"shuffle\":\"bitshuffle\",\"typesize\":2,\"blocksize\":0}},"
  "{\"name\":\"crc32c\"}],"
  "\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":"
  "\"little\"}},{\"name\":\"crc32c\"}],\"index_location\":\"end\"}}]";

struct counting {
  struct rd_wrap wrap;
  pthread_mutex_t mutex;
  uint64_t ngets, nbytes;
};

struct site {
  struct counting *io;
  struct radio_context *context;
  struct radio_store *store;
  struct radio_array *array;
  int16_t *elements;
  int16_t *room;
  size_t nbytes;
};

static void
count_get (struct rd_io *io, struct rd_io_get *gets, size_t n)
{
  struct counting *counting = (struct counting *) io;
  struct rd_io *inner = counting->wrap.inner;
  pthread_mutex_lock (&counting->mutex);
  for (size_t i = 0; i < n; i++) {
    counting->ngets++;
    counting->nbytes += gets[i].nbytes;
  }
  pthread_mutex_unlock (&counting->mutex);
  inner->ops->get (inner, gets, n);
}

static void
counting_close (struct rd_io *io)
{
  struct counting *counting = (struct counting *) io;
  rd_wrap_finish (&counting->wrap);
  pthread_mutex_destroy (&counting->mutex);
  free (counting);
}

static struct counting *
counting_open (bool deferred)
{
  struct counting *counting = calloc (1, sizeof *counting);
  struct rd_io *inner;
  assert_non_null (counting);
  assert_ok (rd_io_open ("memory:", true, &inner));
  if (deferred)
    assert_ok (rd_io_deferred_open (inner, 3, &inner));
  assert_ok (rd_wrap_init (&counting->wrap, "counting", inner));
  counting->wrap.ops.close = counting_close;
  counting->wrap.ops.get = count_get;
  pthread_mutex_init (&counting->mutex, NULL);
  return counting;
}

static void
open_array (struct site *site, unsigned nthreads, bool deferred)
{
  const struct radio_context_options threads = { .nthreads = nthreads };
  struct radio_array_options options = {
    .rank = 3, .data_type = "int16", .codecs_json = codecs,
  };
  memcpy (options.shape, SHAPE, sizeof SHAPE);
  memcpy (options.chunk_shape, SHARD, sizeof SHARD);
  site->io = counting_open (deferred);
  assert_ok (radio_context_open (&threads, &site->context));
  const struct radio_store_options in = {
    .context = site->context, .create = true,
  };
  assert_ok (rd_store_open_io (&site->io->wrap.base, &in, &site->store));
  assert_ok (radio_array_create (site->store, "a", &options, &site->array));
}

/* Elements that no tile has nothing but fill value of. */
static void
site_open (struct site *site, unsigned nthreads, bool deferred)
{
  memset (site, 0, sizeof *site);
  open_array (site, nthreads, deferred);
  size_t count = SHAPE[0] * SHAPE[1] * SHAPE[2];
  site->nbytes = count * ITEM;
  site->elements = malloc (site->nbytes);
  site->room = malloc (site->nbytes);
  assert_true (site->elements && site->room);
  uint64_t random = 88172645463325252u;
  for (size_t i = 0; i < count; i++) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    site->elements[i] = (int16_t) (1 + random % 1000);
  }
  const struct radio_box all = radio_box3 (0, SHAPE[0], 0, SHAPE[1], 0,
                                           SHAPE[2]);
  assert_ok (radio_array_write (site->array, &all, site->elements,
                                site->nbytes));
}

static void
site_close (struct site *site)
{
  radio_array_close (site->array);
  radio_store_close (site->store);
  radio_context_close (site->context);
  free (site->elements);
  free (site->room);
}

static struct radio_profile *
record_read (struct site *site, const struct radio_box *box)
{
  site->io->ngets = site->io->nbytes = 0;
  struct radio_recorder *recorder = tree_begin ();
  enum radio_status status = radio_array_read (
    site->array, box, RADIO_STORED, site->room, site->nbytes, NULL);
  struct radio_profile *profile = tree_end (recorder);
  assert_ok (status);
  return profile;
}

/* Cells of a grid that a box touches. */
static uint64_t
count_cells (const struct radio_box *box, const uint64_t *cell)
{
  uint64_t n = 1;
  for (int i = 0; i < 3; i++)
    n *= (box->start[i] + box->size[i] - 1) / cell[i]
      - box->start[i] / cell[i] + 1;
  return n;
}

static uint64_t
little_endian (const unsigned char *p)
{
  uint64_t value = 0;
  for (int i = 8; i-- > 0;)
    value = value << 8 | p[i];
  return value;
}

/* A tile's size in its shard, from the shard's own bytes. */
static uint64_t
stored_nbytes (struct site *site, const uint64_t *tile)
{
  char key[64];
  uint64_t number = 0;
  RD_BUFFER_SCOPE struct rd_buffer shard = { 0 };
  snprintf (key, sizeof key, "a/c/%" PRIu64 "/%" PRIu64 "/%" PRIu64,
            tile[0] * TILE[0] / SHARD[0], tile[1] * TILE[1] / SHARD[1],
            tile[2] * TILE[2] / SHARD[2]);
  assert_ok (rd_io_read_all (&site->io->wrap.base, key, 1 << 24, &shard));
  for (int i = 0; i < 3; i++) {
    uint64_t per_shard = SHARD[i] / TILE[i];
    number = number * per_shard + tile[i] % per_shard;
  }
  return little_endian (shard.data + shard.nbytes - INDEX_NBYTES
                        + 16 * number + 8);
}

static uint64_t
sum_stored_nbytes (struct site *site, const struct radio_box *box)
{
  uint64_t first[3], last[3], at[3], sum = 0;
  for (int i = 0; i < 3; i++) {
    first[i] = box->start[i] / TILE[i];
    last[i] = (box->start[i] + box->size[i] - 1) / TILE[i];
  }
  for (at[0] = first[0]; at[0] <= last[0]; at[0]++)
    for (at[1] = first[1]; at[1] <= last[1]; at[1]++)
      for (at[2] = first[2]; at[2] <= last[2]; at[2]++)
        sum += stored_nbytes (site, at);
  return sum;
}

static const struct radio_box boxes[] = {
  { 3, { 0, 0, 0 }, { 40, 64, 50 } },
  { 3, { 7, 3, 11 }, { 20, 40, 30 } },
  { 3, { 0, 0, 0 }, { 1, 1, 1 } },
  { 3, { 39, 63, 49 }, { 1, 1, 1 } },
  { 3, { 12, 0, 0 }, { 1, 64, 50 } },
  { 3, { 0, 31, 0 }, { 40, 2, 50 } },
  { 3, { 5, 16, 8 }, { 5, 16, 8 } },
};
#define NBOXES (sizeof boxes / sizeof boxes[0])

#define TILE_NBYTES (5 * 16 * 8 * ITEM)

/* A whole profile of a read against arithmetic. */
static void
check_bytes (struct site *site, const struct radio_profile *profile,
             const struct radio_box *box, bool indexes_are_cached)
{
  uint64_t ntiles = count_cells (box, TILE);
  uint64_t nshards = count_cells (box, SHARD);
  uint64_t nindexes = indexes_are_cached ? 0 : nshards;
  uint64_t ngets = site->io->ngets, nbytes = site->io->nbytes;
  assert_int_equal (tree_counter (profile, "read", "requests"), ngets);
  assert_int_equal (tree_counter (profile, "read", "bytes fetched"), nbytes);
  assert_int_equal (tree_counter (profile, "read", "bytes asked"),
                    sum_stored_nbytes (site, box) + nindexes * INDEX_NBYTES);
  assert_int_equal (tree_counter (profile, "read", "bytes decoded"),
                    ntiles * TILE_NBYTES);
  assert_int_equal (tree_counter (profile, "read", "bytes delivered"),
                    radio_box_count (box) * ITEM);
  assert_int_equal (tree_counter (profile, "read", "tiles"), ntiles);
  assert_int_equal (tree_counter (profile, "read", "cache hits"),
                    nshards - nindexes);
  assert_int_equal (tree_counter (profile, "read", "cache misses"),
                    nindexes);
  assert_int_equal (tree_calls_of (profile, "decode blosc lz4"), ntiles);
  /* Tiles are put in order on their way, within their decoding. */
  assert_int_equal (tree_calls_of (profile, "place"), 0);
  assert_int_equal (tree_calls_of (profile, "decode index"), nindexes);
  /* Its chunks, then their fetches; nothing is planned at the end. */
  assert_int_equal (tree_calls_of (profile, "plan"), 2);
}

/* The caller's elements are those of the box. */
static void
check_elements (const struct site *site, const struct radio_box *box)
{
  size_t n = 0;
  for (uint64_t z = 0; z < box->size[0]; z++)
    for (uint64_t y = 0; y < box->size[1]; y++)
      for (uint64_t x = 0; x < box->size[2]; x++) {
        uint64_t at = ((box->start[0] + z) * SHAPE[1] + box->start[1] + y)
          * SHAPE[2] + box->start[2] + x;
        assert_int_equal (site->room[n++], site->elements[at]);
      }
}

static void
check_reads (unsigned nthreads, bool deferred)
{
  for (size_t i = 0; i < NBOXES; i++) {
    struct site site;
    site_open (&site, nthreads, deferred);
    for (int cached = 0; cached < 2; cached++) {
      struct radio_profile *profile = record_read (&site, &boxes[i]);
      check_elements (&site, &boxes[i]);
      check_bytes (&site, profile, &boxes[i], cached);
      tree_check_sums (profile);
      assert_int_equal (tree_calls (profile, "read"), 1);
      radio_profile_close (profile);
    }
    site_close (&site);
  }
}

static void
a_read_by_one_thread_shows_its_bytes (void **state)
{
  (void) state;
  check_reads (1, false);
}

static void
a_read_by_several_threads_shows_the_same_bytes (void **state)
{
  (void) state;
  check_reads (4, false);
}

static void
a_read_by_requests_shows_the_same_bytes (void **state)
{
  (void) state;
  check_reads (3, true);
}

static void
work_of_one_thread_is_the_roots_time (void **state)
{
  (void) state;
  struct site site;
  struct radio_profile_info info;
  site_open (&site, 1, false);
  struct radio_profile *profile = record_read (&site, &boxes[0]);
  radio_profile_get_info (profile, &info);
  const struct radio_profile_node *root
    = tree_node (profile, "read", RADIO_EDGE_CALL);
  uint64_t self = 0;
  for (size_t i = 0; i < info.nnodes; i++) {
    const struct radio_profile_node *node = radio_profile_get_node (profile, i);
    assert_int_equal (node->edge, RADIO_EDGE_CALL);
    assert_int_equal (node->work_ns + node->wait_ns, node->self_ns);
    self += node->self_ns;
  }
  assert_int_equal (self, root->total_ns);
  assert_int_equal (info.work_ns + info.wait_ns, root->total_ns);
  assert_int_equal (info.wall_ns, root->total_ns);
  radio_profile_close (profile);
  site_close (&site);
}

static void
a_read_names_its_steps (void **state)
{
  (void) state;
  static const char *const paths[] = {
    "read/plan", "read/shard index/indexes/fetch",
    "read/shard index/indexes/decode index", "read/tiles/fetch",
    "read/tiles/decode blosc lz4",
  };
  struct site site;
  site_open (&site, 1, false);
  struct radio_profile *profile = record_read (&site, &boxes[1]);
  for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
    if (tree_calls (profile, paths[i]) == 0) {
      tree_print (profile);
      fail_msg ("%s is missing", paths[i]);
    }
  radio_profile_close (profile);
  site_close (&site);
}

/* Nothing stands beside the operation: what workers did is below it.  With
 * a machine's scheduler the caller may have done it all; so until once some
 * worker was faster. */
static void
work_of_workers_is_below_the_read (void **state)
{
  (void) state;
  struct site site;
  site_open (&site, 4, false);
  bool seen = false;
  for (int i = 0; i < 1000 && !seen; i++) {
    struct radio_profile_info info;
    struct radio_profile *profile = record_read (&site, &boxes[0]);
    radio_profile_get_info (profile, &info);
    for (size_t k = 0; k < info.nnodes; k++) {
      const struct radio_profile_node *node = radio_profile_get_node (profile,
                                                                      k);
      if (node->parent == RADIO_NO_PARENT)
        assert_string_equal (node->name, "read");
    }
    const struct radio_profile_node *tiles
      = tree_node (profile, "read/tiles", RADIO_EDGE_HANDOFF);
    seen = tiles && tiles->tree_work_ns > tiles->work_ns;
    tree_check_sums (profile);
    radio_profile_close (profile);
  }
  assert_true (seen);
  site_close (&site);
}

static void
requests_have_phases (void **state)
{
  (void) state;
  struct site site;
  site_open (&site, 2, true);
  struct radio_profile *profile = record_read (&site, &boxes[0]);
  const struct radio_profile_node *fetch
    = tree_node (profile, "read/requests/fetch", RADIO_EDGE_ASYNC);
  const struct radio_profile_node *queued
    = tree_node (profile, "read/requests/fetch/queued", RADIO_EDGE_PHASE);
  const struct radio_profile_node *transfer
    = tree_node (profile, "read/requests/fetch/transfer", RADIO_EDGE_PHASE);
  assert_true (fetch && queued && transfer);
  assert_int_equal (queued->calls, fetch->calls);
  assert_int_equal (transfer->calls, fetch->calls);
  assert_true (queued->total_ns + transfer->total_ns <= fetch->total_ns);
  assert_int_equal (fetch->work_ns, 0);
  assert_true (tree_calls (profile, "read/requests/wait for requests") > 0);
  assert_true (tree_calls (profile,
                           "read/requests/tiles/decode blosc lz4") > 0);
  assert_non_null (tree_node (profile, "read/shard index/fetch",
                              RADIO_EDGE_ASYNC));
  radio_profile_close (profile);
  site_close (&site);
}

static void
converting_is_named_so (void **state)
{
  (void) state;
  struct site site;
  site_open (&site, 1, false);
  float *values = malloc (site.nbytes * 2);
  assert_non_null (values);
  struct radio_recorder *recorder = tree_begin ();
  assert_ok (radio_array_read (site.array, &boxes[0], RADIO_FLOAT32, values,
                               site.nbytes * 2, NULL));
  struct radio_profile *profile = tree_end (recorder);
  assert_int_equal (tree_calls (profile, "read/tiles/convert"),
                    count_cells (&boxes[0], TILE));
  assert_int_equal (tree_calls (profile, "read/tiles/place"), 0);
  assert_int_equal (tree_counter (profile, "read", "bytes delivered"),
                    site.nbytes * 2);
  radio_profile_close (profile);
  free (values);
  site_close (&site);
}

/* Elements that do not follow each other along rows are decoded first. */
static void
copying_to_columns_is_placing (void **state)
{
  (void) state;
  struct site site;
  site_open (&site, 1, false);
  const struct radio_box *box = &boxes[0];
  const int64_t strides[3] = {
    ITEM, ITEM * (int64_t) box->size[0],
    ITEM * (int64_t) (box->size[0] * box->size[1])
  };
  const struct radio_read_options options = { .strides = strides };
  struct radio_recorder *recorder = tree_begin ();
  assert_ok (radio_array_read (site.array, box, RADIO_STORED, site.room,
                               site.nbytes, &options));
  struct radio_profile *profile = tree_end (recorder);
  assert_int_equal (tree_calls (profile, "read/tiles/place"),
                    count_cells (box, TILE));
  assert_int_equal (tree_counter (profile, "read", "bytes delivered"),
                    radio_box_count (box) * ITEM);
  radio_profile_close (profile);
  site_close (&site);
}

/* Missing tiles are delivered, and neither fetched nor decoded. */
static void
filling_is_not_decoding (void **state)
{
  (void) state;
  struct site site = { 0 };
  open_array (&site, 2, false);
  int16_t room[4 * 20 * 10];
  const struct radio_box box = radio_box3 (30, 4, 10, 20, 20, 10);
  struct radio_recorder *recorder = tree_begin ();
  assert_ok (radio_array_read (site.array, &box, RADIO_STORED, room,
                               sizeof room, NULL));
  struct radio_profile *profile = tree_end (recorder);
  assert_true (tree_calls_of (profile, "fill") > 0);
  assert_int_equal (tree_calls_of (profile, "decode blosc lz4"), 0);
  assert_int_equal (tree_counter (profile, "read", "bytes delivered"),
                    sizeof room);
  assert_int_equal (tree_counter (profile, "read", "bytes decoded"), 0);
  assert_int_equal (tree_counter (profile, "read", "bytes fetched"), 0);
  radio_profile_close (profile);
  site_close (&site);
}

static void
a_tile_for_two_boxes_is_decoded_once (void **state)
{
  (void) state;
  struct site site;
  site_open (&site, 1, false);
  int16_t rooms[2][8];
  const struct radio_request requests[2] = {
    { radio_box3 (0, 2, 0, 2, 0, 2), rooms[0], sizeof rooms[0], NULL },
    { radio_box3 (1, 2, 1, 2, 1, 2), rooms[1], sizeof rooms[1], NULL },
  };
  struct radio_recorder *recorder = tree_begin ();
  assert_ok (radio_array_read_many (site.array, requests, 2, RADIO_STORED,
                                    NULL));
  struct radio_profile *profile = tree_end (recorder);
  assert_int_equal (tree_calls_of (profile, "decode blosc lz4"), 1);
  assert_int_equal (tree_calls_of (profile, "place"), 0);
  assert_int_equal (tree_counter (profile, "read many", "bytes decoded"),
                    TILE_NBYTES);
  assert_int_equal (tree_counter (profile, "read many", "bytes delivered"),
                    sizeof rooms);
  radio_profile_close (profile);
  site_close (&site);
}

static void
a_write_shows_its_bytes (void **state)
{
  (void) state;
  for (unsigned nthreads = 1; nthreads <= 4; nthreads += 3) {
    struct site site;
    site_open (&site, nthreads, false);
    const struct radio_box *all = &boxes[0];
    uint64_t ntiles = count_cells (all, TILE);
    uint64_t nshards = count_cells (all, SHARD);
    uint64_t stored = sum_stored_nbytes (&site, all)
      + nshards * INDEX_NBYTES;
    struct radio_recorder *recorder = tree_begin ();
    assert_ok (radio_array_write (site.array, all, site.elements,
                                  site.nbytes));
    struct radio_profile *profile = tree_end (recorder);
    assert_int_equal (tree_counter (profile, "write", "bytes encoded"),
                      ntiles * TILE_NBYTES);
    assert_int_equal (tree_counter (profile, "write", "tiles"), ntiles);
    assert_int_equal (tree_counter (profile, "write", "bytes written"),
                      stored);
    assert_int_equal (tree_calls (profile,
                                  "write/encode tiles/encode/blosc lz4"),
                      ntiles);
    assert_int_equal (tree_calls (profile,
                                  "write/encode tiles/write shard"),
                      nshards);
    tree_check_sums (profile);
    radio_profile_close (profile);
    site_close (&site);
  }
}

/* A profile of its own is made by each of two threads that read at once with
 * one pool. */
struct reader {
  struct site *site;
  const struct radio_box *box;
  pthread_t thread;
};

static void *
read_recorded (void *argument)
{
  struct reader *reader = argument;
  size_t nbytes = radio_box_count (reader->box) * ITEM;
  int16_t *room = malloc (nbytes);
  struct radio_recorder *recorder = tree_begin ();
  for (int i = 0; i < 20; i++)
    assert_ok (radio_array_read (reader->site->array, reader->box,
                                 RADIO_STORED, room, nbytes, NULL));
  struct radio_profile *profile = tree_end (recorder);
  assert_int_equal (tree_calls (profile, "read"), 20);
  assert_int_equal (tree_calls_of (profile, "decode blosc lz4"),
                    20 * count_cells (reader->box, TILE));
  assert_int_equal (tree_counter (profile, "read", "bytes delivered"),
                    20 * nbytes);
  assert_int_equal (tree_total (profile, "bytes delivered"), 20 * nbytes);
  assert_int_equal (tree_total (profile, "bytes decoded"),
                    20 * count_cells (reader->box, TILE) * TILE_NBYTES);
  tree_check_sums (profile);
  radio_profile_close (profile);
  free (room);
  return NULL;
}

static void
two_recorders_at_once_do_not_mix (void **state)
{
  (void) state;
  struct site site;
  site_open (&site, 3, false);
  struct reader readers[2] = {
    { .site = &site, .box = &boxes[0] }, { .site = &site, .box = &boxes[1] },
  };
  for (int i = 0; i < 2; i++)
    assert_int_equal (pthread_create (&readers[i].thread, NULL,
                                      read_recorded, &readers[i]), 0);
  for (int i = 0; i < 2; i++)
    pthread_join (readers[i].thread, NULL);
  site_close (&site);
}

static void
a_failed_read_leaves_no_scope_open (void **state)
{
  (void) state;
  struct site site;
  site_open (&site, 3, false);
  RD_BUFFER_SCOPE struct rd_buffer shard = { 0 };
  struct rd_io *io = &site.io->wrap.base;
  assert_ok (rd_io_read_all (io, "a/c/1/1/1", 1 << 24, &shard));
  shard.data[10] ^= 1;
  assert_ok (rd_io_put (io, "a/c/1/1/1", shard.data, shard.nbytes,
                        RD_PUT_REPLACE));
  struct radio_recorder *recorder = tree_begin ();
  enum radio_status status = radio_array_read (
    site.array, &boxes[0], RADIO_STORED, site.room, site.nbytes, NULL);
  struct radio_profile *profile = tree_end (recorder);
  assert_int_equal (status, RADIO_ERROR_CHECKSUM);
  tree_check_sums (profile);
  radio_profile_close (profile);
  site_close (&site);
}

static void
nothing_is_held_when_all_is_closed (void **state)
{
  (void) state;
  assert_int_equal (rd_alloc_live_count (), 0);
  struct site site;
  site_open (&site, 3, false);
  assert_true (rd_alloc_live_count () > 0);
  struct radio_profile *profile = record_read (&site, &boxes[0]);
  site_close (&site);
  radio_profile_close (profile);
  assert_int_equal (rd_alloc_live_count (), 0);
}

/* Opening and closing within a recording frees all that it allocates, and
 * shows what. */
static void
memory_is_counted_at_the_requesting_scope (void **state)
{
  (void) state;
  struct site site;
  site_open (&site, 1, false);
  struct radio_profile_info info;
  struct radio_recorder *recorder = tree_begin ();
  struct radio_array *array;
  assert_ok (radio_array_open (site.store, "a", &array));
  radio_array_close (array);
  struct radio_profile *profile = tree_end (recorder);
  radio_profile_get_info (profile, &info);
  assert_true (info.alloc_count > 0);
  assert_true (info.alloc_nbytes > 0);
  assert_true (info.alloc_peak_nbytes <= info.alloc_nbytes);
  assert_int_equal (info.alloc_live_nbytes, 0);
  radio_profile_close (profile);

  recorder = tree_begin ();
  assert_ok (radio_array_open (site.store, "a", &array));
  profile = tree_end (recorder);
  radio_profile_get_info (profile, &info);
  assert_true (info.alloc_live_nbytes > 0);
  radio_array_close (array);
  radio_profile_close (profile);
  site_close (&site);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_read_by_one_thread_shows_its_bytes),
    cmocka_unit_test (a_read_by_several_threads_shows_the_same_bytes),
    cmocka_unit_test (a_read_by_requests_shows_the_same_bytes),
    cmocka_unit_test (work_of_one_thread_is_the_roots_time),
    cmocka_unit_test (a_read_names_its_steps),
    cmocka_unit_test (work_of_workers_is_below_the_read),
    cmocka_unit_test (requests_have_phases),
    cmocka_unit_test (converting_is_named_so),
    cmocka_unit_test (copying_to_columns_is_placing),
    cmocka_unit_test (filling_is_not_decoding),
    cmocka_unit_test (a_tile_for_two_boxes_is_decoded_once),
    cmocka_unit_test (a_write_shows_its_bytes),
    cmocka_unit_test (two_recorders_at_once_do_not_mix),
    cmocka_unit_test (a_failed_read_leaves_no_scope_open),
    cmocka_unit_test (nothing_is_held_when_all_is_closed),
    cmocka_unit_test (memory_is_counted_at_the_requesting_scope),
  };
  if (tree_skip_all ())
    return 0;
  return cmocka_run_group_tests (tests, NULL, NULL);
}
