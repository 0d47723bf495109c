/* SPDX-License-Identifier: MIT */
/* Putting, finding and removing marks. */
#include <config.h>

#include <string.h>

#include "src/volume/gc/marks.h"
#include "src/volume/node.h"
#include "src/volume/strings.h"

/* Older ones were left behind. */
#define LIFE_S 3600

static char *
marks_folder (const char *path)
{
  return rd_key_join (path, RD_MARKS_NAME);
}

static enum radio_status
name_mark (const char *path, char **key)
{
  char name[RD_LEVEL_NAME_NBYTES];
  RD_TRY (rd_level_name (0, name));
  char *folder RD_FREE = marks_folder (path);
  *key = folder ? rd_key_join (folder, name) : NULL;
  return *key ? RADIO_OK : RADIO_ERROR_MEMORY;
}

enum radio_status
rd_mark_put (struct radio_store *store, const char *path,
             struct rd_mark *mark)
{
  static const char text[] = "somebody removes what no document names\n";
  struct rd_io *io = store->io;
  if (rd_io_excludes_all (io))
    return RADIO_OK;
  if (mark->key == NULL)
    RD_TRY (name_mark (path, &mark->key));
  mark->io = io;
  return rd_io_put (io, mark->key, text, sizeof text - 1, RD_PUT_REPLACE);
}

/* Where nothing may be removed it is emptied. */
static enum radio_status
remove_mark (struct rd_io *io, const char *key)
{
  enum radio_status status = io->ops->remove (io, key);
  if (status == RADIO_OK || status == RADIO_ERROR_NOT_FOUND)
    return RADIO_OK;
  return rd_io_put (io, key, "", 0, RD_PUT_REPLACE);
}

enum radio_status
rd_mark_end (struct rd_mark *mark, enum radio_status status)
{
  struct rd_error error;
  char *key RD_FREE = RD_STEAL (mark->key);
  if (key == NULL)
    return status;
  rd_error_save (&error, status);
  enum radio_status removed = remove_mark (mark->io, key);
  return status == RADIO_OK ? removed : rd_error_raise (&error);
}

/* What a look at the marks is after. */
struct looking {
  struct rd_strings young, old;
};

static void
free_looking (struct looking *looking)
{
  rd_strings_free (&looking->young);
  rd_strings_free (&looking->old);
}

static enum radio_status
look_at_mark (const struct rd_io_entry *entry, void *user_data)
{
  struct looking *looking = user_data;
  bool is_old = entry->age_s >= LIFE_S || entry->nbytes == 0;
  return rd_strings_add (is_old ? &looking->old : &looking->young,
                         entry->name, strlen (entry->name));
}

enum radio_status
rd_marks_look (struct radio_store *store, const char *path, char **key)
{
  struct looking looking RD_CLEANUP (free_looking) = { 0 };
  struct rd_io *io = store->io;
  char *folder RD_FREE = marks_folder (path);
  *key = NULL;
  if (folder == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (io->ops->list (io, folder, true, look_at_mark, &looking));
  if (looking.young.n == 0)
    return RADIO_OK;
  *key = rd_key_join (folder, looking.young.items[0]);
  return *key ? RADIO_OK : RADIO_ERROR_MEMORY;
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
  RD_TRY (io->ops->list (io, folder, true, look_at_mark, &looking));
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
