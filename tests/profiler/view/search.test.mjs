// SPDX-License-Identifier: MIT
// Finding scopes by name, and their percentage of the whole.
import test from 'node:test';
import assert from 'node:assert/strict';
import { Tree } from '../../../profiler/view/data/tree.mjs';
import { layoutIcicle } from '../../../profiler/view/model/icicle-layout.mjs';
import { makeMatcher, matchNodes,
         matchedShare } from '../../../profiler/view/data/search.mjs';

test('a part of a name matches in any case', () => {
  const matches = makeMatcher('DeCo');
  assert.ok(matches('decode blosc'));
  assert.ok(!matches('place'));
});

test('special characters of expressions are plain text', () => {
  assert.ok(makeMatcher('a.b(')('xA.B(y'));
  assert.ok(!makeMatcher('a.b')('axb'));
});

test('a query between slashes is an expression', () => {
  const matches = makeMatcher('/^re(ad|st)$/');
  assert.ok(matches('read'));
  assert.ok(matches('REST'));
  assert.ok(!matches('reader'));
});

test('no query and an invalid one are distinguished', () => {
  assert.equal(makeMatcher(''), null);
  assert.equal(makeMatcher('/(/'), undefined);
  assert.equal(matchNodes({ names: ['a'] }, ''), null);
  assert.equal(matchNodes({ names: ['a'] }, '/(/'), null);
  assert.deepEqual(Array.from(matchNodes({ names: ['ab', 'c'] }, 'b')),
                   [1, 0]);
});

test('a match inside another one is not counted twice', () => {
  // 0 > 1 > 2, 0 > 3: 1 and 2 match, and 3.
  const tree = new Tree(Int32Array.from([-1, 0, 1, 0]));
  const total = Float64Array.of(100, 50, 30, 20);
  const layout = layoutIcicle(tree, { total });
  const share = (...matched) =>
    Math.round(1000 * matchedShare(tree, layout, matched));
  assert.equal(share(0, 1, 1, 0), 500);
  assert.equal(share(0, 0, 1, 1), 500);
  assert.equal(share(0, 1, 0, 1), 700);
  assert.equal(share(1, 1, 1, 1), 1000);
  assert.equal(share(0, 0, 0, 0), 0);
});
