/* SPDX-License-Identifier: MIT */
/* The layouts that the benchmark measures: one image in one or several
 * layouts, and the samples of each. */
#ifndef RD_BENCH_LAYOUT_H
#define RD_BENCH_LAYOUT_H

#include "tools/bench/destination.h"
#include "tools/bench/rows.h"
#include "tools/bench/sample.h"
#include "tools/profile/subject.h"

/* Bytes of tiles decoded per second, the most of all rounds. */
struct rd_decode_rates {
  double whole;               /* all of each tile is read */
  double thin;                /* little of each tile is read */
};

struct rd_layout {
  const char *tiling, *codec; /* as asked for; NULL: the default, or of a
                                 volume that was there already */
  unsigned nthreads;          /* that work on it */
  struct radio_pipeline *drawn;       /* of its volume alone; or NULL */
  struct rd_subject subject;
  struct radio_store *scratch;        /* where its image is ingested to */
  char *sources[2];           /* its volume as .nii and .nii.gz; allocated */
  char *store_name;           /* of a temporary one; allocated */
  uint64_t raw_nbytes, stored_nbytes;
  char **paths;               /* the volume that the loader reads; allocated */
  size_t npaths;
  struct rd_sample samples[RD_NROWS];
  struct rd_decode_rates decode_one, decode_all;      /* by one thread alone,
                                                         by all together */
};

#define RD_MAX_LIST 8

struct rd_list {
  char *at[RD_MAX_LIST];      /* allocated */
  size_t n;
};

/* Split the value of an option, "balanced,axial,32,32,8" or "small,medium", or
 * numbers of threads, "1,2,4", and add them to the list; three numbers are one
 * tiling, and text from '[' is one codec.  False after an error. */
bool rd_list_add (struct rd_args *args, struct rd_list *words);
void rd_list_clear (struct rd_list *words);

struct rd_counts {
  unsigned at[RD_MAX_LIST];
  size_t n;
};

bool rd_counts_parse (struct rd_args *args, struct rd_counts *counts);

/* A run of the benchmark. */
struct rd_bench {
  bool chosen[RD_NROWS];
  uint64_t nrounds, nruns, nwarm, seed;       /* nruns 0: by the clock */
  struct rd_destination destination;
  struct rd_list tilings, codecs;
  struct rd_counts threads;   /* none: one for each processor */
  uint64_t shape[3];          /* of the phantom: z, y, x */
  bool phantom;               /* --phantom */
  const struct rd_args *args;
  const char *file;           /* the user's image; NULL: none */
  char *const *volumes;       /* the user's volumes */
  size_t nvolumes;

  char *temp;                 /* allocated */
  struct rd_layout *layouts;  /* allocated */
  size_t nlayouts;
  bool warned_cold;           /* that files stayed in the page cache */
};

/* Makes a volume of an image or, without one, of a phantom; Ctrl-C ends it.
 * *nbytes are the image's; may be NULL.  Returns an exit status; prints
 * errors. */
int rd_bench_make_volume (struct radio_store *store, const char *file,
                          const struct rd_subject_options *options,
                          const char *path, uint64_t *nbytes);

bool rd_is_compressed (const char *file);

/* True if an operand is an image, not a volume: by its name, if it exists or
 * no store was given that could contain it. */
bool rd_is_bench_image (const struct rd_args *args, const char *operand);

/* Makes or opens all layouts.  Returns an exit status; prints errors; to be
 * closed in any case. */
int rd_layouts_open (struct rd_bench *bench);
void rd_layouts_close (struct rd_bench *bench);

/* The image as a file, compressed or not: the user's own, or one made of the
 * layout's volume.  NULL after an error. */
const char *rd_bench_source (struct rd_bench *bench,
                             struct rd_layout *layout, bool compressed);

/* The title of a layout: "balanced medium, 2 threads", with the name of the
 * volume where there are several.  Allocated; NULL after an error. */
char *rd_layout_title (const struct rd_bench *bench,
                       const struct rd_layout *layout);

#endif /* RD_BENCH_LAYOUT_H */
