/* SPDX-License-Identifier: MIT */
/* Putting, finding and removing marks. */
#include <config.h>

#include <string.h>

#include "src/volume/marks.h"
#include "src/volume/node.h"
#include "src/volume/strings.h"

static char *
marks_folder (const char *path)
{
  return rd_key_join (path, RD_MARKS_NAME);
}

enum radio_status
rd_mark_put (struct radio_store *store, const char *path,
             struct rd_mark *mark)
{
  static const char text[] = "somebody removes what no document names\n";
  char name[RD_LEVEL_NAME_NBYTES];
  struct rd_io *io = store->io;
  if (rd_io_excludes_all (io))
    return RADIO_OK;
  RD_TRY (rd_level_name (0, name));
  char *folder RD_FREE = marks_folder (path);
  char *key RD_FREE = folder ? rd_key_join (folder, name) : NULL;
  if (key == NULL)
    return RADIO_ERROR_MEMORY;
  mark->io = io;
  mark->key = RD_STEAL (key);
  return rd_io_put (io, mark->key, text, sizeof text - 1, RD_PUT_REPLACE);
}

enum radio_status
rd_mark_end (struct rd_mark *mark, enum radio_status status)
{
  struct rd_error error;
  char *key RD_FREE = RD_STEAL (mark->key);
  if (key == NULL)
    return status;
  rd_error_save (&error, status);
  enum radio_status removed = mark->io->ops->remove (mark->io, key);
  if (status != RADIO_OK)
    return rd_error_raise (&error);
  return removed == RADIO_ERROR_NOT_FOUND ? RADIO_OK : removed;
}

/* What a look at the marks is after. */
struct looking {
  uint64_t grace_s;
  bool found_young;
  struct rd_strings old;
};

static void
free_looking (struct looking *looking)
{
  rd_strings_free (&looking->old);
}

static enum radio_status
look_at_mark (const struct rd_io_entry *entry, void *user_data)
{
  struct looking *looking = user_data;
  if (entry->age_s >= looking->grace_s)
    return rd_strings_add (&looking->old, entry->name, strlen (entry->name));
  looking->found_young = true;
  return RADIO_OK;
}

static enum radio_status
look (struct rd_io *io, const char *folder, struct looking *looking)
{
  looking->grace_s = io->grace_s;
  return io->ops->list (io, folder, true, look_at_mark, looking);
}

enum radio_status
rd_marks_look (struct radio_store *store, const char *path, bool *found)
{
  struct looking looking RD_CLEANUP (free_looking) = { 0 };
  char *folder RD_FREE = marks_folder (path);
  if (folder == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (look (store->io, folder, &looking));
  *found = looking.found_young;
  return RADIO_OK;
}

enum radio_status
rd_marks_sweep (struct radio_store *store, const char *path, bool dry_run,
                uint64_t *n)
{
  struct looking looking RD_CLEANUP (free_looking) = { 0 };
  struct rd_io *io = store->io;
  char *folder RD_FREE = marks_folder (path);
  if (folder == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (look (io, folder, &looking));
  *n += looking.old.n;
  for (size_t i = 0; i < looking.old.n && !dry_run; i++) {
    char *key RD_FREE = rd_key_join (folder, looking.old.items[i]);
    if (key == NULL)
      return RADIO_ERROR_MEMORY;
    enum radio_status status = io->ops->remove (io, key);
    if (status != RADIO_ERROR_NOT_FOUND)
      RD_TRY (status);
  }
  return RADIO_OK;
}
