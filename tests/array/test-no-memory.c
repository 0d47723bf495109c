/* SPDX-License-Identifier: MIT */
/* Every allocation of opening stores, and of making, writing, opening,
 * reading and checking arrays fails once: the call says so, loses nothing
 * (which the address sanitizer sees), and does its work when it is asked
 * again.  Only the library's own allocations fail here, not those within
 * json-c and the compressors. */
#include <config.h>

#include "tests/alloc-fail.h"
#include "tests/unit.h"

#include <radio/array.h>

#define SIZE 24
#define CHUNK 16
#define MAX_ALLOCATIONS 5000

struct rig {
  struct radio_context *context;
  struct radio_store *store;
  struct radio_array *array;
  const char *codecs;
  int16_t elements[SIZE * SIZE];
  int16_t delivered[SIZE * SIZE];
};

typedef enum radio_status operation (struct rig *rig);

static void
close_rig (struct rig *rig)
{
  radio_array_close (rig->array);
  radio_store_close (rig->store);
  radio_context_close (rig->context);
  rig->array = NULL;
  rig->store = NULL;
  rig->context = NULL;
}

/* One thread, so that every allocation is the test's own thread's. */
static enum radio_status
do_open_store (struct rig *rig)
{
  const struct radio_context_options options = { .nthreads = 1 };
  enum radio_status status = radio_context_open (&options, &rig->context);
  if (status != RADIO_OK)
    return status;
  const struct radio_store_options in = { .context = rig->context };
  return radio_store_open ("memory:", &in, &rig->store);
}

static enum radio_status
do_create (struct rig *rig)
{
  static const char *const names[] = { "y", NULL };
  const struct radio_array_options options = {
    .rank = 2, .shape = { SIZE, SIZE }, .chunk_shape = { CHUNK, CHUNK },
    .data_type = "int16", .codecs_json = rig->codecs,
    .fill_value_json = "-1", .dimension_names = names,
    .attributes_json = "{\"a\": [0.1, {\"b\": null}]}",
  };
  return radio_array_create (rig->store, "some/array", &options,
                             &rig->array);
}

static const struct radio_box whole = { 2, { 0 }, { SIZE, SIZE } };

static enum radio_status
do_write (struct rig *rig)
{
  return radio_array_write (rig->array, &whole, rig->elements,
                            sizeof rig->elements);
}

/* Reopened, so that no index is in the handle's cache. */
static enum radio_status
do_open (struct rig *rig)
{
  radio_array_close (rig->array);
  rig->array = NULL;
  return radio_array_open (rig->store, "some/array", &rig->array);
}

static enum radio_status
do_read (struct rig *rig)
{
  memset (rig->delivered, 0, sizeof rig->delivered);
  return radio_array_read (rig->array, &whole, RADIO_STORED, rig->delivered,
                           sizeof rig->delivered, NULL);
}

static enum radio_status
do_read_async (struct rig *rig)
{
  const struct radio_request request = {
    .box = whole, .buffer = rig->delivered, .nbytes = sizeof rig->delivered,
  };
  struct radio_read *read;
  enum radio_status status
    = radio_array_read_async (rig->array, &request, 1, RADIO_STORED, NULL,
                              NULL, NULL, &read);
  if (status != RADIO_OK)
    return status;
  status = radio_read_wait (read);
  radio_read_close (read);
  return status;
}

static enum radio_status
do_open_and_read (struct rig *rig)
{
  enum radio_status status = do_open (rig);
  return status == RADIO_OK ? do_read (rig) : status;
}

static enum radio_status
do_open_and_check (struct rig *rig)
{
  struct radio_check check;
  enum radio_status status = do_open (rig);
  if (status == RADIO_OK)
    status = radio_array_check (rig->array, &check, NULL, NULL);
  return status;
}

/* All of it, from nothing. */
static enum radio_status
do_everything (struct rig *rig)
{
  static operation *const steps[] = {
    do_open_store, do_create, do_write, do_open_and_read,
  };
  enum radio_status status = RADIO_OK;
  for (size_t i = 0; status == RADIO_OK && i < 4; i++)
    status = steps[i] (rig);
  return status;
}

/* Some of the second row of chunks are nothing but fill value. */
static void
make_elements (struct rig *rig)
{
  for (int i = 0; i < SIZE * SIZE; i++)
    rig->elements[i] = i < SIZE * CHUNK ? (int16_t) (i % 100) : -1;
  rig->elements[SIZE * SIZE - 1] = 7;
}

/* Let one allocation after the other fail.  undo brings back what was there
 * before, or is NULL. */
static void
try_all (struct rig *rig, operation *op, void (*undo) (struct rig *rig))
{
  size_t nfailures = 0;
  for (size_t nth = 1;; nth++) {
    alloc_fail_nth (nth);
    enum radio_status status = op (rig);
    bool failed = alloc_fail_end ();
    if (status != RADIO_OK) {
      assert_true (failed);
      assert_fails (status, RADIO_ERROR_MEMORY, "out of memory");
      nfailures++;
    }
    if (!failed)
      break;
    if (undo)
      undo (rig);
    assert_true (nth < MAX_ALLOCATIONS);
  }
  assert_true (nfailures > 0);
}

static const char *const settings[] = {
  /* Plain chunks. */
  "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}},"
  " {\"name\": \"zstd\", \"configuration\": {\"level\": 1, \"checksum\":"
  " true}}]",
  "[{\"name\": \"transpose\", \"configuration\": {\"order\": [1, 0]}},"
  " {\"name\": \"bytes\", \"configuration\": {\"endian\": \"big\"}},"
  " {\"name\": \"gzip\", \"configuration\": {\"level\": 5}}, \"crc32c\"]",
  /* Shards, as an ingest writes them. */
  "[{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\":"
  " [8, 4], \"codecs\": [{\"name\": \"bytes\", \"configuration\":"
  " {\"endian\": \"little\"}}, {\"name\": \"blosc\", \"configuration\":"
  " {\"cname\": \"lz4\", \"clevel\": 5, \"shuffle\": \"bitshuffle\","
  " \"typesize\": 2, \"blocksize\": 0}}, \"crc32c\"], \"index_codecs\":"
  " [{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}},"
  " \"crc32c\"], \"index_location\": \"start\"}}]",
  /* Shards in a shard, in a codec: read whole. */
  "[{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\":"
  " [8, 8], \"codecs\": [{\"name\": \"sharding_indexed\","
  " \"configuration\": {\"chunk_shape\": [4, 8], \"codecs\": [{\"name\":"
  " \"bytes\", \"configuration\": {\"endian\": \"big\"}}],"
  " \"index_codecs\": [{\"name\": \"bytes\", \"configuration\":"
  " {\"endian\": \"little\"}}]}}, {\"name\": \"zstd\", \"configuration\":"
  " {\"level\": 3}}], \"index_codecs\": [{\"name\": \"bytes\","
  " \"configuration\": {\"endian\": \"little\"}}]}}, \"crc32c\"]",
};

#define NSETTINGS (sizeof settings / sizeof settings[0])

/* A rig with an array that was written; to be closed. */
static void
open_rig (struct rig *rig, const char *codecs)
{
  memset (rig, 0, sizeof *rig);
  rig->codecs = codecs;
  make_elements (rig);
  assert_ok (do_open_store (rig));
  assert_ok (do_create (rig));
  assert_ok (do_write (rig));
}

static void
opening_a_store_loses_nothing (void **state)
{
  struct rig rig = { 0 };
  (void) state;
  try_all (&rig, do_open_store, close_rig);
  assert_non_null (rig.store);
  close_rig (&rig);
}

static void
everything_from_nothing_works_or_fails_with_a_message (void **state)
{
  (void) state;
  for (size_t i = 0; i < NSETTINGS; i++) {
    struct rig rig = { .codecs = settings[i] };
    make_elements (&rig);
    try_all (&rig, do_everything, close_rig);
    assert_memory_equal (rig.delivered, rig.elements, sizeof rig.elements);
    close_rig (&rig);
  }
}

/* The failure left no document: the name is free. */
static void
assert_not_made (struct rig *rig)
{
  enum radio_node node;
  if (rig->array == NULL)
    assert_fails (radio_store_node (rig->store, "some/array", &node),
                  RADIO_ERROR_NOT_FOUND, "some/array");
  close_rig (rig);
  assert_ok (do_open_store (rig));
}

static void
an_array_that_could_not_be_made_is_not_there (void **state)
{
  (void) state;
  for (size_t i = 0; i < NSETTINGS; i++) {
    struct rig rig = { .codecs = settings[i] };
    assert_ok (do_open_store (&rig));
    try_all (&rig, do_create, assert_not_made);
    close_rig (&rig);
  }
}

/* In the same store the second attempt finds the groups of the first. */
static void
making_an_array_is_done_when_memory_is_back (void **state)
{
  struct rig rig = { .codecs = settings[0] };
  (void) state;
  assert_ok (do_open_store (&rig));
  try_all (&rig, do_create, NULL);
  assert_non_null (rig.array);
  close_rig (&rig);
}

static void
read_and_compare (struct rig *rig)
{
  assert_ok (do_write (rig));
  assert_ok (do_read (rig));
  assert_memory_equal (rig->delivered, rig->elements, sizeof rig->elements);
  for (size_t i = 0; i < SIZE * CHUNK; i++)
    rig->elements[i]++;
}

static void
a_failed_write_succeeds_when_memory_is_back (void **state)
{
  struct rig rig;
  (void) state;
  for (size_t i = 0; i < NSETTINGS; i++) {
    open_rig (&rig, settings[i]);
    try_all (&rig, do_write, read_and_compare);
    read_and_compare (&rig);
    close_rig (&rig);
  }
}

/* The same handle goes on. */
static void
reread_and_compare (struct rig *rig)
{
  if (rig->array == NULL)
    assert_ok (do_open (rig));
  assert_ok (do_read (rig));
  assert_memory_equal (rig->delivered, rig->elements, sizeof rig->elements);
}

static void
a_failed_read_succeeds_when_memory_is_back (void **state)
{
  struct rig rig;
  (void) state;
  for (size_t i = 0; i < NSETTINGS; i++) {
    open_rig (&rig, settings[i]);
    try_all (&rig, do_open_and_read, reread_and_compare);
    try_all (&rig, do_read_async, reread_and_compare);
    reread_and_compare (&rig);
    close_rig (&rig);
  }
}

/* Want of memory is no damage. */
static void
a_check_without_memory_reports_no_damage (void **state)
{
  struct rig rig;
  (void) state;
  for (size_t i = 0; i < NSETTINGS; i++) {
    open_rig (&rig, settings[i]);
    try_all (&rig, do_open_and_check, NULL);
    close_rig (&rig);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (opening_a_store_loses_nothing),
    cmocka_unit_test (everything_from_nothing_works_or_fails_with_a_message),
    cmocka_unit_test (an_array_that_could_not_be_made_is_not_there),
    cmocka_unit_test (making_an_array_is_done_when_memory_is_back),
    cmocka_unit_test (
      a_failed_write_succeeds_when_memory_is_back),
    cmocka_unit_test (a_failed_read_succeeds_when_memory_is_back),
    cmocka_unit_test (a_check_without_memory_reports_no_damage),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
