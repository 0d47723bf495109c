/* SPDX-License-Identifier: MIT */
/* The zstd codec (zarr-extensions).  One call takes any number of frames,
 * with their content size or, as streaming writers leave them, without; and
 * in one call zstd needs no window, whatever a frame's header claims. */
#include <config.h>

#include <zstd_errors.h>

#include "src/base/error.h"
#include "profiler/counters.h"
#include "src/codec/codec.h"
#include "src/codec/contexts.h"

static enum radio_status
fail_decode (size_t result, struct rd_extent extent)
{
  switch (ZSTD_getErrorCode (result)) {
  case ZSTD_error_dstSize_tooSmall:
    return rd_codec_fail_longer ("zstd", extent);
  case ZSTD_error_checksum_wrong:
    return rd_fail (RADIO_ERROR_CHECKSUM,
                    "zstd: the frame's checksum does not match");
  case ZSTD_error_memory_allocation:
    return rd_fail (RADIO_ERROR_MEMORY, "zstd: out of memory");
  default:
    return rd_fail (RADIO_ERROR_FORMAT, "zstd: damaged: %s",
                    ZSTD_getErrorName (result));
  }
}

enum radio_status
rd_zstd_decode (struct rd_scratch *scratch, struct rd_bytes in,
                struct rd_extent extent, struct rd_buffer *out)
{
  ZSTD_DCtx *decoder = rd_contexts_zstd_decoder (scratch);
  if (!decoder)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_codec_reserve (out, extent.nbytes));
  size_t result = ZSTD_decompressDCtx (decoder, out->data,
                                       (size_t) extent.nbytes, in.data,
                                       in.nbytes);
  if (ZSTD_isError (result))
    return fail_decode (result, extent);
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
