/* SPDX-License-Identifier: MIT */
/* Objects that a copy has sent, or that an earlier one left, are garbage
 * until the volume is published, and may be collected as such when none of
 * them has been written for a while.  On a disk the level's lock prevents
 * that, and there is nothing to do here.  Elsewhere all objects are checked
 * again: before publishing, so that the new volume is complete, unless a
 * collection began in between; and after it, when any collector has ended or
 * has seen the document (tombstones.h).  They are listed by level: over a
 * network that takes a request for a thousand of them, not one each. */
#include <config.h>

#include <errno.h>
#include <string.h>
#include <time.h>

#include "profiler/counters.h"
#include "src/volume/copy/copy.h"
#include "src/volume/gc/collect.h"
#include "src/volume/gc/tombstones.h"
#include "src/volume/header.h"
#include "src/volume/node.h"

/* Pauses between checks for tombstones, which double up to the longest: some
 * ten seconds in all.  Removing a volume's levels takes a few requests. */
#define FIRST_PAUSE_NS 5000000L
#define LAST_PAUSE_NS 640000000L
#define MAX_CHECKS 22

struct listing {
  struct rd_copy *copy;
  const struct rd_copy_level *level;
};

/* Mark the object as listed if its key is one of the level's chunks. */
static enum radio_status
add_listed (const struct rd_io_entry *entry, void *user_data)
{
  const struct listing *listing = user_data;
  const struct rd_copy_level *level = listing->level;
  const struct rd_layout *layout = &level->array->layout;
  uint64_t chunk[RADIO_MAX_RANK] = { 0 }, place = 0;
  if (!rd_chunk_key_parse (level->array->doc, layout->chunks, entry->name,
                           chunk))
    return RADIO_OK;
  for (size_t axis = 0; axis < layout->rank; axis++)
    place = place * layout->chunks[axis] + chunk[axis];
  listing->copy->listed[level->first + place] = true;
  return RADIO_OK;
}

enum radio_status
rd_copy_list_objects (struct rd_copy *copy)
{
  struct rd_io *io = copy->to->io;
  if (rd_io_excludes_all (io))
    return RADIO_OK;
  memset (copy->listed, 0, copy->nobjects * sizeof *copy->listed);
  for (size_t i = 0; i < copy->nlevels; i++) {
    struct listing listing = { copy, &copy->levels[i] };
    RD_TRY (io->ops->list (io, copy->levels[i].to_path, true, add_listed,
                           &listing));
  }
  copy->has_listed = true;
  return RADIO_OK;
}

static enum radio_status
wait_for_tombstones (struct rd_copy *copy)
{
  char *key RD_FREE = NULL;
  long ns = FIRST_PAUSE_NS;
  for (int i = 0; i < MAX_CHECKS; i++) {
    rd_free (RD_STEAL (key));
    RD_TRY (rd_copy_progress (copy, 0));
    RD_TRY (rd_tombstones_find (copy->to, copy->to_path, &key));
    if (key == NULL)
      return RADIO_OK;
    struct timespec rest = { 0, ns };
    while (nanosleep (&rest, &rest) != 0 && errno == EINTR)
      continue;
    ns = ns < LAST_PAUSE_NS ? 2 * ns : ns;
  }
  return rd_fail (RADIO_ERROR_IO, "%s: another process is removing data of "
                  "this volume (%s): copy again when it has finished, or if "
                  "it was killed, after removing this object or in an hour",
                  copy->to->io->uri, key);
}

static const struct radio_site recheck_site = {
  "recheck", RD_IN_METADATA, "rd_copy_recheck", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

/* Check an object that has not been listed, and copy it again if it is
 * missing. */
static enum radio_status
recheck_object (struct rd_job *base, uint64_t task,
                struct rd_scratch *scratch)
{
  struct rd_copy *copy = ((struct rd_copy_job *) base)->copy;
  struct rd_io *io = copy->to->io;
  struct rd_copy_object object;
  uint64_t nbytes;
  rd_copy_locate (copy, task, &object);
  if (object.nbytes == RD_COPY_ABSENT || copy->listed[task])
    return RADIO_OK;
  enum radio_status status = io->ops->size (io, object.to_key, &nbytes);
  if (status != RADIO_ERROR_NOT_FOUND)
    return status;
  /* It is counted again when it has been copied. */
  bool was_there = copy->was_there[task];
  atomic_fetch_sub (was_there ? &copy->there_count : &copy->sent_count, 1);
  atomic_fetch_sub (was_there ? &copy->there_nbytes : &copy->sent_nbytes,
                    object.nbytes);
  atomic_fetch_sub (&copy->done_nbytes, object.nbytes);
  copy->was_there[task] = false;
  return rd_copy_object (copy, &object, scratch);
}

/* Data first, so that no reader takes missing chunks for zeros.  Only a
 * published volume has a header array; if it is not the copy's, it may be of
 * a volume that has replaced it since. */
static enum radio_status
recheck_all (struct rd_copy *copy)
{
  const struct rd_volume_meta *meta = &copy->volume->meta;
  RD_TRY (rd_copy_list_objects (copy));
  RD_TRY (rd_copy_run_objects (copy, recheck_object, &recheck_site,
                               copy->max_active));
  for (size_t i = 0; i < copy->nlevels; i++) {
    const struct rd_copy_level *level = &copy->levels[i];
    bool exists;
    RD_TRY (rd_store_node_exists (copy->to, level->to_path, &exists));
    if (!exists)
      RD_TRY (rd_copy_put_level (copy, level));
  }
  if (!copy->is_ours || !meta->has_nifti)
    return RADIO_OK;
  return rd_header_repair_own (copy->to, copy->to_path, &meta->prefix,
                               copy->header_key, copy->header_is_last);
}

/* A published volume is repaired as far as possible, however long another
 * process takes. */
enum radio_status
rd_copy_recheck (struct rd_copy *copy)
{
  struct rd_error error;
  if (rd_io_excludes_all (copy->to->io))
    return RADIO_OK;
  enum radio_status status = wait_for_tombstones (copy);
  if (status == RADIO_OK)
    return recheck_all (copy);
  rd_error_save (&error, status);
  if (copy->is_ours)
    RD_TRY (recheck_all (copy));
  return rd_error_raise (&error);
}
