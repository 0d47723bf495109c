/* SPDX-License-Identifier: MIT */
/* The recorder's copies of names: of sites, counters and keys of texts.  The
 * library that has the originals may be unloaded while the recorder runs. */
#ifndef RD_RECORD_NAMES_H
#define RD_RECORD_NAMES_H

#include <stdbool.h>

#include <radio/profile.h>

#include "profiler/record/arena.h"

/* The most bytes of a name.  A longer one is cut at a whole character. */
#define RD_NAME_NBYTES 4096

struct rd_names;

/* In this arena, or the heap.  NULL without memory. */
struct rd_names *rd_names_new (struct rd_arena *arena);

/* NULL is legal. */
void rd_names_free (struct rd_names *names);

/* The copy of a text, the same one for equal texts; NULL is "".  Bytes that are
 * not UTF-8 become U+FFFD.  NULL without memory.
 * Thread-safe; takes a lock, so it is for new paths and counters, not for each
 * run. */
const char *rd_names_keep (struct rd_names *names, const char *text);

/* Copies the names of a counter or a site in place.  False without memory. */
bool rd_names_keep_counter (struct rd_names *names,
                            struct radio_counter *counter);
bool rd_names_keep_site (struct rd_names *names, struct radio_site *site);

#endif /* RD_RECORD_NAMES_H */
