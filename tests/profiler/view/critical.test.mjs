// SPDX-License-Identifier: MIT
// The critical path, on histories whose path is known, and its invariants on
// random ones.
import test from 'node:test';
import assert from 'node:assert/strict';
import { findPath, longestRoot, pathBySite,
         rootOf } from '../../../profiler/view/model/critical.mjs';
import { atOnce } from '../../../profiler/view/data/slices.mjs';
import { block, history, makeProfile } from './made.mjs';

// The pieces as [{ span, from, to }].
function piecesOf({ spans, froms, tos }) {
  return spans.map((span, i) => ({ span, from: froms[i], to: tos[i] }));
}

function named(profile, path) {
  return piecesOf(path).map(({ span, from, to }) =>
    [profile.names[profile.spans.node[span]], from, to]);
}

const NODES = [{ name: 'read' }, { name: 'a', parent: 0 },
               { name: 'b', parent: 0 }, { name: 'c', parent: 0, edge: 1 },
               { name: 'wait', parent: 0, category: 'queue' }];

async function pathOf(spans, changes) {
  const profile = await makeProfile(NODES, spans, changes);
  return named(profile, atOnce(findPath(profile, longestRoot(profile))));
}

test('one after the other, with what is between', async () => {
  assert.deepEqual(await pathOf([
    { lane: 0, node: 0, begin: 0, duration: 100 },
    { lane: 0, node: 1, begin: 10, duration: 20, parent: 0 },
    { lane: 0, node: 2, begin: 40, duration: 50, parent: 0 },
  ]), [['read', 90, 100], ['b', 40, 90], ['read', 30, 40], ['a', 10, 30],
       ['read', 0, 10]]);
});

test('of two at once the one that ended last', async () => {
  assert.deepEqual(await pathOf([
    { lane: 0, node: 0, begin: 0, duration: 100 },
    { lane: 0, node: 1, begin: 10, duration: 50, parent: 0 },
    { lane: 1, node: 3, begin: 20, duration: 75, parent: 0 },
  ]), [['read', 95, 100], ['c', 20, 95], ['a', 10, 20], ['read', 0, 10]]);
});

test('a wait leads to what was waited for', async () => {
  assert.deepEqual(await pathOf([
    { lane: 0, node: 0, begin: 0, duration: 100 },
    { lane: 0, node: 1, begin: 10, duration: 30, parent: 0 },
    { lane: 1, node: 3, begin: 5, duration: 85, parent: 0 },
    { lane: 0, node: 4, begin: 40, duration: 55, wait: 55, parent: 0 },
  ]), [['read', 90, 100], ['c', 5, 90], ['read', 0, 5]]);
});

// A column of the time without a CPU of single spans: [[span, ns], ...] by
// their order in the file.
const starvedOf = (pairs) => ({ starved: block([
  pairs.map(([span], i) => span - (i > 0 ? pairs[i - 1][0] + 1 : 0)),
  pairs.map(([, ns]) => ns)]) });

test('a wait that also lacked a CPU is a wait; work that lacked one is not',
     async () => {
  const spans = (wait) => [
    { lane: 0, node: 0, begin: 0, duration: 100 },
    { lane: 0, node: 4, begin: 40, duration: 55, wait, parent: 0 },
    { lane: 1, node: 3, begin: 35, duration: 55, parent: 0 },
  ];
  const followed = [['read', 90, 100], ['c', 35, 90], ['read', 0, 35]];
  assert.deepEqual(await pathOf(spans(40), starvedOf([[1, 15]])), followed);
  assert.deepEqual(await pathOf(spans(40)),
                   [['read', 95, 100], ['wait', 40, 95], ['read', 0, 40]]);
  assert.deepEqual(await pathOf(spans(0), starvedOf([[1, 55]])),
                   [['read', 95, 100], ['wait', 40, 95], ['read', 0, 40]]);
});

test('before a worker began the path is where the thread itself was',
     async () => {
  assert.deepEqual(await pathOf([
    { lane: 0, node: 0, begin: 0, duration: 200 },
    { lane: 0, node: 1, begin: 0, duration: 99, parent: 0 },
    { lane: 1, node: 3, begin: 90, duration: 104, parent: 0 },
    { lane: 0, node: 4, begin: 100, duration: 100, wait: 100, parent: 0 },
  ]), [['read', 194, 200], ['c', 90, 194], ['a', 0, 90]]);
});

test('one wait for many leads from each to the one that ended before it',
     async () => {
  assert.deepEqual(await pathOf([
    { lane: 0, node: 0, begin: 0, duration: 100 },
    { lane: 0, node: 4, begin: 5, duration: 90, wait: 90, parent: 0 },
    { lane: 1, node: 3, begin: 10, duration: 40, parent: 0 },
    { lane: 2, node: 3, begin: 55, duration: 39, parent: 0 },
  ]), [['read', 94, 100], ['c', 55, 94], ['read', 50, 55], ['c', 10, 50],
       ['wait', 5, 10], ['read', 0, 5]]);
});

test('a wait for nothing that is known is itself on the path', async () => {
  assert.deepEqual(await pathOf([
    { lane: 0, node: 0, begin: 0, duration: 100 },
    { lane: 0, node: 4, begin: 40, duration: 55, wait: 55, parent: 0 },
  ]), [['read', 95, 100], ['wait', 40, 95], ['read', 0, 40]]);
});

test('a span that outlives its parent ends with it', async () => {
  assert.deepEqual(await pathOf([
    { lane: 0, node: 0, begin: 0, duration: 100 },
    { lane: 1, node: 3, begin: 60, duration: 35, parent: 0 },
    { lane: 2, node: 3, begin: 70, duration: 90, parent: 0 },
  ]), [['c', 70, 100], ['read', 0, 70]]);
});

test('the path of any history is its time, without gap or overlap',
     async () => {
  for (let seed = 1; seed < 20; seed++) {
    const { nodes, spans } = history(seed, 150);
    const profile = await makeProfile(nodes, spans);
    for (let i = 0; i < profile.spans.count; i++) {
      const root = rootOf(profile, i);
      assert.equal(profile.parentOf(root), -1);
      const { begin, duration } = profile.spans;
      const path = atOnce(findPath(profile, root));
      let time = begin[root] + duration[root];
      for (const { span, from, to } of piecesOf(path)) {
        assert.equal(to, time);
        assert.ok(from < to);
        assert.ok(from >= begin[span] && to <= begin[span] + duration[span]);
        assert.equal(rootOf(profile, span), root);
        time = from;
      }
      assert.equal(time, begin[root]);
      assert.equal(pathBySite(profile, path).reduce((sum, [, ns]) =>
        sum + ns, 0), duration[root]);
    }
  }
});

test('a deep chain is harmless', async () => {
  const n = 20000;
  const nodes = [{ name: 'f' }];
  const spans = Array.from({ length: n }, (_, i) =>
    ({ lane: 0, node: 0, begin: i, duration: 3 * n - 2 * i,
       parent: i - 1 }));
  const profile = await makeProfile(nodes, spans);
  const path = atOnce(findPath(profile, longestRoot(profile)));
  assert.equal(piecesOf(path).reduce((sum, { from, to }) => sum + to - from, 0),
               3 * n);
});

test('a path of many children that wait is found in many short steps',
     async () => {
  // Two threads: one waits for the other, over and over.
  const n = 60000;
  const profile = await makeProfile(NODES, [
    { lane: 0, node: 0, begin: 0, duration: 10 * n },
    ...Array.from({ length: n }, (_, i) => [
      { lane: 0, node: 4, begin: 10 * i, duration: 9, wait: 9, parent: 0 },
      { lane: 1, node: 3, begin: 10 * i + 1, duration: 7, parent: 0 },
    ]).flat()]);
  const work = findPath(profile, longestRoot(profile));
  let steps = 0, step;
  do {
    step = work.next();
    steps++;
  } while (!step.done);
  assert.ok(steps > 2 * n / 4096);
  assert.equal(step.value.sums[3], 7 * n);
  assert.equal(step.value.sums[4], n);
});

test('no step of it takes more than a few looks at each span', async () => {
  const n = 60000;
  const profile = await makeProfile(NODES, [
    { lane: 0, node: 0, begin: 0, duration: 10 * n },
    ...Array.from({ length: n }, (_, i) => [
      { lane: 0, node: 4, begin: 10 * i, duration: 9, wait: 9, parent: 0 },
      // On many threads, so that children must be sorted.
      { lane: 1 + i % 7, node: 3, begin: 10 * i + 1, duration: 7, parent: 0 },
    ]).flat()]);
  const { spans } = profile;
  let looks = 0, most = 0, step;
  for (const name of ['begin', 'duration', 'lane', 'wait'])
    spans[name] = new Proxy(spans[name], {
      get: (column, key) => { looks++; return column[key]; } });
  const work = findPath(profile, longestRoot(profile));
  do {
    looks = 0;
    step = work.next();
    most = Math.max(most, looks);
  } while (!step.done);
  // 100 ms of 1.1 M spans are 90 ns for each.
  assert.ok(most <= 8 * spans.count, `${most / spans.count} of each`);
  assert.equal(step.value.sums[3], 7 * n);
});
