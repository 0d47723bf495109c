/* SPDX-License-Identifier: MIT */
/* The voxels' way into the store, layer by layer of tiles: the calling
 * thread reads (and inflates) the next layer while the pool hashes and
 * encodes the ones before.  Inflating cannot be shared among threads, so
 * with two of them or more the calling one does nothing else, as long as the
 * others keep up.  A few layers are in memory, whatever the size of the
 * image. */
#include <config.h>

#include "profiler/base/checked.h"
#include "profiler/counters.h"
#include "src/volume/ingest.h"

/* What is read at a time: the caller hears of it. */
#define PIECE_NBYTES ((size_t) 1 << 20)

/* What a layer shall be: tasks for several threads, and small enough to stay
 * in the caches that they share. */
#define LAYER_NBYTES ((uint64_t) 4 << 20)

/* The hash of the layer that was given last.  One is hashed after the other,
 * by any thread. */
struct hashing {
  struct rd_job job;          /* first: what the task gets */
  EVP_MD_CTX *sha;
  const void *data;
  size_t nbytes;
  bool started;
};

struct pipeline {
  struct rd_ingest *ingest;
  struct rd_pool *pool;
  struct rd_file_slabs slabs;
  struct hashing hashing;
};

static enum radio_status
hash_layer (struct rd_job *job, uint64_t task, struct rd_scratch *scratch)
{
  const struct hashing *hashing = (const struct hashing *) job;
  (void) task;
  (void) scratch;
  return rd_sha256_add (hashing->sha, hashing->data, hashing->nbytes);
}

static enum radio_status
wait_hashed (struct pipeline *pipeline)
{
  if (!pipeline->hashing.started)
    return RADIO_OK;
  pipeline->hashing.started = false;
  return rd_pool_wait (pipeline->pool, &pipeline->hashing.job);
}

static void
close_pipeline (struct pipeline *pipeline)
{
  struct rd_error error;
  rd_error_save (&error, RADIO_ERROR_IO);
  if (wait_hashed (pipeline) != RADIO_OK)
    rd_error_raise (&error);
}

static const struct radio_site hash_site = {
  "hash voxels", RD_IN_OPERATION, "rd_ingest_voxels", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

/* Hash a layer while the next one is read; where there is only one layer at
 * a time, or one thread, at once. */
static enum radio_status
start_hashing (struct pipeline *pipeline, const void *data, size_t nbytes)
{
  struct hashing *hashing = &pipeline->hashing;
  EVP_MD_CTX *sha = pipeline->ingest->sha;
  RD_TRY (wait_hashed (pipeline));
  if (rd_layers_count (pipeline->ingest->layers) == 1) {
    RD_SCOPE_OF (&hash_site);
    return rd_sha256_add (sha, data, nbytes);
  }
  *hashing = (struct hashing) {
    .job = { .run = hash_layer, .n = 1, .site = &hash_site },
    .sha = sha, .data = data, .nbytes = nbytes,
  };
  RD_TRY (rd_pool_start (pipeline->pool, &hashing->job));
  hashing->started = true;
  return RADIO_OK;
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

static enum radio_status
read_layer (struct rd_ingest *ingest, unsigned char *room, size_t nbytes)
{
  RD_SCOPE ("read slab", RD_IN_OPERATION);
  for (size_t done = 0; done < nbytes;) {
    size_t piece = rd_min_u64 (nbytes - done, PIECE_NBYTES);
    RD_TRY (ingest->source->read (ingest->source, room + done, piece));
    RD_TRY (tell_progress (ingest));
    done += piece;
  }
  return RADIO_OK;
}

static enum radio_status
pass_layer (struct pipeline *pipeline, const struct radio_box *box)
{
  struct rd_ingest *ingest = pipeline->ingest;
  const struct rd_nifti *nifti = &ingest->nifti;
  size_t nbytes = radio_box_count (box) * nifti->type.item_nbytes;
  int64_t strides[RADIO_MAX_RANK];
  unsigned char *room;
  RD_TRY (rd_layers_room (ingest->layers, &room));
  RD_TRY (read_layer (ingest, room, nbytes));
  RD_TRY (start_hashing (pipeline, room, nbytes));
  rd_nifti_file_strides (nifti, box->size, strides);
  return rd_layers_give (ingest->layers, box, strides, nifti->swapped);
}

static enum radio_status
open_layers (struct pipeline *pipeline)
{
  struct rd_ingest *ingest = pipeline->ingest;
  uint64_t shape[RADIO_MAX_RANK];
  rd_file_slabs_layer (&ingest->nifti, ingest->tiling.shard_shape,
                       ingest->tiling.tile_shape, LAYER_NBYTES, shape);
  rd_file_slabs_begin (&pipeline->slabs, &ingest->nifti, shape);
  return rd_layers_open (ingest->array, pipeline->slabs.shape,
                         &ingest->layers);
}

enum radio_status
rd_ingest_voxels (struct rd_ingest *ingest)
{
  struct pipeline pipeline RD_CLEANUP (close_pipeline) = {
    .ingest = ingest, .pool = ingest->store->context->pool,
  };
  struct radio_box box;
  RD_TRY (rd_sha256_begin (&ingest->sha));
  RD_TRY (rd_sha256_add (ingest->sha, ingest->prefix.data,
                         ingest->prefix.nbytes));
  RD_TRY (open_layers (&pipeline));
  while (rd_file_slabs_next (&pipeline.slabs, &box))
    RD_TRY (pass_layer (&pipeline, &box));
  RD_TRY (ingest->source->finish (ingest->source,
                                  &ingest->trailing_nbytes));
  RD_TRY (wait_hashed (&pipeline));
  RD_TRY (rd_layers_complete (ingest->layers));
  return rd_sha256_end (ingest->sha, ingest->sha256);
}
