/* SPDX-License-Identifier: MIT */
/* Checking the path of a new volume, and publishing it. */
#include <config.h>

#include <string.h>

#include "src/base/reserve.h"
#include "src/table/tables.h"
#include "src/volume/header.h"
#include "src/volume/publish.h"
#include "profiler/counters.h"

/* Volumes are allowed in collections only, so that listing finds them. */
enum radio_status
rd_publish_check_path (struct radio_store *store, const char *path,
                       char **collection, const char **name)
{
  RD_TRY (rd_store_read_root (store));
  if (!store->is_radio)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: not a store of radio's "
                    "(no attributes.radio in its zarr.json), and others' data "
                    "is not changed; name another store", store->io->uri);
  const char *slash = strchr (path, '/');
  if (slash == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT, "'%s': not COLLECTION/NAME",
                    path);
  *name = slash + 1;
  *collection = rd_strndup (path, (size_t) (slash - path));
  if (*collection == NULL)
    return rd_fail_memory (strlen (path));
  enum radio_status status = rd_node_name_check (*collection);
  if (status == RADIO_OK)
    status = rd_node_name_check (*name);
  return status == RADIO_OK ? RADIO_OK : rd_fail_in (status, "'%s'", path);
}

/* Finds whether there is a collection, after putting its document if it is
 * missing. */
static enum radio_status
make_collection (struct radio_store *store, const char *collection)
{
  enum rd_kind kind;
  RD_TRY (rd_node_kind (store, collection, &kind));
  if (kind == RD_KIND_NONE && strcmp (collection, RD_TABLES_NAME) == 0)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: the name of the store's tables; "
                    "choose another one for the collection", collection);
  if (kind == RD_KIND_NONE) {
    struct json_object *document RD_CLEANUP (rd_cleanup_json) = NULL;
    char *key RD_FREE = rd_document_key (collection);
    size_t nbytes;
    if (key == NULL)
      return RADIO_ERROR_MEMORY;
    RD_TRY (rd_group_doc_write (NULL, NULL, &document));
    const char *text = rd_document_text (document, &nbytes);
    if (text == NULL)
      return RADIO_ERROR_MEMORY;
    enum radio_status status = rd_io_put (store->io, key, text, nbytes,
                                          RD_PUT_IF_ABSENT);
    if (status != RADIO_ERROR_EXISTS)
      RD_TRY (status);
    RD_TRY (rd_node_kind (store, collection, &kind));
  }
  if (kind == RD_KIND_GROUP)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_ARGUMENT, "%s/%s: %s, not a collection",
                  store->io->uri, collection,
                  kind == RD_KIND_ARRAY    ? "an array"
                  : kind == RD_KIND_TABLES ? "the store's tables"
                                           : "an image");
}

/* Another thread may hold the lock while it makes a collection durable. */
static pthread_mutex_t *
lock_collections (struct radio_store *store)
{
  if (pthread_mutex_trylock (&store->collections_mutex) == 0)
    return &store->collections_mutex;
  RD_SCOPE_WAIT ("wait for collection", RD_IN_QUEUE);
  return rd_lock_mutex (&store->collections_mutex);
}

/* Each is asked for once by a handle: collections are never removed. */
enum radio_status
rd_publish_collection (struct radio_store *store, const char *collection)
{
  RD_TRY (rd_pool_check (store->context->pool));
  RD_CLEANUP (rd_cleanup_unlock) __attribute__ ((__unused__))
  pthread_mutex_t *held = lock_collections (store);
  for (size_t i = 0; i < store->collections.n; i++)
    if (strcmp (store->collections.names[i], collection) == 0)
      return RADIO_OK;
  RD_TRY (make_collection (store, collection));
  RD_TRY (rd_reserve (&store->collections.names, &store->collections.capacity,
                      store->collections.n,
                      sizeof *store->collections.names));
  char *name = rd_strdup (collection);
  if (name == NULL)
    return rd_fail_memory (strlen (collection) + 1);
  store->collections.names[store->collections.n++] = name;
  return RADIO_OK;
}

static enum radio_status
fail_exists (const struct radio_store *store, const char *path)
{
  return rd_fail (RADIO_ERROR_EXISTS, "%s: exists already in %s", path,
                  store->io->uri);
}

/* Only volumes that radio wrote are replaced: which data of another
 * program's could be removed is unknown. */
static enum radio_status
check_replaceable (const char *path, const struct rd_existing *existing)
{
  if (existing->is_ours)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_EXISTS, "%s: the node there is not a volume of "
                  "radio's; remove it first", path);
}

static enum radio_status
stop_at_object (const struct rd_io_entry *entry, void *user_data)
{
  bool *is_empty = user_data;
  (void) entry;
  *is_empty = false;
  return RADIO_ERROR_CANCELLED;
}

static enum radio_status
check_how (const char *path, enum radio_existing how)
{
  if ((unsigned) how <= RADIO_EXISTING_REPLACE)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_ARGUMENT, "%s: existing is %d, no value of enum "
                  "radio_existing", path, (int) how);
}

/* Where nothing is, one request shows that there is neither a volume nor
 * garbage of one. */
enum radio_status
rd_publish_check_new (struct radio_store *store, const char *path,
                      const char *collection, enum radio_existing how,
                      bool *is_new, bool *skip)
{
  struct rd_io *io = store->io;
  RD_TRY (check_how (path, how));
  *is_new = true;
  enum radio_status status = io->ops->list (io, path, true, stop_at_object,
                                            is_new);
  if (!*is_new)
    return rd_publish_check_existing (store, path, collection, how, skip);
  return status;
}

enum radio_status
rd_publish_check_existing (struct radio_store *store, const char *path,
                           const char *collection, enum radio_existing how,
                           bool *skip)
{
  struct rd_existing existing RD_EXISTING_SCOPE = { 0 };
  RD_TRY (check_how (path, how));
  RD_TRY (rd_existing_read (store, path, &existing));
  if (!existing.exists)
    return RADIO_OK;
  if (collection)
    RD_TRY (rd_publish_collection (store, collection));
  switch (how) {
  case RADIO_EXISTING_REPLACE:
    return check_replaceable (path, &existing);
  case RADIO_EXISTING_SKIP:
    *skip = true;
    return RADIO_OK;
  default:
    return fail_exists (store, path);
  }
}

/* True if a document that could not be put may exist all the same: a store
 * may fail after it has renamed the object, as when the folder cannot be
 * synced, and a remote one may still execute a request that it did not
 * answer.  In doubt the answer is yes, since gc finds a level that no
 * document names, and one that is missing is lost. */
static bool
may_be_published (const struct rd_publication *publication,
                  enum radio_status status)
{
  struct rd_existing now RD_EXISTING_SCOPE = { 0 };
  bool was_refused = status == RADIO_ERROR_EXISTS
                     || status == RADIO_ERROR_PERMISSION
                     || status == RADIO_ERROR_UNSUPPORTED
                     || status == RADIO_ERROR_ARGUMENT;
  if (!rd_io_excludes_all (publication->store->io) && !was_refused)
    return true;
  if (rd_existing_read (publication->store, publication->path, &now)
      != RADIO_OK)
    return true;
  return now.exists && now.meta.level_path
         && strcmp (now.meta.level_path, publication->level_name) == 0;
}

static struct json_object *
consolidated_documents (struct json_object *document)
{
  return rd_json_member (rd_json_member (document, "consolidated_metadata"),
                         "metadata");
}

bool
rd_publish_is_same_document (struct json_object *theirs,
                             struct json_object *ours)
{
  struct json_object *documents = consolidated_documents (theirs);
  struct json_object *header = rd_json_member (consolidated_documents (ours),
                                               RD_HEADER_NAME);
  size_t nbytes;
  if (header && rd_json_member (documents, RD_HEADER_NAME)
      && json_object_object_add (documents, RD_HEADER_NAME,
                                 json_object_get (header)) != 0) {
    json_object_put (header);
    return false;
  }
  const char *a = rd_document_text (theirs, &nbytes);
  const char *b = rd_document_text (ours, &nbytes);
  return a && b && strcmp (a, b) == 0;
}

static enum radio_status
put_document (const struct rd_publication *publication, enum rd_put how)
{
  char *key RD_FREE = rd_document_key (publication->path);
  if (key == NULL)
    return RADIO_ERROR_MEMORY;
  size_t n = 0;
  while (n < 2 && publication->stages[n])
    n++;
  return rd_io_publish (publication->store->io, publication->stages, n, key,
                        publication->text, publication->nbytes, how);
}

/* Replace a volume that was published between the check and the write, which
 * is possible where locks do not exclude other processes.  A document that
 * cannot be read stays. */
static enum radio_status
replace_concurrent (const struct rd_publication *publication)
{
  struct rd_existing now RD_EXISTING_SCOPE = { 0 };
  struct rd_error error;
  rd_error_save (&error, RADIO_ERROR_EXISTS);
  if (rd_existing_read (publication->store, publication->path, &now)
      != RADIO_OK)
    return rd_error_raise (&error);
  if (now.exists)
    RD_TRY (check_replaceable (publication->path, &now));
  return put_document (publication, RD_PUT_REPLACE);
}

/* Make the document name the header array's chunk. */
static enum radio_status
name_header (struct rd_publication *publication)
{
  struct json_object *header RD_CLEANUP (rd_cleanup_json) = NULL;
  struct json_object *documents = consolidated_documents (
    publication->document);
  enum rd_header_key named = rd_header_document_key (
    rd_json_member (documents, RD_HEADER_NAME));
  if (publication->prefix && named != publication->header_key
      && json_object_is_type (documents, json_type_object)) {
    RD_TRY (rd_header_document (publication->prefix->nbytes,
                                publication->header_key, &header));
    if (json_object_object_add (documents, RD_HEADER_NAME,
                                json_object_get (header)) != 0) {
      json_object_put (header);
      return rd_fail_memory (0);
    }
    publication->text = NULL;
  }
  if (publication->text == NULL)
    publication->text = rd_document_text (publication->document,
                                          &publication->nbytes);
  return publication->text ? RADIO_OK : RADIO_ERROR_MEMORY;
}

/* Put the header's bytes, the document, and the header array's document
 * (header.h).  The volume's document comes when all that it refers to is
 * durable; the bytes are written while the last shards become durable.  A
 * new volume has its header array from the beginning. */
static enum radio_status
put_parts (struct rd_publication *publication,
           const struct rd_existing *existing, bool *is_ours)
{
  struct radio_store *store = publication->store;
  const struct rd_buffer *prefix = publication->prefix;
  const char *path = publication->path;
  enum rd_put when_new = rd_io_excludes_all (store->io) ? RD_PUT_REPLACE
                                                        : RD_PUT_IF_ABSENT;
  bool has_header = true;
  enum radio_status status;
  struct rd_error error;
  if (prefix)
    RD_TRY (rd_header_put_chunk (store, path, prefix, existing,
                                 &publication->header_key, &has_header));
  if (!has_header && !existing->exists) {
    status = rd_header_put_document (store, path, prefix,
                                     publication->header_key, when_new);
    has_header = status == RADIO_OK;
    if (status != RADIO_ERROR_EXISTS)
      RD_TRY (status);
  }
  if (publication->finish)
    RD_TRY (publication->finish (publication));
  RD_TRY (name_header (publication));
  if (existing->exists)
    status = put_document (publication, RD_PUT_REPLACE);
  else {
    status = put_document (publication, RD_PUT_IF_ABSENT);
    if (status == RADIO_ERROR_EXISTS
        && publication->existing == RADIO_EXISTING_REPLACE) {
      status = replace_concurrent (publication);
      has_header = prefix == NULL;
    }
  }
  *is_ours = status == RADIO_OK;
  if (status != RADIO_OK) {
    rd_error_save (&error, status);
    *is_ours = may_be_published (publication, status);
    return rd_error_raise (&error);
  }
  if (has_header)
    return RADIO_OK;
  publication->header_is_last = true;
  status = rd_header_put_document (store, path, prefix,
                                   publication->header_key, RD_PUT_REPLACE);
  if (status == RADIO_OK)
    return RADIO_OK;
  return rd_fail_in (status, "%s: published, but other programs may find "
                     "the header of the volume before in its array "
                     RD_HEADER_NAME "; radio gc repairs it", path);
}

/* Another writer has published its volume first. */
static enum radio_status
resolve_race (struct rd_publication *publication,
              const struct rd_existing *existing)
{
  const char *theirs = existing->meta.source_sha256;
  const char *level = existing->meta.level_path;
  if (publication->existing == RADIO_EXISTING_SKIP) {
    publication->skipped = true;
    return RADIO_OK;
  }
  /* A copy may not know the source's. */
  bool same = theirs && *theirs ? strcmp (theirs, publication->sha256) == 0
              : level && strcmp (level, publication->level_name) == 0;
  return same ? RADIO_OK
              : fail_exists (publication->store, publication->path);
}

enum radio_status
rd_publish (struct rd_publication *publication, bool *is_ours)
{
  struct rd_io_lock *lock RD_CLEANUP (rd_cleanup_io_lock) = NULL;
  struct rd_existing existing RD_EXISTING_SCOPE = { 0 };
  struct rd_existing now RD_EXISTING_SCOPE = { 0 };
  struct rd_io *io = publication->store->io;
  struct rd_error error;
  *is_ours = false;
  RD_TRY (io->ops->lock (io, publication->path, true, &lock));
  /* Where others may publish at any time, the condition of the put decides. */
  if (!publication->is_new || rd_io_excludes_all (io))
    RD_TRY (rd_existing_read (publication->store, publication->path,
                              &existing));
  if (existing.exists) {
    if (publication->existing != RADIO_EXISTING_REPLACE)
      return resolve_race (publication, &existing);
    RD_TRY (check_replaceable (publication->path, &existing));
  }
  /* The header array of a new volume is durable with the document, too. */
  if (publication->stages[0] && !existing.exists) {
    char *header RD_FREE = rd_key_join (publication->path, RD_HEADER_NAME);
    if (header == NULL)
      return RADIO_ERROR_MEMORY;
    RD_TRY (rd_io_stage (io, header, &publication->stages[1]));
  }
  enum radio_status status = put_parts (publication, &existing, is_ours);
  rd_io_unstage (io, RD_STEAL (publication->stages[1]));
  /* The header array that was written may be that of a volume that another
   * process has published. */
  if (status != RADIO_OK && !*is_ours && !rd_io_excludes_all (io)) {
    rd_error_save (&error, status);
    enum radio_status repaired
      = rd_header_repair (publication->store, publication->path);
    if (repaired != RADIO_OK)
      return rd_fail_in (repaired, "%s: header array", publication->path);
    rd_error_raise (&error);
  }
  if (status != RADIO_ERROR_EXISTS
      || publication->existing == RADIO_EXISTING_REPLACE)
    return status;
  /* The store refused the document, since one was put between the check and
   * the write: maybe by a copy of the same level, which is ours as well. */
  rd_error_save (&error, status);
  if (rd_existing_read (publication->store, publication->path, &now)
      != RADIO_OK || !now.exists)
    return rd_error_raise (&error);
  return resolve_race (publication, &now);
}
