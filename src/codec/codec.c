/* SPDX-License-Identifier: MIT */
/* The codecs zstd, gzip and transpose, and the functions that all codecs
 * use. */
#include <config.h>

#include <inttypes.h>
#include <libdeflate.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "profiler/counters.h"
#include "src/codec/codec.h"

uint64_t
rd_chunk_nbytes (const struct rd_chunk *chunk)
{
  uint64_t nbytes = chunk->type.item_nbytes;
  for (size_t i = 0; i < chunk->rank; i++)
    nbytes *= chunk->shape[i];
  return nbytes;
}

static bool
are_strings_fill (const struct rd_chunk *chunk, const unsigned char *elements)
{
  const unsigned char *end = elements + rd_chunk_nbytes (chunk);
  for (; elements < end; elements += sizeof (struct rd_string))
    if (!rd_string_equal (elements, chunk->fill))
      return false;
  return true;
}

bool
rd_chunk_is_fill (const struct rd_chunk *chunk, const void *elements)
{
  if (chunk->type.dtype == RADIO_STRING)
    return are_strings_fill (chunk, elements);
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
                       struct rd_decoded_size extent)
{
  if (nbytes == extent.nbytes || (!extent.exact && nbytes < extent.nbytes))
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_FORMAT, "%s: decodes to %zu bytes instead of "
                  "%s%" PRIu64, codec, nbytes, extent.exact ? "" : "at most ",
                  extent.nbytes);
}

/* The room that a decoder begins with. */
static uint64_t
first_room (struct rd_decoded_size extent, size_t in_nbytes)
{
  uint64_t usual = rd_add_sat (rd_mul_sat (in_nbytes, 4), 1 << 16);
  return extent.grows ? rd_min_u64 (usual, extent.nbytes) : extent.nbytes;
}

/* Returns more room, up to the extent. */
static uint64_t
next_room (struct rd_decoded_size extent, uint64_t room)
{
  return rd_min_u64 (rd_mul_sat (room, 2), extent.nbytes);
}

/* Fails since a codec decodes to more than its extent. */
static enum radio_status
fail_longer (const char *codec, struct rd_decoded_size extent)
{
  if (extent.grows)
    return rd_fail (RADIO_ERROR_LIMIT, "%s: decodes to more than %" PRIu64
                    " bytes of text, a part of the memory limit; raise it by "
                    "--memory (memory_limit_nbytes in C, memory in Python)",
                    codec, extent.nbytes);
  return rd_fail (RADIO_ERROR_FORMAT, "%s: decodes to more than the %s%"
                  PRIu64 " bytes of its chunk", codec,
                  extent.exact ? "" : "possible ", extent.nbytes);
}

uint64_t
rd_codec_bound (const struct rd_codec *codec, uint64_t nbytes)
{
  /* Compressors may add an eighth and a header. */
  return rd_add_sat (nbytes, codec->id == RD_CODEC_CRC32C
                             ? 4 : nbytes / 8 + 1024);
}

/* zstd (zarr-extensions).  One call decodes any number of frames, with their
 * content size or, as streaming writers leave them, without; and one call
 * needs no window, whatever a frame's header claims. */
enum radio_status
rd_zstd_decode (struct rd_scratch *scratch, struct rd_bytes in,
                struct rd_decoded_size extent, struct rd_buffer *out)
{
  ZSTD_DCtx *decoder = rd_contexts_zstd_decoder (scratch);
  if (!decoder)
    return RADIO_ERROR_MEMORY;
  uint64_t room = first_room (extent, in.nbytes);
  size_t result;
  for (;; room = next_room (extent, room)) {
    RD_TRY (rd_codec_reserve (out, room));
    result = ZSTD_decompressDCtx (decoder, out->data, (size_t) room, in.data,
                                  in.nbytes);
    if (ZSTD_getErrorCode (result) != ZSTD_error_dstSize_tooSmall
        || room == extent.nbytes)
      break;
  }
  switch (ZSTD_getErrorCode (result)) {
  case ZSTD_error_no_error:
    break;
  case ZSTD_error_dstSize_tooSmall:
    return fail_longer ("zstd", extent);
  case ZSTD_error_checksum_wrong:
    return rd_fail (RADIO_ERROR_CHECKSUM,
                    "zstd: the frame's checksum does not match");
  case ZSTD_error_memory_allocation:
    return rd_fail (RADIO_ERROR_MEMORY, "zstd: out of memory");
  default:
    return rd_fail (RADIO_ERROR_FORMAT, "zstd: damaged: %s",
                    ZSTD_getErrorName (result));
  }
  out->nbytes = result;
  return rd_codec_check_length ("zstd", result, extent);
}

enum radio_status
rd_zstd_encode (const struct rd_codec *codec, struct rd_scratch *scratch,
                struct rd_bytes in, struct rd_buffer *out)
{
  RD_SCOPE ("zstd", RD_IN_ENCODE);
  ZSTD_CCtx *encoder = rd_contexts_zstd_encoder (scratch);
  if (!encoder)
    return RADIO_ERROR_MEMORY;
  size_t room = ZSTD_compressBound (in.nbytes);
  RD_TRY (rd_codec_reserve (out, room));
  ZSTD_CCtx_reset (encoder, ZSTD_reset_session_and_parameters);
  ZSTD_CCtx_setParameter (encoder, ZSTD_c_compressionLevel,
                          codec->u.zstd.level);
  ZSTD_CCtx_setParameter (encoder, ZSTD_c_checksumFlag,
                          codec->u.zstd.checksum);
  size_t result = ZSTD_compress2 (encoder, out->data, room, in.data,
                                  in.nbytes);
  if (ZSTD_isError (result))
    return rd_fail (RADIO_ERROR_MEMORY, "zstd: cannot encode %zu bytes: %s",
                    in.nbytes, ZSTD_getErrorName (result));
  out->nbytes = result;
  return RADIO_OK;
}

/* gzip: one member or several, one after another (RFC 1952). */
enum radio_status
rd_gzip_decode (struct rd_scratch *scratch, struct rd_bytes in,
                struct rd_decoded_size extent, struct rd_buffer *out)
{
  struct libdeflate_decompressor *inflater = rd_contexts_inflater (scratch);
  if (!inflater)
    return RADIO_ERROR_MEMORY;
  uint64_t room = first_room (extent, in.nbytes);
  RD_TRY (rd_codec_reserve (out, room));
  size_t at = 0;
  do {
    size_t taken, made;
    enum libdeflate_result result = libdeflate_gzip_decompress_ex (
      inflater, in.data + at, in.nbytes - at, out->data + out->nbytes,
      (size_t) room - out->nbytes, &taken, &made);
    if (result == LIBDEFLATE_INSUFFICIENT_SPACE) {
      if (room == extent.nbytes)
        return fail_longer ("gzip", extent);
      room = next_room (extent, room);
      RD_TRY (rd_buffer_reserve (out, (size_t) room));
      continue;
    }
    if (result != LIBDEFLATE_SUCCESS)
      return rd_fail (RADIO_ERROR_FORMAT, "gzip: the member at byte %zu is "
                      "damaged or cut short", at);
    at += taken;
    out->nbytes += made;
  } while (at < in.nbytes);
  return rd_codec_check_length ("gzip", out->nbytes, extent);
}

enum radio_status
rd_gzip_encode (const struct rd_codec *codec, struct rd_scratch *scratch,
                struct rd_bytes in, struct rd_buffer *out)
{
  RD_SCOPE ("gzip", RD_IN_ENCODE);
  struct libdeflate_compressor *deflater =
    rd_contexts_deflater (scratch, codec->u.gzip.level);
  if (!deflater)
    return RADIO_ERROR_MEMORY;
  size_t room = libdeflate_gzip_compress_bound (deflater, in.nbytes);
  RD_TRY (rd_codec_reserve (out, room));
  out->nbytes = libdeflate_gzip_compress (deflater, in.data, in.nbytes,
                                          out->data, room);
  if (out->nbytes == 0)
    return rd_fail (RADIO_ERROR_MEMORY, "gzip: cannot encode %zu bytes",
                    in.nbytes);
  return RADIO_OK;
}

/* transpose: encoded axis i is input axis order[i].  It moves nothing: decoding
 * changes the view's strides, and encoding is part of the copy that also swaps
 * bytes. */
void
rd_transpose_shape (const struct rd_chain *chain,
                    const struct rd_chunk *chunk, struct rd_chunk *encoded)
{
  *encoded = *chunk;
  for (size_t i = 0; i < chain->n_array; i++) {
    uint64_t shape[RADIO_MAX_RANK];
    memcpy (shape, encoded->shape, sizeof shape);
    for (size_t k = 0; k < chunk->rank; k++)
      encoded->shape[k] = shape[chain->codecs[i].u.transpose.order[k]];
  }
}
