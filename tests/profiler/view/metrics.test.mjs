// SPDX-License-Identifier: MIT
// The metrics of a tree: work on CPUs and without one.
import test from 'node:test';
import assert from 'node:assert/strict';
import { functionStats }
  from '../../../profiler/view/model/function-stats.mjs';
import { runShape, totalsOfRuns }
  from '../../../profiler/view/model/run-shape.mjs';
import { transform } from '../../../profiler/view/model/transforms.mjs';
import { makeColumns } from '../../../profiler/view/views/tree-columns.mjs';
import { makeDocument, makeProfile } from './made.mjs';
import { readProfile } from '../../../profiler/view/data/profile.mjs';

// read > decode, on two threads, the second mostly without a CPU.
const NODES = [
  { name: 'read', calls: 1, total_ns: 1000, self_ns: 100, work_ns: 100 },
  { name: 'decode', parent: 0, calls: 2, total_ns: 900, self_ns: 900,
    work_ns: 800 },
  { name: 'decode', parent: 0, edge: 1, calls: 2, total_ns: 900,
    self_ns: 900, work_ns: 700 },
];

function starvedProfile(starved = [0, 100, 600]) {
  const document = makeDocument(NODES, []);
  document.nodes.starved_ns = starved;
  return readProfile(JSON.stringify(document));
}

const idsOf = ({ metrics }) => metrics.map(({ id }) => id);

test('work is divided by whether threads had a CPU', async () => {
  const shape = runShape(await starvedProfile());
  assert.deepEqual(idsOf(shape).slice(0, 5),
                   ['wall', 'work', 'cpu', 'starved', 'self']);
  assert.deepEqual([...shape.metric('cpu').total], [900, 700, 100]);
  assert.deepEqual([...shape.metric('starved').total], [700, 100, 600]);
  assert.equal(shape.metric('cpu').sum + shape.metric('starved').sum,
               shape.metric('work').sum);
  const labels = makeColumns(shape, shape.metric('starved'))
    .map(({ label }) => label);
  assert.deepEqual(labels.slice(0, 7), ['total', '% of no CPU', 'self', 'work',
                                        'on CPUs', 'no CPU', 'wait']);
});

test('a share of time is of the roots\u2019, by its name too', async () => {
  // Two threads at once, with a root each: wall time is half of both.
  const profile = await makeProfile([
    { name: 'work', calls: 1, total_ns: 1000, self_ns: 1000 },
    { name: 'watch', calls: 1, total_ns: 600, self_ns: 600 }], []);
  const shape = runShape(profile), wall = shape.metric('wall');
  const column = makeColumns(shape, wall).find(({ id }) => id === 'share');
  assert.equal(column.label, '% of roots\u2019 time');
  assert.deepEqual([0, 1].map((node) => column.cell(node)[0]),
                   ['62.5\u00a0%', '37.5\u00a0%']);
});

test('functions and transformed trees know it', async () => {
  const profile = await starvedProfile();
  const shape = runShape(profile);
  const { rows } = functionStats(shape, '', '');
  assert.deepEqual(rows.map(({ work, cpu, starved }) => [work, cpu, starved]),
                   [[100, 100, 0], [1500, 800, 700]]);
  const focused = transform(shape, { kind: 'f', site: profile.sites.of[2] });
  assert.equal(focused.metric('starved').sum, 700);
  assert.equal(focused.metric('cpu').sum, 800);
});

test('runs are compared by it where they were recorded by it', async () => {
  const shape = runShape(await starvedProfile());
  assert.deepEqual(totalsOfRuns(shape, 'starved').map((one) => [...one]),
                   [[700, 100, 600]]);
  shape.runs.push(shape.runs[0]);
  assert.equal(totalsOfRuns(shape, 'cpu'), null);
});

test('without such times there are no such metrics', async () => {
  for (const profile of [await starvedProfile([0, 0, 0]),
                         await makeProfile(NODES, [])]) {
    const shape = runShape(profile);
    assert.deepEqual(idsOf(shape), ['wall', 'work', 'self', 'calls']);
    assert.ok(!makeColumns(shape, shape.metric('wall'))
      .some(({ id }) => id === 'cpu' || id === 'starved'));
  }
});
