/* SPDX-License-Identifier: MIT */
/* Volumes from a program's memory: slabs are copied into the room of an ingest,
 * in the order of a NIfTI file. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include <radio/create.h>

#include "profiler/counters.h"
#include "src/array/context.h"
#include "src/base/checked.h"
#include "src/base/structs.h"
#include "src/element/box.h"
#include "src/volume/file-slabs.h"
#include "src/volume/image-header.h"
#include "src/volume/ingest/ingest.h"
#include "src/volume/tiling.h"
#include "src/volume/volume.h"

struct radio_writer {
  struct rd_ingest *ingest;
  struct radio_context *context;
  char *path;
  struct rd_nifti nifti;
  size_t order[RADIO_MAX_RANK];       /* axes, the file's fastest first */
  uint64_t ntaken, nelements;         /* of all, in file order */
  struct rd_error error;              /* of writing; ends it */
};

/*------------------------------------------------------------------------
 * Writing
 *----------------------------------------------------------------------*/

static void
free_writer (struct radio_writer *writer)
{
  if (writer == NULL)
    return;
  rd_ingest_abort (writer->ingest);
  radio_context_close (writer->context);
  rd_free (writer->path);
  rd_free (writer);
}
RD_DEFINE_CLEANUP (writer, struct radio_writer, free_writer);

/* Returns a status, after a look at what it means for the next volumes. */
static enum radio_status
end_with (struct radio_context *context, enum radio_status status)
{
  if (status != RADIO_OK && rd_error_lacks_descriptors ())
    context->ingests.lacked_descriptors = true;
  return rd_scope_end_with (status);
}

static enum radio_status
create (struct radio_store *store, const char *path,
        const struct radio_create_options *options,
        struct radio_writer **result)
{
  RD_BUFFER_SCOPE struct rd_buffer header = { 0 };
  struct radio_writer *writer RD_CLEANUP (rd_cleanup_writer)
    = rd_calloc (1, sizeof *writer);
  if (writer == NULL)
    return rd_fail_memory (sizeof *writer);
  writer->context = rd_context_ref (store->context);
  writer->path = rd_strdup (path);
  if (writer->path == NULL)
    return rd_fail_memory (strlen (path) + 1);
  RD_TRY (rd_image_make_header (options, path, &header, &writer->nifti));
  rd_file_order (&writer->nifti, writer->order);
  writer->nelements
    = writer->nifti.data_nbytes / writer->nifti.type.item_nbytes;
  const struct rd_ingest_image image = {
    .name = options->source_name ? options->source_name : "memory",
    .nifti = writer->nifti,
    .prefix = header,
  };
  RD_TRY (rd_ingest_begin (store, path, &image, &options->ingest,
                           &writer->ingest));
  *result = writer->ingest ? RD_STEAL (writer) : NULL;
  return RADIO_OK;
}

enum radio_status
radio_volume_create (struct radio_store *store, const char *path,
                     const struct radio_create_options *options,
                     struct radio_writer **writer)
{
  RD_NOT_NULL (store);
  RD_NOT_NULL (path);
  RD_NOT_NULL (options);
  RD_NOT_NULL (writer);
  RD_TRY (RD_CHECK_RESERVED (radio_create_options, options));
  RD_TRY (RD_CHECK_RESERVED (radio_ingest_options, &options->ingest));
  RD_SCOPE ("create volume", RD_IN_OPERATION);
  RD_NOTE_NAME ("volume", path);
  return end_with (store->context, create (store, path, options, writer));
}

/* A slab in memory: its axes in file order, fastest first, those joined that
 * follow each other without gaps. */
struct slab {
  const unsigned char *data;
  size_t item_nbytes;
  size_t rank;
  uint64_t size[RADIO_MAX_RANK];
  int64_t stride[RADIO_MAX_RANK];     /* bytes */
};

static void
set_slab (const struct radio_writer *writer, const struct radio_box *box,
          const void *data, const int64_t *strides, struct slab *slab)
{
  *slab = (struct slab) {
    .data = data, .item_nbytes = writer->nifti.type.item_nbytes, .rank = 1,
    .size = { 1 }, .stride = { (int64_t) writer->nifti.type.item_nbytes },
  };
  for (size_t i = 0; i < box->rank; i++) {
    size_t axis = writer->order[i];
    uint64_t *size = &slab->size[slab->rank - 1];
    int64_t *stride = &slab->stride[slab->rank - 1];
    if (box->size[axis] == 1)
      continue;
    if (*size == 1) {
      *size = box->size[axis];
      *stride = strides[axis];
    } else if (strides[axis] == *stride * (int64_t) *size)
      *size *= box->size[axis];
    else {
      slab->size[slab->rank] = box->size[axis];
      slab->stride[slab->rank++] = strides[axis];
    }
  }
}

#define COPY_LOOP(nbytes)                                       \
  for (uint64_t i = 0; i < n; i++)                              \
    memcpy (to + i * (nbytes), from + (int64_t) i * step, nbytes)

static void
copy_row (const unsigned char *from, int64_t step, unsigned char *to,
          uint64_t n, size_t item_nbytes)
{
  if (step == (int64_t) item_nbytes) {
    memcpy (to, from, n * item_nbytes);
    return;
  }
  switch (item_nbytes) {
  case 1: COPY_LOOP (1); break;
  case 2: COPY_LOOP (2); break;
  case 4: COPY_LOOP (4); break;
  case 8: COPY_LOOP (8); break;
  default: COPY_LOOP (item_nbytes); break;
  }
}

/* Copy n elements of the slab, beginning with the i-th in file order. */
static void
gather (const struct slab *slab, uint64_t i, uint64_t n, unsigned char *to)
{
  while (n > 0) {
    const unsigned char *from = slab->data;
    uint64_t rest = i, first = i % slab->size[0];
    for (size_t axis = 0; axis < slab->rank; axis++) {
      from += (int64_t) (rest % slab->size[axis]) * slab->stride[axis];
      rest /= slab->size[axis];
    }
    uint64_t run = rd_min_u64 (n, slab->size[0] - first);
    copy_row (from, slab->stride[0], to, run, slab->item_nbytes);
    to += run * slab->item_nbytes;
    i += run;
    n -= run;
  }
}

/* Refuse a box that is not the next one.  Compared from the slowest axis on,
 * so that the message names the one that the caller counts. */
static enum radio_status
check_next (const struct radio_writer *writer, const struct radio_box *box)
{
  const struct rd_nifti *nifti = &writer->nifti;
  uint64_t next[RADIO_MAX_RANK], rest = writer->ntaken;
  bool is_cut = false;
  if (!rd_box_fits (box, nifti->rank, nifti->shape))
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: the slab does not lie within "
                    "the volume", writer->path);
  if (radio_box_count (box) == 0)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: the slab is empty",
                    writer->path);
  if (writer->ntaken == writer->nelements)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: all slabs are written; call "
                    "radio_volume_commit", writer->path);
  for (size_t i = 0; i < nifti->rank; i++) {
    size_t axis = writer->order[i];
    if (is_cut && box->size[axis] > 1)
      return rd_fail (RADIO_ERROR_ARGUMENT, "%s: the slab has %" PRIu64
                      " elements on axis %c, but is not whole on a faster "
                      "one", writer->path, box->size[axis],
                      nifti->axes[axis]);
    is_cut = is_cut || box->size[axis] < nifti->shape[axis];
    next[axis] = rest % nifti->shape[axis];
    rest /= nifti->shape[axis];
  }
  for (size_t i = nifti->rank; i-- > 0;) {
    size_t axis = writer->order[i];
    if (box->start[axis] != next[axis])
      return rd_fail (RADIO_ERROR_ARGUMENT, "%s: the slab begins at %" PRIu64
                      " on axis %c; the next one begins at %" PRIu64,
                      writer->path, box->start[axis], nifti->axes[axis],
                      next[axis]);
  }
  return RADIO_OK;
}

static enum radio_status
take_slab (struct radio_writer *writer, const struct slab *slab, uint64_t n)
{
  const struct rd_type *type = &writer->nifti.type;
  for (uint64_t done = 0; done < n;) {
    unsigned char *room;
    size_t nbytes;
    RD_TRY (rd_ingest_room (writer->ingest, &room, &nbytes));
    uint64_t piece = rd_min_u64 (nbytes / type->item_nbytes, n - done);
    gather (slab, done, piece, room);
    nbytes = piece * type->item_nbytes;
    if (writer->nifti.swapped)
      rd_swap_units (room, nbytes, type->unit_nbytes);
    RD_TRY (rd_ingest_take (writer->ingest, nbytes));
    done += piece;
  }
  return RADIO_OK;
}

enum radio_status
radio_volume_write_slab (struct radio_writer *writer,
                         const struct radio_box *box, const void *buffer,
                         size_t nbytes, const int64_t *strides)
{
  RD_NOT_NULL (writer);
  RD_NOT_NULL (box);
  RD_NOT_NULL (buffer);
  const size_t item_nbytes = writer->nifti.type.item_nbytes;
  int64_t c_strides[RADIO_MAX_RANK];
  struct slab slab;
  RD_TRY (rd_pool_check (writer->context->pool));
  RD_TRY (rd_error_raise (&writer->error));
  RD_TRY (check_next (writer, box));
  uint64_t n = radio_box_count (box);
  if (strides == NULL) {
    /* No larger than the volume, whose size was checked. */
    (void) rd_c_strides (box->rank, box->size, item_nbytes, c_strides);
    if (nbytes < n * item_nbytes)
      return rd_fail (RADIO_ERROR_ARGUMENT, "%s: the buffer has %zu of %"
                      PRIu64 " bytes of the slab", writer->path, nbytes,
                      n * item_nbytes);
  }
  RD_SCOPE ("write slab", RD_IN_OPERATION);
  set_slab (writer, box, buffer, strides ? strides : c_strides, &slab);
  enum radio_status status = take_slab (writer, &slab, n);
  if (status == RADIO_OK)
    writer->ntaken += n;
  else
    rd_error_save (&writer->error, status);
  return end_with (writer->context, status);
}

static enum radio_status
commit (struct radio_writer *writer, struct radio_ingest_result *result)
{
  RD_TRY (rd_error_raise (&writer->error));
  if (writer->ntaken < writer->nelements)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: %" PRIu64 " of %" PRIu64
                    " elements were written; write all slabs before "
                    "radio_volume_commit", writer->path, writer->ntaken,
                    writer->nelements);
  return rd_ingest_commit (writer->ingest, 0, result);
}

enum radio_status
(radio_volume_commit) (struct radio_writer *writer,
                       struct radio_ingest_result *result,
                       size_t result_nbytes)
{
  RD_NOT_NULL (writer);
  RD_TRY (rd_pool_check (writer->context->pool));
  RD_SCOPE ("commit volume", RD_IN_OPERATION);
  struct radio_ingest_result full = { 0 };
  enum radio_status status = commit (writer, &full);
  if (status == RADIO_OK && result)
    rd_fill_result (result, result_nbytes, &full, sizeof full);
  status = end_with (writer->context, status);
  free_writer (writer);
  return status;
}

/* In a forked child the files are its parent's, and locks may be held for
 * ever. */
void
radio_volume_abort (struct radio_writer *writer)
{
  struct rd_error error;
  rd_error_save (&error, RADIO_ERROR_IO);
  if (writer && rd_pool_check (writer->context->pool) == RADIO_OK)
    free_writer (writer);
  rd_error_raise (&error);
}
