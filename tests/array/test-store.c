/* SPDX-License-Identifier: MIT */
/* Opening stores and arrays: what kind of hierarchy it is, versions, old
 * formats, missing and illegal paths, and what closing leaves usable. */
#include <config.h>

#include "tests/unit.h"

#include "src/array/array.h"

static struct rd_io *
open_io (const char *key, const char *text)
{
  struct rd_io *io = NULL;
  assert_ok (rd_io_open ("memory:", true, &io));
  if (key)
    assert_ok (rd_io_put (io, key, text, strlen (text), RD_PUT_REPLACE));
  return io;
}

static enum radio_status
open_with (const char *key, const char *text, struct radio_store **store)
{
  return rd_store_open_io (open_io (key, text), NULL, store);
}

static struct radio_store *
new_store (void)
{
  struct radio_store *store = NULL;
  assert_ok (radio_store_open ("memory:", NULL, &store));
  return store;
}

#define GROUP "{\"zarr_format\": 3, \"node_type\": \"group\""

static void
a_new_store_is_made_as_radio_s (void **state)
{
  (void) state;
  struct radio_store *store = new_store ();
  assert_true (store->is_radio);
  assert_false (store->is_array);
  RD_CLEANUP (rd_cleanup_json) struct json_object *document = NULL;
  assert_ok (rd_store_read_document (store, "", &document));
  bool is_radio = false;
  assert_ok (rd_store_check_version (rd_json_member (document, "attributes"),
                                     "zarr.json", &is_radio));
  assert_true (is_radio);
  radio_store_close (store);
}

static void
nothing_is_created_without_the_option (void **state)
{
  struct radio_store *store = NULL;
  (void) state;
  assert_fails (open_with (NULL, NULL, &store), RADIO_ERROR_NOT_FOUND,
                "there is no zarr.json");
  assert_null (store);
}

static void
someone_elses_group_opens (void **state)
{
  struct radio_store *store = NULL;
  (void) state;
  assert_ok (open_with ("zarr.json", GROUP "}", &store));
  assert_false (store->is_radio);
  radio_store_close (store);
}

static void
an_older_minor_version_opens_and_a_newer_major_does_not (void **state)
{
  struct radio_store *store = NULL;
  (void) state;
  assert_ok (open_with ("zarr.json", GROUP ", \"attributes\": "
                        "{\"radio\": {\"version\": \"1.7\"}}}", &store));
  assert_true (store->is_radio);
  radio_store_close (store);
  assert_fails (open_with ("zarr.json", GROUP ", \"attributes\": "
                           "{\"radio\": {\"version\": \"2.0\"}}}", &store),
                RADIO_ERROR_UNSUPPORTED, "newer radio (format 2.0");
}

static void
a_version_that_is_none_is_refused (void **state)
{
  static const char *const wrong[] = {
    "\"\"", "\"one\"", "\"-1\"", "\"1x\"", "1", "null",
    "\"99999999999999999999999\"",
  };
  (void) state;
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    struct radio_store *store = NULL;
    char text[256];
    snprintf (text, sizeof text, GROUP ", \"attributes\": "
              "{\"radio\": {\"version\": %s}}}", wrong[i]);
    assert_fails (open_with ("zarr.json", text, &store),
                  RADIO_ERROR_FORMAT, "zarr.json");
    assert_non_null (strstr (radio_error_message (), "version"));
  }
}

static void
zarr_version_2_is_refused_in_words (void **state)
{
  struct radio_store *store = NULL;
  (void) state;
  assert_fails (open_with (".zgroup", "{\"zarr_format\": 2}", &store),
                RADIO_ERROR_UNSUPPORTED, "Zarr version 2");
  assert_fails (open_with (".zarray", "{\"zarr_format\": 2}", &store),
                RADIO_ERROR_UNSUPPORTED, "Zarr version 2");
}

static void
a_broken_root_is_refused_with_its_name (void **state)
{
  static const char *const broken[] = {
    "", "{", "[]", "{}", "{\"zarr_format\": 3}", "null",
    GROUP ", \"attributes\": 3}", GROUP ", \"attributes\": {\"radio\": 1}}",
  };
  (void) state;
  for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
    struct radio_store *store = NULL;
    assert_fails (open_with ("zarr.json", broken[i], &store),
                  RADIO_ERROR_FORMAT, "zarr.json");
    assert_null (store);
  }
}

static const struct radio_array_options small = {
  .rank = 1, .shape = { 10 }, .chunk_shape = { 4 }, .data_type = "uint8",
};

static void
an_array_and_the_groups_above_it_are_made (void **state)
{
  struct radio_array *array = NULL;
  (void) state;
  struct radio_store *store = new_store ();
  assert_ok (radio_array_create (store, "a/b/c", &small, &array));
  radio_array_close (array);
  assert_ok (radio_array_open (store, "a/b/c", &array));
  radio_array_close (array);
  static const char *const groups[] = { "a", "a/b" };
  for (size_t i = 0; i < 2; i++) {
    RD_CLEANUP (rd_cleanup_json) struct json_object *document = NULL;
    enum rd_node_type node;
    assert_ok (rd_store_read_document (store, groups[i], &document));
    assert_ok (rd_document_node (document, groups[i], &node));
    assert_int_equal (node, RD_NODE_GROUP);
  }
  radio_store_close (store);
}

static void
existing_stores_are_not_created_again (void **state)
{
  struct radio_array *array = NULL, *other = NULL;
  (void) state;
  struct radio_store *store = new_store ();
  assert_ok (radio_array_create (store, "a/b", &small, &array));
  assert_fails (radio_array_create (store, "a/b", &small, &other),
                RADIO_ERROR_EXISTS, "a/b");
  assert_fails (radio_array_create (store, "a", &small, &other),
                RADIO_ERROR_EXISTS, "a");
  assert_fails (radio_array_create (store, "a/b/c", &small, &other),
                RADIO_ERROR_EXISTS, "a/b: an array");
  assert_null (other);
  radio_array_close (array);
  radio_store_close (store);
}

static void
the_root_may_be_an_array (void **state)
{
  (void) state;
  struct radio_store *store = NULL;
  assert_ok (open_with ("zarr.json",
    "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[3],"
    "\"data_type\":\"uint8\",\"chunk_grid\":{\"name\":\"regular\","
    "\"configuration\":{\"chunk_shape\":[2]}},\"chunk_key_encoding\":"
    "{\"name\":\"default\"},\"fill_value\":9,\"codecs\":"
    "[{\"name\":\"bytes\"}]}", &store));
  assert_true (store->is_array);
  struct radio_array *array = NULL, *other = NULL;
  assert_ok (radio_array_open (store, "", &array));
  const struct radio_box box = { 1, { 0 }, { 3 } };
  unsigned char read[3];
  assert_ok (radio_array_write (array, &(struct radio_box) { 1, { 0 }, { 2 } },
                                "ab", 2));
  assert_ok (radio_array_read (array, &box, RADIO_STORED, read, 3, NULL));
  assert_memory_equal (read, "ab\x09", 3);
  assert_fails (radio_array_create (store, "x", &small, &other),
                RADIO_ERROR_EXISTS, ": an array");
  radio_array_close (array);
  radio_store_close (store);
}

/* A document of 10 elements, of which each chunk holds two. */
#define DOCUMENT(codecs)                                                 \
  "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[10],"          \
  "\"data_type\":\"uint8\",\"chunk_grid\":{\"name\":\"regular\","         \
  "\"configuration\":{\"chunk_shape\":[2]}},\"chunk_key_encoding\":"    \
  "{\"name\":\"default\"},\"fill_value\":9,\"codecs\":[" codecs "]}"

static void
an_array_is_opened_by_its_document (void **state)
{
  static const char text[] = DOCUMENT ("{\"name\":\"bytes\"}");
  static const struct {
    const char *path, *text;
    enum radio_status status;
    const char *message;
  } wrong[] = {
    { "a//b", text, RADIO_ERROR_ARGUMENT, "a//b" },
    { "a", "{\"zarr_format\":3,", RADIO_ERROR_FORMAT, "the given zarr.json" },
    { "a", "null", RADIO_ERROR_FORMAT, "the given zarr.json" },
    { "a", "{\"zarr_format\":3,\"node_type\":\"group\"}", RADIO_ERROR_FORMAT,
      "a group" },
    { "a", DOCUMENT ("{\"name\":\"bytes\"},{\"name\":\"zfp\"}"),
      RADIO_ERROR_UNSUPPORTED, "zfp" },
  };
  const struct radio_box box = { 1, { 0 }, { 4 } };
  struct radio_array *array = NULL, *other = NULL;
  unsigned char read[4];
  (void) state;
  struct radio_store *store = new_store ();
  assert_ok (radio_array_open_document (store, "a/b", text, strlen (text),
                                        &array));
  assert_ok (radio_array_write (array, &(struct radio_box) { 1, { 0 }, { 2 } },
                                "ab", 2));
  /* It was not stored, and an array that is gone has no fill values. */
  assert_fails (radio_array_read (array, &box, RADIO_STORED, read, 4, NULL),
                RADIO_ERROR_NOT_FOUND, "removed");
  assert_ok (radio_array_create (store, "a/b", &small, &other));
  radio_array_close (other);
  other = NULL;
  assert_ok (radio_array_read (array, &box, RADIO_STORED, read, 4, NULL));
  assert_memory_equal (read, "ab\x09\x09", 4);
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    assert_fails (radio_array_open_document (
      store, wrong[i].path, wrong[i].text, strlen (wrong[i].text), &other),
      wrong[i].status, wrong[i].message);
  assert_null (other);
  radio_array_close (array);
  radio_store_close (store);
}

static void
illegal_paths_are_refused (void **state)
{
  static const char *const illegal[] = {
    "/a", "a/", "a//b", "..", "a/../b", ".", "a/./b", "...",
  };
  struct radio_array *array = NULL;
  (void) state;
  struct radio_store *store = new_store ();
  for (size_t i = 0; i < sizeof illegal / sizeof illegal[0]; i++) {
    assert_fails (radio_array_open (store, illegal[i], &array),
                  RADIO_ERROR_ARGUMENT, illegal[i]);
    assert_fails (radio_array_create (store, illegal[i], &small, &array),
                  RADIO_ERROR_ARGUMENT, illegal[i]);
  }
  assert_fails (radio_array_create (store, "__x", &small, &array),
                RADIO_ERROR_ARGUMENT, "__x");
  assert_fails (radio_array_create (store, "a/zarr.json", &small, &array),
                RADIO_ERROR_ARGUMENT, "zarr.json");
  char deep[2000];
  memset (deep, 'a', sizeof deep);
  deep[sizeof deep - 1] = '\0';
  assert_fails (radio_array_open (store, deep, &array),
                RADIO_ERROR_ARGUMENT, "1999 bytes");
  radio_store_close (store);
}

static void
a_missing_array_is_not_found (void **state)
{
  struct radio_array *array = NULL;
  (void) state;
  struct radio_store *store = new_store ();
  assert_fails (radio_array_open (store, "no/where", &array),
                RADIO_ERROR_NOT_FOUND, "no/where");
  assert_ok (rd_io_put (store->io, "old/.zarray", "{}", 2, RD_PUT_REPLACE));
  assert_fails (radio_array_open (store, "old", &array),
                RADIO_ERROR_UNSUPPORTED, "Zarr version 2");
  radio_store_close (store);
}

static void
a_group_is_no_array (void **state)
{
  struct radio_array *array = NULL;
  (void) state;
  struct radio_store *store = new_store ();
  enum radio_status status = radio_array_open (store, "", &array);
  assert_int_not_equal (status, RADIO_OK);
  assert_null (array);
  radio_store_close (store);
}

static void
info_returns_the_options (void **state)
{
  static const char *const names[] = { "z", NULL };
  const struct radio_array_options options = {
    .rank = 2, .shape = { 10, 20 }, .chunk_shape = { 4, 8 },
    .data_type = "uint16", .attributes_json = "{\"a\":[1,2]}",
    .dimension_names = names,
  };
  struct radio_array *array = NULL;
  struct radio_array_info info;
  (void) state;
  struct radio_store *store = new_store ();
  assert_ok (radio_array_create (store, "x", &options, &array));
  radio_array_close (array);
  assert_ok (radio_array_open (store, "x", &array));
  radio_store_close (store);          /* the array goes on without it */
  radio_array_get_info (array, &info);
  assert_int_equal (info.rank, 2);
  assert_int_equal (info.shape[1], 20);
  assert_int_equal (info.chunk_shape[0], 4);
  assert_int_equal (info.tile_shape[1], 8);
  assert_int_equal (info.dtype, RADIO_UINT16);
  assert_int_equal (info.item_nbytes, 2);
  assert_false (info.sharded);
  assert_string_equal (info.attributes_json, "{\"a\":[1,2]}");
  assert_string_equal (info.dimension_names[0], "z");
  assert_null (info.dimension_names[1]);
  assert_non_null (strstr (info.codecs, "zstd 3"));
  assert_non_null (strstr (info.codecs_json, "\"zstd\""));
  const struct radio_box box = { 2, { 9, 19 }, { 1, 1 } };
  uint16_t value = 1;
  assert_ok (radio_array_read (array, &box, RADIO_STORED, &value,
                               sizeof value, NULL));
  assert_int_equal (value, 0);
  radio_array_close (array);
}

static void
closing_nothing_is_legal (void **state)
{
  (void) state;
  radio_array_close (NULL);
  radio_store_close (NULL);
  radio_context_close (NULL);
}

static void
null_is_refused_by_name (void **state)
{
  struct radio_array *array = NULL;
  struct radio_store *store = NULL;
  (void) state;
  assert_fails (radio_store_open (NULL, NULL, &store), RADIO_ERROR_ARGUMENT,
                "uri");
  assert_fails (radio_store_open ("memory:", NULL, NULL),
                RADIO_ERROR_ARGUMENT, "store");
  assert_fails (radio_context_open (NULL, NULL), RADIO_ERROR_ARGUMENT,
                "context");
  assert_fails (radio_array_open (NULL, "x", &array), RADIO_ERROR_ARGUMENT,
                "store");
  assert_fails (radio_array_open_document (NULL, "x", "", 0, &array),
                RADIO_ERROR_ARGUMENT, "store");
  assert_fails (radio_array_read (NULL, NULL, RADIO_STORED, NULL, 0, NULL),
                RADIO_ERROR_ARGUMENT, "array");
  assert_fails (radio_array_write (NULL, NULL, NULL, 0),
                RADIO_ERROR_ARGUMENT, "array");
  assert_fails (radio_array_check (NULL, NULL, NULL, NULL),
                RADIO_ERROR_ARGUMENT, "array");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_new_store_is_made_as_radio_s),
    cmocka_unit_test (nothing_is_created_without_the_option),
    cmocka_unit_test (someone_elses_group_opens),
    cmocka_unit_test (
      an_older_minor_version_opens_and_a_newer_major_does_not),
    cmocka_unit_test (a_version_that_is_none_is_refused),
    cmocka_unit_test (zarr_version_2_is_refused_in_words),
    cmocka_unit_test (a_broken_root_is_refused_with_its_name),
    cmocka_unit_test (an_array_and_the_groups_above_it_are_made),
    cmocka_unit_test (existing_stores_are_not_created_again),
    cmocka_unit_test (the_root_may_be_an_array),
    cmocka_unit_test (an_array_is_opened_by_its_document),
    cmocka_unit_test (illegal_paths_are_refused),
    cmocka_unit_test (a_missing_array_is_not_found),
    cmocka_unit_test (a_group_is_no_array),
    cmocka_unit_test (info_returns_the_options),
    cmocka_unit_test (closing_nothing_is_legal),
    cmocka_unit_test (null_is_refused_by_name),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
