/* SPDX-License-Identifier: MIT */
/* The store in memory keeps the contract of every store. */
#include <config.h>

#include "tests/io/conformance.h"

static enum radio_status
make (void **place, struct rd_io **io)
{
  *place = NULL;
  return rd_io_open ("memory:", false, io);
}

int
main (void)
{
  const struct conformance_store store = { "memory", make, NULL };
  return run_conformance (&store);
}
