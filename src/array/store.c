/* SPDX-License-Identifier: MIT */
/* Stores: opening one reads its root's document once, to know what kind of
 * hierarchy it is, or makes one; and the paths of its nodes. */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/base/structs.h"
#include "profiler/counters.h"
#include "src/array/array.h"
#include "src/array/context.h"
#include "src/array/s3-options.h"

/* The part of the memory limit that uploads to S3 may take. */
#define WRITERS_PARTS 4

struct radio_store *
rd_store_ref (struct radio_store *store)
{
  atomic_fetch_add (&store->nrefs, 1);
  return store;
}

/* Does nothing in a child of the process that opened it, where a store has no
 * threads, and its locks may be held for ever. */
void
radio_store_close (struct radio_store *store)
{
  if (!store || atomic_fetch_sub (&store->nrefs, 1) != 1)
    return;
  if (store->context && rd_pool_check (store->context->pool) != RADIO_OK)
    return;
  rd_io_close (store->io);
  radio_context_close (store->context);
  for (size_t i = 0; i < store->collections.n; i++)
    rd_free (store->collections.names[i]);
  rd_free (store->collections.names);
  pthread_mutex_destroy (&store->collections_mutex);
  pthread_mutex_destroy (&store->mutex);
  rd_free (store);
}

enum radio_status
rd_store_check_version (struct json_object *attributes, const char *where,
                        bool *is_radio)
{
  struct json_object *radio = attributes
    ? rd_json_member (attributes, "radio") : NULL;
  *is_radio = radio != NULL;
  if (!radio)
    return RADIO_OK;
  const char *version;
  char *end;
  RD_TRY (rd_json_object (attributes, "radio", where, &radio));
  RD_TRY (rd_json_string (radio, "version", where, &version));
  /* The number before the first point of "1.1". */
  errno = 0;
  unsigned long major = strtoul (version, &end, 10);
  bool is_number = version[0] >= '0' && version[0] <= '9' && errno == 0;
  if (!is_number || (*end != '.' && *end != '\0'))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: attributes.radio.version is "
                    "'%s', not a version number", where, version);
  if (major > RD_FORMAT_MAJOR)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: made by a newer radio "
                    "(format %s; this one knows %s)", where, version,
                    RD_FORMAT_VERSION);
  return RADIO_OK;
}

/* Finds the kind of store in the root's document. */
static enum radio_status
read_root (struct radio_store *store)
{
  RD_CLEANUP (rd_cleanup_json) struct json_object *document = NULL;
  RD_TRY (rd_store_read_named (store, "", &document));
  enum rd_node_type node;
  RD_TRY (rd_document_node (document, "zarr.json", &node));
  store->is_array = node == RD_NODE_ARRAY;
  struct json_object *attributes = rd_json_member (document, "attributes");
  if (attributes && !json_object_is_type (attributes, json_type_object))
    return rd_fail (RADIO_ERROR_FORMAT, "zarr.json: attributes is not an "
                    "object");
  return rd_store_check_version (attributes, "zarr.json", &store->is_radio);
}

static enum radio_status
add_folder_name (const struct rd_io_entry *entry, void *user_data)
{
  return entry->is_prefix
         ? rd_buffer_append (user_data, entry->name, strlen (entry->name) + 1)
         : RADIO_OK;
}

/* Finds whether a collection has a volume of radio's; for the root (""),
 * whether one of its collections has.  A store of radio's in a folder of
 * stores does not count: its root is in a collection's place. */
static enum radio_status
find_volume (struct radio_store *store, const char *collection, bool *found)
{
  RD_BUFFER_SCOPE struct rd_buffer names = { 0 };
  RD_TRY (store->io->ops->list (store->io, collection, false, add_folder_name,
                                &names));
  size_t at = 0;
  while (at < names.nbytes && !*found) {
    RD_CLEANUP (rd_cleanup_json) struct json_object *document = NULL;
    const char *name = (const char *) names.data + at;
    char path[RD_PATH_MAX_NBYTES + 1];
    int n = snprintf (path, sizeof path, "%s%s%s", collection,
                      *collection ? "/" : "", name);
    bool fits = n >= 0 && (size_t) n < sizeof path;
    at += strlen (name) + 1;
    if (fits && *collection)
      *found = rd_store_read_document (store, path, &document) == RADIO_OK
               && rd_json_member (rd_json_member (document, "attributes"),
                                  "radio");
    else if (fits && rd_store_has_object (store, path, "zarr.json"))
      RD_TRY (find_volume (store, path, found));
  }
  return RADIO_OK;
}

/* The root's document is broken or missing: what is below shows which kind of
 * store it is.  Where nothing can be listed, what is named there is taken for
 * a volume. */
static enum radio_status
assume_root (struct radio_store *store, enum radio_status status)
{
  struct rd_error error;
  bool found = false;
  rd_error_save (&error, status);
  enum radio_status listed = find_volume (store, "", &found);
  bool is_broken = status == RADIO_ERROR_FORMAT;
  if (is_broken && listed == RADIO_ERROR_UNSUPPORTED)
    found = true;
  else if (listed != RADIO_OK || !(found || is_broken))
    return rd_error_raise (&error);
  store->is_array = false;
  store->is_radio = found;
  store->is_assumed = true;
  return RADIO_OK;
}

static enum radio_status
open_root (struct radio_store *store, bool create)
{
  static const char attributes_text[] =
    "{ \"radio\": { \"version\": \"" RD_FORMAT_VERSION "\" } }";
  enum radio_status status = read_root (store);
  if (status == RADIO_ERROR_NOT_FOUND && create) {
    RD_CLEANUP (rd_cleanup_json) struct json_object *attributes = NULL;
    RD_CLEANUP (rd_cleanup_json) struct json_object *document = NULL;
    status = rd_json_parse (attributes_text, sizeof attributes_text - 1,
                            "zarr.json", &attributes);
    if (status == RADIO_OK)
      status = rd_group_doc_write (attributes, NULL, &document);
    if (status == RADIO_OK)
      status = rd_store_put_document (store, "", document, RD_PUT_IF_ABSENT);
    /* Another process may have made it in between. */
    if (status == RADIO_OK || status == RADIO_ERROR_EXISTS)
      status = read_root (store);
  }
  if (store->any_root && (status == RADIO_ERROR_FORMAT
                          || status == RADIO_ERROR_NOT_FOUND))
    status = assume_root (store, status);
  if (status != RADIO_OK && status != RADIO_ERROR_NOT_FOUND
      && !strstr (radio_error_message (), store->io->uri))
    return rd_fail_in (status, "%s", store->io->uri);
  return status;
}

enum radio_status
rd_store_read_root (struct radio_store *store)
{
  if (atomic_load (&store->is_known))
    return RADIO_OK;
  RD_TRY (rd_pool_check (store->context->pool));
  RD_LOCK_SCOPE (&store->mutex);
  if (atomic_load (&store->is_known))
    return RADIO_OK;
  RD_TRY (open_root (store, false));
  atomic_store (&store->is_known, true);
  return RADIO_OK;
}

enum radio_status
rd_store_put_document (struct radio_store *store, const char *path,
                       struct json_object *document, enum rd_put how)
{
  char key[RD_KEY_NBYTES];
  rd_path_key (path, "zarr.json", key);
  size_t nbytes;
  const char *text = rd_document_text (document, &nbytes);
  if (!text)
    return RADIO_ERROR_MEMORY;
  return rd_io_put (store->io, key, text, nbytes, how);
}

enum radio_status
rd_store_open_files (struct rd_io *io,
                     const struct radio_store_options *options,
                     struct radio_store **result)
{
  static const struct radio_store_options defaults;
  RD_CLEANUP (rd_cleanup_io) struct rd_io *taken = io;
  RD_FREE struct radio_store *allocated = rd_calloc (1, sizeof *allocated);
  if (!allocated)
    return rd_fail_memory (sizeof *allocated);
  if (!options)
    options = &defaults;
  if (options->context)
    allocated->context = rd_context_ref (options->context);
  else
    RD_TRY (radio_context_open (NULL, &allocated->context));
  atomic_init (&allocated->nrefs, 1);
  atomic_init (&allocated->is_known, false);
  pthread_mutex_init (&allocated->mutex, NULL);
  pthread_mutex_init (&allocated->collections_mutex, NULL);
  allocated->io = RD_STEAL (taken);
  allocated->any_root = options->any_root;
  allocated->generation_count = options->generation_count;
  allocated->newest_tables = options->newest_tables;
  allocated->warning = options->warning;
  allocated->cancel = options->cancel;
  allocated->user_data = options->user_data;
  *result = RD_STEAL (allocated);
  return RADIO_OK;
}

enum radio_status
rd_store_open_io (struct rd_io *io, const struct radio_store_options *options,
                  struct radio_store **result)
{
  RD_CLEANUP (rd_cleanup_store) struct radio_store *store = NULL;
  RD_TRY (rd_store_open_files (io, options, &store));
  /* On a network, requests are saved for callers that know a volume's
   * path. */
  bool creates = options && options->create;
  if (creates || store->io->ops->is_blocking) {
    RD_TRY (open_root (store, creates));
    atomic_store (&store->is_known, true);
  }
  *result = RD_STEAL (store);
  return RADIO_OK;
}

static bool
is_s3 (const char *uri)
{
  static const char scheme[] = "s3://";
  return strncasecmp (uri, scheme, sizeof scheme - 1) == 0;
}

enum radio_status
rd_store_open_remote_file (const char *url,
                           const struct radio_store_options *options,
                           struct radio_store **store, char **key)
{
  RD_S3_RESOLVED_SCOPE struct rd_s3_resolved s3 = { 0 };
  RD_FREE char *name = NULL;
  struct rd_io *io;
  if (is_s3 (url))
    RD_TRY (rd_s3_resolve (&options->s3, &s3));
  RD_TRY (rd_io_open_file (url, &s3.options, &io, &name));
  RD_TRY (rd_store_open_files (io, options, store));
  *key = RD_STEAL (name);
  return RADIO_OK;
}

static enum radio_status
open_uri (const char *uri, const struct radio_store_options *given,
          struct radio_store **store)
{
  struct radio_store_options options = { 0 };
  if (given)
    options = *given;
  /* An empty store in memory is always created. */
  if (strcmp (uri, "memory:") == 0)
    options.create = true;
  struct rd_io *io;
  if (is_s3 (uri)) {
    /* Only S3 uses the environment and the files of profiles. */
    RD_S3_RESOLVED_SCOPE struct rd_s3_resolved s3 = { 0 };
    RD_TRY (rd_s3_resolve (&options.s3, &s3));
    if (options.context)
      s3.options.writers_nbytes = options.context->memory_limit_nbytes
                                  / WRITERS_PARTS;
    RD_TRY (rd_io_open_with (uri, options.create, &s3.options, &io));
  } else
    RD_TRY (rd_io_open (uri, options.create, &io));
  io->no_sync = options.no_sync;
  /* Only after opening: an invalid URI may hold a password. */
  RD_NOTE_NAME ("store", uri);
  return rd_store_open_io (io, &options, store);
}

enum radio_status
radio_store_open (const char *uri, const struct radio_store_options *options,
                  struct radio_store **store)
{
  RD_NOT_NULL (uri);
  RD_NOT_NULL (store);
  if (options) {
    RD_TRY (RD_CHECK_RESERVED (radio_store_options, options));
    RD_TRY (RD_CHECK_RESERVED (radio_s3_options, &options->s3));
  }
  RD_SCOPE ("open store", RD_IN_OPERATION);
  return rd_scope_end_with (open_uri (uri, options, store));
}

enum radio_status
rd_path_check (const char *path, bool is_new)
{
  if (!path)
    return rd_fail (RADIO_ERROR_ARGUMENT, "path is NULL");
  size_t nbytes = strlen (path);
  if (nbytes > RD_PATH_MAX_NBYTES)
    return rd_fail (RADIO_ERROR_ARGUMENT, "path: %zu bytes, more than %d",
                    nbytes, RD_PATH_MAX_NBYTES);
  char names[RD_PATH_MAX_NBYTES + 1];
  memcpy (names, path, nbytes + 1);
  char *name = nbytes ? names : NULL;
  while (name) {
    char *slash = strchr (name, '/');
    if (slash)
      *slash = '\0';
    enum radio_status status = RADIO_OK;
    if (is_new)
      status = rd_node_name_check (name);
    else if (name[0] == '\0')
      status = rd_fail (RADIO_ERROR_ARGUMENT, "a name in it is empty");
    else if (name[strspn (name, ".")] == '\0')
      status = rd_fail (RADIO_ERROR_ARGUMENT, "'%s' is not a legal name",
                        name);
    if (status != RADIO_OK)
      return rd_fail_in (status, "'%s'", path);
    name = slash ? slash + 1 : NULL;
  }
  return RADIO_OK;
}

void
rd_path_key (const char *path, const char *name, char key[RD_KEY_NBYTES])
{
  size_t path_nbytes = strlen (path);
  memcpy (key, path, path_nbytes);
  if (path_nbytes > 0)
    key[path_nbytes++] = '/';
  memcpy (key + path_nbytes, name, strlen (name) + 1);
}

enum radio_status
radio_store_node (struct radio_store *store, const char *path,
                  enum radio_node *node)
{
  RD_NOT_NULL (store);
  RD_NOT_NULL (path);
  RD_NOT_NULL (node);
  RD_CLEANUP (rd_cleanup_json) struct json_object *document = NULL;
  RD_TRY (rd_store_read_named (store, path, &document));
  char key[RD_KEY_NBYTES];
  rd_path_key (path, "zarr.json", key);
  enum rd_node_type kind;
  RD_TRY (rd_document_node (document, key, &kind));
  *node = kind == RD_NODE_ARRAY ? RADIO_NODE_ARRAY : RADIO_NODE_GROUP;
  return RADIO_OK;
}
