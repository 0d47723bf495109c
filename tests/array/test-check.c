/* SPDX-License-Identifier: MIT */
/* Damage: every changed byte is found, by reading and by checking, and the
 * message names what is damaged. */
#include <config.h>

#include "tests/array/model.h"

#include "src/array/context.h"

#define BYTES "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}"
#define CRC "{\"name\":\"crc32c\"}"
#define ZSTD "{\"name\":\"zstd\",\"configuration\":" \
  "{\"level\":1,\"checksum\":false}}"
#define SHARDS(location, tile)                                          \
  "[{\"name\":\"sharding_indexed\",\"configuration\":{"                 \
  "\"chunk_shape\":" tile ",\"codecs\":[" BYTES "," ZSTD "," CRC "],"   \
  "\"index_codecs\":[" BYTES "," CRC "],"                               \
  "\"index_location\":\"" location "\"}}]"

static const struct radio_array_options at_end = {
  .rank = 2,
  .shape = { 10, 12 },
  .chunk_shape = { 8, 12 },
  .data_type = "int16",
  .codecs_json = SHARDS ("end", "[4,4]"),
};

static const struct radio_array_options at_start = {
  .rank = 2,
  .shape = { 10, 12 },
  .chunk_shape = { 8, 12 },
  .data_type = "int16",
  .codecs_json = SHARDS ("start", "[4,4]"),
};

static const struct radio_array_options unsharded = {
  .rank = 2,
  .shape = { 10, 12 },
  .chunk_shape = { 8, 12 },
  .data_type = "int16",
};

/* Elements of which none is the fill value. */
static void
write_all (struct model *model)
{
  struct radio_box box = { .rank = 2 };
  memcpy (box.size, model->info.shape, sizeof box.size);
  for (size_t i = 0; i < model->count; i++) {
    int16_t value = (int16_t) (1000 + 37 * i % 101);
    memcpy (model->elements + 2 * i, &value, 2);
  }
  assert_ok (radio_array_write (model->array, &box, model->elements,
                                model->count * 2));
}

static void
get_object (struct model *model, const char *key, struct rd_buffer *object)
{
  assert_ok (rd_io_read_all (model->store->io, key, 1 << 20, object));
}

static void
put_object (struct model *model, const char *key, const void *data,
            size_t nbytes)
{
  assert_ok (rd_io_put (model->store->io, key, data, nbytes,
                        RD_PUT_REPLACE));
}

/* Reopens the model's array, so that no index of its shards is cached. */
static enum radio_status
read_reopened (struct model *model)
{
  struct radio_array *array;
  struct radio_box box = { .rank = 2 };
  unsigned char room[240];
  memcpy (box.size, model->info.shape, sizeof box.size);
  assert_ok (radio_array_open (model->store, "some/array", &array));
  enum radio_status status = radio_array_read (array, &box, RADIO_STORED,
                                               room, sizeof room, NULL);
  if (status == RADIO_OK)
    assert_memory_equal (room, model->elements, sizeof room);
  radio_array_close (array);
  return status;
}

struct reported {
  unsigned n;
  char first[512];
};

static void
note (const char *message, void *user_data)
{
  struct reported *reported = user_data;
  if (reported->n++ == 0)
    snprintf (reported->first, sizeof reported->first, "%s", message);
}

/* Change each byte of an object in turn: reading and checking find it. */
static void
flip_all (const struct radio_array_options *options, const char *key)
{
  struct model model;
  RD_BUFFER_SCOPE struct rd_buffer object = { 0 };
  model_open_as (&model, 1, 2, false, options);
  write_all (&model);
  get_object (&model, key, &object);
  assert_true (object.nbytes > 100);
  for (size_t i = 0; i < object.nbytes; i++) {
    unsigned char bit = (unsigned char) (1 << i % 8);
    struct radio_check check;
    struct reported reported = { 0 };
    object.data[i] ^= bit;
    put_object (&model, key, object.data, object.nbytes);
    enum radio_status status = read_reopened (&model);
    assert_true (status == RADIO_ERROR_CHECKSUM
                 || status == RADIO_ERROR_FORMAT);
    assert_non_null (strstr (radio_error_message (), key));
    assert_fails (radio_array_check (model.array, &check, note, &reported),
                  RADIO_ERROR_CHECKSUM, "some/array");
    assert_true (check.damaged_count > 0);
    assert_int_equal (reported.n, 1);
    assert_non_null (strstr (reported.first, key));
    object.data[i] ^= bit;
  }
  put_object (&model, key, object.data, object.nbytes);
  assert_ok (read_reopened (&model));
  model_close (&model);
}

static void
any_changed_byte_of_a_shard_is_found (void **state)
{
  (void) state;
  flip_all (&at_end, "some/array/c/0/0");
}

static void
any_changed_byte_of_a_shard_with_its_index_first_is_found (void **state)
{
  (void) state;
  flip_all (&at_start, "some/array/c/0/0");
}

static void
any_changed_byte_of_a_chunk_without_shards_is_found (void **state)
{
  (void) state;
  flip_all (&unsharded, "some/array/c/0/0");
}

/* Cut an object to each of its lengths. */
static void
cut_all (const struct radio_array_options *options)
{
  struct model model;
  const char *key = "some/array/c/0/0";
  RD_BUFFER_SCOPE struct rd_buffer object = { 0 };
  model_open_as (&model, 2, 2, false, options);
  write_all (&model);
  get_object (&model, key, &object);
  for (size_t n = 0; n < object.nbytes; n++) {
    put_object (&model, key, object.data, n);
    enum radio_status status = read_reopened (&model);
    assert_true (status == RADIO_ERROR_CHECKSUM
                 || status == RADIO_ERROR_FORMAT);
    assert_non_null (strstr (radio_error_message (), key));
    struct radio_check check;
    assert_fails (radio_array_check (model.array, &check, NULL, NULL),
                  RADIO_ERROR_CHECKSUM, "damaged");
  }
  model_close (&model);
}

static void
a_shard_cut_short_is_found (void **state)
{
  (void) state;
  cut_all (&at_end);
  cut_all (&at_start);
}

static void
a_chunk_cut_short_is_found (void **state)
{
  (void) state;
  cut_all (&unsharded);
}

/* The first read's buffer has no memory yet. */
static void
an_empty_chunk_is_found_by_the_first_read (void **state)
{
  static const char *const codecs[] = {
    "[" BYTES "]", "[" BYTES "," CRC "]", "[" BYTES "," ZSTD "]",
    "[" BYTES ",{\"name\":\"gzip\",\"configuration\":{\"level\":1}}]",
    "[" BYTES ",{\"name\":\"blosc\",\"configuration\":{\"cname\":\"lz4\","
      "\"clevel\":1,\"shuffle\":\"shuffle\",\"typesize\":2,"
      "\"blocksize\":0}}]",
  };
  (void) state;
  for (size_t i = 0; i < sizeof codecs / sizeof codecs[0]; i++) {
    struct model model;
    struct radio_array_options options = unsharded;
    options.codecs_json = codecs[i];
    model_open_as (&model, 8, 1, false, &options);
    put_object (&model, "some/array/c/0/0", "", 0);
    enum radio_status status = read_reopened (&model);
    assert_true (status == RADIO_ERROR_CHECKSUM
                 || status == RADIO_ERROR_FORMAT);
    assert_non_null (strstr (radio_error_message (), "some/array/c/0/0"));
    model_close (&model);
  }
}

static void
the_message_names_key_and_tile (void **state)
{
  struct model model;
  RD_BUFFER_SCOPE struct rd_buffer object = { 0 };
  (void) state;
  model_open_as (&model, 3, 1, false, &at_end);
  write_all (&model);
  get_object (&model, "some/array/c/0/0", &object);
  object.data[3] ^= 1;
  put_object (&model, "some/array/c/0/0", object.data, object.nbytes);
  assert_fails (read_reopened (&model), RADIO_ERROR_CHECKSUM,
                "memory:/some/array/c/0/0: tile (0, 0): ");
  model_close (&model);
}

static void
a_damaged_index_is_reported_once_with_all_its_tiles (void **state)
{
  struct model model;
  RD_BUFFER_SCOPE struct rd_buffer object = { 0 };
  struct radio_check check;
  struct reported reported = { 0 };
  (void) state;
  model_open_as (&model, 4, 2, false, &at_end);
  write_all (&model);
  get_object (&model, "some/array/c/0/0", &object);
  object.data[object.nbytes - 1] ^= 1;
  put_object (&model, "some/array/c/0/0", object.data, object.nbytes);
  assert_fails (radio_array_check (model.array, &check, note, &reported),
                RADIO_ERROR_CHECKSUM, "6 of 9 tiles");
  assert_int_equal (reported.n, 1);
  assert_non_null (strstr (reported.first, "index"));
  assert_int_equal (check.damaged_count, 6);
  assert_int_equal (check.tile_count, 3);
  assert_int_equal (check.missing_count, 0);
  model_close (&model);
}

static void
an_array_that_is_the_store_is_named_by_its_uri (void **state)
{
  struct model model;
  struct radio_array *array;
  RD_BUFFER_SCOPE struct rd_buffer document = { 0 };
  struct radio_check check;
  (void) state;
  model_open_as (&model, 4, 1, false, &unsharded);
  get_object (&model, "some/array/zarr.json", &document);
  put_object (&model, "zarr.json", document.data, document.nbytes);
  put_object (&model, "c/0/0", "", 0);
  assert_ok (radio_array_open (model.store, "", &array));
  assert_fails (radio_array_check (array, &check, NULL, NULL),
                RADIO_ERROR_CHECKSUM, "memory:: 1 of 2 tiles");
  radio_array_close (array);
  model_close (&model);
}

static void
a_sound_array_is_counted (void **state)
{
  struct model model;
  RD_BUFFER_SCOPE struct rd_buffer first = { 0 }, second = { 0 };
  struct radio_check check;
  (void) state;
  model_open_as (&model, 5, 2, false, &at_end);
  write_all (&model);
  put_object (&model, "some/array/c/9/9", "rubbish", 7);
  put_object (&model, "some/array/c/00/0", "rubbish", 7);
  put_object (&model, "some/array/readme", "rubbish", 7);
  put_object (&model, "some/array/c/0/0/0", "rubbish", 7);
  get_object (&model, "some/array/c/0/0", &first);
  get_object (&model, "some/array/c/1/0", &second);
  assert_ok (radio_array_check (model.array, &check, note, NULL));
  assert_int_equal (check.tile_count, 9);
  assert_int_equal (check.missing_count, 0);
  assert_int_equal (check.damaged_count, 0);
  assert_int_equal (check.stored_nbytes, first.nbytes + second.nbytes);
  model_close (&model);
}

static void
tiles_not_stored_are_missing_and_no_damage (void **state)
{
  struct model model;
  struct radio_check check;
  (void) state;
  model_open_as (&model, 6, 2, true, &at_end);
  assert_ok (radio_array_check (model.array, &check, note, NULL));
  assert_int_equal (check.tile_count, 0);
  assert_int_equal (check.missing_count, 9);
  write_all (&model);
  assert_ok (model.store->io->ops->remove (model.store->io,
                                           "some/array/c/1/0"));
  assert_ok (radio_array_check (model.array, &check, note, NULL));
  assert_int_equal (check.tile_count, 6);
  assert_int_equal (check.missing_count, 3);
  model_close (&model);
}

static void
random_arrays_are_sound (void **state)
{
  (void) state;
  for (uint64_t seed = 0; seed < 60; seed++) {
    struct model model;
    struct radio_check check;
    model_open (&model, 100 + seed, 1 + seed % 3, seed % 2);
    model_write (&model);
    assert_ok (radio_array_check (model.array, &check, NULL, NULL));
    model_close (&model);
  }
}

static void
a_shard_that_was_replaced_is_read_by_its_own_index (void **state)
{
  struct model model;
  struct radio_box box = { .rank = 2, .size = { 1, 1 } };
  RD_BUFFER_SCOPE struct rd_buffer object = { 0 };
  int16_t value;
  (void) state;
  model_open_as (&model, 7, 1, false, &at_end);
  write_all (&model);
  assert_ok (radio_array_read (model.array, &box, RADIO_STORED, &value,
                               sizeof value, NULL));
  get_object (&model, "some/array/c/0/0", &object);
  put_object (&model, "some/array/c/0/0", object.data, object.nbytes - 1);
  assert_fails (radio_array_read (model.array, &box, RADIO_STORED, &value,
                                  sizeof value, NULL),
                RADIO_ERROR_CHECKSUM, "shard index");
  put_object (&model, "some/array/c/0/0", object.data, object.nbytes);
  assert_ok (radio_array_read (model.array, &box, RADIO_STORED, &value,
                               sizeof value, NULL));
  model_close (&model);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (any_changed_byte_of_a_shard_is_found),
    cmocka_unit_test (
      any_changed_byte_of_a_shard_with_its_index_first_is_found),
    cmocka_unit_test (any_changed_byte_of_a_chunk_without_shards_is_found),
    cmocka_unit_test (a_shard_cut_short_is_found),
    cmocka_unit_test (a_chunk_cut_short_is_found),
    cmocka_unit_test (an_empty_chunk_is_found_by_the_first_read),
    cmocka_unit_test (the_message_names_key_and_tile),
    cmocka_unit_test (a_damaged_index_is_reported_once_with_all_its_tiles),
    cmocka_unit_test (an_array_that_is_the_store_is_named_by_its_uri),
    cmocka_unit_test (a_sound_array_is_counted),
    cmocka_unit_test (tiles_not_stored_are_missing_and_no_damage),
    cmocka_unit_test (random_arrays_are_sound),
    cmocka_unit_test (a_shard_that_was_replaced_is_read_by_its_own_index),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
