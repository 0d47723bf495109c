/* SPDX-License-Identifier: MIT */
/* The rules of a codec chain, checked once when an array is opened: order of
 * the kinds, permutations, shapes that divide, options within their ranges,
 * sizes that do not overflow. */
#include <config.h>

#include <inttypes.h>
#include <zstd.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/codec/chain.h"

/* The lowest level of the zstd codec (zarr-extensions). */
#define ZSTD_LEVEL_MIN -131072

static enum radio_status check_chain (const struct rd_chain *chain,
                                      const struct rd_chunk *chunk,
                                      int depth);

/* Checks that every length is at least 1, and that the size fits strides. */
static enum radio_status
check_chunk (const struct rd_chunk *chunk)
{
  uint64_t nbytes = chunk->type.item_nbytes;
  if (chunk->rank < 1 || chunk->rank > RADIO_MAX_RANK || nbytes == 0)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "chunk: rank %zu with elements "
                    "of %" PRIu64 " bytes is not supported", chunk->rank,
                    nbytes);
  for (size_t i = 0; i < chunk->rank; i++) {
    if (chunk->shape[i] == 0)
      return rd_fail (RADIO_ERROR_FORMAT, "chunk: length 0 on axis %zu", i);
    if (rd_mul_overflows (nbytes, chunk->shape[i], &nbytes)
        || nbytes > INT64_MAX)
      return rd_fail (RADIO_ERROR_UNSUPPORTED, "chunk: %" PRIu64 " elements "
                      "on axis %zu make it larger than 2^63 bytes",
                      chunk->shape[i], i);
  }
  return RADIO_OK;
}

static enum radio_status
check_sharding (const struct rd_codec *codec, const struct rd_chunk *shard,
                int depth)
{
  const struct rd_chain *index = codec->u.sharding.index;
  uint64_t grid[RADIO_MAX_RANK];
  struct rd_chunk inner, index_chunk;
  if (!codec->u.sharding.inner || !index)
    return rd_fail (RADIO_ERROR_FORMAT, "sharding_indexed: codecs or "
                    "index_codecs missing");
  if (depth >= RD_CHAIN_MAX_DEPTH)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "sharding_indexed: shards "
                    "nested deeper than %d are not supported",
                    RD_CHAIN_MAX_DEPTH);
  for (size_t i = 0; i < shard->rank; i++) {
    uint64_t size = codec->u.sharding.chunk_shape[i];
    if (size == 0 || shard->shape[i] % size != 0)
      return rd_fail (RADIO_ERROR_FORMAT, "sharding_indexed: "
                      "chunk_shape[%zu] is %" PRIu64 ", which does not "
                      "divide the shard's %" PRIu64, i, size,
                      shard->shape[i]);
  }
  rd_shard_layout (codec, shard, grid, &inner);
  enum radio_status status = check_chain (codec->u.sharding.inner, &inner,
                                          depth + 1);
  if (status != RADIO_OK)
    return rd_fail_in (status, "sharding_indexed: codecs");

  /* The index's length must be known before it is read. */
  for (size_t i = 0; i < index->n && i < RD_CHAIN_MAX; i++) {
    enum rd_codec_id id = index->codecs[i].id;
    if (id != RD_CODEC_TRANSPOSE && id != RD_CODEC_BYTES
        && id != RD_CODEC_CRC32C)
      return rd_fail (RADIO_ERROR_FORMAT, "sharding_indexed: "
                      "index_codecs[%zu]: the codec's output has no fixed "
                      "size", i);
  }
  if (shard->rank == RADIO_MAX_RANK && index->n_array > 0)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "sharding_indexed: transpose "
                    "in the index_codecs of a rank-%d array is not supported",
                    RADIO_MAX_RANK);
  rd_shard_index_chunk (codec, shard, &index_chunk);
  status = check_chain (index, &index_chunk, depth + 1);
  if (status != RADIO_OK)
    rd_fail_in (status, "sharding_indexed: index_codecs");
  return status;
}

/* Strings are encoded by vlen-utf8, and nothing else is.  The elements of a
 * shard that is decoded as a whole would outlive the bytes of its tiles. */
static enum radio_status
check_strings (const struct rd_chain *chain, const struct rd_chunk *chunk,
               int depth)
{
  enum rd_codec_id id = chain->codecs[chain->n_array].id;
  bool has_strings = chunk->type.dtype == RADIO_STRING;
  uint64_t n = rd_chunk_nbytes (chunk) / chunk->type.item_nbytes;
  if (id == RD_CODEC_VLEN_UTF8 && !has_strings)
    return rd_fail (RADIO_ERROR_FORMAT, "vlen-utf8: elements of %s are not "
                    "strings", radio_dtype_name (chunk->type.dtype));
  if (id == RD_CODEC_BYTES && has_strings)
    return rd_fail (RADIO_ERROR_FORMAT, "bytes: strings have no fixed size; "
                    "they need vlen-utf8");
  if (id == RD_CODEC_VLEN_UTF8 && n > UINT32_MAX)
    return rd_fail (RADIO_ERROR_FORMAT, "vlen-utf8: a chunk of %" PRIu64
                    " strings; its count has 32 bits", n);
  if (id == RD_CODEC_SHARDING && has_strings && (depth > 0 || chain->n > 1))
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "sharding_indexed: strings in "
                    "shards within shards, or with codecs before or after "
                    "the sharding, are not supported");
  return RADIO_OK;
}

static enum radio_status
check_level (const char *codec, int level, int low, int high)
{
  if (level >= low && level <= high)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_FORMAT, "%s: level %d is not within %d to %d",
                  codec, level, low, high);
}

static enum radio_status
check_chain (const struct rd_chain *chain, const struct rd_chunk *chunk,
             int depth)
{
  struct rd_chunk encoded;
  if (chain->n == 0)
    return rd_fail (RADIO_ERROR_FORMAT, "codecs: the list is empty");
  if (chain->n > RD_CHAIN_MAX)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "codecs: %zu codecs; more than "
                    "%d are not supported", chain->n, RD_CHAIN_MAX);
  for (size_t i = 0; i < chain->n; i++) {
    enum rd_codec_id id = chain->codecs[i].id;
    bool right = i < chain->n_array ? id == RD_CODEC_TRANSPOSE
      : i > chain->n_array ? id >= RD_CODEC_BLOSC
                           : id >= RD_CODEC_BYTES && id < RD_CODEC_BLOSC;
    if (!right)
      return rd_fail (RADIO_ERROR_FORMAT, "codecs[%zu]: out of order: the "
                      "list must be array->array codecs, one array->bytes "
                      "codec, bytes->bytes codecs", i);
  }
  if (chain->n_array >= chain->n)
    return rd_fail (RADIO_ERROR_FORMAT, "codecs: no array->bytes codec");

  RD_TRY (check_chunk (chunk));
  for (size_t i = 0; i < chain->n_array; i++) {
    bool seen[RADIO_MAX_RANK] = { false };
    for (size_t k = 0; k < chunk->rank; k++) {
      size_t axis = chain->codecs[i].u.transpose.order[k];
      if (axis >= chunk->rank || seen[axis])
        return rd_fail (RADIO_ERROR_FORMAT, "transpose: order[%zu] is %zu: "
                        "not a permutation of %zu axes", k, axis,
                        chunk->rank);
      seen[axis] = true;
    }
  }
  rd_transpose_shape (chain, chunk, &encoded);
  const struct rd_codec *codec = &chain->codecs[chain->n_array];
  RD_TRY (check_strings (chain, chunk, depth));
  if (codec->id == RD_CODEC_SHARDING)
    RD_TRY (check_sharding (codec, &encoded, depth));

  /* The length of strings is checked when they are encoded. */
  uint64_t nbytes = codec->id == RD_CODEC_VLEN_UTF8 ? 0
                                                    : rd_chunk_nbytes (chunk);
  for (size_t i = chain->n_array + 1; i < chain->n; i++) {
    codec = &chain->codecs[i];
    if (codec->id == RD_CODEC_BLOSC)
      RD_TRY (rd_blosc_check (codec, nbytes));
    else if (codec->id == RD_CODEC_ZSTD)
      RD_TRY (check_level ("zstd", codec->u.zstd.level, ZSTD_LEVEL_MIN,
                           ZSTD_maxCLevel ()));
    else if (codec->id == RD_CODEC_GZIP)
      RD_TRY (check_level ("gzip", codec->u.gzip.level, 0, 9));
  }
  return RADIO_OK;
}

enum radio_status
rd_chain_check (const struct rd_chain *chain, const struct rd_chunk *chunk)
{
  return check_chain (chain, chunk, 0);
}
