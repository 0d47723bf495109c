/* SPDX-License-Identifier: MIT */
/* Reads that end early: cancelled by the caller, or at a deadline, in a local
 * store and while a server is silent; the handle stays usable. */
#include <config.h>

#include <unistd.h>

#include "src/array/context.h"
#include "tests/io/http-peer.h"
#include "tests/unit.h"

#include <radio/array.h>
#include <radio/stats.h>

enum { N = 64, TILE = 8 };

static const struct radio_array_options array_options = {
  .rank = 2, .shape = { N, N }, .chunk_shape = { N, N },
  .data_type = "uint16",
  .codecs_json = "[{\"name\":\"sharding_indexed\",\"configuration\":{"
    "\"chunk_shape\":[8,8],\"codecs\":[{\"name\":\"bytes\","
    "\"configuration\":{\"endian\":\"little\"}},{\"name\":\"crc32c\"}],"
    "\"index_codecs\":[{\"name\":\"bytes\","
    "\"configuration\":{\"endian\":\"little\"}}]}}]",
};

static const struct radio_box whole = { 2, { 0, 0 }, { N, N } };

/* An array in memory, and the same on a server. */
struct places {
  struct radio_store *store, *remote_store;
  struct radio_array *array, *remote;
  struct http_peer *peer;
  uint16_t elements[N * N], got[N * N];
};

static int
set_up (void **state)
{
  struct places *places = calloc (1, sizeof *places);
  struct rd_io *io;
  assert_non_null (places);
  for (int i = 0; i < N * N; i++)
    places->elements[i] = (uint16_t) (i * 31 + 1);
  const struct radio_store_options create = { .create = true };
  assert_ok (rd_io_open ("memory:", true, &io));
  assert_ok (rd_store_open_io (io, &create, &places->store));
  assert_ok (radio_array_create (places->store, "a", &array_options,
                                 &places->array));
  assert_ok (radio_array_write (places->array, &whole, places->elements,
                                sizeof places->elements));
  places->peer = http_peer_start (io);
  assert_ok (radio_store_open (http_peer_url (places->peer), NULL,
                               &places->remote_store));
  assert_ok (radio_array_open (places->remote_store, "a", &places->remote));
  *state = places;
  return 0;
}

static int
tear_down (void **state)
{
  struct places *places = *state;
  radio_array_close (places->remote);
  radio_store_close (places->remote_store);
  http_peer_stop (places->peer);
  radio_array_close (places->array);
  radio_store_close (places->store);
  free (places);
  return 0;
}

static enum radio_status
read_whole (struct places *places, struct radio_array *array,
            const struct radio_read_options *options)
{
  memset (places->got, 0xee, sizeof places->got);
  return radio_array_read (array, &whole, RADIO_STORED, places->got,
                           sizeof places->got, options);
}

static void
assert_reads (struct places *places, struct radio_array *array)
{
  const struct radio_read_options unhurried = { .deadline_ms = UINT64_MAX };
  assert_ok (read_whole (places, array, &unhurried));
  assert_memory_equal (places->got, places->elements, sizeof places->got);
}

struct calls {
  int n, last;
  unsigned sleep_us;
};

static bool
cancel_at_last (void *user_data)
{
  struct calls *calls = user_data;
  if (calls->sleep_us > 0)
    usleep (calls->sleep_us);
  return ++calls->n >= calls->last && calls->last > 0;
}

static void
the_caller_cancels_between_tiles (void **state)
{
  struct places *places = *state;
  struct calls calls = { .last = 2 };
  const struct radio_read_options options = {
    .cancel = cancel_at_last, .user_data = &calls,
  };
  assert_fails (read_whole (places, places->array, &options),
                RADIO_ERROR_CANCELLED, "/a: the read was cancelled");
  assert_int_equal (calls.n, 2);
  assert_reads (places, places->array);
}

static void
a_deadline_ends_the_read_between_tiles (void **state)
{
  struct places *places = *state;
  struct calls calls = { .sleep_us = 30000 };
  const struct radio_read_options options = {
    .cancel = cancel_at_last, .user_data = &calls, .deadline_ms = 20,
  };
  assert_fails (read_whole (places, places->array, &options),
                RADIO_ERROR_TIMEOUT, "/a: the read is not done after 20 ms");
  assert_reads (places, places->array);
}

/* The first request is of the index, the second of tiles. */
static void
a_silent_server_is_left_when_the_caller_cancels (void **state)
{
  struct places *places = *state;
  for (unsigned after = 0; after < 2; after++) {
    struct calls calls = { .last = 3 };
    const struct radio_read_options options = {
      .cancel = cancel_at_last, .user_data = &calls,
    };
    http_peer_script (places->peer, HTTP_SILENT, after, 1);
    assert_fails (read_whole (places, places->remote, &options),
                  RADIO_ERROR_CANCELLED, "/a: the read was cancelled");
  }
  assert_reads (places, places->remote);
}

/* A tile that is damaged in the store is read again by the worker that has it,
 * or by the caller. */
static void
damage_a_tile (struct places *places)
{
  struct rd_io *io = places->store->io;
  struct rd_buffer shard RD_BUFFER_SCOPE = { 0 };
  assert_ok (rd_io_read_all (io, "a/c/0/0", 1 << 20, &shard));
  shard.data[3] ^= 1;
  assert_ok (rd_io_put (io, "a/c/0/0", shard.data, shard.nbytes,
                        RD_PUT_REPLACE));
}

static void
a_silent_server_is_left_while_a_worker_reads_again (void **state)
{
  /* Before some tile of the caller's; and, with more questions than there are
   * tiles, while there is nothing left for it to do. */
  static const int lasts[] = { 9, 33, N * N / TILE / TILE + 3 };
  struct places *places = *state;
  damage_a_tile (places);
  for (unsigned i = 0; i < sizeof lasts / sizeof lasts[0]; i++) {
    struct calls calls = { .last = lasts[i] };
    const struct radio_read_options options = {
      .cancel = cancel_at_last, .user_data = &calls,
    };
    /* The first time after the index and the tiles. */
    http_peer_script (places->peer, HTTP_SILENT, i == 0 ? 2 : 1, 100);
    assert_fails (read_whole (places, places->remote, &options),
                  RADIO_ERROR_CANCELLED, "/a: the read was cancelled");
  }
}

static void
a_silent_server_is_left_at_the_deadline (void **state)
{
  struct places *places = *state;
  const struct radio_read_options options = { .deadline_ms = 30 };
  http_peer_script (places->peer, HTTP_SILENT, 0, 1);
  assert_fails (read_whole (places, places->remote, &options),
                RADIO_ERROR_TIMEOUT, "/a: the read is not done after 30 ms");
  assert_reads (places, places->remote);
}

/* Chunks that are not stored have fill values if the array's document is still
 * there, which is asked at the end. */
static void
the_question_for_a_removed_array_ends_early (void **state)
{
  static const struct radio_array_options chunks = {
    .rank = 1, .shape = { 4 }, .chunk_shape = { 4 }, .data_type = "uint8",
  };
  const struct radio_box box = { 1, { 0 }, { 4 } };
  struct places *places = *state;
  struct radio_array *empty;
  struct calls calls = { .last = 3 };
  const struct radio_read_options hows[] = {
    { .deadline_ms = 30 },
    { .cancel = cancel_at_last, .user_data = &calls },
  };
  uint8_t got[4] = { 1, 1, 1, 1 };
  assert_ok (radio_array_create (places->store, "empty", &chunks, &empty));
  radio_array_close (empty);
  assert_ok (radio_array_open (places->remote_store, "empty", &empty));
  for (int i = 0; i < 2; i++) {
    http_peer_script (places->peer, HTTP_SILENT, 1, 1);
    assert_fails (radio_array_read (empty, &box, RADIO_STORED, got,
                                    sizeof got, &hows[i]),
                  i == 0 ? RADIO_ERROR_TIMEOUT : RADIO_ERROR_CANCELLED,
                  i == 0 ? "/empty: the read is not done after 30 ms"
                         : "/empty: the read was cancelled");
  }
  assert_ok (radio_array_read (empty, &box, RADIO_STORED, got, sizeof got,
                               NULL));
  assert_int_equal (got[0], 0);
  radio_array_close (empty);
}

static enum radio_status
read_at_once (struct places *places)
{
  return read_whole (places, places->remote, NULL);
}

static enum radio_status
read_and_wait (struct places *places)
{
  struct radio_request request = {
    .box = whole, .buffer = places->got, .nbytes = sizeof places->got,
  };
  struct radio_read *read = NULL;
  assert_ok (radio_array_read_async (places->remote, &request, 1, RADIO_STORED,
                                     NULL, NULL, NULL, &read));
  enum radio_status status = radio_read_wait (read);
  radio_read_close (read);
  return status;
}

static enum radio_status
check_all (struct places *places)
{
  struct radio_check check;
  return radio_array_check (places->remote, &check, NULL, NULL);
}

static enum radio_status
compute_stats (struct places *places)
{
  struct radio_stats stats;
  return radio_array_stats (places->remote, &stats);
}

static enum radio_status
open_again (struct places *places)
{
  struct radio_array *array;
  RD_TRY (radio_array_open (places->remote_store, "a", &array));
  radio_array_close (array);
  return RADIO_OK;
}

static void
the_threads_function_ends_whatever_waits_for_a_server (void **state)
{
  static enum radio_status (*const calls[]) (struct places *) = {
    read_at_once, read_and_wait, check_all, compute_stats, open_again,
  };
  struct places *places = *state;
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    struct calls asked = { .last = 3 };
    http_peer_script (places->peer, HTTP_SILENT, 0, 100);
    radio_thread_set_cancel (cancel_at_last, &asked);
    assert_int_equal (calls[i] (places), RADIO_ERROR_CANCELLED);
    radio_thread_set_cancel (NULL, NULL);
    http_peer_script (places->peer, HTTP_SILENT, 0, 0);
    assert_ok (calls[i] (places));
    assert_reads (places, places->remote);
  }
}

static void
a_reads_own_function_is_asked_instead_of_the_threads (void **state)
{
  struct places *places = *state;
  struct calls of_thread = { .last = 1 }, own = { 0 };
  const struct radio_read_options options = {
    .cancel = cancel_at_last, .user_data = &own,
  };
  radio_thread_set_cancel (cancel_at_last, &of_thread);
  assert_ok (read_whole (places, places->array, &options));
  assert_int_equal (of_thread.n, 0);
  assert_true (own.n > 0);
  assert_fails (read_whole (places, places->array, NULL),
                RADIO_ERROR_CANCELLED, "/a: the read was cancelled");
  const struct radio_read_options unhurried = { .deadline_ms = 600000 };
  of_thread.n = 0;
  assert_fails (read_whole (places, places->array, &unhurried),
                RADIO_ERROR_CANCELLED, "/a: the read was cancelled");
  radio_thread_set_cancel (NULL, NULL);
  assert_ok (read_whole (places, places->array, NULL));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown (the_caller_cancels_between_tiles,
                                     set_up, tear_down),
    cmocka_unit_test_setup_teardown (a_deadline_ends_the_read_between_tiles,
                                     set_up, tear_down),
    cmocka_unit_test_setup_teardown (
      a_silent_server_is_left_when_the_caller_cancels, set_up, tear_down),
    cmocka_unit_test_setup_teardown (
      a_silent_server_is_left_while_a_worker_reads_again, set_up, tear_down),
    cmocka_unit_test_setup_teardown (a_silent_server_is_left_at_the_deadline,
                                     set_up, tear_down),
    cmocka_unit_test_setup_teardown (
      the_question_for_a_removed_array_ends_early, set_up, tear_down),
    cmocka_unit_test_setup_teardown (
      the_threads_function_ends_whatever_waits_for_a_server, set_up,
      tear_down),
    cmocka_unit_test_setup_teardown (
      a_reads_own_function_is_asked_instead_of_the_threads, set_up, tear_down),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
