/* SPDX-License-Identifier: MIT */
/* Documents that claim the impossible, and objects that do: each is refused
 * in words or read for what it is, within the memory limit. */
#include <config.h>

#include <endian.h>

#include "tests/alloc-peak.h"
#include "tests/unit.h"

#include <radio/array.h>

#include "src/array/array.h"
#include "src/codec/shard.h"

#define BYTES "{\"name\":\"bytes\"}"
#define LITTLE "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}"
#define ZSTD                                                            \
  "{\"name\":\"zstd\",\"configuration\":{\"level\":1,"                  \
  "\"checksum\":false}}"
#define GZIP "{\"name\":\"gzip\",\"configuration\":{\"level\":1}}"
#define SHARDS(tile, codecs)                                            \
  "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[" \
  tile "],\"codecs\":[" codecs "],\"index_codecs\":[" LITTLE "]}}"
#define DOCUMENT(shape, chunk, codecs)                                  \
  "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[" shape "],"   \
  "\"data_type\":\"uint8\",\"chunk_grid\":{\"name\":\"regular\","       \
  "\"configuration\":{\"chunk_shape\":[" chunk "]}},"                   \
  "\"chunk_key_encoding\":{\"name\":\"default\"},\"fill_value\":5,"     \
  "\"codecs\":[" codecs "]}"

#define LIMIT ((uint64_t) 8 << 20)

static struct radio_store *
open_store (void)
{
  const struct radio_context_options context = {
    .nthreads = 3, .memory_limit_nbytes = LIMIT,
  };
  struct radio_store_options options = { .create = true };
  struct radio_store *store;
  assert_ok (radio_context_open (&context, &options.context));
  assert_ok (radio_store_open ("memory:", &options, &store));
  radio_context_close (options.context);
  return store;
}

static void
put (struct radio_store *store, const char *key, const void *data,
     size_t nbytes)
{
  assert_ok (rd_io_put (store->io, key, data, nbytes, RD_PUT_REPLACE));
}

static struct radio_array *
must_open (struct radio_store *store, const char *document)
{
  struct radio_array *array;
  put (store, "x/zarr.json", document, strlen (document));
  assert_ok (radio_array_open (store, "x", &array));
  return array;
}

/* Reads the first element; 77 if there are no elements. */
static enum radio_status
read_first (struct radio_array *array, unsigned char *value)
{
  struct radio_array_info info;
  radio_array_get_info (array, &info);
  struct radio_box box = { .rank = info.rank };
  for (size_t i = 0; i < info.rank; i++)
    box.size[i] = info.shape[i] > 0;
  *value = 77;
  return radio_array_read (array, &box, RADIO_STORED, value, 1, NULL);
}

#define HUGE "4611686018427387904"    /* 2^62 */

static void
sizes_that_cannot_be_are_refused_when_opened (void **state)
{
  static const struct {
    const char *document, *part;
  } cases[] = {
    { DOCUMENT (HUGE "," HUGE, HUGE "," HUGE, BYTES), "2^63" },
    { DOCUMENT ("9", "0", BYTES), "chunk_shape" },
    { DOCUMENT ("9", "-1", BYTES), "chunk_shape" },
    { DOCUMENT ("9", "9", SHARDS ("0", BYTES)), "chunk_shape" },
    { DOCUMENT ("9", "9", SHARDS ("2", BYTES)), "does not divide" },
    { DOCUMENT ("9", "9", SHARDS ("3,3", BYTES)), "chunk_shape" },
    /* An index of 2^66 bytes. */
    { DOCUMENT (HUGE, HUGE, SHARDS ("1", BYTES)), "2^63" },
    { DOCUMENT ("9", "9", SHARDS ("9", SHARDS ("9", SHARDS (
        "9", SHARDS ("9", SHARDS ("9", BYTES)))))), "nested deeper" },
    { DOCUMENT ("1,1,1,1,1,1,1,1,1", "1,1,1,1,1,1,1,1,1", BYTES), "shape" },
    { DOCUMENT ("9", "9", BYTES "," BYTES), "codec" },
    { DOCUMENT ("9", "9", ZSTD), "codec" },
  };
  (void) state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct radio_store *store = open_store ();
    struct radio_array *array;
    put (store, "x/zarr.json", cases[i].document,
         strlen (cases[i].document));
    enum radio_status status = radio_array_open (store, "x", &array);
    if ((status != RADIO_ERROR_FORMAT && status != RADIO_ERROR_UNSUPPORTED)
        || !strstr (radio_error_message (), cases[i].part)
        || !strstr (radio_error_message (), "x/zarr.json"))
      fail_msg ("case %zu: %d: %s", i, (int) status, radio_error_message ());
    radio_store_close (store);
  }
}

/* Nothing of these is stored, so they are fill value, however large. */
static void
giants_that_are_not_stored_are_fill_value (void **state)
{
  static const char *const documents[] = {
    DOCUMENT (HUGE, HUGE, BYTES),
    DOCUMENT (HUGE, HUGE, BYTES "," ZSTD "," GZIP "," ZSTD),
    DOCUMENT (HUGE "," HUGE, "1,1", BYTES),
    DOCUMENT (HUGE, HUGE, SHARDS (HUGE, BYTES "," ZSTD)),
    DOCUMENT (HUGE, "262144", SHARDS ("1", BYTES)),
    DOCUMENT ("1,1,1,1,1,1,1,1", "1,1,1,1,1,1,1,1", BYTES),
    DOCUMENT ("8,8,8,8,8,8,8,8", "4,4,4,4,4,4,4,4",
              SHARDS ("2,2,2,2,2,2,2,2", BYTES)),
    DOCUMENT ("9", "9", SHARDS ("9", SHARDS ("9", SHARDS (
      "3", SHARDS ("1", BYTES))))),
  };
  (void) state;
  for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++) {
    struct radio_store *store = open_store ();
    struct radio_check check;
    unsigned char value;
    alloc_peak_begin ();
    struct radio_array *array = must_open (store, documents[i]);
    assert_ok (read_first (array, &value));
    assert_int_equal (value, 5);
    assert_ok (radio_array_check (array, &check, NULL, NULL));
    assert_int_equal (check.tile_count, 0);
    assert_true (alloc_peak () < LIMIT / 8);
    radio_array_close (array);
    radio_store_close (store);
  }
}

/* The same with rubbish in the first chunk's place: an error that names it,
 * and no memory by what the document claims. */
static void
giants_with_rubbish_in_them_are_refused (void **state)
{
  static const struct {
    const char *document, *key;
  } cases[] = {
    { DOCUMENT (HUGE, HUGE, BYTES), "x/c/0" },
    { DOCUMENT (HUGE, HUGE, BYTES "," ZSTD "," GZIP "," ZSTD), "x/c/0" },
    { DOCUMENT (HUGE "," HUGE, "1,1", BYTES), "x/c/0/0" },
    { DOCUMENT (HUGE, HUGE, SHARDS (HUGE, BYTES "," ZSTD)), "x/c/0" },
    { DOCUMENT (HUGE, "262144", SHARDS ("1", BYTES)), "x/c/0" },
    { DOCUMENT ("1000000", "1000000", SHARDS ("1", BYTES "," ZSTD) "," ZSTD),
      "x/c/0" },
    { DOCUMENT ("1000000", "1000000", SHARDS ("1000000", SHARDS (
        "1", BYTES "," GZIP) "," GZIP) "," GZIP), "x/c/0" },
    { DOCUMENT ("1,1,1,1,1,1,1,1", "1,1,1,1,1,1,1,1", BYTES),
      "x/c/0/0/0/0/0/0/0/0" },
    { DOCUMENT ("9", "9", SHARDS ("9", SHARDS ("9", SHARDS (
        "3", SHARDS ("1", BYTES))))), "x/c/0" },
  };
  unsigned char rubbish[300], value;
  (void) state;
  for (size_t i = 0; i < sizeof rubbish; i++)
    rubbish[i] = (unsigned char) (i * 37 + 11);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct radio_store *store = open_store ();
    put (store, cases[i].key, rubbish, sizeof rubbish);
    alloc_peak_begin ();
    struct radio_array *array = must_open (store, cases[i].document);
    enum radio_status status = read_first (array, &value);
    if ((status != RADIO_ERROR_FORMAT && status != RADIO_ERROR_LIMIT)
        || alloc_peak () > LIMIT
        || !strstr (radio_error_message (), cases[i].key))
      fail_msg ("case %zu: %d, %zu bytes held: %s", i, (int) status,
                alloc_peak (), radio_error_message ());
    radio_array_close (array);
    radio_store_close (store);
  }
}

static void
an_index_larger_than_the_limit_is_refused_not_read (void **state)
{
  struct radio_store *store = open_store ();
  struct radio_array *array = must_open (store, DOCUMENT (
    "1000000000000", "1000000000000", SHARDS ("1", BYTES)));
  unsigned char value;
  (void) state;
  alloc_peak_begin ();
  assert_fails (read_first (array, &value), RADIO_ERROR_LIMIT, "/x");
  assert_true (alloc_peak () < LIMIT / 8);
  radio_array_close (array);
  radio_store_close (store);
}

static void
arrays_of_length_0_are_read_and_written_as_nothing (void **state)
{
  static const char *const documents[] = {
    DOCUMENT ("0", "4", BYTES),
    DOCUMENT ("3,0", "2,2", SHARDS ("1,1", BYTES)),
    DOCUMENT (HUGE ",0," HUGE, "1,1,1", BYTES),
    DOCUMENT ("0,0,0,0,0,0,0,0", "1,1,1,1,1,1,1,1", BYTES "," ZSTD),
  };
  (void) state;
  for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++) {
    struct radio_store *store = open_store ();
    struct radio_array *array = must_open (store, documents[i]);
    struct radio_array_info info;
    struct radio_check check;
    unsigned char value;
    radio_array_get_info (array, &info);
    struct radio_box box = { .rank = info.rank };
    memcpy (box.size, info.shape, sizeof box.size);
    assert_ok (read_first (array, &value));
    assert_int_equal (value, 77);
    assert_ok (radio_array_write (array, &box, NULL, 0));
    assert_ok (radio_array_check (array, &check, NULL, NULL));
    assert_int_equal (check.missing_count, 0);
    box.start[0] = info.shape[0] + 1;
    box.size[0] = 0;
    assert_fails (radio_array_read (array, &box, RADIO_STORED, &value, 1,
                                    NULL), RADIO_ERROR_ARGUMENT, "");
    radio_array_close (array);
    radio_store_close (store);
  }
}

/* A shard of 16 tiles of 16 elements whose index says so of each. */
static struct radio_array *
open_shard (struct radio_store *store, const char *codecs,
            uint64_t offset, uint64_t nbytes, size_t shard_nbytes)
{
  unsigned char *shard = calloc (1, shard_nbytes);
  char document[1024];
  assert_non_null (shard);
  for (size_t i = 0; i < 16; i++) {
    const uint64_t entry[] = { htole64 (offset), htole64 (nbytes) };
    memcpy (shard + shard_nbytes - 256 + 16 * i, entry, 16);
  }
  put (store, "x/c/0", shard, shard_nbytes);
  free (shard);
  snprintf (document, sizeof document, DOCUMENT ("256", "256", "%s"),
            codecs);
  return must_open (store, document);
}

/* Each of many tiles that are the whole file would be a whole file read. */
static void
tiles_longer_than_their_codecs_make_them_are_not_fetched (void **state)
{
  static const char *const codecs[] = {
    SHARDS ("16", BYTES), SHARDS ("16", BYTES "," ZSTD),
  };
  const struct radio_box whole = { 1, { 0 }, { 256 } };
  const size_t nbytes = (size_t) 6 << 20;
  unsigned char room[256];
  (void) state;
  for (size_t i = 0; i < 2; i++) {
    struct radio_store *store = open_store ();
    struct radio_check check;
    struct radio_array *array = open_shard (store, codecs[i], 0, nbytes,
                                            nbytes);
    alloc_peak_begin ();
    assert_fails (radio_array_read (array, &whole, RADIO_STORED, room, 256,
                                    NULL),
                  RADIO_ERROR_FORMAT, "x/c/0: tile (0)");
    assert_true (alloc_peak () < LIMIT / 8);
    assert_fails (radio_array_check (array, &check, NULL, NULL),
                  RADIO_ERROR_CHECKSUM, "16 of 16");
    radio_array_close (array);
    radio_store_close (store);
  }
}

static void
wrong_entries_are_refused_with_their_figures (void **state)
{
  static const struct { uint64_t offset, nbytes; } lies[] = {
    { 0, UINT64_MAX }, { UINT64_MAX, 16 }, { UINT64_MAX - 1, 2 },
    { 1, UINT64_MAX - 1 }, { 513, 0 }, { 512, 1 }, { 0, 513 },
    { (uint64_t) 1 << 63, (uint64_t) 1 << 63 },
  };
  unsigned char value;
  (void) state;
  for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
    struct radio_store *store = open_store ();
    struct radio_array *array = open_shard (
      store, SHARDS ("16", BYTES), lies[i].offset, lies[i].nbytes, 512);
    assert_fails (read_first (array, &value), RADIO_ERROR_FORMAT,
                  "do not lie within the shard's 512");
    radio_array_close (array);
    radio_store_close (store);
  }
}

/* Tiles may lie on each other, and on the index: it is their own affair. */
static void
tiles_that_share_their_bytes_are_read (void **state)
{
  struct radio_store *store = open_store ();
  struct radio_array *array = open_shard (store, SHARDS ("16", BYTES), 3, 16,
                                          512);
  const struct radio_box whole = { 1, { 0 }, { 256 } };
  unsigned char room[256], zeros[256] = { 0 };
  (void) state;
  memset (room, 1, sizeof room);
  assert_ok (radio_array_read (array, &whole, RADIO_STORED, room, 256,
                               NULL));
  assert_memory_equal (room, zeros, 256);
  radio_array_close (array);
  radio_store_close (store);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (sizes_that_cannot_be_are_refused_when_opened),
    cmocka_unit_test (giants_that_are_not_stored_are_fill_value),
    cmocka_unit_test (giants_with_rubbish_in_them_are_refused),
    cmocka_unit_test (an_index_larger_than_the_limit_is_refused_not_read),
    cmocka_unit_test (arrays_of_length_0_are_read_and_written_as_nothing),
    cmocka_unit_test (
      tiles_longer_than_their_codecs_make_them_are_not_fetched),
    cmocka_unit_test (wrong_entries_are_refused_with_their_figures),
    cmocka_unit_test (tiles_that_share_their_bytes_are_read),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
