/* SPDX-License-Identifier: MIT */
/* What one worker keeps from tile to tile: codec contexts and buffers, so
 * that a tile costs no allocation.  A scratch is used by one thread at a
 * time. */
#ifndef RD_SCRATCH_H
#define RD_SCRATCH_H

#include "src/base/buffer.h"

struct rd_codec_contexts;     /* zstd, libdeflate, ...: made when first used */

struct rd_scratch {
  struct rd_buffer fetched;   /* bytes as they came from the store */
  struct rd_buffer tile;      /* a tile's elements, decoded or to encode */
  struct rd_buffer stages[2]; /* between the codecs of a chain */
  struct rd_codec_contexts *contexts;
};

/* Release everything; the scratch is empty and usable again. */
void rd_scratch_free (struct rd_scratch *scratch);

/* Release what is beyond keep_nbytes, the buffers and contexts of shards
 * within shards included: those that fit are kept for the next tile. */
void rd_scratch_trim (struct rd_scratch *scratch, size_t keep_nbytes);

/* What the buffers hold, and the encoder, which is the only context that
 * grows with what it is given. */
size_t rd_scratch_nbytes (const struct rd_scratch *scratch);

#endif /* RD_SCRATCH_H */
