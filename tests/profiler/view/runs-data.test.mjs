// SPDX-License-Identifier: MIT
// Runs: their places, outliers, and spread.
import test from 'node:test';
import assert from 'node:assert/strict';
import { cacheOfRuns, listRuns, matchedOfRuns, partOfStretch, stretchOfPart,
         threadsBusy, timesInBrief, valuesOfRuns }
  from '../../../profiler/view/model/runs-data.mjs';
import { Tree } from '../../../profiler/view/data/tree.mjs';

function profileOf(walls, facts = []) {
  return { facts, parts: walls.map((wall, i) =>
    ({ name: 'run ' + (i + 1), wall, work: wall / 2 })) };
}

test('times are printed in brief', () => {
  assert.deepEqual(timesInBrief([4, 1, 3, 2, 5]), {
    n: 5, mean: 3, median: 3, least: 1, most: 5, lower: 2, upper: 4,
    deviation: Math.sqrt(2.5) });
  assert.deepEqual(timesInBrief([7]), {
    n: 1, mean: 7, median: 7, least: 7, most: 7, lower: 7, upper: 7,
    deviation: 0 });
  assert.equal(timesInBrief([1, 2, 3, 4]).lower, 1.75);
  assert.equal(timesInBrief([2, 1]).median, 1.5);
});

test('each run begins where the one before ends', () => {
  const runs = listRuns(profileOf([10, 20, 30]));
  assert.deepEqual(runs.map(({ begin, end }) => [begin, end]),
                   [[0, 10], [10, 30], [30, 60]]);
  assert.deepEqual(runs[1], { part: 1, name: 'run 2', begin: 10, end: 30,
                              wall: 20, work: 10, starved: undefined,
                              value: 20, mark: '' });
});

test('threads of a run were busy while they had CPUs', () => {
  assert.equal(threadsBusy({ wall: 100, work: 90, starved: 60 }), 0.3);
  assert.equal(threadsBusy({ wall: 100, work: 90 }), 0.9);
  assert.equal(threadsBusy({ wall: 0, work: 0 }), 0);
});

test('runs that are far out are marked, and the fastest', () => {
  const marks = (walls) => listRuns(profileOf(walls)).map((run) => run.mark);
  assert.deepEqual(marks([100, 101, 99, 102, 900, 98]),
                   ['', '', '', '', 'slow', 'fastest']);
  assert.deepEqual(marks([900, 100, 101, 99, 102, 98]),
                   ['slow: the first', '', '', '', '', 'fastest']);
  assert.deepEqual(marks([100, 100, 100, 100, 105]),
                   ['fastest', 'fastest', 'fastest', 'fastest', '']);
  assert.deepEqual(marks([5, 900]), ['', '']);
  assert.deepEqual(marks([0, 0, 0, 0]), ['', '', '', '']);
});

test('cold and warm runs are named where it was recorded', () => {
  const of = (value) => cacheOfRuns(profileOf([1], [{ key: 'cache',
                                                      value }]));
  assert.equal(of('cold'), 'cold');
  assert.equal(of('warm'), 'warm');
  assert.equal(of('</script>'), '');
  assert.equal(cacheOfRuns(profileOf([1])), '');
});

test('runs are described by their recorded conditions', () => {
  const parts = profileOf([10, 20]).parts;
  const shape = { profile: { parts }, tree: new Tree(new Int32Array([-1, 0])),
                  runs: [{ total: [8, 6], calls: [1, 4], self: [2, 6] },
                         { total: [19, 3], calls: [1, 5], self: [16, 3] }] };
  const of = (id, isAll) => valuesOfRuns(shape, id, isAll);
  assert.deepEqual([of('wall', true), of('work', true)], [[10, 20], [5, 10]]);
  assert.deepEqual(of('wall', false), [8, 19]);
  assert.deepEqual(of('calls', true), [5, 6]);
  assert.deepEqual([of('work', false), of('c:bytes', true)], [null, null]);
  assert.deepEqual(matchedOfRuns(shape, [0, 1]), [0.75, 3 / 19]);
  assert.deepEqual(matchedOfRuns(shape, [1, 1]), [1, 1]);
});

test('another value than wall has its own remarks', () => {
  const runs = listRuns(profileOf([10, 20, 30, 40, 50]), [5, 5, 1, 5, 90]);
  assert.deepEqual(runs.map(({ value, mark }) => [value, mark]), [
    [5, ''], [5, ''], [1, 'fastest'], [5, ''], [90, 'slow']]);
  assert.equal(runs[4].begin, 100);
});

test('a run is a stretch of time, and a rank its lanes', () => {
  const runs = { ...profileOf([10, 20, 30]), partKind: () => 'run' };
  assert.deepEqual(stretchOfPart(runs, 1), { range: '10-30', lanes: '' });
  const ranks = { ...profileOf([10, 20]), partKind: () => 'rank',
                  lanes: [{ part: 0 }, { part: 1 }, { part: 1 }] };
  assert.deepEqual(stretchOfPart(ranks, 1), { range: '', lanes: '1,2' });
  for (const profile of [runs, ranks])
    profile.parts.forEach((_, part) => assert.equal(
      partOfStretch(profile, stretchOfPart(profile, part)), part));
  assert.equal(partOfStretch(runs, { range: '10-31', lanes: '' }), -1);
  assert.equal(partOfStretch(runs, { range: '10-30', lanes: '0' }), -1);
  assert.equal(partOfStretch(runs, { range: '', lanes: '' }), -1);
});
