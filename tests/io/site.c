/* SPDX-License-Identifier: MIT */
/* Stores in folders of their own. */
#include <config.h>

#include "tests/io/site.h"

int
site_set_up (void **state)
{
  struct site *site = calloc (1, sizeof *site);
  site->place = place_new ();
  *state = site;
  site->io = place_open (site->place);
  return 0;
}

int
site_tear_down (void **state)
{
  struct site *site = *state;
  rd_io_close (site->io);
  place_remove (site->place);
  free (site);
  return 0;
}
