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
  RD_TRY (rd_store_node_exists (store, path, &exists));
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
    return rd_fail (RADIO_ERROR_NOT_FOUND, "'%s': not a volume's name",
                    name);
  RD_TRY (rd_store_read_root (store));
  RD_TRY (add_if_volume (store, "", name, &found));
  if (slash == NULL)
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
