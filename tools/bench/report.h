/* SPDX-License-Identifier: MIT */
/* What the benchmark tells: tables, or JSON. */
#ifndef RD_BENCH_REPORT_H
#define RD_BENCH_REPORT_H

#include "tools/bench/run.h"
#include "tools/profile/samples.h"

/* A number that JSON from the benchmark carries, so that a comparison knows
 * what it reads. */
#define RD_BENCH_FORMAT 1

/* Print tables.  Returns an exit status, after complaining. */
int rd_bench_print (const struct rd_bench *bench,
                    const struct rd_limits *limits);

void rd_bench_print_json (const struct rd_bench *bench,
                          const struct rd_limits *limits);

/* What is measured, in a few words: the file, the volume or "a phantom". */
const char *rd_bench_name (const struct rd_bench *bench);

/* Describe a sample; its values stay in their order.  Returns an exit
 * status, after complaining. */
struct rd_figures {
  struct rd_summary seconds;
  double p95_s;
};

int rd_bench_figures (const struct rd_sample *sample,
                      struct rd_figures *figures);

#endif /* RD_BENCH_REPORT_H */
