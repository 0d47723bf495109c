// SPDX-License-Identifier: MIT
// The spread of repeated measurements, and the confidence interval of the
// difference of two medians.  The same rules as profiler/model/spread.c, which
// has their sources.

const ALONE = 4;
const ALONE_MIN_RUNS = 4;
const APART_MIN_RUNS = 3;

// Where a rising function changes from below its goal, from 0 to high.
function bisect(high, isBelow) {
  let low = 0;
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (isBelow(middle))
      low = middle;
    else
      high = middle;
  }
  return low;
}

// The probability of at most k heads in n throws of a coin.
function binomialTail(n, k) {
  let logTerm = -n * Math.log(2), sum = 0;
  for (let i = 0; i <= k; i++) {
    sum += Math.exp(logTerm);
    logTerm += Math.log((n - i) / (i + 1));
  }
  return sum;
}

// The error function, by a series of positive terms; x from 0 to 6.
function errorFunction(x) {
  let term = x, sum = x;
  for (let i = 1; term > sum * 1e-17; i++) {
    term *= 2 * x * x / (2 * i + 1);
    sum += term;
  }
  return 2 / Math.sqrt(Math.PI) * Math.exp(-x * x) * sum;
}

// The value that a normal variable exceeds with probability p, 0 < p < 1/2.
function normalQuantile(p) {
  return bisect(8, (x) => errorFunction(x / Math.SQRT2) < 1 - 2 * p);
}

// The minimum and maximum of sorted values without a single outlier.
function spreadEnds(values) {
  const n = values.length;
  let min = values[0], max = values[n - 1];
  const second = values[1], secondLast = values[n - 2];
  if (n >= ALONE_MIN_RUNS && max - secondLast > ALONE * (secondLast - min))
    max = secondLast;
  else if (n >= ALONE_MIN_RUNS && second - min > ALONE * (max - second))
    min = second;
  return { min, max };
}

function medianVariance(values, { min, max }) {
  const n = values.length;
  const c = Math.max(1, Math.floor((n + 1) / 2 - Math.sqrt(n) + 0.5));
  const z = normalQuantile(binomialTail(n, c - 1));
  const low = Math.max(values[c - 1], min);
  const high = Math.min(values[n - c], max);
  return n < 2 ? 0 : ((high - low) / (2 * z)) ** 2;
}

// The number of independent measurements that say as much as these, which are
// in the order in which they were made.
function countIndependent(measured, median, { min, max }) {
  let products = 0, squares = 0, last = 0;
  for (const value of measured) {
    const distance = Math.min(Math.max(value, min), max) - median;
    products += last * distance;
    squares += distance * distance;
    last = distance;
  }
  const n = measured.length, r = squares > 0 ? products / squares : 0;
  return r > 0 ? Math.max(2, n * (1 - r) / (1 + r)) : n;
}

// Summarizes measurements, at least one: their number, median, the median's
// variance, and their mean and ends without an outlier.  Measurements that
// are not independent are in the order in which they were made.
export function spreadOf(measured, isIndependent) {
  const values = Float64Array.from(measured).sort();
  const n = values.length;
  const low = values[(n - 1) >> 1], high = values[n >> 1];
  const median = low + (high - low) / 2;
  const ends = spreadEnds(values);
  const independent = isIndependent ? n
    : countIndependent(measured, median, ends);
  const mean = values.reduce((sum, value) =>
    sum + Math.min(Math.max(value, ends.min), ends.max) / n, 0);
  return { n, independent, median, mean, ...ends,
           variance: medianVariance(values, ends) * n / independent };
}

const MOST_DEGREES = 100;

// The probability that Student's t lies within sqrt (degrees) tan (angle).
function studentWithin(degrees, angle) {
  const cosine = Math.cos(angle), odd = degrees % 2;
  let term = odd ? cosine : 1, sum = 0;
  for (let i = odd; i <= degrees - 2; i += 2) {
    sum += term;
    term *= cosine * cosine * (i + 1) / (i + 2);
  }
  return odd ? (angle + Math.sin(angle) * sum) / (Math.PI / 2)
    : Math.sin(angle) * sum;
}

// What |t| exceeds with the probability alpha.
function studentQuantile(degrees, alpha) {
  const limited = Math.min(Math.max(degrees, 1), MOST_DEGREES);
  const whole = Math.floor(limited);
  const [from, to] = [whole, whole + 1].map((one) => Math.sqrt(one)
    * Math.tan(bisect(Math.PI / 2, (angle) =>
      studentWithin(one, angle) < 1 - alpha)));
  const at = (1 / whole - 1 / limited) / (1 / whole - 1 / (whole + 1));
  return from + at * (to - from);
}

function halfWidth(a, b, alpha) {
  const sum = a.variance + b.variance;
  if (!(sum > 0))
    return 0;
  const inverse = a.variance * a.variance / (a.independent - 1)
    + b.variance * b.variance / (b.independent - 1);
  return studentQuantile(sum * sum / inverse, alpha) * Math.sqrt(sum);
}

function areApart(below, above, alpha) {
  const gap = above.min - below.max;
  const range = Math.min(below.max - below.min, above.max - above.min);
  let chance = 2;
  for (let i = 1; i <= below.independent && chance > 1e-9; i++)
    chance *= i / (Math.floor(above.independent) + i);
  return below.independent >= APART_MIN_RUNS
    && above.independent >= APART_MIN_RUNS && gap > 0
    && gap > range * Math.max(1, Math.sqrt(chance / 2 / alpha));
}

// The interval of after's median minus before's, which holds it except with
// the probability alpha; both with n > 1.
export function spreadInterval(before, after, alpha = 0.05) {
  const delta = after.median - before.median;
  const half = halfWidth(before, after, alpha);
  const holds0 = delta - half <= 0 && delta + half >= 0;
  if (!holds0 || !areApart(before, after, alpha)
      && !areApart(after, before, alpha))
    return [delta - half, delta + half];
  return [after.min - before.max, after.max - before.min];
}
