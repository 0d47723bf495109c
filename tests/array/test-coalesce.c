/* SPDX-License-Identifier: MIT */
/* Requests to the store: how few reads, of how many bytes, which
 * indexes are read again, and which tiles are decoded once. */
#include <config.h>

#include <pthread.h>

#include "tests/unit.h"

#include <radio/array.h>

#include "src/base/cleanup.h"
#include "tests/io/deferred.h"
#include "tests/io/wrap.h"
#include "src/array/fetch.h"
#include "src/array/cache/reads.h"

/* A store that notes each read before it hands it on. */
struct recorder {
  struct rd_wrap wrap;
  pthread_mutex_t mutex;
  size_t nindexes;                    /* reads of indexes */
  size_t nspans;
  size_t most_nbytes;                 /* of a span */
  uint64_t spans_nbytes;
};

static void
record_get (struct rd_io *io, struct rd_io_get *gets, size_t n)
{
  struct recorder *recorder = (struct recorder *) io;
  struct rd_io *inner = recorder->wrap.inner;
  {
    RD_LOCK_SCOPE (&recorder->mutex);
    for (size_t i = 0; i < n; i++) {
      if (gets[i].range == RD_RANGE_SUFFIX)
        recorder->nindexes++;
      if (gets[i].range != RD_RANGE_SPAN)
        continue;
      recorder->nspans++;
      recorder->spans_nbytes += gets[i].nbytes;
      if (gets[i].nbytes > recorder->most_nbytes)
        recorder->most_nbytes = gets[i].nbytes;
    }
  }
  inner->ops->get (inner, gets, n);
}

static void
recorder_close (struct rd_io *io)
{
  struct recorder *recorder = (struct recorder *) io;
  rd_wrap_finish (&recorder->wrap);
  pthread_mutex_destroy (&recorder->mutex);
  free (recorder);
}

static struct recorder *
recorder_open (bool deferred)
{
  struct recorder *recorder = calloc (1, sizeof *recorder);
  struct rd_io *inner;
  assert_non_null (recorder);
  assert_ok (rd_io_open ("memory:", true, &inner));
  if (deferred)
    assert_ok (rd_io_deferred_open (inner, 3, &inner));
  assert_ok (rd_wrap_init (&recorder->wrap, "recorder", inner));
  recorder->wrap.ops.close = recorder_close;
  recorder->wrap.ops.get = record_get;
  pthread_mutex_init (&recorder->mutex, NULL);
  return recorder;
}

/* Forget what was noted, and join reads by these rules from now on. */
static void
restart (struct recorder *recorder, size_t gap_nbytes, size_t cap_nbytes)
{
  recorder->nindexes = recorder->nspans = recorder->most_nbytes = 0;
  recorder->spans_nbytes = 0;
  recorder->wrap.base.coalesce_gap_nbytes = gap_nbytes;
  recorder->wrap.base.coalesce_cap_nbytes = cap_nbytes;
}

/* Shards of 4 x 4 x 4 tiles of 516 bytes, in C order. */
#define TILE_NBYTES 516
#define SHARD_NTILES 64
#define INDEX_NBYTES (16 * SHARD_NTILES + 4)
#define SIDE 64
#define NSHARDS 16

static const struct radio_array_options shards = {
  .rank = 3, .shape = { 8 * NSHARDS, SIDE, SIDE },
  .chunk_shape = { 8, SIDE, SIDE }, .data_type = "uint8",
  .codecs_json = "[{\"name\":\"sharding_indexed\",\"configuration\":{"
    "\"chunk_shape\":[2,16,16],\"codecs\":[{\"name\":\"bytes\"},"
    "{\"name\":\"crc32c\"}],\"index_codecs\":[{\"name\":\"bytes\","
    "\"configuration\":{\"endian\":\"little\"}},{\"name\":\"crc32c\"}]}}]",
};

struct setting {
  struct recorder *recorder;
  struct radio_store *store;
  struct radio_array *array;
  unsigned char *elements, *room;
  size_t nbytes;
};

static void
setting_open (struct setting *setting, unsigned nthreads, bool deferred)
{
  const struct radio_context_options context = { .nthreads = nthreads };
  struct radio_store_options options = { .create = true };
  const struct radio_box whole = { 3, { 0 }, { 8 * NSHARDS, SIDE, SIDE } };
  setting->recorder = recorder_open (deferred);
  setting->nbytes = radio_box_count (&whole);
  setting->elements = malloc (setting->nbytes);
  setting->room = malloc (setting->nbytes);
  assert_true (setting->elements && setting->room);
  for (size_t i = 0; i < setting->nbytes; i++)
    setting->elements[i] = (unsigned char) (1 + i * i % 251);
  assert_ok (radio_context_open (&context, &options.context));
  assert_ok (rd_store_open_io (&setting->recorder->wrap.base, &options,
                               &setting->store));
  radio_context_close (options.context);
  assert_ok (radio_array_create (setting->store, "x", &shards,
                                 &setting->array));
  assert_ok (radio_array_write (setting->array, &whole, setting->elements,
                                setting->nbytes));
}

static void
setting_close (struct setting *setting)
{
  radio_array_close (setting->array);
  radio_store_close (setting->store);
  free (setting->elements);
  free (setting->room);
}

/* Read a box and compare it with what was written. */
static void
read_box (struct setting *setting, const struct radio_box *box)
{
  const unsigned char *got = setting->room;
  assert_ok (radio_array_read (setting->array, box, RADIO_STORED,
                               setting->room, setting->nbytes, NULL));
  for (uint64_t z = 0; z < box->size[0]; z++)
    for (uint64_t y = 0; y < box->size[1]; y++) {
      assert_memory_equal (
        got, setting->elements + ((box->start[0] + z) * SIDE
                                  + box->start[1] + y) * SIDE
        + box->start[2], box->size[2]);
      got += box->size[2];
    }
}

static void
a_plane_of_a_shard_is_one_read_and_its_index_another (void **state)
{
  (void) state;
  for (int deferred = 0; deferred < 2; deferred++)
    for (unsigned nthreads = 1; nthreads <= 4; nthreads *= 4) {
      struct setting setting;
      const struct radio_box plane = { 3, { 5, 0, 0 }, { 1, SIDE, SIDE } };
      setting_open (&setting, nthreads, deferred);
      struct recorder *recorder = setting.recorder;
      restart (recorder, 0, 1 << 20);
      read_box (&setting, &plane);
      assert_int_equal (recorder->nindexes, 1);
      assert_int_equal (recorder->nspans, 1);
      assert_int_equal (recorder->spans_nbytes, 16 * TILE_NBYTES);
      read_box (&setting, &plane);
      assert_int_equal (recorder->nindexes, 1);   /* it is kept */
      assert_int_equal (recorder->nspans, 2);
      setting_close (&setting);
    }
}

static void
a_gap_is_read_over_only_when_it_is_small_enough (void **state)
{
  (void) state;
  for (int deferred = 0; deferred < 2; deferred++) {
    struct setting setting;
    /* One tile of four on the last axis: three lie between them. */
    const struct radio_box plane = { 3, { 0, 0, 20 }, { 8, SIDE, 1 } };
    const size_t gap = 3 * TILE_NBYTES;
    setting_open (&setting, 1, deferred);
    restart (setting.recorder, gap, 1 << 20);
    read_box (&setting, &plane);
    assert_int_equal (setting.recorder->nspans, 1);
    assert_int_equal (setting.recorder->spans_nbytes, 61 * TILE_NBYTES);
    restart (setting.recorder, gap - 1, 1 << 20);
    read_box (&setting, &plane);
    assert_int_equal (setting.recorder->nspans, 16);
    assert_int_equal (setting.recorder->spans_nbytes, 16 * TILE_NBYTES);
    setting_close (&setting);
  }
}

static void
no_read_is_larger_than_the_cap_but_for_a_single_tile (void **state)
{
  (void) state;
  for (int deferred = 0; deferred < 2; deferred++) {
    struct setting setting;
    const struct radio_box shard = { 3, { 8, 0, 0 }, { 8, SIDE, SIDE } };
    setting_open (&setting, 1, deferred);
    for (size_t ntiles = 1; ntiles <= SHARD_NTILES; ntiles *= 2) {
      restart (setting.recorder, 0, ntiles * TILE_NBYTES);
      read_box (&setting, &shard);
      assert_int_equal (setting.recorder->nspans, SHARD_NTILES / ntiles);
      assert_int_equal (setting.recorder->most_nbytes,
                        ntiles * TILE_NBYTES);
    }
    restart (setting.recorder, 0, 1);
    read_box (&setting, &shard);
    assert_int_equal (setting.recorder->nspans, SHARD_NTILES);
    setting_close (&setting);
  }
}

static void
workers_of_a_store_that_blocks_get_reads_of_their_own (void **state)
{
  struct setting setting;
  const struct radio_box all = { 3, { 0 }, { 8 * NSHARDS, SIDE, SIDE } };
  (void) state;
  setting_open (&setting, 2, false);
  restart (setting.recorder, 0, (size_t) 1 << 30);
  read_box (&setting, &all);
  /* 32 parts of 528 KB are just above the least of 16 KiB: half a shard. */
  assert_int_equal (setting.recorder->nspans, 2 * NSHARDS);
  assert_int_equal (setting.recorder->spans_nbytes,
                    NSHARDS * SHARD_NTILES * TILE_NBYTES);
  setting_close (&setting);
}

static void
boxes_of_one_tile_share_one_read (void **state)
{
  (void) state;
  for (int deferred = 0; deferred < 2; deferred++) {
    struct setting setting;
    struct radio_request requests[50];
    unsigned char values[50];
    setting_open (&setting, 2, deferred);
    for (uint64_t i = 0; i < 50; i++)
      requests[i] = (struct radio_request) {
        .box = { 3, { i % 2, i / 2 % 16, i % 16 }, { 1, 1, 1 } },
        .buffer = &values[i], .nbytes = 1,
      };
    restart (setting.recorder, 0, 1 << 20);
    assert_ok (radio_array_read_many (setting.array, requests, 50,
                                      RADIO_STORED, NULL));
    assert_int_equal (setting.recorder->nindexes, 1);
    assert_int_equal (setting.recorder->nspans, 1);
    assert_int_equal (setting.recorder->spans_nbytes, TILE_NBYTES);
    for (uint64_t i = 0; i < 50; i++)
      assert_int_equal (values[i], setting.elements[
        (i % 2 * SIDE + i / 2 % 16) * SIDE + i % 16]);
    setting_close (&setting);
  }
}

/* Marks left in decoded elements, which decoding again would overwrite. */
struct marking {
  struct rd_tile_read read;
  unsigned nplaced, nmarked;
};

static enum radio_status
mark (struct rd_tile_read *read, size_t request, const struct radio_box *box,
      const struct rd_view *view, uint64_t *nbytes)
{
  struct marking *marking = (struct marking *) read;
  unsigned char *byte = (unsigned char *) (uintptr_t) view->data;
  (void) request;
  (void) box;
  (void) nbytes;
  marking->nplaced++;
  marking->nmarked += *byte == 0;     /* no element is 0 */
  *byte = 0;
  return RADIO_OK;
}

static void
boxes_of_one_tile_share_one_decoding (void **state)
{
  struct setting setting;
  struct radio_request requests[20];
  (void) state;
  setting_open (&setting, 1, false);
  for (uint64_t i = 0; i < 20; i++)
    requests[i] = (struct radio_request) {
      .box = { 3, { 0, i % 4, 16 * (i % 2) }, { 1, 1, 1 } },
    };
  struct marking marking = {
    .read = { .array = setting.array, .requests = requests, .n = 20,
              .place = mark },
  };
  assert_ok (rd_fetch_tiles (&marking.read));
  assert_int_equal (marking.nplaced, 20);
  assert_int_equal (marking.nmarked, 18);   /* all but the first of two */
  setting_close (&setting);
}

/* A cache of two indexes: those that were used last are kept. */
static void
indexes_are_read_again_when_there_was_no_room_for_them (void **state)
{
  struct setting setting;
  struct radio_box tile = { 3, { 0 }, { 1, 1, 1 } };
  (void) state;
  setting_open (&setting, 1, false);
  radio_array_close (setting.array);
  setting.store->context->memory_limit_nbytes = 8 * 2500;
  assert_ok (radio_array_open (setting.store, "x", &setting.array));
  restart (setting.recorder, 0, 1 << 20);
  for (uint64_t i = 0; i < 3 * NSHARDS; i++) {
    tile.start[0] = 8 * (i % NSHARDS);
    read_box (&setting, &tile);
    assert_int_equal (setting.recorder->nindexes, i + 1);
    assert_true (rd_index_cache_nbytes (setting.array->indexes) <= 2500);
  }
  for (uint64_t i = 0; i < 10; i++) {
    tile.start[0] = 8 * (NSHARDS - 1 - i % 2);
    read_box (&setting, &tile);
  }
  assert_int_equal (setting.recorder->nindexes, 3 * NSHARDS);
  setting_close (&setting);
}

/* Others may write what is not there yet. */
static void
a_shard_that_is_not_there_is_looked_for_each_time (void **state)
{
  struct setting setting;
  struct radio_array *other;
  const struct radio_box shard = { 3, { 16, 0, 0 }, { 8, SIDE, SIDE } };
  const struct radio_box point = { 3, { 17, 3, 3 }, { 1, 1, 1 } };
  unsigned char value = 9;
  (void) state;
  setting_open (&setting, 1, false);
  assert_ok (setting.store->io->ops->remove (setting.store->io,
                                             "x/c/2/0/0"));
  restart (setting.recorder, 0, 1 << 20);
  for (int i = 0; i < 3; i++) {
    assert_ok (radio_array_read (setting.array, &point, RADIO_STORED, &value,
                                 1, NULL));
    assert_int_equal (value, 0);
  }
  assert_int_equal (setting.recorder->nindexes, 3);
  assert_int_equal (setting.recorder->nspans, 0);
  assert_ok (radio_array_open (setting.store, "x", &other));
  assert_ok (radio_array_write (other, &shard, setting.elements
                                + 16 * SIDE * SIDE, 8 * SIDE * SIDE));
  radio_array_close (other);
  read_box (&setting, &point);
  setting_close (&setting);
}

/* Every other shard, by a handle of its own. */
struct writer {
  struct setting *setting;
  uint64_t first;
  enum radio_status status;
  pthread_t thread;
};

static void *
write_shards (void *argument)
{
  struct writer *writer = argument;
  const struct setting *setting = writer->setting;
  struct radio_array *array;
  writer->status = radio_array_open (setting->store, "x", &array);
  if (writer->status != RADIO_OK)
    return NULL;
  for (uint64_t i = writer->first; i < NSHARDS; i += 2) {
    const struct radio_box shard = { 3, { 8 * i }, { 8, SIDE, SIDE } };
    if (writer->status == RADIO_OK)
      writer->status = radio_array_write (
        array, &shard, setting->elements + 8 * SIDE * SIDE * i,
        8 * SIDE * SIDE);
  }
  radio_array_close (array);
  return NULL;
}

static void
two_handles_write_different_shards_at_once (void **state)
{
  struct setting setting;
  struct writer writers[2];
  const struct radio_box all = { 3, { 0 }, { 8 * NSHARDS, SIDE, SIDE } };
  (void) state;
  setting_open (&setting, 2, false);
  for (size_t i = 0; i < setting.nbytes; i++)
    setting.elements[i] = (unsigned char) (251 - i % 250);
  for (uint64_t i = 0; i < 2; i++) {
    writers[i] = (struct writer) { .setting = &setting, .first = i };
    assert_int_equal (pthread_create (&writers[i].thread, NULL, write_shards,
                                      &writers[i]), 0);
  }
  for (int i = 0; i < 2; i++) {
    pthread_join (writers[i].thread, NULL);
    assert_int_equal (writers[i].status, RADIO_OK);
  }
  read_box (&setting, &all);
  setting_close (&setting);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_plane_of_a_shard_is_one_read_and_its_index_another),
    cmocka_unit_test (a_gap_is_read_over_only_when_it_is_small_enough),
    cmocka_unit_test (no_read_is_larger_than_the_cap_but_for_a_single_tile),
    cmocka_unit_test (workers_of_a_store_that_blocks_get_reads_of_their_own),
    cmocka_unit_test (boxes_of_one_tile_share_one_read),
    cmocka_unit_test (boxes_of_one_tile_share_one_decoding),
    cmocka_unit_test (indexes_are_read_again_when_there_was_no_room_for_them),
    cmocka_unit_test (a_shard_that_is_not_there_is_looked_for_each_time),
    cmocka_unit_test (two_handles_write_different_shards_at_once),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
