/* SPDX-License-Identifier: MIT */
/* Raw deflate streams, by libdeflate. */
#include <config.h>

#include <libdeflate.h>

#include "src/base/deflate.h"
#include "src/base/error.h"

static void
free_compressor (struct libdeflate_compressor **compressor)
{
  if (*compressor)
    libdeflate_free_compressor (*compressor);
}

enum radio_status
rd_deflate (const void *data, size_t nbytes, int level,
            struct rd_buffer *packed)
{
  RD_CLEANUP (free_compressor) struct libdeflate_compressor *compressor =
    libdeflate_alloc_compressor (level);
  if (compressor == NULL)
    return rd_fail_memory (1 << 20);
  size_t room = libdeflate_deflate_compress_bound (compressor, nbytes);
  RD_TRY (rd_buffer_reserve (packed, room));
  packed->nbytes = libdeflate_deflate_compress (compressor, data, nbytes,
                                                packed->data, room);
  return RADIO_OK;
}
