/* SPDX-License-Identifier: MIT */
/* The libraries' contexts of one scratch, each made when first used. */
#ifndef RD_CONTEXTS_H
#define RD_CONTEXTS_H

#include <libdeflate.h>
#include <zstd.h>

#include <radio/base.h>

#include "src/codec/scratch.h"

struct rd_codec_contexts {
  ZSTD_DCtx *zstd_decoder;
  ZSTD_CCtx *zstd_encoder;
  void *lz4_encoder;
  void *lz4hc_encoder;
  struct libdeflate_decompressor *inflater;
  struct libdeflate_compressor *deflater;
  int deflater_level;
  struct rd_buffer blocks;    /* blosc: a block before its bytes are put in
                                 order again; twice to encode */
  struct rd_buffer inner;     /* sharding: an inner chunk, encoded */
  struct rd_scratch nested;   /* for the chains inside of a shard */
};

/* The contexts of a scratch; NULL without memory, as all that follow (the
 * message is set). */
struct rd_codec_contexts *rd_contexts (struct rd_scratch *scratch);

ZSTD_DCtx *rd_contexts_zstd_decoder (struct rd_scratch *scratch);
ZSTD_CCtx *rd_contexts_zstd_encoder (struct rd_scratch *scratch);
void *rd_contexts_lz4_encoder (struct rd_scratch *scratch);
void *rd_contexts_lz4hc_encoder (struct rd_scratch *scratch);
struct libdeflate_decompressor *
rd_contexts_inflater (struct rd_scratch *scratch);
struct libdeflate_compressor *
rd_contexts_deflater (struct rd_scratch *scratch, int level);

#endif /* RD_CONTEXTS_H */
