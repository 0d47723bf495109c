// SPDX-License-Identifier: MIT
// Profiles from documents, and invalid documents.
import test from 'node:test';
import assert from 'node:assert/strict';
import { readProfile } from '../../../profiler/view/data/profile.mjs';
import { makeMetrics } from '../../../profiler/view/model/metrics.mjs';
import { timeByCategory } from '../../../profiler/view/widgets/breakdown.mjs';
import { splitSamples } from '../../../profiler/view/views/gauges.mjs';
import { block, makeProfile, NUMBERS, signed } from './made.mjs';

// read (0 to 1000) on lane 0; below it decode (at 100, 200 long) on lane 1,
// and place, which has no span in the log.
function makeDocument() {
  const nodes = { name: [1, 2, 3], category: [4, 2, 3], function: [0, 0, 0],
                  file: [0, 0, 0], parent: [-1, 0, 0] };
  for (const name of NUMBERS)
    nodes[name] = [0, 0, 0];
  nodes.edge = [0, 1, 0];
  nodes.work_ns = [10, 20, 30];
  nodes.wait_ns = [1, 0, 2];
  return {
    format: 'radio-profile', version: 1,
    info: { title: 't', program: 'p', parts: 'none', wall_ns: 900 },
    strings: ['', 'read', 'decode', 'place', 'operation', 'key', 'value'],
    nodes, counters: { name: ['n'], unit: ['bytes'] },
    values: { node: [1], counter: [0], value: [7] },
    histograms: { node: [1], bucket: [7], count: [1] },
    parts: { name: ['run 1'], wall_ns: [900], work_ns: [60],
             started_unix_ns: [0] },
    shares: { node: [1], part: [0], calls: [1], total_ns: [200],
              self_ns: [200] },
    gauges: { name: ['g'], unit: ['count'] },
    lanes: { name: ['a', 'b'], is_async: [0, 0], os_tid: [1, 2],
             part: [0, 0], span_count: [1, 1] },
    notes: { span: [0, 2], node: [0, 1], key: [5, 5], value: [6, 1],
             is_name: [0, 0], varies: [1, 0] },
    samples: block([[5, 10], [0, 0], [6, 3]]),
    // begin, duration, queue, wait, id, parent, node, flags, nbytes
    spans: block([[0, 100], [1000, 200], [0, 30], [0, 4], [2, 4], [0, 2],
                  [0, 1], [0, 2], [0, 7]]),
  };
}

function read(changes = {}) {
  return readProfile(JSON.stringify({ ...makeDocument(), ...changes }));
}

test('columns, sums and spans are as the document has them', async () => {
  const profile = await read();
  assert.deepEqual(profile.names, ['read', 'decode', 'place']);
  assert.deepEqual(Array.from(profile.treeWork), [60, 20, 30]);
  assert.deepEqual(Array.from(profile.counters[0].own), [0, 7, 0]);
  assert.equal(profile.spans.count, 2);
  assert.deepEqual(Array.from(profile.spans.begin), [0, 100]);
  assert.deepEqual(Array.from(profile.spans.submitted), [0, 70]);
  assert.deepEqual(Array.from(profile.spans.id), [1, 2]);
  assert.deepEqual(Array.from(profile.spans.parent), [0, 1]);
  assert.deepEqual(Array.from(profile.spans.lane), [0, 1]);
  assert.equal(profile.end, 1000);
  assert.equal(profile.edgeName(1), 'other thread');
});

test('parents are found across lanes, and dropped ones are not', async () => {
  const profile = await read();
  assert.equal(profile.parentOf(1), 0);
  assert.equal(profile.parentOf(0), -1);
  const dropped = await read();
  dropped.spans.parent[1] = 77;
  assert.equal(dropped.parentOf(1), -1);
});

test('notes, histograms, shares and samples find their place', async () => {
  const profile = await read();
  assert.deepEqual(profile.nodeNotes(0), [['key', 'value, and others']]);
  assert.deepEqual(profile.nodeNotes(1), []);
  assert.deepEqual(profile.spanNotes(1), [['key', 'read']]);
  assert.equal(profile.histogram(1)[7], 1);
  assert.equal(profile.share(1, 0).total, 200);
  assert.equal(profile.share(2, 0).total, 0);
  const [gauge] = splitSamples(profile);
  assert.deepEqual(gauge.times, [5, 15]);
  assert.deepEqual(gauge.values, [3, 1]);
  assert.equal(gauge.most, 3);
});

test('the time by category is all work and all wait', async () => {
  const slices = timeByCategory(await read());
  assert.deepEqual(slices, [['place', 30], ['decode', 20], ['operation', 10],
                            ['waiting', 3, [['in place', 2],
                                            ['in operation', 1]]]]);
});

test('what is waited for follows "for", a place of which that is unknown "in"',
     async () => {
  const times = { calls: 1, total_ns: 9, wait_ns: 9 };
  const profile = await makeProfile([
    { name: 'a', category: 'queue', ...times },
    { name: 'b', category: 'user', ...times, wait_ns: 5 }], []);
  assert.deepEqual(timeByCategory(profile), [['waiting', 14, [
    ['for other threads', 9], ['in user', 5]]]]);
});

// As in find-bound.c.
test('files waited for a disk only if one was used', async () => {
  const nodes = [{ name: 'fetch', category: 'disk', calls: 1, total_ns: 9,
                   wait_ns: 9 }];
  const awaited = async (facts, written = [], wait = 9) => {
    nodes[0].wait_ns = wait;
    const profile = await makeProfile(nodes, []);
    profile.info.wall = 1e9;
    profile.facts = facts.map((value) => ({ key: 'bytes read from disks',
                                            value }));
    profile.counters = written.map((n) => ({ name: 'bytes written',
                                             own: [n] }));
    return timeByCategory(profile)[0][2][0][0];
  };
  assert.equal(await awaited(['4096']), 'for the disk');
  assert.equal(await awaited(['0'], [512]), 'for the disk');
  assert.equal(await awaited(['0'], [0]), 'in disk');
  // So little cannot have taken so long.
  assert.equal(await awaited(['4096'], [], 16385e3), 'in disk');
  assert.equal(await awaited(['4096'], [], 16384e3), 'for the disk');
  // Of slow runs and killed processes it is not known.
  assert.equal(await awaited([], [512]), 'in disk');
});

test('recording took at most all of the CPU time', async () => {
  const parts = [], times = [];
  for (const info of [{ overhead_ns: 20 }, { overhead_ns: 196 },
                      { overhead_ns: 9, work_ns: 0 },
                      { overhead_ns: 196, work_ns: 89 }]) {
    const profile = await read({ info: { ...makeDocument().info, work_ns: 100,
                                         ...info } });
    parts.push(profile.recording);
    times.push(profile.recordingTime);
  }
  assert.deepEqual(parts, [0.2, 1, null, null]);
  assert.deepEqual(times, [20, 100, 0, 89]);
});

test('recording took CPU time of its own threads, too', async () => {
  const readWith = (work, own) => read({
    info: { ...makeDocument().info, work_ns: work, overhead_ns: 20 },
    facts: { key: ['recorder\'s cpu ns'], value: [own], is_name: [0] },
  });
  assert.equal((await readWith(100, '60')).recording, 0.5);
  // Hardly any work: it is no share of what they did themselves.
  const alone = await readWith(10, '600');
  assert.equal(alone.recording, null);
  assert.equal(alone.recordingTime, 610);
});

test('work without a CPU is apart from the rest', async () => {
  const document = makeDocument();
  document.nodes.starved_ns = [4, 15, 0];
  document.info.starved_ns = 19;
  const profile = await readProfile(JSON.stringify(document));
  assert.deepEqual(timeByCategory(profile).slice(0, -1), [
    ['place', 30], ['operation', 6], ['decode', 5],
    ['no CPU', 19, [['in decode', 15], ['in operation', 4]]]]);
});

test('a part of the time may not know what had no CPU', async () => {
  const document = makeDocument();
  document.nodes.starved_ns = [4, 15, 0];
  const profile = await readProfile(JSON.stringify(document));
  const part = { work: [5, 10, 0], wait: [0, 0, 0], starved: null };
  assert.deepEqual(timeByCategory(profile, part),
                   [['decode', 10], ['operation', 5]]);
  assert.deepEqual(timeByCategory(profile, { ...part, starved: [5, 4, 0] }), [
    ['decode', 6], ['no CPU', 9, [['in operation', 5], ['in decode', 4]]]]);
});

test('tables and blocks may be missing', async () => {
  const { format, version, info, strings, nodes } = makeDocument();
  const profile = await readProfile(JSON.stringify(
    { format, version, info, strings, nodes }));
  assert.equal(profile.spans.count, 0);
  assert.equal(profile.findings.length, 0);
  assert.deepEqual(profile.nodeNotes(0), []);
  assert.equal(profile.histogram(0).length, 48);
});

test('columns that a later version adds are ignored', async () => {
  const profile = await read({ later: 1 });
  assert.equal(profile.info.title, 't');
});

test('a truncated document gives a message', async () => {
  await assert.rejects(readProfile('{"format":"radio-prof'),
                       /damaged or cut short/);
  await assert.rejects(readProfile(''), /cut short/);
});

test('another format or version is refused by name', async () => {
  await assert.rejects(read({ version: 2 }), /version 2/);
  await assert.rejects(read({ format: 'x' }), /no profile of radio/);
});

for (const [name, change] of Object.entries({
  'a parent that comes later': (one) => { one.nodes.parent[1] = 2; },
  'a parent of itself': (one) => { one.nodes.parent[1] = 1; },
  'a parent below -1': (one) => { one.nodes.parent[1] = -2; },
  'a span of no node': (one) => {
    one.spans = block([[0, 0], [1, 1], [0, 0], [0, 0], [2, 4], [0, 0],
                       [0, 3], [0, 0], [0, 0]]);
  },
  'spans of no lane': (one) => { one.lanes.span_count = [1, 0]; },
  'a value of no node': (one) => { one.values.node = [3]; },
  'a sample of no gauge': (one) => { one.samples = block([[5], [1], [6]]); },
}))
  test('refused: ' + name, async () => {
    const changed = makeDocument();
    change(changed);
    await assert.rejects(readProfile(JSON.stringify(changed)));
  });

test('threads were busy no longer than they worked, nor than they had CPUs',
     async () => {
  const busy = async (starved, ...values) => (await read({
    info: { title: 't', program: 'p', parts: 'none', wall_ns: 20,
            work_ns: 60, starved_ns: starved },
    facts: { key: values.map(() => 'cpu ns'), value: values } })).threadsBusy;
  assert.equal(await busy(0), 3);
  assert.equal(await busy(0, '45'), 2.25);
  assert.equal(await busy(0, '75'), 3);
  assert.equal(await busy(0, '0'), 3);
  assert.equal(await busy(0, 'none'), 3);
  assert.equal(await busy(50), 0.5);
  assert.equal(await busy(50, '9'), 0.5);
  assert.equal(await busy(50, '11'), 0.5);
});

test('the head has the work on CPUs of the tree', async () => {
  const { nodes } = makeDocument();
  nodes.starved_ns = [0, 15, 25];
  for (const cpu of ['15', '20', '25']) {
    const profile = await read({
      info: { title: 't', program: 'p', parts: 'none', wall_ns: 100,
              work_ns: 60, starved_ns: 40 },
      nodes, facts: { key: ['cpu ns'], value: [cpu] } });
    const ofTree = makeMetrics(profile).find(({ id }) => id === 'cpu').sum;
    assert.deepEqual([profile.ran, ofTree], [20, 20]);
  }
});

test('threads are busy by the times of all ranks, but not of all runs',
     async () => {
  const busy = async (parts) => (await read({
    info: { title: 't', program: 'p', parts, wall_ns: 40, work_ns: 60 },
    parts: { name: ['a', 'b'], wall_ns: [40, 10], work_ns: [30, 30] },
  })).threadsBusy;
  assert.equal(await busy('ranks'), 1.2);
  assert.equal(await busy('runs'), 1.5);
});

test('numbers of spans of steps are the steps, not tiles', async () => {
  const nodes = [{ name: 'step', category: 'step' },
                 { name: 'decode', parent: 0, category: 'decode' }];
  const spans = [0, 1, 2].map((i) =>
    ({ lane: 0, node: i < 2 ? 0 : 1, begin: 10 * i, duration: 5 }));
  const tiles = (numbers) => ({
    tiles: block([numbers.map(() => 0),
                  numbers.map((n, i) => signed(n - (numbers[i - 1] ?? 0))),
                  numbers.map(() => 0)]) });
  const both = await makeProfile(nodes, spans, tiles([0, 57, 3]));
  assert.deepEqual([...both.spans.steps], [[0, 0], [1, 57]]);
  assert.deepEqual([...both.spans.tile], [-1, -1, 3]);
  const steps = await makeProfile(nodes, spans, tiles([5, 6]));
  assert.deepEqual([...steps.spans.steps.values()], [5, 6]);
  assert.equal(steps.spans.tile, null);
});
