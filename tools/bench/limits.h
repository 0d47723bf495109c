/* SPDX-License-Identifier: MIT */
/* What the machine itself can do, measured beside the benchmark's rows: a
 * figure alone does not tell whether it is good. */
#ifndef RD_BENCH_LIMITS_H
#define RD_BENCH_LIMITS_H

#include "tools/bench/layout.h"

/* Bytes a second, the most of all rounds; 0: not measured. */
struct rd_limits {
  unsigned nthreads;                  /* the most of any layout */
  double copy_one, copy_all;          /* memcpy: by one thread, by all */
  double touch_one, touch_all;        /* fresh memory, a page of the usual
                                         size after the other */
  double huge_one, huge_all;          /* the same, huge pages asked for */
  double inflate;                     /* one thread, by the faster of... */
  const char *inflated_by;            /* "ISA-L" or "libdeflate" */
};

/* Measure once, and keep what is more than before.  nbytes is the size of
 * the destination whose first touch is measured.  Returns an exit status,
 * after complaining. */
int rd_limits_memory (struct rd_limits *limits, uint64_t nbytes);

/* The rates at which a layout's tiles are decoded out of the page cache into
 * memory that is in a processor's cache: through the public API, by
 * contexts of one thread, in boxes of whole tiles, and in such that touch as
 * many and want little of each. */
int rd_limits_decode (uint64_t seed, struct rd_layout *layout);

/* Seconds that decoding so many bytes of tiles takes at these rates, when
 * so many of them are wanted. */
double rd_limits_decode_s (const struct rd_layout *layout,
                           const struct rd_decode_rates *rates,
                           double decoded_nbytes, double delivered_nbytes);

/* The rate at which a .gz file is inflated, and nothing else, into memory
 * that was touched before; counted in bytes that come out. */
int rd_limits_inflate (struct rd_limits *limits, const char *file,
                       uint64_t nbytes);

/* Do something on n threads at the same time; seconds from the first one's
 * begin to the last one's end.  Each call gets its number, and returns an
 * exit status. */
typedef int rd_gang_fn (void *data, unsigned i);
int rd_gang_run (unsigned n, rd_gang_fn *fn, void *data, double *seconds);

#endif /* RD_BENCH_LIMITS_H */
