// SPDX-License-Identifier: MIT
// What a row of the timeline paints, pixel by pixel.
import test from 'node:test';
import assert from 'node:assert/strict';
import { Lanes } from '../../../profiler/view/lanes.mjs';
import { RowPainter } from '../../../profiler/view/timeline-rows.mjs';
import { makeProfile, random } from './made.mjs';

// The stretches that a row paints, as [from, to] in pixels, and how many
// steps that took.
function paint(profile, view) {
  const rects = [];
  const context = { fillRect: (x, y, width) => rects.push([x, x + width]),
                    fillText() {}, set fillStyle(colour) {} };
  const lanes = new Lanes(profile);
  const painter = new RowPainter({ context, text() {} }, lanes, profile,
                                 { matched: null, colours: [] });
  painter.draw(0, 0, view, {});
  return rects;
}

test('what begins in the pixel of shorter ones is not lost', async () => {
  const profile = await makeProfile([{ name: 'a' }, { name: 'b' }], [
    { lane: 0, node: 0, begin: 0, duration: 2 },
    { lane: 0, node: 0, begin: 3, duration: 2 },
    { lane: 0, node: 1, begin: 6, duration: 99000 },
  ]);
  const rects = paint(profile, { from: 0, to: 100000, left: 0, width: 1000 });
  assert.ok(rects.some(([from, to]) => from < 1 && to > 985));
});

test('every pixel in which a span lies is painted, no other', async () => {
  const next = random(3);
  for (let round = 0; round < 20; round++) {
    const spans = [];
    for (let t = next(50), i = 0; i < 300; i++) {
      const duration = 1 + (next(4) === 0 ? next(3000) : next(20));
      spans.push({ lane: 0, node: 0, begin: t, duration });
      t += duration + (next(3) === 0 ? next(2000) : next(10));
    }
    const profile = await makeProfile([{ name: 'a' }], spans);
    const from = next(5000), to = from + 500 + next(100000), width = 400;
    const rects = paint(profile, { from, to, left: 0, width });
    const scale = width / (to - from);
    const painted = new Uint8Array(width + 2), wanted = painted.slice();
    for (const [a, b] of rects)
      painted.fill(1, Math.floor(a + 1e-9), Math.ceil(b - 1e-9));
    for (const { begin, duration } of spans)
      if (begin + duration > from && begin < to)
        wanted.fill(1, Math.floor(Math.max(0, (begin - from) * scale)),
                    Math.ceil(Math.min(width,
                                       (begin + duration - from) * scale)));
    for (let x = 0; x < width; x++)
      assert.ok(painted[x] === wanted[x] || wanted[x] && (painted[x + 1]
        || painted[x - 1]), 'pixel ' + x + ' of round ' + round);
    assert.ok(rects.length <= 2 * width);
  }
});

test('many spans of one scope that touch are one stroke', async () => {
  const n = 100000;
  const profile = await makeProfile([{ name: 'a' }],
    Array.from({ length: n }, (_, i) =>
      ({ lane: 0, node: 0, begin: 3 * i, duration: 2 })));
  const rects = paint(profile, { from: 0, to: 3 * n, left: 0, width: 800 });
  assert.deepEqual(rects, [[0, 800]]);
  // Nor are they more where each is a little wider than a pixel, or begins
  // in the pixel that the one before ends in.
  for (const seen of [1200, 1500, 2400, 7000]) {
    const close = await makeProfile([{ name: 'a' }],
      Array.from({ length: n / 10 }, (_, i) =>
        ({ lane: 0, node: 0, begin: 30 * i, duration: 29 })));
    const some = paint(close, { from: 0, to: 30 * seen / 2, left: 0,
                                width: 1200 });
    assert.equal(some.length, 1, seen / 2 + ' spans');
  }
});
