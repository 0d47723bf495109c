/* SPDX-License-Identifier: MIT */
/* Volumes: opening an image's group with its finest level, its geometry
 * (from its NIfTI header if there is one, else from OME-Zarr's scale,
 * translation and orientation), reading, and its stored size. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/counters.h"
#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/base/structs.h"
#include "src/element/box.h"
#include "src/volume/node.h"
#include "src/volume/volume.h"

/* NIfTI's intent_code of images whose values are labels. */
#define INTENT_LABEL 1002

/* Check that the header and the level describe the same image. */
static enum radio_status
check_level (struct radio_volume *volume, const char *where)
{
  const struct rd_volume_meta *meta = &volume->meta;
  const struct rd_nifti *nifti = &meta->nifti;
  const struct rd_array_doc *doc = volume->array->doc;
  size_t rank = strlen (meta->axes);
  if (doc->rank != rank)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: axes has %zu entries, but %s has %zu dimensions",
                    where, rank, meta->level_path, doc->rank);
  if (doc->type.dtype == RADIO_STRING)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: %s is an array of strings, "
                    "not an image", where, meta->level_path);
  volume->array->is_complete = meta->has_nifti;
  if (!meta->has_nifti)
    return RADIO_OK;
  if (strcmp (meta->axes, nifti->axes) != 0)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: axes are \"%s\", but \"%s\" by attributes.radio."
                    "nifti", where, meta->axes, nifti->axes);
  for (size_t i = 0; i < nifti->rank; i++)
    if (doc->shape[i] != nifti->shape[i])
      return rd_fail (RADIO_ERROR_FORMAT,
                      "%s: axis %c of %s has %llu elements, but %llu by "
                      "attributes.radio.nifti", where, nifti->axes[i],
                      meta->level_path, (unsigned long long) doc->shape[i],
                      (unsigned long long) nifti->shape[i]);
  if (doc->type.dtype != nifti->type.dtype)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: data_type of %s is %s, but %s by attributes.radio."
                    "nifti", where, meta->level_path,
                    radio_dtype_name (doc->type.dtype),
                    radio_dtype_name (nifti->type.dtype));
  return RADIO_OK;
}

static const char *
or_empty (const char *text)
{
  return text ? text : "";
}

/* The index of an axis; the rank for the axis of space that a 2-D image
 * lacks. */
static size_t
axis_index (const char *axes, char letter)
{
  const char *found = strchr (axes, letter);
  return found ? (size_t) (found - axes) : strlen (axes);
}

/* OME's coordinates increase along the axes; RFC-4 gives the axes'
 * directions.  Unless all are given and differ, the directions are unknown
 * (false), and the affine has the image's own coordinates. */
static bool
ome_affine (const struct rd_volume_meta *meta, double affine[3][4])
{
  size_t world[3];            /* 0 right, 1 anterior, 2 superior */
  double sign[3];
  unsigned seen = 0;
  size_t rank = strlen (meta->axes);
  for (size_t i = 0; i < 3; i++) {
    size_t axis = axis_index (meta->axes, "xyz"[i]);
    const char *words = axis < rank ? meta->orientation[axis] : NULL;
    char letter = words ? rd_orientation_letter (words) : 0;
    const char *found = letter ? strchr ("RASLPI", letter) : NULL;
    size_t place = found ? (size_t) (found - "RASLPI") : i;
    world[i] = place % 3;
    sign[i] = place < 3 ? 1 : -1;
    seen |= found ? 1u << world[i] : 0;
  }
  /* The axis that a 2-D image lacks is across the two that it has. */
  for (size_t i = 0; i < 3; i++)
    if (axis_index (meta->axes, "xyz"[i]) == rank
        && __builtin_popcount (seen) == 2) {
      world[i] = seen == 6 ? 0 : seen == 5 ? 1 : 2;
      seen = 7;
    }
  memset (affine, 0, 12 * sizeof (double));
  for (size_t i = 0; i < 3; i++) {
    size_t axis = axis_index (meta->axes, "xyz"[i]);
    if (seen != 7) {
      world[i] = i;
      sign[i] = 1;
    }
    /* Past the rank are a scale of 1 and a translation of 0. */
    affine[world[i]][i] = sign[i] * meta->scale[axis];
    affine[world[i]][3] = sign[i] * meta->translation[axis];
  }
  return seen == 7;
}

size_t
rd_volume_axis (const struct radio_volume *volume, char letter)
{
  return axis_index (volume->meta.axes, letter);
}

void
rd_volume_orient (struct radio_volume *volume, bool is_oriented)
{
  struct radio_volume_info *info = &volume->info;
  size_t axis_of[3];
  if (!rd_orientation (info->affine, info->orientation, axis_of)
      || !is_oriented)
    info->orientation[0] = '\0';
  for (size_t plane = 0; plane < 3; plane++)
    info->plane_axis[plane] = rd_volume_axis (volume, "xyz"[axis_of[plane]]);
}

void
rd_volume_fill_info (struct radio_volume *volume)
{
  const struct rd_volume_meta *meta = &volume->meta;
  const struct rd_nifti *nifti = &meta->nifti;
  struct radio_volume_info *info = &volume->info;
  *info = (struct radio_volume_info) {
    .path = volume->path,
    .axes = meta->axes,
    .scl_slope = 1,
    .source_name = or_empty (meta->source_name),
    .source_sha256 = or_empty (meta->source_sha256),
    .source_nbytes = meta->source_nbytes,
    .tiling = or_empty (meta->tiling),
    .codec = or_empty (meta->codec),
    .nifti_type = meta->has_nifti ? nifti->type_name : "",
    .header = meta->has_nifti ? meta->prefix.data : NULL,
    .header_nbytes = meta->has_nifti ? meta->prefix.nbytes : 0,
    .pipeline = "",
    .derived_pipeline = or_empty (meta->derived_pipeline),
    .derived_sha256 = or_empty (meta->derived_sha256),
    .missing_nbytes = volume->missing_nbytes,
  };
  radio_array_get_info (volume->array, &info->array);
  info->is_labels = info->array.dtype == RADIO_BOOL || meta->has_image_label
                    || (meta->has_nifti && nifti->intent_code == INTENT_LABEL);

  bool is_oriented = true;
  if (meta->has_nifti) {
    rd_nifti_affine (nifti, info->affine, &info->affine_source);
    /* Method 1 is of headers without a form, not of those with bad ones. */
    is_oriented = strcmp (info->affine_source, "pixdim") != 0
                  || (nifti->sform_code <= 0 && nifti->qform_code <= 0);
    rd_meta_scale (nifti, info->spacing);
    info->space_unit = rd_nifti_space_unit (nifti);
    info->time_unit = rd_nifti_time_unit (nifti);
    rd_nifti_scaling (nifti, &info->scl_slope, &info->scl_inter);
  } else {
    is_oriented = ome_affine (meta, info->affine);
    info->affine_source = "ome";
    for (size_t i = 0; i < strlen (meta->axes); i++)
      info->spacing[i] = fabs (meta->scale[i]);
    info->space_unit = or_empty (meta->space_unit);
    info->time_unit = or_empty (meta->time_unit);
  }
  rd_volume_orient (volume, is_oriented);

  /* The window is of scaled values: the header's is, too, but omero's is of
   * stored ones. */
  if (meta->has_nifti && nifti->cal_max > nifti->cal_min) {
    info->window_low = nifti->cal_min;
    info->window_high = nifti->cal_max;
  } else if (meta->has_window) {
    double a = meta->window_start * info->scl_slope + info->scl_inter;
    double b = meta->window_end * info->scl_slope + info->scl_inter;
    info->window_low = fmin (a, b);
    info->window_high = fmax (a, b);
  }
}

enum radio_status
rd_volume_open_group (struct radio_store *store, const char *path,
                      const struct rd_group_doc *group,
                      struct radio_volume **result)
{
  struct radio_volume *volume RD_CLEANUP (rd_cleanup_volume)
    = rd_calloc (1, sizeof *volume);
  if (volume == NULL)
    return rd_fail_memory (sizeof *volume);
  volume->path = rd_strdup (path);
  if (volume->path == NULL)
    return rd_fail_memory (strlen (path) + 1);
  char *where RD_FREE = rd_document_key (path);
  if (where == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_meta_parse (group, where, &volume->meta));

  /* Open the level from the group's copy of its document, if there is one,
   * which saves a read. */
  const char *level = volume->meta.level_path;
  struct json_object *document = rd_json_member (group->consolidated, level);
  char *level_path RD_FREE = rd_key_join (path, level);
  if (level_path == NULL)
    return RADIO_ERROR_MEMORY;
  volume->has_level_copy = json_object_is_type (document, json_type_object);
  if (volume->has_level_copy) {
    struct rd_array_doc *doc;
    RD_TRY (rd_array_doc_parse (document, level_path, &doc));
    RD_TRY (rd_array_open_doc (store, level_path, doc, &volume->array));
  } else {
    enum radio_status status
      = radio_array_open (store, level_path, &volume->array);
    if (status == RADIO_ERROR_NOT_FOUND)
      return rd_fail (RADIO_ERROR_FORMAT,
                      "%s: %s is \"%s\", which does not exist", where,
                      volume->meta.nifti.rank > RD_NIFTI_MAX_OME_RANK
                      ? "radio.level" : "datasets[0].path", level);
    RD_TRY (status);
  }
  RD_TRY (check_level (volume, where));
  if (volume->meta.has_nifti)
    rd_tile_lengths_set (&volume->array->lengths,
                         RD_STEAL (volume->meta.tile_lengths));
  rd_volume_fill_info (volume);
  *result = RD_STEAL (volume);
  return RADIO_OK;
}

enum radio_status
rd_volume_open_image (struct radio_volume *volume, struct radio_store *store,
                      const char *key, const char *codec)
{
  struct rd_volume_meta *meta = &volume->meta;
  struct json_object *document RD_CLEANUP (rd_cleanup_json) = NULL;
  struct rd_array_doc *doc;
  meta->tiling = rd_strdup ("none");
  meta->codec = rd_strdup (codec);
  if (meta->tiling == NULL || meta->codec == NULL)
    return rd_fail_memory (strlen (codec) + 1);
  meta->has_nifti = true;
  meta->source_nbytes = meta->prefix.nbytes + meta->nifti.data_nbytes;
  memcpy (meta->axes, meta->nifti.axes, strlen (meta->nifti.axes) + 1);
  /* As the document in a store has it. */
  meta->has_window = meta->nifti.colour != RD_COLOUR_NONE;
  meta->window_end = 255;
  RD_TRY (rd_file_document (&meta->nifti, &document));
  RD_TRY (rd_array_doc_parse (document, volume->path, &doc));
  return rd_array_open_doc (store, key, doc, &volume->array);
}

enum radio_status
radio_volume_open (struct radio_store *store, const char *path,
                   struct radio_volume **volume)
{
  RD_NOT_NULL (store);
  RD_NOT_NULL (path);
  RD_NOT_NULL (volume);
  RD_SCOPE ("open volume", RD_IN_OPERATION);
  RD_NOTE_NAME ("volume", path);
  struct json_object *document RD_CLEANUP (rd_cleanup_json) = NULL;
  struct rd_group_doc *group RD_CLEANUP (rd_cleanup_group_doc) = NULL;
  enum radio_status status = rd_store_read_named (store, path, &document);
  if (status == RADIO_OK)
    status = rd_group_parse (document, path, &group);
  if (status == RADIO_OK)
    status = rd_volume_open_group (store, path, group, volume);
  else if (status == RADIO_ERROR_NOT_FOUND && *path && !strchr (path, '/'))
    rd_fail (status, "%s; a path is COLLECTION/NAME, and radio_store_find "
             "returns that of a bare name", radio_error_message ());
  return rd_scope_end_with (status);
}

void
radio_volume_close (struct radio_volume *volume)
{
  if (volume == NULL || atomic_fetch_sub (&volume->nothers, 1) > 0)
    return;
  radio_array_close (volume->array);
  rd_meta_free (&volume->meta);
  radio_pipeline_free (volume->pipeline);
  radio_volume_close (volume->root);
  rd_free (volume->path);
  rd_free (volume);
}

void
(radio_volume_get_info) (const struct radio_volume *volume,
                         struct radio_volume_info *info, size_t info_nbytes)
{
  static const struct radio_volume_info none;
  rd_fill_result (info, info_nbytes, volume ? &volume->info : &none,
                  sizeof volume->info);
}

struct radio_array *
radio_volume_array (struct radio_volume *volume)
{
  return volume->array;
}

/* For the finding that proposes a tiling, which takes the first of the last
 * three axes without this. */
static void
note_axial_axis (const struct radio_volume *volume)
{
  size_t axis = volume->info.plane_axis[RADIO_AXIAL];
  if (axis + 3 > volume->info.array.rank && axis < volume->info.array.rank
      && radio_profile_is_on ())
    RD_NOTE ("axial axis", ((const char[]) { (char) ('0' + axis), '\0' }));
}

/* Read requests, with the volume's slope and intercept if options say so. */
static enum radio_status
read_requests (struct radio_volume *volume,
               const struct radio_request *requests, size_t n,
               enum radio_dtype dtype,
               const struct radio_read_options *options)
{
  const struct rd_scaling scaling
    = { volume->info.scl_slope, volume->info.scl_inter };
  bool scaled = options && options->scaled;
  RD_NOTE_NAME ("volume", volume->path);
  note_axial_axis (volume);
  return rd_array_read_scaled (volume->array, requests, n, dtype,
                               scaled ? &scaling : NULL, options);
}

enum radio_status
radio_volume_read (struct radio_volume *volume, const struct radio_box *box,
                   enum radio_dtype dtype, void *buffer, size_t nbytes,
                   const struct radio_read_options *options)
{
  RD_NOT_NULL (volume);
  RD_NOT_NULL (box);
  RD_SCOPE ("read", RD_IN_OPERATION);
  const struct radio_request request = {
    *box, buffer, nbytes, options ? options->strides : NULL,
  };
  return rd_scope_end_with (
    read_requests (volume, &request, 1, dtype, options));
}

enum radio_status
radio_volume_read_many (struct radio_volume *volume,
                        const struct radio_request *requests, size_t n,
                        enum radio_dtype dtype,
                        const struct radio_read_options *options)
{
  RD_NOT_NULL (volume);
  if (n > 0)
    RD_NOT_NULL (requests);
  RD_SCOPE ("read many", RD_IN_OPERATION);
  return rd_scope_end_with (
    read_requests (volume, requests, n, dtype, options));
}

enum radio_status
radio_volume_read_async (struct radio_volume *volume,
                         const struct radio_request *requests, size_t n,
                         enum radio_dtype dtype,
                         const struct radio_read_options *options,
                         radio_read_done_fn *done, void *user_data,
                         struct radio_read **read)
{
  RD_NOT_NULL (volume);
  if (n > 0)
    RD_NOT_NULL (requests);
  const struct rd_scaling scaling
    = { volume->info.scl_slope, volume->info.scl_inter };
  return rd_array_read_async (volume->array, requests, n, dtype,
                              options && options->scaled ? &scaling : NULL,
                              options, false, done, user_data, read);
}

static bool
is_space (char letter)
{
  return letter == 'x' || letter == 'y' || letter == 'z';
}

/* True for a 2-D image: z (or y, or x) is missing, and has one element. */
static bool
is_flat (const struct radio_volume *volume)
{
  size_t nspace = 0;
  for (const char *p = volume->info.axes; *p; p++)
    nspace += is_space (*p);
  return nspace < 3;
}

void
radio_volume_plane_shape (const struct radio_volume *volume,
                          enum radio_plane plane, uint64_t shape[2])
{
  size_t n = 0;
  if (shape == NULL)
    return;
  shape[0] = shape[1] = 0;
  if (volume == NULL || (unsigned) plane > RADIO_SAGITTAL)
    return;
  const struct radio_volume_info *info = &volume->info;
  size_t across = info->plane_axis[plane];
  /* A plane of a 2-D image may be one row of it. */
  if (across < info->array.rank && is_flat (volume))
    shape[n++] = 1;
  for (size_t i = 0; i < info->array.rank && n < 2; i++)
    if (is_space (info->axes[i]) && i != across)
      shape[n++] = info->array.shape[i];
}

/* Read the plane at an index of the axis `across' into the buffer of a
 * request that has no box yet: one element thick on that axis and on those
 * that are not of space.  options' strides are of the plane's two axes; on
 * the others the box has one element, so that any stride will do. */
static enum radio_status
read_plane (struct radio_volume *volume, size_t across, uint64_t index,
            enum radio_dtype dtype, struct radio_request *request,
            const struct radio_read_options *options)
{
  const struct radio_volume_info *info = &volume->info;
  const uint64_t *shape = info->array.shape;
  struct radio_box *box = &request->box;
  int64_t strides[RADIO_MAX_RANK];
  size_t nlead = 0, nstrides = across < info->array.rank && is_flat (volume);
  if (across == info->array.rank && index > 0)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: plane %" PRIu64 " of a 2-D "
                    "image, which has one", volume->path, index);
  *box = (struct radio_box) { .rank = info->array.rank };
  for (size_t i = 0; i < box->rank; i++) {
    bool is_whole = is_space (info->axes[i]) && i != across;
    box->size[i] = is_whole ? shape[i] : 1;
    if (i == across)
      box->start[i] = index;
    else if (info->axes[i] == 't' || info->axes[i] == 'c')
      box->start[i] = options->lead[nlead++];
    if (box->start[i] >= shape[i] && !is_whole)
      return rd_fail (RADIO_ERROR_ARGUMENT,
                      "%s: index %" PRIu64 " on axis %c is outside its "
                      "%" PRIu64 " elements", volume->path, box->start[i],
                      info->axes[i], shape[i]);
    if (options->strides)
      strides[i] = is_whole ? options->strides[nstrides++] : 0;
  }
  if (options->strides)
    request->strides = strides;
  return read_requests (volume, request, 1, dtype, options);
}

enum radio_status
radio_volume_read_plane (struct radio_volume *volume, enum radio_plane plane,
                         uint64_t index, enum radio_dtype dtype,
                         void *buffer, size_t nbytes,
                         const struct radio_read_options *options)
{
  static const struct radio_read_options defaults;
  RD_NOT_NULL (volume);
  if ((unsigned) plane > RADIO_SAGITTAL)
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_volume_read_plane: %d is not "
                    "a plane", (int) plane);
  RD_SCOPE ("read plane", RD_IN_OPERATION);
  struct radio_request request = { .buffer = buffer, .nbytes = nbytes };
  return rd_scope_end_with (
    read_plane (volume, volume->info.plane_axis[plane], index, dtype,
                &request, options ? options : &defaults));
}

/* Allocates the elements that a read delivers, which the caller's struct of
 * elements_nbytes can name.  The box was checked. */
static enum radio_status
alloc_elements (const struct radio_volume *volume, size_t elements_nbytes,
                size_t rank,
                const uint64_t *shape, enum radio_dtype dtype,
                const struct radio_read_options *options,
                struct radio_elements *elements)
{
  const struct radio_array_info *array = &volume->info.array;
  if (elements_nbytes < sizeof elements->data)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: a struct radio_elements of %zu "
                    "bytes; pass its size", volume->path, elements_nbytes);
  if (options && options->strides)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: strides of memory that is "
                    "allocated for the read; leave them NULL", volume->path);
  *elements = (struct radio_elements) { .rank = rank };
  elements->dtype = dtype == RADIO_STORED ? array->dtype : dtype;
  elements->item_nbytes = elements->dtype == array->dtype
    ? array->item_nbytes : radio_dtype_nbytes (elements->dtype);
  uint64_t nbytes = elements->item_nbytes;
  for (size_t i = 0; i < rank; i++) {
    elements->shape[i] = shape[i];
    nbytes = rd_mul_sat (nbytes, shape[i]);
  }
  if (nbytes == 0)
    return RADIO_OK;
  elements->nbytes = nbytes > SIZE_MAX ? SIZE_MAX : (size_t) nbytes;
  elements->data = rd_malloc (elements->nbytes);
  return elements->data ? RADIO_OK : rd_fail_memory (elements->nbytes);
}

enum radio_status
(radio_volume_read_alloc) (struct radio_volume *volume,
                           const struct radio_box *box,
                           enum radio_dtype dtype,
                           const struct radio_read_options *options,
                           struct radio_elements *elements,
                           size_t elements_nbytes)
{
  RD_NOT_NULL (volume);
  RD_NOT_NULL (elements);
  RD_SCOPE ("read", RD_IN_OPERATION);
  const struct radio_array_info *array = &volume->info.array;
  struct radio_request request = {
    .box = box ? *box : rd_box_whole (array->rank, array->shape),
  };
  struct radio_elements full = { 0 };
  enum radio_status status = rd_array_check_box (volume->array,
                                                 &request.box);
  if (status == RADIO_OK)
    status = alloc_elements (volume, elements_nbytes, request.box.rank,
                             request.box.size, dtype, options, &full);
  request.buffer = full.data;
  request.nbytes = full.nbytes;
  if (status == RADIO_OK)
    status = read_requests (volume, &request, 1, dtype, options);
  if (status == RADIO_OK)
    rd_fill_result (elements, elements_nbytes, &full, sizeof full);
  else
    rd_free (full.data);
  return rd_scope_end_with (status);
}

enum radio_status
(radio_volume_read_plane_alloc) (struct radio_volume *volume,
                                 enum radio_plane plane, uint64_t index,
                                 enum radio_dtype dtype,
                                 const struct radio_read_options *options,
                                 struct radio_elements *elements,
                                 size_t elements_nbytes)
{
  RD_NOT_NULL (volume);
  RD_NOT_NULL (elements);
  if ((unsigned) plane > RADIO_SAGITTAL)
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_volume_read_plane_alloc: "
                    "%d is not a plane", (int) plane);
  struct radio_elements full = { 0 };
  uint64_t shape[2];
  radio_volume_plane_shape (volume, plane, shape);
  enum radio_status status = alloc_elements (volume, elements_nbytes, 2,
                                             shape, dtype, options, &full);
  if (status == RADIO_OK)
    status = radio_volume_read_plane (volume, plane, index, dtype, full.data,
                                      full.nbytes, options);
  if (status == RADIO_OK)
    rd_fill_result (elements, elements_nbytes, &full, sizeof full);
  else
    rd_free (full.data);
  return status;
}

struct size_sum {
  const struct radio_volume *volume;
  uint64_t nbytes;
};

/* Levels that the volume does not name are not its own: another writer is
 * writing them, or they are garbage. */
static enum radio_status
add_own_object (const struct rd_io_entry *entry, void *user_data)
{
  struct size_sum *sum = user_data;
  const char *name = entry->name;
  char first[RD_LEVEL_NAME_NBYTES] = "";
  size_t n = strcspn (name, "/");
  if (name[n] == '/' && n < sizeof first)
    memcpy (first, name, n);
  if (!rd_is_level_name (first)
      || strcmp (first, sum->volume->meta.level_path) == 0)
    sum->nbytes += entry->nbytes;
  return RADIO_OK;
}

enum radio_status
radio_volume_stored_nbytes (struct radio_volume *volume, uint64_t *nbytes)
{
  RD_NOT_NULL (volume);
  RD_NOT_NULL (nbytes);
  /* A volume with a pipeline takes no place. */
  if (volume->root)
    volume = volume->root;
  if (volume->array->linear) {
    *nbytes = volume->file_nbytes;
    return RADIO_OK;
  }
  struct size_sum sum = { volume, 0 };
  struct rd_io *io = volume->array->store->io;
  RD_TRY (io->ops->list (io, volume->path, true, add_own_object, &sum));
  *nbytes = sum.nbytes;
  return RADIO_OK;
}
