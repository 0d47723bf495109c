/* SPDX-License-Identifier: MIT */
/* What the benchmark measures: one image, laid out in one or several ways,
 * and what was measured of each. */
#ifndef RD_BENCH_LAYOUT_H
#define RD_BENCH_LAYOUT_H

#include "tools/bench/destination.h"
#include "tools/bench/rows.h"
#include "tools/profile/subject.h"

/* What was measured of one row of one layout. */
struct rd_sample {
  double *seconds;            /* of one run each, in the order measured */
  size_t n, capacity;
  size_t nperround;           /* runs of a round; 0 before the first */
  double sum_s;
  uint64_t sum_nbytes;        /* delivered by all runs */
  uint64_t counted_nbytes;    /* delivered by the runs that were recorded */
  uint64_t decoded_nbytes, fetched_nbytes, ntiles;    /* and their counters */
  const char *skipped;        /* why it is not measured; or NULL */
};

/* Bytes of tiles that are decoded in a second, the most of all rounds. */
struct rd_decode_rates {
  double whole;               /* all of each tile is wanted */
  double thin;                /* hardly anything of it */
};

struct rd_layout {
  const char *tiling, *codec; /* as asked for; NULL: the default, or of a
                                 volume that was there already */
  unsigned nthreads;          /* that work on it */
  struct rd_subject subject;
  struct radio_store *scratch;        /* where its image is ingested to */
  char *sources[2];           /* its volume as .nii and .nii.gz; allocated */
  char *store_name;           /* of a temporary one; allocated */
  uint64_t raw_nbytes, stored_nbytes;
  char **paths;               /* what the loader reads; allocated */
  size_t npaths;
  struct rd_sample samples[RD_NROWS];
  struct rd_decode_rates decode_one, decode_all;      /* by one thread alone,
                                                         by all together */
};

#define RD_MAX_LAYOUTS 16
#define RD_MAX_WORDS 8

struct rd_words {
  char *at[RD_MAX_WORDS];     /* allocated */
  size_t n;
};

/* Split "balanced,axial,32,32,8" or "small,medium", adding to what is there;
 * three numbers are one tiling, and what starts with '[' is one codec.
 * False without memory or room, after telling. */
bool rd_words_add (struct rd_args *args, const char *option,
                   struct rd_words *words);
void rd_words_clear (struct rd_words *words);

struct rd_counts {
  unsigned at[RD_MAX_WORDS];
  size_t n;
};

/* Split "1,2,4", numbers of threads; the same. */
bool rd_counts_add (struct rd_args *args, const char *option,
                    struct rd_counts *counts);

/* As many threads as a context has by itself: one for each processor. */
unsigned rd_default_nthreads (void);

/* Everything that a run of the benchmark knows. */
struct rd_bench {
  bool chosen[RD_NROWS];
  bool json;
  uint64_t nrounds, nruns, nwarm, seed;       /* nruns 0: by the clock */
  struct rd_destination destination;
  struct rd_words tilings, codecs;
  struct rd_counts threads;   /* none: one for each processor */
  uint64_t shape[3];          /* of the phantom: z, y, x */
  bool phantom;               /* asked for */
  const struct rd_args *args;
  const char *file;           /* the user's image; NULL: none */
  char *const *volumes;       /* the user's volumes */
  size_t nvolumes;

  char *temp;                 /* allocated */
  struct rd_layout *layouts;  /* allocated */
  size_t nlayouts;
  bool told_cold;             /* that files did not leave memory */
};

/* Make a volume of an image or, without one, of the phantom that the options
 * tell; Ctrl-C ends it.  *nbytes are the image's; may be NULL.  Returns an
 * exit status, after complaining. */
int rd_bench_make_volume (struct radio_store *store, const char *file,
                          const struct rd_subject_options *options,
                          const char *path, uint64_t *nbytes);

bool rd_is_compressed (const char *file);

/* Whether an operand is an image, not a volume: it is called like one, and
 * it is there or no store was named that could have it. */
bool rd_is_bench_image (const struct rd_args *args, const char *operand);

/* Make or open all layouts.  Returns an exit status, after complaining; to
 * be closed in any case. */
int rd_layouts_open (struct rd_bench *bench);
void rd_layouts_close (struct rd_bench *bench);

/* The image as a file that is compressed or not: the user's own, or one that
 * is made of the layout's volume.  NULL after complaining. */
const char *rd_bench_source (struct rd_bench *bench,
                             struct rd_layout *layout, bool compressed);

/* What tells a layout from the others: "balanced medium, 2 threads", with
 * the name of the volume where there are several.  Allocated; NULL after
 * complaining. */
char *rd_layout_title (const struct rd_bench *bench,
                       const struct rd_layout *layout);

#endif /* RD_BENCH_LAYOUT_H */
