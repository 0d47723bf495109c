// SPDX-License-Identifier: MIT
// The shape of trees, compared with slower computations.
import test from 'node:test';
import assert from 'node:assert/strict';
import { Tree } from '../../../profiler/view/data/tree.mjs';
import { random } from './made.mjs';
import { byteMetrics, flopMetric, makeMetrics,
         nodeBytes } from '../../../profiler/view/model/metrics.mjs';
import { makeColumns }
  from '../../../profiler/view/views/tree-columns.mjs';
import { counterLines } from '../../../profiler/view/widgets/fact-lines.mjs';

function randomParents(seed, n) {
  const next = random(seed);
  return Int32Array.from({ length: n }, (_, i) => next(i + 1) - 1);
}

test('children are those whose parent a node is', () => {
  const parents = randomParents(1, 300);
  const tree = new Tree(parents);
  for (let node = -1; node < 300; node++)
    assert.deepEqual(Array.from(tree.children(node)),
                     Array.from(parents.keys()).filter((i) =>
                       parents[i] === node));
});

test('depths and paths lead to the roots', () => {
  const parents = randomParents(2, 300);
  const tree = new Tree(parents);
  for (let node = 0; node < 300; node++) {
    const path = tree.path(node);
    assert.equal(path.length, tree.depths[node] + 1);
    assert.equal(parents[path[0]], -1);
    assert.equal(path.at(-1), node);
  }
  assert.deepEqual(tree.path(-1), []);
});

test('sums hold all that is below', () => {
  const parents = randomParents(3, 300);
  const next = random(4);
  const own = Float64Array.from(parents, () => next(1000));
  const tree = new Tree(parents);
  const below = (node) => own[node] + Array.from(tree.children(node))
    .reduce((sum, child) => sum + below(child), 0);
  const sums = tree.sums(own);
  for (let node = 0; node < 300; node++)
    assert.equal(sums[node], below(node));
});

test('a walk comes to each node once, parents first, heaviest first', () => {
  const parents = randomParents(5, 300);
  const next = random(6);
  const value = Float64Array.from(parents, () => next(50));
  const tree = new Tree(parents);
  const order = [...tree.walk(value)];
  assert.equal(new Set(order).size, 300);
  const place = new Map(order.map((node, i) => [node, i]));
  for (let node = 0; node < 300; node++) {
    if (parents[node] >= 0)
      assert.ok(place.get(parents[node]) < place.get(node));
    const children = tree.sorted(node, value);
    for (let i = 1; i < children.length; i++) {
      assert.ok(value[children[i - 1]] >= value[children[i]]);
      assert.ok(place.get(children[i - 1]) < place.get(children[i]));
    }
  }
});

test('very many siblings are harmless', () => {
  const parents = new Int32Array(300000).fill(0);
  parents[0] = -1;
  const tree = new Tree(parents);
  let count = 0;
  for (const node of tree.walk(new Float64Array(300000)))
    count += node >= 0 ? 1 : 0;
  assert.equal(count, 300000);
});

function profileWith(counters) {
  const tree = new Tree(Int32Array.from([-1, 0, 0]));
  const zeros = () => new Float64Array(3);
  return { tree, self: zeros(), total: Float64Array.of(10, 4, 5),
           work: zeros(), treeWork: zeros(), wait: zeros(),
           treeWait: zeros(), queue: zeros(), calls: Float64Array.of(1, 2, 3),
           allocBytes: zeros(), allocCount: zeros(),
           counters: counters.map(([name, own]) =>
             ({ name, unit: 'bytes', own: Float64Array.from(own) })) };
}

test('a metric that was not counted is not offered', () => {
  const metrics = makeMetrics(profileWith([['bytes asked', [0, 0, 0]]]));
  assert.deepEqual(metrics.map((one) => one.id), ['wall', 'calls']);
  assert.equal(metrics[0].sum, 10);
  assert.equal(metrics[1].sum, 6);
});

// C's text has the same formulas: tests/profiler/files/test-text.c.
test('operations are set against time on CPUs and bytes', () => {
  const profile = profileWith([['bytes delivered', [0, 0, 4]]]);
  Object.assign(profile, { work: Float64Array.of(4, 4, 2),
                           treeWork: Float64Array.of(10, 4, 2) });
  profile.counters.push(
    { name: 'flop', unit: 'flop', own: Float64Array.of(10, 20, 0) },
    { name: 'more', unit: 'flop', own: Float64Array.of(0, 0, 6) });
  const flop = flopMetric(makeMetrics(profile));
  assert.equal(flop.sum, 36);
  assert.equal(flop.total[2], 6);
  const cell = (id, node) => {
    const metrics = makeMetrics(profile);
    return makeColumns({ metrics, size: 3 }, metrics[0])
      .find((column) => column.id === id).cell(node)[0];
  };
  assert.equal(cell('flops', 0), '3.60');
  assert.equal(cell('rate', 0), '400');
  assert.equal(cell('intensity', 0), '9.00');
  assert.equal(cell('intensity', 2), '1.50');
  profile.starved = Float64Array.of(1, 2, 2);
  assert.equal(cell('flops', 0), '7.20');
  assert.equal(cell('flops', 2), '');
  assert.equal(cell('rate', 0), '400');
  const lines = counterLines({ metrics: makeMetrics(profile) }, 0, 10);
  assert.match(lines[1][1], /^30.flop, 6.00.GFLOP\/s a thread$/);
  assert.equal(flopMetric(makeMetrics(profileWith([]))), null);
});

test('delivered bytes are preferred to requested bytes', () => {
  const metrics = makeMetrics(profileWith([
    ['bytes asked', [9, 0, 0]], ['something', [1, 1, 1]],
    ['bytes decoded', [0, 7, 0]], ['bytes delivered', [0, 0, 3]]]));
  const counters = byteMetrics(metrics);
  assert.deepEqual(counters.map((one) => one.label),
                   ['bytes delivered', 'bytes decoded', 'bytes requested',
                    'something']);
  assert.equal(nodeBytes(counters, 0).label, 'bytes delivered');
  assert.equal(nodeBytes(counters, 1).label, 'bytes decoded');
  assert.equal(nodeBytes(counters, 2).label, 'bytes delivered');
  assert.equal(nodeBytes([], 0), null);
});
