/* SPDX-License-Identifier: MIT */
/* Listing the volumes of a store, and finding one by its bare name.  In a
 * store of radio's every document below a collection is a volume's; in any
 * other tree the documents of its first two levels are read to find the
 * images. */
#include <config.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/counters.h"
#include "src/volume/list.h"
#include "src/volume/node.h"
#include "src/volume/strings.h"

struct listing {
  struct radio_store *store;
  radio_entry_fn *callback;
  void *user_data;
};

static enum radio_status
report_entry (const struct listing *listing, const char *collection,
              const char *name, const char *path)
{
  const struct radio_entry entry = { collection, name, path };
  return listing->callback (&entry, listing->user_data);
}

/* Like rd_node_kind, but a document that breaks the rules counts as none: it
 * does not hide the other volumes. */
static enum radio_status
classify_node (struct radio_store *store, const char *name,
               enum rd_kind *kind)
{
  enum radio_status status = rd_node_kind (store, name, kind);
  if (status == RADIO_ERROR_FORMAT || status == RADIO_ERROR_UNSUPPORTED) {
    *kind = RD_KIND_NONE;
    return RADIO_OK;
  }
  return status;
}

static enum radio_status
list_collection (const struct listing *listing, const char *collection)
{
  struct radio_store *store = listing->store;
  struct rd_strings names RD_STRINGS_SCOPE = { 0 };
  RD_TRY (rd_strings_add_folders (&names, store->io, collection));
  for (size_t i = 0; i < names.n; i++) {
    char *path RD_FREE = rd_key_join (collection, names.items[i]);
    enum rd_kind kind;
    bool is_volume;
    if (path == NULL)
      return RADIO_ERROR_MEMORY;
    if (store->is_radio)
      RD_TRY (rd_node_exists (store, path, &is_volume));
    else {
      RD_TRY (classify_node (store, path, &kind));
      is_volume = kind == RD_KIND_IMAGE;
    }
    if (is_volume)
      RD_TRY (report_entry (listing, collection, names.items[i], path));
  }
  return RADIO_OK;
}

/* A folder of the root. */
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
list_volumes (const struct listing *listing, const char *collection)
{
  struct radio_store *store = listing->store;
  enum rd_kind kind = RD_KIND_GROUP;
  RD_TRY (rd_store_read_root (store));
  if (collection) {
    RD_TRY (rd_node_kind (store, collection, &kind));
    if (kind != RD_KIND_GROUP)
      return rd_fail (RADIO_ERROR_NOT_FOUND, "%s: no collection of that name "
                      "in %s", collection, store->io->uri);
    return list_collection (listing, collection);
  }
  if (store->is_array)
    return RADIO_OK;
  /* The root may be an image itself: then it is the only one. */
  if (!store->is_radio)
    RD_TRY (rd_node_kind (store, "", &kind));
  if (kind == RD_KIND_IMAGE)
    return report_entry (listing, "", "", "");

  struct rd_strings names RD_STRINGS_SCOPE = { 0 };
  RD_TRY (rd_strings_add_folders (&names, store->io, ""));
  struct child *children RD_FREE
    = rd_calloc (names.n + 1, sizeof *children);
  if (children == NULL)
    return rd_fail_memory ((names.n + 1) * sizeof *children);
  for (size_t i = 0; i < names.n; i++) {
    children[i].name = names.items[i];
    RD_TRY (classify_node (store, names.items[i], &children[i].kind));
  }
  qsort (children, names.n, sizeof *children, compare_children);
  for (size_t i = 0; i < names.n; i++) {
    const char *name = children[i].name;
    if (children[i].kind == RD_KIND_GROUP)
      RD_TRY (list_collection (listing, name));
    else if (children[i].kind == RD_KIND_IMAGE)
      RD_TRY (report_entry (listing, "", name, name));
  }
  return RADIO_OK;
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
  return rd_scope_end_with (list_volumes (&listing, collection));
}

enum radio_status
rd_list_collections (struct radio_store *store, struct rd_strings *names)
{
  struct rd_strings folders RD_STRINGS_SCOPE = { 0 };
  RD_TRY (rd_strings_add_folders (&folders, store->io, ""));
  for (size_t i = 0; i < folders.n; i++) {
    enum rd_kind kind;
    const char *name = folders.items[i];
    RD_TRY (classify_node (store, name, &kind));
    if (kind == RD_KIND_GROUP)
      RD_TRY (rd_strings_add (names, name, strlen (name)));
  }
  return RADIO_OK;
}

#define COMPARED_MAX 255
#define NSUGGESTIONS 3

/* Wagner and Fischer's algorithm, one row at a time. */
unsigned
rd_edit_distance (const char *a, const char *b)
{
  unsigned row[COMPARED_MAX + 1];
  size_t na = strnlen (a, COMPARED_MAX), nb = strnlen (b, COMPARED_MAX);
  for (size_t j = 0; j <= nb; j++)
    row[j] = (unsigned) (2 * j);
  for (size_t i = 1; i <= na; i++) {
    unsigned diagonal = row[0];
    row[0] = (unsigned) (2 * i);
    for (size_t j = 1; j <= nb; j++) {
      unsigned char p = (unsigned char) a[i - 1];
      unsigned char q = (unsigned char) b[j - 1];
      unsigned best = diagonal;               /* replace one by the other */
      if (p != q)
        best += tolower (p) == tolower (q) ? 1 : 2;
      diagonal = row[j];
      if (row[j] + 2 < best)
        best = row[j] + 2;
      if (row[j - 1] + 2 < best)
        best = row[j - 1] + 2;
      row[j] = best;
    }
  }
  return row[nb];
}

/* The nearest paths seen so far, best first. */
struct suggestions {
  const char *wanted;
  bool by_path;               /* compare whole paths, not bare names */
  char *paths[NSUGGESTIONS];
  unsigned distances[NSUGGESTIONS];
  size_t n;
};

static void
free_suggestions (struct suggestions *near)
{
  for (size_t i = 0; i < near->n; i++)
    rd_free (near->paths[i]);
}

static enum radio_status
suggest (const struct radio_entry *entry, void *user_data)
{
  struct suggestions *near = user_data;
  const char *text = near->by_path ? entry->path : entry->name;
  unsigned distance = rd_edit_distance (near->wanted, text);
  /* Names with a third of their letters wrong are no help. */
  size_t length = strnlen (near->wanted, COMPARED_MAX), at = near->n;
  unsigned farthest = (unsigned) (length < 6 ? 4 : 2 * (length / 3));
  while (at > 0 && near->distances[at - 1] > distance)
    at--;
  if (distance > farthest || at == NSUGGESTIONS)
    return RADIO_OK;
  char *path = rd_strdup (entry->path);
  if (path == NULL)
    return rd_fail_memory (strlen (entry->path) + 1);
  if (near->n == NSUGGESTIONS)
    rd_free (near->paths[--near->n]);
  size_t nmoved = near->n - at;
  memmove (near->paths + at + 1, near->paths + at,
           nmoved * sizeof near->paths[0]);
  memmove (near->distances + at + 1, near->distances + at,
           nmoved * sizeof near->distances[0]);
  near->paths[at] = path;
  near->distances[at] = distance;
  near->n++;
  return RADIO_OK;
}

/* Suggest similar names, if the store can be listed. */
static enum radio_status
fail_not_found (struct radio_store *store, const char *name)
{
  struct suggestions near RD_CLEANUP (free_suggestions)
    = { .wanted = name, .by_path = strchr (name, '/') != NULL };
  enum radio_status status = radio_store_list (store, NULL, suggest, &near);
  if (status != RADIO_ERROR_UNSUPPORTED)
    RD_TRY (status);
  const char *uri = store->io->uri;
  char *const *p = near.paths;
  switch (near.n) {
  case 0:
    return rd_fail (RADIO_ERROR_NOT_FOUND, "no volume '%s' in %s", name,
                    uri);
  case 1:
    return rd_fail (RADIO_ERROR_NOT_FOUND, "no volume '%s' in %s; did you "
                    "mean %s?", name, uri, p[0]);
  case 2:
    return rd_fail (RADIO_ERROR_NOT_FOUND, "no volume '%s' in %s; did you "
                    "mean %s or %s?", name, uri, p[0], p[1]);
  default:
    return rd_fail (RADIO_ERROR_NOT_FOUND, "no volume '%s' in %s; did you "
                    "mean %s, %s or %s?", name, uri, p[0], p[1], p[2]);
  }
}

/* Add the path if it is a volume. */
static enum radio_status
add_if_volume (struct radio_store *store, const char *collection,
               const char *name, struct rd_strings *found)
{
  char *path RD_FREE = rd_key_join (collection, name);
  enum rd_kind kind;
  if (path == NULL)
    return RADIO_ERROR_MEMORY;
  bool exists;
  RD_TRY (rd_node_exists (store, path, &exists));
  if (!exists)
    return RADIO_OK;
  if (!store->is_radio || strchr (path, '/') == NULL) {
    RD_TRY (rd_node_kind (store, path, &kind));
    if (kind != RD_KIND_IMAGE)
      return RADIO_OK;
  }
  return rd_strings_add (found, path, strlen (path));
}

static enum radio_status
find_path (struct radio_store *store, const char *name, char **path)
{
  struct rd_strings found RD_STRINGS_SCOPE = { 0 };
  struct rd_strings collections RD_STRINGS_SCOPE = { 0 };
  const char *slash = strrchr (name, '/');
  if (name[0] == '\0' || slash == name || (slash && slash[1] == '\0'))
    return rd_fail (RADIO_ERROR_NOT_FOUND, "'%s' is no name of a volume",
                    name);
  RD_TRY (rd_store_read_root (store));
  RD_TRY (add_if_volume (store, "", name, &found));
  if (slash == NULL)
    RD_TRY (rd_list_collections (store, &collections));
  for (size_t i = 0; i < collections.n; i++)
    RD_TRY (add_if_volume (store, collections.items[i], name, &found));
  if (found.n == 0)
    return fail_not_found (store, name);
  if (found.n == 1) {
    *path = strdup (found.items[0]);    /* for the caller's free () */
    return *path ? RADIO_OK : rd_fail_memory (strlen (found.items[0]) + 1);
  }
  struct rd_buffer list RD_BUFFER_SCOPE = { 0 };
  for (size_t i = 0; i < found.n; i++) {
    if (i > 0)
      RD_TRY (rd_buffer_append (&list, ", ", 2));
    RD_TRY (rd_buffer_append (&list, found.items[i],
                              strlen (found.items[i])));
  }
  RD_TRY (rd_buffer_append (&list, "", 1));
  return rd_fail (RADIO_ERROR_ARGUMENT, "'%s' is in several collections, "
                  "name one of them: %s", name, (const char *) list.data);
}

enum radio_status
radio_store_find (struct radio_store *store, const char *name, char **path)
{
  if (store == NULL || name == NULL || path == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "radio_store_find: an argument is NULL");
  RD_SCOPE ("find", RD_IN_OPERATION);
  RD_NOTE_NAME ("volume", name);
  return rd_scope_end_with (find_path (store, name, path));
}
