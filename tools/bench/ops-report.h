/* SPDX-License-Identifier: MIT */
/* Reports of measured operations: tables, CSV, JSON. */
#ifndef RD_BENCH_OPS_REPORT_H
#define RD_BENCH_OPS_REPORT_H

#include "tools/bench/ops.h"

/* Print tables, or a JSON object.  Return an exit status; print errors. */
int rd_ops_print (const struct rd_ops *ops, const struct rd_limits *limits);
int rd_ops_print_json (const struct rd_ops *ops,
                       const struct rd_limits *limits,
                       const struct rd_conditions *conditions);

/* Writes a row for each operation, size, type and number of threads. */
int rd_ops_write_csv (const struct rd_ops *ops,
                      const struct rd_limits *limits, const char *name,
                      bool overwrite);

#endif /* RD_BENCH_OPS_REPORT_H */
