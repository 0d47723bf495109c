/* SPDX-License-Identifier: MIT */
/* Which objects of a copy are there, by a listing of each level: over a
 * network that takes a request for a thousand of them, and not one each. */
#include <config.h>

#include <string.h>

#include "src/base/checked.h"
#include "src/volume/copy/copy.h"

struct listing {
  struct rd_copy *copy;
  const struct rd_copy_level *level;
};

/* The next number of a key; none that is too large for a grid. */
static bool
take_number (const char **text, uint64_t *number)
{
  *text += strcspn (*text, "0123456789");
  if (**text == '\0')
    return false;
  for (*number = 0; **text >= '0' && **text <= '9'; ++*text)
    *number = rd_add_sat (rd_mul_sat (*number, 10),
                          (uint64_t) (**text - '0'));
  return true;
}

/* The place of a key among its level's objects. */
static bool
find_place (const struct rd_copy_level *level, const char *key,
            uint64_t *place)
{
  const struct rd_layout *layout = &level->array->layout;
  uint64_t chunk[RADIO_MAX_RANK] = { 0 };
  char same[RD_CHUNK_KEY_NBYTES];
  const char *rest = key;
  *place = 0;
  for (size_t axis = 0; axis < layout->rank; axis++) {
    if (!take_number (&rest, &chunk[axis])
        || chunk[axis] >= layout->chunks[axis])
      return false;
    *place = *place * layout->chunks[axis] + chunk[axis];
  }
  rd_chunk_key (level->array->doc, chunk, same);
  return strcmp (key, same) == 0;
}

static enum radio_status
note (const struct rd_io_entry *entry, void *user_data)
{
  const struct listing *listing = user_data;
  uint64_t place;
  if (find_place (listing->level, entry->name, &place))
    listing->copy->listed[listing->level->first + place] = true;
  return RADIO_OK;
}

enum radio_status
rd_copy_list (struct rd_copy *copy)
{
  struct rd_io *io = copy->to->io;
  if (rd_io_excludes_all (io))
    return RADIO_OK;
  memset (copy->listed, 0, copy->nobjects * sizeof *copy->listed);
  for (size_t i = 0; i < copy->nlevels; i++) {
    struct listing listing = { copy, &copy->levels[i] };
    RD_TRY (io->ops->list (io, copy->levels[i].to_path, true, note,
                           &listing));
  }
  copy->has_listed = true;
  return RADIO_OK;
}
