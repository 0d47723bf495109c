/* SPDX-License-Identifier: MIT */
/* Running a chain: decoding from its end to a view of the elements, encoding
 * from the elements on.  The bytes alternate between the two stages of a
 * scratch, or stay in the caller's memory if they need not move. */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/error.h"
#include "src/codec/chain.h"
#include "src/element/box.h"
#include "src/element/copy.h"

#define MACHINE_IS_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

void
rd_chain_free (struct rd_chain *chain)
{
  if (!chain)
    return;
  for (size_t i = 0; i < chain->n && i < RD_CHAIN_MAX; i++)
    if (chain->codecs[i].id == RD_CODEC_SHARDING) {
      rd_chain_free (chain->codecs[i].u.sharding.inner);
      rd_chain_free (chain->codecs[i].u.sharding.index);
    }
  rd_free (chain);
}

/* Returns the size of a chunk after the array->bytes codec. */
static struct rd_decoded_size
array_extent (const struct rd_chain *chain, const struct rd_chunk *encoded)
{
  const struct rd_codec *codec = &chain->codecs[chain->n_array];
  struct rd_decoded_size extent = {
    rd_codec_array_bound (codec, encoded), codec->id == RD_CODEC_BYTES,
    codec->id == RD_CODEC_VLEN_UTF8,
  };
  return extent;
}

/* Returns the size of an extent after a bytes->bytes codec. */
static struct rd_decoded_size
next_extent (const struct rd_codec *codec, struct rd_decoded_size extent)
{
  struct rd_decoded_size next = {
    rd_codec_bound (codec, extent.nbytes),
    extent.exact && codec->id == RD_CODEC_CRC32C, extent.grows,
  };
  return next;
}

uint64_t
rd_chain_bound (const struct rd_chain *chain, const struct rd_chunk *chunk)
{
  struct rd_chunk encoded;
  rd_transpose_shape (chain, chunk, &encoded);
  struct rd_decoded_size extent = array_extent (chain, &encoded);
  for (size_t i = chain->n_array + 1; i < chain->n; i++)
    extent = next_extent (&chain->codecs[i], extent);
  return extent.nbytes;
}

/* Returns the stage that does not hold these bytes. */
static struct rd_buffer *
other_stage (struct rd_scratch *scratch, const unsigned char *data)
{
  return data == scratch->stages[0].data ? &scratch->stages[1]
                                         : &scratch->stages[0];
}

uint64_t
rd_codec_array_bound (const struct rd_codec *codec,
                      const struct rd_chunk *encoded)
{
  return codec->id == RD_CODEC_BYTES ? rd_chunk_nbytes (encoded)
         : codec->id == RD_CODEC_VLEN_UTF8 ? encoded->strings_nbytes
                                           : rd_shard_bound (codec, encoded);
}

static bool
is_swapped (const struct rd_codec *codec, const struct rd_type *type)
{
  return codec->id == RD_CODEC_BYTES && type->unit_nbytes > 1
    && codec->u.bytes.big_endian != MACHINE_IS_BIG_ENDIAN;
}

bool
rd_chain_is_swapped (const struct rd_chain *chain, const struct rd_type *type)
{
  return is_swapped (&chain->codecs[chain->n_array], type);
}

/* A chain that is being decoded. */
struct decoding {
  const struct rd_chain *chain;
  struct rd_scratch *scratch;
  struct rd_chunk encoded;            /* input of the array->bytes codec */
  struct rd_decoded_size extents[RD_CHAIN_MAX];   /* input of each codec */
  struct rd_bytes bytes;
};

/* Decodes the bytes->bytes codecs from number left - 1 down to n. */
static enum radio_status
decode_codecs (struct decoding *decoding, size_t n, size_t left)
{
  struct rd_scratch *scratch = decoding->scratch;
  struct rd_bytes *bytes = &decoding->bytes;
  for (; left > n; left--) {
    enum rd_codec_id id = decoding->chain->codecs[left - 1].id;
    if (id == RD_CODEC_CRC32C) {
      RD_TRY (rd_crc32c_verify (bytes));
      continue;
    }
    struct rd_decoded_size extent = decoding->extents[left - 2];
    struct rd_buffer *out = other_stage (scratch, bytes->data);
    switch (id) {
    case RD_CODEC_BLOSC:
      RD_TRY (rd_blosc_decode (scratch, *bytes, extent, out));
      break;
    case RD_CODEC_ZSTD:
      RD_TRY (rd_zstd_decode (scratch, *bytes, extent, out));
      break;
    default:
      RD_TRY (rd_gzip_decode (scratch, *bytes, extent, out));
      break;
    }
    bytes->data = out->data;
    bytes->nbytes = out->nbytes;
  }
  return RADIO_OK;
}

/* Decodes the first `left' codecs of the chain but its array->array codecs. */
static enum radio_status
decode_rest (struct decoding *decoding, size_t left, struct rd_view *view)
{
  const struct rd_chain *chain = decoding->chain;
  const struct rd_codec *codec = &chain->codecs[chain->n_array];
  struct rd_scratch *scratch = decoding->scratch;
  RD_TRY (decode_codecs (decoding, chain->n_array + 1, left));
  uint64_t nbytes = rd_chunk_nbytes (&decoding->encoded);
  view->swapped = is_swapped (codec, &decoding->encoded.type);
  if (codec->id == RD_CODEC_BYTES) {
    struct rd_decoded_size extent = { nbytes, true, false };
    view->data = decoding->bytes.data;
    return rd_codec_check_length ("bytes", decoding->bytes.nbytes, extent);
  }
  if (codec->id == RD_CODEC_VLEN_UTF8) {
    RD_TRY (rd_vlen_utf8_decode (&decoding->encoded, decoding->bytes,
                                 &scratch->tile));
    view->data = scratch->tile.data;
    return RADIO_OK;
  }
  RD_TRY (rd_codec_reserve (&scratch->tile, nbytes));
  RD_TRY (rd_sharding_decode (codec, &decoding->encoded, scratch,
                              decoding->bytes, scratch->tile.data));
  scratch->tile.nbytes = (size_t) nbytes;
  view->data = scratch->tile.data;
  return RADIO_OK;
}

/* The same, but if the first bytes->bytes codec is blosc, it may leave the
 * elements shuffled. */
static enum radio_status
decode_shuffled (struct decoding *decoding, struct rd_view *view)
{
  const struct rd_chain *chain = decoding->chain;
  size_t first = chain->n_array;
  const struct rd_chunk *encoded = &decoding->encoded;
  if (first + 1 >= chain->n || chain->codecs[first + 1].id != RD_CODEC_BLOSC
      || chain->codecs[first].id != RD_CODEC_BYTES
      || is_swapped (&chain->codecs[first], &encoded->type))
    return decode_rest (decoding, chain->n, view);
  RD_TRY (decode_codecs (decoding, first + 2, chain->n));
  struct rd_bytes *bytes = &decoding->bytes;
  struct rd_buffer *out = other_stage (decoding->scratch, bytes->data);
  RD_TRY (rd_blosc_decode_shuffled (decoding->scratch, *bytes,
                                    decoding->extents[first],
                                    encoded->type.item_nbytes, out,
                                    &view->shuffled, &view->block));
  if (view->shuffled)
    return RADIO_OK;
  bytes->data = out->data;
  bytes->nbytes = out->nbytes;
  return decode_rest (decoding, first + 1, view);
}

static enum radio_status
decode_chunk (const struct rd_chain *chain, const struct rd_chunk *chunk,
              struct rd_scratch *scratch, struct rd_bytes bytes,
              bool shuffled, struct rd_view *view)
{
  struct decoding decoding = { .chain = chain, .scratch = scratch,
                               .bytes = bytes };
  const struct rd_chunk *encoded = &decoding.encoded;
  struct rd_decoded_size *extents = decoding.extents;
  rd_transpose_shape (chain, chunk, &decoding.encoded);
  extents[chain->n_array] = array_extent (chain, encoded);
  for (size_t i = chain->n_array + 1; i < chain->n; i++)
    extents[i] = next_extent (&chain->codecs[i], extents[i - 1]);
  view->data = NULL;
  view->swapped = view->shuffled = false;
  RD_TRY (shuffled ? decode_shuffled (&decoding, view)
                   : decode_rest (&decoding, chain->n, view));
  if (!rd_c_strides (encoded->rank, encoded->shape, encoded->type.item_nbytes,
                     view->strides))
    return rd_fail (RADIO_ERROR_FORMAT, "a chunk of %" PRIu64 " bytes has "
                    "no strides", rd_chunk_nbytes (encoded));
  /* From the axes of the encoded shape to those of the chunk's. */
  for (size_t i = chain->n_array; i-- > 0;) {
    int64_t strides[RADIO_MAX_RANK];
    memcpy (strides, view->strides, chunk->rank * sizeof strides[0]);
    for (size_t k = 0; k < chunk->rank; k++)
      view->strides[chain->codecs[i].u.transpose.order[k]] = strides[k];
  }
  return RADIO_OK;
}

enum radio_status
rd_chain_decode (const struct rd_chain *chain, const struct rd_chunk *chunk,
                 struct rd_scratch *scratch, const void *encoded,
                 size_t nbytes, struct rd_view *view)
{
  const struct rd_bytes bytes = { encoded, nbytes };
  return decode_chunk (chain, chunk, scratch, bytes, false, view);
}

bool
rd_chain_has_checksum (const struct rd_chain *chain)
{
  return chain->codecs[chain->n - 1].id == RD_CODEC_CRC32C;
}

enum radio_status
rd_chain_verify (const struct rd_chain *chain, const struct rd_chunk *chunk,
                 struct rd_scratch *scratch, const void *encoded,
                 size_t nbytes)
{
  struct rd_bytes bytes = { encoded, nbytes };
  struct rd_view view;
  if (rd_chain_has_checksum (chain))
    return rd_crc32c_verify (&bytes);
  return rd_chain_decode (chain, chunk, scratch, encoded, nbytes, &view);
}

enum radio_status
rd_chain_decode_shuffled (const struct rd_chain *chain,
                          const struct rd_chunk *chunk,
                          struct rd_scratch *scratch, const void *encoded,
                          size_t nbytes, struct rd_view *view)
{
  const struct rd_bytes bytes = { encoded, nbytes };
  return decode_chunk (chain, chunk, scratch, bytes, true, view);
}

/* Encodes by the array->bytes codec.  *bytes are still the elements themselves
 * if these need not be transposed or swapped. */
static enum radio_status
encode_array (const struct rd_chain *chain, const struct rd_chunk *chunk,
              struct rd_scratch *scratch, struct rd_bytes *bytes)
{
  const struct rd_codec *codec = &chain->codecs[chain->n_array];
  struct rd_buffer *out = &scratch->stages[0];
  struct rd_chunk encoded;
  int64_t strides[RADIO_MAX_RANK] = { 0 };    /* of encoded axes */
  rd_transpose_shape (chain, chunk, &encoded);
  bool swapped = is_swapped (codec, &encoded.type);
  if (codec->id == RD_CODEC_BYTES && chain->n_array == 0 && !swapped)
    return RADIO_OK;
  if (!rd_c_strides (chunk->rank, chunk->shape, chunk->type.item_nbytes,
                     strides))
    return rd_fail_memory (bytes->nbytes);
  for (size_t i = 0; i < chain->n_array; i++) {
    int64_t input[RADIO_MAX_RANK];
    memcpy (input, strides, chunk->rank * sizeof input[0]);
    for (size_t k = 0; k < chunk->rank; k++)
      strides[k] = input[chain->codecs[i].u.transpose.order[k]];
  }
  if (codec->id == RD_CODEC_BYTES) {
    RD_TRY (rd_codec_reserve (out, bytes->nbytes));
    struct rd_box_copy copy = { .rank = encoded.rank, .from = bytes->data,
                                .from_type = encoded.type,
                                .from_swapped = swapped, .to = out->data,
                                .to_dtype = RADIO_STORED };
    memcpy (copy.shape, encoded.shape, sizeof copy.shape);
    memcpy (copy.from_strides, strides, sizeof copy.from_strides);
    if (!rd_c_strides (encoded.rank, encoded.shape, encoded.type.item_nbytes,
                       copy.to_strides))
      return rd_fail_memory (bytes->nbytes);
    RD_TRY (rd_box_copy_run (&copy));
    out->nbytes = bytes->nbytes;
  } else if (codec->id == RD_CODEC_VLEN_UTF8) {
    RD_TRY (rd_vlen_utf8_encode (&encoded, bytes->data, strides, out));
  } else {
    out->nbytes = 0;
    RD_TRY (rd_sharding_encode (codec, &encoded, scratch, bytes->data,
                                strides, out));
  }
  bytes->data = out->data;
  bytes->nbytes = out->nbytes;
  return RADIO_OK;
}

/* Encodes by one bytes->bytes codec.  A checksum is appended in place if the
 * bytes are in a stage already. */
static enum radio_status
encode_bytes (const struct rd_codec *codec, struct rd_scratch *scratch,
              struct rd_bytes *bytes)
{
  struct rd_buffer *out = other_stage (scratch, bytes->data);
  struct rd_buffer *holder = out == &scratch->stages[0] ? out + 1 : out - 1;
  switch (codec->id) {
  case RD_CODEC_CRC32C:
    if (bytes->data == holder->data)
      out = holder;
    else {
      out->nbytes = 0;
      RD_TRY (rd_buffer_reserve (out, bytes->nbytes + 4));
      RD_TRY (rd_buffer_append (out, bytes->data, bytes->nbytes));
    }
    RD_TRY (rd_crc32c_append (out));
    break;
  case RD_CODEC_BLOSC:
    RD_TRY (rd_blosc_encode (codec, scratch, *bytes, out));
    break;
  case RD_CODEC_ZSTD:
    RD_TRY (rd_zstd_encode (codec, scratch, *bytes, out));
    break;
  default:
    RD_TRY (rd_gzip_encode (codec, scratch, *bytes, out));
    break;
  }
  bytes->data = out->data;
  bytes->nbytes = out->nbytes;
  return RADIO_OK;
}

enum radio_status
rd_chain_encode (const struct rd_chain *chain, const struct rd_chunk *chunk,
                 struct rd_scratch *scratch, const void *elements,
                 struct rd_buffer *out)
{
  struct rd_bytes bytes = { elements, (size_t) rd_chunk_nbytes (chunk) };
  RD_TRY (encode_array (chain, chunk, scratch, &bytes));
  for (size_t i = chain->n_array + 1; i < chain->n; i++)
    RD_TRY (encode_bytes (&chain->codecs[i], scratch, &bytes));

  /* Swap the stage that holds the result with out. */
  for (size_t i = 0; i < 2; i++)
    if (bytes.data == scratch->stages[i].data) {
      struct rd_buffer old = *out;
      *out = scratch->stages[i];
      scratch->stages[i] = old;
      return RADIO_OK;
    }
  out->nbytes = 0;
  return rd_buffer_append (out, bytes.data, bytes.nbytes);
}
