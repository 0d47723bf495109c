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
  for (size_t i = 0; i < changes->n; i++) {
    free (changes->paths[i]);
    free (changes->from_paths[i]);
  }
  changes->n = 0;
}

void
rd_row_changes_clear (struct rd_row_changes *changes)
{
  forget (changes);
  free (changes->paths);
  free (changes->from_paths);
  changes->paths = changes->from_paths = NULL;
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
  const char *const *paths = (const char *const *) changes->paths;
  const char *const *from = (const char *const *) changes->from_paths;
  bool has_tables = changes->makes_tables;
  enum radio_status status = RADIO_OK;
  enum radio_node node;
  if (changes->n == 0)
    return RADIO_OK;
  if (changes->from && changes->from != changes->store && !has_tables)
    has_tables = radio_store_node (changes->from, "tables", &node)
                 == RADIO_OK;
  /* A store whose volumes are all that there is has nothing to keep. */
  if (!has_tables)
    status = radio_table_list (changes->store, stop_at_table, &has_tables);
  if (has_tables && changes->ends_moves)
    return radio_store_index_moved (changes->store, changes->before,
                                    changes->nbefore, from, paths,
                                    changes->n);
  if (has_tables && changes->from)
    return radio_store_index_copies (changes->from, from, changes->store,
                                     paths, changes->n, &changes->copies,
                                     NULL);
  if (has_tables)
    return radio_store_index_volumes (changes->store, paths, changes->n,
                                      NULL);
  return status == RADIO_ERROR_EXISTS || status == RADIO_ERROR_NOT_FOUND
         ? RADIO_OK : status;
}

int
rd_row_changes_write (struct rd_row_changes *changes)
{
  enum radio_status status = write_rows (changes);
  const char *message = radio_error_message ();
  if (status != RADIO_OK)
    changes->failed = true;
  /* All but that column was written, and radio index cannot change types. */
  if (status == RADIO_ERROR_EXISTS && strstr (message, "of another type there"))
    rd_error ("%s: %s; rename or remove it in one of the tables by 'radio "
              "table --rename' or '--drop', and repeat this with --overwrite",
              changes->name, message);
  else if (status != RADIO_OK)
    rd_error ("%s: rows of tables were not written: %s; repair them by "
              "'radio index'", changes->name, message);
  forget (changes);
  return changes->failed ? RD_EXIT_FAILED : RD_EXIT_OK;
}

/* Adds copies of paths; false without memory. */
static bool
add_path (struct rd_row_changes *changes, const char *path,
          const char *from_path)
{
  if (changes->n == changes->capacity) {
    size_t capacity = changes->capacity ? 2 * changes->capacity : 64;
    char **paths = reallocarray (changes->paths, capacity, sizeof *paths);
    if (paths)
      changes->paths = paths;
    char **from = reallocarray (changes->from_paths, capacity, sizeof *from);
    if (from)
      changes->from_paths = from;
    if (paths == NULL || from == NULL)
      return false;
    changes->capacity = capacity;
  }
  char *copy = strdup (path), *from = from_path ? strdup (from_path) : NULL;
  if (copy == NULL || (from_path && from == NULL)) {
    free (copy);
    free (from);
    return false;
  }
  changes->paths[changes->n] = copy;
  changes->from_paths[changes->n++] = from;
  return true;
}

void
rd_row_changes_add_copy (struct rd_row_changes *changes, const char *path,
                         struct radio_store *from, const char *from_path)
{
  /* Those of one store are written together. */
  if (changes->from != from)
    (void) rd_row_changes_write (changes);
  changes->from = from;
  if (!add_path (changes, path, from_path)) {
    rd_error_memory ();
    changes->failed = true;
  }
  if (changes->n >= MAX_CHANGES)
    (void) rd_row_changes_write (changes);
}

void
rd_row_changes_add (struct rd_row_changes *changes, const char *path)
{
  rd_row_changes_add_copy (changes, path, NULL, NULL);
}

void
rd_row_changes_add_gone (struct rd_row_changes *changes, const char *path)
{
  enum radio_node node;
  if (radio_store_node (changes->store, path, &node) == RADIO_ERROR_NOT_FOUND)
    rd_row_changes_add (changes, path);
}
