// SPDX-License-Identifier: MIT
// Why a run was slow: members, the median one, differences and their causes.
import test from 'node:test';
import assert from 'node:assert/strict';
import { causesOf, compareMembers, countsOf, groupName, groupOf, groupsOf,
         medianOf, membersOf, slowestOf }
  from '../../../profiler/view/model/why.mjs';
import { block, makeProfile, signed } from './made.mjs';

const MS = 1e6;

// read > decode > blosc > lz4, and read > GET (a request) > body.
const NODES = [
  { name: 'read', category: 'operation' },
  { name: 'decode', parent: 0, category: 'decode' },
  { name: 'blosc', parent: 1, category: 'decode' },
  { name: 'lz4', parent: 2, category: 'decode' },
  { name: 'GET', parent: 0, category: 'network', edge: 2 },
  { name: 'body', parent: 4, category: 'network', edge: 3 },
  { name: 'cache hit', parent: 0, category: 'place' },
];

// Five runs of 100 ms; the fourth took 152: lz4 had no CPU for 47 ms more, and
// GET took 5.
function fiveRuns(changes = {}) {
  const rows = [];
  for (let part = 0; part < 5; part++) {
    const slow = part === 3;
    const lz4 = 60 + (slow ? 47 : 0), get = 10 + (slow ? 5 : 0);
    const own = [[1, lz4 + get + 30, 5, 5, 0], [1, lz4 + 15, 5, 5, 0],
                 [1, lz4 + 10, 10, 10, 0],
                 [1, lz4, lz4, lz4, slow ? 50 : 3],
                 [slow ? 3 : 2, get, 2, 0, 0], [2, get - 2, get - 2, 0, 0]];
    own.forEach((values, node) => rows.push([node, part, ...values]));
    if (!slow)
      rows.push([6, part, 4, 0, 0, 0, 0]);
  }
  rows.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const column = (i, by = 1) => rows.map((row) => row[i] * by);
  const parts = Array.from({ length: 5 }, (_, i) => i);
  return makeProfile(NODES, [], {
    info: { title: 't', program: 'p', parts: 'runs', wall_ns: 552 * MS,
            dropped_count: 0 },
    parts: { name: parts.map((i) => 'run ' + (i + 1)),
             wall_ns: parts.map((i) => (i === 3 ? 152 : 100 + i / 10) * MS),
             work_ns: parts.map(() => 90 * MS) },
    shares: { node: column(0), part: column(1), calls: column(2),
              total_ns: column(3, MS), self_ns: column(4, MS),
              work_ns: column(5, MS), starved_ns: column(6, MS) },
    ...changes });
}

function compareWithMedian(profile, group, i) {
  const all = membersOf(profile, group);
  const other = medianOf(all.values, i);
  return compareMembers(profile, all.key(i), all.key(other),
                        all.values[i] - all.values[other]);
}

test('scopes of one name are distinguished by path and place', async () => {
  const step = { name: 'step', category: 'step' };
  const profile = await makeProfile([
    { name: 'train' }, { name: 'epoch', parent: 0 }, { ...step, parent: 1 },
    { name: 'check' }, { name: 'epoch', parent: 3 }, { ...step, parent: 4 },
    { ...step, parent: 4, line: 77 }, { name: 'load', parent: 2 }], []);
  const named = (...groups) =>
    groups.map((one) => groupName(profile, one, groups));
  assert.deepEqual(named('p', 'n2', 'n7'), ['runs', 'runs of step',
                                            'runs of load']);
  assert.deepEqual(named('n2', 'n5'),
                   ['runs of train \u203a epoch \u203a step',
                    'runs of check \u203a epoch \u203a step']);
  // Two loops of one function.
  assert.deepEqual(named('n5', 'n6'), [
    'runs of check \u203a epoch \u203a step at :0',
    'runs of check \u203a epoch \u203a step at :77']);
});

test('the median is of the others, and a member of them', () => {
  assert.equal(medianOf([5, 1, 9, 3, 7], 2), 3);
  assert.equal(medianOf([5, 1], 0), 1);
  assert.equal(medianOf([4, 4, 4], 0), 1);
  assert.equal(slowestOf([1, 9, 3, 9]), 1);
});

test('what cost most of a slow run is named with its kind', async () => {
  const profile = await fiveRuns();
  assert.deepEqual(groupsOf(profile, 0), ['p']);
  const all = membersOf(profile, 'p');
  assert.equal(slowestOf(all.values), 3);
  assert.equal(all.find('p3'), 3);
  assert.equal(all.name(3), 'run 4');
  const compared = compareWithMedian(profile, 'p', 3);
  assert.deepEqual(compared.labels,
                   ['on a CPU', 'without a CPU', 'waiting']);
  // The median of the others is run 2, of 100.1 ms.
  assert.equal(Math.round(compared.excess / MS * 10), 519);
  assert.deepEqual(causesOf(profile, compared), [
    { node: 3, kind: 1, amount: 47 * MS }]);
  assert.deepEqual(compared.rows[3].total, [107 * MS, 60 * MS]);
  assert.deepEqual(compared.rows[3].kinds, [0, 47 * MS, 0]);
  assert.deepEqual(compared.rows[5].kinds, [0, 0, 5 * MS]);
  assert.deepEqual(countsOf(profile, compared),
                   [['requests', 3, 2], ['cache hits', 0, 4]]);
});

test('threads that did the same for a path are one cause', async () => {
  const nodes = [{ name: 'read' }, { name: 'tiles', parent: 0 },
                 { name: 'fetch', parent: 1 },
                 { name: 'tiles', parent: 0, edge: 1 },
                 { name: 'fetch', parent: 3 }, { name: 'place', parent: 3 }];
  // Of two runs: which thread fetches is chance.
  const share = [[[1, 60], [1, 30]], [[1, 1], [1, 1]], [[5, 50], [1, 10]],
                 [[1, 1], [1, 1]], [[1, 5], [5, 20]], [[1, 3], [1, 3]]];
  const rows = share.flatMap((parts, node) => parts.map(([calls, ns], part) =>
    [node, part, calls, ns, ns, ns, ns]));
  const column = (i) => rows.map((row) => row[i]);
  const profile = await makeProfile(nodes, [], {
    parts: { name: ['1', '2'], wall_ns: [60, 35], work_ns: [60, 35] },
    shares: { node: column(0), part: column(1), calls: column(2),
              total_ns: column(3), self_ns: column(4), work_ns: column(5),
              starved_ns: column(6) } });
  const compared = compareMembers(profile, 'p0', 'p1', 25);
  assert.deepEqual(compared.rows[2], {
    node: 2, total: [55, 30], calls: [6, 6], bytes: null,
    kinds: [0, 25, 0] });
  assert.deepEqual([compared.rows[3], compared.rows[4]],
                   [undefined, undefined]);
  assert.deepEqual([...compared.to], [0, 1, 2, 1, 2, 5]);
  assert.deepEqual([...compared.tree.children(1)], [2, 5]);
  assert.deepEqual(causesOf(profile, { ...compared, excess: 25 })[0].amount,
                   55);
  // Each thread's own are there, too.
  const { byThread } = compared;
  assert.deepEqual(byThread.rows[4].kinds, [0, -15, 0]);
  assert.equal(byThread.tree.parents[4], 3);
});

test('a faster run has no cause, and a few have the rest', async () => {
  const profile = await fiveRuns();
  assert.deepEqual(causesOf(profile, compareWithMedian(profile, 'p', 0)), []);
  const compared = compareWithMedian(profile, 'p', 3);
  compared.excess = 40 * MS;
  assert.deepEqual(causesOf(profile, compared).map(({ node, kind }) =>
    [node, kind]), [[3, 1], [5, 2]]);
});

test('the deepest path with the larger part of it is named', async () => {
  const profile = await fiveRuns();
  const compared = compareWithMedian(profile, 'p', 3);
  compared.rows[0].kinds[1] = 118 * MS;
  compared.rows[1].kinds[1] = 20 * MS;
  compared.rows[2].kinds[1] = 343 * MS;
  // Of 528 ms blosc and what is in it have 390.
  assert.deepEqual(causesOf(profile, compared)[0],
                   { node: 2, kind: 1, amount: 390 * MS });
});

test('a difference of many paths is of the one around them', async () => {
  const profile = await fiveRuns();
  const compared = compareWithMedian(profile, 'p', 3);
  compared.rows[2].kinds[1] = 2 * MS;
  compared.rows[1].kinds[1] = 60 * MS;
  assert.deepEqual(causesOf(profile, compared)[0],
                   { node: 1, kind: 1, amount: 109 * MS });
});

test('documents without work of runs name no kind', async () => {
  const whole = await fiveRuns();
  const table = { node: [], part: [], calls: [], total_ns: [], self_ns: [] };
  for (let part = 0; part < 5; part++) {
    const { calls, total, self } = whole.share(3, part);
    [3, part, calls, total, self].forEach((value, i) =>
      Object.values(table)[i].push(value));
  }
  const profile = await fiveRuns({ shares: table });
  const compared = compareWithMedian(profile, 'p', 3);
  assert.deepEqual(compared.labels, ['', '', '']);
  assert.deepEqual(causesOf(profile, compared), [
    { node: 3, kind: 2, amount: 47 * MS }]);
});

// Steps on lane 0; the work of each on lane 1, which ends late in step 7.
async function steps() {
  const nodes = [{ name: 'step', category: 'step' },
                 { name: 'wait', parent: 0, category: 'queue' },
                 { name: 'load', parent: 0, edge: 1 }];
  const spans = [];
  for (let i = 0; i < 10; i++) {
    const slow = i === 7 ? 50 : 0;
    const step = spans.push({ lane: 0, node: 0, begin: 100 * i,
                              duration: 20 + slow }) - 1;
    spans.push({ lane: 0, node: 1, begin: 100 * i + 1, duration: 15 + slow,
                 wait: 15 + slow, parent: step });
    spans.push({ lane: 1, node: 2, begin: 100 * i + 1, duration: 18 + slow,
                 parent: step, bytes: i === 7 ? 900 : 300 });
  }
  const zeros = Array(10).fill(0);
  return makeProfile(nodes, spans, {
    tiles: block([[0, ...Array(9).fill(1)].map((n) => n),
                  [10, ...Array(9).fill(1)].map(signed), zeros]) });
}

test('a step has all that it caused, on any thread', async () => {
  const profile = await steps();
  // Lane 0 has step, wait, step, wait, ...: each second span is a step.
  assert.deepEqual([...profile.spans.steps.values()],
                   Array.from({ length: 10 }, (_, i) => 10 + i));
  assert.deepEqual(groupsOf(profile, 2), ['n0', 'n2']);
  const all = membersOf(profile, 'n0');
  assert.equal(all.name(7), 'step 17');
  assert.equal(slowestOf(all.values), 7);
  assert.equal(all.find(all.key(7)), 7);
  const compared = compareWithMedian(profile, 'n0', 7);
  assert.equal(compared.excess, 50);
  assert.deepEqual(compared.labels, ['working', '', 'waiting']);
  assert.deepEqual(compared.rows[2], {
    node: 2, total: [68, 18], calls: [1, 1], bytes: [900, 300],
    kinds: [50, 0, 0] });
  // Waiting for the other thread explains nothing if that did more.
  assert.deepEqual(causesOf(profile, compared), [
    { node: 2, kind: 0, amount: 50 }]);
  compared.rows[2].kinds[0] = 0;
  assert.deepEqual(causesOf(profile, compared), [
    { node: 1, kind: 2, amount: 50 }]);
});

test('waiting for a thread without a handoff is a cause', async () => {
  const nodes = [{ name: 'step', category: 'step' },
                 { name: 'wait for item', parent: 0, category: 'queue' },
                 { name: 'forward', parent: 0 }];
  const profile = await makeProfile(nodes, []);
  const row = (node, ...kinds) =>
    ({ node, total: [1, 1], calls: [1, 1], bytes: null, kinds });
  const causesIn = (forward, waiting) => causesOf(profile, {
    excess: 38, tree: profile.tree,
    rows: [row(0, 0, 0, 0), row(1, 0, 0, waiting), row(2, ...forward)] });
  // What else is known explains 6 of 38 ms.
  assert.deepEqual(causesIn([0, 6, 0], 32), [
    { node: 1, kind: 2, amount: 32 }, { node: 2, kind: 1, amount: 6 }]);
  // Half of it is not the larger part.
  assert.deepEqual(causesIn([10, 9, 0], 20).map(({ node }) => node),
                   [1, 2, 2]);
  assert.deepEqual(causesIn([10, 10, 0], 18).map(({ node }) => node),
                   [2, 2]);
});

test('keys of the address name groups that exist', async () => {
  const profile = await steps();
  assert.equal(groupOf(profile, 'n0'), 'n0');
  assert.equal(groupOf(profile, 's0'), 'n0');
  assert.equal(groupOf(profile, 's1'), 'n1');
  for (const key of ['', 'p', 'p1', 'n', 'n99', 's', 's999', 's-1', 'x',
                     '__proto__'])
    assert.equal(groupOf(profile, key), '');
  assert.equal(groupOf(await fiveRuns(), 'p2'), 'p');
  assert.deepEqual(groupsOf(await fiveRuns(), -1), ['p']);
});

test('a log without all spans gives no bytes of runs', async () => {
  const info = { title: 't', program: 'p', parts: 'runs', wall_ns: 552 * MS,
                 dropped_count: 3 };
  const compared = compareWithMedian(await fiveRuns({ info }), 'p', 3);
  assert.equal(compared.rows[3].bytes, null);
});
