/* SPDX-License-Identifier: MIT */
/* The buffers and codec contexts that one thread keeps from tile to tile, so
 * that a tile costs no allocation.  A scratch is used by one thread at a
 * time. */
#ifndef RD_SCRATCH_H
#define RD_SCRATCH_H

#include "src/base/buffer.h"

struct rd_codec_contexts;

struct rd_scratch {
  struct rd_buffer fetched;   /* bytes as they came from the store */
  struct rd_buffer tile;      /* a tile's elements, decoded or to encode */
  struct rd_buffer stages[2]; /* between the codecs of a chain */
  struct rd_codec_contexts *contexts;   /* allocated when first used */
};

/* The libraries' contexts, each created when first used. */
struct rd_codec_contexts {
  struct ZSTD_DCtx_s *zstd_decoder;
  struct ZSTD_CCtx_s *zstd_encoder;
  void *lz4_encoder;
  void *lz4hc_encoder;
  struct libdeflate_decompressor *inflater;
  struct libdeflate_compressor *deflater;
  int deflater_level;
  struct rd_buffer blocks;    /* blosc: a shuffled block; two to encode */
  struct rd_buffer inner;     /* sharding: an encoded inner chunk */
  struct rd_scratch nested;   /* for the chains inside of a shard */
};

/* Frees everything; the scratch is empty and usable again. */
void rd_scratch_free (struct rd_scratch *scratch);

/* Frees buffers and contexts that are beyond keep_nbytes in total, those for
 * shards within shards included, and keeps the others for the next tile. */
void rd_scratch_trim (struct rd_scratch *scratch, size_t keep_nbytes);

/* Returns the size of the buffers and of the zstd encoder, which is the only
 * context that grows with its input. */
size_t rd_scratch_nbytes (const struct rd_scratch *scratch);

/* These return NULL without memory (the message is set). */
struct rd_codec_contexts *rd_contexts (struct rd_scratch *scratch);
struct ZSTD_DCtx_s *rd_contexts_zstd_decoder (struct rd_scratch *scratch);
struct ZSTD_CCtx_s *rd_contexts_zstd_encoder (struct rd_scratch *scratch);
void *rd_contexts_lz4_encoder (struct rd_scratch *scratch, bool hc);
struct libdeflate_decompressor *
rd_contexts_inflater (struct rd_scratch *scratch);
struct libdeflate_compressor *
rd_contexts_deflater (struct rd_scratch *scratch, int level);

#endif /* RD_SCRATCH_H */
