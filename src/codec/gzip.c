/* SPDX-License-Identifier: MIT */
/* The gzip codec: one member or several, one after another (RFC 1952). */
#include <config.h>

#include "src/base/error.h"
#include "profiler/counters.h"
#include "src/codec/codec.h"
#include "src/codec/contexts.h"

static enum radio_status
fail_decode (enum libdeflate_result result, size_t at,
             struct rd_extent extent)
{
  if (result == LIBDEFLATE_INSUFFICIENT_SPACE)
    return rd_codec_fail_longer ("gzip", extent);
  return rd_fail (RADIO_ERROR_FORMAT,
                  "gzip: the member at byte %zu is damaged or cut short", at);
}

enum radio_status
rd_gzip_decode (struct rd_scratch *scratch, struct rd_bytes in,
                struct rd_extent extent, struct rd_buffer *out)
{
  struct libdeflate_decompressor *inflater = rd_contexts_inflater (scratch);
  if (!inflater)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_codec_reserve (out, extent.nbytes));
  size_t at = 0;
  do {
    size_t taken, made;
    enum libdeflate_result result = libdeflate_gzip_decompress_ex (
      inflater, in.data + at, in.nbytes - at, out->data + out->nbytes,
      (size_t) extent.nbytes - out->nbytes, &taken, &made);
    if (result != LIBDEFLATE_SUCCESS)
      return fail_decode (result, at, extent);
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
