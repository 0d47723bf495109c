/* SPDX-License-Identifier: MIT */
/* Documents of every data type with every codec, in shards and without, with
 * transposed axes and without: what was parsed is written, and parses to the
 * same again.  And every string of a document with a NUL character in it. */
#include <config.h>

#include "tests/unit.h"

#include "src/base/buffer.h"
#include "src/zarr/document.h"

#define JSON RD_CLEANUP (rd_cleanup_json)
#define ARRAY RD_CLEANUP (rd_cleanup_array_doc)
#define GROUP RD_CLEANUP (rd_cleanup_group_doc)

#define TEXT_NBYTES 4096

/* Append text, with " for '. */
static void
put (char *text, const char *more)
{
  size_t n = strlen (text);

  assert_true (n + strlen (more) < TEXT_NBYTES);
  for (; *more; more++)
    text[n++] = (char) (*more == '\'' ? '"' : *more);
  text[n] = '\0';
}

static const struct { const char *name, *fill; } types[] = {
  { "bool", "true" },
  { "int8", "-128" },
  { "int16", "-32768" },
  { "int32", "-2147483648" },
  { "int64", "-9223372036854775808" },
  { "uint8", "255" },
  { "uint16", "65535" },
  { "uint32", "4294967295" },
  { "uint64", "18446744073709551615" },
  { "float16", "'0x7e01'" },
  { "float32", "'NaN'" },
  { "float64", "5e-324" },
  { "complex64", "['-Infinity', 0.1]" },
  { "complex128", "['0xfff8000000000001', -0.0]" },
  { "r8", "[255]" },
  { "r24", "[1, 2, 3]" },
  { "string", "'\\u0000 n/a \xc3\xbc\\n'" },
};

#define NTYPES (sizeof types / sizeof types[0])

/* The codecs that may follow "bytes". */
static const char *const tails[] = {
  "",
  ", 'crc32c'",
  ", {'name': 'crc32c', 'configuration': {}}",
  ", {'name': 'zstd', 'configuration': {'level': -131072}}",
  ", {'name': 'zstd', 'configuration': {'level': 22, 'checksum': true}}",
  ", {'name': 'gzip', 'configuration': {'level': 0}}, {'name': 'crc32c'}",
  ", {'name': 'gzip', 'configuration': {'level': 9}}",
  ", {'name': 'blosc', 'configuration': {'cname': 'blosclz', 'clevel': 0,"
  " 'shuffle': 'noshuffle'}}",
  ", {'name': 'blosc', 'configuration': {'cname': 'lz4', 'clevel': 5,"
  " 'shuffle': 'bitshuffle', 'typesize': 2, 'blocksize': 0}}, 'crc32c'",
  ", {'name': 'blosc', 'configuration': {'cname': 'lz4hc', 'clevel': 9,"
  " 'shuffle': 'shuffle', 'typesize': 255, 'blocksize': 4096}}",
  ", {'name': 'blosc', 'configuration': {'cname': 'snappy', 'clevel': 1,"
  " 'shuffle': 'shuffle', 'typesize': 1}}",
  ", {'name': 'blosc', 'configuration': {'cname': 'zlib', 'clevel': 3,"
  " 'shuffle': 'noshuffle', 'typesize': 8}}",
  ", {'name': 'blosc', 'configuration': {'cname': 'zstd', 'clevel': 7,"
  " 'shuffle': 'bitshuffle', 'typesize': 4}}, {'name': 'zstd',"
  " 'configuration': {'level': 0, 'checksum': false}}",
};

#define NTAILS (sizeof tails / sizeof tails[0])

/* How the chunk becomes bytes. */
enum shards { PLAIN, AT_END, AT_START, NESTED, NSHARDS };

/* One document of the matrix. */
struct entry {
  size_t type, tail;
  enum shards shards;
  bool transposed;
};

static void
put_bytes (char *text, const struct entry *entry)
{
  struct rd_type type;

  assert_ok (rd_type_parse (types[entry->type].name, &type));
  if (type.dtype == RADIO_STRING)
    put (text, "{'name': 'vlen-utf8'}");
  else if (type.unit_nbytes == 1)
    put (text, "{'name': 'bytes'}");
  else if (entry->tail % 2)
    put (text, "{'name': 'bytes', 'configuration': {'endian': 'big'}}");
  else
    put (text, "{'name': 'bytes', 'configuration': {'endian': 'little'}}");
  put (text, tails[entry->tail]);
}

/* The shard's part up to the codecs within it, and what follows them. */
static void
put_shard (char *text, const char *chunk_shape)
{
  put (text, "{'name': 'sharding_indexed', 'configuration':"
       " {'chunk_shape': ");
  put (text, chunk_shape);
  put (text, ", 'codecs': [");
}

static void
put_shard_end (char *text, const char *location)
{
  put (text, "], 'index_codecs': [{'name': 'bytes', 'configuration':"
       " {'endian': 'little'}}, 'crc32c']");
  put (text, location);
  put (text, "}}");
}

static void
put_codecs (char *text, const struct entry *entry)
{
  const char *outer = entry->transposed ? "[6, 4, 4]" : "[4, 4, 6]";
  const char *inner = entry->transposed ? "[3, 2, 4]" : "[2, 4, 3]";

  put (text, "[");
  if (entry->transposed)
    put (text, "{'name': 'transpose', 'configuration': {'order':"
         " [2, 0, 1]}}, ");
  if (entry->shards == NESTED)
    put_shard (text, outer);
  if (entry->shards != PLAIN)
    put_shard (text, inner);
  put_bytes (text, entry);
  if (entry->shards != PLAIN)
    put_shard_end (text, entry->shards == AT_START
                   ? ", 'index_location': 'start'" : "");
  if (entry->shards == NESTED)
    put_shard_end (text, ", 'index_location': 'end'");
  put (text, "]");
}

static const char *const keys[] = {
  "'default'",
  "{'name': 'default', 'configuration': {'separator': '.'}}",
  "{'name': 'v2'}",
  "{'name': 'v2', 'configuration': {'separator': '/'}}",
};

static void
put_document (char *text, const struct entry *entry)
{
  put (text, "{'zarr_format': 3, 'node_type': 'array', 'shape': [10, 0, 7],"
       " 'data_type': '");
  put (text, types[entry->type].name);
  put (text, "', 'chunk_grid': {'name': 'regular', 'configuration':"
       " {'chunk_shape': [4, 8, 6]}}, 'chunk_key_encoding': ");
  put (text, keys[entry->tail % 4]);
  put (text, ", 'fill_value': ");
  put (text, types[entry->type].fill);
  put (text, ", 'codecs': ");
  put_codecs (text, entry);
  if (entry->type % 2)
    put (text, ", 'dimension_names': ['', null, 'a/\\\\b']");
  if (entry->type % 3)
    put (text, ", 'attributes': {'a': [NaN, 1e300, {'b': null}]}");
  put (text, "}");
}

static struct rd_array_doc *
parse (const char *text)
{
  JSON struct json_object *document = NULL;
  struct rd_array_doc *doc = NULL;

  assert_ok (rd_json_parse (text, strlen (text), "a", &document));
  if (rd_array_doc_parse (document, "a", &doc) != RADIO_OK)
    fail_msg ("%s: %s", radio_error_message (), text);
  return doc;
}

static void assert_same_chain (const struct rd_chain *a,
                               const struct rd_chain *b);

static void
assert_same_codec (const struct rd_codec *a, const struct rd_codec *b)
{
  assert_int_equal (a->id, b->id);
  if (a->id != RD_CODEC_SHARDING) {
    /* Unused bytes of the union were zeroed in both. */
    assert_memory_equal (&a->u, &b->u, sizeof a->u);
    return;
  }
  assert_int_equal (a->u.sharding.index_at_start,
                    b->u.sharding.index_at_start);
  assert_memory_equal (a->u.sharding.chunk_shape, b->u.sharding.chunk_shape,
                       sizeof a->u.sharding.chunk_shape);
  assert_same_chain (a->u.sharding.inner, b->u.sharding.inner);
  assert_same_chain (a->u.sharding.index, b->u.sharding.index);
}

static void
assert_same_chain (const struct rd_chain *a, const struct rd_chain *b)
{
  assert_int_equal (a->n, b->n);
  assert_int_equal (a->n_array, b->n_array);
  for (size_t i = 0; i < a->n; i++)
    assert_same_codec (&a->codecs[i], &b->codecs[i]);
}

static void
assert_same_names (const struct rd_array_doc *a,
                   const struct rd_array_doc *b)
{
  assert_int_equal (a->has_dimension_names, b->has_dimension_names);
  for (size_t i = 0; i < a->rank; i++) {
    const char *name = a->dimension_names[i];
    assert_int_equal (name == NULL, b->dimension_names[i] == NULL);
    if (name)
      assert_string_equal (name, b->dimension_names[i]);
  }
}

static void
assert_same (const struct rd_array_doc *a, const struct rd_array_doc *b)
{
  assert_int_equal (a->rank, b->rank);
  assert_memory_equal (a->shape, b->shape, sizeof a->shape);
  assert_memory_equal (a->chunk_shape, b->chunk_shape,
                       sizeof a->chunk_shape);
  assert_memory_equal (a->tile_shape, b->tile_shape, sizeof a->tile_shape);
  assert_int_equal (a->type.dtype, b->type.dtype);
  assert_int_equal (a->type.item_nbytes, b->type.item_nbytes);
  if (a->type.dtype != RADIO_STRING)
    assert_memory_equal (a->fill, b->fill, a->type.item_nbytes);
  assert_null (rd_array_doc_difference (a, b));
  assert_int_equal (a->keys_v2, b->keys_v2);
  assert_int_equal (a->separator, b->separator);
  assert_same_chain (a->chain, b->chain);
  assert_same_names (a, b);
}

/* The tile shape is in the array's axes, transposed or not. */
static void
assert_tiles (const struct rd_array_doc *doc, const struct entry *entry)
{
  static const uint64_t chunk[] = { 4, 8, 6 }, tile[] = { 2, 4, 3 };

  assert_memory_equal (doc->tile_shape,
                       entry->shards == PLAIN ? chunk : tile, sizeof tile);
  assert_int_equal (doc->chain->n_array, entry->transposed);
}

static void
try_entry (const struct entry *entry)
{
  char text[TEXT_NBYTES] = "";
  JSON struct json_object *first = NULL, *second = NULL;
  size_t n, m;

  put_document (text, entry);
  ARRAY struct rd_array_doc *a = parse (text);
  assert_tiles (a, entry);
  assert_ok (rd_array_doc_write (a, &first));
  const char *written = rd_document_text (first, &n);
  ARRAY struct rd_array_doc *b = parse (written);
  assert_same (a, b);
  assert_ok (rd_array_doc_write (b, &second));
  assert_string_equal (rd_document_text (second, &m), written);
  assert_int_equal (n, m);
}

static void
every_type_and_codec_is_written_and_read_the_same (void **state)
{
  (void) state;
  for (size_t type = 0; type < NTYPES; type++)
    for (size_t tail = 0; tail < NTAILS; tail++) {
      /* Each way with each type and with each tail, not with each pair. */
      enum shards shards = (enum shards) ((type + tail) % NSHARDS);
      /* Strings are in no shard within another, or that is transposed. */
      bool is_text = strcmp (types[type].name, "string") == 0;
      if (shards == NESTED && is_text)
        shards = AT_END;
      try_entry (&(struct entry) { type, tail, shards, false });
      if (shards == PLAIN || !is_text)
        try_entry (&(struct entry) { type, tail, shards, true });
    }
}

static void
fill_values_of_strings_differ_by_their_bytes (void **state)
{
  (void) state;
  static const char *const fills[] = { "''", "'a'", "'b'", "'a\\u0000'" };
  for (size_t i = 0; i < 4; i++)
    for (size_t k = 0; k < 4; k++) {
      char x[TEXT_NBYTES] = "", y[TEXT_NBYTES] = "";
      char *const texts[] = { x, y };
      for (size_t j = 0; j < 2; j++) {
        put (texts[j], "{'zarr_format': 3, 'node_type': 'array', 'shape': [4],"
             " 'data_type': 'string', 'chunk_grid': {'name': 'regular',"
             " 'configuration': {'chunk_shape': [4]}}, 'chunk_key_encoding':"
             " 'default', 'codecs': ['vlen-utf8'], 'fill_value': ");
        put (texts[j], fills[j ? k : i]);
        put (texts[j], "}");
      }
      ARRAY struct rd_array_doc *a = parse (x);
      ARRAY struct rd_array_doc *b = parse (y);
      const char *difference = rd_array_doc_difference (a, b);
      if (i == k)
        assert_null (difference);
      else
        assert_string_equal (difference, "fill_value");
    }
}

/* Insert a NUL character at the end of the nth string that is a value.
 * False when there are fewer. */
static bool
insert_nul (const char *text, size_t nth, struct rd_buffer *changed)
{
  size_t n = 0;

  for (const char *p = strchr (text, '"'); p; p = strchr (p + 1, '"')) {
    const char *end = strchr (p + 1, '"');
    assert_non_null (end);
    p = end;
    if (end[1] == ':' || n++ < nth)
      continue;
    changed->nbytes = 0;
    assert_ok (rd_buffer_append (changed, text, (size_t) (end - text)));
    assert_ok (rd_buffer_append (changed, "\\u0000", 6));
    assert_ok (rd_buffer_append (changed, end, strlen (end) + 1));
    return true;
  }
  return false;
}

/* Every kind of string that an array's document can have. */
static const char strings[] =
  "{'zarr_format': 3, 'node_type': 'array', 'shape': [4, 4], 'data_type':"
  " {'name': 'float32'}, 'chunk_grid': {'name': 'regular', 'configuration':"
  " {'chunk_shape': [4, 4]}}, 'chunk_key_encoding': {'name': 'default',"
  " 'configuration': {'separator': '/'}}, 'fill_value': 'NaN', 'codecs':"
  " [{'name': 'bitround', 'must_understand': false}, {'name':"
  " 'sharding_indexed', 'configuration': {'chunk_shape': [2, 2], 'codecs':"
  " [{'name': 'transpose', 'configuration': {'order': [1, 0]}}, {'name':"
  " 'bytes', 'configuration': {'endian': 'big'}}, {'name': 'blosc',"
  " 'configuration': {'cname': 'lz4', 'clevel': 5, 'shuffle': 'shuffle',"
  " 'typesize': 4}}, {'name': 'zstd', 'configuration': {'level': 1}},"
  " {'name': 'gzip', 'configuration': {'level': 1}}, 'crc32c'],"
  " 'index_codecs': [{'name': 'bytes', 'configuration': {'endian':"
  " 'little'}}, 'crc32c'], 'index_location': 'start'}}],"
  " 'storage_transformers': [{'name': 'x', 'must_understand': false}],"
  " 'dimension_names': ['y', 'x']}";

static void
a_nul_character_in_any_string_of_an_array_is_refused (void **state)
{
  (void) state;
  char text[TEXT_NBYTES] = "";
  RD_BUFFER_SCOPE struct rd_buffer changed = { 0 };
  size_t n = 0;
  put (text, strings);
  rd_array_doc_free (parse (text));
  for (; insert_nul (text, n, &changed); n++) {
    JSON struct json_object *document = NULL;
    struct rd_array_doc *doc = NULL;
    const char *json = (const char *) changed.data;
    assert_ok (rd_json_parse (json, strlen (json), "a", &document));
    assert_fails (rd_array_doc_parse (document, "a", &doc),
                  RADIO_ERROR_FORMAT, "NUL character");
  }
  assert_int_equal (n, 24);
}

static void
a_nul_character_in_any_string_of_a_group_is_refused (void **state)
{
  (void) state;
  char text[TEXT_NBYTES] = "";
  RD_BUFFER_SCOPE struct rd_buffer changed = { 0 };
  size_t n = 0;
  put (text, "{'zarr_format': 3, 'node_type': 'group',"
       " 'consolidated_metadata': {'kind': 'inline', 'metadata': {}}}");
  for (; insert_nul (text, n, &changed); n++) {
    JSON struct json_object *document = NULL;
    struct rd_group_doc *doc = NULL;
    const char *json = (const char *) changed.data;
    assert_ok (rd_json_parse (json, strlen (json), "a", &document));
    assert_fails (rd_group_doc_parse (document, "a", &doc),
                  RADIO_ERROR_FORMAT, "NUL character");
  }
  assert_int_equal (n, 2);
}

/* They mean nothing to the library, and are given on as they are. */
static void
attributes_may_hold_nul_characters (void **state)
{
  (void) state;
  static const char text[] =
    "{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":"
    "{\"a\":\"x\\u0000y\"}}";
  JSON struct json_object *document = NULL, *written = NULL;
  GROUP struct rd_group_doc *doc = NULL;
  size_t n;
  assert_ok (rd_json_parse (text, strlen (text), "a", &document));
  assert_ok (rd_group_doc_parse (document, "a", &doc));
  assert_ok (rd_group_doc_write (doc->attributes, NULL, &written));
  assert_non_null (strstr (rd_document_text (written, &n), "x\\u0000y"));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_type_and_codec_is_written_and_read_the_same),
    cmocka_unit_test (fill_values_of_strings_differ_by_their_bytes),
    cmocka_unit_test (a_nul_character_in_any_string_of_an_array_is_refused),
    cmocka_unit_test (a_nul_character_in_any_string_of_a_group_is_refused),
    cmocka_unit_test (attributes_may_hold_nul_characters),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
