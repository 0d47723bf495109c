/* SPDX-License-Identifier: MIT */
/* Copying a volume: the pool copies the levels' shards, then their documents
 * are put, and the volume's document is published last.  Until then the volume
 * does not exist for readers; objects of a copy that ended early have the same
 * names in the next one. */
#include <config.h>

#include <string.h>

#include "src/base/checked.h"
#include "src/base/structs.h"
#include "profiler/counters.h"
#include "src/volume/gc/collect.h"
#include "src/volume/copy/copy.h"
#include "src/volume/publish.h"
#include "src/volume/stats/kept-stats.h"

/* Bounds of the pieces that are read and written at a time; within them, the
 * store's preferred size. */
#define PIECE_MIN_NBYTES ((uint64_t) 1 << 20)
#define PIECE_MAX_NBYTES ((uint64_t) 8 << 20)

static void
free_copy (struct rd_copy *copy)
{
  for (size_t i = 0; i < copy->nlevels; i++) {
    struct rd_copy_level *level = &copy->levels[i];
    rd_io_unlock (level->lock);
    radio_array_close (level->array);
    rd_buffer_free (&level->text);
    rd_free (level->to_path);
  }
  rd_free (copy->levels);
  rd_free (copy->sizes);
  rd_free (copy->was_there);
  rd_free (copy->listed);
  rd_strings_free (&copy->names);
  radio_volume_close (copy->volume);
  rd_buffer_free (&copy->text);
  json_object_put (copy->document);
}

static const struct radio_site measure_site = {
  "measure", RD_IN_METADATA, "rd_copy", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};
static const struct radio_site shards_site = {
  "shards", RD_IN_OPERATION, "rd_copy", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

enum radio_status
rd_copy_run_objects (struct rd_copy *copy, rd_task_fn *run,
                     const struct radio_site *site, unsigned max_active)
{
  struct rd_copy_job job = {
    .job = {
      .run = run, .n = copy->nobjects, .max_active = max_active,
      .site = site,
    },
    .copy = copy,
  };
  return rd_pool_run (copy->to->context->pool, &job.job);
}

/* Read the size of an object in the source; in a dry run also compare it
 * with the size in the destination. */
static enum radio_status
measure_object (struct rd_job *base, uint64_t task,
                struct rd_scratch *scratch)
{
  struct rd_copy *copy = ((struct rd_copy_job *) base)->copy;
  struct rd_io *from = copy->from->io, *to = copy->to->io;
  struct rd_copy_object object;
  (void) scratch;
  rd_copy_locate (copy, task, &object);
  enum radio_status status = from->ops->size (from, object.from_key,
                                              &object.nbytes);
  if (status == RADIO_ERROR_NOT_FOUND) {
    if (object.level->array->is_complete)
      return rd_copy_fail_missing (copy, object.from_key);
    copy->sizes[task] = RD_COPY_ABSENT;
    return RADIO_OK;
  }
  RD_TRY (status);
  copy->sizes[task] = object.nbytes;
  if (!copy->options->dry_run)
    return RADIO_OK;

  uint64_t nbytes;
  status = to->ops->size (to, object.to_key, &nbytes);
  if (status != RADIO_ERROR_NOT_FOUND)
    RD_TRY (status);
  bool exists = status == RADIO_OK && nbytes == object.nbytes;
  atomic_fetch_add (exists ? &copy->there_count : &copy->sent_count, 1);
  atomic_fetch_add (exists ? &copy->there_nbytes : &copy->sent_nbytes,
                    object.nbytes);
  return RADIO_OK;
}

enum radio_status
rd_copy_put_level (struct rd_copy *copy, const struct rd_copy_level *level)
{
  struct rd_buffer text RD_BUFFER_SCOPE = { 0 };
  struct rd_io *io = copy->to->io;
  char *key RD_FREE = rd_document_key (level->to_path);
  if (key == NULL)
    return RADIO_ERROR_MEMORY;
  enum radio_status status
    = rd_io_read_all (io, key, RD_DOCUMENT_MAX_NBYTES, &text);
  if (status != RADIO_OK && status != RADIO_ERROR_NOT_FOUND)
    return status;
  bool may_be_old = !rd_io_excludes_all (io) && !copy->names_level;
  if (status == RADIO_OK && !may_be_old
      && text.nbytes == level->text.nbytes
      && memcmp (text.data, level->text.data, text.nbytes) == 0)
    return RADIO_OK;
  RD_TRY (rd_copy_check_may_write (copy, key));
  return rd_io_put (io, key, level->text.data, level->text.nbytes,
                    RD_PUT_OWN);
}

/* The levels are locked before the garbage is removed, so that an earlier
 * copy's shards are kept.  Where locks do not exclude other processes, unnamed
 * data is safe from them only while some of it is young: data of an earlier
 * copy is not, so its documents are put again.  A failure to remove the
 * garbage is ignored. */
static enum radio_status
begin_levels (struct rd_copy *copy)
{
  RD_SCOPE ("begin level", RD_IN_METADATA);
  struct rd_io_lock *lock RD_CLEANUP (rd_cleanup_io_lock) = NULL;
  struct rd_existing existing RD_EXISTING_SCOPE = { 0 };
  struct json_object *document RD_CLEANUP (rd_cleanup_json) = NULL;
  struct radio_gc_result removed = { 0 };
  struct rd_io *io = copy->to->io;
  RD_TRY (io->ops->lock (io, copy->to_path, true, &lock));

  /* The volume that is to be replaced may be this one, or have its data.  Its
   * document may change until the copy is published; then another volume
   * exists, with another level. */
  RD_TRY (rd_existing_read (copy->to, copy->to_path, &existing));
  const char *theirs = existing.meta.level_path;
  if (theirs && strcmp (theirs, copy->volume->meta.level_path) == 0) {
    enum radio_status found
      = rd_store_read_document (copy->to, copy->to_path, &document);
    if (found != RADIO_ERROR_NOT_FOUND) {       /* else removed just now */
      RD_TRY (found);
      copy->names_level = true;
      copy->is_same = rd_publish_is_same_document (document, copy->document);
    }
  }

  for (size_t i = 0; i < copy->nlevels; i++) {
    struct rd_copy_level *level = &copy->levels[i];
    RD_TRY (io->ops->lock (io, level->to_path, false, &level->lock));
    if (level->lock == NULL)
      return rd_fail (RADIO_ERROR_IO, "%s/%s: another copy to it is in "
                      "progress", io->uri, copy->to_path);
  }
  if (!rd_io_excludes_all (io) && !copy->names_level)
    for (size_t i = 0; i < copy->nlevels; i++)
      RD_TRY (rd_copy_put_level (copy, &copy->levels[i]));
  enum radio_status status
    = rd_collect_contents (copy->to, copy->to_path, false, &removed);
  return status == RADIO_ERROR_MEMORY ? status : RADIO_OK;
}

static enum radio_status
copy_object (struct rd_job *base, uint64_t task, struct rd_scratch *scratch)
{
  struct rd_copy *copy = ((struct rd_copy_job *) base)->copy;
  struct rd_copy_object object;
  rd_copy_locate (copy, task, &object);
  if (object.nbytes == RD_COPY_ABSENT)
    return RADIO_OK;
  return rd_copy_object (copy, &object, scratch);
}

static enum radio_status
publish (struct rd_copy *copy)
{
  const struct rd_volume_meta *meta = &copy->volume->meta;
  struct rd_publication publication = {
    .store = copy->to,
    .path = copy->to_path,
    .existing = copy->options->existing,
    .level_name = meta->level_path,
    .sha256 = meta->source_sha256 ? meta->source_sha256 : "",
    .prefix = meta->has_nifti ? &meta->prefix : NULL,
    .document = copy->document,
    .text = copy->options->strip ? NULL : (const char *) copy->text.data,
    .nbytes = copy->text.nbytes,
  };
  RD_SCOPE ("commit", RD_IN_OPERATION);
  for (size_t i = 0; i < copy->nlevels; i++)
    RD_TRY (rd_copy_put_level (copy, &copy->levels[i]));
  RD_TRY (rd_copy_recheck (copy));
  enum radio_status status = rd_publish (&publication, &copy->is_ours);
  copy->skipped = publication.skipped;
  copy->header_key = publication.header_key;
  copy->header_is_last = publication.header_is_last;
  return rd_scope_end_with (status);
}

/* The copy has them when it is published: a move removes the others then. */
static enum radio_status
copy_statistics (const struct rd_copy *copy)
{
  for (size_t i = 0; i < copy->nlevels; i++) {
    const struct rd_copy_level *level = &copy->levels[i];
    if (strcmp (level->name, copy->volume->meta.level_path) == 0)
      return rd_kept_stats_copy (copy->from, level->array->path, copy->to,
                                 level->to_path);
  }
  return RADIO_OK;
}

static enum radio_status
write_volume (struct rd_copy *copy)
{
  const struct radio_context *context = copy->to->context;
  RD_TRY (begin_levels (copy));
  RD_TRY (rd_copy_list_objects (copy));

  /* The size of pieces, and the number of objects to copy at a time: as many
   * as fit into half of the memory, each with two pieces, its index, a tile,
   * and its writer's buffers. */
  uint64_t limit = context->memory_limit_nbytes, most = 0;
  uint64_t preferred = rd_max_u64 (copy->from->io->piece_nbytes,
                                   PIECE_MIN_NBYTES);
  copy->piece_nbytes = rd_min_u64 (rd_min_u64 (preferred, PIECE_MAX_NBYTES),
                                   limit / 16 + 1);
  for (size_t i = 0; i < copy->nlevels; i++) {
    const struct rd_layout *layout = &copy->levels[i].array->layout;
    uint64_t nbytes = rd_add_sat (rd_mul_sat (layout->index_nbytes, 4),
                                  layout->decode_nbytes);
    nbytes = rd_add_sat (nbytes, rd_mul_sat (layout->tile_bound_nbytes, 2));
    most = rd_max_u64 (most, nbytes);
  }
  uint64_t each = rd_add_sat (2 * copy->piece_nbytes, most);
  each = rd_add_sat (each, copy->to->io->writer_nbytes);
  uint64_t n = rd_min_u64 (limit / 2 / each, context->nthreads);
  copy->max_active = (unsigned) rd_max_u64 (n, 1);
  RD_TRY (rd_copy_run_objects (copy, copy_object, &shards_site,
                               copy->max_active));

  RD_TRY (copy_statistics (copy));
  RD_TRY (publish (copy));
  if (!copy->is_ours)
    return RADIO_OK;
  /* Now that the volume exists, its objects may be rewritten. */
  copy->is_same = true;
  enum radio_status status = rd_copy_recheck (copy);
  if (status == RADIO_OK)
    return RADIO_OK;
  return rd_fail_in (status, "%s: published, but objects that were removed "
                     "meanwhile may be missing: copy it again, replacing it",
                     copy->to_path);
}

static enum radio_status
copy_volume (struct rd_copy *copy, const char *collection)
{
  struct rd_error error;
  uint64_t total = 0;
  RD_TRY (rd_copy_load (copy));
  /* All sizes are read before anything is written: that finds missing
   * shards, and makes the progress exact. */
  RD_TRY (rd_copy_run_objects (copy, measure_object, &measure_site, 0));
  for (uint64_t i = 0; i < copy->nobjects; i++)
    if (copy->sizes[i] != RD_COPY_ABSENT)
      total = rd_add_sat (total, copy->sizes[i]);
  copy->total_nbytes = total;
  if (copy->options->dry_run)
    return RADIO_OK;
  RD_TRY (rd_publish_collection (copy->to, collection));
  enum radio_status status = write_volume (copy);
  for (size_t i = 0; i < copy->nlevels; i++)
    rd_io_unlock (RD_STEAL (copy->levels[i].lock));
  /* The objects stay for the next copy, if the same one can be resumed after
   * the failure; else they are removed, unless a volume names them.  The
   * thread's message is kept. */
  bool has_objects = copy->sent_count + copy->there_count > 0;
  bool may_resume = status == RADIO_ERROR_IO
                    || status == RADIO_ERROR_NO_SPACE
                    || status == RADIO_ERROR_PERMISSION
                    || status == RADIO_ERROR_MEMORY
                    || status == RADIO_ERROR_LIMIT
                    || status == RADIO_ERROR_CANCELLED;
  if (copy->is_ours || (has_objects && may_resume))
    return status;
  rd_error_save (&error, status);
  rd_collect_quietly (copy->to, copy->to_path);
  rd_error_raise (&error);
  return status;
}

/* Skips an existing volume that equals the copy: it has the same level, whose
 * name is unique, and the same document.  So a killed copy of many volumes is
 * resumed. */
static enum radio_status
skip_same (struct rd_copy *copy)
{
  struct json_object *document RD_CLEANUP (rd_cleanup_json) = NULL;
  struct rd_error error;
  rd_error_save (&error, RADIO_ERROR_EXISTS);
  RD_TRY (rd_copy_load (copy));
  copy->skipped
    = rd_store_read_document (copy->to, copy->to_path, &document) == RADIO_OK
      && rd_publish_is_same_document (document, copy->document);
  return copy->skipped ? RADIO_OK : rd_error_raise (&error);
}

static enum radio_status
run_copy (struct rd_copy *copy, struct radio_copy_result *result,
          size_t result_nbytes)
{
  char *collection RD_FREE = NULL;
  const char *name;
  RD_TRY (rd_publish_check_path (copy->to, copy->to_path, &collection,
                                 &name));
  enum radio_status status = rd_publish_check_existing (
    copy->to, copy->to_path, copy->options->dry_run ? NULL : collection,
    copy->options->existing, &copy->skipped);
  /* One that is moved is removed after that, so it must be copied now. */
  if (status == RADIO_ERROR_EXISTS && !copy->options->by_store
      && copy->options->existing == RADIO_EXISTING_ERROR)
    status = skip_same (copy);
  RD_TRY (status);
  if (!copy->skipped)
    status = copy_volume (copy, collection);
  const struct radio_copy_result full = {
    .skipped = copy->skipped,
    .sent_count = copy->sent_count, .sent_nbytes = copy->sent_nbytes,
    .there_count = copy->there_count, .there_nbytes = copy->there_nbytes,
  };
  if (result)
    rd_fill_result (result, result_nbytes, &full, sizeof full);
  return status;
}

enum radio_status
(radio_volume_copy) (struct radio_store *from, const char *path,
                     struct radio_store *to, const char *to_path,
                     const struct radio_copy_options *options,
                     struct radio_copy_result *result, size_t result_nbytes)
{
  static const struct radio_copy_options defaults;
  RD_NOT_NULL (from);
  RD_NOT_NULL (path);
  RD_NOT_NULL (to);
  if (options)
    RD_TRY (RD_CHECK_RESERVED (radio_copy_options, options));
  struct rd_copy copy RD_CLEANUP (free_copy) = {
    .from = from, .to = to, .path = path,
    .to_path = to_path ? to_path : path,
    .options = options ? options : &defaults,
    .caller = pthread_self (),
  };
  RD_SCOPE ("copy", RD_IN_OPERATION);
  RD_NOTE_NAME ("volume", path);
  return rd_scope_end_with (run_copy (&copy, result, result_nbytes));
}
