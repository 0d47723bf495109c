/* SPDX-License-Identifier: MIT */
/* The codec crc32c: a tile's checksum, verified on every read. */
#include <config.h>

#include <inttypes.h>

#include "src/base/crc32c.h"
#include "src/base/error.h"
#include "profiler/counters.h"
#include "src/codec/codec.h"

/* crc32c: four bytes after the data, little endian (core codecs v1.0; the
 * polynomial of RFC 3720). */
enum radio_status
rd_crc32c_verify (struct rd_bytes *in)
{
  if (in->nbytes < 4)
    return rd_fail (RADIO_ERROR_FORMAT, "crc32c: %zu bytes are too few to "
                    "hold a checksum", in->nbytes);
  size_t nbytes = in->nbytes - 4;
  const unsigned char *end = in->data + nbytes;
  uint32_t stored = (uint32_t) end[0] | (uint32_t) end[1] << 8
    | (uint32_t) end[2] << 16 | (uint32_t) end[3] << 24;
  uint32_t actual = rd_crc32c (0, in->data, nbytes);
  if (stored != actual)
    return rd_fail (RADIO_ERROR_CHECKSUM, "crc32c: the checksum of %zu bytes "
                    "is %08" PRIx32 ", not the stored %08" PRIx32, nbytes,
                    actual, stored);
  in->nbytes = nbytes;
  return RADIO_OK;
}

enum radio_status
rd_crc32c_append (struct rd_buffer *buffer)
{
  RD_SCOPE ("crc32c", RD_IN_ENCODE);
  uint32_t crc = rd_crc32c (0, buffer->data, buffer->nbytes);
  unsigned char bytes[4] = {
    (unsigned char) crc, (unsigned char) (crc >> 8),
    (unsigned char) (crc >> 16), (unsigned char) (crc >> 24),
  };
  return rd_buffer_append (buffer, bytes, sizeof bytes);
}
