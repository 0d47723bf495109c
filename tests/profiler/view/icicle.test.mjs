// SPDX-License-Identifier: MIT
// The layout of the icicle's boxes.
import test from 'node:test';
import assert from 'node:assert/strict';
import { Tree } from '../../../profiler/view/data/tree.mjs';
import { boxAt, firstAfter,
         layoutIcicle } from '../../../profiler/view/model/icicle-layout.mjs';

function close(a, b) {
  assert.ok(Math.abs(a - b) < 1e-9, a + ' is not ' + b);
}

function layout(parents, total) {
  const tree = new Tree(Int32Array.from(parents));
  return layoutIcicle(tree, { total: Float64Array.from(total) });
}

test('children have their share of the parent, heaviest first', () => {
  const { left, right } = layout([-1, 0, 0], [100, 20, 50]);
  close(left[0], 0);
  close(right[0], 1);
  close(left[2], 0);
  close(right[2], 0.5);
  close(left[1], 0.5);
  close(right[1], 0.7);
});

test('children that ran at once share the width of their parent', () => {
  const { left, right } = layout([-1, 0, 0], [100, 100, 300]);
  close(left[2], 0);
  close(right[2], 0.75);
  close(left[1], 0.75);
  close(right[1], 1);
});

test('roots share the whole', () => {
  const { left, right } = layout([-1, -1], [30, 10]);
  close(right[0], 0.75);
  close(left[1], 0.75);
  close(right[1], 1);
});

test('nodes without a value have no box, nor have their children', () => {
  const { rows } = layout([-1, 0, 1, 0], [10, 0, 0, 10]);
  assert.deepEqual(rows, [[0], [3]]);
});

test('an empty tree has no rows', () => {
  assert.deepEqual(layout([], []).rows, []);
  assert.deepEqual(layout([-1], [0]).rows, []);
});

test('no box leaves its parent, and boxes of a row do not overlap', () => {
  let state = 7;
  const next = (n) => (state = (state * 48271) % 2147483647) % n;
  const parents = Array.from({ length: 500 }, (_, i) => next(i + 1) - 1);
  const total = parents.map(() => next(1000));
  const { left, right, rows } = layout(parents, total);
  for (const row of rows)
    row.forEach((node, i) => {
      if (parents[node] >= 0) {
        assert.ok(left[node] >= left[parents[node]] - 1e-12);
        assert.ok(right[node] <= right[parents[node]] + 1e-12);
      }
      if (i > 0)
        assert.ok(left[node] >= right[row[i - 1]] - 1e-12);
    });
});

test('a search in a row agrees with looking at all of it', () => {
  const { right, rows } = layout([-1, 0, 0, 0, 0], [10, 1, 2, 3, 4]);
  for (let x = 0; x <= 1; x += 0.01) {
    const found = rows[1].findIndex((node) => right[node] > x);
    assert.equal(firstAfter(rows[1], right, x),
                 found < 0 ? rows[1].length : found);
  }
});

test('the box at a place is the one that holds it, between boxes none', () => {
  // Of the two boxes in the middle, the second has a small one below it.
  const made = layout([-1, 0, 0, 1], [10, 4, 6, 1]);
  const { left, right, rows } = made;
  for (const row of rows)
    for (let x = 0.001; x < 1; x += 0.01)
      assert.equal(boxAt(made, row, x), row.find((node) =>
        left[node] <= x && x < right[node]) ?? -1);
  assert.equal(boxAt(made, rows[2], 0.5), -1);
  assert.equal(boxAt(made, rows[2], 0.65), 3);
});
