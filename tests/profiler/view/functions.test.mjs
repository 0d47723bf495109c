// SPDX-License-Identifier: MIT
// Functions from all places, compared with sums over paths and sorted lists;
// and the text copied of a scope.
import test from 'node:test';
import assert from 'node:assert/strict';
import { bucketQuantile, findQuantile, functionStats, hottest, spanFilter }
  from '../../../profiler/view/model/function-stats.mjs';
import { Model } from '../../../profiler/view/model/model.mjs';
import { makeSandwich } from '../../../profiler/view/views/sandwich.mjs';
import { stackMarkdown, stackText }
  from '../../../profiler/view/widgets/share.mjs';
import { extent } from '../../../profiler/view/widgets/spark.mjs';
import { history, makeProfile, random } from './made.mjs';

async function made(seed, changes) {
  const { nodes, spans } = history(seed, 300);
  nodes.forEach((node, i) => {
    const own = spans.filter((span) => span.node === i);
    Object.assign(node, {
      calls: own.length, self_ns: 10 * own.length,
      total_ns: own.reduce((sum, one) => sum + one.duration, 0),
    });
  });
  const profile = await makeProfile(nodes, spans, changes);
  const values = { range: '', lanes: '', transforms: '', metric: 'wall' };
  return { profile, values, spans, nodes,
           model: new Model(profile, { get: (key) => values[key] }) };
}

// With the spread of all.
function measured(...asked) {
  const stats = functionStats(...asked);
  stats.measure(stats.rows);
  return stats;
}

test('calls and self of a function are those of all its nodes', async () => {
  const { profile, model, nodes } = await made(1);
  const { rows, isExact } = functionStats(model.whole, '', '');
  assert.ok(isExact);
  for (const { site, calls, self, mean, total } of rows) {
    const name = profile.names[profile.sites.first[site]];
    const own = nodes.filter((one) => one.name === name);
    assert.equal(calls, own.reduce((sum, one) => sum + one.calls, 0));
    assert.equal(self, own.reduce((sum, one) => sum + one.self_ns, 0));
    assert.equal(mean, total / calls);
  }
});

test('the total of a recursive function counts once', async () => {
  const profile = await makeProfile(
    [{ name: 'f', calls: 1, total_ns: 100 },
     { name: 'g', parent: 0, calls: 1, total_ns: 90 },
     { name: 'f', parent: 1, calls: 2, total_ns: 50 }], []);
  const model = new Model(profile, { get: () => '' });
  const { rows } = functionStats(model.whole, '', '');
  assert.deepEqual(rows.map(({ calls, total }) => [calls, total]),
                   [[3, 100], [1, 90]]);
});

test('percentiles are of sorted durations', async () => {
  const { profile, model, spans, nodes } = await made(2);
  const { rows } = measured(model.whole, '', '');
  for (const { site, p50, p90, p99, buckets } of rows) {
    const name = profile.names[profile.sites.first[site]];
    const all = spans.filter((span) => nodes[span.node].name === name)
      .map((span) => span.duration).sort((a, b) => a - b);
    const rank = (share) => all.findIndex((ns) =>
      all.filter((one) => one <= ns).length >= share * all.length);
    assert.deepEqual([p50, p90, p99], [0.5, 0.9, 0.99].map((share) =>
      all[rank(share)]));
    assert.equal(buckets.reduce((a, b) => a + b, 0), all.length);
    all.forEach((ns) => assert.ok(buckets[Math.floor(Math.log2(ns))] > 0));
  }
});

test('a stretch and lanes leave the spans that are there', async () => {
  const { profile, model, values, spans } = await made(3);
  Object.assign(values, { range: '300-700', lanes: '0,2' });
  const { rows } = measured(model.shape(), '300-700', '0,2');
  const there = spans.filter((span) => span.begin < 700
    && span.begin + span.duration > 300 && span.lane !== 1);
  assert.equal(rows.reduce((sum, one) =>
    sum + one.buckets.reduce((a, b) => a + b, 0), 0), there.length);
  const wanted = spanFilter(profile, '300-700', '0,2');
  const kept = Array.from({ length: spans.length }, (_, i) => i)
    .filter(wanted);
  assert.equal(kept.length, there.length);
});

test('a stretch has the runs that the tree counts, and no neighbours',
     async () => {
  const { model, values, spans } = await made(3);
  for (const { begin, duration } of spans) {
    const range = `${begin + duration}-${begin + duration + 300}`;
    Object.assign(values, { range, lanes: '' });
    for (const { calls, buckets } of measured(model.shape(), range, '').rows)
      assert.equal(buckets.reduce((a, b) => a + b, 0), calls);
  }
});

test('the spread of rows is computed on request', async () => {
  const { model } = await made(2);
  const all = measured(model.whole, '', '').rows;
  const { rows, measure } = functionStats(model.whole, '', '');
  const [first, ...rest] = rows;
  measure([first]);
  assert.deepEqual(first, all[0]);
  assert.ok(rest.length > 1);
  assert.ok(rest.every(({ p50, buckets }) => p50 === undefined
    && buckets === undefined));
  measure(rows);
  assert.deepEqual(rows, all);
});

test('hidden functions have no row', async () => {
  const { profile, model, values } = await made(4);
  const hidden = profile.names.indexOf('b');
  values.transforms = 'h' + hidden;
  const { rows } = functionStats(model.shape(), '', '');
  assert.ok(rows.every(({ site }) => site !== profile.sites.of[hidden]));
  assert.ok(rows.length > 0);
});

test('where spans were dropped, histograms are used', async () => {
  const { model } = await made(5, {
    info: { title: 't', parts: 'none', dropped_count: 3 },
    histograms: { node: [0, 0], bucket: [4, 10], count: [90, 10] },
  });
  const { rows, isExact } = measured(model.whole, '', '');
  const [first] = rows;
  assert.ok(!isExact);
  assert.equal(first.buckets[4], 90);
  assert.ok(first.p50 >= 16 && first.p50 < 32);
  assert.ok(first.p99 >= 1024 && first.p99 < 2048);
});

test('quantiles need no order, and leave all values there', () => {
  const next = random(5);
  for (let n = 1; n < 200; n += 7) {
    const values = Float64Array.from({ length: n }, () => next(1 + n / 2));
    const sorted = values.slice().sort(), before = values.slice();
    for (const share of [1, 0.9, 0.5, 0.99])
      assert.equal(values[findQuantile(values, share)],
                   sorted[Math.ceil(share * n) - 1]);
    let at = 0;
    for (const share of [0.5, 0.9, 0.99, 1]) {
      at = findQuantile(values, share, at);
      assert.equal(values[at], sorted[Math.ceil(share * n) - 1]);
    }
    assert.deepEqual(values.sort(), before.sort());
  }
});

test('quantiles of few, of one and of buckets', () => {
  assert.equal(findQuantile([7], 0.99), 0);
  assert.equal(findQuantile([1, 2, 3, 4], 0.5), 1);
  assert.equal(findQuantile([1, 2, 3, 4], 1), 3);
  assert.equal(bucketQuantile([0, 0, 4], 0.5), 6);
  assert.equal(bucketQuantile([0, 0, 4], 1), 8);
  assert.equal(bucketQuantile([0, 0, 0], 0.5), 0);
  assert.equal(extent([0, 0, 0]), null);
  assert.deepEqual(extent([0, 2, 0, 1, 0]), [1, 3]);
});

test('the longest runs are those of a sorted list', async () => {
  const { profile, spans, nodes } = await made(6);
  const next = random(1);
  for (let i = 0; i < 6; i++) {
    const site = profile.sites.of[next(profile.tree.size)];
    const name = profile.names[profile.sites.first[site]];
    const wanted = spans.filter((span) => nodes[span.node].name === name)
      .map(({ duration }) => duration).sort((a, b) => b - a).slice(0, 12);
    const found = hottest(profile, site, 12, () => true);
    assert.deepEqual(found.map((span) => profile.spans.duration[span]),
                     wanted);
  }
});

function isOutermost(shape, node, site) {
  return shape.site(node) === site && shape.tree.path(node).slice(0, -1)
    .every((one) => shape.site(one) !== site);
}

test('a sandwich has the same scope in its middle', async () => {
  const { model } = await made(7);
  for (const site of [0, 1, 2]) {
    const { callers, callees } = makeSandwich(model.whole, site);
    const [above] = callers.tree.children(-1);
    const [below] = callees.tree.children(-1);
    assert.equal(callers.site(above), site);
    assert.equal(callees.site(below), site);
    assert.equal(callers.tree.children(-1).length, 1);
    assert.equal(callees.metric('calls').own[below],
                 model.whole.calls.reduce((sum, n, node) =>
                   sum + (isOutermost(model.whole, node, site) ? n : 0),
                                          0));
  }
});

test('a stack is copied with its root first, names as they are',
     async () => {
  const profile = await makeProfile(
    [{ name: 'read|all', calls: 1, total_ns: 5000, self_ns: 1000 },
     { name: '*tile*\n2', parent: 0, calls: 1200, total_ns: 4000,
       self_ns: 4000 }], []);
  const model = new Model(profile, { get: () => '' });
  assert.equal(stackText(model.whole, 1),
               'read|all  5.00\u00a0\u00b5s, 1 call\n'
               + '  *tile*\n2  4.00\u00a0\u00b5s, 1,200 calls\n');
  assert.equal(stackMarkdown(model.whole, 1),
    '| scope | total | self | calls |\n|:--|--:|--:|--:|\n'
    + '| read\\|all | 5.00\u00a0\u00b5s | 1.00\u00a0\u00b5s | 1 |\n'
    + '| \u00a0\u00a0\\*tile\\* 2 | 4.00\u00a0\u00b5s | 4.00\u00a0\u00b5s '
    + '| 1,200 |\n');
});
