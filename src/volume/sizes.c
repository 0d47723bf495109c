/* SPDX-License-Identifier: MIT */
/* What a volume takes in its store. */
#include <config.h>

#include <string.h>

#include "src/volume/node.h"
#include "src/volume/volume.h"

struct sum {
  const struct radio_volume *volume;
  uint64_t nbytes;
};

/* Levels that the volume does not name are not its own: they are a writer's
 * that is at work, or garbage. */
static bool
is_own (const struct radio_volume *volume, const char *name)
{
  size_t n = strcspn (name, "/");
  const char *level = volume->meta.level_path;
  char first[RD_LEVEL_NAME_NBYTES];
  if (name[n] == '\0' || n >= sizeof first)
    return true;
  memcpy (first, name, n);
  first[n] = '\0';
  return !rd_is_level_name (first) || strcmp (first, level) == 0;
}

static enum radio_status
add_object (const struct rd_io_entry *entry, void *user_data)
{
  struct sum *sum = user_data;
  if (is_own (sum->volume, entry->name))
    sum->nbytes += entry->nbytes;
  return RADIO_OK;
}

enum radio_status
radio_volume_stored_nbytes (struct radio_volume *volume, uint64_t *nbytes)
{
  if (volume == NULL || nbytes == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_volume_stored_nbytes: an "
                    "argument is NULL");
  struct sum sum = { volume, 0 };
  struct rd_io *io = volume->array->store->io;
  RD_TRY (io->ops->list (io, volume->path, true, add_object, &sum));
  *nbytes = sum.nbytes;
  return RADIO_OK;
}
