/* SPDX-License-Identifier: MIT */
/* Listing the volumes of a store.  In a store of radio's every document
 * below a collection is a volume's; in any other tree the documents of its
 * first two levels are read to find the images. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "profiler/counters.h"
#include "src/volume/list.h"
#include "src/volume/node.h"
#include "src/volume/strings.h"

/* What a listing carries through its steps. */
struct listing {
  struct radio_store *store;
  radio_entry_fn *callback;
  void *user_data;
};

static enum radio_status
tell (const struct listing *listing, const char *collection,
      const char *name, const char *path)
{
  const struct radio_entry entry = { collection, name, path };
  return listing->callback (&entry, listing->user_data);
}

/* Whether a child of a collection is a committed volume. */
static enum radio_status
is_volume (struct radio_store *store, const char *path, bool *result)
{
  if (store->is_radio)
    return rd_node_exists (store, path, result);
  enum rd_kind kind;
  enum radio_status status = rd_node_kind (store, path, &kind);
  *result = status == RADIO_OK && kind == RD_KIND_IMAGE;

  /* A document that breaks the rules is no volume, and no reason to hide
   * the others. */
  bool is_bad = status == RADIO_ERROR_FORMAT
                || status == RADIO_ERROR_UNSUPPORTED;
  return is_bad ? RADIO_OK : status;
}

static enum radio_status
list_collection (const struct listing *listing, const char *collection)
{
  struct rd_strings names RD_STRINGS_SCOPE = { 0 };
  RD_TRY (rd_strings_add_folders (&names, listing->store->io, collection));
  for (size_t i = 0; i < names.n; i++) {
    char *path RD_FREE = rd_key_join (collection, names.items[i]);
    bool found;
    if (path == NULL)
      return RADIO_ERROR_MEMORY;
    RD_TRY (is_volume (listing->store, path, &found));
    if (found)
      RD_TRY (tell (listing, collection, names.items[i], path));
  }
  return RADIO_OK;
}

/* A folder of the root, and what it is. */
struct child {
  const char *name;
  enum rd_kind kind;
};

/* The byte order of paths: a collection's end in '/', so that "a-b/x" comes
 * before "a/x". */
static int
compare_children (const void *a, const void *b)
{
  const struct child *p = a, *q = b;
  size_t n = 0;
  while (p->name[n] && p->name[n] == q->name[n])
    n++;
  int pc = (unsigned char) p->name[n], qc = (unsigned char) q->name[n];
  if (pc == 0 && p->kind == RD_KIND_GROUP)
    pc = '/';
  if (qc == 0 && q->kind == RD_KIND_GROUP)
    qc = '/';
  return pc - qc;
}

static enum radio_status
classify (struct radio_store *store, const char *name, enum rd_kind *kind)
{
  enum radio_status status = rd_node_kind (store, name, kind);
  if (status == RADIO_ERROR_FORMAT || status == RADIO_ERROR_UNSUPPORTED) {
    *kind = RD_KIND_NONE;
    return RADIO_OK;
  }
  return status;
}

static enum radio_status
list_child (const struct listing *listing, const struct child *child)
{
  if (child->kind == RD_KIND_GROUP)
    return list_collection (listing, child->name);
  if (child->kind == RD_KIND_IMAGE)
    return tell (listing, "", child->name, child->name);
  return RADIO_OK;
}

static enum radio_status
list_children (const struct listing *listing)
{
  struct rd_strings names RD_STRINGS_SCOPE = { 0 };
  RD_TRY (rd_strings_add_folders (&names, listing->store->io, ""));
  struct child *children RD_FREE
    = rd_calloc (names.n + 1, sizeof *children);
  if (children == NULL)
    return rd_fail_memory ((names.n + 1) * sizeof *children);
  for (size_t i = 0; i < names.n; i++) {
    children[i].name = names.items[i];
    RD_TRY (classify (listing->store, names.items[i], &children[i].kind));
  }
  qsort (children, names.n, sizeof *children, compare_children);
  for (size_t i = 0; i < names.n; i++)
    RD_TRY (list_child (listing, &children[i]));
  return RADIO_OK;
}

/* The root may be an image by itself: then it is the only one. */
static enum radio_status
list_root (const struct listing *listing)
{
  enum rd_kind kind = RD_KIND_GROUP;
  if (listing->store->is_array)
    return RADIO_OK;
  if (!listing->store->is_radio)
    RD_TRY (rd_node_kind (listing->store, "", &kind));
  if (kind == RD_KIND_IMAGE)
    return tell (listing, "", "", "");
  return list_children (listing);
}

static enum radio_status
list_named (const struct listing *listing, const char *collection)
{
  enum rd_kind kind;
  RD_TRY (rd_node_kind (listing->store, collection, &kind));
  if (kind != RD_KIND_GROUP)
    return rd_fail (RADIO_ERROR_NOT_FOUND, "%s: no collection of that name "
                    "in %s", collection, listing->store->io->uri);
  return list_collection (listing, collection);
}

static enum radio_status
list (const struct listing *listing, const char *collection)
{
  RD_TRY (rd_store_look (listing->store));
  return collection ? list_named (listing, collection) : list_root (listing);
}

enum radio_status
radio_store_list (struct radio_store *store, const char *collection,
                  radio_entry_fn *callback, void *user_data)
{
  if (store == NULL || callback == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "radio_store_list: an argument is NULL");
  RD_SCOPE ("list", RD_IN_OPERATION);
  const struct listing listing = { store, callback, user_data };
  return rd_scope_end_with (list (&listing, collection));
}

/* Names of the root's groups. */
enum radio_status
rd_list_collections (struct radio_store *store, struct rd_strings *names)
{
  struct rd_strings folders RD_STRINGS_SCOPE = { 0 };
  RD_TRY (rd_strings_add_folders (&folders, store->io, ""));
  for (size_t i = 0; i < folders.n; i++) {
    enum rd_kind kind;
    const char *name = folders.items[i];
    RD_TRY (classify (store, name, &kind));
    if (kind == RD_KIND_GROUP)
      RD_TRY (rd_strings_add (names, name, strlen (name)));
  }
  return RADIO_OK;
}
