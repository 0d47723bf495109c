/* SPDX-License-Identifier: MIT */
/* How the time of a read grows with its size: what a sweep is made for.
 * It is in the tree of any profile of 'radio profile sweep', as one root a
 * size, with what each run took. */
#ifndef RD_CURVE_H
#define RD_CURVE_H

#include "profiler/model/profile.h"

/* The command takes no more sizes. */
#define RD_CURVE_MAX_POINTS 32

/* A size, and times of one read of it over the runs. */
struct rd_curve_point {
  size_t node;
  uint64_t nbytes;            /* that a read delivered, an operation took */
  uint64_t touched_nbytes;    /* input and output; 0: not known */
  size_t nruns;
  uint64_t median_ns, low_ns, high_ns;  /* low and high: quartiles */
};

/* Points from the smallest to the largest; none, where a profile is of no
 * sweep. */
struct rd_curve {
  struct rd_curve_point at[RD_CURVE_MAX_POINTS];
  size_t n;
};

/* RADIO_ERROR_MEMORY. */
enum radio_status rd_profile_curve (const struct radio_profile *profile,
                                    struct rd_curve *curve)
  RADIO_USE_RESULT;

/* The same for an operation: a root of 'radio bench ops' or 'radio profile
 * op', each child of which is a size; none in other profiles. */
enum radio_status
rd_profile_curve_of (const struct radio_profile *profile, size_t root,
                     struct rd_curve *curve) RADIO_USE_RESULT;

#endif /* RD_CURVE_H */
