/* SPDX-License-Identifier: MIT */
/* Rows of volumes that a command writes or removes. */
#include <config.h>

#include <string.h>

#include "tools/rows.h"

/* Rows are written at the latest after this many volumes. */
#define MAX_CHANGES 256

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

/* Writes the rows that were added. */
static enum radio_status
write_rows (struct rd_row_changes *changes)
{
  bool has_tables = changes->makes_tables;
  enum radio_status status = RADIO_OK;
  if (changes->n == 0)
    return RADIO_OK;
  /* A store whose volumes are all that there is has nothing to keep. */
  if (!has_tables)
    status = radio_table_list (changes->store, stop_at_table, &has_tables);
  if (has_tables)
    return radio_store_index_volumes (
      changes->store, (const char *const *) changes->paths, changes->n, NULL);
  return status == RADIO_ERROR_EXISTS || status == RADIO_ERROR_NOT_FOUND
         ? RADIO_OK : status;
}

int
rd_row_changes_write (struct rd_row_changes *changes)
{
  if (write_rows (changes) != RADIO_OK) {
    rd_error ("%s: rows of tables were not written: %s; repair them by "
              "'radio index'", changes->name, radio_error_message ());
    changes->failed = true;
  }
  forget (changes);
  return changes->failed ? RD_EXIT_FAILED : RD_EXIT_OK;
}

/* Adds a copy of a path; false without memory. */
static bool
add_path (struct rd_row_changes *changes, const char *path)
{
  if (changes->n == changes->capacity) {
    size_t capacity = changes->capacity ? 2 * changes->capacity : 64;
    char **paths = reallocarray (changes->paths, capacity, sizeof *paths);
    if (paths == NULL)
      return false;
    changes->paths = paths;
    changes->capacity = capacity;
  }
  changes->paths[changes->n] = strdup (path);
  return changes->paths[changes->n] && ++changes->n;
}

void
rd_row_changes_add (struct rd_row_changes *changes, const char *path)
{
  if (!add_path (changes, path)) {
    rd_error_memory ();
    changes->failed = true;
  }
  if (changes->n >= MAX_CHANGES)
    (void) rd_row_changes_write (changes);
}
