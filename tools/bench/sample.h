/* SPDX-License-Identifier: MIT */
/* Samples of measurements in rounds. */
#ifndef RD_BENCH_SAMPLE_H
#define RD_BENCH_SAMPLE_H

#include "tools/profile/samples.h"

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

/* Chooses how many runs make a round: nruns or, if that is 0, as many as take
 * about slice_s when one takes run_s, 1 to most. */
void rd_sample_plan (struct rd_sample *sample, uint64_t nruns, double run_s,
                     double slice_s, size_t most);

/* Adds a run.  Returns an exit status; prints errors. */
int rd_sample_add (struct rd_sample *sample, double run_s);

/* Summarizes the runs, which stay in their order; p95_s, of their 95th
 * percentile, may be NULL.  Returns an exit status; prints errors. */
int rd_sample_summarize (const struct rd_sample *sample,
                         struct rd_summary *summary, double *p95_s);

#endif /* RD_BENCH_SAMPLE_H */
