/* SPDX-License-Identifier: MIT */
/* Series measured in turn, so that a disturbance slows all of them, and their
 * ratios compared with targets. */
#ifndef RD_BENCH_PAIRED_H
#define RD_BENCH_PAIRED_H

#include "tools/json.h"
#include "tools/profile/samples.h"

/* One series: its value in each round. */
struct rd_series {
  const char *name;
  double *values;             /* allocated; n of them */
  size_t n;
};

/* The ratio of two series, by the ratios of each round. */
struct rd_ratio {
  double median;              /* 0: nothing to divide by */
  double low, high;           /* 95 % confidence interval of the median; both
                                 0 with fewer than 6 rounds */
};

enum rd_verdict {
  RD_MET,                     /* all of the interval is within the target */
  RD_UNCLEAR,                 /* the target lies in the interval */
  RD_MISSED,                  /* all of it is beyond */
};

/* value / base, round by round.  Returns an exit status; prints errors. */
int rd_ratio_of (const struct rd_series *value, const struct rd_series *base,
                 struct rd_ratio *ratio);

/* The series itself as if its base were 1. */
int rd_ratio_alone (const struct rd_series *series, struct rd_ratio *ratio);

enum rd_verdict rd_classify (const struct rd_ratio *ratio, double bar);
const char *rd_verdict_name (enum rd_verdict verdict);

/* Allocates n rounds; false after an error. */
bool rd_series_open (struct rd_series *series, const char *name, size_t n);
void rd_series_clear (struct rd_series *series);

/* Median and quartiles; the values stay in their order.  Returns an exit
 * status; prints errors. */
int rd_series_summary (const struct rd_series *series,
                       struct rd_summary *summary);

void rd_ratio_put (struct json_object *object, const struct rd_ratio *ratio,
                   double bar);

#endif /* RD_BENCH_PAIRED_H */
