/* SPDX-License-Identifier: MIT */
/* Samples: lists of seconds that grow. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "tools/bench/sample.h"
#include "tools/tool.h"

void
rd_sample_plan (struct rd_sample *sample, uint64_t nruns, double run_s,
                double slice_s, size_t most)
{
  double n = run_s > 0 ? slice_s / run_s : (double) most;
  sample->nperround = nruns ? nruns : n < 1 ? 1
                      : n > (double) most ? most : (size_t) n;
}

int
rd_sample_add (struct rd_sample *sample, double run_s)
{
  if (sample->n == sample->capacity) {
    size_t capacity = sample->capacity ? 2 * sample->capacity : 64;
    double *seconds = reallocarray (sample->seconds, capacity,
                                    sizeof *seconds);
    if (seconds == NULL)
      return rd_error_memory ();
    sample->seconds = seconds;
    sample->capacity = capacity;
  }
  sample->seconds[sample->n++] = run_s;
  return RD_EXIT_OK;
}

int
rd_sample_summarize (const struct rd_sample *sample,
                     struct rd_summary *summary, double *p95_s)
{
  RD_FREE double *copy = calloc (sample->n + 1, sizeof *copy);
  if (copy == NULL)
    return rd_error_memory ();
  if (sample->n > 0)
    memcpy (copy, sample->seconds, sample->n * sizeof *copy);
  rd_summarize (copy, sample->n, summary);
  if (p95_s)
    *p95_s = rd_quantile (copy, sample->n, 0.95);
  return RD_EXIT_OK;
}
