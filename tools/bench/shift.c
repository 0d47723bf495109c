/* SPDX-License-Identifier: MIT */
/* The ratio of two things that were measured apart. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/shift.h"
#include "tools/profile/samples.h"
#include "tools/tool.h"

/* The chance on either side of an interval that holds 95 %. */
#define TAIL 0.025

/* Up to so many of each the distribution is counted out; of more the normal
 * one is as good. */
#define MOST_EXACT 20
#define MOST_U (MOST_EXACT * MOST_EXACT + 1)

/* The number of orders of na and nb values of which u pairs are the wrong
 * way round, by counts for one value less; ways[u] is for the numbers that
 * were made last.  (The coefficients of the Gaussian binomial: multiply by
 * 1 - q^(nb + i), divide by 1 - q^i.) */
static void
count_orders (size_t na, size_t nb, double ways[MOST_U])
{
  memset (ways, 0, MOST_U * sizeof *ways);
  ways[0] = 1;
  for (size_t i = 1; i <= na; i++) {
    for (size_t u = na * nb; u >= nb + i; u--)
      ways[u] -= ways[u - nb - i];
    for (size_t u = i; u <= na * nb; u++)
      ways[u] += ways[u - i];
  }
}

static size_t
exact_cut (size_t na, size_t nb)
{
  double ways[MOST_U], all = 0, sum = 0;
  count_orders (na, nb, ways);
  for (size_t u = 0; u <= na * nb; u++)
    all += ways[u];
  size_t cut = 0;
  while (cut <= na * nb && (sum += ways[cut]) <= TAIL * all)
    cut++;
  return cut;
}

size_t
rd_shift_cut (size_t na, size_t nb)
{
  if (na == 0 || nb == 0)
    return 0;
  if (na <= MOST_EXACT && nb <= MOST_EXACT)
    return exact_cut (na, nb);
  double pairs = (double) na * (double) nb;
  double deviation = sqrt (pairs * (double) (na + nb + 1) / 12);
  double cut = pairs / 2 - 1.96 * deviation - 0.5;
  return cut > 0 ? (size_t) cut : 0;
}

static int
compare (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

bool
rd_shift_of (const double *a, size_t na, const double *b, size_t nb,
             struct rd_shift *shift)
{
  memset (shift, 0, sizeof *shift);
  size_t n;
  if (__builtin_mul_overflow (na, nb, &n))
    return false;
  RD_FREE double *ratios = calloc (n + 1, sizeof *ratios);
  if (ratios == NULL)
    return false;
  for (size_t i = 0; i < n; i++)
    ratios[i] = log (b[i % nb]) - log (a[i / nb]);
  qsort (ratios, n, sizeof *ratios, compare);
  if (n > 0)
    shift->ratio = exp (rd_quantile (ratios, n, 0.5));
  size_t cut = rd_shift_cut (na, nb);
  if (cut > 0) {
    shift->low = exp (ratios[cut - 1]);
    shift->high = exp (ratios[n - cut]);
  }
  return true;
}
