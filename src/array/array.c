/* SPDX-License-Identifier: MIT */
/* The life of an array's handle, and what it tells of itself. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "profiler/counters.h"
#include "src/array/array.h"
#include "src/array/index-cache.h"
#include "src/array/path.h"
#include "src/array/tile-cache.h"

/* Indexes kept, of one array: this much, but not more than a share of the
 * context's limit. */
#define INDEXES_MAX_NBYTES ((uint64_t) 64 << 20)
#define INDEXES_SHARE 8

/* In a forked child the locks may be held for ever: nothing is touched. */
void
radio_array_close (struct radio_array *array)
{
  if (!array)
    return;
  if (array->store && rd_pool_check (array->store->context->pool) != RADIO_OK)
    return;
  if (array->store && array->path)
    rd_io_forget (array->store->io, array->path);
  if (array->store && array->store->context->tiles)
    rd_tile_cache_forget (array->store->context->tiles, array->number);
  rd_recent_destroy (&array->recent);
  rd_index_cache_close (array->indexes);
  rd_array_doc_free (array->doc);
  radio_store_close (array->store);
  rd_free (array->path);
  rd_free (array->codecs_text);
  rd_free (array->codecs_json);
  rd_free (array->attributes_json);
  rd_free (array);
}

/* A copy of a value's text. */
static enum radio_status
copy_text (struct json_object *value, const char *absent, char **copy)
{
  const char *text = absent;
  if (value)
    text = json_object_to_json_string_ext (value, JSON_C_TO_STRING_PLAIN
                                           | JSON_C_TO_STRING_NOSLASHESCAPE);
  *copy = text ? rd_strdup (text) : NULL;
  return *copy ? RADIO_OK : rd_fail_memory (text ? strlen (text) : 0);
}

static enum radio_status
describe (struct radio_array *array)
{
  array->codecs_text = rd_chain_describe (array->doc->chain);
  if (!array->codecs_text)
    return RADIO_ERROR_MEMORY;
  RD_TRY (copy_text (array->doc->codecs, "[]", &array->codecs_json));
  return copy_text (array->doc->attributes, "{}", &array->attributes_json);
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
  rd_recent_init (&array->recent);
  RD_TRY (rd_path_check (path, false));
  array->path = rd_strdup (path);
  if (!array->path)
    return rd_fail_memory (strlen (path));
  RD_TRY (describe (array));
  rd_layout_make (doc, &array->layout);
  uint64_t limit = store->context->memory_limit_nbytes;
  RD_TRY (rd_index_cache_open (doc->rank,
                               rd_min_u64 (limit / INDEXES_SHARE,
                                           INDEXES_MAX_NBYTES),
                               &array->indexes));
  *result = RD_STEAL (array);
  return RADIO_OK;
}

static enum radio_status
open_array (struct radio_store *store, const char *path,
            struct radio_array **array)
{
  RD_CLEANUP (rd_cleanup_json) struct json_object *document = NULL;
  RD_TRY (rd_store_read_document (store, path, &document));
  char key[RD_KEY_NBYTES];
  rd_path_key (path, "zarr.json", key);
  struct rd_array_doc *doc;
  RD_TRY (rd_array_doc_parse (document, key, &doc));
  return rd_array_open_doc (store, path, doc, array);
}

enum radio_status
radio_array_open (struct radio_store *store, const char *path,
                  struct radio_array **array)
{
  if (!store || !path || !array)
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_array_open: %s is NULL",
                    !store ? "store" : !path ? "path" : "array");
  RD_SCOPE ("open array", RD_IN_OPERATION);
  RD_NOTE_NAME ("array", path);
  return rd_scope_end_with (open_array (store, path, array));
}

void
radio_array_info (const struct radio_array *array,
                  struct radio_array_info *info)
{
  const struct rd_array_doc *doc = array->doc;
  *info = (struct radio_array_info) {
    .rank = doc->rank,
    .dtype = doc->type.dtype,
    .item_nbytes = doc->type.item_nbytes,
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
