/* SPDX-License-Identifier: MIT */
/* Listing the volumes of a store.  In a store of radio's every document below
 * a collection is a volume's; in any other tree the documents of its first
 * two levels are read to find the images.
 *
 * Where a request takes a round trip, the objects of a collection are listed
 * with all that is below it, page by page: that shows the documents and the
 * sizes by one request for a thousand objects.  On a disk the folders are
 * listed, and each is asked for its document.  Where nothing can be listed,
 * over HTTP, the rows of a collection's table say which volumes there are. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "profiler/counters.h"
#include "src/base/checked.h"
#include "src/base/text.h"
#include "src/table/table.h"
#include "src/volume/documents.h"
#include "src/volume/folders.h"
#include "src/volume/list.h"
#include "src/volume/node.h"
#include "src/volume/strings.h"
#include "src/volume/volume.h"

struct listing {
  struct radio_store *store;
  radio_entry_fn *callback;           /* NULL: volumes are opened */
  radio_opened_fn *opened;
  radio_choose_fn *choose;            /* NULL: all are opened */
  bool without_sizes;                 /* do not add up the stored bytes */
  void *user_data;
  struct rd_documents documents;
};

/* A node whose document is read, to find out if it is an image, or to open
 * it. */
struct node {
  struct rd_document base;            /* first */
  char *collection;                   /* "": the root */
  size_t number;                      /* among the root's children */
  bool opens;
  bool has_nbytes;
  uint64_t nbytes;                    /* stored for the volume */
  enum rd_kind kind;
  struct radio_volume *volume;
};

static enum radio_status
prepare_node (struct rd_document *base)
{
  struct node *node = (struct node *) base;
  struct radio_store *store = base->documents->store;
  struct rd_group_doc *group RD_CLEANUP (rd_cleanup_group_doc) = NULL;
  RD_TRY (rd_document_kind (base->document, base->path, &node->kind));
  if (!node->opens || (!store->is_radio && node->kind != RD_KIND_IMAGE))
    return RADIO_OK;
  RD_TRY (rd_group_parse (base->document, base->path, &group));
  RD_TRY (rd_volume_open_group (store, base->path, group, &node->volume));
  if (node->has_nbytes)
    return RADIO_OK;
  if (store->io->ops->lists_nothing) {
    node->nbytes = UINT64_MAX;
    return RADIO_OK;
  }
  return radio_volume_stored_nbytes (node->volume, &node->nbytes);
}

static void
free_node (struct rd_document *base)
{
  struct node *node = (struct node *) base;
  radio_volume_close (node->volume);
  rd_free (node->collection);
  rd_free (node);
}

/* Finds whether a volume is to be opened. */
static enum radio_status
choose (const struct listing *listing, const struct radio_entry *entry,
        bool *is_chosen)
{
  *is_chosen = true;
  return listing->choose
         ? listing->choose (entry, is_chosen, listing->user_data) : RADIO_OK;
}

/* Reports the node if it is a volume, and was not removed meanwhile. */
static enum radio_status
take_node (struct rd_document *base, void *user_data)
{
  const struct listing *listing = user_data;
  struct node *node = (struct node *) base;
  const struct rd_error *error = &base->error;
  bool is_chosen = true;
  const struct radio_entry entry = {
    node->collection, rd_base_name (base->path), base->path
  };
  if (error->status == RADIO_ERROR_NOT_FOUND)
    return RADIO_OK;
  if (!listing->store->is_radio) {
    /* A document that breaks the rules counts as none: it does not hide the
     * other volumes. */
    bool is_bad = error->status == RADIO_ERROR_FORMAT
                  || error->status == RADIO_ERROR_UNSUPPORTED;
    if (node->kind != RD_KIND_IMAGE)
      return is_bad ? RADIO_OK : rd_error_raise (error);
  }
  if (!listing->store->is_radio)
    RD_TRY (choose (listing, &entry, &is_chosen));
  if (!is_chosen)
    return RADIO_OK;
  /* A lack of memory says nothing of the volume. */
  if (listing->callback || error->status == RADIO_ERROR_MEMORY)
    RD_TRY (rd_error_raise (error));
  if (listing->callback)
    return listing->callback (&entry, listing->user_data);
  if (rd_error_raise (error) == RADIO_OK)
    return listing->opened (&entry, node->volume, node->nbytes,
                            listing->user_data);
  return listing->opened (&entry, NULL, 0, listing->user_data);
}

static struct node *
new_node (const char *collection, const char *path)
{
  struct node *node = rd_calloc (1, sizeof *node);
  if (node)
    node->collection = rd_strdup (collection);
  if (node && node->collection)
    node->base.path = rd_strdup (path);
  if (node && node->base.path)
    return node;
  rd_fail_memory (sizeof *node + strlen (path) + 1);
  if (node)
    free_node (&node->base);
  return NULL;
}

/* Reports a find: a volume of a store of radio's, or else a node that may be
 * one.  nbytes: NULL: unknown. */
static enum radio_status
add_found (struct listing *listing, const char *collection, const char *name,
           const uint64_t *nbytes)
{
  char *path RD_FREE = rd_key_join (collection, name);
  if (path == NULL)
    return RADIO_ERROR_MEMORY;
  if (listing->callback && listing->store->is_radio) {
    const struct radio_entry entry = { collection, name, path };
    return listing->callback (&entry, listing->user_data);
  }
  if (listing->store->is_radio) {
    const struct radio_entry entry = { collection, name, path };
    bool is_chosen;
    RD_TRY (choose (listing, &entry, &is_chosen));
    if (!is_chosen)
      return RADIO_OK;
  }
  struct node *node = new_node (collection, path);
  if (node == NULL)
    return RADIO_ERROR_MEMORY;
  node->opens = listing->callback == NULL;
  node->has_nbytes = nbytes != NULL || listing->without_sizes;
  node->nbytes = nbytes ? *nbytes : 0;
  return rd_documents_add (&listing->documents, &node->base);
}

/*------------------------------------------------------------------------
 * Collections
 *----------------------------------------------------------------------*/

static enum radio_status
add_folder (const struct rd_folder *folder, void *user_data)
{
  return folder->has_document
         ? add_found (user_data, folder->collection, folder->name,
                      folder->has_levels ? NULL : &folder->nbytes)
         : RADIO_OK;
}

/* The order of the keys of documents, in which objects are listed: names end
 * in '/', so that "a-1" comes before "a". */
static int
compare_names (const void *a, const void *b)
{
  const char *p = *(const char *const *) a, *q = *(const char *const *) b;
  size_t n = 0;
  while (p[n] && p[n] == q[n])
    n++;
  int pc = p[n] ? (unsigned char) p[n] : '/';
  int qc = q[n] ? (unsigned char) q[n] : '/';
  return pc - qc;
}

/* The names of the folders below a prefix, in that order. */
static enum radio_status
list_folders (struct radio_store *store, const char *prefix,
              struct rd_strings *names)
{
  RD_TRY (rd_strings_add_folders (names, store->io, prefix));
  if (names->n > 1)
    qsort (names->items, names->n, sizeof *names->items, compare_names);
  return RADIO_OK;
}

static enum radio_status
list_collection (struct listing *listing, const char *collection)
{
  struct radio_store *store = listing->store;
  struct rd_strings names RD_STRINGS_SCOPE = { 0 };
  RD_TRY (list_folders (store, collection, &names));
  RD_SCOPE ("check folders", RD_IN_METADATA);
  RD_NOTE_NAME ("collection", collection);
  for (size_t i = 0; i < names.n; i++) {
    bool exists = true;
    if (store->is_radio) {
      char *path RD_FREE = rd_key_join (collection, names.items[i]);
      if (path == NULL)
        return RADIO_ERROR_MEMORY;
      RD_TRY (rd_store_node_exists (store, path, &exists));
    }
    if (exists)
      RD_TRY (add_found (listing, collection, names.items[i], NULL));
  }
  return RADIO_OK;
}

/* Reports the volumes that have a row in the collection's table. */
static enum radio_status
list_rows (struct listing *listing, const char *collection)
{
  struct radio_store *store = listing->store;
  struct radio_table *table RD_CLEANUP (rd_cleanup_table) = NULL;
  struct radio_strings ids RD_STRINGS_FREE = { 0 };
  struct rd_strings names RD_STRINGS_SCOPE = { 0 };
  size_t nfolder = strlen (collection) + 1;
  char *path RD_FREE = rd_key_join (RADIO_TABLE_VOLUMES, collection);
  if (path == NULL)
    return RADIO_ERROR_MEMORY;
  if (store->is_radio)
    RD_TRY (rd_table_open_written (store, path, &table));
  if (table == NULL)
    return store->io->ops->list (store->io, collection, false, NULL, NULL);
  RD_TRY (radio_table_read_ids (table, &ids));
  for (size_t i = 0; i < ids.n; i++) {
    struct rd_slice id = rd_string (&ids, i);
    char *text RD_FREE = rd_strndup (id.at, id.n);
    if (text == NULL)
      return rd_fail_memory (id.n + 1);
    /* Another program's rows may have ids that are no volumes here. */
    bool is_here = strlen (text) == id.n && id.n > nfolder
                   && memcmp (text, collection, nfolder - 1) == 0
                   && text[nfolder - 1] == '/'
                   && rd_node_name_check (text + nfolder) == RADIO_OK;
    if (is_here)
      RD_TRY (rd_strings_add (&names, text + nfolder, id.n - nfolder));
  }
  if (names.n > 1)
    qsort (names.items, names.n, sizeof *names.items, compare_names);
  for (size_t i = 0; i < names.n; i++)
    RD_TRY (add_found (listing, collection, names.items[i], NULL));
  return RADIO_OK;
}

static enum radio_status
list_collections (struct listing *listing, char *const *collections, size_t n)
{
  struct radio_store *store = listing->store;
  if (store->io->ops->lists_nothing) {
    for (size_t i = 0; i < n; i++)
      RD_TRY (list_rows (listing, collections[i]));
    return RADIO_OK;
  }
  if (store->is_radio && !store->io->ops->is_blocking)
    return rd_folders_list (store, collections, n, add_folder, listing);
  for (size_t i = 0; i < n; i++)
    RD_TRY (list_collection (listing, collections[i]));
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * The root's children
 *----------------------------------------------------------------------*/

static bool
is_broken (enum radio_status status)
{
  return status == RADIO_ERROR_FORMAT || status == RADIO_ERROR_UNSUPPORTED;
}

/* A document that breaks the rules counts as none.  In a store of radio's it is
 * taken for a collection's: the volumes below do not depend on it. */
static enum radio_status
take_kind (struct rd_document *base, void *user_data)
{
  enum rd_kind *kinds = user_data;
  const struct node *node = (const struct node *) base;
  enum radio_status status = base->error.status;
  enum rd_kind kind = node->kind;
  if (is_broken (status) && base->documents->store->is_radio)
    kind = RD_KIND_GROUP;
  else if (status != RADIO_OK && status != RADIO_ERROR_NOT_FOUND
           && !is_broken (status))
    return rd_error_raise (&base->error);
  if (kind == RD_KIND_TABLES && strcmp (base->path, RD_TABLES_NAME) == 0)
    atomic_store (&base->documents->store->has_tables, true);
  kinds[node->number] = kind;
  return RADIO_OK;
}

static enum radio_status
read_kinds (struct radio_store *store, const struct rd_strings *names,
            enum rd_kind *kinds)
{
  struct rd_documents documents RD_DOCUMENTS_SCOPE = {
    .store = store, .prepare = prepare_node, .take = take_kind,
    .free_item = free_node, .user_data = kinds,
  };
  rd_documents_init (&documents);
  for (size_t i = 0; i < names->n; i++) {
    /* A cohort that was opened before has read this one. */
    if (atomic_load (&store->has_tables)
        && strcmp (names->items[i], RD_TABLES_NAME) == 0) {
      kinds[i] = RD_KIND_TABLES;
      continue;
    }
    struct node *node = new_node ("", names->items[i]);
    if (node == NULL)
      return RADIO_ERROR_MEMORY;
    node->number = i;
    RD_TRY (rd_documents_add (&documents, &node->base));
  }
  return rd_documents_finish (&documents);
}

static enum radio_status
list_children (struct listing *listing)
{
  struct radio_store *store = listing->store;
  struct rd_strings names RD_STRINGS_SCOPE = { 0 };
  RD_TRY (list_folders (store, "", &names));
  enum rd_kind *kinds RD_FREE = rd_calloc (names.n + 1, sizeof *kinds);
  if (kinds == NULL)
    return rd_fail_memory ((names.n + 1) * sizeof *kinds);
  RD_TRY (read_kinds (store, &names, kinds));
  /* Collections that follow each other are listed together. */
  char **together RD_FREE = rd_calloc (names.n + 1, sizeof *together);
  size_t n = 0;
  if (together == NULL)
    return rd_fail_memory ((names.n + 1) * sizeof *together);
  for (size_t i = 0; i < names.n; i++) {
    if (kinds[i] == RD_KIND_GROUP)
      together[n++] = names.items[i];
    if (kinds[i] != RD_KIND_IMAGE)
      continue;
    RD_TRY (list_collections (listing, together, n));
    RD_TRY (add_found (listing, "", names.items[i], NULL));
    n = 0;
  }
  return list_collections (listing, together, n);
}

/* Fails if a path is no collection. */
static enum radio_status
check_collection (struct radio_store *store, const char *path)
{
  enum rd_kind kind;
  /* In a store of radio's a group below a collection is a volume that has
   * lost its metadata, and what it holds are its arrays. */
  bool is_place = !store->is_radio || strchr (path, '/') == NULL;
  enum radio_status status = rd_node_kind (store, path, &kind);
  if (is_broken (status) && store->is_radio && is_place)
    kind = RD_KIND_GROUP;
  else
    RD_TRY (status);
  return kind == RD_KIND_GROUP && is_place ? RADIO_OK
    : rd_fail (RADIO_ERROR_NOT_FOUND, "%s: no such collection in %s", path,
               store->io->uri);
}

struct check_job {
  struct rd_job job;                  /* first */
  struct radio_store *store;
  const char *const *collections;
};

static enum radio_status
do_check (struct rd_job *base, uint64_t task, struct rd_scratch *scratch)
{
  const struct check_job *job = (const struct check_job *) base;
  (void) scratch;
  return check_collection (job->store, job->collections[task]);
}

enum radio_status
rd_list_check (struct radio_store *store, const char *const *collections,
               size_t n)
{
  static const struct radio_site site = {
    "check collections", RD_IN_METADATA, "rd_list_check", __FILE__, __LINE__,
    RADIO_SCOPE_WORK
  };
  struct check_job job = {
    .job = { .run = do_check, .n = n, .site = &site },
    .store = store, .collections = collections,
  };
  RD_TRY (rd_store_read_root (store));
  return n > 0 ? rd_store_run (store, &job.job) : RADIO_OK;
}

/* Lists n collections, or with 0 all that is in the store. */
static enum radio_status
list_volumes (struct listing *listing, const char *const *collections,
              size_t n)
{
  struct radio_store *store = listing->store;
  enum rd_kind kind = RD_KIND_GROUP;
  RD_TRY (rd_store_read_root (store));
  if (n > 0)
    return list_collections (listing, (char *const *) collections, n);
  if (store->is_array)
    return RADIO_OK;
  /* The root may be an image itself: then it is the only one. */
  if (!store->is_radio && !store->is_assumed)
    RD_TRY (rd_node_kind (store, "", &kind));
  return kind == RD_KIND_IMAGE ? add_found (listing, "", "", NULL)
                               : list_children (listing);
}

static enum radio_status
list_paths (struct listing *listing, const char *const *paths, size_t n)
{
  RD_TRY (rd_store_read_root (listing->store));
  for (size_t i = 0; i < n; i++) {
    const char *slash = strchr (paths[i], '/');
    if (slash == NULL)
      return rd_fail (RADIO_ERROR_ARGUMENT, "%s: not COLLECTION/NAME",
                      paths[i]);
    char *collection RD_FREE = rd_strndup (paths[i],
                                           (size_t) (slash - paths[i]));
    if (collection == NULL)
      return rd_fail_memory (strlen (paths[i]) + 1);
    RD_TRY (add_found (listing, collection, slash + 1, NULL));
  }
  return RADIO_OK;
}

static void
begin_listing (struct listing *listing)
{
  listing->documents = (struct rd_documents) {
    .store = listing->store, .prepare = prepare_node, .take = take_node,
    .free_item = free_node, .user_data = listing,
  };
  rd_documents_init (&listing->documents);
}

static enum radio_status
end_listing (struct listing *listing, enum radio_status status)
{
  if (status == RADIO_OK)
    status = rd_documents_finish (&listing->documents);
  rd_documents_end (&listing->documents);
  return status;
}

/* Lists the volumes of a collection, or of the store if that is NULL. */
static enum radio_status
run_listing (struct listing *listing, const char *collection)
{
  size_t n = collection ? 1 : 0;
  RD_TRY (rd_list_check (listing->store, &collection, n));
  begin_listing (listing);
  return end_listing (listing, list_volumes (listing, &collection, n));
}

static enum radio_status
stop_at_volume (const struct radio_entry *entry, void *user_data)
{
  bool *has_volumes = user_data;
  (void) entry;
  *has_volumes = true;
  return RADIO_ERROR_CANCELLED;
}

enum radio_status
rd_list_has_volumes (struct radio_store *store, const char *collection,
                     bool *has_volumes)
{
  struct listing listing = {
    .store = store, .callback = stop_at_volume, .user_data = has_volumes,
  };
  *has_volumes = false;
  enum radio_status status
    = list_collections (&listing, (char *const[]) { (char *) collection }, 1);
  return *has_volumes ? RADIO_OK : status;
}

enum radio_status
radio_store_list (struct radio_store *store, const char *collection,
                  radio_entry_fn *callback, void *user_data)
{
  RD_NOT_NULL (store);
  RD_NOT_NULL (callback);
  RD_SCOPE ("list", RD_IN_OPERATION);
  struct listing listing = {
    .store = store, .callback = callback, .user_data = user_data,
  };
  return rd_scope_end_with (run_listing (&listing, collection));
}

enum radio_status
radio_store_list_opened (struct radio_store *store, const char *collection,
                         radio_opened_fn *callback, void *user_data)
{
  RD_NOT_NULL (store);
  RD_NOT_NULL (callback);
  RD_SCOPE ("list", RD_IN_OPERATION);
  struct listing listing = {
    .store = store, .opened = callback, .user_data = user_data,
  };
  return rd_scope_end_with (run_listing (&listing, collection));
}

enum radio_status
radio_store_list_chosen (struct radio_store *store, const char *collection,
                         radio_choose_fn *chooser, radio_opened_fn *callback,
                         void *user_data)
{
  RD_NOT_NULL (store);
  RD_NOT_NULL (chooser);
  RD_NOT_NULL (callback);
  RD_SCOPE ("list", RD_IN_OPERATION);
  struct listing listing = {
    .store = store, .opened = callback, .choose = chooser,
    .user_data = user_data,
  };
  return rd_scope_end_with (run_listing (&listing, collection));
}

enum radio_status
rd_list_open (struct radio_store *store, const char *const *collections,
              size_t n, radio_opened_fn *callback, void *user_data)
{
  struct listing listing = {
    .store = store, .opened = callback, .user_data = user_data,
    .without_sizes = true,
  };
  begin_listing (&listing);
  return end_listing (&listing, list_volumes (&listing, collections, n));
}

enum radio_status
rd_list_open_paths (struct radio_store *store, const char *const *paths,
                    size_t n, radio_opened_fn *callback, void *user_data)
{
  struct listing listing = {
    .store = store, .opened = callback, .user_data = user_data,
    .without_sizes = true,
  };
  begin_listing (&listing);
  return end_listing (&listing, list_paths (&listing, paths, n));
}

enum radio_status
rd_list_collections (struct radio_store *store, struct rd_strings *names,
                     struct rd_strings *others)
{
  struct rd_strings folders RD_STRINGS_SCOPE = { 0 };
  RD_TRY (list_folders (store, "", &folders));
  enum rd_kind *kinds RD_FREE = rd_calloc (folders.n + 1, sizeof *kinds);
  if (kinds == NULL)
    return rd_fail_memory ((folders.n + 1) * sizeof *kinds);
  RD_TRY (read_kinds (store, &folders, kinds));
  for (size_t i = 0; i < folders.n; i++) {
    struct rd_strings *list = kinds[i] == RD_KIND_GROUP  ? names
                              : kinds[i] == RD_KIND_NONE ? others
                                                         : NULL;
    if (list)
      RD_TRY (rd_strings_add (list, folders.items[i],
                              strlen (folders.items[i])));
  }
  return RADIO_OK;
}

static enum radio_status
list_groups (struct radio_store *store, radio_entry_fn *callback,
             void *user_data)
{
  const struct radio_entry root = { "", "", "" };
  struct rd_strings names RD_STRINGS_SCOPE = { 0 };
  RD_TRY (rd_store_read_root (store));
  RD_TRY (callback (&root, user_data));
  RD_TRY (list_folders (store, "", &names));
  for (size_t i = 0; i < names.n; i++) {
    const struct radio_entry entry = { "", names.items[i], names.items[i] };
    RD_TRY (callback (&entry, user_data));
  }
  return RADIO_OK;
}

enum radio_status
radio_store_list_groups (struct radio_store *store, radio_entry_fn *callback,
                         void *user_data)
{
  RD_NOT_NULL (store);
  RD_NOT_NULL (callback);
  RD_SCOPE ("list groups", RD_IN_OPERATION);
  return rd_scope_end_with (list_groups (store, callback, user_data));
}
