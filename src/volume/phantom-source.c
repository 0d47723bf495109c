/* SPDX-License-Identifier: MIT */
/* A phantom as a source that is ingested: rows are made by the pool as they
 * are asked for. */
#include <config.h>

#include <string.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "profiler/counters.h"
#include "src/array/context.h"
#include "src/volume/phantom.h"
#include "src/volume/source.h"

/* Rows that one task makes: enough to be worth its taking. */
#define ROWS_PER_TASK 32

struct phantom_source {
  struct rd_source source;            /* first: what ingest knows of it */
  struct rd_phantom *phantom;
  struct rd_pool *pool;
  uint64_t ny;
  uint64_t row_nbytes;
  uint64_t done_nbytes, total_nbytes;
};

/* One read: rows that overlap a run of bytes. */
struct making {
  struct rd_job job;                  /* first: what tasks get */
  const struct phantom_source *from;
  unsigned char *data;
  uint64_t start, end;                /* of the bytes, in the whole */
};

/* Make one row, and copy what of it was asked for. */
static void
make_row (const struct making *making, uint64_t row, int16_t *voxels)
{
  const struct phantom_source *from = making->from;
  rd_phantom_row (from->phantom, row / from->ny, row % from->ny, voxels);
  if (from->source.nifti.swapped)
    for (uint64_t i = 0; i < from->row_nbytes / sizeof *voxels; i++)
      voxels[i] = (int16_t) __builtin_bswap16 ((uint16_t) voxels[i]);
  uint64_t row_start = row * from->row_nbytes;
  uint64_t start = rd_max_u64 (row_start, making->start);
  uint64_t end = rd_min_u64 (row_start + from->row_nbytes, making->end);
  memcpy (making->data + (start - making->start),
          (unsigned char *) voxels + (start - row_start), end - start);
}

static enum radio_status
make_rows (struct rd_job *job, uint64_t task, struct rd_scratch *scratch)
{
  const struct making *making = (const struct making *) job;
  uint64_t row_nbytes = making->from->row_nbytes;
  uint64_t row = making->start / row_nbytes + task * ROWS_PER_TASK;
  uint64_t last = (making->end - 1) / row_nbytes;
  RD_TRY (rd_buffer_reserve (&scratch->tile, row_nbytes));
  for (int i = 0; i < ROWS_PER_TASK && row <= last; i++, row++)
    make_row (making, row, (int16_t *) scratch->tile.data);
  return RADIO_OK;
}

static const struct radio_site rows_site = {
  "make phantom", RD_IN_OPERATION, "read_phantom", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

static enum radio_status
read_phantom (struct rd_source *source, void *data, size_t nbytes)
{
  struct phantom_source *from = (struct phantom_source *) source;
  if (nbytes > from->total_nbytes - from->done_nbytes)
    return rd_fail (RADIO_ERROR_FORMAT, "the phantom ends before");
  if (nbytes == 0)
    return RADIO_OK;
  struct making making = {
    .from = from, .data = data, .start = from->done_nbytes,
    .end = from->done_nbytes + nbytes,
  };
  uint64_t nrows = (making.end - 1) / from->row_nbytes
                   - making.start / from->row_nbytes + 1;
  making.job.run = make_rows;
  making.job.site = &rows_site;
  making.job.n = rd_div_up (nrows, ROWS_PER_TASK);
  RD_TRY (rd_pool_run (from->pool, &making.job));
  from->done_nbytes = making.end;
  return RADIO_OK;
}

static enum radio_status
finish_phantom (struct rd_source *source, uint64_t *trailing_nbytes)
{
  (void) source;
  *trailing_nbytes = 0;
  return RADIO_OK;
}

static void
tell_progress (const struct rd_source *source,
               struct radio_progress *progress)
{
  const struct phantom_source *from = (const struct phantom_source *) source;
  progress->done_nbytes = from->done_nbytes;
  progress->total_nbytes = from->total_nbytes;
}

/* A header as a scanner's converter writes it: axes to the right, front and
 * top, the middle of the field at the origin. */
static enum radio_status
make_header (const uint64_t shape[3], struct rd_buffer *out)
{
  static const int64_t field_um[3] = RD_PHANTOM_FIELD_UM;
  struct rd_nifti_make make = {
    .dtype = RADIO_INT16, .rank = 3, .descrip = "radio phantom: head CT",
  };
  for (int i = 0; i < 3; i++) {
    double field = (double) field_um[i] / 1000;
    make.shape[i] = shape[i];
    make.spacing[i] = field / (double) shape[i];
    make.affine[2 - i][2 - i] = make.spacing[i];
    make.affine[2 - i][3] = (make.spacing[i] - field) / 2;
  }
  return rd_nifti_make (&make, out);
}

static void
free_source (struct phantom_source *from)
{
  rd_phantom_close (from->phantom);
  rd_buffer_free (&from->source.prefix);
}

static enum radio_status
open_source (struct radio_store *store, const uint64_t shape[3],
             uint64_t seed, struct phantom_source *from)
{
  RD_TRY (rd_phantom_open (shape, seed, &from->phantom));
  struct rd_source *source = &from->source;
  source->name = "phantom";
  source->read = read_phantom;
  source->finish = finish_phantom;
  source->progress = tell_progress;
  RD_TRY (make_header (shape, &source->prefix));
  RD_TRY (rd_nifti_parse (source->prefix.data, source->prefix.nbytes,
                          source->name, &source->nifti));
  from->pool = store->context->pool;
  from->ny = shape[1];
  from->row_nbytes = shape[2] * sizeof (int16_t);
  from->total_nbytes = source->nifti.data_nbytes;
  return RADIO_OK;
}

static enum radio_status
make_volume (struct radio_store *store, const char *path,
             const struct radio_phantom_options *options)
{
  static const uint64_t usual[3] = { 128, 256, 256 };
  uint64_t shape[3];
  for (int i = 0; i < 3; i++)
    shape[i] = options->shape[i] ? options->shape[i] : usual[i];
  struct phantom_source from RD_CLEANUP (free_source) = { 0 };
  RD_TRY (open_source (store, shape, options->seed, &from));
  return rd_ingest_source (store, &from.source, path, &options->ingest,
                           NULL);
}

enum radio_status
radio_phantom (struct radio_store *store, const char *path,
               const struct radio_phantom_options *options)
{
  static const struct radio_phantom_options defaults;
  if (store == NULL || path == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "radio_phantom: an argument is NULL");
  RD_SCOPE ("phantom", RD_IN_OPERATION);
  RD_NOTE_NAME ("volume", path);
  return rd_scope_end_with (
    make_volume (store, path, options ? options : &defaults));
}
