/* SPDX-License-Identifier: MIT */
/* Export: a header, then a stream of elements in the file's order. */
#include <config.h>

#include <inttypes.h>
#include <string.h>
#include <sys/statvfs.h>

#include <radio/export.h>

#include "profiler/counters.h"
#include "src/array/derived.h"
#include "src/array/pool.h"
#include "src/array/stop.h"
#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/base/structs.h"
#include "src/base/text.h"
#include "src/element/box.h"
#include "src/nifti/executor.h"
#include "src/nifti/gzip.h"
#include "src/nifti/npy.h"
#include "src/nifti/output.h"
#include "src/volume/file-slabs.h"
#include "src/volume/image-header.h"
#include "src/volume/stream.h"
#include "src/volume/volume.h"

enum format { FORMAT_NIFTI, FORMAT_NPY };

/* Determine a file's format by its suffix, in any case of letters. */
static enum radio_status
parse_format (const char *file, enum format *format)
{
  static const struct {
    const char *suffix;
    enum format format;
  } suffixes[] = {
    { ".nii", FORMAT_NIFTI }, { ".nii.gz", FORMAT_NIFTI },
    { ".npy", FORMAT_NPY },
  };
  for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
    if (rd_ends_with (file, suffixes[i].suffix)) {
      *format = suffixes[i].format;
      return RADIO_OK;
    }
  }
  return rd_fail (RADIO_ERROR_ARGUMENT,
                  "%s: the name must end in .nii, .nii.gz or .npy", file);
}

/* Members are for .nii.gz, of a size that fits into memory some times. */
static enum radio_status
check_members (const struct radio_context *context, const char *file,
               const struct radio_export_options *options)
{
  uint64_t nbytes = options->member_nbytes;
  if (nbytes == 0)
    return RADIO_OK;
  if (!rd_ends_with (file, ".gz"))
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: only .nii.gz files have "
                    "members", file);
  if (nbytes < RD_GZIP_MEMBER_MIN_NBYTES || nbytes > RD_GZIP_MEMBER_MAX_NBYTES)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: members have from %zu to %zu "
                    "bytes, not %llu", file, RD_GZIP_MEMBER_MIN_NBYTES,
                    RD_GZIP_MEMBER_MAX_NBYTES, (unsigned long long) nbytes);
  return rd_context_allows (context, 4 * nbytes, "writing members");
}

/* The header of a .npy with the volume as nibabel has it. */
static enum radio_status
npy_header (const struct radio_volume *volume, const struct radio_box *box,
            const struct rd_stream *stream, struct rd_buffer *out)
{
  const struct rd_volume_meta *meta = &volume->meta;
  const struct rd_nifti *nifti = &meta->nifti;
  char room[RD_NPY_DESCR_NBYTES];
  uint64_t shape[RADIO_MAX_RANK];
  size_t rank = 0;
  for (size_t i = 0; i < stream->box.rank; i++)
    if (rd_image_axis (volume, i) == 0
        && stream->box.size[i] != (uint64_t) nifti->colour)
      return rd_fail (RADIO_ERROR_ARGUMENT, "%s: a box of %s must hold all "
                      "%d channels", volume->path, nifti->type_name,
                      (int) nifti->colour);
  if (meta->has_nifti && box == NULL) {
    /* All dimensions that the header has, also those of one element. */
    for (rank = 0; rank < nifti->ndim; rank++)
      shape[rank] = (uint64_t) nifti->dim[rank + 1];
  } else {
    /* NIfTI's axes up to the last that there is, as in the .nii: one that is
     * missing before it has one element.  Colours are in the type. */
    for (size_t i = 0; i < RADIO_MAX_RANK; i++)
      shape[i] = 1;
    for (size_t i = 0; i < stream->box.rank; i++) {
      size_t axis = rd_image_axis (volume, i);
      if (axis > 0)
        shape[axis - 1] = stream->box.size[i];
      rank = axis > rank ? axis : rank;
    }
    rank = rank < 3 ? 3 : rank;
  }
  const struct rd_type type = stream->scaling ? rd_type_of (stream->dtype)
                                             : volume->array->doc->type;
  const char *descr = rd_npy_descr (&type, room);
  if (meta->has_nifti && nifti->colour != RD_COLOUR_NONE)
    descr = rd_npy_colour_descr (nifti->colour);
  return rd_npy_header (descr, true, rank, shape, out);
}

/* The destination of the stream. */
struct writing {
  struct rd_output *output;
  bool swapped;
  size_t unit_nbytes;
};

static enum radio_status
write_elements (void *user_data, void *data, size_t nbytes)
{
  struct writing *writing = user_data;
  if (writing->swapped)
    rd_swap_units (data, nbytes, writing->unit_nbytes);
  return rd_output_write (writing->output, data, nbytes);
}

/* Deflates the pieces of a .nii.gz on the context's pool of threads. */
struct pool_executor {
  struct rd_executor base;
  struct rd_pool *pool;
};

struct executor_job {
  struct rd_job job;          /* first: what the tasks get */
  rd_executor_task_fn *task;
  void *data;
};

static enum radio_status
do_executor_task (struct rd_job *job, uint64_t task,
                  struct rd_scratch *scratch)
{
  const struct executor_job *executor_job = (const struct executor_job *) job;
  (void) scratch;
  return executor_job->task (executor_job->data, task);
}

static const struct radio_site executor_site = {
  "deflate pieces", RD_IN_OPERATION, "run_executor", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

static enum radio_status
run_executor (const struct rd_executor *executor, uint64_t n,
              rd_executor_task_fn *task, void *data)
{
  struct executor_job job = {
    .job = { .run = do_executor_task, .n = n, .site = &executor_site },
    .task = task, .data = data,
  };
  struct rd_pool *pool = ((const struct pool_executor *) executor)->pool;
  return rd_pool_run (pool, &job.job);
}

/* Deflate makes at best 1 byte of this many. */
#define DEFLATE_MAX_RATIO 1032

/* Refuses a file that its file system has no room for, before any of it is
 * written. */
static enum radio_status
check_room (const char *file, uint64_t nbytes)
{
  struct statvfs fs;
  const char *slash = strrchr (file, '/');
  RD_FREE char *folder = slash ? rd_strndup (file, (size_t) (slash - file) + 1)
                               : rd_strdup (".");
  if (!folder)
    return rd_fail_memory (strlen (file) + 1);
  /* A link leads to the file system of its target. */
  if (statvfs (file, &fs) < 0 && statvfs (folder, &fs) < 0)
    return RADIO_OK;
  uint64_t least = rd_ends_with (file, ".gz") ? nbytes / DEFLATE_MAX_RATIO
                                              : nbytes;
  uint64_t free_nbytes = rd_mul_sat (fs.f_bfree, fs.f_frsize);
  if (least <= free_nbytes)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_NO_SPACE, "%s: it takes at least %" PRIu64
                  " bytes, of which its file system has %" PRIu64 " free",
                  file, least, free_nbytes);
}

/* Write header and elements to a file, which appears when it is complete. */
static enum radio_status
write_file (struct rd_stream *stream, const struct rd_buffer *header,
            bool swapped, const char *file,
            const struct radio_export_options *options)
{
  const struct radio_context *context = stream->array->store->context;
  const struct radio_read_options until = {
    .cancel = options->cancel, .user_data = options->user_data,
  };
  struct rd_read_stop stop;
  rd_read_stop_init (&stop, stream->array->store->io, &until);
  stream->stop = &stop;
  const struct pool_executor executor = {
    .base = {
      .nthreads = context->nthreads,
      .most_nbytes = context->memory_limit_nbytes / 16,
      .run = run_executor,
    },
    .pool = context->pool,
  };
  RD_CLEANUP (rd_cleanup_output) struct rd_output *output = NULL;
  RD_TRY (rd_output_open (file, options->overwrite,
                          (size_t) options->member_nbytes, &executor.base,
                          &output));
  RD_TRY (check_room (file, rd_mul_sat (radio_box_count (&stream->box),
                                        stream->item_nbytes)));
  RD_TRY (rd_output_write (output, header->data, header->nbytes));
  struct writing writing = {
    .output = output, .swapped = swapped,
    .unit_nbytes = stream->array->doc->type.unit_nbytes,
  };
  RD_TRY (rd_stream_run (stream, write_elements, &writing));
  RD_TRY (rd_read_stop_check (&stop));
  rd_derived_warn (stream->array, options->warning, options->user_data);
  return rd_output_commit (RD_STEAL (output), options->warning,
                           options->user_data);
}

static const struct radio_site write_site = {
  "write elements", RD_IN_OPERATION, "write_elements", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

/* box must lie within the array; NULL is all of it. */
static enum radio_status
set_stream (struct radio_array *array, const char *name,
            const struct radio_box *box, const struct rd_scaling *scaling,
            struct rd_stream *stream)
{
  const struct rd_array_doc *doc = array->doc;
  if (box && !rd_box_fits (box, doc->rank, doc->shape))
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "%s: the box does not lie within the array", name);
  *stream = rd_stream_of (array);
  stream->site = &write_site;
  if (box)
    stream->box = *box;
  if (scaling) {
    stream->scaling = scaling;
    stream->dtype = RADIO_FLOAT32;
    stream->item_nbytes = sizeof (float);
  }
  return RADIO_OK;
}

static enum radio_status
export_volume (struct radio_volume *volume, const struct radio_box *box,
               const char *file, const struct radio_export_options *options)
{
  const struct rd_nifti *nifti = &volume->meta.nifti;
  const struct rd_array_doc *doc = volume->array->doc;
  bool has_nifti = volume->meta.has_nifti;
  enum format format;
  RD_TRY (parse_format (file, &format));
  RD_TRY (check_members (volume->array->store->context, file, options));
  bool agrees = !has_nifti
    || (nifti->rank == doc->rank && nifti->type.dtype == doc->type.dtype
        && memcmp (nifti->shape, doc->shape,
                   doc->rank * sizeof doc->shape[0]) == 0);
  if (!agrees)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: its NIfTI header has another "
                    "shape or type than its array", volume->path);
  if (options->scaled && format != FORMAT_NPY)
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "%s: scaled values go into .npy only", file);
  if (options->scaled && has_nifti && nifti->colour != RD_COLOUR_NONE)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "%s: colours have no scaled values", volume->path);

  const struct rd_scaling scaling = {
    volume->info.scl_slope, volume->info.scl_inter,
  };
  struct rd_stream stream;
  RD_TRY (set_stream (volume->array, volume->path, box,
                      options->scaled ? &scaling : NULL, &stream));
  rd_image_order (volume, stream.order);
  RD_BUFFER_SCOPE struct rd_buffer header = { 0 };
  bool swapped = false;
  if (format == FORMAT_NIFTI)
    RD_TRY (rd_image_header (volume, box, &header, &swapped));
  else
    RD_TRY (npy_header (volume, box, &stream, &header));
  return write_file (&stream, &header, swapped, file, options);
}

enum radio_status
radio_volume_export (struct radio_volume *volume, const struct radio_box *box,
                     const char *file,
                     const struct radio_export_options *options)
{
  static const struct radio_export_options defaults;
  RD_NOT_NULL (volume);
  RD_NOT_NULL (file);
  if (options)
    RD_TRY (RD_CHECK_RESERVED (radio_export_options, options));
  RD_SCOPE ("export", RD_IN_OPERATION);
  RD_NOTE_NAME ("volume", volume->path);
  return rd_scope_end_with (
    export_volume (volume, box, file, options ? options : &defaults));
}

static enum radio_status
export_array (struct radio_array *array, const struct radio_box *box,
              const char *file, const struct radio_export_options *options)
{
  enum format format;
  RD_TRY (parse_format (file, &format));
  if (format != FORMAT_NPY || options->scaled)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: an array without a volume is "
                    "written as .npy, unscaled", file);
  struct rd_stream stream;
  RD_TRY (set_stream (array, rd_array_name (array), box, NULL, &stream));
  char room[RD_NPY_DESCR_NBYTES];
  RD_BUFFER_SCOPE struct rd_buffer header = { 0 };
  if (array->doc->type.dtype == RADIO_STRING)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: an array of strings, which "
                    ".npy files do not have", file);
  RD_TRY (rd_npy_header (rd_npy_descr (&array->doc->type, room), false,
                         stream.box.rank, stream.box.size, &header));
  return write_file (&stream, &header, false, file, options);
}

enum radio_status
radio_array_export (struct radio_array *array, const struct radio_box *box,
                    const char *file,
                    const struct radio_export_options *options)
{
  static const struct radio_export_options defaults;
  RD_NOT_NULL (array);
  RD_NOT_NULL (file);
  if (options)
    RD_TRY (RD_CHECK_RESERVED (radio_export_options, options));
  RD_SCOPE ("export", RD_IN_OPERATION);
  RD_NOTE_NAME ("array", rd_array_name (array));
  return rd_scope_end_with (
    export_array (array, box, file, options ? options : &defaults));
}
