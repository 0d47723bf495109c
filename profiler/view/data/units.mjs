// SPDX-License-Identifier: MIT
// Numbers for people: three digits and a unit.

const TIMES = [[1, 'ns'], [1e3, '\u00b5s'], [1e6, 'ms'], [1e9, 's']];
const OPERATIONS = [[1, 'flop'], [1e3, 'kflop'], [1e6, 'Mflop'],
                    [1e9, 'Gflop'], [1e12, 'Tflop']];
const SIZES = [[1, 'B'], [1e3, 'kB'], [1e6, 'MB'], [1e9, 'GB'], [1e12, 'TB']];

// Three digits of value / size.  Halves round up, as in the text that C writes:
// 33650 ns are 33.7 us, though 33.65.toFixed(1) is 33.6.
function digits(value, size = 1) {
  for (const [power, decimals] of [[100, 2], [10, 1]]) {
    const rounded = Math.round(value * power / size);
    if (rounded < 1000)
      return (rounded / power).toFixed(decimals);
  }
  return Math.round(value / size).toFixed(0);
}

function scaled(value, units) {
  let unit = units[0];
  for (const candidate of units)
    if (value >= 0.9995 * candidate[0])
      unit = candidate;
  const text = unit[0] === 1 ? String(Math.round(value))
    : digits(value, unit[0]);
  return text + '\u00a0' + unit[1];
}

export function formatTime(ns) {
  return scaled(ns, TIMES);
}

export function formatBytes(nbytes) {
  return scaled(nbytes, SIZES);
}

// 1234567 -> 1,234,567
export function formatCount(count) {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',');
}

// A duration with its sign: "+1.2 ms", or "0 ns".
export function formatSigned(value, unit) {
  const text = formatUnit(Math.abs(value), unit);
  return (/^0(?![.\d])/.test(text) ? '' : value < 0 ? '\u2212' : '+') + text;
}

export function formatRatio(value) {
  return digits(value);
}

export function formatShare(part, whole) {
  const percent = whole > 0 ? 100 * part / whole : 0;
  if (percent > 0 && percent < 0.1)
    return '<\u20090.1\u00a0%';
  return percent.toFixed(percent >= 99.95 ? 0 : 1) + '\u00a0%';
}

// The same as a share of everything that ran, which concurrent threads may
// exceed; of: what the share is of.
export function formatShareOfAll(part, whole, of = '') {
  return formatShare(part, whole) + of
    + (part > 1.0005 * whole ? ' (concurrent threads)' : '');
}

// Bytes per time in MB/s; '' without a time.
export function formatRate(nbytes, ns) {
  if (!(nbytes > 0 && ns > 0))
    return '';
  return digits(nbytes * 1e3 / ns) + '\u00a0MB/s';
}

// Arithmetic operations per time of threads on CPUs: one a nanosecond is a
// GFLOP/s.
export function formatFlopRate(flop, ns) {
  return flop > 0 && ns > 0 ? digits(flop / ns) + '\u00a0GFLOP/s a thread'
    : '';
}

// Arithmetic operations for each byte that was moved.
export function formatIntensity(flop, nbytes) {
  return flop > 0 && nbytes > 0 ? digits(flop / nbytes) + '\u00a0flop/B' : '';
}

export function formatUnit(value, unit) {
  switch (unit) {
    case 'flop': return scaled(value, OPERATIONS);
    case 'time': return formatTime(value);
    case 'bytes': return formatBytes(value);
    default: return formatCount(value);
  }
}

// "3.00 -> 2.14 ms", with an arrow: the first unit only if it is another one.
export function formatChange(before, after, unit) {
  const [was, is] = [before, after].map((one) => formatUnit(one, unit));
  const [number, of] = was.split('\u00a0');
  return (of === is.split('\u00a0')[1] ? number : was) + ' \u2192 ' + is;
}

// "+12.5 %", "3.2 x", or '' without a base.
export function formatGrowth(before, after) {
  if (!(before > 0 && after > 0))
    return '';
  if (after >= 3 * before)
    return formatRatio(after / before) + '\u00a0\u00d7';
  const share = formatShare(Math.abs(after - before), before);
  return (share[0] === '<' ? '' : after < before ? '\u2212' : '+') + share;
}

// The exact value, for tooltips.
export function exactUnit(value, unit) {
  switch (unit) {
    case 'time': return formatCount(value) + '\u00a0ns';
    case 'bytes': return formatCount(value) + '\u00a0bytes';
    case 'flop': return formatCount(value) + '\u00a0flop';
    default: return formatCount(value);
  }
}
