// SPDX-License-Identifier: MIT
// Numbers as people read them: three digits and a unit.

const TIMES = [[1, 'ns'], [1e3, '\u00b5s'], [1e6, 'ms'], [1e9, 's']];
const SIZES = [[1, 'B'], [1e3, 'kB'], [1e6, 'MB'], [1e9, 'GB'], [1e12, 'TB']];

function digits(value) {
  return value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2);
}

function scaled(value, units) {
  let unit = units[0];
  for (const candidate of units)
    if (value >= 0.9995 * candidate[0])
      unit = candidate;
  const text = unit[0] === 1 ? String(Math.round(value))
    : digits(value / unit[0]);
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

// "+1.2 ms" with a sign also where it is more.
export function formatSigned(value, unit) {
  return (value < 0 ? '\u2212' : '+') + formatUnit(Math.abs(value), unit);
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

// The same of all that ran; what ran on several threads at once may be more.
// of: what the share is of, where that is to be read.
export function formatShareOfAll(part, whole, of = '') {
  return formatShare(part, whole) + of
    + (part > 1.0005 * whole ? ' (threads side by side)' : '');
}

// Bytes in a time, in MB/s; '' where there is nothing to divide.
export function formatRate(nbytes, ns) {
  if (!(nbytes > 0 && ns > 0))
    return '';
  return digits(nbytes * 1e3 / ns) + '\u00a0MB/s';
}

export function formatUnit(value, unit) {
  switch (unit) {
    case 'time': return formatTime(value);
    case 'bytes': return formatBytes(value);
    default: return formatCount(value);
  }
}

// The same value to the last digit, for tooltips.
export function exactUnit(value, unit) {
  switch (unit) {
    case 'time': return formatCount(value) + '\u00a0ns';
    case 'bytes': return formatCount(value) + '\u00a0bytes';
    default: return formatCount(value);
  }
}
