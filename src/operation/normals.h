/* SPDX-License-Identifier: MIT */
/* Normally distributed numbers by vectors of any instruction set.  A file that
 * includes this has defined VECTOR_NBYTES, TARGET (row-vectors.h) and SQRT_F64
 * (v), the square roots of a vector.
 *
 * The functions are sums of series, whose terms end below half of the last bit,
 * so that they need no library, whose last bits differ. */
#ifndef RD_NORMALS_H
#define RD_NORMALS_H

#include <stdint.h>
#include <string.h>

typedef double vector_f64 __attribute__ ((__vector_size__ (VECTOR_NBYTES)));
typedef uint64_t vector_u64 __attribute__ ((__vector_size__ (VECTOR_NBYTES)));

#define HELPER static inline TARGET __attribute__ ((__always_inline__))

/* Adding it to a number rounds that to a whole one, which is then the lowest
 * bits of the sum. */
#define WHOLE 0x1.8p52

/* The logarithms of numbers from 2^-53 to 1: with x = m * 2^k and s = (m - 1) /
 * (m + 1), k * log 2 + 2 (s + s^3 / 3 + s^5 / 5 + ...), where |s| < 0.172. */
HELPER vector_f64
log_f64 (vector_f64 x)
{
  /* Bits of sqrt (1/2), from which on m is, and of 1, the exponent's bias. */
  const uint64_t least = UINT64_C (0x3fe6a09e667f3bcd);
  const uint64_t one = UINT64_C (0x3ff0000000000000);
  const vector_u64 bits = (vector_u64) x;
  const vector_u64 biased = (bits - least + one) >> 52;
  const vector_f64 m = (vector_f64) (bits - (biased << 52) + one);
  /* A number that was ored to the bits of 2^52 has been added to it. */
  const vector_f64 k = (vector_f64) (biased | UINT64_C (0x4330000000000000))
                       - (0x1p52 + 1023);
  const vector_f64 s = (m - 1.0) / (m + 1.0), z = s * s, twice = s + s;
  vector_f64 sum = z * (1.0 / 19) + 1.0 / 17;
  sum = sum * z + 1.0 / 15;
  sum = sum * z + 1.0 / 13;
  sum = sum * z + 1.0 / 11;
  sum = sum * z + 1.0 / 9;
  sum = sum * z + 1.0 / 7;
  sum = sum * z + 1.0 / 5;
  sum = sum * z + 1.0 / 3;
  return k * 0x1.62e42fefa39efp-1 + (twice + twice * z * sum);
}

/* cos and sin of 2 pi u, u from 0 to below 1, by their Taylor series around the
 * nearest quarter of a turn. */
HELPER void
turn_f64 (vector_f64 u, vector_f64 *cosine, vector_f64 *sine)
{
  const vector_f64 shifted = u * 4.0 + WHOLE;
  const vector_u64 quarter = (vector_u64) shifted;
  const vector_f64 t = (u - (shifted - WHOLE) * 0.25) * 0x1.921fb54442d18p+2;
  const vector_f64 z = t * t;
  vector_f64 s = z * (1.0 / 355687428096000) - 1.0 / 1307674368000;
  s = s * z + 1.0 / 6227020800;
  s = s * z - 1.0 / 39916800;
  s = s * z + 1.0 / 362880;
  s = s * z - 1.0 / 5040;
  s = s * z + 1.0 / 120;
  s = s * z - 1.0 / 6;
  s = s * z * t + t;
  vector_f64 c = z * (1.0 / 20922789888000) - 1.0 / 87178291200;
  c = c * z + 1.0 / 479001600;
  c = c * z - 1.0 / 3628800;
  c = c * z + 1.0 / 40320;
  c = c * z - 1.0 / 720;
  c = c * z + 1.0 / 24;
  c = c * z - 0.5;
  c = c * z + 1.0;
  /* After an odd number of quarters they are each other. */
  const vector_u64 is_odd = -(quarter & 1);
  const vector_u64 other = ((vector_u64) c ^ (vector_u64) s) & is_odd;
  const vector_u64 sign = (quarter & 2) << 62;
  const vector_u64 next_sign = ((quarter + 1) & 2) << 62;
  *cosine = (vector_f64) ((vector_u64) c ^ other ^ next_sign);
  *sine = (vector_f64) ((vector_u64) s ^ other ^ sign);
}

/* The rd_row_normals_fn. */
static TARGET void
make_normals (double *first, double *second, size_t n)
{
  const size_t width = sizeof (vector_f64) / sizeof (double);
  for (size_t i = 0; i < n; i += width) {
    vector_f64 a, b, cosine, sine;
    memcpy (&a, first + i, sizeof a);
    memcpy (&b, second + i, sizeof b);
    const vector_f64 square = log_f64 (1.0 - a) * -2.0;
    const vector_f64 radius = SQRT_F64 (square);
    turn_f64 (b, &cosine, &sine);
    a = radius * cosine;
    b = radius * sine;
    memcpy (first + i, &a, sizeof a);
    memcpy (second + i, &b, sizeof b);
  }
}

#endif /* RD_NORMALS_H */
