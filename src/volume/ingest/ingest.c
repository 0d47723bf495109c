/* SPDX-License-Identifier: MIT */
/* Ingest: an image becomes a volume.  The steps: check the arguments, create
 * a new level, stream the voxels into it, publish the volume's document.
 * Until that last step the volume does not exist for readers.  A level has a
 * folder of its own, locked until the volume's document names it; collect.h
 * says how the locks keep gc and other writers away.
 *
 * A file's voxels are pulled from it, a program pushes its own: both are put
 * into the room of the next layer of tiles. */
#include <config.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <radio/volume.h>

#include "profiler/counters.h"
#include "src/array/layout.h"
#include "src/array/write-layers.h"
#include "src/base/checked.h"
#include "src/base/structs.h"
#include "src/base/text.h"
#include "src/element/box.h"
#include "src/nifti/image.h"
#include "src/volume/codec.h"
#include "src/volume/file-slabs.h"
#include "src/volume/gc/collect.h"
#include "src/volume/header.h"
#include "src/volume/ingest/ingest.h"
#include "src/volume/publish.h"
#include "src/volume/tiling.h"

/* Names have 32 random bits: more collisions mean that something else is
 * wrong. */
#define MAX_NAME_ATTEMPTS 100

/* Bytes that are read between two calls of the progress callback. */
#define PIECE_NBYTES ((size_t) 1 << 20)

/* The target size of a layer: tasks for several threads, and small enough to
 * stay in the caches that they share. */
#define LAYER_NBYTES ((uint64_t) 4 << 20)

struct rd_ingest {
  struct radio_store *store;
  char *source_name;                  /* the whole of it, UTF-8 */
  char *path;                         /* of the volume */
  char *collection;
  const char *name;                   /* the volume's own, within path */
  struct radio_ingest_options options;
  bool is_new;                        /* nothing was there */

  /* The header as it is stored: the source's, or a stripped copy. */
  struct rd_nifti nifti;
  struct rd_buffer prefix;
  char *derived_pipeline, *derived_sha256;    /* NULL: was not derived */
  char *named_sha256;

  struct rd_tiling tiling;
  const char *codec;                  /* the preset's name, or "" */
  struct json_object *level_document;
  struct json_object *image_label;    /* NULL: not a mask */

  char level_name[RD_LEVEL_NAME_NBYTES];
  char *level_path;
  struct rd_io_lock *level_lock;
  struct rd_io_stage *stage;          /* of the level */
  struct radio_array *array;
  struct rd_layers *layers;           /* of the array */

  /* The layer that is being filled. */
  struct rd_file_slabs slabs;
  struct radio_box box;
  unsigned char *room;                /* NULL: no layer */
  size_t room_nbytes, filled_nbytes;

  EVP_MD_CTX *sha;
  char sha256[RD_SHA256_TEXT_NBYTES];
  uint64_t trailing_nbytes;
  struct radio_ingest_result result;
};

/* A level that is still locked is removed: the ingest failed, or the level is
 * not needed. */
void
rd_ingest_abort (struct rd_ingest *ingest)
{
  if (ingest == NULL)
    return;
  rd_layers_close (ingest->layers);
  radio_array_close (ingest->array);
  rd_io_unstage (ingest->store->io, ingest->stage);
  if (ingest->level_lock != NULL) {
    struct rd_error error;
    rd_error_save (&error, RADIO_ERROR_IO);
    bool removed
      = rd_level_remove (ingest->store, ingest->level_path) == RADIO_OK;
    rd_io_unlock (ingest->level_lock);
    if (removed)
      rd_collect_quietly (ingest->store, ingest->path);
    rd_error_raise (&error);
  }
  rd_free (ingest->level_path);
  rd_free (ingest->collection);
  rd_free (ingest->path);
  rd_free (ingest->source_name);
  rd_free (ingest->derived_pipeline);
  rd_free (ingest->derived_sha256);
  rd_free (ingest->named_sha256);
  json_object_put (ingest->level_document);
  json_object_put (ingest->image_label);
  rd_buffer_free (&ingest->prefix);
  EVP_MD_CTX_free (ingest->sha);
  radio_store_close (ingest->store);
  rd_free (ingest);
}

/* Pass a warning to the caller: "NAME: ..." with the source's name. */
RADIO_PRINTF (2, 3) static void
warn (const struct rd_ingest *ingest, const char *format, ...)
{
  char text[512], line[1024];
  va_list args;
  if (ingest->options.warning == NULL)
    return;
  va_start (args, format);
  vsnprintf (text, sizeof text, format, args);
  va_end (args);
  snprintf (line, sizeof line, "%.400s: %s", ingest->source_name, text);
  ingest->options.warning (line, ingest->options.user_data);
}

static void
warn_stripped (const char *message, void *user_data)
{
  warn (user_data, "%s", message);
}

/* Choose tiling and codecs, and create the level's document. */
static enum radio_status
plan_level (struct rd_ingest *ingest)
{
  const struct radio_ingest_options *options = &ingest->options;
  const struct rd_nifti *nifti = &ingest->nifti;
  struct json_object *codecs RD_CLEANUP (rd_cleanup_json) = NULL;
  double affine[3][4];
  const char *source;
  char letters[4];
  size_t axis_of[3];
  rd_nifti_affine (nifti, affine, &source);
  (void) rd_orientation (affine, letters, axis_of);
  const char *axial = strchr (nifti->axes, "xyz"[axis_of[RADIO_AXIAL]]);
  const struct rd_tiling_input input = {
    .tiling = options->tiling,
    .nifti = nifti,
    .axial_axis = (size_t) (axial - nifti->axes),
    .shard_nbytes = options->shard_nbytes,
    .limit_nbytes = ingest->store->context->memory_limit_nbytes,
  };
  RD_TRY (rd_tiling_choose (&input, &ingest->tiling));
  RD_TRY (rd_codec_choose (options->codec, &nifti->type, &ingest->codec,
                           &codecs));
  return rd_level_document (nifti, &ingest->tiling, codecs,
                            &ingest->level_document);
}

/* Create the level's folder, locked, with its document.  Remains of dead
 * writers and replaced volumes are removed first; a failure of that is
 * ignored. */
static enum radio_status
begin_level (struct rd_ingest *ingest)
{
  RD_SCOPE ("begin level", RD_IN_METADATA);
  struct rd_io_lock *volume_lock RD_CLEANUP (rd_cleanup_io_lock) = NULL;
  struct radio_gc_result removed = { 0 };
  struct rd_io *io = ingest->store->io;
  RD_TRY (io->ops->lock (io, ingest->path, true, &volume_lock));
  enum radio_status status = ingest->is_new ? RADIO_OK
    : rd_collect_contents (ingest->store, ingest->path, false, &removed);
  if (status == RADIO_ERROR_MEMORY
      || (status != RADIO_OK && rd_error_lacks_descriptors ()))
    return status;

  /* Lock a folder with an unused name.  The volume's lock is held, so that gc
   * does not remove the folder before it is locked.  Where nothing was, no
   * name is used but those of live writers, which they have locked. */
  for (int i = 0; i < MAX_NAME_ATTEMPTS && !ingest->level_lock; i++) {
    struct rd_io_lock *lock RD_CLEANUP (rd_cleanup_io_lock) = NULL;
    uint64_t used_nbytes;
    RD_TRY (rd_level_name (0, ingest->level_name));
    char *path RD_FREE = rd_key_join (ingest->path, ingest->level_name);
    if (path == NULL)
      return RADIO_ERROR_MEMORY;
    RD_TRY (io->ops->lock (io, path, false, &lock));
    if (lock == NULL)
      continue;
    if (!ingest->is_new) {
      RD_TRY (rd_prefix_nbytes (ingest->store, path, &used_nbytes));
      if (used_nbytes > 0)
        continue;
    }
    ingest->level_path = RD_STEAL (path);
    ingest->level_lock = RD_STEAL (lock);
  }
  if (ingest->level_lock == NULL)
    return rd_fail (RADIO_ERROR_IO, "%s: no free name for a level after %d "
                    "tries", ingest->path, MAX_NAME_ATTEMPTS);

  RD_TRY (rd_io_stage (io, ingest->level_path, &ingest->stage));
  struct rd_array_doc *doc;
  size_t nbytes;
  char *key RD_FREE = rd_document_key (ingest->level_path);
  const char *text = rd_document_text (ingest->level_document, &nbytes);
  if (key == NULL || text == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_io_put (io, key, text, nbytes, RD_PUT_OWN));
  RD_TRY (rd_array_doc_parse (ingest->level_document, ingest->level_path,
                              &doc));
  RD_TRY (rd_array_open_doc (ingest->store, ingest->level_path, doc,
                             &ingest->array));
  ingest->array->is_complete = true;
  return RADIO_OK;
}

static enum radio_status
hash_layer (void *sha, const void *elements, size_t nbytes)
{
  return rd_sha256_add (sha, elements, nbytes);
}

static const struct radio_site hash_site = {
  "hash voxels", RD_IN_OPERATION, "begin_voxels", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

/* Prepare to take the voxels layer by layer of tiles: the calling thread
 * fills (by reading and inflating, for example) the next layer while the pool
 * hashes and encodes the ones before.  Inflating cannot be parallelised, so
 * with two threads or more the calling one does nothing else, as long as the
 * others keep up.  A few layers are in memory, whatever the size of the
 * image. */
static enum radio_status
begin_voxels (struct rd_ingest *ingest)
{
  const struct rd_nifti *nifti = &ingest->nifti;
  uint64_t shape[RADIO_MAX_RANK];
  RD_TRY (rd_sha256_begin (&ingest->sha));
  RD_TRY (rd_sha256_add (ingest->sha, ingest->prefix.data,
                         ingest->prefix.nbytes));
  const struct rd_layers_observer observer = {
    .observe = hash_layer, .user_data = ingest->sha, .site = &hash_site,
  };
  rd_file_slabs_layer (nifti, ingest->tiling.shard_shape,
                       ingest->tiling.tile_shape, LAYER_NBYTES, shape);
  rd_file_slabs_begin (&ingest->slabs, nifti, shape);
  return rd_layers_open (ingest->array, ingest->slabs.shape, &observer,
                         &ingest->layers);
}

enum radio_status
rd_ingest_room (struct rd_ingest *ingest, unsigned char **room,
                size_t *nbytes)
{
  *nbytes = 0;
  if (ingest->room == NULL) {
    if (!rd_file_slabs_next (&ingest->slabs, &ingest->box))
      return RADIO_OK;
    ingest->filled_nbytes = 0;
    ingest->room_nbytes
      = radio_box_count (&ingest->box) * ingest->nifti.type.item_nbytes;
    RD_TRY (rd_layers_buffer (ingest->layers, &ingest->room));
  }
  *room = ingest->room + ingest->filled_nbytes;
  *nbytes = ingest->room_nbytes - ingest->filled_nbytes;
  return RADIO_OK;
}

enum radio_status
rd_ingest_take (struct rd_ingest *ingest, size_t nbytes)
{
  const struct rd_nifti *nifti = &ingest->nifti;
  int64_t strides[RADIO_MAX_RANK];
  ingest->filled_nbytes += nbytes;
  if (ingest->filled_nbytes < ingest->room_nbytes)
    return RADIO_OK;
  ingest->room = NULL;
  rd_nifti_file_strides (nifti, ingest->box.size, strides);
  return rd_layers_give (ingest->layers, &ingest->box, strides,
                         nifti->swapped);
}

static enum radio_status
finish_layers (struct rd_publication *publication)
{
  struct rd_ingest *ingest = publication->user_data;
  return rd_layers_finish (ingest->layers, &ingest->result.stored_nbytes);
}

/* Wait until the level's shards are durable and publish the volume's
 * document.  *is_ours is set if the document names the level, or may do so
 * after a failure; it is not set if another writer's volume exists
 * instead. */
static enum radio_status
publish (struct rd_ingest *ingest, bool *is_ours)
{
  struct json_object *document RD_CLEANUP (rd_cleanup_json) = NULL;
  RD_BUFFER_SCOPE struct rd_buffer lengths = { 0 };
  const struct rd_meta_input meta = {
    .name = ingest->name,
    .level_path = ingest->level_name,
    .nifti = &ingest->nifti,
    .prefix = &ingest->prefix,
    .source_name = rd_base_name (ingest->source_name),
    .source_sha256 = ingest->sha256,
    .source_nbytes = ingest->result.source_nbytes,
    .trailing_nbytes = ingest->trailing_nbytes,
    .stripped = ingest->options.strip,
    .derived_pipeline = ingest->derived_pipeline,
    .derived_sha256 = ingest->derived_sha256,
    .named_sha256 = ingest->named_sha256,
    .tiling = ingest->tiling.name,
    .codec = ingest->codec,
    .tile_lengths = &lengths,
    .level_document = ingest->level_document,
    .image_label = ingest->image_label,
  };
  struct rd_publication publication = {
    .store = ingest->store,
    .path = ingest->path,
    .existing = ingest->options.existing,
    .is_new = ingest->is_new,
    .stages = { ingest->stage },
    .level_name = ingest->level_name,
    .sha256 = ingest->sha256,
    .prefix = &ingest->prefix,
    .finish = finish_layers,
    .user_data = ingest,
  };
  *is_ours = false;
  RD_SCOPE ("commit", RD_IN_OPERATION);
  enum radio_status status = rd_tile_lengths_write (
    &ingest->array->lengths, &ingest->array->layout, &lengths);
  if (status == RADIO_OK)
    status = rd_meta_write (&meta, &document);
  RD_TRY (rd_scope_end_with (status));
  publication.document = document;
  status = rd_publish (&publication, is_ours);
  ingest->result.skipped = publication.skipped;
  if (status != RADIO_OK || !*is_ours)
    return rd_scope_end_with (status);
  /* Another process may have removed a volume here meanwhile, and with it
   * the new one's header array. */
  status = rd_header_repair_own (ingest->store, ingest->path,
                                 &ingest->prefix, publication.header_key,
                                 publication.header_is_last);
  if (status != RADIO_OK)
    rd_fail_in (status, "%s: published, but its header array could not be "
                "checked; radio gc repairs it if necessary", ingest->path);
  return rd_scope_end_with (status);
}

/* Copies what describes the image, the header with personal data blanked if the
 * options say so, and plans the level. */
static enum radio_status
describe (struct rd_ingest *ingest, const struct rd_ingest_image *image)
{
  struct rd_nifti *nifti = &ingest->nifti;
  struct rd_buffer *prefix = &ingest->prefix;
  /* A file's name may be any bytes, but goes into a document. */
  size_t name_nbytes = 3 * strlen (image->name) + 1;
  *nifti = image->nifti;
  ingest->source_name = rd_malloc (name_nbytes);
  if (ingest->source_name == NULL)
    return rd_fail_memory (name_nbytes);
  rd_utf8_repair (image->name, ingest->source_name);
  if (image->derived_pipeline) {
    ingest->derived_pipeline = rd_strdup (image->derived_pipeline);
    ingest->derived_sha256 = rd_strdup (image->derived_sha256);
    if (!ingest->derived_pipeline || !ingest->derived_sha256)
      return rd_fail_memory (strlen (image->derived_pipeline) + 1);
    if (image->named_sha256)
      ingest->named_sha256 = rd_strdup (image->named_sha256);
    if (image->named_sha256 && !ingest->named_sha256)
      return rd_fail_memory (strlen (image->named_sha256) + 1);
  }
  RD_TRY (rd_buffer_append (prefix, image->prefix.data,
                            image->prefix.nbytes));
  if (ingest->options.strip) {
    rd_nifti_strip (&image->nifti, prefix, warn_stripped, ingest);
    RD_TRY (rd_nifti_parse (prefix->data, prefix->nbytes, image->name,
                            nifti));
  }
  ingest->result.source_nbytes = prefix->nbytes + nifti->data_nbytes;
  if (nifti->rank > RD_NIFTI_MAX_OME_RANK)
    warn (ingest, "%zu dimensions: stored as an array without OME-Zarr's "
          "metadata, which has at most %d", nifti->rank,
          RD_NIFTI_MAX_OME_RANK);
  if (ingest->options.is_labels && !rd_dtype_is_integer (nifti->type.dtype))
    warn (ingest, "a mask of %s, not of integers: not marked as one",
          radio_dtype_name (nifti->type.dtype));
  else if (ingest->options.is_labels) {
    RD_TRY (RD_CHECK_ARRAY (&ingest->options, labels));
    RD_TRY (rd_meta_image_label (ingest->options.labels,
                                 ingest->options.nlabels,
                                 &ingest->image_label));
  }
  return plan_level (ingest);
}

static bool
same_text (const char *a, const char *b)
{
  return a && b && strcmp (a, b) == 0;
}

/* Finds whether the volume was derived in the same way already.  A damaged one
 * was not: the check for existing volumes reports it.  The source is not
 * replaced by its results: the next run would have those as its source. */
static enum radio_status
check_derived (struct rd_ingest *ingest, const char *source_level,
               bool *is_same)
{
  struct rd_existing existing RD_EXISTING_SCOPE = { 0 };
  const struct rd_volume_meta *meta = &existing.meta;
  RD_TRY (rd_existing_read (ingest->store, ingest->path, &existing));
  if (existing.is_ours && same_text (meta->level_path, source_level))
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: the volume that the pipeline is "
                    "applied to, or its copy; use another name, collection or "
                    "store", ingest->path);
  bool names_same = !meta->named_sha256 && !ingest->named_sha256;
  *is_same = existing.exists && existing.is_ours
             && same_text (meta->derived_pipeline, ingest->derived_pipeline)
             && same_text (meta->derived_sha256, ingest->derived_sha256)
             && (names_same || same_text (meta->named_sha256,
                                          ingest->named_sha256))
             && same_text (meta->tiling, ingest->tiling.name)
             && same_text (meta->codec, ingest->codec);
  return RADIO_OK;
}

enum radio_status
rd_ingest_begin (struct radio_store *store, const char *path,
                 const struct rd_ingest_image *image,
                 const struct radio_ingest_options *options,
                 struct rd_ingest **result)
{
  struct rd_ingest *ingest RD_CLEANUP (rd_cleanup_ingest)
    = rd_calloc (1, sizeof *ingest);
  if (ingest == NULL)
    return rd_fail_memory (sizeof *ingest);
  const struct rd_nifti *nifti = &ingest->nifti;
  bool is_derived = image->derived_pipeline != NULL;
  bool *skipped = &ingest->result.skipped;
  ingest->store = rd_store_ref (store);
  if (options)
    ingest->options = *options;
  ingest->path = rd_strdup (path);
  if (ingest->path == NULL)
    return rd_fail_memory (strlen (path) + 1);
  RD_TRY (rd_publish_check_path (store, ingest->path, &ingest->collection,
                                 &ingest->name));
  if (is_derived) {
    RD_TRY (describe (ingest, image));
    RD_TRY (check_derived (ingest, image->derived_level, skipped));
  }
  if (!*skipped)
    RD_TRY (rd_publish_check_new (store, path, ingest->collection,
                                  ingest->options.existing, &ingest->is_new,
                                  skipped));
  /* An attempt that lacked descriptors may have left an empty folder. */
  if (store->context->ingests.lacked_descriptors)
    ingest->is_new = false;
  if (*skipped) {
    *result = NULL;
    return RADIO_OK;
  }

  if (!is_derived)
    RD_TRY (describe (ingest, image));
  if (radio_profile_is_on ()) {
    rd_annotate_shapes (nifti->rank, nifti->shape,
                        ingest->tiling.shard_shape,
                        ingest->tiling.tile_shape);
    RD_NOTE ("codec", ingest->codec);
  }

  RD_TRY (rd_publish_collection (store, ingest->collection));
  RD_TRY (begin_level (ingest));
  RD_TRY (begin_voxels (ingest));
  *result = RD_STEAL (ingest);
  return RADIO_OK;
}

enum radio_status
rd_ingest_commit (struct rd_ingest *ingest, uint64_t trailing_nbytes,
                  struct radio_ingest_result *result)
{
  bool is_ours;
  ingest->trailing_nbytes = trailing_nbytes;
  RD_TRY (rd_layers_complete (ingest->layers));
  RD_TRY (rd_sha256_end (ingest->sha, ingest->sha256));
  if (trailing_nbytes > 0)
    warn (ingest, "%" PRIu64 " bytes after the voxels are not stored",
          trailing_nbytes);
  enum radio_status status = publish (ingest, &is_ours);
  if (is_ours)
    rd_io_unlock (RD_STEAL (ingest->level_lock));
  if (status == RADIO_OK && result)
    *result = ingest->result;
  return status;
}

/* Read the next voxels into a layer. */
static enum radio_status
read_layer (struct rd_source *source, unsigned char *room, size_t nbytes,
            const struct radio_ingest_options *options)
{
  RD_SCOPE ("read slab", RD_IN_OPERATION);
  for (size_t done = 0; done < nbytes;) {
    struct radio_progress progress = { 0 };
    size_t piece = rd_min_u64 (nbytes - done, PIECE_NBYTES);
    RD_TRY (source->read (source, room + done, piece));
    done += piece;
    if (options == NULL || options->progress == NULL)
      continue;
    source->progress (source, &progress);
    if (options->progress (&progress, options->user_data) != RADIO_OK)
      return rd_fail (RADIO_ERROR_CANCELLED, "%s: cancelled",
                      source->image.name);
  }
  return RADIO_OK;
}

enum radio_status
rd_ingest_source (struct radio_store *store, struct rd_source *source,
                  const char *path,
                  const struct radio_ingest_options *options,
                  struct radio_ingest_result *result)
{
  struct rd_ingest *ingest RD_CLEANUP (rd_cleanup_ingest) = NULL;
  unsigned char *room;
  size_t nbytes;
  uint64_t trailing_nbytes;
  RD_TRY (rd_ingest_begin (store, path, &source->image, options, &ingest));
  if (ingest == NULL) {
    if (result)
      *result = (struct radio_ingest_result) { .skipped = true };
    return RADIO_OK;
  }
  for (;;) {
    RD_TRY (rd_ingest_room (ingest, &room, &nbytes));
    if (nbytes == 0)
      break;
    RD_TRY (read_layer (source, room, nbytes, options));
    RD_TRY (rd_ingest_take (ingest, nbytes));
  }
  RD_TRY (source->finish (source, &trailing_nbytes));
  if (source->problem)
    warn (ingest, "%s", source->problem);
  return rd_ingest_commit (ingest, trailing_nbytes, result);
}

/* A NIfTI file as a source. */
struct file_source {
  struct rd_source source;
  struct rd_image *image;
};

static enum radio_status
file_read (struct rd_source *source, void *data, size_t nbytes)
{
  struct file_source *file = (struct file_source *) source;
  return rd_image_read (file->image, data, nbytes);
}

static enum radio_status
file_finish (struct rd_source *source, uint64_t *trailing_nbytes)
{
  struct file_source *file = (struct file_source *) source;
  RD_TRY (rd_image_finish (file->image, trailing_nbytes));
  source->problem = file->image->problem;
  return RADIO_OK;
}

static void
file_progress (const struct rd_source *source,
               struct radio_progress *progress)
{
  const struct file_source *file = (const struct file_source *) source;
  progress->done_nbytes = rd_input_position (file->image->voxels);
  progress->total_nbytes = rd_input_file_nbytes (file->image->voxels);
}

/*------------------------------------------------------------------------
 * Descriptors.  A volume takes up to a dozen while it is written, and callers
 * ingest many at once, which the process's limit (256 by default on macOS) may
 * not allow.  The number of other descriptors that the process uses is unknown,
 * so a lack is found when it occurs: then the ingest begins again, when half as
 * many are in progress.  An ingest that lacks descriptors while it is alone
 * fails.
 *----------------------------------------------------------------------*/

/* Waits for its turn; *most is the limit under which it begins. */
static enum radio_status
begin_turn (struct radio_context *context, bool is_again, unsigned *most)
{
  RD_TRY (rd_pool_check (context->pool));
  RD_LOCK_SCOPE (&context->ingests_mutex);
  context->ingests.nwaiting += !is_again;
  while (context->ingests.most > 0
         && context->ingests.nactive >= context->ingests.most) {
    RD_SCOPE_WAIT ("wait for ingests", RD_IN_QUEUE);
    pthread_cond_wait (&context->ingest_ended, &context->ingests_mutex);
  }
  context->ingests.nwaiting--;
  context->ingests.nactive++;
  *most = context->ingests.most;
  return RADIO_OK;
}

/* True if it is to begin again, for which it waits from now on.  Only the
 * first that fails under a limit lowers it. */
static bool
end_turn (struct radio_context *context, unsigned most,
          bool lacks_descriptors)
{
  RD_LOCK_SCOPE (&context->ingests_mutex);
  if (lacks_descriptors)
    context->ingests.lacked_descriptors = true;
  bool is_again = lacks_descriptors && most != 1;
  unsigned nactive = context->ingests.nactive--;
  context->ingests.nwaiting += is_again;
  if (lacks_descriptors && most == context->ingests.most)
    context->ingests.most = nactive > 1 ? nactive / 2 : 1;
  else if (nactive == 1 && context->ingests.nwaiting == 0)
    context->ingests.most = 0;
  pthread_cond_broadcast (&context->ingest_ended);
  return is_again;
}

static enum radio_status
ingest_file (struct radio_store *store, const char *file, const char *path,
             const struct radio_ingest_options *options,
             struct radio_ingest_result *result)
{
  struct rd_image *image RD_CLEANUP (rd_cleanup_image) = NULL;
  RD_TRY (rd_image_open (file, &image));
  RD_TRY (rd_image_check_whole (image));
  struct file_source from = {
    .source = {
      .image = {
        .name = file, .nifti = image->nifti, .prefix = image->prefix,
      },
      .read = file_read,
      .finish = file_finish,
      .progress = file_progress,
    },
    .image = image,
  };
  return rd_ingest_source (store, &from.source, path, options, result);
}

/* A file that is ingested. */
struct file_ingest {
  struct radio_store *store;
  const char *file, *path;
  const struct radio_ingest_options *options;
  struct radio_ingest_result result;
};

static enum radio_status
run_file_ingest (void *data)
{
  struct file_ingest *one = data;
  return ingest_file (one->store, one->file, one->path, one->options,
                      &one->result);
}

enum radio_status
rd_ingest_in_turn (struct radio_context *context,
                   enum radio_status (*run) (void *data), void *data)
{
  enum radio_status status;
  unsigned most;
  bool is_again = false;
  do {
    RD_TRY (begin_turn (context, is_again, &most));
    status = run (data);
    is_again = end_turn (context, most,
                         status != RADIO_OK && rd_error_lacks_descriptors ());
  } while (is_again);
  return status;
}

enum radio_status
(radio_ingest) (struct radio_store *store, const char *file, const char *path,
                const struct radio_ingest_options *options,
                struct radio_ingest_result *result, size_t result_nbytes)
{
  RD_NOT_NULL (store);
  RD_NOT_NULL (file);
  RD_NOT_NULL (path);
  if (options)
    RD_TRY (RD_CHECK_RESERVED (radio_ingest_options, options));
  RD_SCOPE ("ingest", RD_IN_OPERATION);
  RD_NOTE_NAME ("file", file);
  RD_NOTE_NAME ("volume", path);
  struct file_ingest one = {
    .store = store, .file = file, .path = path, .options = options,
  };
  enum radio_status status = rd_ingest_in_turn (store->context,
                                                run_file_ingest, &one);
  if (status == RADIO_OK && result)
    rd_fill_result (result, result_nbytes, &one.result, sizeof one.result);
  return rd_scope_end_with (status);
}
