/* SPDX-License-Identifier: MIT */
/* Arrays of strings: written and read by boxes, with each codec and in shards;
 * chunks that are missing; what cannot be read or written, and in how much
 * memory. */
#include <config.h>

#include <endian.h>

#include "tests/alloc-fail.h"
#include "tests/unit.h"

#include <radio/array.h>

#include "src/array/array.h"

#define VLEN "{\"name\":\"vlen-utf8\"}"
#define LITTLE "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}"
#define ZSTD                                                            \
  "{\"name\":\"zstd\",\"configuration\":{\"level\":1,"                  \
  "\"checksum\":false}}"
#define GZIP "{\"name\":\"gzip\",\"configuration\":{\"level\":1}}"
#define BLOSC                                                           \
  "{\"name\":\"blosc\",\"configuration\":{\"cname\":\"lz4\","           \
  "\"clevel\":5,\"shuffle\":\"noshuffle\",\"typesize\":1}}"
#define TRANSPOSE                                                       \
  "{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}}"
#define SHARDS(codecs)                                                  \
  "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":["  \
  "2,3],\"codecs\":[" codecs "],\"index_codecs\":[" LITTLE "]}}]"

#define ROWS 7
#define COLUMNS 10
#define N (ROWS * COLUMNS)

static const struct radio_box whole = { 2, { 0 }, { ROWS, COLUMNS } };

/* The text of an element: of some lengths, with characters of 1 to 4 bytes and
 * NUL; a whole chunk is the fill value. */
static size_t
make_text (size_t row, size_t column, char text[64])
{
  static const char *const parts[] = {
    "", "a", "\xc3\xbc", "\xe2\x82\xac", "\xf0\x9f\xa7\xa0", "long text ",
  };
  size_t n = 0, k = row * 13 + column * 7;
  if (row < 2 && column < 3)
    return (size_t) snprintf (text, 64, "fill");
  for (size_t i = 0; i < k % 5; i++) {
    const char *part = parts[(k + i) % 6];
    memcpy (text + n, part, strlen (part));
    n += strlen (part);
  }
  if (k % 11 == 0)
    text[n++] = '\0';
  return n;
}

struct text {
  int64_t offsets[N + 1];
  char data[N * 64];
  struct radio_strings strings;
};

static void
make_strings (const struct radio_box *box, struct text *text)
{
  size_t n = 0;
  text->offsets[0] = 0;
  for (size_t row = 0; row < box->size[0]; row++)
    for (size_t column = 0; column < box->size[1]; column++, n++)
      text->offsets[n + 1] = text->offsets[n] + (int64_t) make_text (
        box->start[0] + row, box->start[1] + column,
        text->data + text->offsets[n]);
  text->strings = (struct radio_strings) { n, text->offsets, text->data };
}

static struct radio_store *
open_store (uint64_t limit, unsigned nthreads)
{
  const struct radio_context_options context = {
    .nthreads = nthreads, .memory_limit_nbytes = limit,
  };
  struct radio_store_options options = { .create = true };
  struct radio_store *store;
  assert_ok (radio_context_open (&context, &options.context));
  assert_ok (radio_store_open ("memory:", &options, &store));
  radio_context_close (options.context);
  return store;
}

static struct radio_array *
new_array (struct radio_store *store, const char *codecs)
{
  const struct radio_array_options options = {
    .rank = 2, .shape = { ROWS, COLUMNS }, .chunk_shape = { 4, 6 },
    .data_type = "string", .codecs_json = codecs,
    .fill_value_json = "\"fill\"",
  };
  struct radio_array *array;
  assert_ok (radio_array_create (store, "a", &options, &array));
  return array;
}

static void
assert_read (struct radio_array *array, const struct radio_box *box)
{
  struct text wanted;
  struct radio_strings got;
  make_strings (box, &wanted);
  assert_ok (radio_array_read_strings (array, box, &got, NULL));
  assert_int_equal (got.n, wanted.strings.n);
  assert_memory_equal (got.offsets, wanted.offsets,
                       (got.n + 1) * sizeof *got.offsets);
  assert_memory_equal (got.bytes, wanted.data, got.offsets[got.n]);
  assert_int_equal (got.bytes[got.offsets[got.n]], '\0');
  radio_strings_free (&got);
  assert_null (got.bytes);
  assert_null (got.offsets);
}

static void
strings_are_read_as_they_were_written (void **state)
{
  (void) state;
  static const char *const chains[] = {
    NULL, "[" VLEN "]", "[" VLEN "," ZSTD "]", "[" VLEN "," GZIP "]",
    "[" VLEN "," BLOSC "]", "[" TRANSPOSE "," VLEN "," GZIP "," ZSTD "]",
    SHARDS (VLEN), SHARDS (VLEN "," ZSTD), SHARDS (TRANSPOSE "," VLEN),
    SHARDS (VLEN ",{\"name\":\"crc32c\"}"),
  };
  for (size_t i = 0; i < sizeof chains / sizeof chains[0]; i++) {
    struct radio_store *store = open_store (0, 3);
    struct radio_array *array = new_array (store, chains[i]);
    struct radio_array_info info;
    struct radio_check check;
    struct text text;
    radio_array_get_info (array, &info);
    assert_int_equal (info.dtype, RADIO_STRING);
    assert_int_equal (info.item_nbytes, 0);
    make_strings (&whole, &text);
    assert_ok (radio_array_write_strings (array, &whole, &text.strings));
    for (uint64_t row = 0; row < ROWS; row++)
      for (uint64_t column = 0; column < COLUMNS; column++)
        for (uint64_t size = 0; size < 4; size++) {
          struct radio_box box = {
            2, { row, column }, { 2 * size, 3 * size },
          };
          if (box.start[0] + box.size[0] <= ROWS
              && box.start[1] + box.size[1] <= COLUMNS)
            assert_read (array, &box);
        }
    assert_read (array, &whole);
    radio_array_close (array);
    assert_ok (radio_array_open (store, "a", &array));
    assert_read (array, &whole);
    assert_ok (radio_array_check (array, &check, NULL, NULL));
    assert_int_equal (check.damaged_count, 0);
    radio_array_close (array);
    radio_store_close (store);
  }
}

static enum radio_status
count_tile (const struct radio_box *tile, uint64_t nbytes, void *user_data)
{
  assert_in_range (tile->size[0], 1, 2);
  assert_int_equal (nbytes, 0);
  ++*(size_t *) user_data;
  return RADIO_OK;
}

static void
tiles_of_strings_have_no_known_size (void **state)
{
  (void) state;
  struct radio_store *store = open_store (0, 1);
  struct radio_array *array = new_array (store, SHARDS (VLEN));
  size_t count = 0;
  assert_ok (radio_array_list_tiles (array, NULL, count_tile, &count));
  assert_int_equal (count, 4 * 4);
  radio_array_close (array);
  radio_store_close (store);
}

static void
chunks_that_are_missing_are_the_fill_value (void **state)
{
  (void) state;
  struct radio_store *store = open_store (0, 2);
  struct radio_array *array = new_array (store, NULL);
  struct radio_strings got;
  assert_ok (radio_array_read_strings (array, &whole, &got, NULL));
  assert_int_equal (got.n, N);
  for (size_t i = 0; i <= N; i++)
    assert_int_equal (got.offsets[i], 4 * i);
  for (size_t i = 0; i < N; i++)
    assert_memory_equal (got.bytes + 4 * i, "fill", 4);
  radio_strings_free (&got);
  radio_array_close (array);
  radio_store_close (store);
}

/* Rows 4 to 7 alone, out of a longer list, leave rows 0 to 4 as they are;
 * chunks that become the fill value are removed. */
static void
a_part_is_written_by_whole_chunks (void **state)
{
  (void) state;
  const struct radio_box below = { 2, { 4, 0 }, { 3, COLUMNS } };
  const struct radio_box corner = { 2, { 0 }, { 4, 6 } };
  struct radio_store *store = open_store (0, 2);
  struct radio_array *array = new_array (store, NULL);
  struct radio_check check;
  struct radio_strings got;
  struct text text;
  int64_t offsets[25];
  make_strings (&whole, &text);
  const struct radio_strings part = { 3 * COLUMNS, text.offsets + 4 * COLUMNS,
                                      text.data };
  assert_ok (radio_array_write_strings (array, &below, &part));
  assert_read (array, &below);
  assert_ok (radio_array_check (array, &check, NULL, NULL));
  assert_int_equal (check.tile_count, 2);
  assert_ok (radio_array_write_strings (array, &whole, &text.strings));
  assert_read (array, &whole);
  for (int i = 0; i < 25; i++)
    offsets[i] = 4 * i;
  char bytes[] = "fillfillfillfillfillfillfillfillfillfillfillfill"
                 "fillfillfillfillfillfillfillfillfillfillfillfill";
  const struct radio_strings fills = { 24, offsets, bytes };
  assert_ok (radio_array_write_strings (array, &corner, &fills));
  assert_ok (radio_array_check (array, &check, NULL, NULL));
  assert_int_equal (check.tile_count, 3);
  assert_ok (radio_array_read_strings (array, &corner, &got, NULL));
  assert_memory_equal (got.bytes, fills.bytes, 96);
  radio_strings_free (&got);
  radio_array_close (array);
  radio_store_close (store);
}

static bool
cancel (void *user_data)
{
  (void) user_data;
  return true;
}

static void
wrong_calls_are_refused (void **state)
{
  (void) state;
  struct radio_store *store = open_store (0, 2);
  struct radio_array *array = new_array (store, NULL), *numbers;
  struct radio_strings got = { 0 };
  struct text text;
  char memory[16];
  int64_t strides[2] = { 16, 16 };
  const struct radio_box outside = { 2, { 1, 0 }, { ROWS, COLUMNS } };
  const struct radio_box partial = { 2, { 0 }, { 3, 6 } };
  make_strings (&whole, &text);
  assert_fails (radio_array_read (array, &whole, RADIO_STORED, memory,
                                  sizeof memory, NULL),
                RADIO_ERROR_ARGUMENT, "use radio_array_read_strings");
  assert_fails (radio_array_write (array, &whole, memory, sizeof memory),
                RADIO_ERROR_ARGUMENT, "use radio_array_write_strings");
  assert_fails (radio_array_read_strings (array, &outside, &got, NULL),
                RADIO_ERROR_ARGUMENT, "on axis 0");
  assert_fails (radio_array_read_strings (
                  array, &whole, &got,
                  &(struct radio_read_options) { .strides = strides }),
                RADIO_ERROR_ARGUMENT, "strides");
  assert_fails (radio_array_read_strings (
                  array, &whole, &got,
                  &(struct radio_read_options) { .cancel = cancel }),
                RADIO_ERROR_CANCELLED, "cancelled");
  radio_thread_set_cancel (cancel, NULL);
  assert_fails (radio_array_read_strings (array, &whole, &got, NULL),
                RADIO_ERROR_CANCELLED, "cancelled");
  radio_thread_set_cancel (NULL, NULL);
  text.strings.n--;
  assert_fails (radio_array_write_strings (array, &whole, &text.strings),
                RADIO_ERROR_ARGUMENT, "69 strings for a box of 70");
  text.strings.n = 18;
  assert_fails (radio_array_write_strings (array, &partial, &text.strings),
                RADIO_ERROR_ARGUMENT, "whole chunks");
  text.strings.n = N;
  text.offsets[20] = text.offsets[19] - 1;
  assert_fails (radio_array_write_strings (array, &whole, &text.strings),
                RADIO_ERROR_ARGUMENT, "string 19 is from offset");
  make_strings (&whole, &text);
  text.offsets[N] = text.offsets[N - 1] + ((int64_t) 1 << 32);
  assert_fails (radio_array_write_strings (array, &whole, &text.strings),
                RADIO_ERROR_ARGUMENT, "at most 2^32 - 1");
  make_strings (&whole, &text);
  text.strings.bytes = NULL;
  assert_fails (radio_array_write_strings (array, &whole, &text.strings),
                RADIO_ERROR_ARGUMENT, "bytes is NULL");
  make_strings (&whole, &text);
  text.data[2] = '\xff';
  assert_fails (radio_array_write_strings (array, &whole, &text.strings),
                RADIO_ERROR_ARGUMENT, "byte 2 of string 0 (0xff)");
  const struct radio_array_options options = {
    .rank = 1, .shape = { 4 }, .chunk_shape = { 4 }, .data_type = "int16",
  };
  const struct radio_box four = { 1, { 0 }, { 4 } };
  assert_ok (radio_array_create (store, "numbers", &options, &numbers));
  assert_fails (radio_array_read_strings (numbers, &four, &got, NULL),
                RADIO_ERROR_ARGUMENT, "an array of int16, not of strings");
  assert_fails (radio_array_write_strings (numbers, &four, &text.strings),
                RADIO_ERROR_ARGUMENT, "an array of int16, not of strings");
  assert_null (got.bytes);
  radio_array_close (numbers);
  radio_array_close (array);
  radio_store_close (store);
}

#define DOCUMENT(shape, chunk, fill, codecs)                             \
  "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[" shape "],"    \
  "\"data_type\":\"string\",\"chunk_grid\":{\"name\":\"regular\","        \
  "\"configuration\":{\"chunk_shape\":[" chunk "]}},"                   \
  "\"chunk_key_encoding\":{\"name\":\"default\"},\"fill_value\":" fill ","\
  "\"codecs\":[" codecs "]}"

#define HUGE "4294967295"

static void
put (struct radio_store *store, const char *key, const void *data,
     size_t nbytes)
{
  assert_ok (rd_io_put (store->io, key, data, nbytes, RD_PUT_REPLACE));
}

/* An array that claims 2^32 - 1 strings in one chunk. */
static void
claims_take_no_memory (void **state)
{
  (void) state;
  static const char document[] = DOCUMENT (HUGE, HUGE, "\"x\"", VLEN);
  static const char small[] = DOCUMENT ("4", "4", "\"\"", VLEN "," ZSTD);
  static const unsigned char chunk[] = { 255, 255, 255, 255, 1, 0, 0, 0, 'a' };
  const struct radio_box first = { 1, { 0 }, { 1 } };
  const struct radio_box all = { 1, { 0 }, { UINT32_MAX } };
  const struct radio_box four = { 1, { 0 }, { 4 } };
  struct radio_store *store = open_store ((uint64_t) 64 << 20, 1);
  struct radio_array *array;
  struct radio_strings got;
  put (store, "x/zarr.json", document, sizeof document - 1);
  assert_ok (radio_array_open (store, "x", &array));
  /* Nothing is stored: one string needs no more. */
  alloc_fail_above ((size_t) 1 << 20);
  assert_ok (radio_array_read_strings (array, &first, &got, NULL));
  assert_false (alloc_fail_end ());
  assert_string_equal (got.bytes, "x");
  radio_strings_free (&got);
  assert_fails (radio_array_read_strings (array, &all, &got, NULL),
                RADIO_ERROR_LIMIT, "the strings of the box");
  put (store, "x/c/0", chunk, sizeof chunk);
  alloc_fail_above ((size_t) 1 << 20);
  enum radio_status status = radio_array_read_strings (array, &first, &got,
                                                       NULL);
  assert_false (alloc_fail_end ());
  assert_int_equal (status, RADIO_ERROR_LIMIT);
  radio_array_close (array);

  /* A frame that claims 2^62 bytes. */
  static const unsigned char frame[] = {
    0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0x40, 1, 0, 0,
  };
  put (store, "x/zarr.json", small, sizeof small - 1);
  put (store, "x/c/0", frame, sizeof frame);
  assert_ok (radio_array_open (store, "x", &array));
  alloc_fail_above ((size_t) 1 << 20);
  status = radio_array_read_strings (array, &four, &got, NULL);
  bool failed = alloc_fail_end ();
  assert_int_equal (status, RADIO_ERROR_FORMAT);
  assert_false (failed);
  radio_array_close (array);
  radio_store_close (store);
}

static void
documents_of_strings_are_checked (void **state)
{
  (void) state;
  static const struct {
    const char *document;
    enum radio_status status;
    const char *message;
  } bad[] = {
    { DOCUMENT ("4", "4", "0", VLEN), RADIO_ERROR_FORMAT, "fill_value" },
    { DOCUMENT ("4", "4", "null", VLEN), RADIO_ERROR_FORMAT, "fill_value" },
    { DOCUMENT ("4", "4", "\"\"", LITTLE), RADIO_ERROR_FORMAT,
      "need vlen-utf8" },
    { DOCUMENT ("4", "4294967296", "\"\"", VLEN), RADIO_ERROR_FORMAT,
      "4294967296 strings" },
    { DOCUMENT ("4,6", "4,6", "\"\"",
                "{\"name\":\"sharding_indexed\",\"configuration\":"
                "{\"chunk_shape\":[2,3],\"codecs\":[" VLEN "],"
                "\"index_codecs\":[" LITTLE "]}}," ZSTD),
      RADIO_ERROR_UNSUPPORTED, "strings in shards" },
  };
  struct radio_store *store = open_store (0, 1);
  struct radio_array *array;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    put (store, "x/zarr.json", bad[i].document, strlen (bad[i].document));
    assert_fails (radio_array_open (store, "x", &array), bad[i].status,
                  bad[i].message);
  }
  radio_store_close (store);
}

/* With one thread all allocations are this one's. */
static void
each_allocation_may_fail (void **state)
{
  (void) state;
  const char *const chains[] = { "[" VLEN "," GZIP "]", SHARDS (VLEN) };
  for (size_t i = 0; i < 2; i++) {
    struct radio_store *store = open_store (0, 1);
    struct radio_array *array = new_array (store, chains[i]);
    struct text text;
    make_strings (&whole, &text);
    for (size_t nth = 1;; nth++) {
      alloc_fail_nth (nth);
      enum radio_status status = radio_array_write_strings (array, &whole,
                                                            &text.strings);
      if (!alloc_fail_end ()) {
        assert_ok (status);
        break;
      }
      assert_int_equal (status, RADIO_ERROR_MEMORY);
    }
    for (size_t nth = 1;; nth++) {
      struct radio_strings got = { 0 };
      radio_array_close (array);
      assert_ok (radio_array_open (store, "a", &array));
      alloc_fail_nth (nth);
      enum radio_status status = radio_array_read_strings (array, &whole,
                                                           &got, NULL);
      bool failed = alloc_fail_end ();
      radio_strings_free (&got);
      if (!failed) {
        assert_ok (status);
        break;
      }
      assert_int_equal (status, RADIO_ERROR_MEMORY);
    }
    assert_read (array, &whole);
    radio_array_close (array);
    radio_store_close (store);
  }
}

enum { LONG_COUNT = 300000, LONG_NBYTES = 40 };

#define LONG "300000"

/* Reads one chunk of 13 MB, of which 12 are text. */
static enum radio_status
read_long_chunk (uint64_t limit, struct radio_strings *got)
{
  static const char document[] = DOCUMENT (LONG, LONG, "\"\"", VLEN);
  const struct radio_box all = { 1, { 0 }, { LONG_COUNT } };
  struct radio_store *store = open_store (limit, 1);
  struct radio_array *array;
  RD_BUFFER_SCOPE struct rd_buffer chunk = { 0 };
  const uint32_t count = htole32 (LONG_COUNT), length = htole32 (LONG_NBYTES);
  char text[LONG_NBYTES];
  memset (text, 'x', sizeof text);
  assert_ok (rd_buffer_append (&chunk, &count, sizeof count));
  for (size_t i = 0; i < LONG_COUNT; i++) {
    assert_ok (rd_buffer_append (&chunk, &length, sizeof length));
    assert_ok (rd_buffer_append (&chunk, text, sizeof text));
  }
  put (store, "x/zarr.json", document, sizeof document - 1);
  put (store, "x/c/0", chunk.data, chunk.nbytes);
  assert_ok (radio_array_open (store, "x", &array));
  enum radio_status status = radio_array_read_strings (array, &all, got,
                                                       NULL);
  radio_array_close (array);
  radio_store_close (store);
  return status;
}

static void
more_text_than_the_limit_allows_is_refused (void **state)
{
  (void) state;
  struct radio_strings got = { 0 };
  assert_ok (read_long_chunk (0, &got));
  assert_int_equal (got.offsets[LONG_COUNT], LONG_COUNT * LONG_NBYTES);
  assert_int_equal (strspn (got.bytes, "x"), LONG_COUNT * LONG_NBYTES);
  radio_strings_free (&got);
  /* Enough for the chunk, but not for its text twice. */
  assert_fails (read_long_chunk ((uint64_t) 22 << 20, &got),
                RADIO_ERROR_LIMIT, "the text of the box");
  assert_fails (read_long_chunk ((uint64_t) 16 << 20, &got),
                RADIO_ERROR_LIMIT, "are accepted here");
  assert_null (got.bytes);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (strings_are_read_as_they_were_written),
    cmocka_unit_test (tiles_of_strings_have_no_known_size),
    cmocka_unit_test (chunks_that_are_missing_are_the_fill_value),
    cmocka_unit_test (a_part_is_written_by_whole_chunks),
    cmocka_unit_test (wrong_calls_are_refused),
    cmocka_unit_test (claims_take_no_memory),
    cmocka_unit_test (documents_of_strings_are_checked),
    cmocka_unit_test (each_allocation_may_fail),
    cmocka_unit_test (more_text_than_the_limit_allows_is_refused),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
