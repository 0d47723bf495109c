/* SPDX-License-Identifier: MIT */
/* Chains and chunks for tests, made in a line each. */
#ifndef RD_TESTS_CODEC_BUILD_H
#define RD_TESTS_CODEC_BUILD_H

#include "tests/unit.h"
#include "tests/element/random.h"

#include "src/codec/chain.h"

static inline struct rd_chain *
new_chain (void)
{
  struct rd_chain *chain = rd_calloc (1, sizeof *chain);
  assert_non_null (chain);
  return chain;
}

static inline struct rd_codec *
add_codec (struct rd_chain *chain, enum rd_codec_id id)
{
  assert_true (chain->n < RD_CHAIN_MAX);
  if (id == RD_CODEC_TRANSPOSE)
    chain->n_array++;
  chain->codecs[chain->n].id = id;
  return &chain->codecs[chain->n++];
}

static inline void
add_bytes (struct rd_chain *chain, bool big_endian)
{
  add_codec (chain, RD_CODEC_BYTES)->u.bytes.big_endian = big_endian;
}

/* The order of axes that turns them round by a number of steps. */
static inline void
add_transpose (struct rd_chain *chain, size_t rank, size_t steps)
{
  struct rd_codec *codec = add_codec (chain, RD_CODEC_TRANSPOSE);
  for (size_t i = 0; i < rank; i++)
    codec->u.transpose.order[i] = (i + steps) % rank;
}

static inline void
add_blosc (struct rd_chain *chain, const char *cname, int clevel,
           enum rd_blosc_shuffle shuffle, size_t typesize, size_t blocksize)
{
  struct rd_codec *codec = add_codec (chain, RD_CODEC_BLOSC);
  snprintf (codec->u.blosc.cname, sizeof codec->u.blosc.cname, "%s", cname);
  codec->u.blosc.clevel = clevel;
  codec->u.blosc.shuffle = shuffle;
  codec->u.blosc.typesize = typesize;
  codec->u.blosc.blocksize = blocksize;
}

static inline void
add_zstd (struct rd_chain *chain, int level, bool checksum)
{
  struct rd_codec *codec = add_codec (chain, RD_CODEC_ZSTD);
  codec->u.zstd.level = level;
  codec->u.zstd.checksum = checksum;
}

static inline void
add_gzip (struct rd_chain *chain, int level)
{
  add_codec (chain, RD_CODEC_GZIP)->u.gzip.level = level;
}

/* Takes both chains; the inner shape is the same number on every axis. */
static inline struct rd_codec *
add_sharding (struct rd_chain *chain, size_t rank, uint64_t size,
              struct rd_chain *inner, struct rd_chain *index)
{
  struct rd_codec *codec = add_codec (chain, RD_CODEC_SHARDING);
  for (size_t i = 0; i < rank; i++)
    codec->u.sharding.chunk_shape[i] = size;
  codec->u.sharding.inner = inner;
  codec->u.sharding.index = index;
  return codec;
}

/* bytes (little), crc32c: the usual index codecs. */
static inline struct rd_chain *
usual_index (void)
{
  struct rd_chain *index = new_chain ();
  add_bytes (index, false);
  add_codec (index, RD_CODEC_CRC32C);
  return index;
}

static const unsigned char zero_fill[RD_ITEM_MAX_NBYTES];

/* A chunk of equal lengths. */
static inline struct rd_chunk
cube (enum radio_dtype dtype, size_t rank, uint64_t size)
{
  struct rd_chunk chunk = { .rank = rank, .type = rd_type_of (dtype),
                            .fill = zero_fill };
  for (size_t i = 0; i < rank; i++)
    chunk.shape[i] = size;
  return chunk;
}

/* Elements that compress, but not to nothing. */
static inline unsigned char *
make_elements (const struct rd_chunk *chunk, uint64_t seed)
{
  size_t nbytes = (size_t) rd_chunk_nbytes (chunk);
  unsigned char *data = malloc (nbytes);
  assert_non_null (data);
  for (size_t i = 0; i < nbytes; i++)
    data[i] = (unsigned char) (random_next (&seed) % 5
                               * (i % chunk->type.item_nbytes < 2));
  if (chunk->type.dtype == RADIO_BOOL)
    for (size_t i = 0; i < nbytes; i++)
      data[i] = data[i] != 0;
  return data;
}

#endif /* RD_TESTS_CODEC_BUILD_H */
