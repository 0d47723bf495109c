/* SPDX-License-Identifier: MIT */
/* Running a chain: decoding from its end to a view of the elements, encoding
 * from the elements on.  The bytes go back and forth between the two stages
 * of a scratch; what need not move stays where it is, in the caller's
 * memory. */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/element/box.h"
#include "src/codec/codec.h"
#include "src/codec/shard.h"
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

uint64_t
rd_chunk_nbytes (const struct rd_chunk *chunk)
{
  uint64_t nbytes = chunk->type.item_nbytes;
  for (size_t i = 0; i < chunk->rank; i++)
    nbytes *= chunk->shape[i];
  return nbytes;
}

bool
rd_chunk_is_fill (const struct rd_chunk *chunk, const void *elements)
{
  const unsigned char *data = elements;
  size_t item = chunk->type.item_nbytes;
  size_t nbytes = (size_t) rd_chunk_nbytes (chunk);
  /* All elements are equal when each one equals the next. */
  return memcmp (data, chunk->fill, item) == 0
    && memcmp (data, data + item, nbytes - item) == 0;
}

void
rd_chunk_fill (const struct rd_chunk *chunk, void *elements)
{
  unsigned char *data = elements;
  size_t done = chunk->type.item_nbytes;
  size_t nbytes = (size_t) rd_chunk_nbytes (chunk);
  memcpy (data, chunk->fill, done);
  while (done < nbytes) {
    size_t n = done < nbytes - done ? done : nbytes - done;
    memcpy (data + done, data, n);
    done += n;
  }
}

enum radio_status
rd_codec_reserve (struct rd_buffer *out, uint64_t nbytes)
{
  out->nbytes = 0;
  if (nbytes > SIZE_MAX / 2)
    return rd_fail_memory (SIZE_MAX);
  return rd_buffer_reserve (out, (size_t) nbytes);
}

enum radio_status
rd_codec_check_length (const char *codec, size_t nbytes,
                       struct rd_extent extent)
{
  if (nbytes == extent.nbytes || (!extent.exact && nbytes < extent.nbytes))
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_FORMAT, "%s: decodes to %zu bytes instead of "
                  "%s%" PRIu64, codec, nbytes, extent.exact ? "" : "at most ",
                  extent.nbytes);
}

enum radio_status
rd_codec_fail_longer (const char *codec, struct rd_extent extent)
{
  return rd_fail (RADIO_ERROR_FORMAT, "%s: decodes to more than the %s%"
                  PRIu64 " bytes of its chunk", codec,
                  extent.exact ? "" : "possible ", extent.nbytes);
}

/* n with room for what another encoder may add: an eighth, and a header. */
static uint64_t
with_overhead (uint64_t nbytes)
{
  return rd_add_sat (nbytes, nbytes / 8 + 1024);
}

uint64_t
rd_codec_bound (const struct rd_codec *codec, uint64_t nbytes)
{
  if (codec->id != RD_CODEC_CRC32C)
    return with_overhead (nbytes);
  return rd_add_sat (nbytes, 4);
}

/* A shard of other writers may have gaps. */
uint64_t
rd_shard_bound (const struct rd_codec *sharding, const struct rd_chunk *shard)
{
  uint64_t grid[RADIO_MAX_RANK];
  struct rd_chunk inner;
  rd_shard_layout (sharding, shard, grid, &inner);
  uint64_t nbytes = rd_chain_bound (sharding->u.sharding.inner, &inner);
  for (size_t i = 0; i < shard->rank; i++)
    nbytes = rd_mul_sat (nbytes, grid[i]);
  return with_overhead (
    rd_add_sat (nbytes, rd_shard_index_nbytes (sharding, shard)));
}

/* What the array->bytes codec makes of a chunk. */
static struct rd_extent
array_extent (const struct rd_chain *chain, const struct rd_chunk *encoded)
{
  const struct rd_codec *codec = &chain->codecs[chain->n_array];
  struct rd_extent extent = { 0, codec->id == RD_CODEC_BYTES };
  extent.nbytes = extent.exact ? rd_chunk_nbytes (encoded)
                               : rd_shard_bound (codec, encoded);
  return extent;
}

/* What a bytes->bytes codec makes of an extent. */
static struct rd_extent
next_extent (const struct rd_codec *codec, struct rd_extent extent)
{
  struct rd_extent next = {
    rd_codec_bound (codec, extent.nbytes),
    extent.exact && codec->id == RD_CODEC_CRC32C,
  };
  return next;
}

uint64_t
rd_chain_bound (const struct rd_chain *chain, const struct rd_chunk *chunk)
{
  struct rd_chunk encoded;
  rd_transpose_shape (chain, chunk, &encoded);
  struct rd_extent extent = array_extent (chain, &encoded);
  for (size_t i = chain->n_array + 1; i < chain->n; i++)
    extent = next_extent (&chain->codecs[i], extent);
  return extent.nbytes;
}

/* The stage that does not hold these bytes. */
static struct rd_buffer *
other_stage (struct rd_scratch *scratch, const unsigned char *data)
{
  return data == scratch->stages[0].data ? &scratch->stages[1]
                                         : &scratch->stages[0];
}

/* Undo one bytes->bytes codec. */
static enum radio_status
decode_bytes (const struct rd_codec *codec, struct rd_scratch *scratch,
              struct rd_extent extent, struct rd_bytes *bytes)
{
  if (codec->id == RD_CODEC_CRC32C)
    return rd_crc32c_strip (bytes);
  struct rd_buffer *out = other_stage (scratch, bytes->data);
  switch (codec->id) {
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
  return RADIO_OK;
}

static bool
is_swapped (const struct rd_codec *codec, const struct rd_type *type)
{
  return codec->id == RD_CODEC_BYTES && type->unit_nbytes > 1
    && codec->u.bytes.big_endian != MACHINE_IS_BIG_ENDIAN;
}

/* Undo the array->bytes codec: a view of the chunk as it was given to it. */
static enum radio_status
decode_array (const struct rd_codec *codec, const struct rd_chunk *encoded,
              struct rd_scratch *scratch, struct rd_bytes bytes,
              struct rd_view *view)
{
  uint64_t nbytes = rd_chunk_nbytes (encoded);
  view->swapped = is_swapped (codec, &encoded->type);
  if (codec->id == RD_CODEC_BYTES) {
    struct rd_extent extent = { nbytes, true };
    view->data = bytes.data;
    return rd_codec_check_length ("bytes", bytes.nbytes, extent);
  }
  RD_TRY (rd_codec_reserve (&scratch->tile, nbytes));
  RD_TRY (rd_sharding_decode (codec, encoded, scratch, bytes,
                              scratch->tile.data));
  scratch->tile.nbytes = (size_t) nbytes;
  view->data = scratch->tile.data;
  return RADIO_OK;
}

/* A chain that is being undone. */
struct decoding {
  const struct rd_chain *chain;
  struct rd_scratch *scratch;
  struct rd_chunk inside;             /* what the array->bytes codec got */
  struct rd_extent extents[RD_CHAIN_MAX];   /* what each codec got */
  struct rd_bytes bytes;
};

static void
begin_decoding (struct decoding *decoding, const struct rd_chunk *chunk)
{
  const struct rd_chain *chain = decoding->chain;
  struct rd_extent *extents = decoding->extents;
  rd_transpose_shape (chain, chunk, &decoding->inside);
  extents[chain->n_array] = array_extent (chain, &decoding->inside);
  for (size_t i = chain->n_array + 1; i < chain->n; i++)
    extents[i] = next_extent (&chain->codecs[i], extents[i - 1]);
}

/* Undo codecs as long as more than n are left. */
static enum radio_status
undo_codecs (struct decoding *decoding, size_t n, size_t *left)
{
  for (; *left > n; --*left)
    RD_TRY (decode_bytes (&decoding->chain->codecs[*left - 1],
                          decoding->scratch, decoding->extents[*left - 2],
                          &decoding->bytes));
  return RADIO_OK;
}

/* Undo the rest of the chain but for its array->array codecs. */
static enum radio_status
undo_rest (struct decoding *decoding, size_t left, struct rd_view *view)
{
  const struct rd_chain *chain = decoding->chain;
  RD_TRY (undo_codecs (decoding, chain->n_array + 1, &left));
  return decode_array (&chain->codecs[chain->n_array], &decoding->inside,
                       decoding->scratch, decoding->bytes, view);
}

/* The last codec to undo is a blosc that may leave items as it finds them.
 * Without it this is no different. */
static enum radio_status
undo_blosc (struct decoding *decoding, size_t left, struct rd_view *view)
{
  const struct rd_chain *chain = decoding->chain;
  size_t first = chain->n_array;
  const struct rd_chunk *inside = &decoding->inside;
  if (first + 1 >= chain->n || chain->codecs[first + 1].id != RD_CODEC_BLOSC
      || chain->codecs[first].id != RD_CODEC_BYTES
      || is_swapped (&chain->codecs[first], &inside->type))
    return undo_rest (decoding, left, view);
  RD_TRY (undo_codecs (decoding, first + 2, &left));
  struct rd_bytes *bytes = &decoding->bytes;
  struct rd_buffer *out = other_stage (decoding->scratch, bytes->data);
  RD_TRY (rd_blosc_decode_shuffled (decoding->scratch, *bytes,
                                    decoding->extents[first],
                                    inside->type.item_nbytes, out,
                                    &view->shuffled, &view->block));
  if (view->shuffled)
    return RADIO_OK;
  bytes->data = out->data;
  bytes->nbytes = out->nbytes;
  return undo_rest (decoding, first + 1, view);
}

static enum radio_status
decode (const struct rd_chain *chain, const struct rd_chunk *chunk,
        struct rd_scratch *scratch, struct rd_bytes encoded, bool shuffled,
        struct rd_view *view)
{
  struct decoding decoding = { .chain = chain, .scratch = scratch,
                               .bytes = encoded };
  const struct rd_chunk *inside = &decoding.inside;
  begin_decoding (&decoding, chunk);
  view->data = NULL;
  view->swapped = view->shuffled = false;
  RD_TRY ((shuffled ? undo_blosc : undo_rest) (&decoding, chain->n, view));
  if (!rd_c_strides (inside->rank, inside->shape, inside->type.item_nbytes,
                     view->strides))
    return rd_fail (RADIO_ERROR_FORMAT, "a chunk of %" PRIu64 " bytes has "
                    "no strides", rd_chunk_nbytes (inside));
  rd_transpose_strides (chain, chunk->rank, view->strides);
  return RADIO_OK;
}

enum radio_status
rd_chain_decode (const struct rd_chain *chain, const struct rd_chunk *chunk,
                 struct rd_scratch *scratch, const void *encoded,
                 size_t nbytes, struct rd_view *view)
{
  const struct rd_bytes bytes = { encoded, nbytes };
  return decode (chain, chunk, scratch, bytes, false, view);
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
    return rd_crc32c_strip (&bytes);
  return rd_chain_decode (chain, chunk, scratch, encoded, nbytes, &view);
}

enum radio_status
rd_chain_decode_shuffled (const struct rd_chain *chain,
                          const struct rd_chunk *chunk,
                          struct rd_scratch *scratch, const void *encoded,
                          size_t nbytes, struct rd_view *view)
{
  const struct rd_bytes bytes = { encoded, nbytes };
  return decode (chain, chunk, scratch, bytes, true, view);
}

/* Lay the elements out as the bytes codec wants them.  *bytes are the
 * elements themselves when that is what they are already. */
static enum radio_status
encode_elements (const struct rd_chain *chain, const struct rd_chunk *encoded,
                 struct rd_scratch *scratch, const int64_t *strides,
                 struct rd_bytes *bytes)
{
  const struct rd_codec *codec = &chain->codecs[chain->n_array];
  bool swapped = encoded->type.unit_nbytes > 1
    && codec->u.bytes.big_endian != MACHINE_IS_BIG_ENDIAN;
  if (chain->n_array == 0 && !swapped)
    return RADIO_OK;

  struct rd_buffer *out = &scratch->stages[0];
  RD_TRY (rd_codec_reserve (out, bytes->nbytes));
  struct rd_copy copy = { .rank = encoded->rank, .from = bytes->data,
                          .from_type = encoded->type,
                          .from_swapped = swapped, .to = out->data,
                          .to_dtype = RADIO_STORED };
  memcpy (copy.shape, encoded->shape, sizeof copy.shape);
  memcpy (copy.from_strides, strides, sizeof copy.from_strides);
  if (!rd_c_strides (encoded->rank, encoded->shape,
                     encoded->type.item_nbytes, copy.to_strides))
    return rd_fail_memory (bytes->nbytes);
  RD_TRY (rd_copy_run (&copy));
  out->nbytes = bytes->nbytes;
  bytes->data = out->data;
  return RADIO_OK;
}

/* The strides that the encoded axes have in a C-order chunk. */
static bool
encoded_strides (const struct rd_chain *chain, const struct rd_chunk *chunk,
                 int64_t *strides)
{
  if (!rd_c_strides (chunk->rank, chunk->shape, chunk->type.item_nbytes,
                     strides))
    return false;
  for (size_t i = 0; i < chain->n_array; i++) {
    int64_t input[RADIO_MAX_RANK];
    memcpy (input, strides, chunk->rank * sizeof input[0]);
    for (size_t k = 0; k < chunk->rank; k++)
      strides[k] = input[chain->codecs[i].u.transpose.order[k]];
  }
  return true;
}

static enum radio_status
encode_array (const struct rd_chain *chain, const struct rd_chunk *chunk,
              struct rd_scratch *scratch, struct rd_bytes *bytes)
{
  const struct rd_codec *codec = &chain->codecs[chain->n_array];
  struct rd_chunk encoded;
  int64_t strides[RADIO_MAX_RANK] = { 0 };
  rd_transpose_shape (chain, chunk, &encoded);
  if (!encoded_strides (chain, chunk, strides))
    return rd_fail_memory (bytes->nbytes);
  if (codec->id == RD_CODEC_BYTES)
    return encode_elements (chain, &encoded, scratch, strides, bytes);

  struct rd_buffer *out = &scratch->stages[0];
  out->nbytes = 0;
  RD_TRY (rd_sharding_encode (codec, &encoded, scratch, bytes->data, strides,
                              out));
  bytes->data = out->data;
  bytes->nbytes = out->nbytes;
  return RADIO_OK;
}

/* Append the checksum, in place when the bytes are in a stage already. */
static enum radio_status
encode_crc32c (struct rd_scratch *scratch, struct rd_bytes *bytes)
{
  struct rd_buffer *out = other_stage (scratch, bytes->data);
  struct rd_buffer *holder = out == &scratch->stages[0] ? out + 1 : out - 1;
  if (bytes->data == holder->data)
    out = holder;
  else {
    out->nbytes = 0;
    RD_TRY (rd_buffer_reserve (out, bytes->nbytes + 4));
    RD_TRY (rd_buffer_append (out, bytes->data, bytes->nbytes));
  }
  RD_TRY (rd_crc32c_append (out));
  bytes->data = out->data;
  bytes->nbytes = out->nbytes;
  return RADIO_OK;
}

static enum radio_status
encode_bytes (const struct rd_codec *codec, struct rd_scratch *scratch,
              struct rd_bytes *bytes)
{
  if (codec->id == RD_CODEC_CRC32C)
    return encode_crc32c (scratch, bytes);
  struct rd_buffer *out = other_stage (scratch, bytes->data);
  switch (codec->id) {
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

  /* The stage that holds the result changes places with out. */
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
