/* SPDX-License-Identifier: MIT */
/* Images in their files as volumes: the same handle as for a volume in a store,
 * whose array has no tiles.  Its store is the file's folder, on the local disk
 * or on a network. */
#include <config.h>

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/base/hash.h"
#include "src/base/structs.h"
#include "profiler/counters.h"
#include "io/percent.h"
#include "src/nifti/image.h"
#include "src/volume/files/gunzip.h"
#include "src/volume/volume.h"

/* Part of the memory limit that a file may take whose server has no ranges. */
#define WHOLE_SHARE 2

/* Where a file is. */
struct place {
  struct rd_input_source source;      /* first; of a network */
  struct radio_store *store;          /* its folder, or a copy in memory */
  struct radio_store *remote;         /* that of the copy; NULL: none */
  char *name;                 /* as messages and profiles name it */
  char *key;                  /* of the voxels' file in the store */

  /* Size and version of the file that is read, from the first response; 0:
   * unknown. */
  uint64_t object_nbytes, version;
  struct rd_buffer whole;     /* all of it, if it is small; else empty */
  bool has_no_ranges;         /* the server said so */
};

static void
close_place (struct place *place)
{
  radio_store_close (place->store);
  radio_store_close (place->remote);
  rd_free (place->name);
  rd_free (place->key);
  rd_buffer_free (&place->whole);
}
#define CLOSE_PLACE RD_CLEANUP (close_place)

/*------------------------------------------------------------------------
 * Files on a network
 *----------------------------------------------------------------------*/

/* Reads a file as a whole into the store in memory. */
static enum radio_status
read_whole (const struct place *place, const char *file, const char *key)
{
  RD_BUFFER_SCOPE struct rd_buffer bytes = { 0 };
  uint64_t limit = place->store->context->memory_limit_nbytes / WHOLE_SHARE;
  struct rd_io_get get = {
    .key = key, .range = RD_RANGE_ALL, .into = &bytes,
    .nbytes = (size_t) rd_min_u64 (limit, SIZE_MAX),
  };
  enum radio_status status = rd_io_read (place->remote->io, &get);
  if (status == RADIO_ERROR_LIMIT)
    return rd_fail (status, "%s: the server does not support range requests, "
                    "and the file has more than %" PRIu64 " bytes, half of "
                    "the memory limit; download it", file, limit);
  RD_TRY (status);
  return rd_io_put (place->store->io, key, bytes.data, bytes.nbytes,
                    RD_PUT_REPLACE);
}

/* Reads a range of a file that is named by its URL.  All ranges are of one
 * version of it. */
static enum radio_status
read_range (struct rd_input_source *source, const char *file, uint64_t offset,
            void *data, size_t nbytes, size_t *got, uint64_t *file_nbytes)
{
  struct place *place = (struct place *) source;
  struct rd_io *io = place->store->io;
  const char *key = file + strlen (io->uri) + 1;
  RD_BUFFER_SCOPE struct rd_buffer bytes = { 0 };
  if (offset == 0)
    place->object_nbytes = place->version = place->whole.nbytes = 0;
  struct rd_io_get get = {
    .key = key, .range = RD_RANGE_SPAN, .offset = offset, .nbytes = nbytes,
    .into = &bytes, .object_nbytes = place->object_nbytes,
    .version = place->version, .may_be_whole = true,
  };
  enum radio_status status = rd_io_read (io, &get);
  place->has_no_ranges = status == RADIO_ERROR_UNSUPPORTED;
  if (status == RADIO_ERROR_NOT_FOUND && place->remote) {
    RD_TRY (read_whole (place, file, key));
    status = rd_io_read (io, &get);
  }
  RD_TRY (status);
  *got = bytes.nbytes;
  *file_nbytes = place->object_nbytes = get.object_nbytes;
  place->version = get.version;
  if (bytes.nbytes == 0)
    return RADIO_OK;
  memcpy (data, bytes.data, bytes.nbytes);
  return offset == 0 && bytes.nbytes == get.object_nbytes
         ? rd_buffer_append (&place->whole, bytes.data, bytes.nbytes)
         : RADIO_OK;
}

/* Puts a store in memory in the place of the server's, whose files are read as
 * a whole. */
static enum radio_status
begin_whole (struct radio_context *context, struct place *place)
{
  const struct radio_store_options options = { .context = context };
  RD_CLEANUP (rd_cleanup_io) struct rd_io *memory = NULL;
  struct radio_store *store;
  RD_TRY (rd_io_memory_open (&memory));
  /* Messages name files by it. */
  char *uri = rd_strdup (place->store->io->uri);
  if (uri == NULL)
    return rd_fail_memory (strlen (place->store->io->uri) + 1);
  rd_free (memory->uri);
  memory->uri = uri;
  RD_TRY (rd_store_open_files (RD_STEAL (memory), &options, &store));
  place->remote = place->store;
  place->store = store;
  return RADIO_OK;
}

static enum radio_status
open_remote (struct radio_context *context, struct place *place,
             struct rd_image **image)
{
  place->source.read = read_range;
  enum radio_status status = rd_image_open_from (&place->source, place->name,
                                                 image);
  if (status == RADIO_ERROR_UNSUPPORTED && place->has_no_ranges) {
    RD_TRY (begin_whole (context, place));
    status = rd_image_open_from (&place->source, place->name, image);
  }
  RD_TRY (status);
  /* The file of the voxels, also for a pair. */
  const char *file = rd_input_file ((*image)->voxels);
  char *key = rd_strdup (file + strlen (place->store->io->uri) + 1);
  if (key == NULL)
    return rd_fail_memory (strlen (file) + 1);
  rd_free (place->key);
  place->key = key;
  if (place->whole.nbytes == 0 || place->remote)
    return RADIO_OK;
  /* No other request is needed, nor would one be right everywhere: servers
   * without ranges have not shown that yet. */
  RD_TRY (begin_whole (context, place));
  return rd_io_put (place->store->io, key, place->whole.data,
                    place->whole.nbytes, RD_PUT_REPLACE);
}

/*------------------------------------------------------------------------
 * Opening
 *----------------------------------------------------------------------*/

/* Opens the folder of a local file. */
static enum radio_status
open_folder (struct radio_context *context, const char *file,
             struct place *place)
{
  const struct radio_store_options options = { .context = context };
  const char *slash = strrchr (file, '/');
  size_t nbytes = slash ? (size_t) (slash - file) : 0;
  char *folder RD_FREE = slash ? rd_strndup (file, nbytes > 0 ? nbytes : 1)
                               : rd_strdup (".");
  struct rd_io *io;
  place->key = rd_strdup (slash ? slash + 1 : file);
  if (folder == NULL || place->key == NULL)
    return rd_fail_memory (strlen (file) + 1);
  RD_TRY (rd_io_posix_open (folder, false, &io));
  return rd_store_open_files (io, &options, &place->store);
}

/* Finds where a file is: of a URL without a request.  Sets the place's name,
 * which shows no query. */
static enum radio_status
find_place (struct radio_context *context, const char *file,
            const struct radio_file_options *given, struct place *place)
{
  struct radio_store_options options = { .context = context };
  if (given->s3)
    options.s3 = *given->s3;
  if (!rd_io_is_remote (file)) {
    place->name = rd_strdup (file);
    return place->name ? RADIO_OK : rd_fail_memory (strlen (file) + 1);
  }
  RD_TRY (rd_store_open_remote_file (file, &options, &place->store,
                                     &place->key));
  place->name = rd_key_join (place->store->io->uri, place->key);
  return place->name ? RADIO_OK : RADIO_ERROR_MEMORY;
}

/* Identifies the content of a file on a network by its URL and ETag; false if
 * it has none. */
static bool
identify_remote (const struct place *place, const struct rd_image *image,
                 struct rd_file_identity *identity)
{
  *identity = (struct rd_file_identity) {
    .device = UINT64_MAX,
    .inode = rd_hash_text (rd_input_file (image->voxels)),
    .nbytes = place->object_nbytes, .mtime_ns = place->version,
  };
  return place->version != 0;
}

static enum radio_status
open_array (struct radio_volume *volume, const struct place *place,
            const struct rd_image *image,
            const struct radio_file_options *options)
{
  const struct rd_nifti *nifti = &volume->meta.nifti;
  const struct rd_linear_object object = {
    .store = place->store, .key = place->key, .version = place->version,
    .object_nbytes = place->object_nbytes, .map = options->map,
  };
  RD_TRY (rd_volume_open_image (volume, place->store, place->key,
                                rd_input_is_gzip (image->voxels) ? "gzip"
                                                                 : "none"));
  struct rd_linear **linear = &volume->array->linear;
  struct rd_file_identity remote = { 0 };
  struct rd_gunzip_options gunzip_options = {
    .point_gap_nbytes = options->point_gap_nbytes,
    .index_folder = options->index_folder,
    .keep_index = options->keep_index,
    .warning = options->warning, .user_data = options->user_data,
    .first_member_nbytes = rd_input_member_nbytes (image->voxels),
  };
  if (!place->source.read) {
    gunzip_options.identity = rd_input_identity (image->voxels);
    gunzip_options.path = rd_input_file (image->voxels);
  } else if (identify_remote (place, image, &remote))
    gunzip_options.identity = &remote;
  RD_TRY (rd_input_is_gzip (image->voxels)
          ? rd_gunzip_open (&object, nifti->vox_offset, nifti->data_nbytes,
                            &gunzip_options, linear)
          : rd_linear_object_open (&object, nifti->vox_offset, linear));
  rd_nifti_file_strides (nifti, nifti->shape, (*linear)->strides);
  (*linear)->swapped = nifti->swapped;
  (*linear)->nbytes = nifti->data_nbytes;
  if (place->source.read) {
    (*linear)->is_identified = gunzip_options.identity != NULL;
    (*linear)->identity = remote;
  } else
    rd_linear_identify (volume->array);
  /* Missing gzip data are found when they are inflated. */
  if (!rd_input_is_gzip (image->voxels))
    (*linear)->missing_nbytes = image->missing_nbytes;
  return RADIO_OK;
}

/* A file's own name, of a URL without percent-encoding. */
static char *
source_name (const struct place *place)
{
  const char *slash = strrchr (place->name, '/');
  char *name = rd_strdup (slash ? slash + 1 : place->name);
  RD_FREE char *decoded = NULL;
  if (name == NULL || strncasecmp (place->name, "http", 4) != 0
      || !rd_io_is_remote (place->name))
    return name;
  decoded = rd_strdup (name);
  if (decoded == NULL || !rd_percent_decode (decoded, false))
    return name;
  rd_free (name);
  return RD_STEAL (decoded);
}

static enum radio_status
open_file (struct radio_context *context, struct place *place,
           const struct radio_file_options *options,
           struct radio_volume **result)
{
  struct rd_image *image RD_CLEANUP (rd_cleanup_image) = NULL;
  RD_TRY (place->store ? open_remote (context, place, &image)
                       : rd_image_open (place->name, &image));
  struct radio_volume *volume RD_CLEANUP (rd_cleanup_volume)
    = rd_calloc (1, sizeof *volume);
  if (volume == NULL)
    return rd_fail_memory (sizeof *volume);
  struct rd_volume_meta *meta = &volume->meta;
  volume->path = rd_strdup (place->name);
  meta->source_name = source_name (place);
  if (volume->path == NULL || meta->source_name == NULL)
    return rd_fail_memory (strlen (place->name) + 1);
  volume->file_nbytes = rd_input_file_nbytes (image->voxels);
  volume->missing_nbytes = image->missing_nbytes;
  meta->nifti = image->nifti;
  meta->prefix = image->prefix;
  image->prefix = (struct rd_buffer) { 0 };
  if (place->store == NULL)
    RD_TRY (open_folder (context, rd_input_file (image->voxels), place));
  RD_TRY (open_array (volume, place, image, options));
  rd_volume_fill_info (volume);
  *result = RD_STEAL (volume);
  return RADIO_OK;
}

static enum radio_status
find_and_open (struct radio_context *context, const char *file,
               const struct radio_file_options *options,
               struct radio_volume **volume)
{
  CLOSE_PLACE struct place place = { 0 };
  RD_TRY (find_place (context, file, options, &place));
  RD_NOTE_NAME ("file", place.name);
  return open_file (context, &place, options, volume);
}

enum radio_status
radio_volume_open_file (struct radio_context *context, const char *file,
                        const struct radio_file_options *options,
                        struct radio_volume **volume)
{
  static const struct radio_file_options defaults;
  RD_NOT_NULL (file);
  RD_NOT_NULL (volume);
  if (options) {
    RD_TRY (RD_CHECK_RESERVED (radio_file_options, options));
    if (options->s3)
      RD_TRY (RD_CHECK_RESERVED (radio_s3_options, options->s3));
  }
  RD_SCOPE ("open file", RD_IN_OPERATION);
  return rd_scope_end_with (
    find_and_open (context, file, options ? options : &defaults, volume));
}
