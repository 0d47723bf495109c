/* SPDX-License-Identifier: MIT */
/* Writing: stored and omitted chunks, several writes at once, strides,
 * refusals, full disks, and failures of the store. */
#include <config.h>

#include "tests/array/model.h"

#include "tests/io/fault.h"
#include "src/array/array.h"

#define SHARDED                                                         \
  "[{\"name\":\"sharding_indexed\",\"configuration\":{"                 \
  "\"chunk_shape\":[4,4],\"codecs\":[{\"name\":\"bytes\"},"             \
  "{\"name\":\"crc32c\"}],\"index_codecs\":[{\"name\":\"bytes\","       \
  "\"configuration\":{\"endian\":\"little\"}}]}}]"

static const struct radio_array_options sharded = {
  .rank = 2, .shape = { 20, 16 }, .chunk_shape = { 8, 8 },
  .data_type = "uint8", .codecs_json = SHARDED,
};

static const struct radio_array_options plain = {
  .rank = 2, .shape = { 20, 16 }, .chunk_shape = { 8, 8 },
  .data_type = "uint8",
};

static const struct radio_box whole = { 2, { 0, 0 }, { 20, 16 } };

/* A store whose operations fail as planned, and an array in it. */
static struct radio_store *
open_faulty (const struct rd_fault_plan *plan, unsigned nthreads,
             const struct radio_array_options *options,
             struct radio_array **array)
{
  const struct radio_context_options threads = { .nthreads = nthreads };
  struct radio_store_options store_options = { .create = true };
  struct radio_store *store;
  struct rd_io *io;
  assert_ok (radio_context_open (&threads, &store_options.context));
  assert_ok (rd_io_open ("memory:", true, &io));
  assert_ok (rd_io_fault_open (io, plan, &io));
  assert_ok (rd_store_open_io (io, &store_options, &store));
  radio_context_close (store_options.context);
  assert_ok (radio_array_create (store, "x", options, array));
  return store;
}

static void
fill_noise (unsigned char *bytes, size_t n, unsigned seed)
{
  for (size_t i = 0; i < n; i++)
    bytes[i] = (unsigned char) (1 + (i * 7 + seed) % 255);
}

static bool
is_there (struct radio_store *store, const char *key)
{
  uint64_t nbytes;
  return store->io->ops->size (store->io, key, &nbytes) == RADIO_OK;
}

static void
chunks_of_nothing_but_fill_value_are_not_kept (void **state)
{
  const struct radio_array_options *const both[] = { &sharded, &plain };
  unsigned char bytes[320];
  (void) state;
  for (size_t i = 0; i < 2; i++) {
    struct model model;
    model_open_as (&model, 1, 2, false, both[i]);
    fill_noise (bytes, sizeof bytes, 0);
    assert_ok (radio_array_write (model.array, &whole, bytes, 320));
    assert_true (is_there (model.store, "some/array/c/0/0"));
    assert_true (is_there (model.store, "some/array/c/2/1"));
    memset (bytes, 0, sizeof bytes);
    bytes[0] = 1;
    assert_ok (radio_array_write (model.array, &whole, bytes, 320));
    assert_true (is_there (model.store, "some/array/c/0/0"));
    assert_false (is_there (model.store, "some/array/c/0/1"));
    assert_false (is_there (model.store, "some/array/c/2/1"));
    memcpy (model.elements, bytes, 320);
    model_compare (&model, &whole);
    model_close (&model);
  }
}

static void
rewritten_chunks_are_read_by_the_same_handle (void **state)
{
  struct model model;
  (void) state;
  model_open_as (&model, 2, 3, false, &sharded);
  for (unsigned i = 0; i < 20; i++) {
    fill_noise (model.elements, 320, i);
    /* The sizes of tiles and shards change, too. */
    memset (model.elements + 16 * (i % 20), 0, 16);
    assert_ok (radio_array_write (model.array, &whole, model.elements, 320));
    model_compare (&model, &whole);
  }
  model_close (&model);
}

static void
writes_may_be_under_way_side_by_side (void **state)
{
  (void) state;
  for (unsigned nthreads = 1; nthreads <= 3; nthreads++) {
    struct model model;
    struct rd_write *writes[3];
    uint64_t stored_nbytes = 0;
    model_open_as (&model, 3, nthreads, false, &sharded);
    fill_noise (model.elements, 320, nthreads);
    for (uint64_t i = 0; i < 3; i++) {
      const struct radio_box slab = { 2, { 8 * i, 0 },
                                      { i == 2 ? 4 : 8, 16 } };
      assert_ok (rd_write_start (model.array, &slab,
                                 model.elements + 128 * i, NULL,
                                 &writes[i]));
    }
    for (size_t i = 3; i-- > 0;)
      assert_ok (rd_write_finish (writes[i], &stored_nbytes));
    model_compare (&model, &whole);
    struct radio_check check;
    assert_ok (radio_array_check (model.array, &check, NULL, NULL));
    assert_int_equal (check.stored_nbytes, stored_nbytes);
    model_close (&model);
  }
}

static void
elements_may_have_any_strides (void **state)
{
  struct model model;
  unsigned char turned[16 * 20];
  struct rd_write *write;
  (void) state;
  model_open_as (&model, 4, 2, false, &sharded);
  fill_noise (model.elements, 320, 3);
  /* Columns side by side, the rows backwards. */
  for (size_t y = 0; y < 20; y++)
    for (size_t x = 0; x < 16; x++)
      turned[x * 20 + (19 - y)] = model.elements[y * 16 + x];
  const int64_t strides[2] = { -1, 20 };
  assert_ok (rd_write_start (model.array, &whole, turned + 19, strides,
                             &write));
  assert_ok (rd_write_finish (write, NULL));
  model_compare (&model, &whole);
  model_close (&model);
}

static void
boxes_of_parts_of_chunks_are_refused (void **state)
{
  static const struct radio_box wrong[] = {
    { 2, { 1, 0 }, { 7, 16 } }, { 2, { 0, 0 }, { 7, 16 } },
    { 2, { 0, 0 }, { 8, 15 } }, { 2, { 0, 4 }, { 8, 4 } },
    { 2, { 16, 0 }, { 8, 16 } }, { 1, { 0 }, { 8 } },
  };
  struct model model;
  unsigned char bytes[400] = { 1 };
  (void) state;
  model_open_as (&model, 5, 1, false, &sharded);
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    assert_fails (radio_array_write (model.array, &wrong[i], bytes, 400),
                  RADIO_ERROR_ARGUMENT, "");
  assert_fails (radio_array_write (model.array, &whole, bytes, 319),
                RADIO_ERROR_ARGUMENT, "319 bytes");
  const struct radio_box last = { 2, { 16, 8 }, { 4, 8 } };
  assert_ok (radio_array_write (model.array, &last, bytes, 32));
  assert_false (is_there (model.store, "some/array/c/0/0"));
  assert_true (is_there (model.store, "some/array/c/2/1"));
  const struct radio_box empty = { 2, { 8, 8 }, { 0, 8 } };
  assert_ok (radio_array_write (model.array, &empty, NULL, 0));
  model_close (&model);
}

static void
a_chunk_that_exceeds_the_limit_is_refused (void **state)
{
  const struct radio_context_options context = {
    .nthreads = 4, .memory_limit_nbytes = 100000,
  };
  static struct radio_array_options options = {
    .rank = 2, .shape = { 2000, 100 }, .chunk_shape = { 1000, 100 },
    .data_type = "uint8",
  };
  struct radio_store_options store_options = { .create = true };
  struct radio_store *store;
  struct radio_array *array;
  const struct radio_box first = { 2, { 0, 0 }, { 1000, 100 } };
  unsigned char *bytes = calloc (1, 100000);
  (void) state;
  assert_non_null (bytes);
  assert_ok (radio_context_open (&context, &store_options.context));
  assert_ok (radio_store_open ("memory:", &store_options, &store));
  assert_ok (radio_array_create (store, "x", &options, &array));
  assert_fails (radio_array_write (array, &first, bytes, 100000),
                RADIO_ERROR_LIMIT, "the limit of 100000");
  assert_true (rd_write_nbytes (array, &first) > 100000);
  radio_array_close (array);
  options.chunk_shape[0] = 10;
  assert_ok (radio_array_create (store, "y", &options, &array));
  assert_true (rd_write_nbytes (array, &first) <= 100000);
  assert_ok (radio_array_write (array, &first, bytes, 100000));
  radio_array_close (array);
  radio_store_close (store);
  radio_context_close (store_options.context);
  free (bytes);
}

static void
a_full_disk_leaves_the_old_chunks (void **state)
{
  const struct radio_array_options *const both[] = { &sharded, &plain };
  unsigned char old[320], new[320], read[320];
  (void) state;
  fill_noise (old, sizeof old, 0);
  fill_noise (new, sizeof new, 99);
  for (unsigned i = 0; i < 6; i++) {
    const struct rd_fault_plan plan = { .capacity_nbytes = 2800 };
    struct radio_array *array;
    struct radio_store *store = open_faulty (&plan, 1 + i / 2, both[i % 2],
                                             &array);
    enum radio_status status = RADIO_OK;
    assert_ok (radio_array_write (array, &whole, old, 320));
    for (unsigned n = 0; n < 20 && status == RADIO_OK; n++)
      status = radio_array_write (array, &whole, new, 320);
    assert_int_equal (status, RADIO_ERROR_NO_SPACE);
    assert_ok (radio_array_read (array, &whole, RADIO_STORED, read, 320,
                                 NULL));
    for (size_t j = 0; j < 320; j++)
      assert_true (read[j] == old[j] || read[j] == new[j]);
    radio_array_close (array);
    radio_store_close (store);
  }
}

/* Each of a store's operations fails in turn: the write says so, and no
 * thread waits for ever. */
static void
fail_in_turn (enum rd_fault_op op, unsigned nthreads,
              const struct radio_array_options *options)
{
  unsigned char bytes[320], read[320];
  fill_noise (bytes, sizeof bytes, 1);
  for (uint64_t nth = 1; nth <= 6; nth++) {
    const struct rd_fault fault = {
      .op = op, .key = "x/c/", .nth = nth, .kind = RD_FAULT_FAIL,
      .status = RADIO_ERROR_IO,
    };
    const struct rd_fault_plan plan = { .faults = &fault, .n = 1 };
    struct radio_array *array;
    struct radio_store *store = open_faulty (&plan, nthreads, options,
                                             &array);
    assert_fails (radio_array_write (array, &whole, bytes, 320),
                  RADIO_ERROR_IO, "x/c/");
    assert_int_equal (rd_io_fault_n_hits (store->io), 1);
    assert_ok (radio_array_write (array, &whole, bytes, 320));
    assert_ok (radio_array_read (array, &whole, RADIO_STORED, read, 320,
                                 NULL));
    assert_memory_equal (read, bytes, 320);
    radio_array_close (array);
    radio_store_close (store);
  }
}

static void
failures_of_the_store_end_the_write (void **state)
{
  (void) state;
  for (unsigned nthreads = 1; nthreads <= 4; nthreads++) {
    fail_in_turn (RD_FAULT_CREATE, nthreads, &sharded);
    fail_in_turn (RD_FAULT_APPEND, nthreads, &sharded);
    fail_in_turn (RD_FAULT_COMMIT, nthreads, &sharded);
    fail_in_turn (RD_FAULT_PUT, nthreads, &plain);
  }
}

/* The first tiles are sent before the last are encoded: of a shard of 4 MiB
 * any of five steps can fail, and the older shard stays.  (By several threads
 * it may be sent in two.) */
static void
a_shard_grows_while_its_tiles_are_encoded (void **state)
{
  static const struct radio_array_options options = {
    .rank = 2, .shape = { 2048, 2048 }, .chunk_shape = { 2048, 2048 },
    .data_type = "uint8",
    .codecs_json = "[{\"name\":\"sharding_indexed\",\"configuration\":{"
      "\"chunk_shape\":[512,512],\"codecs\":[{\"name\":\"bytes\"}],"
      "\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":{"
      "\"endian\":\"little\"}}]}}]",
  };
  const struct radio_box all = { 2, { 0, 0 }, { 2048, 2048 } };
  const size_t nbytes = 2048 * 2048;
  unsigned char *bytes = malloc (nbytes), *read = malloc (nbytes);
  (void) state;
  assert_non_null (bytes);
  assert_non_null (read);
  for (unsigned nth = 1; nth <= 5; nth++) {
    /* The first two are of the older shard. */
    const struct rd_fault fault = {
      .op = RD_FAULT_APPEND, .key = "x/c/0/0", .nth = 2 + nth,
      .kind = RD_FAULT_FAIL, .status = RADIO_ERROR_IO,
    };
    const struct rd_fault_plan plan = { .faults = &fault, .n = 1 };
    struct radio_array *array;
    struct radio_store *store = open_faulty (&plan, nth > 2 ? 1 : 1 + nth,
                                             &options, &array);
    memset (bytes, 0, nbytes);
    bytes[nbytes - 1] = 1;
    assert_ok (radio_array_write (array, &all, bytes, nbytes));
    fill_noise (read, nbytes, nth);
    assert_fails (radio_array_write (array, &all, read, nbytes),
                  RADIO_ERROR_IO, "x/c/0/0");
    assert_int_equal (rd_io_fault_n_hits (store->io), 1);
    assert_ok (radio_array_read (array, &all, RADIO_STORED, read, nbytes,
                                 NULL));
    assert_memory_equal (read, bytes, nbytes);
    fill_noise (bytes, nbytes, nth);
    assert_ok (radio_array_write (array, &all, bytes, nbytes));
    assert_ok (radio_array_read (array, &all, RADIO_STORED, read, nbytes,
                                 NULL));
    assert_memory_equal (read, bytes, nbytes);
    radio_array_close (array);
    radio_store_close (store);
  }
  free (bytes);
  free (read);
}

/* The sizes of their objects that writers were given. */
static struct {
  const struct rd_io_ops *io_ops;
  struct rd_io_writer_ops ops;
  unsigned ncreated, nexpected;
  uint64_t nbytes;
} expected;

static void
note_expected (struct rd_io_writer *writer, uint64_t nbytes)
{
  (void) writer;
  assert_true (expected.nexpected == 0 || expected.nbytes == nbytes);
  expected.nexpected++;
  expected.nbytes = nbytes;
}

static enum radio_status
create_expecting (struct rd_io *io, const char *key,
                  struct rd_io_writer **writer)
{
  RD_TRY (expected.io_ops->create (io, key, writer));
  expected.ops = *(*writer)->ops;
  expected.ops.expect = note_expected;
  (*writer)->ops = &expected.ops;
  expected.ncreated++;
  return RADIO_OK;
}

/* 12 of 16 tiles of 2^18 bytes are within the array.  Nothing is created for an
 * empty shard. */
static void
the_size_of_a_shard_is_expected_by_its_first_tiles (void **state)
{
  static const struct radio_array_options options = {
    .rank = 2, .shape = { 2048, 1500 }, .chunk_shape = { 2048, 2048 },
    .data_type = "uint8",
    .codecs_json = "[{\"name\":\"sharding_indexed\",\"configuration\":{"
      "\"chunk_shape\":[512,512],\"codecs\":[{\"name\":\"bytes\"}],"
      "\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":{"
      "\"endian\":\"little\"}}]}}]",
  };
  static const struct rd_fault_plan plan;
  const struct radio_box all = { 2, { 0, 0 }, { 2048, 1500 } };
  const size_t nbytes = 2048 * 1500;
  unsigned char *bytes = calloc (1, nbytes);
  struct radio_array *array;
  struct rd_io_ops ops;
  (void) state;
  assert_non_null (bytes);
  struct radio_store *store = open_faulty (&plan, 1, &options, &array);
  expected.io_ops = store->io->ops;
  ops = *expected.io_ops;
  ops.create = create_expecting;
  store->io->ops = &ops;
  assert_ok (radio_array_write (array, &all, bytes, nbytes));
  assert_int_equal (expected.ncreated, 0);
  fill_noise (bytes, nbytes, 1);
  assert_ok (radio_array_write (array, &all, bytes, nbytes));
  assert_int_equal (expected.ncreated, 1);
  assert_true (expected.nexpected > 0);
  assert_int_equal (expected.nbytes, 12 << 18);
  radio_array_close (array);
  radio_store_close (store);
  free (bytes);
}

static void
failures_of_the_store_end_the_read (void **state)
{
  unsigned char bytes[320], read[320];
  (void) state;
  fill_noise (bytes, sizeof bytes, 1);
  for (uint64_t nth = 1; nth <= 12; nth++) {
    const struct rd_fault fault = {
      .op = RD_FAULT_GET, .key = "x/c/", .nth = nth, .kind = RD_FAULT_FAIL,
      .status = RADIO_ERROR_PERMISSION,
    };
    const struct rd_fault_plan plan = { .faults = &fault, .n = 1 };
    struct radio_array *array;
    struct radio_store *store = open_faulty (&plan, 1 + nth % 3, &sharded,
                                             &array);
    assert_ok (radio_array_write (array, &whole, bytes, 320));
    assert_fails (radio_array_read (array, &whole, RADIO_STORED, read, 320,
                                    NULL), RADIO_ERROR_PERMISSION, "x/c/");
    assert_ok (radio_array_read (array, &whole, RADIO_STORED, read, 320,
                                 NULL));
    assert_memory_equal (read, bytes, 320);
    radio_array_close (array);
    radio_store_close (store);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (chunks_of_nothing_but_fill_value_are_not_kept),
    cmocka_unit_test (rewritten_chunks_are_read_by_the_same_handle),
    cmocka_unit_test (writes_may_be_under_way_side_by_side),
    cmocka_unit_test (elements_may_have_any_strides),
    cmocka_unit_test (boxes_of_parts_of_chunks_are_refused),
    cmocka_unit_test (a_chunk_that_exceeds_the_limit_is_refused),
    cmocka_unit_test (a_full_disk_leaves_the_old_chunks),
    cmocka_unit_test (failures_of_the_store_end_the_write),
    cmocka_unit_test (a_shard_grows_while_its_tiles_are_encoded),
    cmocka_unit_test (the_size_of_a_shard_is_expected_by_its_first_tiles),
    cmocka_unit_test (failures_of_the_store_end_the_read),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
