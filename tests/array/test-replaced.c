/* SPDX-License-Identifier: MIT */
/* A shard that is replaced on a web server, or on a disk also written in place,
 * by one of the same size whose tiles lie elsewhere: no read takes the tiles of
 * one by the index of the other, however long before that was read. */
#include <config.h>

#include <fcntl.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include <radio/array.h>

#include "src/array/cache/reads.h"
#include "src/array/context.h"
#include "tests/io/http-peer.h"
#include "tests/io/wrap.h"
#include "tests/unit.h"

#define SHARD "a/c/0"
#define NBYTES 8
#define MISSING "\xff\xff\xff\xff\xff\xff\xff\xff"

static const char root_text[] =
  "{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":{}}";
static const char array_text[] =
  "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[8],"
  "\"data_type\":\"uint8\",\"fill_value\":0,"
  "\"chunk_grid\":{\"name\":\"regular\","
  "\"configuration\":{\"chunk_shape\":[8]}},"
  "\"chunk_key_encoding\":{\"name\":\"default\"},"
  "\"codecs\":[{\"name\":\"sharding_indexed\",\"configuration\":{"
  "\"chunk_shape\":[4],\"codecs\":[{\"name\":\"bytes\"}],"
  "\"index_codecs\":[{\"name\":\"bytes\","
  "\"configuration\":{\"endian\":\"little\"}}]}}]}";

/* One tile of the two, and what the array holds so. */
static const char first_shard[] =
  "\x01\x02\x03\x04" "\0\0\0\0\0\0\0\0" "\x04\0\0\0\0\0\0\0"
  MISSING MISSING;
static const char second_shard[] =
  "\x05\x06\x07\x08" MISSING MISSING
  "\0\0\0\0\0\0\0\0" "\x04\0\0\0\0\0\0\0";
static const unsigned char first[NBYTES] = { 1, 2, 3, 4 };
static const unsigned char second[NBYTES] = { 0, 0, 0, 0, 5, 6, 7, 8 };

struct site {
  struct rd_io *objects;
  struct http_peer *peer;
  struct radio_store *store;
  struct radio_array *array;
};

static void
put (struct site *site, const char *key, const char *bytes, size_t nbytes)
{
  assert_ok (rd_io_put (site->objects, key, bytes, nbytes, RD_PUT_REPLACE));
}

static int
set_up (void **state)
{
  struct site *site = calloc (1, sizeof *site);
  const struct radio_context_options how = {
    .nthreads = 1, .cache_nbytes = RADIO_NO_CACHE,
  };
  struct radio_store_options options = { 0 };
  assert_non_null (site);
  assert_ok (rd_io_open ("memory:", false, &site->objects));
  put (site, "zarr.json", root_text, sizeof root_text - 1);
  put (site, "a/zarr.json", array_text, sizeof array_text - 1);
  put (site, SHARD, first_shard, sizeof first_shard - 1);
  site->peer = http_peer_start (site->objects);
  assert_ok (radio_context_open (&how, &options.context));
  assert_ok (radio_store_open (http_peer_url (site->peer), &options,
                               &site->store));
  radio_context_close (options.context);
  assert_ok (radio_array_open (site->store, "a", &site->array));
  *state = site;
  return 0;
}

static int
tear_down (void **state)
{
  struct site *site = *state;
  radio_array_close (site->array);
  radio_store_close (site->store);
  http_peer_stop (site->peer);
  rd_io_close (site->objects);
  free (site);
  return 0;
}

static enum radio_status
read_all (struct site *site, unsigned char *bytes)
{
  const struct radio_box box = { 1, { 0 }, { NBYTES } };
  return radio_array_read (site->array, &box, RADIO_STORED, bytes, NBYTES,
                           NULL);
}

static void
assert_holds (struct site *site, const unsigned char *elements)
{
  unsigned char bytes[NBYTES];
  assert_ok (read_all (site, bytes));
  assert_memory_equal (bytes, elements, NBYTES);
}

/* As long as nothing changes, the index is requested once. */
static void
an_index_is_read_once (void **state)
{
  struct site *site = *state;
  assert_holds (site, first);
  unsigned nrequests = http_peer_requests (site->peer);
  assert_holds (site, first);
  assert_int_equal (http_peer_requests (site->peer), nrequests + 1);
}

/* By its index, old or new, it has other tiles: never those of both. */
static void
a_shard_that_was_replaced_between_two_reads_is_read_by_its_index (
  void **state)
{
  struct site *site = *state;
  assert_holds (site, first);
  put (site, SHARD, second_shard, sizeof second_shard - 1);
  assert_holds (site, second);
  unsigned nrequests = http_peer_requests (site->peer);
  assert_holds (site, second);
  assert_int_equal (http_peer_requests (site->peer), nrequests + 1);
}

/* The index that was read by then is not used again. */
static void
a_shard_that_is_replaced_during_a_read_is_read_again (void **state)
{
  struct site *site = *state;
  unsigned before = http_peer_requests (site->peer);
  http_peer_script (site->peer, HTTP_OTHER_ETAG, 1, 1000);
  assert_holds (site, first);
  /* The index, the tile of another shard twice, and both again. */
  assert_int_equal (http_peer_requests (site->peer), before + 1 + 2 + 2);
}

#define CASE(fn) cmocka_unit_test_setup_teardown (fn, set_up, tear_down)

/* The response to the request of the index says that it is of another object:
 * the tiles' responses then seem to be of another one. */
static void
a_check_reads_an_index_again_that_seemed_replaced (void **state)
{
  struct site *site = *state;
  struct radio_check check;
  http_peer_script (site->peer, HTTP_OTHER_ETAG, 0, 1);
  assert_ok (radio_array_check (site->array, &check, NULL, NULL));
  assert_int_equal (check.tile_count, 1);
  assert_int_equal (check.missing_count, 1);
  assert_int_equal (check.damaged_count, 0);
}

/* A folder, of which the reads of indexes are counted. */
struct folder {
  struct rd_wrap wrap;
  char name[32];
  atomic_uint nindexes;
  struct radio_store *store;
  struct radio_array *array;
};

static void
count_get (struct rd_io *io, struct rd_io_get *gets, size_t n)
{
  struct folder *folder = (struct folder *) io;
  struct rd_io *inner = folder->wrap.inner;
  for (size_t i = 0; i < n; i++)
    folder->nindexes += gets[i].range == RD_RANGE_SUFFIX;
  inner->ops->get (inner, gets, n);
}

static void
close_wrap (struct rd_io *io)
{
  rd_wrap_finish (&((struct folder *) io)->wrap);
}

static void
put_file (struct folder *folder, const char *key, const char *bytes,
          size_t nbytes)
{
  assert_ok (rd_io_put (folder->wrap.inner, key, bytes, nbytes,
                        RD_PUT_REPLACE));
}

static void
open_folder (struct folder *folder, uint64_t cache_nbytes)
{
  const struct radio_context_options how = {
    .nthreads = 1, .cache_nbytes = cache_nbytes,
  };
  struct radio_store_options options = { 0 };
  struct rd_io *inner;
  *folder = (struct folder) { .name = "test-replaced-XXXXXX" };
  assert_non_null (mkdtemp (folder->name));
  assert_ok (rd_io_posix_open (folder->name, false, &inner));
  assert_ok (rd_wrap_init (&folder->wrap, "counting", inner));
  folder->wrap.ops.close = close_wrap;
  folder->wrap.ops.get = count_get;
  folder->wrap.ops.identify = inner->ops->identify;
  put_file (folder, "zarr.json", root_text, sizeof root_text - 1);
  put_file (folder, "a/zarr.json", array_text, sizeof array_text - 1);
  put_file (folder, SHARD, first_shard, sizeof first_shard - 1);
  assert_ok (radio_context_open (&how, &options.context));
  assert_ok (rd_store_open_io (&folder->wrap.base, &options,
                               &folder->store));
  radio_context_close (options.context);
  assert_ok (radio_array_open (folder->store, "a", &folder->array));
}

static void
close_folder (struct folder *folder)
{
  assert_ok (folder->wrap.inner->ops->remove_tree (folder->wrap.inner, ""));
  radio_array_close (folder->array);
  radio_store_close (folder->store);
  assert_int_equal (rmdir (folder->name), 0);
}

static void
assert_file_holds (struct folder *folder, const unsigned char *elements)
{
  const struct radio_box box = { 1, { 0 }, { NBYTES } };
  unsigned char bytes[NBYTES];
  assert_ok (radio_array_read (folder->array, &box, RADIO_STORED, bytes,
                               NBYTES, NULL));
  assert_memory_equal (bytes, elements, NBYTES);
}

/* Waits longer than the resolution of file times. */
static void
wait_until_stable (void)
{
  const struct timespec time = { .tv_nsec = 60 * 1000 * 1000 };
  assert_int_equal (nanosleep (&time, NULL), 0);
}

static void
write_in_place (const struct folder *folder, const char *bytes, size_t nbytes)
{
  char path[64];
  snprintf (path, sizeof path, "%s/" SHARD, folder->name);
  int fd = open (path, O_WRONLY);
  assert_true (fd >= 0);
  assert_int_equal (pwrite (fd, bytes, nbytes, 0), (ssize_t) nbytes);
  assert_int_equal (close (fd), 0);
}

/* No tiles are cached, though there is room: only radio's own never change. */
static void
a_file_that_another_program_writes_is_read_by_its_index (void **state)
{
  (void) state;
  struct folder folder;
  open_folder (&folder, 1 << 20);
  /* Just written, and stable. */
  for (int stable = 0; stable < 2; stable++)
    for (int in_place = 0; in_place < 2; in_place++) {
      put_file (&folder, SHARD, first_shard, sizeof first_shard - 1);
      if (stable)
        wait_until_stable ();
      for (int i = 0; i < 3; i++)
        assert_file_holds (&folder, first);
      if (in_place)
        write_in_place (&folder, second_shard, sizeof second_shard - 1);
      else
        put_file (&folder, SHARD, second_shard, sizeof second_shard - 1);
      for (int i = 0; i < 3; i++)
        assert_file_holds (&folder, second);
    }
  assert_int_equal (rd_tile_cache_nbytes (folder.store->context->tiles), 0);
  close_folder (&folder);
}

static void
an_index_of_a_file_is_read_once (void **state)
{
  (void) state;
  struct folder folder;
  open_folder (&folder, RADIO_NO_CACHE);
  wait_until_stable ();
  for (int i = 0; i < 3; i++)
    assert_file_holds (&folder, first);
  assert_int_equal (folder.nindexes, 1);
  /* Missing, and there again. */
  assert_ok (rd_io_remove (folder.wrap.inner, SHARD));
  assert_file_holds (&folder, (const unsigned char[NBYTES]) { 0 });
  put_file (&folder, SHARD, second_shard, sizeof second_shard - 1);
  assert_file_holds (&folder, second);
  close_folder (&folder);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    CASE (an_index_is_read_once),
    CASE (a_shard_that_was_replaced_between_two_reads_is_read_by_its_index),
    CASE (a_shard_that_is_replaced_during_a_read_is_read_again),
    CASE (a_check_reads_an_index_again_that_seemed_replaced),
    cmocka_unit_test (a_file_that_another_program_writes_is_read_by_its_index),
    cmocka_unit_test (an_index_of_a_file_is_read_once),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
