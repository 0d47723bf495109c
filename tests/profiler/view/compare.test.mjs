// SPDX-License-Identifier: MIT
// Comparing two profiles: paired paths, changes, and noise.  tests/interop
// checks that `radio diff' reports the same.
import test from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { changeOf, compareProfiles, diffTimes, namesAbove, scaleOfAfter }
  from '../../../profiler/view/model/compare.mjs';
import { runShape, transformedRuns }
  from '../../../profiler/view/model/run-shape.mjs';
import { spreadInterval, spreadOf }
  from '../../../profiler/view/data/spread.mjs';
import { Sites, Tree } from '../../../profiler/view/data/tree.mjs';

test('the variance of a median is that of its order statistics', () => {
  // Of three, the outer two are 2 z errors apart, z exceeded by 1/8.
  const z = 1.1503493803760079;
  const { median, variance, min, max } = spreadOf([30, 10, 20]);
  assert.deepEqual([median, min, max], [20, 10, 30]);
  assert.ok(Math.abs(variance - (20 / (2 * z)) ** 2) < 1e-9);
  assert.equal(spreadOf([5]).variance, 0);
  assert.equal(spreadOf([1, 2, 3, 4]).median, 2.5);
});

test('an outlier counts as the run next to it', () => {
  assert.equal(spreadOf([10, 11, 12, 900]).max, 12);
  assert.equal(spreadOf([1, 901, 902, 903]).min, 901);
  assert.equal(spreadOf([10, 11, 900]).max, 900);
});

test('the interval of two runs is that of Student with 2 degrees', () => {
  // Each variance is v, so the degrees are 2 and the width t * sqrt (2 v).
  const a = spreadOf([10, 20]), b = spreadOf([14, 24]);
  const half = 4.302653 * Math.sqrt(2 * a.variance);
  const [low, high] = spreadInterval(a, b);
  assert.ok(Math.abs(low - (4 - half)) < 1e-4);
  assert.ok(Math.abs(high - (4 + half)) < 1e-4);
});

test('runs that are all beyond the others are not noise', () => {
  assert.deepEqual(spreadInterval(spreadOf([8, 9, 10]),
                                  spreadOf([15, 40, 60])), [5, 52]);
});

// nodes: { path: totals of runs, or [total, self, calls] of one run }.
function makeProfile(nodes, facts = {}) {
  const paths = Object.keys(nodes);
  const runs = Object.values(nodes)[0].length;
  const last = (path) => path.split('/').at(-1);
  const sums = paths.map((path) => nodes[path].reduce((a, b) => a + b));
  const names = paths.map(last);
  const categories = names.map((name) => name === 'wait' ? 'queue' : 'c');
  const zeros = paths.map(() => 0);
  return {
    names, categories, sites: new Sites(names, categories), edges: zeros,
    total: sums, self: sums, calls: paths.map(() => runs),
    work: sums.map((one) => one / 2), starved: zeros, wait: zeros,
    queue: zeros,
    allocCount: zeros, allocBytes: zeros, counters: [],
    spans: { count: 0 }, lanes: [],
    info: { parts: runs > 1 ? 'runs' : 'none' }, knowsWorkOfParts: true,
    parts: Array.from({ length: runs }),
    facts: Object.entries(facts).map(([key, value]) => ({ key, value })),
    tree: new Tree(Int32Array.from(paths, (path) =>
      paths.indexOf(path.split('/').slice(0, -1).join('/')))),
    // Children's time is not their parents'.
    share: (node, part) => {
      const total = nodes[paths[node]][part];
      const below = paths.filter((one) => one.startsWith(paths[node] + '/')
        && !one.slice(paths[node].length + 1).includes('/'));
      const self = below.reduce((left, one) => left - nodes[one][part], total);
      return { total, self, calls: total > 0 ? 2 : 0, work: total / 2,
               starved: 0 };
    },
  };
}

function compare(a, b, ...how) {
  return compareProfiles(runShape(a), runShape(b), ...how);
}

function summary({ paths }) {
  return paths.map((one) => [one.name, one.depth, one.change,
                             one.totalBefore, one.totalAfter]);
}

test('paths are paired by their names from the root on', () => {
  const before = makeProfile({ a: [100], 'a/b': [60], 'a/b/x': [5],
                               'a/c': [10] });
  const after = makeProfile({ a: [90], 'a/c': [20], 'a/c/x': [5],
                              'a/b': [30], d: [1] });
  const compared = compare(before, after);
  assert.deepEqual(summary(compared), [
    ['a', 0, 'one run', 100, 90], ['b', 1, 'one run', 60, 30],
    ['x', 2, 'gone', 5, 0], ['c', 1, 'one run', 10, 20],
    ['x', 2, 'new', 0, 5], ['d', 0, 'new', 0, 1],
  ]);
  assert.deepEqual([compared.before, compared.after], [100, 91]);
  assert.deepEqual([...compared.tree.parents], [-1, 0, 1, 0, 3, -1]);
});

// As in test-compare.c: the number of runs that have a path, the number of
// all runs, and the number of runs of the other side, which lack it.
test('paths of a few runs of one side are noise', () => {
  for (const [n, have, others, belongs] of [
    [20, 1, 20, 0], [20, 10, 20, 0], [20, 11, 20, 1], [20, 20, 20, 1],
    [5, 3, 5, 0], [5, 4, 5, 1], [2, 1, 2, 0], [2, 2, 2, 1], [20, 19, 1, 0],
    [1, 1, 20, 1]]) {
    const some = makeProfile({ a: Array(n).fill(9),
                               'a/w': Array(n).fill(5).fill(0, have) });
    const none = makeProfile({ a: Array(others).fill(9) });
    const change = (...both) => compare(...both).paths[1].change;
    assert.equal(change(none, some), belongs ? 'new' : 'noise');
    assert.equal(change(some, none), belongs ? 'gone' : 'noise');
  }
});

// As in test-compare.c; `wait' is of the category queue.
test('a wait for other threads changes no total', () => {
  const jitter = (value) => [0, 7, 4, 1, 8].map((i) =>
    value && value + value * i / 1000);
  const runs = (total, label, wait) => makeProfile({
    study: jitter(total), 'study/label': jitter(label),
    'study/wait': jitter(wait) });
  const below = (...both) => compare(...both).paths[0].below;
  const before = runs(10000, 3000, 4000), late = runs(13000, 3000, 7000);
  const more = runs(16000, 6000, 7000);
  assert.deepEqual([below(before, late), below(late, before)],
                   ['noise', 'noise']);
  assert.deepEqual([below(before, more), below(more, before)],
                   ['slower', 'faster']);
});

// As in test-compare.c.
test('an operation changes by more than processes differ', () => {
  const runs = (percent, count, isInContainers) => {
    const made = makeProfile({ a: Array.from({ length: 8 }, (_, i) =>
      percent * (100 + i * 3 % 8 / 8)) });
    made.parts = Array.from(made.parts, (_, i) =>
      1 + Math.floor(i * count / 8)).map((number) =>
        isInContainers ? { pid: 1, process: number } : { pid: number });
    return made;
  };
  for (const [percent, ofOne, ofMany] of [
    [104, 'noise', 'slower'], [110, 'unclear', 'slower'],
    [90, 'unclear', 'faster'], [120, 'slower', 'slower'],
    [80, 'faster', 'faster']])
    for (const [count, below] of [[1, ofOne], [4, ofMany]])
      for (const inside of [false, true])
        assert.equal(compare(runs(100, count, inside),
                             runs(percent, count, inside))
          .paths[0].below, below, percent + ' of ' + count);
});

// As in test-compare.c: what few runs decode, and then all a part of it.
test('what mean and median oppose is no change', () => {
  const runs = (few, many) =>
    makeProfile({ a: Array.from({ length: 12 }, (_, i) =>
      i < 10 ? many : few) });
  for (const [before, after, change] of [
    [runs(2900, 10), runs(180, 180), 'noise'],
    [runs(2900, 10), runs(900, 900), 'slower']])
    assert.equal(compare(before, after).paths[0].change, change);
});

test('with several runs a change is distinguished from noise', () => {
  const before = makeProfile({ a: [100, 102, 98, 101], b: [5, 50, 1, 9],
                               c: [80, 81, 82, 80] });
  const after = makeProfile({ a: [150, 151, 149, 150], b: [7, 3, 60, 8],
                              c: [40, 41, 42, 40] });
  const { paths } = compare(before, after);
  assert.deepEqual(paths.map((one) => one.change),
                   ['slower', 'noise', 'faster']);
  const [slower] = paths;
  assert.ok(slower.low > 0 && slower.low <= 50 && slower.high >= 49);
  assert.deepEqual([slower.callsBefore, slower.selfAfter], [2, 150]);
});

// As in test-profile-many.c: [work, starved, wait of a run].
test('waits count beside a little lack of CPUs', () => {
  const made = (work, starved, wait) => {
    const profile = makeProfile({ a: [100], 'a/wait': [50] });
    Object.assign(profile.info, { work, starved });
    return { ...profile, wait: [wait, 1000] };
  };
  const of = (...both) => {
    const { basis, conditions } = compare(...both);
    return [basis, conditions.length];
  };
  assert.deepEqual(of(made(100, 20, 0), made(100, 20, 0)), ['cpu', 0]);
  assert.deepEqual(of(made(100, 20, 900), made(100, 20, 1900)), ['wall', 0]);
  assert.deepEqual(of(made(100, 0, 900), made(100, 20, 900)), ['wall', 0]);
  assert.deepEqual(of(made(100, 0, 0), made(100, 20, 0)), ['cpu', 1]);
});

// As in test-compare.c: of the caller 200 ns, its helper more, and the caller
// for that; both lacked CPUs.
test('waits are those of all threads, except for other threads', () => {
  const count = 8;
  const made = (helper) => {
    const profile = makeProfile({ study: Array(count).fill(1000 + helper),
                                  'study/wait': Array(count).fill(0),
                                  'study/label': Array(count).fill(0) });
    const shares = [
      { total: 1000 + helper, self: 500, work: 300, starved: 200 },
      { total: 500 + helper, self: 500 + helper, work: 0, starved: 0 },
      { total: 300 + helper, self: 300 + helper, work: 300, starved: 200 }];
    const waits = [200, 500 + helper, helper];
    return { ...profile, edges: [0, 0, 1],
             wait: waits.map((one) => count * one),
             starved: shares.map((one) => count * one.starved),
             info: { parts: 'runs', work: count * 600, starved: count * 400 },
             share: (node) => ({ calls: 1, ...shares[node] }) };
  };
  const of = (...both) => {
    const { basis, paths } = compare(...both);
    return [basis, ...paths.map(({ below, waits }) => [below, waits])];
  };
  // Runs that do not scatter leave no doubt.
  const said = (change, before, after) => ['cpu', ['noise', {
    change, before, after, low: after - before, high: after - before }],
    ['noise', null], ['noise', null]];
  assert.deepEqual(of(made(400), made(900)), said('slower', 600, 1100));
  assert.deepEqual(of(made(900), made(400)), said('faster', 1100, 600));
  assert.deepEqual(of(made(400), made(402)), said('noise', 600, 602));
  // By as much as processes of one program differ.
  assert.deepEqual(of(made(400), made(480)), said('unclear', 600, 680));
  // Of other metrics, and of wall times, they are no part.
  const calls = { id: 'calls', unit: 'count' };
  assert.equal(compare(made(400), made(900), calls).paths[0].waits, null);
});

test('other conditions and other operations are reported', () => {
  const a = makeProfile({ a: [1] }, { operation: 'roi', codec: 'small',
                                      pid: '1', only: 'x' });
  const b = makeProfile({ a: [1] }, { operation: 'roi', codec: 'fast',
                                      pid: '2' });
  const c = makeProfile({ other: [1] });
  const d = makeProfile({ a: [1] }, { operation: 'full' });
  assert.deepEqual(compare(a, b).conditions,
                   [{ name: 'codec', before: 'small', after: 'fast',
                      isUnfair: false }]);
  assert.equal(compare(a, b).sameOperation, true);
  assert.equal(compare(a, c).sameOperation, false);
  assert.equal(compare(a, d).sameOperation, false);
});

test('widths are the larger of both, also when the wholes are made equal',
     () => {
  const compared = compare(makeProfile({ a: [100], 'a/b': [60] }),
                                   makeProfile({ a: [50], 'a/c': [20] }));
  const plain = diffTimes(compared, false);
  assert.deepEqual([...plain.total], [100, 60, 20]);
  const scaled = diffTimes(compared, true);
  assert.deepEqual([...scaled.after], [100, 0, 40]);
  assert.deepEqual([...scaled.total], [100, 60, 40]);
  assert.equal(scaleOfAfter(compared, false), 1);
});

test('paths of one last name show the fewest names that distinguish them',
     () => {
  const names = ['read', 'read/plan', 'read/tiles', 'read/tiles/decode',
                 'read/tiles/decode/lz4', 'read/tiles/decode/zstd',
                 'write', 'write/tiles', 'write/tiles/decode',
                 'write/tiles/decode/lz4', 'write/lz4', 'write/decode',
                 'write/write', 'write/write/write'];
  const { paths } = compare(
    makeProfile(Object.fromEntries(names.map((one) => [one, [1]]))),
    makeProfile({ read: [1] }));
  const shown = Object.fromEntries(paths.map(({ name }, i) => {
    let at = i, path = name;
    while (paths[at].parent >= 0) {
      at = paths[at].parent;
      path = paths[at].name + '/' + path;
    }
    return [path, namesAbove(paths, i).concat(name).join('/')];
  }));
  assert.deepEqual(shown, {
    'read': 'read', 'read/plan': 'plan', 'read/tiles': 'read/tiles',
    'read/tiles/decode': 'read/tiles/decode',
    'read/tiles/decode/lz4': 'read/tiles/decode/lz4',
    'read/tiles/decode/zstd': 'zstd',
    'write': 'write', 'write/tiles': 'write/tiles',
    'write/tiles/decode': 'write/tiles/decode',
    'write/tiles/decode/lz4': 'write/tiles/decode/lz4',
    'write/lz4': 'write/lz4', 'write/decode': 'write/decode',
    'write/write': 'write/write', 'write/write/write': 'write/write/write',
  });
});

test('the names shown of random paths are theirs alone, and none is needless',
     () => {
  let seed = 1;
  const random = (n) => {
    seed = seed * 16807 % 2147483647;
    return seed % n;
  };
  for (let round = 0; round < 50; round++) {
    const all = ['a'];
    for (let i = 0; i < 40; i++) {
      const path = all[random(all.length)] + '/' + 'abc'[random(3)];
      if (!all.includes(path))
        all.push(path);
    }
    const paths = all.map((one) => ({
      name: one.split('/').at(-1),
      parent: all.indexOf(one.split('/').slice(0, -1).join('/')) }));
    // The path, or those that end in its names.
    const found = (names) => all.filter((one) =>
      one === names || one.endsWith('/' + names));
    all.forEach((one, i) => {
      const names = [...namesAbove(paths, i), paths[i].name];
      const shown = names.join('/'), parts = one.split('/').length;
      assert.ok(one === shown || one.endsWith('/' + shown));
      assert.ok(found(shown).length === 1 || names.length === parts);
      assert.ok(names.length === 1
        || found(names.slice(1).join('/')).length > 1);
    });
  }
});

test('scaling moves the interval of noise', () => {
  const path = { change: 'slower', selfLow: 10, selfHigh: 20, selfBefore: 85,
                 selfAfter: 100, least: 5 };
  assert.equal(changeOf(path, 1), 'slower');
  assert.equal(changeOf(path, 0.85), 'noise');
  assert.equal(changeOf(path, 0.5), 'faster');
  assert.equal(changeOf({ ...path, change: 'gone' }, 0.5), 'gone');
});

// A scope's own time changes, and not that of those around it.
test('a change is of the path that did it', () => {
  const before = makeProfile({ a: [100, 102, 98, 101],
                               'a/b': [60, 61, 59, 60] });
  const after = makeProfile({ a: [120, 122, 118, 121],
                              'a/b': [80, 81, 79, 80] });
  assert.deepEqual(compare(before, after).paths.map((one) =>
    [one.name, one.change, one.below]),
  [['a', 'noise', 'slower'], ['b', 'slower', 'slower']]);
});

test('paths are summed over threads', () => {
  const made = (own, other) => {
    const profile = makeProfile({ a: own.map((one, i) => 50 + one + other[i]),
                                  'a/b': own, 'a/c': other });
    profile.names[2] = 'b';
    profile.edges = [0, 0, 1];
    return profile;
  };
  const { paths } = compare(made([10, 40, 20, 30], [40, 10, 30, 20]),
                            made([40, 11, 32, 20], [20, 49, 28, 40]));
  assert.deepEqual(paths.map((one) => [one.name, one.change, one.totalBefore,
                                       one.elsewhere]),
    [['a', 'noise', 100, null], ['b', 'slower', 50, [25, 34]]]);
});

// As in test-profile-many.c; tests/interop compares it with `radio diff'.
test('the advice is one that can be followed', () => {
  const of = (facts, info = {}, parts = []) => ({
    ...makeProfile({ a: [100] }, facts), info, parts });
  const made = { 'made by': '{"program":"radio"}' };
  const advice = (...both) => compare(...both).advice;
  const again = 'compare in turn (radio profile --against)';
  const four = (what) => 'compare four recordings of each ' + what
    + ' in turn (radio profile merge --as runs)';
  assert.equal(advice(of(made), of({})), again);
  // By a pseudonym, nothing can be run.
  for (const facts of [{}, { 'made by': 'name-1234' }])
    assert.equal(advice(of(facts), of(made)), four('program'));
  assert.equal(advice(of(made), of(made, { parts: 'ranks' })), four('job'));
  // Where conditions differ.
  const same = 'record both under the same conditions, or ';
  const [slow, fast] = [{ CPU: 'a' }, { CPU: 'b' }];
  assert.equal(advice(of({ ...slow, ...made }), of(fast)), same + again);
  assert.equal(advice(of(slow), of(fast)), same + four('program'));
  const runs = [{ parts: 'runs' }, [1, 2, 3, 4].map((pid) => ({ pid }))];
  const share = () => ({ calls: 1, total: 1, self: 1, work: 1, starved: 0 });
  assert.equal(advice({ ...of(slow, ...runs), share },
                      { ...of(fast, ...runs), share }),
               'measure both again in turn, on a quieter machine or with '
                 + 'more runs');
});

// As in test-profile-many.c, too: of ranks the machine's time counts once.
test('the load is that of the time in which ranks ran at once', () => {
  const made = (machine) => ({
    ...makeProfile({ a: [100] }),
    info: { parts: 'ranks', wall: 1e9, work: 4e9, starved: 0 },
    timeToRun: () => 4e9,
    facts: [{ key: 'cpu ns', value: '4000000000' },
            { key: 'machine cpu ns', value: String(machine) }],
  });
  assert.deepEqual(compare(made(4e9), made(5e9)).conditions.map((one) =>
    [one.name, one.before, one.after]), [['load', '0.00 CPUs', '1.00 CPUs']]);
});

// As in test-profile-many.c.
test('a program without CPUs is not called slower', () => {
  const made = (wall, cpu, starved) => {
    const profile = makeProfile({ a: [wall, wall + 1, wall, wall + 2] });
    const n = 4e6 * wall;
    profile.info = { parts: 'runs', wall: n, work: n,
                     starved: starved ? n - 4e6 * cpu : 0 };
    profile.facts = [{ key: 'cpu ns', value: String(4e6 * cpu) },
                     { key: 'machine cpu ns', value: String(n) }];
    const { share } = profile;
    profile.share = (node, part) => ({ ...share(node, part), work: wall,
                                       starved: starved ? wall - cpu : 0 });
    return profile;
  };
  const compared = compare(made(100, 98, true), made(1000, 100, true));
  assert.deepEqual([compared.basis, compared.isUnfair], ['cpu', true]);
  assert.deepEqual(compared.conditions.map((one) =>
    [one.name, one.before, one.after]),
  [['CPU share', '98.0\u00a0%', '10.0\u00a0%'],
   ['load', '0.02 CPUs', '0.90 CPUs']]);
  assert.deepEqual(summary(compared), [['a', 0, 'noise', 98, 100]]);
  assert.deepEqual([compared.wall, compared.isSummed],
                   [[1e8, 1e9], false]);
  // Nothing differs where both lacked CPUs alike.
  const alike = compare(made(1000, 100, true), made(1000, 120, true));
  assert.deepEqual([alike.basis, alike.isUnfair, alike.conditions,
                    alike.floor], ['cpu', false, [], 0.1]);
  const disk = made(100, 98, true);
  disk.facts.push({ key: 'disk wait of others ns', value: '200000000' });
  assert.deepEqual(compare(made(100, 98, true), disk).conditions.map((one) =>
    [one.name, one.before, one.after, one.isUnfair]),
  [['disk load', '0.00 CPUs', '0.50 CPUs', true]]);
  // By their waits, where both know them.
  const pressed = (ns) => {
    const profile = made(100, 98, true);
    profile.facts.push({ key: 'disk wait of others ns', value: String(ns) },
                       { key: 'disk pressure of others ns',
                         value: String(ns) });
    return profile;
  };
  assert.deepEqual(compare(pressed(0), pressed(60000000)).conditions.map(
    (one) => [one.name, one.before, one.after, one.isUnfair]),
  [['disk pressure', '0.0\u00a0%', '15.0\u00a0%', true]]);
  assert.deepEqual(compare(pressed(0), pressed(30000000)).conditions, []);
  assert.deepEqual(compare(made(100, 98, true), pressed(300000000))
    .conditions.map((one) => one.name), ['disk load']);
  // Of all the time that was recorded, with that outside of scopes; of disks,
  // of runs that used none.
  const long = (machine, more) => {
    const profile = pressed(60000000);
    profile.facts[1].value = String(machine);
    profile.facts.push({ key: 'recorded ns', value: '4000000000' },
                       { key: 'recorded cpu ns', value: '1000000000' },
                       ...more);
    return profile;
  };
  assert.deepEqual(compare(pressed(0), long(1e9, [])).conditions, []);
  assert.deepEqual(compare(pressed(0), long(3e9, [
    { key: 'recorded without disks ns', value: '300000000' }]))
    .conditions.map((one) => [one.name, one.before, one.after]),
  [['load', '0.02 CPUs', '0.50 CPUs'],
   ['disk pressure', '0.0\u00a0%', '20.0\u00a0%']]);
  // Of profiles that were joined some lack it.
  const joined = made(100, 98, true);
  joined.facts.push({ key: 'recorded cpu ns', value: '98000000' });
  assert.deepEqual(compare(made(100, 98, true), joined).conditions, []);
  // Of an older recording it is not known who had no CPU.
  const unknown = compare(made(100, 98, false), made(1000, 100, false));
  assert.equal(unknown.basis, 'none');
  assert.equal(unknown.paths[0].change, 'one run');
});

// As in test-compare.c: the lanes of spans of the root, of its descendants, and
// of a request; the parts of lanes.
test('roots on several threads are a sum over threads', () => {
  const isSummed = (wall, spans, parts, changes = {}) => {
    const profile = makeProfile({ a: [100], b: [100], 'b/c': [10] });
    Object.assign(profile.info, { wall, dropped: 0, ...changes });
    profile.lanes = parts.map((part, i) => ({ part, isAsync: i === 3 }));
    profile.spans = { count: spans.length,
                      node: spans.map(([node]) => node),
                      lane: spans.map(([, lane]) => lane) };
    const compared = compare(makeProfile({ a: [100] }), profile);
    assert.equal(compared.wall[1], wall);
    return compared.isSummed;
  };
  const one = [[0, 0], [1, 0], [2, 1], [0, 3]], two = [[0, 0], [1, 1]];
  const ofOne = [0, 0, 0, 0], runs = { parts: 'runs' };
  assert.equal(isSummed(1000, one, ofOne), false);
  assert.equal(isSummed(1000, two, ofOne), true);
  assert.equal(isSummed(1000, two, [0, 1], runs), false);
  assert.equal(isSummed(1000, two, [0, 1], { parts: 'ranks' }), true);
  // Without a log that has all spans, by their times: 100 and 100, of a call
  // each.
  for (const [wall, spans, dropped, expected] of [
    [197, [], 0, true], [198, [], 0, false], [0, [], 0, false],
    [197, one, 1, true], [198, one, 1, false], [197, one, 0, false]])
    assert.equal(isSummed(wall, spans, ofOne, { dropped }), expected);
});

const read = (name) => readFileSync(
  new URL('../../../profiler/' + name, import.meta.url), 'utf8');

test('conditions have the same limits here and in C', () => {
  const limitsOf = (name, pattern) => Array.from(
    read(name).matchAll(pattern), ([, key, value]) => [key, Number(value)])
    .sort();
  const limits = limitsOf('model/conditions.c', /^#define (\w+) ([\d.e]+)$/gm);
  assert.ok(limits.length > 20);
  assert.deepEqual(limitsOf('view/model/conditions.mjs',
                            /\b([A-Z][A-Z_]+) = ([\d.e]+)[,;]/g), limits);
});

test('facts are incidental here and in C alike', () => {
  const keys = new Map(Array.from(read('model/profile.h').matchAll(
    /^#define (RD_FACT_\w+) ("[^"]+")/gm), ([, name, key]) => [name, key]));
  const rules = [...read('model/facts.c').matchAll(
    /\{ (\w+|"[^"]+"), RD_JOIN_\w+, \w+, (true|false) \}/g)];
  assert.ok(rules.length > 40);
  const checked = rules.map(([, name, isIncidental]) =>
    [JSON.parse(keys.get(name) ?? name), isIncidental === 'true']);
  // Those of a program with a similar name are not.
  for (const key of ['recorded my ns', 'coils not kept', 'my cpu ns',
                     'slow runs rewritten', 'slow runs written by me'])
    checked.push([key, false]);
  for (const [key, isIncidental] of checked) {
    const made = (value) =>
      ({ ...makeProfile({ a: [100] }), facts: [{ key, value }] });
    assert.equal(compare(made('a'), made('b')).conditions.length,
                 isIncidental ? 0 : 1, key);
  }
});

test('both are compared by other metrics', () => {
  const before = makeProfile({ a: [100, 102, 98, 101], 'a/b': [4, 4, 4, 4] });
  const after = makeProfile({ a: [50, 51, 49, 50], 'a/c': [2, 2, 2, 2] });
  const of = (id) => compare(before, after, { id, unit: 'x' });
  assert.deepEqual(summary(of('calls')), [
    ['a', 0, 'noise', 4, 4], ['b', 1, 'gone', 2, 0], ['c', 1, 'new', 0, 2]]);
  assert.equal(of('calls').unit, 'x');
  // Only the sum of work over all runs is known, so noise is unknown.
  assert.deepEqual(summary(of('work')), [
    ['a', 0, 'one run', 52, 26], ['b', 1, 'gone', 2, 0],
    ['c', 1, 'new', 0, 1]]);
  assert.deepEqual(summary(of('c:none'))[0], ['a', 0, 'one run', 0, 0]);
});

test('transforms select the same scopes in both, by name', () => {
  const before = makeProfile({ a: [100, 90], 'a/b': [60, 50],
                               'a/b/x': [5, 5] });
  const after = makeProfile({ z: [1, 1], a: [90, 90], 'a/x': [20, 20],
                              'a/b': [30, 40] });
  const by = (...transforms) => compareProfiles(
    transformedRuns(before, before, transforms),
    transformedRuns(after, before, transforms));
  const site = (name) => before.sites.find(name, 'c');
  assert.deepEqual(summary(by({ kind: 'f', site: site('b') })), [
    ['b', 0, 'noise', 55, 35], ['x', 1, 'gone', 5, 0]]);
  assert.deepEqual(summary(by({ kind: 'm', site: site('b') })), [
    ['a', 0, 'noise', 95, 90], ['x', 1, 'slower', 5, 20],
    ['z', 0, 'new', 0, 1]]);
  assert.deepEqual(summary(by({ kind: 'h', site: site('a') })), [
    ['z', 0, 'new', 0, 1]]);
  // A scope that only one profile has is hidden there.
  const only = { kind: 'f', site: after.sites.find('z', 'c') };
  const focused = compareProfiles(transformedRuns(before, after, [only]),
                                  transformedRuns(after, after, [only]));
  assert.deepEqual(summary(focused), [['z', 0, 'new', 0, 1]]);
  assert.equal(focused.sameOperation, true);
});
