/* SPDX-License-Identifier: MIT */
/* Ingest: an image becomes a volume.  The steps: check what was asked for,
 * make a level of its own, stream the voxels into it, publish the volume's
 * document.  Until that last step nothing of it exists for anyone. */
#include <config.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <radio/volume.h>

#include "profiler/counters.h"
#include "src/array/note.h"
#include "src/element/box.h"
#include "src/nifti/image.h"
#include "src/volume/codec.h"
#include "src/volume/ingest.h"
#include "src/volume/publish.h"

static void
free_ingest (struct rd_ingest *ingest)
{
  rd_layers_close (ingest->layers);
  rd_ingest_abandon_level (ingest);
  radio_array_close (ingest->array);
  rd_free (ingest->level_path);
  rd_free (ingest->collection);
  json_object_put (ingest->level_document);
  json_object_put (ingest->header_document);
  rd_buffer_free (&ingest->prefix);
  EVP_MD_CTX_free (ingest->sha);
}

void
rd_ingest_warn (const struct rd_ingest *ingest, const char *format, ...)
{
  char text[512], line[1024];
  va_list args;
  if (ingest->options->warning == NULL)
    return;
  va_start (args, format);
  vsnprintf (text, sizeof text, format, args);
  va_end (args);
  snprintf (line, sizeof line, "%.400s: %s", ingest->source->name, text);
  ingest->options->warning (line, ingest->options->user_data);
}

static void
tell_stripped (const char *message, void *user_data)
{
  rd_ingest_warn (user_data, "%s", message);
}

/* Keep the header, with what it says of people blanked if so asked. */
static enum radio_status
take_header (struct rd_ingest *ingest)
{
  const struct rd_source *source = ingest->source;
  ingest->nifti = source->nifti;
  RD_TRY (rd_buffer_append (&ingest->prefix, source->prefix.data,
                            source->prefix.nbytes));
  if (ingest->options->strip) {
    rd_nifti_strip (&source->nifti, &ingest->prefix, tell_stripped, ingest);
    RD_TRY (rd_nifti_parse (ingest->prefix.data, ingest->prefix.nbytes,
                            source->name, &ingest->nifti));
  }
  ingest->result.source_nbytes
    = ingest->prefix.nbytes + ingest->nifti.data_nbytes;
  return rd_header_document (ingest->prefix.nbytes,
                             &ingest->header_document);
}

/* The array axis across axial planes. */
static size_t
axial_axis (const struct rd_nifti *nifti)
{
  double affine[3][4];
  const char *source;
  char letters[4];
  size_t axis_of[3];
  rd_nifti_affine (nifti, affine, &source);
  rd_orientation (affine, letters, axis_of);
  const char *found
    = strchr (nifti->axes, "xyz"[axis_of[RADIO_AXIAL]]);
  return (size_t) (found - nifti->axes);
}

static enum radio_status
plan_level (struct rd_ingest *ingest)
{
  const struct radio_ingest_options *options = ingest->options;
  struct json_object *codecs RD_CLEANUP (rd_cleanup_json) = NULL;
  const struct rd_tiling_input input = {
    .tiling = options->tiling,
    .nifti = &ingest->nifti,
    .axial_axis = axial_axis (&ingest->nifti),
    .shard_nbytes = options->shard_nbytes,
    .limit_nbytes = ingest->store->context->memory_limit_nbytes,
  };
  RD_TRY (rd_tiling_choose (&input, &ingest->tiling));
  RD_TRY (rd_codec_choose (options->codec, &ingest->nifti.type,
                           &ingest->codec, &codecs));
  return rd_level_document (&ingest->nifti, &ingest->tiling, codecs,
                            &ingest->level_document);
}

/* What the operation's scope writes. */
static void
note_form (const struct rd_ingest *ingest)
{
  const struct rd_nifti *nifti = &ingest->nifti;
  const struct rd_tiling *tiling = &ingest->tiling;
  rd_note_shapes (nifti->rank, nifti->shape, tiling->shard_shape,
                  tiling->tile_shape);
  RD_NOTE ("codec", ingest->codec);
}

static enum radio_status
write_volume (struct rd_ingest *ingest)
{
  bool is_ours;
  if (radio_profile_is_on ())
    note_form (ingest);
  RD_TRY (rd_place_make_collection (ingest->store, ingest->collection));
  RD_TRY (rd_ingest_begin_level (ingest));
  RD_TRY (rd_ingest_voxels (ingest));
  if (ingest->trailing_nbytes > 0)
    rd_ingest_warn (ingest, "%" PRIu64 " bytes after the voxels are not "
                    "kept", ingest->trailing_nbytes);
  enum radio_status status = rd_ingest_commit (ingest, &is_ours);
  if (is_ours)
    rd_io_unlock (RD_STEAL (ingest->level_lock));
  return status;
}

enum radio_status
rd_ingest_source (struct radio_store *store, struct rd_source *source,
                  const char *path,
                  const struct radio_ingest_options *options,
                  struct radio_ingest_result *result)
{
  static const struct radio_ingest_options defaults;
  struct rd_ingest ingest RD_CLEANUP (free_ingest) = {
    .store = store, .source = source, .path = path,
    .options = options ? options : &defaults,
  };
  RD_TRY (rd_place_check (store, path, &ingest.collection, &ingest.name));
  RD_TRY (rd_existing_check (store, path, ingest.options->existing,
                             &ingest.result.skipped));
  if (!ingest.result.skipped) {
    RD_TRY (take_header (&ingest));
    RD_TRY (plan_level (&ingest));
    RD_TRY (write_volume (&ingest));
  }
  if (result)
    *result = ingest.result;
  return RADIO_OK;
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
  return rd_image_finish (file->image, trailing_nbytes);
}

static void
file_progress (const struct rd_source *source,
               struct radio_progress *progress)
{
  const struct file_source *file = (const struct file_source *) source;
  progress->done_nbytes = rd_input_position (file->image->voxels);
  progress->total_nbytes = rd_input_file_nbytes (file->image->voxels);
}

static enum radio_status
ingest_file (struct radio_store *store, const char *file, const char *path,
             const struct radio_ingest_options *options,
             struct radio_ingest_result *result)
{
  struct rd_image *image RD_CLEANUP (rd_cleanup_image) = NULL;
  RD_TRY (rd_image_open (file, &image));
  struct file_source from = {
    .source = {
      .name = file,
      .nifti = image->nifti,
      .prefix = image->prefix,
      .read = file_read,
      .finish = file_finish,
      .progress = file_progress,
    },
    .image = image,
  };
  return rd_ingest_source (store, &from.source, path, options, result);
}

enum radio_status
radio_ingest (struct radio_store *store, const char *file, const char *path,
              const struct radio_ingest_options *options,
              struct radio_ingest_result *result)
{
  if (store == NULL || file == NULL || path == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "radio_ingest: an argument is NULL");
  RD_SCOPE ("ingest", RD_IN_OPERATION);
  RD_NOTE_NAME ("file", file);
  RD_NOTE_NAME ("volume", path);
  return rd_scope_end_with (
    ingest_file (store, file, path, options, result));
}
