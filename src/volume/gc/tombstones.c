/* SPDX-License-Identifier: MIT */
/* Putting, finding and removing tombstones. */
#include <config.h>

#include <string.h>

#include "src/volume/gc/tombstones.h"
#include "src/volume/node.h"
#include "src/volume/strings.h"

/* Older ones are abandoned. */
#define LIFETIME_S 3600

enum radio_status
rd_tombstone_put (struct radio_store *store, const char *path,
                  struct rd_tombstone *tombstone)
{
  static const char text[]
    = "data that no document names is being removed\n";
  struct rd_io *io = store->io;
  if (rd_io_excludes_all (io))
    return RADIO_OK;
  if (tombstone->key == NULL) {
    char name[RD_LEVEL_NAME_NBYTES];
    RD_TRY (rd_level_name (0, name));
    char *folder RD_FREE = rd_key_join (path, RD_TOMBSTONES_NAME);
    tombstone->key = folder ? rd_key_join (folder, name) : NULL;
    if (tombstone->key == NULL)
      return RADIO_ERROR_MEMORY;
  }
  tombstone->io = io;
  return rd_io_put (io, tombstone->key, text, sizeof text - 1,
                    RD_PUT_REPLACE);
}

enum radio_status
rd_tombstone_end (struct rd_tombstone *tombstone, enum radio_status status)
{
  struct rd_io *io = tombstone->io;
  struct rd_error error;
  char *key RD_FREE = RD_STEAL (tombstone->key);
  if (key == NULL)
    return status;
  rd_error_save (&error, status);
  enum radio_status removed = rd_io_remove (io, key);
  if (removed != RADIO_OK)            /* not permitted: empty it */
    removed = rd_io_put (io, key, "", 0, RD_PUT_REPLACE);
  return status == RADIO_OK ? removed : rd_error_raise (&error);
}

/* The names of a volume's tombstones. */
struct tombstones {
  struct rd_strings live, abandoned;
};

static void
free_tombstones (struct tombstones *tombstones)
{
  rd_strings_free (&tombstones->live);
  rd_strings_free (&tombstones->abandoned);
}

static enum radio_status
add_tombstone (const struct rd_io_entry *entry, void *user_data)
{
  struct tombstones *tombstones = user_data;
  bool is_abandoned = entry->age_s >= LIFETIME_S || entry->nbytes == 0;
  return rd_strings_add (is_abandoned ? &tombstones->abandoned
                                      : &tombstones->live,
                         entry->name, strlen (entry->name));
}

enum radio_status
rd_tombstones_find (struct radio_store *store, const char *path, char **key)
{
  struct tombstones tombstones RD_CLEANUP (free_tombstones) = { 0 };
  struct rd_io *io = store->io;
  char *folder RD_FREE = rd_key_join (path, RD_TOMBSTONES_NAME);
  *key = NULL;
  if (folder == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (io->ops->list (io, folder, true, add_tombstone, &tombstones));
  if (tombstones.live.n == 0)
    return RADIO_OK;
  *key = rd_key_join (folder, tombstones.live.items[0]);
  return *key ? RADIO_OK : RADIO_ERROR_MEMORY;
}

enum radio_status
rd_tombstones_sweep (struct radio_store *store, const char *path,
                     bool dry_run, uint64_t *n)
{
  struct tombstones tombstones RD_CLEANUP (free_tombstones) = { 0 };
  struct rd_io *io = store->io;
  char *folder RD_FREE = rd_key_join (path, RD_TOMBSTONES_NAME);
  if (folder == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (io->ops->list (io, folder, true, add_tombstone, &tombstones));
  *n += tombstones.abandoned.n;
  for (size_t i = 0; i < tombstones.abandoned.n && !dry_run; i++) {
    char *key RD_FREE = rd_key_join (folder, tombstones.abandoned.items[i]);
    if (key == NULL)
      return RADIO_ERROR_MEMORY;
    RD_TRY (rd_io_remove (io, key));
  }
  return RADIO_OK;
}
