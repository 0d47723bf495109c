/* SPDX-License-Identifier: MIT */
/* Making arrays: the caller's options become a document, the groups above
 * it are made, and the document is published last. */
#include <config.h>

#include <string.h>

#include "src/array/array.h"
#include "src/array/path.h"

/* What radio_array_create writes when nothing else is asked for; one-byte
 * types have no byte order. */
#define DEFAULT_CODECS(bytes)                                           \
  "[" bytes ", {\"name\": \"zstd\", \"configuration\": "                \
  "{\"level\": 3, \"checksum\": false}}, {\"name\": \"crc32c\"}]"

static const char default_codecs[] = DEFAULT_CODECS (
  "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}");
static const char default_codecs_1[] = DEFAULT_CODECS (
  "{\"name\": \"bytes\"}");

/* Add a member and give up the value, also on failure. */
static enum radio_status
add (struct json_object *object, const char *name, struct json_object *value)
{
  if (value && json_object_object_add (object, name, value) == 0)
    return RADIO_OK;
  json_object_put (value);
  return rd_fail_memory (64);
}

static enum radio_status
add_text (struct json_object *object, const char *name, const char *text)
{
  struct json_object *value;
  RD_TRY (rd_json_parse (text, strlen (text), name, &value));
  if (value)
    return add (object, name, value);
  return rd_fail (RADIO_ERROR_ARGUMENT, "%s is null", name);
}

static enum radio_status
add_string (struct json_object *object, const char *name, const char *text)
{
  return add (object, name, json_object_new_string (text));
}

static enum radio_status
new_shape (const uint64_t *shape, size_t rank, struct json_object **list)
{
  RD_CLEANUP (rd_cleanup_json) struct json_object *made
    = json_object_new_array ();
  for (size_t i = 0; made && i < rank; i++) {
    struct json_object *size = json_object_new_uint64 (shape[i]);
    if (!size || json_object_array_add (made, size) != 0) {
      json_object_put (size);
      return rd_fail_memory (64);
    }
  }
  *list = RD_STEAL (made);
  return *list ? RADIO_OK : rd_fail_memory (64);
}

/* {"name": NAME, "configuration": {MEMBER: VALUE}}; value is taken. */
static enum radio_status
add_extension (struct json_object *object, const char *member,
               const char *name, const char *setting,
               struct json_object *value)
{
  RD_CLEANUP (rd_cleanup_json) struct json_object *taken = value;
  struct json_object *extension = json_object_new_object ();
  RD_TRY (add (object, member, extension));
  RD_TRY (add_string (extension, "name", name));
  struct json_object *configuration = json_object_new_object ();
  RD_TRY (add (extension, "configuration", configuration));
  return add (configuration, setting, RD_STEAL (taken));
}

static enum radio_status
add_dimension_names (struct json_object *document,
                     const struct radio_array_options *options)
{
  struct json_object *list = json_object_new_array ();
  RD_TRY (add (document, "dimension_names", list));
  for (size_t i = 0; i < options->rank; i++) {
    const char *name = options->dimension_names[i];
    struct json_object *value = name ? json_object_new_string (name) : NULL;
    if ((name && !value) || json_object_array_add (list, value) != 0) {
      json_object_put (value);
      return rd_fail_memory (64);
    }
  }
  return RADIO_OK;
}

static enum radio_status
add_grid (struct json_object *document,
          const struct radio_array_options *options)
{
  struct json_object *shape;
  RD_TRY (new_shape (options->shape, options->rank, &shape));
  RD_TRY (add (document, "shape", shape));
  RD_TRY (new_shape (options->chunk_shape, options->rank, &shape));
  RD_TRY (add_extension (document, "chunk_grid", "regular", "chunk_shape",
                         shape));
  const char *encoding = options->chunk_key_encoding;
  if (!encoding)
    encoding = "default";
  char separator[2] = { options->separator, '\0' };
  if (!options->separator)
    separator[0] = strcmp (encoding, "v2") == 0 ? '.' : '/';
  return add_extension (document, "chunk_key_encoding", encoding,
                        "separator", json_object_new_string (separator));
}

/* Zero, in the JSON that each type has for it. */
static enum radio_status
add_zero (struct json_object *document, const char *data_type)
{
  struct rd_type type;
  static const unsigned char zero[RD_ITEM_MAX_NBYTES];
  struct json_object *value;
  RD_TRY (rd_type_parse (data_type, &type));
  if (type.dtype != RADIO_RAW) {
    RD_TRY (rd_fill_write (&type, zero, &value));
    return add (document, "fill_value", value);
  }
  value = json_object_new_array ();
  RD_TRY (add (document, "fill_value", value));
  for (size_t i = 0; i < type.item_nbytes; i++) {
    struct json_object *byte = json_object_new_int (0);
    if (!byte || json_object_array_add (value, byte) != 0) {
      json_object_put (byte);
      return rd_fail_memory (64);
    }
  }
  return RADIO_OK;
}

static enum radio_status
add_values (struct json_object *document,
            const struct radio_array_options *options)
{
  RD_TRY (add_string (document, "data_type", options->data_type));
  if (options->fill_value_json)
    RD_TRY (add_text (document, "fill_value", options->fill_value_json));
  else
    RD_TRY (add_zero (document, options->data_type));
  const char *codecs = options->codecs_json;
  if (!codecs) {
    struct rd_type type;
    RD_TRY (rd_type_parse (options->data_type, &type));
    codecs = type.unit_nbytes == 1 ? default_codecs_1 : default_codecs;
  }
  RD_TRY (add_text (document, "codecs", codecs));
  if (options->attributes_json)
    RD_TRY (add_text (document, "attributes", options->attributes_json));
  if (options->dimension_names)
    RD_TRY (add_dimension_names (document, options));
  return RADIO_OK;
}

/* The document that the options describe; parsed as anybody's would be. */
static enum radio_status
make_doc (const struct radio_array_options *options, const char *where,
          struct rd_array_doc **doc)
{
  if (options->rank == 0 || options->rank > RADIO_MAX_RANK)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: rank is %zu, not 1 to %d",
                    where, options->rank, RADIO_MAX_RANK);
  if (!options->data_type)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: data_type is NULL", where);
  RD_CLEANUP (rd_cleanup_json) struct json_object *document
    = json_object_new_object ();
  if (!document)
    return rd_fail_memory (64);
  RD_TRY (add (document, "zarr_format", json_object_new_int (3)));
  RD_TRY (add_string (document, "node_type", "array"));
  RD_TRY (add_grid (document, options));
  RD_TRY (add_values (document, options));
  return rd_array_doc_parse (document, where, doc);
}

/* Make one group's document; one that is there stays, unless it is an
 * array's, below which nothing can be. */
static enum radio_status
make_group (struct radio_store *store, const char *path)
{
  RD_CLEANUP (rd_cleanup_json) struct json_object *document = NULL;
  RD_TRY (rd_group_doc_write (NULL, NULL, &document));
  enum radio_status status = rd_store_put_document (store, path, document);
  if (status != RADIO_ERROR_EXISTS)
    return status;
  RD_CLEANUP (rd_cleanup_json) struct json_object *existing = NULL;
  RD_TRY (rd_store_read_document (store, path, &existing));
  char key[RD_KEY_NBYTES];
  rd_path_key (path, "zarr.json", key);
  enum rd_node node;
  RD_TRY (rd_document_node (existing, key, &node));
  if (node == RD_NODE_ARRAY)
    return rd_fail (RADIO_ERROR_EXISTS, "%s/%s is an array: no node can be "
                    "made below it", store->io->uri, path);
  return RADIO_OK;
}

enum radio_status
rd_store_make_groups (struct radio_store *store, const char *path)
{
  char above[RD_PATH_MAX_NBYTES + 1];
  RD_TRY (rd_store_look (store));
  if (store->is_array)
    return rd_fail (RADIO_ERROR_EXISTS, "%s is an array: no node can be made "
                    "below it", store->io->uri);
  RD_TRY (rd_path_check (path, true));
  memcpy (above, path, strlen (path) + 1);
  for (char *slash = strchr (above, '/'); slash;
       slash = strchr (slash + 1, '/')) {
    *slash = '\0';
    RD_TRY (make_group (store, above));
    *slash = '/';
  }
  return RADIO_OK;
}

/* Publish the document; the message of a clash names the path. */
static enum radio_status
publish (struct radio_store *store, const char *path,
         const struct rd_array_doc *doc)
{
  RD_CLEANUP (rd_cleanup_json) struct json_object *document = NULL;
  RD_TRY (rd_array_doc_write (doc, &document));
  enum radio_status status = rd_store_put_document (store, path, document);
  if (status == RADIO_ERROR_EXISTS)
    return rd_fail (status, "%s/%s: there is a node already",
                    store->io->uri, path);
  return status;
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
  RD_TRY (rd_pool_check (store->context->pool));
  RD_TRY (rd_path_check (path, true));
  struct rd_array_doc *doc;
  RD_TRY (make_doc (options, path, &doc));
  RD_CLEANUP (rd_cleanup_array) struct radio_array *array = NULL;
  RD_TRY (rd_array_open_doc (store, path, doc, &array));
  RD_TRY (rd_store_make_groups (store, path));
  RD_TRY (publish (store, path, array->doc));
  *result = RD_STEAL (array);
  return RADIO_OK;
}
