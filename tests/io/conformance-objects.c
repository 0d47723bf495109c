/* SPDX-License-Identifier: MIT */
/* Objects whole and in ranges, one and many at a time. */
#include <config.h>

#include <pthread.h>

#include "tests/io/conformance-cases.h"

/* --- whole objects --- */

static void
an_object_put_is_read_back (void **state)
{
  struct rd_io *io = io_of (state);
  put_text (io, "ct/sub-01/zarr.json", "{}");
  assert_text (io, "ct/sub-01/zarr.json", "{}");
}

static void
an_object_at_the_root_is_read_back (void **state)
{
  put_text (io_of (state), "zarr.json", "root");
  assert_text (io_of (state), "zarr.json", "root");
}

static void
an_empty_object_is_an_object (void **state)
{
  struct rd_io *io = io_of (state);
  put_text (io, "empty", "");
  assert_text (io, "empty", "");
  uint64_t nbytes = 99;
  assert_ok (io->ops->size (io, "empty", &nbytes));
  assert_int_equal (nbytes, 0);
}

static void
parts_are_joined_in_their_order (void **state)
{
  struct rd_io *io = io_of (state);
  const struct rd_part parts[] = {
    { "ab", 2 }, { NULL, 0 }, { "c", 1 }, { "def", 3 }, { "", 0 },
  };
  assert_ok (io->ops->put (io, "k", parts, 5, RD_PUT_REPLACE));
  assert_text (io, "k", "abcdef");
  assert_ok (io->ops->put (io, "none", NULL, 0, RD_PUT_REPLACE));
  assert_text (io, "none", "");
  for (int i = 0; i < 2; i++)
    assert_ok (io->ops->put (io, "own", parts, 5, RD_PUT_OWN));
  assert_text (io, "own", "abcdef");
}

static void
more_parts_than_one_call_takes_are_written (void **state)
{
  enum { N = 3000 };
  struct rd_io *io = io_of (state);
  unsigned char *bytes = make_bytes (N * 7);
  struct rd_part *parts = calloc (N, sizeof *parts);
  assert_non_null (parts);
  for (size_t i = 0; i < N; i++)
    parts[i] = (struct rd_part) { bytes + i * 7, 7 };
  assert_ok (io->ops->put (io, "k", parts, N, RD_PUT_REPLACE));
  RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
  assert_ok (rd_io_read_all (io, "k", N * 7, &buffer));
  assert_int_equal (buffer.nbytes, N * 7);
  assert_memory_equal (buffer.data, bytes, N * 7);
  free (parts);
  free (bytes);
}

static void
a_put_replaces_a_longer_object_whole (void **state)
{
  struct rd_io *io = io_of (state);
  put_text (io, "a/k", "a longer text");
  put_text (io, "a/k", "short");
  assert_text (io, "a/k", "short");
}

static void
if_absent_writes_an_absent_object (void **state)
{
  struct rd_io *io = io_of (state);
  assert_ok (rd_io_put (io, "a/k", "1", 1, RD_PUT_IF_ABSENT));
  assert_text (io, "a/k", "1");
}

static void
if_absent_never_replaces (void **state)
{
  struct rd_io *io = io_of (state);
  put_text (io, "a/k", "old");
  assert_fails (rd_io_put (io, "a/k", "new", 3, RD_PUT_IF_ABSENT),
                RADIO_ERROR_EXISTS, "a/k");
  assert_text (io, "a/k", "old");
  assert_list (io, "a", true, "k 3\n");
}

static void
a_missing_object_is_not_found_by_name (void **state)
{
  struct rd_io *io = io_of (state);
  uint64_t nbytes;
  assert_fails (read_key (io, "no/such"), RADIO_ERROR_NOT_FOUND, "no/such");
  assert_fails (io->ops->size (io, "no/such", &nbytes),
                RADIO_ERROR_NOT_FOUND, "no/such");
  assert_fails (io->ops->remove (io, "no/such"), RADIO_ERROR_NOT_FOUND,
                "no/such");
}

static void
a_duplicate_has_the_bytes_and_outlives_its_source (void **state)
{
  struct rd_io *io = io_of (state);
  if (io->ops->duplicate == NULL)
    return;
  put_text (io, "a/b%20 c", "bytes");
  put_text (io, "d/old", "other");
  assert_ok (io->ops->duplicate (io, "a/b%20 c", 5, "d/new"));
  assert_ok (io->ops->duplicate (io, "a/b%20 c", 5, "d/old"));
  assert_ok (io->ops->duplicate (io, "a/b%20 c", 5, "d/old"));
  assert_ok (io->ops->remove (io, "a/b%20 c"));
  assert_text (io, "d/new", "bytes");
  assert_text (io, "d/old", "bytes");
  assert_fails (io->ops->duplicate (io, "no/such", 5, "d/none"),
                RADIO_ERROR_NOT_FOUND, "no/such");
  assert_fails (read_key (io, "d/none"), RADIO_ERROR_NOT_FOUND, "d/none");
}

static void
a_prefix_is_not_an_object (void **state)
{
  struct rd_io *io = io_of (state);
  put_text (io, "a/b/k", "x");
  uint64_t nbytes;
  assert_fails (read_key (io, "a/b"), RADIO_ERROR_NOT_FOUND, "a/b");
  assert_fails (io->ops->size (io, "a/b", &nbytes), RADIO_ERROR_NOT_FOUND,
                "a/b");
  assert_fails (io->ops->remove (io, "a/b"), RADIO_ERROR_NOT_FOUND, "a/b");
  assert_text (io, "a/b/k", "x");
}

static void
names_that_lead_elsewhere_are_refused (void **state)
{
  static const char *const keys[] = {
    "", "/", "/etc/passwd", "a/", "a//b", ".", "..", "../x", "a/../b",
    "a/./b", "a/..",
  };
  struct rd_io *io = io_of (state);
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    struct rd_io_writer *writer;
    uint64_t nbytes;
    const enum radio_status refused = RADIO_ERROR_ARGUMENT;
    assert_fails (read_key (io, keys[i]), refused, keys[i]);
    assert_fails (rd_io_put (io, keys[i], "", 0, RD_PUT_REPLACE), refused,
                  keys[i]);
    assert_fails (io->ops->create (io, keys[i], &writer), refused, keys[i]);
    assert_null (writer);
    assert_fails (io->ops->size (io, keys[i], &nbytes), refused, keys[i]);
    assert_fails (io->ops->remove (io, keys[i]), refused, keys[i]);
  }
}

static void
prefixes_that_lead_elsewhere_are_refused (void **state)
{
  static const char *const prefixes[] = { "/", "..", "a/..", "a/", "/a" };
  struct rd_io *io = io_of (state);
  for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
    const char *prefix = prefixes[i];
    struct rd_io_lock *lock;
    struct rd_io_swept swept;
    struct listing listing = { 0 };
    assert_fails (io->ops->list (io, prefix, true, note_entry, &listing),
                  RADIO_ERROR_ARGUMENT, prefix);
    assert_fails (io->ops->remove_tree (io, prefix), RADIO_ERROR_ARGUMENT,
                  prefix);
    assert_fails (io->ops->lock (io, prefix, false, &lock),
                  RADIO_ERROR_ARGUMENT, prefix);
    assert_null (lock);
    assert_fails (io->ops->sweep (io, prefix, true, &swept),
                  RADIO_ERROR_ARGUMENT, prefix);
  }
}

static void
names_with_dots_and_any_bytes_are_kept (void **state)
{
  static const char *const keys[] = {
    "...", ".zattrs", "a b/c%20d", "\xc3\xa9", "..x/y..", "c.0.1", "-", "*",
  };
  struct rd_io *io = io_of (state);
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
    put_text (io, keys[i], keys[i]);
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
    assert_text (io, keys[i], keys[i]);
}

/* --- ranges --- */

#define DIGITS "0123456789"

static void
assert_range (struct rd_io *io, enum rd_range_kind range, uint64_t offset,
              size_t nbytes, const char *expected)
{
  RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
  /* The buffer's previous content is gone. */
  assert_ok (rd_buffer_append (&buffer, "rubbish", 7));
  struct rd_io_get get = {
    .key = "digits", .range = range, .offset = offset, .nbytes = nbytes,
    .into = &buffer,
  };
  assert_ok (rd_io_read (io, &get));
  assert_int_equal (get.object_nbytes, strlen (DIGITS));
  assert_int_equal (buffer.nbytes, strlen (expected));
  if (buffer.nbytes > 0)
    assert_memory_equal (buffer.data, expected, buffer.nbytes);
}

static void
a_span_is_read (void **state)
{
  struct rd_io *io = io_of (state);
  put_text (io, "digits", DIGITS);
  assert_range (io, RD_RANGE_SPAN, 0, 10, DIGITS);
  assert_range (io, RD_RANGE_SPAN, 3, 4, "3456");
  assert_range (io, RD_RANGE_SPAN, 9, 1, "9");
  assert_range (io, RD_RANGE_SPAN, 5, 0, "");
}

static void
a_span_past_the_end_has_fewer_bytes (void **state)
{
  struct rd_io *io = io_of (state);
  put_text (io, "digits", DIGITS);
  assert_range (io, RD_RANGE_SPAN, 8, 100, "89");
  assert_range (io, RD_RANGE_SPAN, 10, 1, "");
  assert_range (io, RD_RANGE_SPAN, 11, 1, "");
  assert_range (io, RD_RANGE_SPAN, UINT64_MAX, SIZE_MAX, "");
  assert_range (io, RD_RANGE_SPAN, 1, SIZE_MAX, "123456789");
}

static void
a_suffix_is_read (void **state)
{
  struct rd_io *io = io_of (state);
  put_text (io, "digits", DIGITS);
  assert_range (io, RD_RANGE_SUFFIX, 0, 3, "789");
  assert_range (io, RD_RANGE_SUFFIX, 0, 10, DIGITS);
  assert_range (io, RD_RANGE_SUFFIX, 0, SIZE_MAX, DIGITS);
  assert_range (io, RD_RANGE_SUFFIX, 0, 0, "");
}

static void
a_whole_read_takes_exactly_the_accepted_length (void **state)
{
  struct rd_io *io = io_of (state);
  put_text (io, "digits", DIGITS);
  assert_range (io, RD_RANGE_ALL, 0, 10, DIGITS);
  assert_range (io, RD_RANGE_ALL, 0, SIZE_MAX, DIGITS);
}

static void
a_larger_object_than_accepted_is_a_limit (void **state)
{
  struct rd_io *io = io_of (state);
  put_text (io, "digits", DIGITS);
  RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
  assert_fails (rd_io_read_all (io, "digits", 9, &buffer),
                RADIO_ERROR_LIMIT, "digits: 10 bytes");
  assert_int_equal (buffer.nbytes, 0);
  assert_int_equal (buffer.capacity, 0);
}

static void
a_buffer_is_reused_from_read_to_read (void **state)
{
  struct rd_io *io = io_of (state);
  put_text (io, "long", "a text of some length");
  put_text (io, "short", "short");
  RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
  assert_ok (rd_io_read_all (io, "long", 100, &buffer));
  const unsigned char *data = buffer.data;
  assert_ok (rd_io_read_all (io, "short", 100, &buffer));
  assert_ptr_equal (buffer.data, data);
  assert_string_equal ((char *) buffer.data, "short");
}

/* --- several reads at once --- */

struct batch {
  pthread_mutex_t mutex;
  pthread_cond_t cond;
  size_t n_done;
};

static void
count_done (struct rd_io_get *get)
{
  struct batch *batch = get->user_data;
  RD_LOCK_SCOPE (&batch->mutex);
  batch->n_done++;
  pthread_cond_signal (&batch->cond);
}

static void
wait_for_batch (struct batch *batch, size_t n)
{
  RD_LOCK_SCOPE (&batch->mutex);
  while (batch->n_done < n)
    pthread_cond_wait (&batch->cond, &batch->mutex);
}

#define BATCH_INIT { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 }

static void
many_reads_at_once_each_get_their_own (void **state)
{
  enum { N = 200, NBYTES = 5000 };
  struct rd_io *io = io_of (state);
  unsigned char *bytes = make_bytes (NBYTES);
  assert_ok (rd_io_put (io, "a", bytes, NBYTES, RD_PUT_REPLACE));
  assert_ok (rd_io_put (io, "b", bytes, NBYTES / 2, RD_PUT_REPLACE));
  struct rd_io_get *gets = calloc (N, sizeof *gets);
  struct rd_buffer *buffers = calloc (N, sizeof *buffers);
  assert_true (gets && buffers);
  struct batch batch = BATCH_INIT;
  for (size_t i = 0; i < N; i++)
    gets[i] = (struct rd_io_get) {
      .key = i % 3 ? "a" : "b", .range = RD_RANGE_SPAN, .offset = i * 7,
      .nbytes = i, .into = &buffers[i], .done = count_done,
      .user_data = &batch,
    };
  io->ops->get (io, gets, N);
  wait_for_batch (&batch, N);
  for (size_t i = 0; i < N; i++) {
    assert_ok (rd_error_raise (&gets[i].error));
    assert_int_equal (gets[i].object_nbytes, i % 3 ? NBYTES : NBYTES / 2);
    assert_int_equal (buffers[i].nbytes, i);
    if (i > 0)
      assert_memory_equal (buffers[i].data, bytes + i * 7, i);
    rd_buffer_free (&buffers[i]);
  }
  free (buffers);
  free (gets);
  free (bytes);
}

static void
a_failed_read_does_not_stop_its_neighbours (void **state)
{
  struct rd_io *io = io_of (state);
  put_text (io, "digits", DIGITS);
  struct batch batch = BATCH_INIT;
  static const char *const keys[] = { "digits", "none", "..", "digits" };
  struct rd_buffer buffers[4] = { { 0 } };
  struct rd_io_get gets[4];
  for (size_t i = 0; i < 4; i++)
    gets[i] = (struct rd_io_get) {
      .key = keys[i], .range = RD_RANGE_SPAN, .nbytes = 10,
      .into = &buffers[i], .done = count_done, .user_data = &batch,
    };
  io->ops->get (io, gets, 4);
  wait_for_batch (&batch, 4);
  assert_int_equal (gets[0].error.status, RADIO_OK);
  assert_int_equal (gets[1].error.status, RADIO_ERROR_NOT_FOUND);
  assert_non_null (strstr (gets[1].error.message, "none"));
  assert_int_equal (gets[2].error.status, RADIO_ERROR_ARGUMENT);
  assert_int_equal (gets[3].error.status, RADIO_OK);
  assert_int_equal (buffers[1].nbytes, 0);
  assert_int_equal (buffers[3].nbytes, 10);
  for (size_t i = 0; i < 4; i++)
    rd_buffer_free (&buffers[i]);
}

static void
reading_nothing_does_nothing (void **state)
{
  io_of (state)->ops->get (io_of (state), NULL, 0);
}

const struct CMUnitTest *
conformance_objects (size_t *n)
{
  static const struct CMUnitTest cases[] = {
    cmocka_unit_test (an_object_put_is_read_back),
    cmocka_unit_test (an_object_at_the_root_is_read_back),
    cmocka_unit_test (an_empty_object_is_an_object),
    cmocka_unit_test (parts_are_joined_in_their_order),
    cmocka_unit_test (more_parts_than_one_call_takes_are_written),
    cmocka_unit_test (a_put_replaces_a_longer_object_whole),
    cmocka_unit_test (if_absent_writes_an_absent_object),
    cmocka_unit_test (if_absent_never_replaces),
    cmocka_unit_test (a_missing_object_is_not_found_by_name),
    cmocka_unit_test (a_duplicate_has_the_bytes_and_outlives_its_source),
    cmocka_unit_test (a_prefix_is_not_an_object),
    cmocka_unit_test (names_that_lead_elsewhere_are_refused),
    cmocka_unit_test (prefixes_that_lead_elsewhere_are_refused),
    cmocka_unit_test (names_with_dots_and_any_bytes_are_kept),
    cmocka_unit_test (a_span_is_read),
    cmocka_unit_test (a_span_past_the_end_has_fewer_bytes),
    cmocka_unit_test (a_suffix_is_read),
    cmocka_unit_test (a_whole_read_takes_exactly_the_accepted_length),
    cmocka_unit_test (a_larger_object_than_accepted_is_a_limit),
    cmocka_unit_test (a_buffer_is_reused_from_read_to_read),
    cmocka_unit_test (many_reads_at_once_each_get_their_own),
    cmocka_unit_test (a_failed_read_does_not_stop_its_neighbours),
    cmocka_unit_test (reading_nothing_does_nothing),
  };
  *n = sizeof cases / sizeof cases[0];
  return cases;
}
