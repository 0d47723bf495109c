/* SPDX-License-Identifier: MIT */
/* A store in memory whose reads complete later keeps the contract of every
 * store. */
#include <config.h>

#include "tests/io/deferred.h"
#include "tests/io/conformance.h"
#include "tests/io/place.h"

static enum radio_status
make (void **place, struct rd_io **io)
{
  struct rd_io *inner;
  *place = NULL;
  RD_TRY (rd_io_open ("memory:", false, &inner));
  return rd_io_deferred_open (inner, 1, io);
}

static void
unmake (void *place)
{
  if (place)
    place_remove (place);
}

int
main (void)
{
  const struct conformance_store store = { "deferred-memory", make, unmake };
  return run_conformance (&store);
}
