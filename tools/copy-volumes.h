/* SPDX-License-Identifier: MIT */
/* Copying a list of volumes into a store, several at a time, with their
 * lines, complaints and the progress bar. */
#ifndef RD_COPY_VOLUMES_H
#define RD_COPY_VOLUMES_H

#include <signal.h>

#include "tools/tool.h"

/* A volume and what it will be called. */
struct rd_copy_item {
  struct radio_store *from;           /* not owned */
  char *path, *to_path;
};

struct rd_copy_volumes {
  /* What to do.  The callback of options is not used. */
  struct rd_copy_item *items;
  size_t n, capacity;
  struct radio_store *to;
  struct radio_copy_options options;
  bool quiet;                         /* print nothing of single volumes */
  unsigned nthreads;                  /* as given; 0: all processors */
  const volatile sig_atomic_t *interrupted_by;  /* not 0: stop */

  /* What became of them. */
  size_t ncopied, nskipped, nfailed;
  uint64_t sent_nbytes, there_nbytes;
  double seconds;
};

/* Add a volume; to_path NULL: the same as path.  False without memory, after
 * complaining. */
bool rd_copy_add (struct rd_copy_volumes *copy, struct radio_store *from,
                  const char *path, const char *to_path);
void rd_copy_clear (struct rd_copy_volumes *copy);

/* Copy them all.  Complains of each that fails, and goes on unless the disk
 * is full or the user interrupts. */
void rd_copy_volumes (struct rd_copy_volumes *copy);

#endif /* RD_COPY_VOLUMES_H */
