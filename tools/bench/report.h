/* SPDX-License-Identifier: MIT */
/* Reports of the benchmark: tables and JSON. */
#ifndef RD_TOOLS_BENCH_REPORT_H
#define RD_TOOLS_BENCH_REPORT_H

#include "tools/bench/layout.h"
#include "tools/bench/paired.h"
#include "tools/bench/run.h"
#include "tools/profile/samples.h"

/* The median of the times of the first layout relative to those of this one in
 * the same round, and its interval.  Median 0: there is nothing to compare.
 * Returns an exit status; prints errors. */
int rd_bench_ratio (const struct rd_bench *bench,
                    const struct rd_layout *layout, size_t row,
                    struct rd_ratio *ratio);

/* "1.87x"; "same" when the interval contains 1; "-" for no ratio. */
const char *rd_bench_ratio_text (const struct rd_ratio *ratio,
                                 char text[32]);

/* The version of the JSON format, which a comparison checks. */
#define RD_BENCH_FORMAT 1

/* Prints tables.  Returns an exit status; prints errors. */
int rd_bench_print (const struct rd_bench *bench,
                    const struct rd_limits *limits);

void rd_bench_print_json (const struct rd_bench *bench,
                          const struct rd_limits *limits);

/* The name of the subject: the file, the volume or "a phantom". */
const char *rd_bench_name (const struct rd_bench *bench);

/* Summarizes a sample; its values stay in their order.  Returns an exit
 * status; prints errors. */
struct rd_figures {
  struct rd_summary seconds;
  double p95_s;
};

int rd_bench_figures (const struct rd_sample *sample,
                      struct rd_figures *figures);

#endif /* RD_TOOLS_BENCH_REPORT_H */
