/* SPDX-License-Identifier: MIT */
/* How much memory reads and ingest take.  Each is done in a process of its
 * own; what another process needs that only has the same destination is
 * told beside it. */
#ifndef RD_BENCH_PEAK_H
#define RD_BENCH_PEAK_H

#include "tools/bench/layout.h"

/* What was measured of one row. */
struct rd_peak {
  bool measured;              /* false: its box is larger than the volume */
  uint64_t nbytes;            /* of the destination, or of the image */
  uint64_t peak_nbytes;       /* resident in the process that did it */
  uint64_t bare_nbytes;       /* in the one that did nothing */
};

struct rd_peaks {
  const struct rd_args *args;
  struct rd_subject_options options;  /* of what is made */
  bool chosen[RD_NROWS];
  uint64_t nruns, seed;
  const char *file;           /* the user's image; NULL: none */
  const char *volume;         /* the user's volume; NULL: one is made */

  char *temp, *store;         /* of what is made; allocated */
  struct rd_peak rows[RD_NROWS];
};

/* Whether a row can be measured: one that reads a part of a volume into
 * memory, or ingests the very file that there is. */
bool rd_peaks_can (const struct rd_peaks *peaks, const struct rd_row *row);

/* Measure the rows that are chosen.  Returns an exit status, after
 * complaining; to be cleared in any case. */
int rd_peaks_measure (struct rd_peaks *peaks);
void rd_peaks_clear (struct rd_peaks *peaks);

/* What was resident beside the destination. */
uint64_t rd_peak_beside (const struct rd_peak *peak);

#endif /* RD_BENCH_PEAK_H */
