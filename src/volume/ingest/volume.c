/* SPDX-License-Identifier: MIT */
/* Ingest of a volume, in particular of one with a pipeline: its voxels are read
 * slab by slab, in the order of a file. */
#include <config.h>

#include <string.h>

#include "profiler/counters.h"
#include "src/array/derived.h"
#include "src/array/stop.h"
#include "src/base/checked.h"
#include "src/base/structs.h"
#include "src/volume/derive/derive.h"
#include "src/volume/file-slabs.h"
#include "src/volume/image-header.h"
#include "src/volume/ingest/ingest.h"
#include "src/volume/stream.h"

/* A volume's image as a source. */
struct volume_source {
  struct rd_source source;            /* first */
  struct rd_stream stream;
  struct rd_slabs slabs;
  struct radio_box slab;
  unsigned char *data;                /* of the slab; NULL: none was read */
  size_t nbytes, used_nbytes;
  bool swapped;
  uint64_t done_nbytes, total_nbytes;
};

static void
clear_source (struct volume_source *from)
{
  rd_buffer_free (&from->source.image.prefix);
  rd_free (from->data);
}

/* Reads the next slab. */
static enum radio_status
fill (struct volume_source *from)
{
  const struct rd_stream *stream = &from->stream;
  if (from->data == NULL) {
    uint64_t room;
    RD_TRY (rd_slabs_plan (stream, &from->slabs, &room));
    from->data = rd_malloc (room);
    if (from->data == NULL)
      return rd_fail_memory (room);
    rd_slabs_first (stream, &from->slabs, &from->slab);
  } else
    (void) rd_slabs_next (stream, &from->slabs, &from->slab);
  from->used_nbytes = 0;
  RD_TRY (rd_slab_read (stream, &from->slab, from->data, &from->nbytes));
  if (from->swapped)
    rd_swap_units (from->data, from->nbytes,
                   from->source.image.nifti.type.unit_nbytes);
  return RADIO_OK;
}

static enum radio_status
read_volume (struct rd_source *source, void *data, size_t nbytes)
{
  struct volume_source *from = (struct volume_source *) source;
  for (size_t done = 0; done < nbytes;) {
    if (from->used_nbytes == from->nbytes)
      RD_TRY (fill (from));
    size_t piece = rd_min_u64 (nbytes - done, from->nbytes
                                              - from->used_nbytes);
    memcpy ((unsigned char *) data + done, from->data + from->used_nbytes,
            piece);
    from->used_nbytes += piece;
    done += piece;
  }
  from->done_nbytes += nbytes;
  return RADIO_OK;
}

static enum radio_status
finish_volume (struct rd_source *source, uint64_t *trailing_nbytes)
{
  (void) source;
  *trailing_nbytes = 0;
  return RADIO_OK;
}

static void
report_progress (const struct rd_source *source,
                 struct radio_progress *progress)
{
  const struct volume_source *from = (const struct volume_source *) source;
  progress->done_nbytes = from->done_nbytes;
  progress->total_nbytes = from->total_nbytes;
}

/* Describes a volume's image; name is that of its source. */
static enum radio_status
open_source (struct radio_volume *volume, const char *name,
             struct volume_source *from)
{
  struct rd_ingest_image *image = &from->source.image;
  const struct rd_array_doc *doc = volume->array->doc;
  const struct rd_volume_meta *meta = &volume->meta;
  *from = (struct volume_source) {
    .source = {
      .image.name = name,
      .read = read_volume,
      .finish = finish_volume,
      .progress = report_progress,
    },
    .stream = {
      .array = volume->array,
      .box = { .rank = doc->rank },
    },
  };
  memcpy (from->stream.box.size, doc->shape, sizeof doc->shape);
  rd_image_order (volume, from->stream.order);
  if (meta->has_nifti)
    RD_TRY (rd_buffer_append (&image->prefix, meta->prefix.data,
                              meta->prefix.nbytes));
  else
    RD_TRY (rd_image_header (volume, NULL, &image->prefix, &from->swapped));
  RD_TRY (rd_nifti_parse (image->prefix.data, image->prefix.nbytes,
                          volume->path, &image->nifti));
  const struct rd_type *type = &image->nifti.type;
  from->swapped = image->nifti.swapped;
  from->total_nbytes = image->nifti.data_nbytes;
  from->stream.dtype = type->dtype;
  from->stream.item_nbytes = type->item_nbytes;
  if (radio_box_count (&from->stream.box)
      == from->total_nbytes / type->item_nbytes)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_FORMAT, "%s: its NIfTI header has another shape "
                  "than its array", volume->path);
}

struct hashing {
  const struct volume_source *from;
  EVP_MD_CTX *sha;
};

static enum radio_status
hash_slab (void *user_data, void *data, size_t nbytes)
{
  const struct hashing *hashing = user_data;
  if (hashing->from->swapped)
    rd_swap_units (data, nbytes,
                   hashing->from->source.image.nifti.type.unit_nbytes);
  return rd_sha256_add (hashing->sha, data, nbytes);
}

static const struct radio_site hash_site = {
  "hash voxels", RD_IN_OPERATION, "hash_slab", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

/* Computes the SHA-256 of a volume's image, as source.sha256 is that of an
 * ingested file.  That of a volume of radio's is known. */
static enum radio_status
find_sha256 (struct radio_volume *volume, struct rd_read_stop *stop,
             char text[RD_SHA256_TEXT_NBYTES])
{
  struct volume_source from RD_CLEANUP (clear_source) = { 0 };
  EVP_MD_CTX *sha RD_CLEANUP (rd_cleanup_sha256) = NULL;
  const char *known = volume->info.source_sha256;
  if (strlen (known) == RD_SHA256_TEXT_NBYTES - 1) {
    memcpy (text, known, RD_SHA256_TEXT_NBYTES);
    return RADIO_OK;
  }
  RD_SCOPE ("hash source", RD_IN_OPERATION);
  RD_TRY (open_source (volume, "", &from));
  RD_TRY (rd_sha256_begin (&sha));
  const struct rd_buffer *prefix = &from.source.image.prefix;
  RD_TRY (rd_sha256_add (sha, prefix->data, prefix->nbytes));
  from.stream.stop = stop;
  from.stream.site = &hash_site;
  struct hashing hashing = { &from, sha };
  RD_TRY (rd_stream_run (&from.stream, hash_slab, &hashing));
  return rd_sha256_end (sha, text);
}

/* Computes one SHA-256 of the data that a pipeline takes from the volumes that
 * it names: grids, and voxels of masks.  text is "" if it names no volume. */
static enum radio_status
find_named_sha256 (struct radio_volume *root,
                   const struct radio_pipeline *pipeline,
                   struct rd_read_stop *stop, char text[RD_SHA256_TEXT_NBYTES])
{
  EVP_MD_CTX *sha RD_CLEANUP (rd_cleanup_sha256) = NULL;
  *text = '\0';
  for (size_t i = 0; i < pipeline->n; i++) {
    const struct rd_step *step = &pipeline->steps[i];
    struct rd_buffer grid RD_BUFFER_SCOPE = { 0 };
    struct radio_volume *mask RD_CLEANUP (rd_cleanup_volume) = NULL;
    char mask_sha256[RD_SHA256_TEXT_NBYTES];
    if (!step->name)
      continue;
    if (!sha)
      RD_TRY (rd_sha256_begin (&sha));
    if (step->operation == RD_OP_LIKE) {
      RD_TRY (rd_grid_text (step, &grid));
      RD_TRY (rd_sha256_add (sha, grid.data, grid.nbytes));
    } else {
      RD_TRY (rd_open_mask (root, step->name, &mask));
      RD_TRY (find_sha256 (mask, stop, mask_sha256));
      RD_TRY (rd_sha256_add (sha, mask_sha256, strlen (mask_sha256)));
    }
  }
  return sha ? rd_sha256_end (sha, text) : RADIO_OK;
}

/* The name of the image's file, or of the volume. */
static const char *
name_of (const struct radio_volume *volume)
{
  const char *name = volume->info.source_name;
  if (*name == '\0')
    name = volume->path;
  if (*name == '\0')
    name = volume->array->store->io->uri;
  return name;
}

/* A volume that is ingested. */
struct volume_ingest {
  struct radio_store *store;
  struct radio_volume *volume;
  const char *path;
  const struct radio_ingest_options *options;
  struct radio_ingest_result result;
};

/* For asking the caller while voxels are read. */
struct asking {
  const struct volume_source *from;
  const struct radio_ingest_options *options;
};

/* A pass before the first voxel, and a slab, may take long: so the caller's
 * progress function is also asked while they are read. */
static bool
is_cancelled (void *user_data)
{
  const struct asking *asking = user_data;
  struct radio_progress progress = { 0 };
  report_progress (&asking->from->source, &progress);
  return asking->options->progress (&progress, asking->options->user_data)
         != RADIO_OK;
}

static enum radio_status
run_volume_ingest (void *data)
{
  struct volume_ingest *one = data;
  struct radio_volume *volume = one->volume;
  struct radio_volume *root = volume->root ? volume->root : volume;
  struct volume_source from RD_CLEANUP (clear_source) = { 0 };
  char sha256[RD_SHA256_TEXT_NBYTES], named_sha256[RD_SHA256_TEXT_NBYTES];
  struct asking asking = { &from, one->options };
  const struct radio_read_options until = {
    .cancel = is_cancelled, .user_data = &asking,
  };
  struct rd_read_stop reads, *stop = NULL;
  RD_TRY (open_source (volume, name_of (volume), &from));
  if (one->options && one->options->progress) {
    rd_read_stop_init (&reads, volume->array->store->io, &until);
    stop = &reads;
  }
  from.stream.stop = stop;
  if (volume->pipeline) {
    RD_TRY (find_sha256 (root, stop, sha256));
    RD_TRY (find_named_sha256 (root, volume->pipeline, stop, named_sha256));
    if (*named_sha256)
      from.source.image.named_sha256 = named_sha256;
    from.source.image.derived_pipeline = volume->pipeline->text;
    from.source.image.derived_sha256 = sha256;
    from.source.image.derived_level = root->meta.level_path;
  }
  RD_TRY (rd_ingest_source (one->store, &from.source, one->path, one->options,
                            &one->result));
  if (one->options)
    rd_derived_warn (volume->array, one->options->warning,
                     one->options->user_data);
  return RADIO_OK;
}

enum radio_status
(radio_ingest_volume) (struct radio_store *store, struct radio_volume *volume,
                       const char *path,
                       const struct radio_ingest_options *options,
                       struct radio_ingest_result *result,
                       size_t result_nbytes)
{
  RD_NOT_NULL (store);
  RD_NOT_NULL (volume);
  RD_NOT_NULL (path);
  if (options)
    RD_TRY (RD_CHECK_RESERVED (radio_ingest_options, options));
  RD_SCOPE ("ingest volume", RD_IN_OPERATION);
  RD_NOTE_NAME ("volume", path);
  struct volume_ingest one = {
    .store = store, .volume = volume, .path = path, .options = options,
  };
  enum radio_status status = rd_ingest_in_turn (store->context,
                                                run_volume_ingest, &one);
  if (status == RADIO_OK && result)
    rd_fill_result (result, result_nbytes, &one.result, sizeof one.result);
  return rd_scope_end_with (status);
}
