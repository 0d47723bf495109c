/* SPDX-License-Identifier: MIT */
/* Every call of json-c that may want memory fails once: documents say so
 * then, and lose nothing.  What json-c does when an allocation fails within
 * a call of its parser is its own. */
#include <config.h>

#include "tests/unit.h"

#include <radio/array.h>

#include "src/base/error.h"
#include "src/volume/codec.h"
#include "src/zarr/document.h"

#define JSON RD_CLEANUP (rd_cleanup_json)
#define ARRAY RD_CLEANUP (rd_cleanup_array_doc)

static struct { size_t nth, count; } calls;

static bool
must_fail (void)
{
  return ++calls.count == calls.nth;
}

/* The linker sends the library's calls here (--wrap). */
#define WRAP(type, failure, name, parameters, arguments)                \
  type __real_##name parameters;                                        \
  type __wrap_##name parameters;                                        \
  type __wrap_##name parameters                                         \
  {                                                                     \
    return must_fail () ? failure : __real_##name arguments;            \
  }

#define WRAP_NEW(name, parameters, arguments)                           \
  WRAP (struct json_object *, NULL, name, parameters, arguments)

WRAP_NEW (json_object_new_array, (void), ())
WRAP_NEW (json_object_new_object, (void), ())
WRAP_NEW (json_object_new_boolean, (json_bool value), (value))
WRAP_NEW (json_object_new_int, (int32_t value), (value))
WRAP_NEW (json_object_new_int64, (int64_t value), (value))
WRAP_NEW (json_object_new_uint64, (uint64_t value), (value))
WRAP_NEW (json_object_new_string, (const char *text), (text))
WRAP_NEW (json_object_new_double_s, (double value, const char *text),
          (value, text))
WRAP (struct json_tokener *, NULL, json_tokener_new_ex, (int depth), (depth))
WRAP (int, -1, json_object_array_add,
      (struct json_object *list, struct json_object *value), (list, value))
WRAP (int, -1, json_object_array_put_idx,
      (struct json_object *list, size_t i, struct json_object *value),
      (list, i, value))
WRAP (int, -1, json_object_object_add,
      (struct json_object *object, const char *member,
       struct json_object *value), (object, member, value))
WRAP (int, -1, json_object_deep_copy,
      (struct json_object *from, struct json_object **to,
       json_c_shallow_copy_fn *copy), (from, to, copy))
WRAP (const char *, NULL, json_object_to_json_string_length,
      (struct json_object *object, int flags, size_t *length),
      (object, flags, length))
WRAP (const char *, NULL, json_object_to_json_string_ext,
      (struct json_object *object, int flags), (object, flags))

typedef enum radio_status operation (const void *with);

/* Let one call after the other fail, until none is left; some failures need
 * not matter. */
static void
try_all (operation *op, const void *with)
{
  size_t nfailures = 0;
  for (size_t nth = 1;; nth++) {
    calls.nth = nth;
    calls.count = 0;
    enum radio_status status = op (with);
    bool failed = calls.count >= nth;
    calls.nth = 0;
    if (status != RADIO_OK) {
      assert_fails (status, RADIO_ERROR_MEMORY, "out of memory");
      assert_true (failed);
      nfailures++;
    }
    if (!failed)
      break;
    assert_true (nth < 1000);
  }
  assert_true (nfailures > 0);
}

static struct json_object *
parse (const char *text)
{
  struct json_object *value = NULL;
  assert_ok (rd_json_parse (text, strlen (text), "x", &value));
  return value;
}

#define BYTES "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}}"
#define SHARDS "{\"name\":\"sharding_indexed\",\"configuration\":"        \
               "{\"chunk_shape\":[2,2],\"codecs\":[" BYTES ",\"crc32c\"]," \
               "\"index_codecs\":[" BYTES ",\"crc32c\"]}}"

static const char document_text[] =
  "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[4,6],"
  "\"data_type\":\"complex64\",\"chunk_grid\":{\"name\":\"regular\","
  "\"configuration\":{\"chunk_shape\":[4,2]}},\"chunk_key_encoding\":"
  "{\"name\":\"default\"},\"fill_value\":[0.1,\"NaN\"],\"codecs\":[" SHARDS
  ",\"crc32c\"],\"attributes\":{\"a\":0.5},\"dimension_names\":[\"y\","
  "null]}";

static enum radio_status
do_parse (const void *with)
{
  JSON struct json_object *value = NULL;
  return rd_json_parse (with, strlen (with), "x", &value);
}

static void
a_parser_without_memory_reports_it (void **state)
{
  (void) state;
  try_all (do_parse, document_text);
}

static enum radio_status
do_write_array (const void *with)
{
  JSON struct json_object *made = NULL;
  size_t nbytes;
  RD_TRY (rd_array_doc_write (with, &made));
  return rd_document_text (made, &nbytes) ? RADIO_OK : RADIO_ERROR_MEMORY;
}

static void
a_document_without_memory_is_not_written (void **state)
{
  (void) state;
  JSON struct json_object *document = parse (document_text);
  ARRAY struct rd_array_doc *doc = NULL;
  assert_ok (rd_array_doc_parse (document, "x", &doc));
  try_all (do_write_array, doc);
}

static enum radio_status
do_write_group (const void *with)
{
  JSON struct json_object *made = NULL;
  struct json_object *const *parts = with;
  return rd_group_doc_write (parts[0], parts[1], &made);
}

static void
a_group_without_memory_is_not_written (void **state)
{
  (void) state;
  JSON struct json_object *attributes = parse ("{\"a\":1}");
  JSON struct json_object *entries = parse ("{\"b\":{}}");
  struct json_object *const parts[] = { attributes, entries };
  try_all (do_write_group, parts);
}

static enum radio_status
do_write_fill (const void *with)
{
  static const unsigned char element[16] = { 1, 2, 3, 4, 5, 6, 7, 8 };
  JSON struct json_object *value = NULL;
  return rd_fill_write (with, element, &value);
}

static void
fill_values_without_memory_are_not_written (void **state)
{
  (void) state;
  static const char *const names[] = {
    "bool", "int8", "int64", "uint64", "float16", "float64", "complex64",
    "complex128", "r24",
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    struct rd_type type;
    assert_ok (rd_type_parse (names[i], &type));
    try_all (do_write_fill, &type);
  }
}

/* With each data type's own zero, which is made here. */
static enum radio_status
do_create (const void *with)
{
  static const char *const names[] = { "y", NULL };
  const struct radio_array_options options = {
    .rank = 2, .shape = { 4, 6 }, .chunk_shape = { 2, 2 },
    .data_type = with, .dimension_names = names,
    .attributes_json = "{\"a\": 1}",
  };
  struct radio_store *store = NULL;
  struct radio_array *array = NULL;
  const struct radio_context_options alone = { .nthreads = 1 };
  struct radio_context *context;
  RD_TRY (radio_context_open (&alone, &context));
  const struct radio_store_options in = { .context = context };
  enum radio_status status = radio_store_open ("memory:", &in, &store);
  if (status == RADIO_OK)
    status = radio_array_create (store, "a/b", &options, &array);
  radio_array_close (array);
  radio_store_close (store);
  radio_context_close (context);
  return status;
}

static void
arrays_without_memory_are_not_made (void **state)
{
  (void) state;
  static const char *const names[] = { "uint8", "float32", "complex64",
                                       "r16", "bool" };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    try_all (do_create, names[i]);
}

/* The documents of an ingest: a tile's codecs, the array of header bytes. */
static enum radio_status
do_choose (const void *with)
{
  JSON struct json_object *codecs = NULL, *document = NULL;
  const struct rd_type type = rd_type_of (RADIO_INT16);
  const char *name;
  RD_TRY (rd_codec_choose (with, &type, &name, &codecs));
  return rd_header_document (352, RD_HEADER_KEY_V2, &document);
}

static void
volumes_documents_without_memory_are_not_made (void **state)
{
  (void) state;
  try_all (do_choose, "small");
  try_all (do_choose, "none");
  try_all (do_choose, "[" BYTES "]");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_parser_without_memory_reports_it),
    cmocka_unit_test (a_document_without_memory_is_not_written),
    cmocka_unit_test (a_group_without_memory_is_not_written),
    cmocka_unit_test (fill_values_without_memory_are_not_written),
    cmocka_unit_test (arrays_without_memory_are_not_made),
    cmocka_unit_test (volumes_documents_without_memory_are_not_made),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
