/* SPDX-License-Identifier: MIT */
/* Limits of the machine, measured with the rows of the benchmark: a figure
 * alone does not show if it is good. */
#ifndef RD_BENCH_LIMITS_H
#define RD_BENCH_LIMITS_H

#include "tools/bench/layout.h"
#include "tools/json.h"

/* Bytes per second, the most of all rounds; 0: not measured. */
struct rd_limits {
  unsigned nthreads;                  /* the most of any layout */
  double copy_one, copy_all;          /* memcpy: by one thread, by all */
  double touch_one, touch_all;        /* new memory, in pages of the usual
                                         size */
  double huge_one, huge_all;          /* the same with huge pages */
  double compute_one, compute_all;    /* products and sums of float32 */
  double inflate;                     /* one thread, by the faster of... */
  const char *inflated_by;            /* "ISA-L" or "libdeflate" */
};

/* Measures once, and keeps rates that are higher than before.  nbytes is the
 * size of the destination whose first touch is measured.  Returns an exit
 * status; prints errors. */
int rd_limits_memory (struct rd_limits *limits, uint64_t nbytes);

/* Measures the rate of products and sums of float32 in registers, by the widest
 * vectors that the processor has, without fused ones. */
int rd_limits_compute (struct rd_limits *limits);

/* Measures the rates at which a layout's tiles are decoded from the page cache
 * into memory that is in a processor's cache: through the public API, by
 * contexts of one thread, in boxes of whole tiles, and in boxes that need as
 * many and read little of each. */
int rd_limits_decode (uint64_t seed, struct rd_layout *layout);

/* Copies as memcpy does, but past the caches; as memcpy on machines without
 * such stores. */
void rd_copy_past_caches (void *to, const void *from, size_t nbytes);

/* Makes an object of the rates of memory, in bytes per second. */
struct json_object *rd_limits_json (const struct rd_limits *limits);

/* Seconds of touching a new destination of nbytes by that many threads at best;
 * 0: it causes no page faults, or they were not measured. */
double rd_limits_touch_s (const struct rd_limits *limits, unsigned nthreads,
                          const struct rd_destination *destination,
                          double nbytes);

/* Seconds of decoding a number of bytes of tiles at these rates, of which a
 * number is delivered. */
double rd_limits_decode_s (const struct rd_layout *layout,
                           const struct rd_decode_rates *rates,
                           double decoded_nbytes, double delivered_nbytes);

/* Measures the rate at which a .gz file is only inflated, into memory that was
 * touched before, in bytes of output. */
int rd_limits_inflate (struct rd_limits *limits, const char *file,
                       uint64_t nbytes);

/* Does part i of something; returns an exit status. */
typedef int rd_part_fn (void *data, unsigned i);

/* Does n parts on n threads at the same time, of which the calling one is the
 * last; *seconds from the first begin to the last end.  Returns the first
 * failure. */
int rd_run_together (unsigned n, rd_part_fn *fn, void *data, double *seconds);

#endif /* RD_BENCH_LIMITS_H */
