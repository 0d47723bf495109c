/* SPDX-License-Identifier: MIT */
/* Memory estimates: how much a scratch holds after decoding or encoding one
 * chunk, which is checked before any of it is allocated.  Upper bounds from
 * the chunk's shape and the codecs alone, all of them saturating. */
#include <config.h>

#include <string.h>
#include <zstd.h>

#include "src/base/checked.h"
#include "src/codec/chain.h"
#include "src/codec/shard.h"

/* Contexts of the libraries that do not grow with their input. */
#define ZSTD_DECODER_NBYTES ((uint64_t) 192 << 10)
#define INFLATER_NBYTES ((uint64_t) 64 << 10)
#define DEFLATER_NBYTES ((uint64_t) 2 << 20)
#define BLOSC_ENCODER_NBYTES ((uint64_t) 320 << 10)   /* lz4hc, zlib */

/* The largest block that libblosc chooses by itself. */
#define BLOSC_BLOCK_NBYTES ((uint64_t) 8 << 20)

/* The tables of zstd's encoder: about 24 bytes for each byte of an input
 * that is rounded up to a power of 2, until the level's own tables are as
 * large as they get.  (zstd has functions for it only if linked statically.) */
uint64_t
rd_zstd_encoder_nbytes (int level, uint64_t nbytes)
{
  static const struct {
    int up_to;
    uint64_t base_kib, most_kib;
  } levels[] = {
    { 2, 32, 640 }, { 4, 32, 4 << 10 }, { 8, 32, 8 << 10 },
    { 12, 256, 64 << 10 }, { 19, 256, 96 << 10 }, { 20, 256, 192 << 10 },
    { 21, 256, 384 << 10 }, { 22, 256, 768 << 10 },
  };
  size_t i = 0;
  if (level == 0)
    level = ZSTD_CLEVEL_DEFAULT;
  while (i + 1 < sizeof levels / sizeof levels[0] && level > levels[i].up_to)
    i++;
  uint64_t window = 1024;
  while (window < nbytes && window < (uint64_t) 1 << 40)
    window *= 2;
  return (levels[i].base_kib << 10)
    + rd_min_u64 (24 * window, levels[i].most_kib << 10);
}

/* The context of a codec, and of blosc its blocks.  A frame's blocks may be
 * larger than its codec says, though usual writers make none such, but not
 * larger than the chunk. */
static uint64_t
context_nbytes (const struct rd_codec *codec, uint64_t nbytes, bool encodes)
{
  uint64_t block, encoder = BLOSC_ENCODER_NBYTES;
  int clevel;
  switch (codec->id) {
  case RD_CODEC_ZSTD:
    return encodes ? rd_zstd_encoder_nbytes (codec->u.zstd.level, nbytes)
                   : ZSTD_DECODER_NBYTES;
  case RD_CODEC_BLOSC:
    clevel = codec->u.blosc.clevel;
    block = rd_min_u64 (nbytes, rd_max_u64 (codec->u.blosc.blocksize,
                                            BLOSC_BLOCK_NBYTES));
    if (!encodes)
      return 3 * block + ZSTD_DECODER_NBYTES + INFLATER_NBYTES;
    if (strcmp (codec->u.blosc.cname, "zstd") == 0)
      encoder = rd_zstd_encoder_nbytes (clevel < 9 ? 2 * clevel : 22, block);
    return 3 * block + encoder;
  case RD_CODEC_GZIP:
    return encodes ? DEFLATER_NBYTES : INFLATER_NBYTES;
  default:
    return 0;
  }
}

/* A decoded index, and the nested scratch, which is for both the inner chunks
 * and the index. */
static uint64_t
sharding_nbytes (const struct rd_codec *sharding,
                 const struct rd_chunk *shard,
                 uint64_t (*chain_nbytes) (const struct rd_chain *,
                                           const struct rd_chunk *))
{
  uint64_t grid[RADIO_MAX_RANK];
  struct rd_chunk inner, index;
  rd_shard_layout (sharding, shard, grid, &inner);
  rd_shard_index_chunk (sharding, shard, &index);
  return rd_add_sat (
    rd_add_sat (rd_shard_index_nbytes (sharding, shard),
                sizeof (struct rd_shard_index)),
    rd_add_sat (chain_nbytes (sharding->u.sharding.inner, &inner),
                chain_nbytes (sharding->u.sharding.index, &index)));
}

uint64_t
rd_chain_decode_nbytes (const struct rd_chain *chain,
                        const struct rd_chunk *chunk)
{
  const struct rd_codec *codec = &chain->codecs[chain->n_array];
  struct rd_chunk encoded;
  rd_transpose_shape (chain, chunk, &encoded);
  uint64_t total = 0, nstages = 0;
  uint64_t nbytes = rd_codec_array_bound (codec, &encoded);
  uint64_t most = nbytes;
  for (size_t i = chain->n_array + 1; i < chain->n; i++) {
    if (chain->codecs[i].id != RD_CODEC_CRC32C) {
      nstages = nstages < 2 ? nstages + 1 : 2;
      most = nbytes;
    }
    total = rd_add_sat (total, context_nbytes (&chain->codecs[i], nbytes,
                                               false));
    nbytes = rd_codec_bound (&chain->codecs[i], nbytes);
  }
  total = rd_add_sat (total, rd_mul_sat (most, nstages));
  if (codec->id == RD_CODEC_BYTES)
    return total;
  total = rd_add_sat (total, rd_chunk_nbytes (&encoded));
  if (codec->id != RD_CODEC_SHARDING)
    return total;
  return rd_add_sat (total, sharding_nbytes (codec, &encoded,
                                             rd_chain_decode_nbytes));
}

uint64_t
rd_chain_encode_nbytes (const struct rd_chain *chain,
                        const struct rd_chunk *chunk)
{
  const struct rd_codec *codec = &chain->codecs[chain->n_array];
  struct rd_chunk encoded;
  rd_transpose_shape (chain, chunk, &encoded);
  uint64_t total = 0;
  uint64_t nbytes = rd_codec_array_bound (codec, &encoded);
  for (size_t i = chain->n_array + 1; i < chain->n; i++) {
    total = rd_add_sat (total, context_nbytes (&chain->codecs[i], nbytes,
                                               true));
    nbytes = rd_codec_bound (&chain->codecs[i], nbytes);
  }
  /* Two stages and the result are swapped from chunk to chunk, and a buffer
   * that is appended to grows by half. */
  total = rd_add_sat (total, rd_add_sat (rd_mul_sat (nbytes, 4), nbytes / 2));
  if (codec->id != RD_CODEC_SHARDING)
    return total;
  total = rd_add_sat (total, rd_chunk_nbytes (chunk));
  return rd_add_sat (total, sharding_nbytes (codec, &encoded,
                                             rd_chain_encode_nbytes));
}
