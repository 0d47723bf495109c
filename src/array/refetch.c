/* SPDX-License-Identifier: MIT */
/* Deciding whether to request bytes again. */
#include <config.h>

#include "src/base/crc32c.h"
#include "profiler/counters.h"
#include "src/array/refetch.h"

/* As many requests as a failed one is sent. */
#define MAX_REQUESTS 8

/* Bytes that came as often alike are as the store has them.  Without this,
 * each tile of a damaged store would cost all requests. */
#define MAX_ALIKE 3

bool
rd_refetch_is_due (struct rd_refetch *refetch, const struct rd_io *io,
                   enum radio_status status, const void *bytes,
                   size_t nbytes)
{
  bool is_damage = status == RADIO_ERROR_CHECKSUM
                   || status == RADIO_ERROR_FORMAT;
  if (!is_damage || io->ops->is_blocking)
    return false;
  uint32_t crc = rd_crc32c (0, bytes, nbytes);
  bool is_alike = refetch->n > 0 && refetch->crc == crc
                  && refetch->nbytes == nbytes;
  refetch->nalike = is_alike ? refetch->nalike + 1 : 1;
  refetch->crc = crc;
  refetch->nbytes = nbytes;
  if (++refetch->n == MAX_REQUESTS || refetch->nalike == MAX_ALIKE)
    return false;
  RD_COUNT (refetches, 1);
  return true;
}
