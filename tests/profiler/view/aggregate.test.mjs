// SPDX-License-Identifier: MIT
// Sums of spans, compared with a slow computation that looks at every
// nanosecond.
import test from 'node:test';
import assert from 'node:assert/strict';
import { aggregateSpans } from '../../../profiler/view/model/aggregate.mjs';
import { findParents,
         findChildren,
         sortBy } from '../../../profiler/view/data/causes.mjs';
import { atOnce } from '../../../profiler/view/data/slices.mjs';
import { Model } from '../../../profiler/view/model/model.mjs';
import { history, makeProfile, random } from './made.mjs';

function close(a, b, what) {
  assert.ok(Math.abs(a - b) < 1e-6, what + ': ' + a + ' is not ' + b);
}

// Finds for every nanosecond the running span and its children.
function bySteps(profile, from, to, lanes) {
  const { spans, tree } = profile;
  const sums = { calls: [], total: [], self: [], work: [] };
  for (const column of Object.values(sums))
    column.push(...new Float64Array(tree.size));
  const runs = (i, t) => t >= spans.begin[i]
    && t < spans.begin[i] + spans.duration[i];
  for (let i = 0; i < spans.count; i++) {
    if (lanes && !lanes[spans.lane[i]])
      continue;
    const children = Array.from({ length: spans.count }, (_, k) => k)
      .filter((k) => spans.parent[k] === spans.id[i]);
    const end = spans.begin[i] + spans.duration[i];
    let seen = false;
    for (let t = Math.max(from, spans.begin[i]); t < Math.min(to, end); t++) {
      const below = children.filter((k) => runs(k, t));
      seen = true;
      sums.total[spans.node[i]]++;
      if (below.length === 0)
        sums.self[spans.node[i]]++;
      if (!below.some((k) => spans.lane[k] === spans.lane[i]))
        sums.work[spans.node[i]]++;
    }
    sums.calls[spans.node[i]] += seen ? 1 : 0;
  }
  return sums;
}

async function check(seed, from, to, lanes) {
  const { nodes, spans } = history(seed, 80);
  const profile = await makeProfile(nodes, spans);
  const got = aggregateSpans(profile, { from, to, lanes });
  const expected = bySteps(profile, from, to, lanes);
  for (const [name, column] of Object.entries(expected))
    column.forEach((value, node) => close(got[name][node], value,
                                          name + ' of ' + node));
}

test('all of the time equals the sum over nanoseconds', async () => {
  for (let seed = 1; seed < 8; seed++)
    await check(seed, 0, 1e9, null);
});

test('so is any stretch of it', async () => {
  const next = random(5);
  for (let seed = 1; seed < 8; seed++) {
    const from = next(600);
    await check(seed, from, from + 1 + next(500), null);
  }
});

test('so are some of the lanes', async () => {
  await check(3, 0, 1e9, [1, 0, 0]);
  await check(4, 100, 700, [0, 1, 1]);
});

test('adjoining stretches add up to the whole', async () => {
  const { nodes, spans } = history(9, 300);
  const profile = await makeProfile(nodes, spans);
  const stretch = (from, to) =>
    aggregateSpans(profile, { from, to, lanes: null });
  const whole = stretch(0, profile.end);
  const parts = [[0, 333], [333, 1000], [1000, profile.end]]
    .map(([from, to]) => stretch(from, to));
  for (const name of ['total', 'self', 'work', 'wait', 'queue', 'bytes'])
    for (let node = 0; node < nodes.length; node++)
      close(parts.reduce((sum, one) => sum + one[name][node], 0),
            whole[name][node], name);
});

test('waiting is taken from work, and belongs to its part of time',
     async () => {
  const profile = await makeProfile([{ name: 'a' }],
    [{ lane: 0, node: 0, begin: 100, duration: 100, wait: 40 }]);
  const half = aggregateSpans(profile, { from: 150, to: 400, lanes: null });
  assert.equal(half.total[0], 50);
  assert.equal(half.wait[0], 20);
  assert.equal(half.work[0], 30);
});

test('requests and their phases do no work', async () => {
  const profile = await makeProfile(
    [{ name: 'read' }, { name: 'get', parent: 0, edge: 2 },
     { name: 'first byte', parent: 1, edge: 3 }],
    [{ lane: 0, node: 0, begin: 0, duration: 100 },
     { lane: 1, node: 1, begin: 10, duration: 50, parent: 0 },
     { lane: 1, node: 2, begin: 10, duration: 20, parent: 1 }]);
  const sums = aggregateSpans(profile, { from: 0, to: 100, lanes: null });
  assert.deepEqual(Array.from(sums.work), [100, 0, 0]);
  assert.deepEqual(Array.from(sums.self), [50, 30, 20]);
});

test('spans without duration are counted where they are', async () => {
  const profile = await makeProfile([{ name: 'mark' }],
    [{ lane: 0, node: 0, begin: 50, duration: 0 }]);
  const calls = (from, to) =>
    aggregateSpans(profile, { from, to, lanes: null }).calls[0];
  assert.equal(calls(0, 100), 1);
  assert.equal(calls(60, 100), 0);
});

test('parents are found by ids near and far apart', () => {
  const next = random(11);
  for (const step of [1, 100000]) {
    const n = 300;
    const id = Float64Array.from({ length: n }, (_, i) => 1 + i * step);
    const order = Array.from(id.keys()).sort(() => next(2) - 0.5);
    const shuffled = Float64Array.from(order, (i) => id[i]);
    const parent = Float64Array.from({ length: n }, () =>
      next(4) === 0 ? 0 : next(5) === 0 ? 7777777777 : id[next(n)]);
    const found = findParents({ id: shuffled, parent, count: n });
    for (let i = 0; i < n; i++)
      assert.equal(found[i], parent[i] === 0 ? -1
        : shuffled.indexOf(parent[i]));
  }
});

test('children are all that have the parent, by their begin', () => {
  const next = random(12);
  const count = 400;
  const begin = Float64Array.from({ length: count }, () => next(1000));
  const parents = Int32Array.from({ length: count }, (_, i) =>
    i === 0 ? -1 : next(i + 1) - 1);
  const { starts, list } = atOnce(
    findChildren({ count, begin }, parents));
  for (let i = 0; i < count; i++) {
    const children = Array.from(list.subarray(starts[i], starts[i + 1]));
    assert.deepEqual([...children].sort((a, b) => a - b),
                     Array.from(parents.keys()).filter((k) =>
                       parents[k] === i));
    for (let k = 1; k < children.length; k++)
      assert.ok(begin[children[k - 1]] <= begin[children[k]]);
  }
});

test('many numbers are sorted as few are, in steps', () => {
  const next = random(3);
  for (const n of [0, 1, 500, 40000]) {
    const keys = Float64Array.from({ length: n }, () =>
      next(100) * 2 ** next(45));
    const list = Uint32Array.from(keys.keys());
    const work = sortBy(list.slice(), (i) => keys[i]);
    let steps = 0, step;
    do {
      step = work.next();
      steps++;
    } while (!step.done);
    assert.deepEqual(step.value,
                     list.sort((a, b) => keys[a] - keys[b] || a - b));
    assert.equal(steps > 4, n > 20000);
  }
});

// Two scopes with bytes: the first requested more than it delivered, so its
// spans hold the bytes requested; no span holds requests and allocations.
async function narrowed(values) {
  const profile = await makeProfile(
    [{ name: 'read', alloc_count: 3, alloc_nbytes: 300 },
     { name: 'decode', parent: 0 }],
    [{ lane: 0, node: 0, begin: 0, duration: 1000, bytes: 80 },
     { lane: 0, node: 1, begin: 100, duration: 200, bytes: 60, parent: 0 },
     { lane: 0, node: 1, begin: 600, duration: 100, bytes: 30, parent: 0 }],
    { counters: { name: ['asked', 'delivered', 'decoded', 'requests'],
                  unit: ['bytes', 'bytes', 'bytes', 'count'] },
      values: { node: [0, 0, 0, 1], counter: [0, 1, 3, 2],
                value: [80, 50, 2, 90] } });
  return new Model(profile, { get: (key) => values[key] ?? '' });
}

test('a stretch of time has the counters that its spans hold', async () => {
  const model = await narrowed({ range: '0-500', metric: 'c:decoded' });
  assert.deepEqual(model.shape().metrics.filter(({ id }) =>
    id.startsWith('c:')).map(({ label, sum }) => [label, sum]),
                   [['asked', 40], ['decoded', 60]]);
  assert.equal(model.lacking(), '');
});

test('a part has no other counters, and no allocations', async () => {
  for (const [id, label] of [['c:requests', 'requests'],
                             ['c:delivered', 'delivered'],
                             ['allocs', 'allocations'],
                             ['alloc', 'bytes allocated']]) {
    const whole = await narrowed({ metric: id });
    assert.equal(whole.metric().id, id);
    assert.equal(whole.lacking(), '');
    for (const part of [{ range: '0-500' }, { lanes: '0' }]) {
      const model = await narrowed({ metric: id, ...part });
      assert.equal(model.metric().id, 'wall');
      assert.equal(model.lacking(), 'the log has no ' + label
        + ' for a part: shown by wall');
    }
  }
});

test('a counter without a value in the part is reported', async () => {
  const model = await narrowed({ range: '400-500', metric: 'c:decoded' });
  assert.equal(model.lacking(),
               'nothing here has any decoded: shown by wall');
});
