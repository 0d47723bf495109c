// SPDX-License-Identifier: MIT
// The rows of the timeline.
import test from 'node:test';
import assert from 'node:assert/strict';
import { Lanes } from '../../../profiler/view/model/lanes.mjs';

// spans: [lane, begin, duration], in the order of a profile.
function lanes(spans, kinds = [0], names = []) {
  const column = (i) => Float64Array.from(spans, (span) => span[i]);
  return new Lanes({
    spans: { count: spans.length, lane: column(0), begin: column(1),
             duration: column(2), node: new Uint32Array(spans.length) },
    lanes: kinds.map((isAsync, i) => ({ name: names[i] ?? 'lane ' + i,
                                        isAsync })),
  });
}

test('inner spans are one row lower', () => {
  const made = lanes([[0, 0, 100], [0, 10, 20], [0, 12, 5], [0, 40, 10],
                      [0, 100, 5]]);
  assert.deepEqual(Array.from(made.depths), [0, 1, 2, 1, 0]);
  assert.deepEqual(made.rows.map((row) => Array.from(row)),
                   [[0, 4], [1, 3], [2]]);
});

test('threads come before requests, and empty lanes are not shown', () => {
  const made = lanes([[0, 0, 1], [1, 0, 1], [3, 0, 1]], [1, 0, 0, 1]);
  assert.deepEqual(made.lanes.map((one) => one.lanes),
                   [[1], [0], [3]]);
  assert.deepEqual(made.lanes.map((lane) => lane.row), [0, 1, 2]);
  assert.equal(made.rowOf(0), 1);
});

test('threads of one name that follow one another have the same rows', () => {
  const made = lanes([[0, 0, 90], [1, 5, 20], [2, 25, 10], [2, 25, 4],
                      [3, 30, 9], [4, 95, 1]], [0, 0, 0, 0, 0],
                     ['main', 'worker', 'worker', 'worker', 'main']);
  assert.deepEqual(made.lanes.map(({ name, row, height, lanes: all }) =>
    [name, row, height, all]),
                   [['main', 0, 1, [0, 4]], ['worker', 1, 2, [1, 2]],
                    ['worker', 3, 1, [3]]]);
  assert.deepEqual(made.rows.map((row) => Array.from(row)),
                   [[0, 5], [1, 2], [3], [4]]);
});

// What is shown of each lane: its name, its row, and the profile's lanes.
const shown = (made) =>
  made.lanes.map(({ name, row, lanes: all }) => [name, row, all]);

test('numbered threads that follow one another fill rows that are free', () => {
  // Batches of three threads, each new, of which the first ends last.
  for (const name of ['thread', 'rank 2: loader']) {
    const spans = [[0, 0, 100]], names = ['main'];
    for (let i = 0; i < 9; i++) {
      names.push(name + (i > 0 ? ' ' + (i + 1) : ''));
      spans.push([i + 1, 30 * Math.floor(i / 3) + i % 3, 20 - 5 * (i % 3)]);
    }
    assert.deepEqual(shown(lanes(spans, Array(10).fill(0), names)),
                     [['main', 0, [0]], [names[1], 1, [1, 4, 7]],
                      [names[2], 2, [2, 5, 8]], [names[3], 3, [3, 6, 9]]]);
  }
});

test('numbers that are no recorder\'s are other names', () => {
  const spans = [[0, 0, 9], [1, 10, 9], [2, 20, 9]];
  assert.equal(lanes(spans, [0, 0, 0], ['gpu 0', 'gpu 1', 'gpu 10'])
    .lanes.length, 3);
  // Pools that follow one another name their workers alike.
  assert.deepEqual(shown(lanes(spans, [0, 0, 0],
                               ['worker 1', 'worker 2', 'worker 1 2'])),
                   [['worker 1', 0, [0, 2]], ['worker 2', 1, [1]]]);
  // Rows of requests have no name in common with threads.
  assert.equal(lanes(spans, [0, 1, 1], ['GET', 'GET 2', 'GET 3'])
    .lanes.length, 3);
});

test('in a row begins and ends only grow', () => {
  let state = 11;
  const next = (n) => (state = (state * 48271) % 2147483647) % n;
  const spans = Array.from({ length: 2000 }, () =>
    [next(3), next(10000), next(300)])
    .sort((a, b) => a[0] - b[0] || a[1] - b[1] || b[2] - a[2]);
  const made = lanes(spans, [0, 0, 1]);
  let count = 0;
  for (const row of made.rows) {
    count += row.length;
    for (let i = 1; i < row.length; i++) {
      const [, begin, duration] = spans[row[i - 1]];
      assert.ok(spans[row[i]][1] >= begin + duration);
    }
  }
  assert.equal(count, 2000);
});

test('a band has the deepest scope at each moment', () => {
  let state = 5;
  const next = (n) => (state = (state * 48271) % 2147483647) % n;
  const spans = Array.from({ length: 300 }, () =>
    [next(2), next(1000), next(60)])
    .sort((a, b) => a[0] - b[0] || a[1] - b[1] || b[2] - a[2]);
  const made = lanes(spans, [0, 0]);
  for (const lane of made.lanes) {
    const row = made.bandOf(lane);
    assert.equal(made.bandOf(lane), row);
    assert.ok(lane.height > 1);
    for (let time = 0; time < 1060; time++) {
      let deepest = -1;
      spans.forEach(([one, begin, duration], i) => {
        if (one === lane.lanes[0] && begin <= time
            && begin + duration > time)
          deepest = i;
      });
      assert.equal(made.at(row, time + 0.5, 0), deepest);
    }
  }
});

test('many rows of requests are one lane, whose band is of all of them', () => {
  for (const n of [64, 65]) {
    // Requests at once, each with a phase of its own, and later a single one.
    const spans = Array.from({ length: n }, (_, i) =>
      [[i + 1, 10 * i, 1000], [i + 1, 10 * i + 5, 2]]).flat();
    spans.unshift([0, 0, 3000]);
    spans.push([n, 2500, 100]);
    const made = lanes(spans, [0, ...Array(n).fill(1)]);
    if (n === 64) {
      assert.equal(made.lanes.length, 1 + n);
      continue;
    }
    const [, requests] = made.lanes;
    assert.equal(made.lanes.length, 2);
    assert.deepEqual([requests.lanes.length, requests.height], [n, 2 * n]);
    // Open, each request has its rows.
    assert.equal(new Set(spans.map((_, i) => made.rowOf(i))).size, 1 + 2 * n);
    // The band has no gap or overlap where there are requests.
    const band = made.bandOf(requests);
    const begins = made.begins[band], ends = made.ends[band];
    for (let i = 1; i < begins.length; i++)
      assert.ok(begins[i] >= ends[i - 1]);
    assert.equal(made.at(band, 6, 0), 2);
    assert.equal(made.at(band, 8, 0), 1);
    assert.equal(made.at(band, 1639, 0), 2 * n - 1);
    assert.equal(made.at(band, 1641, 0), -1);
    assert.equal(made.at(band, 2550, 0), spans.length - 1);
    assert.equal(begins.reduce((sum, begin, i) => sum + ends[i] - begin, 0),
                 1640 + 100);
  }
});

test('searches agree with looking at every span', () => {
  const spans = Array.from({ length: 60 }, (_, i) => [0, 10 * i, 4]);
  const made = lanes(spans);
  for (let time = -5; time < 610; time++) {
    const ending = spans.findIndex(([, begin, duration]) =>
      begin + duration > time);
    const expected = ending < 0 ? 60 : ending;
    assert.equal(made.firstEnding(0, time), expected);
    for (const low of [0, 1, 7, 30, 59, 60])
      assert.equal(made.firstEnding(0, time, low), Math.max(low, expected));
  }
});

test('a point finds its span, or the nearest within reach', () => {
  const made = lanes([[0, 100, 10], [0, 200, 0]]);
  assert.equal(made.at(0, 105, 0), 0);
  assert.equal(made.at(0, 97, 3), 0);
  assert.equal(made.at(0, 96, 3), -1);
  assert.equal(made.at(0, 112, 3), 0);
  assert.equal(made.at(0, 199, 3), 1);
  assert.equal(made.at(0, 203, 3), 1);
  assert.equal(made.at(0, 150, 3), -1);
});
