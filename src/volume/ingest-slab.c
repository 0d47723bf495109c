/* SPDX-License-Identifier: MIT */
/* The voxels' way into the store, layer by layer of tiles: the calling
 * thread reads (and inflates) the next layer while the pool hashes and
 * encodes the ones before.  Inflating cannot be shared among threads, so
 * with two of them or more the calling one does nothing else, as long as the
 * others keep up.  A few layers are in memory, whatever the size of the
 * image. */
#include <config.h>

#include "src/base/checked.h"
#include "profiler/counters.h"
#include "src/volume/ingest.h"

/* What is read at a time: the caller hears of it. */
#define PIECE_NBYTES ((size_t) 1 << 20)

/* What a layer shall be: tasks for several threads, and small enough to stay
 * in the caches that they share. */
#define LAYER_NBYTES ((uint64_t) 4 << 20)

static enum radio_status
hash_layer (void *sha, const void *elements, size_t nbytes)
{
  return rd_sha256_add (sha, elements, nbytes);
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
pass_layer (struct rd_ingest *ingest, const struct radio_box *box)
{
  const struct rd_nifti *nifti = &ingest->nifti;
  size_t nbytes = radio_box_count (box) * nifti->type.item_nbytes;
  int64_t strides[RADIO_MAX_RANK];
  unsigned char *room;
  RD_TRY (rd_layers_room (ingest->layers, &room));
  RD_TRY (read_layer (ingest, room, nbytes));
  rd_nifti_file_strides (nifti, box->size, strides);
  return rd_layers_give (ingest->layers, box, strides, nifti->swapped);
}

static const struct radio_site hash_site = {
  "hash voxels", RD_IN_OPERATION, "rd_ingest_voxels", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

static enum radio_status
open_layers (struct rd_ingest *ingest, struct rd_file_slabs *slabs)
{
  const struct rd_layers_observer observer = {
    .observe = hash_layer, .user_data = ingest->sha, .site = &hash_site,
  };
  uint64_t shape[RADIO_MAX_RANK];
  rd_file_slabs_layer (&ingest->nifti, ingest->tiling.shard_shape,
                       ingest->tiling.tile_shape, LAYER_NBYTES, shape);
  rd_file_slabs_begin (slabs, &ingest->nifti, shape);
  return rd_layers_open (ingest->array, slabs->shape, &observer,
                         &ingest->layers);
}

enum radio_status
rd_ingest_voxels (struct rd_ingest *ingest)
{
  struct rd_file_slabs slabs;
  struct radio_box box;
  RD_TRY (rd_sha256_begin (&ingest->sha));
  RD_TRY (rd_sha256_add (ingest->sha, ingest->prefix.data,
                         ingest->prefix.nbytes));
  RD_TRY (open_layers (ingest, &slabs));
  while (rd_file_slabs_next (&slabs, &box))
    RD_TRY (pass_layer (ingest, &box));
  RD_TRY (ingest->source->finish (ingest->source,
                                  &ingest->trailing_nbytes));
  RD_TRY (rd_layers_complete (ingest->layers));
  return rd_sha256_end (ingest->sha, ingest->sha256);
}
