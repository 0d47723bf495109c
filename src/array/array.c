/* SPDX-License-Identifier: MIT */
/* Creating, opening and describing arrays.  To create one, the caller's
 * options become a document, the groups above it are made, and the document
 * is published last. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/json-make.h"
#include "src/base/structs.h"
#include "profiler/counters.h"
#include "src/array/array.h"
#include "src/array/cache/reads.h"
#include "src/array/context.h"

/* The cached indexes of one array: this much, but at most a share of the
 * context's limit. */
#define INDEXES_MAX_NBYTES ((uint64_t) 64 << 20)
#define INDEXES_SHARE 8

/* Does nothing in a forked child, where locks may be held for ever. */
void
radio_array_close (struct radio_array *array)
{
  if (!array)
    return;
  if (array->store && rd_pool_check (array->store->context->pool) != RADIO_OK)
    return;
  if (array->store && array->path && !array->derived
      && !array->sampled)
    rd_io_forget (array->store->io, array->path);
  if (array->store && array->store->context->tiles)
    rd_tile_cache_forget (array->store->context->tiles, array->number);
  if (array->linear)
    array->linear->close (array->linear);
  if (array->derived)
    array->free_derived (array->derived);
  if (array->sampled)
    array->free_sampled (array->sampled);
  rd_read_history_destroy (&array->history);
  rd_tile_lengths_destroy (&array->lengths);
  rd_index_cache_close (array->indexes);
  rd_array_doc_free (array->doc);
  radio_store_close (array->store);
  rd_free (array->path);
  rd_free (array->codecs_text);
  rd_free (array->codecs_json);
  rd_free (array->attributes_json);
  rd_free (array);
}

enum radio_status
rd_array_check_stored (const struct radio_array *array, const char *be_done)
{
  if (!array->derived)
    return RADIO_OK;
  return rd_array_fail_in (array, rd_fail (
    RADIO_ERROR_ARGUMENT, "a volume with a pipeline cannot be %s; use the one "
    "that it was applied to", be_done));
}

/* Copies a value's text. */
static enum radio_status
copy_text (struct json_object *value, const char *absent, char **copy)
{
  if (value)
    return rd_json_copy_text (value, copy);
  *copy = rd_strdup (absent);
  return *copy ? RADIO_OK : rd_fail_memory (strlen (absent));
}

void
rd_array_chunk_key (const struct radio_array *array, const uint64_t *chunk,
                    char key[RD_KEY_NBYTES])
{
  char name[RD_CHUNK_KEY_NBYTES];
  rd_chunk_key (array->doc, chunk, name);
  rd_path_key (array->path, name, key);
}

enum radio_status
rd_array_open_doc (struct radio_store *store, const char *path,
                   struct rd_array_doc *doc, struct radio_array **result)
{
  RD_CLEANUP (rd_cleanup_array) struct radio_array *array
    = rd_calloc (1, sizeof *array);
  if (!array) {
    rd_array_doc_free (doc);
    return rd_fail_memory (sizeof *array);
  }
  array->doc = doc;
  array->store = rd_store_ref (store);
  array->number = atomic_fetch_add (&store->context->narrays, 1);
  rd_read_history_init (&array->history);
  rd_tile_lengths_init (&array->lengths);
  RD_TRY (rd_path_check (path, false));
  array->path = rd_strdup (path);
  if (!array->path)
    return rd_fail_memory (strlen (path));
  array->codecs_text = rd_chain_describe (doc->chain);
  if (!array->codecs_text)
    return RADIO_ERROR_MEMORY;
  RD_TRY (copy_text (doc->codecs, "[]", &array->codecs_json));
  RD_TRY (copy_text (doc->attributes, "{}", &array->attributes_json));
  uint64_t limit = store->context->memory_limit_nbytes;
  rd_layout_make (doc, limit, &array->layout);
  RD_TRY (rd_index_cache_open (doc->rank,
                               rd_min_u64 (limit / INDEXES_SHARE,
                                           INDEXES_MAX_NBYTES),
                               &array->indexes));
  *result = RD_STEAL (array);
  return RADIO_OK;
}

enum radio_status
radio_array_open (struct radio_store *store, const char *path,
                  struct radio_array **array)
{
  RD_NOT_NULL (store);
  RD_NOT_NULL (path);
  RD_NOT_NULL (array);
  RD_SCOPE ("open array", RD_IN_OPERATION);
  RD_NOTE_NAME ("array", path);
  RD_CLEANUP (rd_cleanup_json) struct json_object *document = NULL;
  char key[RD_KEY_NBYTES];
  struct rd_array_doc *doc;
  enum radio_status status = rd_store_read_named (store, path, &document);
  if (status == RADIO_OK) {
    rd_path_key (path, "zarr.json", key);
    status = rd_array_doc_parse (document, key, &doc);
  }
  if (status == RADIO_OK)
    status = rd_array_open_doc (store, path, doc, array);
  return rd_scope_end_with (status);
}

enum radio_status
radio_array_open_document (struct radio_store *store, const char *path,
                           const char *text, size_t nbytes,
                           struct radio_array **array)
{
  RD_NOT_NULL (store);
  RD_NOT_NULL (path);
  RD_NOT_NULL (text);
  RD_NOT_NULL (array);
  RD_SCOPE ("open array", RD_IN_OPERATION);
  RD_NOTE_NAME ("array", path);
  RD_CLEANUP (rd_cleanup_json) struct json_object *document = NULL;
  struct rd_array_doc *doc;
  enum radio_status status = rd_pool_check (store->context->pool);
  if (status == RADIO_OK)
    status = rd_json_parse (text, nbytes, "the given zarr.json", &document);
  if (status == RADIO_OK)
    status = rd_array_doc_parse (document, "the given zarr.json", &doc);
  if (status == RADIO_OK)
    status = rd_array_open_doc (store, path, doc, array);
  return rd_scope_end_with (status);
}

const char *
rd_array_name (const struct radio_array *array)
{
  return *array->path ? array->path : array->store->io->uri;
}

enum radio_status
rd_array_fail_in (const struct radio_array *array, enum radio_status status)
{
  return rd_fail_in (status, "%s%s%s", array->store->io->uri,
                     *array->path ? "/" : "", array->path);
}

void
radio_array_get_info (const struct radio_array *array,
                      struct radio_array_info *info)
{
  const struct rd_array_doc *doc = array->doc;
  *info = (struct radio_array_info) {
    .rank = doc->rank,
    .dtype = doc->type.dtype,
    .item_nbytes = doc->type.dtype == RADIO_STRING
      ? 0 : doc->type.item_nbytes,
    .codecs = array->codecs_text,
    .codecs_json = array->codecs_json,
    .attributes_json = array->attributes_json,
  };
  memcpy (info->shape, doc->shape, sizeof info->shape);
  memcpy (info->chunk_shape, doc->chunk_shape, sizeof info->chunk_shape);
  memcpy (info->tile_shape, doc->tile_shape, sizeof info->tile_shape);
  info->sharded = doc->chain->codecs[doc->chain->n_array].id
    == RD_CODEC_SHARDING;
  if (doc->has_dimension_names)
    info->dimension_names = (const char *const *) doc->dimension_names;
}

/* The default of radio_array_create; one-byte types have no byte order. */
#define DEFAULT_CODECS(bytes)                                           \
  "[" bytes ", {\"name\": \"zstd\", \"configuration\": "                \
  "{\"level\": 3, \"checksum\": false}}, {\"name\": \"crc32c\"}]"

static const char default_codecs[] = DEFAULT_CODECS (
  "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}");
static const char default_codecs_1[] = DEFAULT_CODECS (
  "{\"name\": \"bytes\"}");
static const char default_codecs_string[] = DEFAULT_CODECS (
  "{\"name\": \"vlen-utf8\"}");

/* Adds a member that is given as JSON text. */
static enum radio_status
add_json (struct rd_json_make *make, struct json_object *object,
          const char *name, const char *text)
{
  struct json_object *value;
  RD_TRY (rd_json_parse (text, strlen (text), name, &value));
  if (!value)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s is null", name);
  rd_json_add (make, object, name, value);
  return RADIO_OK;
}

/* Adds {"name": NAME, "configuration": {SETTING: VALUE}}; value is taken. */
static void
add_extension (struct rd_json_make *make, struct json_object *object,
               const char *member, const char *name, const char *setting,
               struct json_object *value)
{
  struct json_object *extension = rd_json_add_object (make, object, member);
  rd_json_add_string (make, extension, "name", name);
  rd_json_add (make, rd_json_add_object (make, extension, "configuration"),
               setting, value);
}

/* Makes the document that the options describe, and parses it as any other. */
static enum radio_status
make_doc (const struct radio_array_options *options, const char *where,
          struct rd_array_doc **doc)
{
  static const unsigned char zero[RD_ITEM_MAX_NBYTES];
  size_t rank = options->rank;
  struct rd_type type;
  if (rank == 0 || rank > RADIO_MAX_RANK)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: rank is %zu, not 1 to %d",
                    where, rank, RADIO_MAX_RANK);
  if (!options->data_type)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: data_type is NULL", where);
  RD_CLEANUP (rd_cleanup_json) struct json_object *document
    = json_object_new_object ();
  struct rd_json_make make = { false };
  rd_json_add_u64 (&make, document, "zarr_format", 3);
  rd_json_add_string (&make, document, "node_type", "array");
  rd_json_add (&make, document, "shape",
               rd_json_new_shape (&make, rank, options->shape));
  rd_json_add_string (&make, document, "data_type", options->data_type);

  const char *encoding = options->chunk_key_encoding;
  if (!encoding)
    encoding = "default";
  char separator[2] = { options->separator, '\0' };
  if (!options->separator)
    separator[0] = strcmp (encoding, "v2") == 0 ? '.' : '/';
  add_extension (&make, document, "chunk_grid", "regular", "chunk_shape",
                 rd_json_new_shape (&make, rank, options->chunk_shape));
  add_extension (&make, document, "chunk_key_encoding", encoding,
                 "separator", json_object_new_string (separator));

  if (options->fill_value_json)
    RD_TRY (add_json (&make, document, "fill_value",
                      options->fill_value_json));
  else {
    /* Zero, in the type's JSON. */
    struct json_object *value;
    RD_TRY (rd_type_parse (options->data_type, &type));
    if (type.dtype != RADIO_RAW)
      RD_TRY (rd_fill_write (&type, zero, &value));
    else
      value = json_object_new_array ();
    for (size_t i = 0; type.dtype == RADIO_RAW && i < type.item_nbytes; i++)
      rd_json_append (&make, value, json_object_new_int (0));
    rd_json_add (&make, document, "fill_value", value);
  }
  const char *codecs = options->codecs_json;
  if (!codecs) {
    RD_TRY (rd_type_parse (options->data_type, &type));
    codecs = type.dtype == RADIO_STRING ? default_codecs_string
      : type.unit_nbytes == 1 ? default_codecs_1 : default_codecs;
  }
  RD_TRY (add_json (&make, document, "codecs", codecs));
  if (options->attributes_json)
    RD_TRY (add_json (&make, document, "attributes",
                      options->attributes_json));
  if (options->dimension_names) {
    struct json_object *names
      = rd_json_add_list (&make, document, "dimension_names");
    for (size_t i = 0; i < rank && names; i++) {
      const char *name = options->dimension_names[i];
      if (name)
        rd_json_append (&make, names, json_object_new_string (name));
      else if (json_object_array_add (names, NULL) != 0)
        make.failed = true;
    }
  }
  RD_TRY (rd_json_make_end (&make, RD_STEAL (document), &document));
  return rd_array_doc_parse (document, where, doc);
}

/* Makes the missing documents of the groups above a path.  None of the nodes
 * there may be an array, below which no node can be. */
static enum radio_status
make_groups (struct radio_store *store, const char *path)
{
  char above[RD_PATH_MAX_NBYTES + 1], key[RD_KEY_NBYTES];
  RD_TRY (rd_store_read_root (store));
  if (store->is_array)
    return rd_fail (RADIO_ERROR_EXISTS, "%s: an array; nothing can be below "
                    "it", store->io->uri);
  RD_TRY (rd_path_check (path, true));
  memcpy (above, path, strlen (path) + 1);
  for (char *slash = strchr (above, '/'); slash;
       slash = strchr (slash + 1, '/')) {
    RD_CLEANUP (rd_cleanup_json) struct json_object *document = NULL;
    RD_CLEANUP (rd_cleanup_json) struct json_object *existing = NULL;
    enum rd_node_type node = RD_NODE_GROUP;
    *slash = '\0';
    RD_TRY (rd_group_doc_write (NULL, NULL, &document));
    enum radio_status status = rd_store_put_document (store, above, document,
                                                      RD_PUT_IF_ABSENT);
    if (status == RADIO_ERROR_EXISTS) {
      RD_TRY (rd_store_read_document (store, above, &existing));
      rd_path_key (above, "zarr.json", key);
      status = rd_document_node (existing, key, &node);
    }
    RD_TRY (status);
    if (node == RD_NODE_ARRAY)
      return rd_fail (RADIO_ERROR_EXISTS, "%s/%s: an array; nothing can be "
                      "below it", store->io->uri, above);
    *slash = '/';
  }
  return RADIO_OK;
}

enum radio_status
radio_array_create (struct radio_store *store, const char *path,
                    const struct radio_array_options *options,
                    struct radio_array **result)
{
  if (!store || !path || !options || !result)
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_array_create: %s is NULL",
                    !store ? "store" : !path ? "path"
                    : !options ? "options" : "array");
  RD_TRY (RD_CHECK_RESERVED (radio_array_options, options));
  RD_TRY (rd_pool_check (store->context->pool));
  RD_TRY (rd_path_check (path, true));
  struct rd_array_doc *doc;
  RD_TRY (make_doc (options, path, &doc));
  RD_CLEANUP (rd_cleanup_array) struct radio_array *array = NULL;
  RD_TRY (rd_array_open_doc (store, path, doc, &array));
  RD_TRY (make_groups (store, path));
  RD_CLEANUP (rd_cleanup_json) struct json_object *document = NULL;
  RD_TRY (rd_array_doc_write (array->doc, &document));
  enum radio_status status = rd_store_put_document (store, path, document,
                                                    RD_PUT_IF_ABSENT);
  if (status == RADIO_ERROR_EXISTS)
    return rd_fail (status, "%s/%s: exists already",
                    store->io->uri, path);
  RD_TRY (status);
  *result = RD_STEAL (array);
  return RADIO_OK;
}
