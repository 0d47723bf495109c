/* SPDX-License-Identifier: MIT */
/* Ingesting files, several at a time, and telling of each in their order. */
#ifndef RD_INGEST_FILES_H
#define RD_INGEST_FILES_H

#include <signal.h>

#include "tools/files.h"

struct rd_ingest_files {
  /* What to do.  options' callbacks are not used. */
  struct radio_store *store;
  const struct rd_files *files;
  const char *collection;
  struct radio_ingest_options options;
  bool quiet;                         /* print nothing of single volumes */
  unsigned nthreads;                  /* as given; 0: all processors */
  uint64_t memory_nbytes;             /* as given; 0: the default */
  const volatile sig_atomic_t *interrupted_by;  /* not 0: stop */

  /* What became of them. */
  size_t ningested, nskipped, nfailed;
  uint64_t read_nbytes;               /* of the files ingested */
  uint64_t source_nbytes;             /* the same, decompressed */
  uint64_t stored_nbytes;             /* in tiles */
  double seconds;
};

/* Begin with nfailed as it is.  Complains of each file that fails, and goes
 * on unless the disk is full or the user interrupts. */
void rd_ingest_files (struct rd_ingest_files *ingest);

#endif /* RD_INGEST_FILES_H */
