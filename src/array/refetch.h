/* SPDX-License-Identifier: MIT */
/* Bytes that came over a network and fail their checks are requested again:
 * they may have changed on the way.  What a store really has reads alike. */
#ifndef RD_REFETCH_H
#define RD_REFETCH_H

#include "io/io.h"

/* The requests for the same bytes so far; zero-filled at first. */
struct rd_refetch {
  unsigned n;
  unsigned nalike;            /* of the last ones */
  uint32_t crc;               /* of these */
  size_t nbytes;
};

/* Called with the status of checking bytes that were read.  Returns true if
 * they are worth another request, which is counted in the profile; else the
 * status stands, with its message. */
bool rd_refetch_is_due (struct rd_refetch *refetch, const struct rd_io *io,
                        enum radio_status status, const void *bytes,
                        size_t nbytes);

#endif /* RD_REFETCH_H */
