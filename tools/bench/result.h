/* SPDX-License-Identifier: MIT */
/* What 'radio bench --json' printed, read back. */
#ifndef RD_BENCH_RESULT_H
#define RD_BENCH_RESULT_H

#include "tools/json.h"

/* One row of one layout.  Strings belong to the object. */
struct rd_result_row {
  const char *volume;         /* of several; else "" */
  const char *tiling, *codec, *row;
  uint64_t nthreads;          /* 0: of a result that does not tell */
  uint64_t stored_nbytes;
  double median_s;
  double *values;             /* the median of each round; or each time, when
                                 there are fewer than 4 rounds; allocated */
  size_t nvalues;
};

struct rd_result {
  struct json_object *object;
  struct rd_result_row *rows; /* allocated */
  size_t nrows;
};

/* Read a file.  Returns an exit status, after complaining; to be cleared in
 * any case. */
int rd_result_read (const char *file, struct rd_result *result);

/* The row of these names, or NULL. */
const struct rd_result_row *
rd_result_find (const struct rd_result *result,
                const struct rd_result_row *like);

/* "balanced medium", with what else tells the row's layout from the others;
 * allocated, NULL after complaining. */
char *rd_result_layout (const struct rd_result *result,
                        const struct rd_result_row *row);

/* A member of the whole as text ("threads" as "2"); "" when it is not
 * there.  Allocated; NULL after complaining. */
char *rd_result_text (const struct rd_result *result, const char *key);

void rd_result_clear (struct rd_result *result);
#define RD_CLEAR_RESULT RD_CLEANUP (rd_result_clear)

#endif /* RD_BENCH_RESULT_H */
