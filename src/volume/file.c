/* SPDX-License-Identifier: MIT */
/* Images in their files as volumes: the same handle as of a volume in a store,
 * whose array has no tiles.  Its store is the file's folder. */
#include <config.h>

#include <string.h>

#include "profiler/counters.h"
#include "src/base/error.h"
#include "src/base/structs.h"
#include "src/volume/gunzip.h"
#include "src/nifti/image.h"
#include "src/volume/volume.h"

/* Opens the folder of a file; *key is its name there. */
static enum radio_status
open_folder (struct radio_context *context, const char *file,
             struct radio_store **store, const char **key)
{
  const struct radio_store_options options = { .context = context };
  const char *slash = strrchr (file, '/');
  size_t nbytes = slash ? (size_t) (slash - file) : 0;
  *key = slash ? slash + 1 : file;
  char *folder RD_FREE = slash ? rd_strndup (file, nbytes > 0 ? nbytes : 1)
                               : rd_strdup (".");
  struct rd_io *io;
  if (folder == NULL)
    return rd_fail_memory (nbytes + 2);
  RD_TRY (rd_io_posix_open (folder, false, &io));
  return rd_store_open_files (io, &options, store);
}

static enum radio_status
open_array (struct radio_volume *volume, struct radio_store *store,
            const char *key, const struct rd_image *image,
            const struct radio_file_options *options)
{
  const struct rd_nifti *nifti = &volume->meta.nifti;
  struct json_object *document RD_CLEANUP (rd_cleanup_json) = NULL;
  struct rd_array_doc *doc;
  RD_TRY (rd_file_document (nifti, &document));
  RD_TRY (rd_array_doc_parse (document, key, &doc));
  RD_TRY (rd_array_open_doc (store, key, doc, &volume->array));
  struct rd_linear **linear = &volume->array->linear;
  const struct rd_gunzip_options gunzip_options = {
    .point_gap_nbytes = options->point_gap_nbytes,
    .identity = rd_input_identity (image->voxels),
    .path = rd_input_file (image->voxels),
    .index_folder = options->index_folder,
    .keep_index = options->keep_index,
  };
  RD_TRY (rd_input_is_gzip (image->voxels)
          ? rd_gunzip_open (store, key, nifti->vox_offset, nifti->data_nbytes,
                            &gunzip_options, linear)
          : rd_linear_object_open (store, key, nifti->vox_offset, linear));
  rd_nifti_file_strides (nifti, nifti->shape, (*linear)->strides);
  (*linear)->swapped = nifti->swapped;
  return RADIO_OK;
}

static enum radio_status
open_file (struct radio_context *context, const char *file,
           const struct radio_file_options *options,
           struct radio_volume **result)
{
  struct rd_image *image RD_CLEANUP (rd_cleanup_image) = NULL;
  struct radio_store *store RD_CLEANUP (rd_cleanup_store) = NULL;
  const char *key;
  RD_TRY (rd_image_open (file, &image));
  struct radio_volume *volume RD_CLEANUP (rd_cleanup_volume)
    = rd_calloc (1, sizeof *volume);
  if (volume == NULL)
    return rd_fail_memory (sizeof *volume);
  struct rd_volume_meta *meta = &volume->meta;
  volume->path = rd_strdup (file);
  const char *slash = strrchr (file, '/');
  meta->source_name = rd_strdup (slash ? slash + 1 : file);
  meta->tiling = rd_strdup ("none");
  meta->codec = rd_strdup (rd_input_is_gzip (image->voxels) ? "gzip"
                                                            : "none");
  if (volume->path == NULL || meta->source_name == NULL
      || meta->tiling == NULL || meta->codec == NULL)
    return rd_fail_memory (strlen (file) + 1);
  volume->file_nbytes = rd_input_file_nbytes (image->voxels);
  meta->has_nifti = true;
  meta->nifti = image->nifti;
  meta->prefix = image->prefix;
  image->prefix = (struct rd_buffer) { 0 };
  meta->source_nbytes = meta->prefix.nbytes + meta->nifti.data_nbytes;
  memcpy (meta->axes, meta->nifti.axes, strlen (meta->nifti.axes) + 1);
  /* As the document in a store has it. */
  meta->has_window = meta->nifti.colour != RD_COLOUR_NONE;
  meta->window_end = 255;
  RD_TRY (open_folder (context, rd_input_file (image->voxels), &store, &key));
  RD_TRY (open_array (volume, store, key, image, options));
  rd_volume_fill_info (volume);
  *result = RD_STEAL (volume);
  return RADIO_OK;
}

enum radio_status
radio_volume_open_file (struct radio_context *context, const char *file,
                        const struct radio_file_options *options,
                        struct radio_volume **volume)
{
  static const struct radio_file_options defaults;
  RD_NOT_NULL (file);
  RD_NOT_NULL (volume);
  if (options)
    RD_TRY (RD_CHECK_RESERVED (radio_file_options, options));
  RD_SCOPE ("open file", RD_IN_OPERATION);
  RD_NOTE_NAME ("file", file);
  return rd_scope_end_with (
    open_file (context, file, options ? options : &defaults, volume));
}
