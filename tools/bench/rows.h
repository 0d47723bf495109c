/* SPDX-License-Identifier: MIT */
/* The rows of the benchmark: operations of users on a volume, each with a
 * name, and the places of its runs. */
#ifndef RD_BENCH_ROWS_H
#define RD_BENCH_ROWS_H

#include <radio/radio.h>

#include "tools/options.h"

enum rd_row_kind {
  RD_ROW_FULL,                /* the whole volume */
  RD_ROW_PLANE,               /* a plane at random; which: enum radio_plane */
  RD_ROW_BOX,                 /* a box at random; which: its size each way */
  RD_ROW_SCROLL,              /* axial planes one after the other */
  RD_ROW_LOADER,              /* whole volumes of a collection, at random */
  RD_ROW_OPEN_STORE,          /* a context, the store and the volume */
  RD_ROW_OPEN,                /* the volume, in a store that is open */
  RD_ROW_FIRST,               /* the same, and a plane */
  RD_ROW_COLD,                /* store, volume and a plane, the volume's files
                                 dropped from memory before */
  RD_ROW_EXPORT,              /* the volume into a .nii file */
  RD_ROW_INGEST,              /* a file into a store; which: is compressed */
};

#define RD_NROWS 16

struct rd_row {
  const char *name;           /* "box64" */
  enum rd_row_kind kind;
  unsigned which;
};

extern const struct rd_row rd_rows[RD_NROWS];

/* Planes that one run of the scrolling row reads. */
#define RD_SCROLL_NPLANES 32

/* Parses "full,axial,box64"; false after a usage error. */
bool rd_rows_parse (struct rd_args *args, bool chosen[RD_NROWS]);

/* True if a row reads voxels of a volume into memory. */
bool rd_row_reads (const struct rd_row *row);

/* The state of rd_random for run i of a row: the same places in every store
 * and for any selection of rows. */
uint64_t rd_row_state (size_t row, uint64_t seed, uint64_t i);

#endif /* RD_BENCH_ROWS_H */
