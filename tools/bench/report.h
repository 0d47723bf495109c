/* SPDX-License-Identifier: MIT */
/* Reports of the benchmark: tables and JSON. */
#ifndef RD_TOOLS_BENCH_REPORT_H
#define RD_TOOLS_BENCH_REPORT_H

#include "tools/bench/layout.h"
#include "tools/bench/limits.h"

/* The version of the JSON format, which a comparison checks. */
#define RD_BENCH_FORMAT 1

/* Prints tables.  Returns an exit status; prints errors. */
int rd_bench_print (const struct rd_bench *bench,
                    const struct rd_limits *limits);

void rd_bench_print_json (const struct rd_bench *bench,
                          const struct rd_limits *limits);

#endif /* RD_TOOLS_BENCH_REPORT_H */
