// SPDX-License-Identifier: MIT
// The spread of repeated measurements, and the 95 % confidence interval of the
// difference of two medians.  The same rules as profiler/model/spread.c, which
// has their sources.

const ALONE = 4;
const ALONE_MIN_RUNS = 4;
const APART_MIN_RUNS = 3;

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
  let low = 0, high = 8;
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if ((1 - errorFunction(middle / Math.SQRT2)) / 2 > p)
      low = middle;
    else
      high = middle;
  }
  return low;
}

// The minimum and maximum of sorted values without a single outlier.
function spreadEnds(values) {
  const n = values.length;
  const ends = { min: values[0], max: values[n - 1] };
  if (n < ALONE_MIN_RUNS)
    return ends;
  const second = values[1], secondLast = values[n - 2];
  if (ends.max - secondLast > ALONE * (secondLast - ends.min))
    ends.max = secondLast;
  else if (second - ends.min > ALONE * (ends.max - second))
    ends.min = second;
  return ends;
}

function medianVariance(values, { min, max }) {
  const n = values.length;
  if (n < 2)
    return 0;
  const c = Math.max(1, Math.floor((n + 1) / 2 - Math.sqrt(n) + 0.5));
  const z = normalQuantile(binomialTail(n, c - 1));
  const low = Math.max(values[c - 1], min);
  const high = Math.min(values[n - c], max);
  return ((high - low) / (2 * z)) ** 2;
}

// Summarizes measurements, at least one: their number, median, the median's
// variance, and their ends.
export function spreadOf(measured) {
  const values = Float64Array.from(measured).sort();
  const n = values.length;
  const low = values[(n - 1) >> 1], high = values[n >> 1];
  const ends = spreadEnds(values);
  return { n, median: low + (high - low) / 2, ...ends,
           variance: medianVariance(values, ends) };
}

// The 97.5 % quantile of Student's t, by degrees of freedom.
const STUDENT = [
  [1, 12.7062], [2, 4.3027], [3, 3.1824], [4, 2.7764], [5, 2.5706],
  [6, 2.4469], [7, 2.3646], [8, 2.3060], [9, 2.2622], [10, 2.2281],
  [12, 2.1788], [15, 2.1314], [20, 2.0860], [30, 2.0423], [60, 2.0003],
  [120, 1.9799], [1e9, 1.9600],
];

function studentQuantile(degrees) {
  let i = 1;
  while (i < STUDENT.length - 1 && STUDENT[i][0] < degrees)
    i++;
  const [[lower, from], [upper, to]] = [STUDENT[i - 1], STUDENT[i]];
  const at = (1 / lower - 1 / degrees) / (1 / lower - 1 / upper);
  return from + Math.max(0, Math.min(1, at)) * (to - from);
}

function halfWidth(a, b) {
  const sum = a.variance + b.variance;
  if (!(sum > 0))
    return 0;
  const inverse = a.variance * a.variance / (a.n - 1)
    + b.variance * b.variance / (b.n - 1);
  return studentQuantile(sum * sum / inverse) * Math.sqrt(sum);
}

function areApart(below, above) {
  const gap = above.min - below.max;
  const range = Math.min(below.max - below.min, above.max - above.min);
  return below.n >= APART_MIN_RUNS && above.n >= APART_MIN_RUNS
    && gap > 0 && gap > range;
}

// The confidence interval of after's median minus before's; both with n > 1.
export function spreadInterval(before, after) {
  const delta = after.median - before.median;
  const half = halfWidth(before, after);
  const holds0 = delta - half <= 0 && delta + half >= 0;
  if (!holds0 || !areApart(before, after) && !areApart(after, before))
    return [delta - half, delta + half];
  return [after.min - before.max, after.max - before.min];
}
