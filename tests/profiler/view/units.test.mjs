// SPDX-License-Identifier: MIT
// Human-readable numbers.
import test from 'node:test';
import assert from 'node:assert/strict';
import { formatTime, formatBytes, formatChange, formatCount, formatGrowth,
         formatShare, formatRate, exactUnit, formatFlopRate, formatIntensity,
         formatSigned, formatUnit }
  from '../../../profiler/view/data/units.mjs';
import { roundStep, tickLabel } from '../../../profiler/view/views/axis.mjs';

const plain = (text) => text.replaceAll('\u00a0', ' ');

test('times have three digits and a unit', () => {
  for (const [ns, text] of [
    [0, '0 ns'], [1, '1 ns'], [999, '999 ns'], [1000, '1.00 \u00b5s'],
    [9994, '9.99 \u00b5s'], [9995, '10.0 \u00b5s'], [33650, '33.7 \u00b5s'],
    [1005, '1.01 \u00b5s'],
    [123456, '123 \u00b5s'], [999600, '1.00 ms'], [1.5e6, '1.50 ms'],
    [59999999999, '60.0 s'], [7.2e12, '7200 s'],
  ])
    assert.equal(plain(formatTime(ns)), text);
});

test('a change has both values, and one unit if it is the same', () => {
  const change = (...values) => plain(formatChange(...values));
  assert.equal(change(3e6, 2.14e6, 'time'), '3.00 \u2192 2.14 ms');
  assert.equal(change(3e6, 9e5, 'time'), '3.00 ms \u2192 900 \u00b5s');
  assert.equal(change(524288, 524288, 'bytes'), '524 \u2192 524 kB');
  assert.equal(change(1234, 99, 'count'), '1,234 \u2192 99');
});

test('a difference has its sign, unless it is zero', () => {
  for (const [value, unit, text] of [
    [1.2e6, 'time', '+1.20 ms'], [-34, 'time', '\u221234 ns'],
    [0, 'time', '0 ns'], [-0.2, 'time', '0 ns'], [0, 'count', '0'],
    [-1, 'count', '\u22121']])
    assert.equal(plain(formatSigned(value, unit)), text);
});

test('growth is a share or a ratio, or unknown without a base', () => {
  for (const [before, after, text] of [
    [8, 9, '+12.5 %'], [8, 7, '\u221212.5 %'], [8, 8, '+0.0 %'],
    [10, 30, '3.00 \u00d7'], [0, 1, ''], [1, 0, '']])
    assert.equal(plain(formatGrowth(before, after)), text);
  assert.match(formatGrowth(1e6, 1e6 - 1), /^</);
});

test('operations have units and rates', () => {
  assert.equal(plain(formatUnit(2.5e9, 'flop')), '2.50 Gflop');
  assert.equal(plain(exactUnit(12345, 'flop')), '12,345 flop');
  assert.equal(plain(formatFlopRate(2.5e9, 1e9)), '2.50 GFLOP/s a thread');
  assert.equal(formatFlopRate(1, 0), '');
  assert.equal(plain(formatIntensity(3, 8)), '0.38 flop/B');
  assert.equal(formatIntensity(3, 0), '');
});

test('a number never shows four digits before a smaller unit ends', () => {
  for (let ns = 1; ns < 1e12; ns = Math.ceil(ns * 1.0007)) {
    const number = parseFloat(formatTime(ns));
    assert.ok(ns >= 1e12 || number < 1000 || ns >= 9.99e11,
              ns + ': ' + formatTime(ns));
  }
});

test('shown values are within half a digit of exact ones', () => {
  const sizes = { ns: 1, '\u00b5s': 1e3, ms: 1e6, s: 1e9 };
  for (let ns = 1; ns < 1e12; ns = Math.ceil(ns * 1.0013)) {
    const [number, unit] = plain(formatTime(ns)).split(' ');
    const shown = Number(number) * sizes[unit];
    assert.ok(Math.abs(shown - ns) <= 0.0051 * ns, ns + ': ' + number);
  }
});

test('bytes are counted by thousands', () => {
  assert.equal(plain(formatBytes(999)), '999 B');
  assert.equal(plain(formatBytes(524288)), '524 kB');
  assert.equal(plain(formatBytes(6291456)), '6.29 MB');
  assert.equal(plain(formatBytes(3.2e13)), '32.0 TB');
});

test('counts are grouped', () => {
  assert.equal(formatCount(0), '0');
  assert.equal(formatCount(999), '999');
  assert.equal(formatCount(1234567), '1,234,567');
});

test('percentages have one decimal, and small ones are not 0', () => {
  assert.equal(plain(formatShare(0, 10)), '0.0 %');
  assert.equal(plain(formatShare(1, 3)), '33.3 %');
  assert.equal(plain(formatShare(1, 1)), '100 %');
  assert.equal(plain(formatShare(9997, 10000)), '100 %');
  assert.equal(plain(formatShare(1, 1e6)), '<\u20090.1 %');
  assert.equal(plain(formatShare(5, 0)), '0.0 %');
});

test('rates are megabytes in seconds, or nothing', () => {
  assert.equal(plain(formatRate(1e6, 1e9)), '1.00 MB/s');
  assert.equal(plain(formatRate(5e9, 1e9)), '5000 MB/s');
  assert.equal(formatRate(0, 1e9), '');
  assert.equal(formatRate(1, 0), '');
});

test('exact values lose nothing', () => {
  assert.equal(plain(exactUnit(123456789, 'time')), '123,456,789 ns');
  assert.equal(plain(exactUnit(5, 'bytes')), '5 bytes');
  assert.equal(formatUnit(1500, 'count'), '1,500');
});

test('steps of the axis are round, and no more than fit', () => {
  for (let span = 7; span < 1e13; span *= 3.7)
    for (const most of [2, 5, 9]) {
      const step = roundStep(span, most);
      const lead = Number(String(step.toExponential()).split('e')[0]);
      assert.ok([1, 2, 5].includes(lead), 'step ' + step);
      assert.ok(step >= 1 && span / step <= most + 1e-6
                || step === 1, span + ' / ' + step);
    }
});

test('labels of neighbouring ticks differ', () => {
  for (let step = 1; step < 1e10; step *= 10)
    for (const factor of [1, 2, 5])
      for (const base of [0, 1, 17, 4321]) {
        const at = base * step * factor;
        assert.notEqual(tickLabel(at, step * factor),
                        tickLabel(at + step * factor, step * factor));
      }
});
