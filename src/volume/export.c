/* SPDX-License-Identifier: MIT */
/* Export: a header, then a stream of elements in the file's order. */
#include <config.h>

#include <string.h>
#include <strings.h>

#include "src/base/error.h"
#include "profiler/counters.h"
#include "src/array/pool.h"
#include "src/element/box.h"
#include "src/nifti/crew.h"
#include "src/nifti/npy.h"
#include "src/nifti/output.h"
#include "src/volume/export.h"
#include "src/volume/file-slabs.h"

static bool
ends_in (const char *file, const char *suffix)
{
  size_t n = strlen (file), ns = strlen (suffix);
  return n > ns && strcasecmp (file + n - ns, suffix) == 0;
}

enum radio_status
rd_export_format (const char *file, enum rd_format *format)
{
  if (ends_in (file, ".nii") || ends_in (file, ".nii.gz"))
    *format = RD_FORMAT_NIFTI;
  else if (ends_in (file, ".npy"))
    *format = RD_FORMAT_NPY;
  else
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "%s: the name must end in .nii, .nii.gz or .npy", file);
  return RADIO_OK;
}

/* The letter of an axis decides where a file has it. */
size_t
rd_export_axis (const struct radio_volume *volume, size_t axis)
{
  if (volume->meta.has_nifti)
    return rd_nifti_axis (&volume->meta.nifti, axis);
  switch (volume->info.axes[axis]) {
  case 'x': return 1;
  case 'y': return 2;
  case 'z': return 3;
  case 't': return 4;
  default: return 5;
  }
}

/* Files have c slowest, then t, z, y, x, and a voxel's colours fastest. */
static void
set_file_order (const struct radio_volume *volume, struct rd_stream *stream)
{
  size_t n = 0;
  for (size_t wanted = 6; wanted-- > 0;)
    for (size_t i = 0; i < stream->box.rank; i++)
      if (rd_export_axis (volume, i) == wanted)
        stream->order[n++] = i;
}

/* A file being written, and what is done to elements on their way. */
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

/* The context's pool as the crew that deflates, below whoever writes. */
struct pool_crew {
  struct rd_crew base;
  struct rd_pool *pool;
};

struct crew_job {
  struct rd_job job;          /* first: what the tasks get */
  rd_crew_task_fn *task;
  void *data;
};

static enum radio_status
do_crew_task (struct rd_job *job, uint64_t task, struct rd_scratch *scratch)
{
  const struct crew_job *crew_job = (const struct crew_job *) job;
  (void) scratch;
  return crew_job->task (crew_job->data, task);
}

static const struct radio_site crew_site = {
  "deflate pieces", RD_IN_OPERATION, "run_crew", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

static enum radio_status
run_crew (const struct rd_crew *crew, uint64_t n, rd_crew_task_fn *task,
          void *data)
{
  struct crew_job job = {
    .job = { .run = do_crew_task, .n = n, .site = &crew_site },
    .task = task, .data = data,
  };
  return rd_pool_run (((const struct pool_crew *) crew)->pool, &job.job);
}

static struct pool_crew
crew_of (const struct radio_context *context)
{
  return (struct pool_crew) {
    .base = {
      .nthreads = context->nthreads,
      .most_nbytes = context->memory_limit_nbytes / 16,
      .run = run_crew,
    },
    .pool = context->pool,
  };
}

/* Write header and elements to a file that appears when both are whole. */
static enum radio_status
write_file (const struct rd_stream *stream, const struct rd_buffer *header,
            bool swapped, const char *file, bool overwrite)
{
  const struct pool_crew crew = crew_of (stream->array->store->context);
  RD_CLEANUP (rd_cleanup_output) struct rd_output *output = NULL;
  RD_TRY (rd_output_open (file, overwrite, &crew.base, &output));
  RD_TRY (rd_output_write (output, header->data, header->nbytes));
  struct writing writing = {
    .output = output, .swapped = swapped,
    .unit_nbytes = stream->array->doc->type.unit_nbytes,
  };
  RD_TRY (rd_stream_run (stream, write_elements, &writing));
  return rd_output_commit (RD_STEAL (output));
}

/* The box that is meant, which must lie within the array. */
static enum radio_status
take_box (const struct radio_array *array, const struct radio_box *box,
          struct radio_box *result)
{
  const struct rd_array_doc *doc = array->doc;
  if (box && !rd_box_fits (box, doc->rank, doc->shape))
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "%s: the box does not lie within the array",
                    array->path);
  *result = box ? *box : rd_box_whole (doc->rank, doc->shape);
  return RADIO_OK;
}

static const struct radio_site write_site = {
  "write elements", RD_IN_OPERATION, "write_elements", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

static enum radio_status
set_stream (struct radio_array *array, const struct radio_box *box,
            const struct rd_scaling *scaling, struct rd_stream *stream)
{
  const struct rd_type *type = &array->doc->type;
  *stream = (struct rd_stream) {
    .array = array, .scaling = scaling, .site = &write_site,
  };
  stream->dtype = scaling ? RADIO_FLOAT32 : type->dtype;
  stream->item_nbytes = scaling ? sizeof (float) : type->item_nbytes;
  for (size_t i = 0; i < array->doc->rank; i++)
    stream->order[i] = i;
  return take_box (array, box, &stream->box);
}

/* A header that does not belong to the array would make a file that is not
 * what it says. */
static enum radio_status
check_header (const struct radio_volume *volume)
{
  const struct rd_nifti *nifti = &volume->meta.nifti;
  const struct rd_array_doc *doc = volume->array->doc;
  if (!volume->meta.has_nifti)
    return RADIO_OK;
  bool agrees = nifti->rank == doc->rank
    && nifti->type.dtype == doc->type.dtype
    && memcmp (nifti->shape, doc->shape,
               doc->rank * sizeof doc->shape[0]) == 0;
  return agrees ? RADIO_OK
    : rd_fail (RADIO_ERROR_FORMAT, "%s: its NIfTI header has another shape "
               "or type than its array", volume->path);
}

static enum radio_status
check_volume (const struct radio_volume *volume, const char *file,
              enum rd_format format, bool scaled)
{
  RD_TRY (check_header (volume));
  if (scaled && format != RD_FORMAT_NPY)
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "%s: scaled values go into .npy only", file);
  if (scaled && volume->meta.has_nifti
      && volume->meta.nifti.colour != RD_COLOUR_NONE)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "%s: colours have no scaled values", volume->path);
  return RADIO_OK;
}

static enum radio_status
export_volume (struct radio_volume *volume, const struct radio_box *box,
               const char *file, const struct radio_export_options *options)
{
  enum rd_format format;
  RD_TRY (rd_export_format (file, &format));
  RD_TRY (check_volume (volume, file, format, options->scaled));
  const struct rd_scaling scaling = {
    volume->info.scl_slope, volume->info.scl_inter,
  };
  struct rd_stream stream;
  RD_TRY (set_stream (volume->array, box, options->scaled ? &scaling : NULL,
                      &stream));
  set_file_order (volume, &stream);
  RD_BUFFER_SCOPE struct rd_buffer header = { 0 };
  bool swapped = false;
  if (format == RD_FORMAT_NIFTI)
    RD_TRY (rd_export_nifti_header (volume, box, &header, &swapped));
  else
    RD_TRY (rd_export_npy_header (volume, box, &stream, &header));
  return write_file (&stream, &header, swapped, file, options->overwrite);
}

enum radio_status
radio_volume_export (struct radio_volume *volume, const struct radio_box *box,
                     const char *file,
                     const struct radio_export_options *options)
{
  static const struct radio_export_options defaults;
  if (volume == NULL || file == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "radio_volume_export: an argument is NULL");
  RD_SCOPE ("export", RD_IN_OPERATION);
  RD_NOTE_NAME ("volume", volume->path);
  return rd_scope_end_with (
    export_volume (volume, box, file, options ? options : &defaults));
}

static enum radio_status
export_array (struct radio_array *array, const struct radio_box *box,
              const char *file, const struct radio_export_options *options)
{
  enum rd_format format;
  RD_TRY (rd_export_format (file, &format));
  if (format != RD_FORMAT_NPY || options->scaled)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: an array without a volume is "
                    "written as .npy, unscaled", file);
  struct rd_stream stream;
  RD_TRY (set_stream (array, box, NULL, &stream));
  char room[RD_NPY_DESCR_NBYTES];
  RD_BUFFER_SCOPE struct rd_buffer header = { 0 };
  RD_TRY (rd_npy_header (rd_npy_descr (&array->doc->type, room), false,
                         stream.box.rank, stream.box.size, &header));
  return write_file (&stream, &header, false, file, options->overwrite);
}

enum radio_status
radio_array_export (struct radio_array *array, const struct radio_box *box,
                    const char *file,
                    const struct radio_export_options *options)
{
  static const struct radio_export_options defaults;
  if (array == NULL || file == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "radio_array_export: an argument is NULL");
  RD_SCOPE ("export", RD_IN_OPERATION);
  RD_NOTE_NAME ("array", array->path);
  return rd_scope_end_with (
    export_array (array, box, file, options ? options : &defaults));
}
