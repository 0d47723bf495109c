/* SPDX-License-Identifier: MIT */
/* Reads of gzip files whose members say how long they are. */
#ifndef RD_MEMBERS_H
#define RD_MEMBERS_H

#include "src/volume/files/inflate.h"

/* Inflates what is before the runs and was not reached yet by all threads, if
 * it is in members that say how long they are.  *first and *end are the runs
 * that are read then. */
enum radio_status rd_members_read (struct rd_gunzip *gunzip,
                                   struct rd_tile_read *read,
                                   const struct rd_linear_run *runs, size_t n,
                                   size_t *first, size_t *end)
  RADIO_USE_RESULT;

#endif /* RD_MEMBERS_H */
