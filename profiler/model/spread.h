/* SPDX-License-Identifier: MIT */
/* The spread of repeated measurements. */
#ifndef RD_SPREAD_H
#define RD_SPREAD_H

#include <stddef.h>
#include <stdint.h>

/* n measurements: their median, and how uncertain it is. */
struct rd_spread {
  size_t n;
  double nindependent;        /* measurements that say as much: fewer if those
                                 that follow each other are alike; >= 2 */
  double median;
  double mean;                /* without an outlier */
  double variance;            /* of the median, not of a measurement */
  double min, max;            /* without an outlier (spread.c) */
};

/* Sorts the values, which are in the order in which they were measured; room
 * is for n others.  NULL: in no order, so they count as independent.  n > 0;
 * with 1 the variance is 0 and means nothing. */
struct rd_spread rd_spread_of (uint64_t *values, size_t n, uint64_t *room);

/* The interval that holds the difference of two medians, after less before,
 * except with the probability alpha; both n > 1. */
void rd_spread_interval (const struct rd_spread *before,
                         const struct rd_spread *after, double alpha,
                         double *low, double *high);

#endif /* RD_SPREAD_H */
