/* SPDX-License-Identifier: MIT */
/* The fault wrapper without a fault keeps the contract of every store, also in
 * front of a store whose reads complete later. */
#include <config.h>

#include "tests/io/deferred.h"
#include "tests/io/fault.h"
#include "tests/io/conformance.h"
#include "tests/io/place.h"

static enum radio_status
make (void **place, struct rd_io **io)
{
  static const struct rd_fault_plan no_fault = { 0 };
  struct rd_io *inner, *deferred;
  *place = place_new ();
  RD_TRY (rd_io_open (*place, false, &inner));
  RD_TRY (rd_io_deferred_open (inner, 3, &deferred));
  return rd_io_fault_open (deferred, &no_fault, io);
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
  const struct conformance_store store = { "fault-posix", make, unmake };
  return run_conformance (&store);
}
