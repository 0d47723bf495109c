/* SPDX-License-Identifier: MIT */
/* Images in the caller's memory as volumes: as an image in its file, but its
 * elements are where the caller has them. */
#include <config.h>

#include <string.h>

#include <radio/create.h>

#include "profiler/counters.h"
#include "src/array/linear.h"
#include "src/base/error.h"
#include "src/base/structs.h"
#include "src/volume/image-header.h"

/* The name of an image that has none. */
#define MEMORY_NAME "memory"

/* Opens an empty store, of which the image is the only array: any name is its
 * URI, by which messages name the image, but not each is a path within one. */
static enum radio_status
open_store (struct radio_context *context, const char *name,
            struct radio_store **store)
{
  const struct radio_store_options options = { .context = context };
  struct rd_io *io RD_CLEANUP (rd_cleanup_io) = NULL;
  RD_TRY (rd_io_memory_open (&io));
  char *uri = rd_strdup (*name ? name : MEMORY_NAME);
  if (!uri)
    return rd_fail_memory (strlen (name) + 1);
  rd_free (io->uri);
  io->uri = uri;
  return rd_store_open_files (RD_STEAL (io), &options, store);
}

/* Describes the image: its header is new, or like another volume's. */
static enum radio_status
describe (const struct radio_create_options *options,
          struct radio_volume *volume)
{
  struct rd_volume_meta *meta = &volume->meta;
  const char *name = options->source_name ? options->source_name : MEMORY_NAME;
  RD_TRY (rd_image_make_header (options, name, &meta->prefix, &meta->nifti));
  volume->path = rd_strdup (name);
  meta->source_name = rd_strdup (name);
  if (!volume->path || !meta->source_name)
    return rd_fail_memory (strlen (name) + 1);
  volume->file_nbytes = meta->nifti.data_nbytes;
  return RADIO_OK;
}

static enum radio_status
open_memory (struct radio_context *context,
             const struct radio_create_options *options, const void *elements,
             size_t nbytes, const int64_t *strides,
             struct radio_volume **result)
{
  struct radio_store *store RD_CLEANUP (rd_cleanup_store) = NULL;
  struct radio_volume *volume RD_CLEANUP (rd_cleanup_volume)
    = rd_calloc (1, sizeof *volume);
  if (!volume)
    return rd_fail_memory (sizeof *volume);
  RD_TRY (describe (options, volume));
  RD_TRY (open_store (context, volume->path, &store));
  RD_TRY (rd_volume_open_image (volume, store, "", "none"));
  enum radio_status status = rd_linear_memory_open (
    volume->array->doc, elements, nbytes, strides, &volume->array->linear);
  if (status != RADIO_OK)
    return rd_fail_in (status, "%s", volume->path);
  rd_volume_fill_info (volume);
  volume->info.is_labels = volume->info.is_labels
                           || options->dtype == RADIO_BOOL
                           || options->ingest.is_labels;
  *result = RD_STEAL (volume);
  return RADIO_OK;
}

enum radio_status
radio_volume_open_memory (struct radio_context *context,
                          const struct radio_create_options *options,
                          const void *elements, size_t nbytes,
                          const int64_t *strides,
                          struct radio_volume **volume)
{
  RD_NOT_NULL (options);
  RD_NOT_NULL (volume);
  RD_TRY (RD_CHECK_RESERVED (radio_create_options, options));
  RD_TRY (RD_CHECK_RESERVED (radio_ingest_options, &options->ingest));
  RD_SCOPE ("open memory", RD_IN_OPERATION);
  return rd_scope_end_with (
    open_memory (context, options, elements, nbytes, strides, volume));
}
