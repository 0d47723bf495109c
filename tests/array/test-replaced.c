/* SPDX-License-Identifier: MIT */
/* A shard that is replaced on a web server, by one of the same size
 * whose tiles lie elsewhere: no read takes the tiles of one by the index of
 * the other, however long before that was read. */
#include <config.h>

#include <radio/array.h>

#include "src/array/context.h"
#include "tests/io/http-peer.h"
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

int
main (void)
{
  const struct CMUnitTest tests[] = {
    CASE (an_index_is_read_once),
    CASE (a_shard_that_was_replaced_between_two_reads_is_read_by_its_index),
    CASE (a_shard_that_is_replaced_during_a_read_is_read_again),
    CASE (a_check_reads_an_index_again_that_seemed_replaced),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
