/* SPDX-License-Identifier: MIT */
/* Rows of volumes that a command writes or removes. */
#include <config.h>

#include <string.h>

#include "tools/index.h"

bool
rd_row_changes_add (struct rd_row_changes *changes, const char *path)
{
  if (changes->n == changes->capacity) {
    size_t capacity = changes->capacity ? 2 * changes->capacity : 64;
    char **paths = reallocarray (changes->paths, capacity, sizeof *paths);
    if (paths == NULL)
      return rd_error_memory (), false;
    changes->paths = paths;
    changes->capacity = capacity;
  }
  char *copy = strdup (path);
  if (copy == NULL)
    return rd_error_memory (), false;
  changes->paths[changes->n++] = copy;
  return true;
}

static void
forget (struct rd_row_changes *changes)
{
  for (size_t i = 0; i < changes->n; i++)
    free (changes->paths[i]);
  changes->n = 0;
}

void
rd_row_changes_clear (struct rd_row_changes *changes)
{
  forget (changes);
  free (changes->paths);
  changes->paths = NULL;
  changes->capacity = 0;
}

static enum radio_status
stop_at_table (const struct radio_table_entry *entry, void *user_data)
{
  bool *has_tables = user_data;
  (void) entry;
  *has_tables = true;
  return RADIO_ERROR_CANCELLED;
}

int
rd_row_changes_write (struct rd_row_changes *changes,
                      struct radio_store *store, const char *name)
{
  bool has_tables = changes->makes_tables;
  enum radio_status status = RADIO_OK;
  if (changes->n == 0)
    return RD_EXIT_OK;
  /* A store whose volumes are all that there is has nothing to keep. */
  if (!has_tables)
    status = radio_table_list (store, stop_at_table, &has_tables);
  if (!has_tables && (status == RADIO_OK || status == RADIO_ERROR_EXISTS
                      || status == RADIO_ERROR_NOT_FOUND)) {
    forget (changes);
    return RD_EXIT_OK;
  }
  if (has_tables)
    status = radio_store_index_volumes (
      store, (const char *const *) changes->paths, changes->n, NULL);
  forget (changes);
  if (status == RADIO_OK)
    return RD_EXIT_OK;
  return rd_error ("%s: rows of tables were not written: %s; repair them by "
                   "'radio index'", name, radio_error_message ());
}
