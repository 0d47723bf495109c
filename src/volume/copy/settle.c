/* SPDX-License-Identifier: MIT */
/* What a copy has brought, or has found as an earlier one left it, was
 * garbage until the volume is published, and may be collected as such when
 * nothing of it was written for a while.  On a disk the level's lock keeps
 * collectors away, and there is nothing to do here.  Elsewhere all is looked
 * at again: before publishing, so that what appears is whole, unless somebody
 * began to collect in between; and after it, when whoever collects has ended
 * or has seen the document (marks.h). */
#include <config.h>

#include <errno.h>
#include <time.h>

#include "profiler/counters.h"
#include "src/volume/gc/collect.h"
#include "src/volume/copy/copy.h"
#include "src/volume/header.h"
#include "src/volume/gc/marks.h"
#include "src/volume/node.h"

/* Pauses between looks for marks, which double up to the longest: some ten
 * seconds in all.  To remove the levels of a volume takes a few requests. */
#define FIRST_PAUSE_NS 5000000L
#define LAST_PAUSE_NS 640000000L
#define MAX_LOOKS 22

static const struct radio_site settle_site = {
  "look again", RD_IN_METADATA, "rd_copy_settle", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

static void
pause_for (long ns)
{
  struct timespec rest = { 0, ns };
  while (nanosleep (&rest, &rest) != 0 && errno == EINTR)
    continue;
}

static enum radio_status
wait_for_marks (struct rd_copy *copy)
{
  char *key RD_FREE = NULL;
  long ns = FIRST_PAUSE_NS;
  for (int i = 0; i < MAX_LOOKS; i++) {
    rd_free (RD_STEAL (key));
    RD_TRY (rd_copy_progress (copy, 0));
    RD_TRY (rd_marks_look (copy->to, copy->to_path, &key));
    if (key == NULL)
      return RADIO_OK;
    pause_for (ns);
    ns = ns < LAST_PAUSE_NS ? 2 * ns : ns;
  }
  return rd_fail (RADIO_ERROR_IO, "%s: somebody removes data of this volume, "
                  "as %s tells: copy again when that has ended, or if it was "
                  "killed, when you have removed this object or in an hour",
                  copy->to->io->uri, key);
}

/* It is counted again when it was brought. */
static void
uncount (struct rd_copy *copy, const struct rd_copy_object *object)
{
  bool was_there = copy->was_there[object->i];
  atomic_fetch_sub (was_there ? &copy->there_count : &copy->sent_count, 1);
  atomic_fetch_sub (was_there ? &copy->there_nbytes : &copy->sent_nbytes,
                    object->nbytes);
  atomic_fetch_sub (&copy->done_nbytes, object->nbytes);
  copy->was_there[object->i] = false;
}

/* What the listing has not told of is asked for by itself. */
static enum radio_status
look_again (struct rd_job *base, uint64_t task, struct rd_scratch *scratch)
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
  uncount (copy, &object);
  return rd_copy_object (copy, &object, scratch);
}

static enum radio_status
settle_level (struct rd_copy *copy, const struct rd_copy_level *level)
{
  bool exists;
  RD_TRY (rd_node_exists (copy->to, level->to_path, &exists));
  return exists ? RADIO_OK : rd_copy_put_level (copy, level);
}

/* Only what was published has one; and another one than the copy's may be of
 * a volume that has replaced it since. */
static enum radio_status
settle_header (const struct rd_copy *copy)
{
  const struct rd_volume_meta *meta = &copy->volume->meta;
  if (!copy->is_ours || !meta->has_nifti)
    return RADIO_OK;
  return rd_header_mend_own (copy->to, copy->to_path, &meta->prefix);
}

/* Data first, so that no reader takes missing chunks for zeros. */
static enum radio_status
settle_all (struct rd_copy *copy)
{
  RD_TRY (rd_copy_list (copy));
  RD_TRY (rd_copy_run_objects (copy, look_again, &settle_site,
                               copy->max_active));
  for (size_t i = 0; i < copy->nlevels; i++)
    RD_TRY (settle_level (copy, &copy->levels[i]));
  return settle_header (copy);
}

/* What is published already is mended as far as can be, however long somebody
 * else takes. */
enum radio_status
rd_copy_settle (struct rd_copy *copy)
{
  struct rd_error error;
  if (rd_io_excludes_all (copy->to->io))
    return RADIO_OK;
  enum radio_status status = wait_for_marks (copy);
  if (status == RADIO_OK)
    return settle_all (copy);
  rd_error_save (&error, status);
  if (copy->is_ours)
    RD_TRY (settle_all (copy));
  return rd_error_raise (&error);
}
