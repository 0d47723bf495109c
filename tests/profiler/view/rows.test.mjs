// SPDX-License-Identifier: MIT
// The painting of a row of the timeline, pixel by pixel.
import test from 'node:test';
import assert from 'node:assert/strict';
import { Lanes } from '../../../profiler/view/model/lanes.mjs';
import { RowPainter } from '../../../profiler/view/views/timeline-rows.mjs';
import { makeProfile, random } from './made.mjs';

// Returns the stretches that a row paints, as [from, to] in pixels, and the
// number of steps that it took.
function paint(profile, view) {
  const rects = [];
  const context = { fillRect: (x, y, width) => rects.push([x, x + width]),
                    fillText() {}, set fillStyle(colour) {} };
  const lanes = new Lanes(profile);
  const painter = new RowPainter({ context, text() {} }, lanes, profile,
                                 { matched: null, colours: [] });
  painter.paint([[0, 0]], view, {});
  return rects;
}

test('a span beginning in the pixel of shorter ones is kept', async () => {
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

// One row of spans of all lengths, as the timeline has it.
function manySpans(count) {
  const next = random(9);
  const spans = { count, lane: new Uint32Array(count),
                  node: new Uint32Array(count),
                  begin: new Float64Array(count),
                  duration: new Float64Array(count), steps: new Map() };
  for (let i = 0, at = 0; i < count; i++) {
    spans.node[i] = next(3);
    spans.begin[i] = at;
    spans.duration[i] = 1 + next(next(50) === 0 ? 2000 : 30);
    at += spans.duration[i] + next(20);
  }
  return { spans, lanes: [{ name: 'lane', isAsync: 0 }], names: 'abc' };
}

// A context that takes images, as a canvas's; kept.image is the last one.
function imageContext(kept) {
  globalThis.ImageData = class {
    constructor(width, height) {
      Object.assign(this, { width, height,
                            data: new Uint8ClampedArray(4 * width * height) });
    }
  };
  globalThis.document = { createElement: () => ({
    setAttribute() {}, append() {},
    getContext: () => ({ putImageData(image) { kept.image = image; } }),
  }) };
  Object.assign(kept, { boxes: [], stretched: [], names: 0 });
  return { fillRect(...box) { kept.boxes.push(box); }, fillText() {},
           drawImage(canvas, ...where) { kept.stretched.push(where); } };
}

const COLOURS = ['#102030', '#aabbcc', '#00ff7f'];

test('the cost of a picture depends on its pixels, not its spans', () => {
  const width = 1000;
  for (const count of [1000, 300000]) {
    const profile = manySpans(count);
    const lanes = new Lanes(profile);
    let reads = 0;
    const counted = (column) => new Proxy(column, { get(array, key) {
      reads += /^\d+$/.test(key) ? 1 : 0;
      return array[key];
    } });
    for (const column of [lanes.nodes, lanes.begins, lanes.ends])
      column[0] = counted(column[0]);
    const kept = {};
    const pane = { context: imageContext(kept), text() { kept.names++; } };
    const painter = new RowPainter(pane, lanes, profile, {
      matched: null, colours: COLOURS });
    const whole = profile.spans.begin[count - 1];
    for (let to = whole; to > 100; to /= 3) {
      reads = 0;
      pane.context = imageContext(kept);
      painter.paint([[0, 0], [0, 18]], { from: 0, to, left: 0, width }, {});
      assert.ok(kept.boxes.length <= 2 * width / 8);
      assert.ok(kept.names <= 2 * width / 34);
      assert.ok([0, 2].includes(kept.stretched.length));
      assert.ok(to < whole || kept.stretched.length === 2);
      // Two searches of some 2 * 18 steps at most a pixel, and the first
      // few that are in it; by far most pixels need less.
      assert.ok(reads < 2 * width * 60, reads + ' reads of ' + count);
    }
  }
});

test('rows of wide spans only take no image', async () => {
  const profile = await makeProfile([{ name: 'a' }], [
    { lane: 0, node: 0, begin: 0, duration: 400 },
    { lane: 0, node: 0, begin: 500, duration: 400 },
  ]);
  const kept = {};
  const pane = { context: imageContext(kept), text() {} };
  new RowPainter(pane, new Lanes(profile), profile, {
    matched: null, colours: COLOURS,
  }).paint([[0, 0]], { from: 0, to: 1000, left: 0, width: 1000 }, {});
  assert.equal(kept.boxes.length, 2);
  assert.equal(kept.stretched.length, 0);
});

test('the image has what is otherwise drawn as rectangles', () => {
  const profile = manySpans(5000);
  const lanes = new Lanes(profile);
  const width = 700;
  // One painter leaves nothing of a picture in the next.
  const model = { colours: COLOURS }, pane = { text() {} }, kept = {};
  const painter = new RowPainter(pane, lanes, profile, model);
  for (const matched of [null, [1, 0, 1], null])
    for (const [from, to] of [[0, 1e5], [5e4, 6e4], [1000, 2500]]) {
      const view = { from, to, left: 0, width };
      model.matched = matched;
      pane.context = imageContext(kept);
      painter.paint([[0, 0]], view, {});
      const strokes = [];
      const plain = { globalAlpha: 1, fillRect(x, y, w) {
        strokes.push([x, w, this.fillStyle, this.globalAlpha]);
      } };
      new RowPainter({ context: plain, text() {} }, lanes, profile, model)
        .paint([[0, 0]], view, {});
      const lines = strokes.filter(([x, w]) => !kept.boxes.some((box) =>
        box[0] === x && box[2] === w));
      const wanted = new Uint8ClampedArray(4 * width);
      for (const [x, w, colour, alpha] of lines)
        for (let at = x; at < x + w; at++)
          wanted.set([1, 3, 5].map((i) =>
            parseInt(colour.slice(i, i + 2), 16)).concat(
              alpha < 1 ? 64 : 255), 4 * at);
      assert.ok(lines.length > 0);
      assert.deepEqual(kept.image.data, wanted);
    }
});
