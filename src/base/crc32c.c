/* SPDX-License-Identifier: MIT */
/* CRC-32C by ISA-L, which has it for each machine. */
#include <config.h>

#include <isa-l/crc.h>

#include "src/base/crc32c.h"

/* ISA-L takes the length as an int, and leaves both inversions to its
 * caller. */
uint32_t
rd_crc32c (uint32_t crc, const void *bytes, size_t nbytes)
{
  const size_t piece_nbytes = (size_t) 1 << 30;
  const unsigned char *data = bytes;
  crc = ~crc;
  while (nbytes > 0) {
    size_t n = nbytes < piece_nbytes ? nbytes : piece_nbytes;
    crc = crc32_iscsi ((unsigned char *) data, (int) n, crc);
    data += n;
    nbytes -= n;
  }
  return ~crc;
}
