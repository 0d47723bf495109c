/* SPDX-License-Identifier: MIT */
/* Finding a volume by its bare name, and suggesting similar names. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "profiler/counters.h"
#include "src/base/suggest.h"
#include "src/volume/list.h"
#include "src/volume/node.h"
#include "src/volume/strings.h"

/* The volumes with similar names. */
struct search {
  struct rd_suggestions near;
  bool by_path;               /* compare whole paths, not bare names */
};

static enum radio_status
suggest (const struct radio_entry *entry, void *user_data)
{
  struct search *search = user_data;
  const char *text = search->by_path ? entry->path : entry->name;
  /* An image that is the store itself has no name to give. */
  return *text ? rd_suggest (&search->near, entry->path, text) : RADIO_OK;
}

static void
end_search (struct search *search)
{
  rd_suggestions_free (&search->near);
}

/* Suggest similar names, if the store can be listed. */
static enum radio_status
fail_not_found (struct radio_store *store, const char *name)
{
  struct search search RD_CLEANUP (end_search)
    = { .near.wanted = name, .by_path = strchr (name, '/') != NULL };
  char text[RD_ERROR_NBYTES];
  enum radio_status status = radio_store_list (store, NULL, suggest, &search);
  if (status != RADIO_ERROR_UNSUPPORTED)
    RD_TRY (status);
  return rd_fail (RADIO_ERROR_NOT_FOUND, "%s: no such volume in %s%s", name,
                  store->io->uri, rd_suggestions_text (&search.near, text));
}

/* Finds whether the node at a path is a volume: an image; or, in a store of
 * radio's, any other document of a collection, which is a damaged volume's. */
static enum radio_status
find_kind (struct radio_store *store, const char *path, bool *is_volume)
{
  enum rd_kind kind;
  enum radio_status status = rd_node_kind (store, path, &kind);
  const char *slash = strchr (path, '/');
  bool is_bad = status == RADIO_ERROR_FORMAT
                || status == RADIO_ERROR_UNSUPPORTED;
  *is_volume = status == RADIO_OK && kind == RD_KIND_IMAGE;
  if (*is_volume || (status == RADIO_OK && kind == RD_KIND_NONE)
      || (status != RADIO_OK && !is_bad)
      || !store->is_radio || slash == NULL || strchr (slash + 1, '/'))
    return status;
  char *collection RD_FREE = rd_strndup (path, (size_t) (slash - path));
  if (collection == NULL)
    return rd_fail_memory (strlen (path) + 1);
  status = rd_list_check (store, (const char *[]) { collection }, 1);
  *is_volume = status == RADIO_OK;
  return status == RADIO_ERROR_NOT_FOUND ? RADIO_OK : status;
}

/* Add the path if it is that of a volume; the collection is one, or "". */
static enum radio_status
add_if_volume (struct radio_store *store, const char *collection,
               const char *name, struct rd_strings *found)
{
  char *path RD_FREE = rd_key_join (collection, name);
  bool is_volume;
  if (path == NULL)
    return RADIO_ERROR_MEMORY;
  /* That it is there is found without reading it. */
  if (store->is_radio && *collection)
    RD_TRY (rd_store_node_exists (store, path, &is_volume));
  else
    RD_TRY (find_kind (store, path, &is_volume));
  if (!is_volume)
    return RADIO_OK;
  return rd_strings_add (found, path, strlen (path));
}

static enum radio_status
fail_no_name (const char *name)
{
  return rd_fail (RADIO_ERROR_NOT_FOUND, "'%s': not a volume's name", name);
}

static enum radio_status
find_path (struct radio_store *store, const char *name, char **path)
{
  struct rd_strings found RD_STRINGS_SCOPE = { 0 };
  struct rd_strings collections RD_STRINGS_SCOPE = { 0 };
  const char *slash = strrchr (name, '/');
  if (slash == name || (slash && slash[1] == '\0'))
    return fail_no_name (name);
  RD_TRY (rd_store_read_root (store));
  /* Without a name it is the root, which may be someone else's image. */
  if (name[0] != '\0' || !store->is_radio)
    RD_TRY (add_if_volume (store, "", name, &found));
  if (found.n == 0 && name[0] == '\0')
    return fail_no_name (name);
  if (slash == NULL && name[0] != '\0')
    RD_TRY (rd_list_collections (store, &collections, NULL));
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
  return rd_fail (RADIO_ERROR_ARGUMENT, "%s: in several collections; name "
                  "one of them: %s", name, (const char *) list.data);
}

enum radio_status
radio_store_find (struct radio_store *store, const char *name, char **path)
{
  RD_NOT_NULL (store);
  RD_NOT_NULL (name);
  RD_NOT_NULL (path);
  RD_SCOPE ("find", RD_IN_OPERATION);
  RD_NOTE_NAME ("volume", name);
  return rd_scope_end_with (find_path (store, name, path));
}
