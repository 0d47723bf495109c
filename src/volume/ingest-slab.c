/* SPDX-License-Identifier: MIT */
/* The voxels' way into the store: the calling thread reads the next slab
 * (inflating, hashing, swapping bytes) while the pool encodes the one
 * before.  Two slabs are in memory, whatever the size of the image. */
#include <config.h>

#include <inttypes.h>

#include "profiler/base/checked.h"
#include "profiler/counters.h"
#include "src/volume/ingest.h"

/* What is read at a time: it is hashed and swapped while it is in a core's
 * caches, and the caller hears of it. */
#define PIECE_NBYTES ((size_t) 1 << 20)

struct pipeline {
  struct rd_ingest *ingest;
  struct rd_file_slabs slabs;
  struct rd_buffer buffers[2];
  size_t nbuffers;            /* 1 when there is room or need for one only */
  size_t next;                /* the buffer to fill */
  struct rd_write *write;     /* of the other one, or NULL */
};

/* Elements are not touched any more once the write was waited for. */
static enum radio_status
finish_write (struct pipeline *pipeline)
{
  struct rd_write *write = RD_STEAL (pipeline->write);
  if (write == NULL)
    return RADIO_OK;
  return rd_write_finish (write, &pipeline->ingest->result.stored_nbytes);
}

static void
close_pipeline (struct pipeline *pipeline)
{
  if (pipeline->write) {
    struct rd_error error;
    rd_error_save (&error, RADIO_ERROR_IO);
    if (finish_write (pipeline) != RADIO_OK)
      rd_error_raise (&error);
  }
  rd_buffer_free (&pipeline->buffers[0]);
  rd_buffer_free (&pipeline->buffers[1]);
}

static enum radio_status
tell_progress (struct rd_ingest *ingest)
{
  const struct radio_ingest_options *options = ingest->options;
  if (options->progress == NULL)
    return RADIO_OK;
  struct radio_progress progress = { 0 };
  ingest->source->progress (ingest->source, &progress);
  if (options->progress (&progress, options->user_data) == RADIO_OK)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_CANCELLED, "%s: cancelled",
                  ingest->source->name);
}

/* Pieces are whole units long, as PIECE_NBYTES and all slabs are. */
static enum radio_status
fill_slab (struct rd_ingest *ingest, struct rd_buffer *buffer, size_t nbytes)
{
  RD_SCOPE ("read slab", RD_IN_OPERATION);
  const struct rd_nifti *nifti = &ingest->nifti;
  for (size_t done = 0; done < nbytes;) {
    unsigned char *at = buffer->data + done;
    size_t piece = rd_min_u64 (nbytes - done, PIECE_NBYTES);
    RD_TRY (ingest->source->read (ingest->source, at, piece));
    RD_TRY (rd_sha256_add (ingest->sha, at, piece));
    if (nifti->swapped)
      rd_swap_units (at, piece, nifti->type.unit_nbytes);
    RD_TRY (tell_progress (ingest));
    done += piece;
  }
  buffer->nbytes = nbytes;
  return RADIO_OK;
}

static enum radio_status
pass_slab (struct pipeline *pipeline, const struct radio_box *box)
{
  struct rd_ingest *ingest = pipeline->ingest;
  struct rd_buffer *buffer = &pipeline->buffers[pipeline->next];
  size_t nbytes = radio_box_count (box) * ingest->nifti.type.item_nbytes;
  int64_t strides[RADIO_MAX_RANK];
  if (pipeline->nbuffers == 1)
    RD_TRY (finish_write (pipeline));
  RD_TRY (fill_slab (ingest, buffer, nbytes));
  RD_TRY (finish_write (pipeline));
  rd_nifti_file_strides (&ingest->nifti, box->size, strides);
  RD_TRY (rd_write_start (ingest->array, box, buffer->data, strides,
                          &pipeline->write));
  pipeline->next = (pipeline->next + 1) % pipeline->nbuffers;
  return RADIO_OK;
}

/* Two buffers if the memory bound allows them besides what encoding takes,
 * and if there is a second slab. */
static enum radio_status
make_buffers (struct pipeline *pipeline)
{
  struct rd_ingest *ingest = pipeline->ingest;
  const struct radio_context *context = ingest->store->context;
  uint64_t slab_nbytes = rd_file_slabs_nbytes (&pipeline->slabs);
  struct radio_box box = { .rank = ingest->nifti.rank };
  for (size_t i = 0; i < box.rank; i++)
    box.size[i] = pipeline->slabs.shape[i];
  uint64_t encoding = rd_write_nbytes (ingest->array, &box);
  uint64_t total;
  if (rd_add_overflows (encoding, slab_nbytes, &total))
    total = UINT64_MAX;
  RD_TRY (rd_context_allows (context, total, "one slab of the image"));

  bool is_alone = slab_nbytes == ingest->nifti.data_nbytes;
  bool fits = context->memory_limit_nbytes - total >= slab_nbytes;
  pipeline->nbuffers = fits && !is_alone ? 2 : 1;
  for (size_t i = 0; i < pipeline->nbuffers; i++)
    RD_TRY (rd_buffer_reserve (&pipeline->buffers[i], slab_nbytes));
  return RADIO_OK;
}

enum radio_status
rd_ingest_voxels (struct rd_ingest *ingest)
{
  struct pipeline pipeline RD_CLEANUP (close_pipeline)
    = { .ingest = ingest };
  struct radio_box box;
  RD_TRY (rd_sha256_begin (&ingest->sha));
  RD_TRY (rd_sha256_add (ingest->sha, ingest->prefix.data,
                         ingest->prefix.nbytes));
  rd_file_slabs_begin (&pipeline.slabs, &ingest->nifti,
                       ingest->tiling.shard_shape);
  RD_TRY (make_buffers (&pipeline));
  while (rd_file_slabs_next (&pipeline.slabs, &box))
    RD_TRY (pass_slab (&pipeline, &box));
  RD_TRY (finish_write (&pipeline));
  RD_TRY (ingest->source->finish (ingest->source,
                                  &ingest->trailing_nbytes));
  return rd_sha256_end (ingest->sha, ingest->sha256);
}
