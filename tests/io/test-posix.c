/* SPDX-License-Identifier: MIT */
/* The store on disk keeps the contract of every store. */
#include <config.h>

#include "tests/io/conformance.h"
#include "tests/io/place.h"

static enum radio_status
make (void **place, struct rd_io **io)
{
  *place = place_new ();
  return rd_io_open (*place, false, io);
}

static void
unmake (void *place)
{
  place_remove (place);
}

int
main (void)
{
  const struct conformance_store store = { "posix", make, unmake };
  return run_conformance (&store);
}
