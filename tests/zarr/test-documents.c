/* SPDX-License-Identifier: MIT */
/* Documents: those of zarr-python and tensorstore are accepted, each broken
 * rule is refused by name, and written documents read back. */
#include <config.h>

#include "tests/unit.h"

#include "src/zarr/document.h"

#define JSON RD_CLEANUP (rd_cleanup_json)
#define ARRAY RD_CLEANUP (rd_cleanup_array_doc)
#define GROUP RD_CLEANUP (rd_cleanup_group_doc)

/* A plain document, to be changed member by member. */
static const char plain[] =
  "{'zarr_format': 3, 'node_type': 'array', 'shape': [10, 20],"
  " 'data_type': 'int16', 'chunk_grid': {'name': 'regular',"
  " 'configuration': {'chunk_shape': [4, 8]}}, 'chunk_key_encoding':"
  " {'name': 'default'}, 'fill_value': 7, 'codecs': [{'name': 'bytes',"
  " 'configuration': {'endian': 'little'}}]}";

/* JSON with ' for ", so that it can be read here. */
static struct json_object *
parse (const char *text)
{
  RD_FREE_PLAIN char *json = strdup (text);
  struct json_object *value = NULL;

  assert_non_null (json);
  for (char *p = json; *p; p++)
    if (*p == '\'')
      *p = '"';
  assert_ok (rd_json_parse (json, strlen (json), "a/zarr.json", &value));
  return value;
}

/* The plain document with some members set; null text removes one. */
static struct json_object *
changed (const char *member, const char *text)
{
  struct json_object *document = parse (plain);

  if (text)
    json_object_object_add (document, member, parse (text));
  else
    json_object_object_del (document, member);
  return document;
}

static enum radio_status
parse_changed (const char *member, const char *text,
               struct rd_array_doc **doc)
{
  JSON struct json_object *document = changed (member, text);

  return rd_array_doc_parse (document, "a/zarr.json", doc);
}

static void
documents_of_zarr_python_are_taken (void **state)
{
  (void) state;
  JSON struct json_object *document = parse (
    "{'shape': [10, 64, 64], 'data_type': 'int16', 'chunk_grid': {'name':"
    " 'regular', 'configuration': {'chunk_shape': [8, 64, 64]}},"
    " 'chunk_key_encoding': {'name': 'default', 'configuration':"
    " {'separator': '/'}}, 'fill_value': -1024, 'codecs': [{'name':"
    " 'sharding_indexed', 'configuration': {'chunk_shape': [4, 32, 32],"
    " 'codecs': [{'name': 'bytes', 'configuration': {'endian': 'little'}},"
    " {'name': 'zstd', 'configuration': {'level': 0, 'checksum': false}}],"
    " 'index_codecs': [{'name': 'bytes', 'configuration': {'endian':"
    " 'little'}}, {'name': 'crc32c'}], 'index_location': 'end'}}],"
    " 'attributes': {'x': NaN}, 'dimension_names': ['z', 'y', null],"
    " 'zarr_format': 3, 'node_type': 'array', 'storage_transformers': []}");
  ARRAY struct rd_array_doc *doc = NULL;
  assert_ok (rd_array_doc_parse (document, "a", &doc));
  assert_int_equal (doc->rank, 3);
  assert_int_equal (doc->chunk_shape[0], 8);
  assert_int_equal (doc->tile_shape[0], 4);
  assert_int_equal (doc->tile_shape[2], 32);
  int16_t fill = -1024;
  assert_memory_equal (doc->fill, &fill, 2);
  assert_string_equal (doc->dimension_names[0], "z");
  assert_null (doc->dimension_names[2]);
  const struct rd_codec *sharding = &doc->chain->codecs[0];
  assert_int_equal (sharding->id, RD_CODEC_SHARDING);
  assert_false (sharding->u.sharding.index_at_start);
  assert_int_equal (sharding->u.sharding.inner->codecs[1].id,
                    RD_CODEC_ZSTD);
  assert_int_equal (sharding->u.sharding.index->n, 2);
}

static void
documents_of_tensorstore_are_taken (void **state)
{
  (void) state;
  JSON struct json_object *document = parse (
    "{'chunk_grid':{'configuration':{'chunk_shape':[64,64]},'name':"
    "'regular'},'chunk_key_encoding':{'name':'default'},'codecs':[{"
    "'configuration':{'chunk_shape':[32,32],'codecs':[{'configuration':{"
    "'endian':'little'},'name':'bytes'},{'configuration':{'blocksize':0,"
    "'clevel':3,'cname':'zstd','shuffle':'shuffle','typesize':2},'name':"
    "'blosc'}],'index_codecs':[{'configuration':{'endian':'little'},'name':"
    "'bytes'},{'name':'crc32c'}],'index_location':'start'},'name':"
    "'sharding_indexed'}],'data_type':'uint16','dimension_names':['y','x'],"
    "'fill_value':0,'node_type':'array','shape':[100,200],"
    "'zarr_format':3}");
  ARRAY struct rd_array_doc *doc = NULL;
  assert_ok (rd_array_doc_parse (document, "a", &doc));
  const struct rd_codec *sharding = &doc->chain->codecs[0];
  assert_true (sharding->u.sharding.index_at_start);
  const struct rd_codec *blosc = &sharding->u.sharding.inner->codecs[1];
  assert_string_equal (blosc->u.blosc.cname, "zstd");
  assert_int_equal (blosc->u.blosc.shuffle, RD_BLOSC_SHUFFLE);
  assert_int_equal (blosc->u.blosc.typesize, 2);
  assert_int_equal (doc->separator, '/');
}

#define F RADIO_ERROR_FORMAT
#define U RADIO_ERROR_UNSUPPORTED

static const struct {
  const char *member, *text;
  enum radio_status status;
  const char *words;
} refused[] = {
  { "zarr_format", NULL, F, "zarr_format is missing" },
  { "zarr_format", "2", U, "zarr_format is 2" },
  { "zarr_format", "4", U, "zarr_format is 4" },
  { "zarr_format", "3.0", F, "zarr_format is 3.0" },
  { "node_type", NULL, F, "node_type is missing" },
  { "node_type", "'group'", F, ": a group, not an array" },
  { "node_type", "'folder'", F, "node_type is \"folder\"" },
  { "shape", NULL, F, "shape is missing" },
  { "shape", "[]", U, "shape has 0 entries" },
  { "shape", "[1,1,1,1,1,1,1,1,1]", U, "shape has 9 entries" },
  { "shape", "[-1, 20]", F, "shape[0] is -1" },
  { "shape", "[10, 20, 30]", F, "chunk_shape has 2 entries, shape has 3" },
  { "data_type", NULL, F, "data_type is missing" },
  { "data_type", "'bfloat16'", U, "bfloat16" },
  { "data_type", "'utf8'", U, "utf8" },
  { "data_type", "{'name': 'numpy.datetime64', 'configuration': {}}", U,
    "numpy.datetime64" },
  { "data_type", "{'name': 'int16', 'configuration': {'x': 1}}", U,
    "configuration of int16 has an unknown member x" },
  { "data_type", "{'name': 'int16', 'must_understand': false}", F,
    "data_type has must_understand false" },
  { "data_type", "5", F, "data_type is 5" },
  { "chunk_grid", NULL, F, "chunk_grid is missing" },
  { "chunk_grid", "{'name': 'rectilinear'}", U, "\"rectilinear\"" },
  { "chunk_grid", "{'configuration': {}}", F, "chunk_grid has no name" },
  { "chunk_grid", "'regular'", F, "chunk_shape is missing" },
  { "chunk_grid",
    "{'name': 'regular', 'configuration': {'chunk_shape': [0, 8]}}", F,
    "chunk_shape[0] is 0" },
  { "chunk_grid", "{'name': 'regular', 'configuration': {'chunk_shape':"
    " [4, 8], 'offset': 1}}", U, "unknown member offset" },
  { "chunk_key_encoding", NULL, F, "chunk_key_encoding is missing" },
  { "chunk_key_encoding", "'fanout'", U, "\"fanout\"" },
  { "chunk_key_encoding",
    "{'name': 'v2', 'configuration': {'separator': '-'}}", F,
    "separator is \"-\"" },
  { "fill_value", NULL, F, "fill_value is missing" },
  { "fill_value", "null", F, "fill_value is null" },
  { "codecs", NULL, F, "codecs is missing" },
  { "codecs", "[]", F, "codecs" },
  { "codecs", "['zfp']", U, "codec \"zfp\"" },
  { "codecs", "['vlen-bytes']", U, "codec \"vlen-bytes\"" },
  { "codecs", "['bytes']", F, "bytes: endian is missing" },
  { "codecs", "[{'name': 'bytes', 'configuration': {'endian': 'middle'}}]",
    F, "bytes: unknown endian \"middle\"" },
  { "codecs", "[{'name': 'bytes', 'configuration': {'endian': 'little',"
    " 'pad': 1}}]", U, "configuration of bytes has an unknown member pad" },
  { "codecs", "[{'name': 'vlen', 'must_understand': false}]", F, "codecs" },
  { "codecs", "[{'name': 'bytes', 'extra': 1}]", F,
    "a codec has an unknown member extra" },
  { "attributes", "[]", F, "attributes is a list" },
  { "attributes", "null", F, "attributes is null" },
  { "storage_transformers", "[{'name': 'fold'}]", U, "\"fold\"" },
  { "dimension_names", "['z']", F, "dimension_names has 1 entries" },
  { "dimension_names", "['z', 3]", F, "an entry of dimension_names is 3" },
  { "dimension_names", "'zy'", F, "dimension_names is \"zy\"" },
  { "extra", "{'must_understand': true}", U, "unknown member extra" },
  { "extra", "5", U, "unknown member extra" },
};

static void
broken_rules_are_refused_by_name (void **state)
{
  (void) state;
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    struct rd_array_doc *doc = NULL;
    assert_fails (parse_changed (refused[i].member, refused[i].text, &doc),
                  refused[i].status, refused[i].words);
    assert_non_null (strstr (radio_error_message (), "a/zarr.json"));
    assert_null (doc);
  }
}

/* A codec after bytes, or before it. */
static const struct {
  const char *codec;
  enum radio_status status;
  const char *words;
} refused_codecs[] = {
  { "'zstd'", F, "zstd: level is missing" },
  { "{'name': 'zstd', 'configuration': {'level': 23}}", F, "level is 23" },
  { "{'name': 'zstd', 'configuration': {'level': 3.0}}", F, "level is 3.0" },
  { "{'name': 'zstd', 'configuration': {'level': 3, 'checksum': 1}}", F,
    "checksum is 1" },
  { "{'name': 'gzip', 'configuration': {'level': 10}}", F, "level is 10" },
  { "{'name': 'gzip', 'configuration': {}}", F, "gzip: level is missing" },
  { "{'name': 'crc32c', 'configuration': {'x': 1}}", U, "member x" },
  { "{'name': 'blosc', 'configuration': {'cname': 'lzo', 'clevel': 5,"
    " 'shuffle': 'noshuffle'}}", F, "blosc: unknown cname \"lzo\"" },
  { "{'name': 'blosc', 'configuration': {'cname': 'lz4', 'clevel': 5,"
    " 'shuffle': 'shuffle'}}", F, "blosc: typesize is missing" },
  { "{'name': 'blosc', 'configuration': {'cname': 'lz4', 'clevel': 5,"
    " 'shuffle': 1, 'typesize': 2}}", F, "shuffle is 1, not a string" },
  { "{'name': 'blosc', 'configuration': {'cname': 'lz4', 'clevel': 5,"
    " 'shuffle': 'shuffle', 'typesize': 256}}", F, "typesize is 256" },
};

static void
broken_configurations_are_refused_by_name (void **state)
{
  (void) state;
  size_t n = sizeof refused_codecs / sizeof refused_codecs[0];
  for (size_t i = 0; i < n; i++) {
    struct rd_array_doc *doc = NULL;
    char text[400];
    snprintf (text, sizeof text, "[{'name': 'bytes', 'configuration':"
              " {'endian': 'little'}}, %s]", refused_codecs[i].codec);
    assert_fails (parse_changed ("codecs", text, &doc),
                  refused_codecs[i].status, refused_codecs[i].words);
  }
}

static void
broken_transposes_and_shards_are_refused_by_name (void **state)
{
  (void) state;
#define INDEX "'index_codecs': [{'name': 'bytes', 'configuration':" \
              " {'endian': 'little'}}]"
  static const struct { const char *name, *configuration, *words; }
  cases[] = {
    { "transpose", "{'order': 'C'}", "transpose: order is \"C\"" },
    { "transpose", "{'order': [0, 0]}", "not a permutation" },
    { "transpose", "{'order': [0, 2]}", "not a permutation" },
    { "transpose", "{'order': [0]}", "order has 1 entries for 2 axes" },
    { "transpose", "{}", "order is null" },
    { "sharding_indexed", "{'codecs': []}", "chunk_shape is missing" },
    { "sharding_indexed", "{'chunk_shape': [2, 8]}", "codecs is missing" },
    { "sharding_indexed", "{'chunk_shape': [2], " INDEX "}", "1 entries" },
    { "sharding_indexed", "{'chunk_shape': [2, 8], 'codecs': [{'name':"
      " 'bytes', 'configuration': {'endian': 'big'}}]}",
      "index_codecs is missing" },
    { "sharding_indexed", "{'chunk_shape': [3, 8], 'codecs': [{'name':"
      " 'bytes', 'configuration': {'endian': 'big'}}], " INDEX "}",
      "does not divide" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct rd_array_doc *doc = NULL;
    char text[600];
    snprintf (text, sizeof text, "[{'name': '%s', 'configuration': %s}]",
              cases[i].name, cases[i].configuration);
    assert_fails (parse_changed ("codecs", text, &doc), F, cases[i].words);
  }
}

static void
members_that_need_not_be_understood_are_ignored (void **state)
{
  (void) state;
  static const struct { const char *member, *text; } cases[] = {
    { "extra", "{'must_understand': false, 'x': [1]}" },
    { "storage_transformers", "[]" },
    { "storage_transformers",
      "[{'name': 'fold', 'must_understand': false}]" },
    { "codecs", "[{'name': 'bitround', 'must_understand': false}, {'name':"
      " 'bytes', 'configuration': {'endian': 'big'}}]" },
    { "dimension_names", "null" },
    { "data_type", "{'name': 'int16'}" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ARRAY struct rd_array_doc *doc = NULL;
    assert_ok (parse_changed (cases[i].member, cases[i].text, &doc));
    assert_int_equal (doc->chain->n, 1);
  }
}

static void
key_encodings_have_their_own_separators (void **state)
{
  (void) state;
  static const struct { const char *text; bool v2; char separator; }
  cases[] = {
    { "'default'", false, '/' }, { "{'name': 'v2'}", true, '.' },
    { "{'name': 'default', 'configuration': {'separator': '.'}}", false,
      '.' },
    { "{'name': 'v2', 'configuration': {'separator': '/'}}", true, '/' },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ARRAY struct rd_array_doc *doc = NULL;
    assert_ok (parse_changed ("chunk_key_encoding", cases[i].text, &doc));
    assert_int_equal (doc->keys_v2, cases[i].v2);
    assert_int_equal (doc->separator, cases[i].separator);
  }
}

static void
a_transposed_shards_tile_shape_is_in_the_arrays_axes (void **state)
{
  (void) state;
  ARRAY struct rd_array_doc *doc = NULL;
  assert_ok (parse_changed ("codecs", "[{'name': 'transpose',"
    " 'configuration': {'order': [1, 0]}}, {'name': 'sharding_indexed',"
    " 'configuration': {'chunk_shape': [8, 2], 'codecs': [{'name': 'bytes',"
    " 'configuration': {'endian': 'big'}}], " INDEX "}}]", &doc));
  assert_int_equal (doc->tile_shape[0], 2);
  assert_int_equal (doc->tile_shape[1], 8);
  assert_int_equal (doc->chain->n_array, 1);
}

/* Types and codecs in every combination: written, parsed and written
 * again, the second text is the first. */
static void
written_documents_read_back_the_same (void **state)
{
  (void) state;
  static const char *const types[][2] = {
    { "bool", "true" }, { "uint64", "18446744073709551615" },
    { "int64", "-9223372036854775808" }, { "float16", "'0x7e01'" },
    { "float32", "0.1" }, { "float64", "'-Infinity'" },
    { "complex128", "['NaN', -0.0]" }, { "r24", "[1, 2, 3]" },
  };
  static const char *const codecs[] = {
    "[{'name': 'bytes', 'configuration': {'endian': 'big'}}, 'crc32c']",
    "[{'name': 'transpose', 'configuration': {'order': [1, 0]}}, {'name':"
    " 'sharding_indexed', 'configuration': {'chunk_shape': [8, 2],"
    " 'codecs': [{'name': 'bytes', 'configuration': {'endian': 'little'}},"
    " 'crc32c'], 'index_codecs': [{'name': 'bytes', 'configuration':"
    " {'endian': 'little'}}, 'crc32c']}}]",
  };
  for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
    for (size_t c = 0; c < sizeof codecs / sizeof codecs[0]; c++) {
      JSON struct json_object *document = changed ("codecs", codecs[c]);
      JSON struct json_object *first = NULL, *second = NULL, *again = NULL;
      ARRAY struct rd_array_doc *a = NULL, *b = NULL;
      size_t n, m;
      json_object_object_add (document, "data_type",
                              json_object_new_string (types[t][0]));
      json_object_object_add (document, "fill_value", parse (types[t][1]));
      json_object_object_add (document, "dimension_names",
                              parse ("['a/b', null]"));
      assert_ok (rd_array_doc_parse (document, "x", &a));
      assert_ok (rd_array_doc_write (a, &first));
      const char *text = rd_document_text (first, &n);
      assert_ok (rd_json_parse (text, n, "x", &again));
      assert_null (strstr (text, "\\/"));
      assert_null (strstr (text, "\n    \"crc32c\""));
      assert_ok (rd_array_doc_parse (again, "x", &b));
      assert_memory_equal (a->fill, b->fill, a->type.item_nbytes);
      assert_ok (rd_array_doc_write (b, &second));
      const char *other = rd_document_text (second, &m);
      assert_string_equal (text, other);
    }
}

static enum radio_status
parse_group (const char *text, struct rd_group_doc **doc)
{
  JSON struct json_object *document = parse (text);

  return rd_group_doc_parse (document, "g/zarr.json", doc);
}

#define HEAD "{'zarr_format': 3, 'node_type': 'group'"

static void
groups_have_attributes_and_consolidated_metadata (void **state)
{
  (void) state;
  GROUP struct rd_group_doc *bare = NULL, *full = NULL, *other = NULL;
  assert_ok (parse_group (HEAD "}", &bare));
  assert_null (bare->attributes);
  assert_null (bare->consolidated);
  assert_ok (parse_group (HEAD ", 'attributes': {'a': 1},"
    " 'consolidated_metadata': {'kind': 'inline', 'must_understand': false,"
    " 'metadata': {'a/b': {'zarr_format': 3, 'node_type': 'group'}}}}",
    &full));
  assert_non_null (rd_json_member (full->attributes, "a"));
  assert_non_null (rd_json_member (full->consolidated, "a/b"));
  assert_ok (parse_group (HEAD ", 'consolidated_metadata': {'kind': 'far',"
    " 'must_understand': false}}", &other));
  assert_null (other->consolidated);
}

static void
broken_groups_are_refused_by_name (void **state)
{
  (void) state;
  static const struct {
    const char *text;
    enum radio_status status;
    const char *words;
  } cases[] = {
    { "[]", F, "the document is a list" },
    { "null", F, "the document is null" },
    { HEAD ", 'shape': [1]}", U, "unknown member shape" },
    { HEAD ", 'attributes': 1}", F, "attributes is 1" },
    { HEAD ", 'consolidated_metadata': 1}", F, "consolidated_metadata is 1" },
    { HEAD ", 'consolidated_metadata': {'kind': 'far'}}", U, "\"far\"" },
    { HEAD ", 'consolidated_metadata': {'kind': 'inline'}}", F,
      "metadata is missing" },
    { HEAD ", 'consolidated_metadata': {'kind': 'inline', 'metadata':"
      " {'a': 1}}}", F, "a is 1, not a node's document" },
    { "{'zarr_format': 3, 'node_type': 'array'}", F, ": an array" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct rd_group_doc *doc = NULL;
    assert_fails (parse_group (cases[i].text, &doc), cases[i].status,
                  cases[i].words);
  }
}

static void
a_group_is_written_as_others_read_it (void **state)
{
  (void) state;
  JSON struct json_object *attributes = parse ("{'a': 1}");
  JSON struct json_object *entries = parse ("{'b': {}}");
  JSON struct json_object *document = NULL;
  GROUP struct rd_group_doc *doc = NULL;
  size_t n;
  assert_ok (rd_group_doc_write (attributes, entries, &document));
  assert_string_equal (rd_document_text (document, &n),
    "{\n  \"zarr_format\": 3,\n  \"node_type\": \"group\",\n"
    "  \"attributes\": {\n    \"a\": 1\n  },\n"
    "  \"consolidated_metadata\": {\n    \"kind\": \"inline\",\n"
    "    \"must_understand\": false,\n    \"metadata\": {\n"
    "      \"b\": {\n      }\n    }\n  }\n}\n");
  assert_ok (rd_group_doc_parse (document, "g", &doc));
  assert_non_null (doc->consolidated);
}

/* How a document is written does not count, what it means does. */
static void
two_documents_of_an_array_differ_by_a_member (void **state)
{
  (void) state;
  static const struct {
    const char *member, *text, *differs;
  } cases[] = {
    { "chunk_key_encoding", "'default'", NULL },
    { "chunk_key_encoding", "{'configuration': {'separator': '/'}, 'name':"
                            " 'default'}", NULL },
    { "codecs", "[{'configuration': {'endian': 'little'}, 'name': 'bytes'}]",
      NULL },
    { "attributes", "{'a': 1}", NULL },
    { "dimension_names", "null", NULL },
    { "storage_transformers", "[]", NULL },
    { "shape", "[10, 21]", "shape" },
    { "data_type", "'uint16'", "data_type" },
    { "chunk_grid", "{'name': 'regular', 'configuration': {'chunk_shape':"
                    " [4, 9]}}", "chunk_grid" },
    { "chunk_key_encoding", "'v2'", "chunk_key_encoding" },
    { "fill_value", "8", "fill_value" },
    { "codecs", "[{'name': 'bytes', 'configuration': {'endian': 'big'}}]",
      "codecs" },
    { "codecs", "[{'name': 'bytes', 'configuration': {'endian': 'little'}},"
                " 'crc32c']", "codecs" },
    { "dimension_names", "['y', 'x']", "dimension_names" },
  };
  JSON struct json_object *first = parse (plain);
  ARRAY struct rd_array_doc *a = NULL;
  assert_ok (rd_array_doc_parse (first, "a", &a));
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ARRAY struct rd_array_doc *b = NULL;
    JSON struct json_object *other = changed (cases[i].member, cases[i].text);
    bool is_same, has_attributes = strcmp (cases[i].member, "attributes") == 0;
    assert_ok (rd_array_doc_parse (other, "b", &b));
    const char *differs = rd_array_doc_difference (a, b);
    if (cases[i].differs == NULL)
      assert_null (differs);
    else
      assert_string_equal (differs, cases[i].differs);
    assert_ok (rd_documents_compare (first, other, "b", &is_same));
    assert_int_equal (is_same, differs == NULL && !has_attributes);
  }
}

/* Shards, compressors and types that radio does not know. */
static void
two_documents_are_compared_as_far_as_they_are_known (void **state)
{
  (void) state;
  static const char *const codecs[] = {
    "[{'name': 'sharding_indexed', 'configuration': {'chunk_shape': [2, 4],"
    " 'codecs': ['bytes'], 'index_codecs': ['bytes', 'crc32c']}}]",
    "[{'name': 'sharding_indexed', 'configuration': {'chunk_shape': [4, 4],"
    " 'codecs': ['bytes'], 'index_codecs': ['bytes', 'crc32c']}}]",
    "[{'name': 'sharding_indexed', 'configuration': {'chunk_shape': [2, 4],"
    " 'codecs': ['bytes'], 'index_codecs': ['bytes']}}]",
    "[{'name': 'sharding_indexed', 'configuration': {'chunk_shape': [2, 4],"
    " 'codecs': ['bytes'], 'index_codecs': ['bytes', 'crc32c'],"
    " 'index_location': 'start'}}]",
    "['bytes', {'name': 'zstd', 'configuration': {'level': 1, 'checksum':"
    " false}}]",
    "['bytes', {'name': 'gzip', 'configuration': {'level': 1}}]",
    "[{'name': 'transpose', 'configuration': {'order': [1, 0]}}, 'bytes']",
    "['unknown']",
    "['other']",
  };
  const size_t n = sizeof codecs / sizeof codecs[0];
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < n; k++) {
      JSON struct json_object *a = changed ("codecs", codecs[i]);
      JSON struct json_object *b = changed ("codecs", codecs[k]);
      bool is_same;
      json_object_object_add (a, "data_type", json_object_new_string ("int8"));
      json_object_object_add (b, "data_type", json_object_new_string ("int8"));
      assert_ok (rd_documents_compare (a, b, "a", &is_same));
      assert_int_equal (is_same, i == k);
    }
  JSON struct json_object *group = parse (
    "{'zarr_format': 3, 'node_type': 'group', 'attributes': {'x': NaN}}");
  JSON struct json_object *same = parse (
    "{'attributes': {'x': NaN}, 'node_type': 'group', 'zarr_format': 3,"
    " 'consolidated_metadata': null}");
  JSON struct json_object *bare = parse (
    "{'zarr_format': 3, 'node_type': 'group'}");
  JSON struct json_object *array = parse (plain);
  bool is_same;
  assert_ok (rd_documents_compare (group, same, "g", &is_same));
  assert_true (is_same);
  assert_ok (rd_documents_compare (group, bare, "g", &is_same));
  assert_false (is_same);
  assert_ok (rd_documents_compare (bare, array, "g", &is_same));
  assert_false (is_same);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (documents_of_zarr_python_are_taken),
    cmocka_unit_test (documents_of_tensorstore_are_taken),
    cmocka_unit_test (broken_rules_are_refused_by_name),
    cmocka_unit_test (broken_configurations_are_refused_by_name),
    cmocka_unit_test (broken_transposes_and_shards_are_refused_by_name),
    cmocka_unit_test (members_that_need_not_be_understood_are_ignored),
    cmocka_unit_test (key_encodings_have_their_own_separators),
    cmocka_unit_test (a_transposed_shards_tile_shape_is_in_the_arrays_axes),
    cmocka_unit_test (written_documents_read_back_the_same),
    cmocka_unit_test (two_documents_of_an_array_differ_by_a_member),
    cmocka_unit_test (two_documents_are_compared_as_far_as_they_are_known),
    cmocka_unit_test (groups_have_attributes_and_consolidated_metadata),
    cmocka_unit_test (broken_groups_are_refused_by_name),
    cmocka_unit_test (a_group_is_written_as_others_read_it),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
