/* SPDX-License-Identifier: MIT */
/* Reads over a network whose responses are wrong or damaged at random: each
 * read ends in the right elements, since other responses are right. */
#include <config.h>

#include "src/array/context.h"
#include "src/array/refetch.h"
#include "tests/array/model.h"
#include "tests/io/http-peer.h"
#include "tests/profile-tree.h"

#define NREADS 250

#define BYTES "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}"
#define CRC "{\"name\":\"crc32c\"}"

static const struct radio_array_options sharded = {
  .rank = 3,
  .shape = { 40, 48, 52 },
  .chunk_shape = { 16, 48, 56 },
  .data_type = "int16",
  .codecs_json = "[{\"name\":\"sharding_indexed\",\"configuration\":{"
    "\"chunk_shape\":[8,8,8],\"codecs\":[" BYTES ",{\"name\":\"zstd\","
    "\"configuration\":{\"level\":1,\"checksum\":false}}," CRC "],"
    "\"index_codecs\":[" BYTES "," CRC "]}}]",
};

/* The array of the model, on a web server. */
struct site {
  struct model model;
  struct http_peer *peer;
  struct radio_store *store;
  struct radio_array *array;
};

static int
set_up (void **state)
{
  struct site *site = calloc (1, sizeof *site);
  const struct radio_context_options how = {
    .nthreads = 2, .cache_nbytes = RADIO_NO_CACHE,
  };
  struct radio_store_options options = { 0 };
  assert_non_null (site);
  model_open_as (&site->model, 5, 1, false, &sharded);
  model_write (&site->model);
  site->peer = http_peer_start (site->model.store->io);
  assert_ok (radio_context_open (&how, &options.context));
  assert_ok (radio_store_open (http_peer_url (site->peer), &options,
                               &site->store));
  radio_context_close (options.context);
  assert_ok (radio_array_open (site->store, "some/array", &site->array));
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
  model_close (&site->model);
  free (site);
  return 0;
}

static enum radio_status
read_box (struct site *site, const struct radio_box *box)
{
  size_t nbytes = (size_t) radio_box_count (box) * 2;
  unsigned char *bytes = malloc (nbytes + 1);
  assert_non_null (bytes);
  enum radio_status status = radio_array_read (
    site->array, box, RADIO_STORED, bytes, nbytes, NULL);
  if (status == RADIO_OK)
    model_compare_c_order (&site->model, box, bytes);
  free (bytes);
  return status;
}

static void
all_reads_are_right_where_a_third_of_the_responses_is_wrong (void **state)
{
  struct site *site = *state;
  http_peer_set_odds (site->peer, 20, 15);
  for (unsigned i = 0; i < NREADS; i++) {
    const struct radio_box box = model_box (&site->model);
    /* Now and then without the cached indexes. */
    if (i % 10 == 0) {
      radio_array_close (site->array);
      assert_ok (radio_array_open (site->store, "some/array",
                                   &site->array));
    }
    assert_ok (read_box (site, &box));
  }
}

#ifndef RADIO_NO_PROFILE
static void
profiles_count_what_was_fetched_again (void **state)
{
  struct site *site = *state;
  const struct radio_box box = { 3, { 0 }, { 16, 48, 52 } };
  assert_ok (read_box (site, &box));
  struct radio_recorder *recorder = tree_begin ();
  http_peer_script (site->peer, HTTP_FLIPPED, 0, 1);
  assert_ok (read_box (site, &box));
  struct radio_profile *profile = tree_end (recorder);
  assert_int_equal (tree_total (profile, "fetched again"), 1);
  radio_profile_close (profile);
}
#endif

/* Damage in the store itself is not requested without end. */
static void
a_tile_that_is_damaged_in_the_store_is_read_three_times (void **state)
{
  struct site *site = *state;
  RD_BUFFER_SCOPE struct rd_buffer object = { 0 };
  struct rd_io *io = site->model.store->io;
  static const char key[] = "some/array/c/0/0/0";
  const struct radio_box box = { 3, { 0 }, { 16, 48, 52 } };
  assert_ok (read_box (site, &box));
  unsigned before = http_peer_requests (site->peer);
  assert_ok (read_box (site, &box));
  unsigned each = http_peer_requests (site->peer) - before;
  assert_ok (rd_io_read_all (io, key, 1 << 20, &object));
  object.data[object.nbytes / 3] ^= 4;
  assert_ok (rd_io_put (io, key, object.data, object.nbytes,
                        RD_PUT_REPLACE));
  before = http_peer_requests (site->peer);
  assert_fails (read_box (site, &box), RADIO_ERROR_CHECKSUM, "crc32c");
  /* Two that show that it is another object, its index, and two more. */
  assert_int_equal (http_peer_requests (site->peer) - before,
                    2 + 1 + each + 2);
}

static void
bytes_are_requested_until_three_in_a_row_are_alike (void **state)
{
  (void) state;
  static const struct rd_io_ops local = { .is_blocking = true };
  static const struct rd_io_ops remote = { .is_blocking = false };
  const struct rd_io disk = { .ops = &local }, network = { .ops = &remote };
  struct rd_refetch refetch = { 0 };
  assert_false (rd_refetch_is_due (&refetch, &disk, RADIO_ERROR_CHECKSUM,
                                   "a", 1));
  assert_false (rd_refetch_is_due (&refetch, &network, RADIO_OK, "a", 1));
  assert_false (rd_refetch_is_due (&refetch, &network, RADIO_ERROR_IO, "a",
                                   1));
  static const char bytes[] = "aabba";
  for (size_t i = 0; i < 5; i++)
    assert_true (rd_refetch_is_due (&refetch, &network,
                                    RADIO_ERROR_CHECKSUM, &bytes[i], 1));
  assert_true (rd_refetch_is_due (&refetch, &network, RADIO_ERROR_FORMAT,
                                  "a", 1));
  assert_false (rd_refetch_is_due (&refetch, &network, RADIO_ERROR_FORMAT,
                                   "a", 1));
  refetch = (struct rd_refetch) { 0 };
  for (unsigned i = 1; i < 8; i++)
    assert_true (rd_refetch_is_due (&refetch, &network,
                                    RADIO_ERROR_CHECKSUM, &i, sizeof i));
  assert_false (rd_refetch_is_due (&refetch, &network, RADIO_ERROR_CHECKSUM,
                                   "z", 1));
}

#define CASE(fn) cmocka_unit_test_setup_teardown (fn, set_up, tear_down)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    CASE (all_reads_are_right_where_a_third_of_the_responses_is_wrong),
#ifndef RADIO_NO_PROFILE
    CASE (profiles_count_what_was_fetched_again),
#endif
    CASE (a_tile_that_is_damaged_in_the_store_is_read_three_times),
    cmocka_unit_test (bytes_are_requested_until_three_in_a_row_are_alike),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
