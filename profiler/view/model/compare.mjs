// SPDX-License-Identifier: MIT
// Compares two profiles path by path, like `radio diff'
// (profiler/model/compare.c): the union of both trees, in the order of the
// first.  Values are per run, the median over the runs.

import { totalsOfRuns } from './run-shape.mjs';
import { Tree } from '../data/tree.mjs';
import { spreadInterval, spreadOf } from '../data/spread.mjs';

// Facts that differ between any two recordings (tools/profile/cmd-diff.c).
const PASSING = new RegExp('^(pid|command|runs|warmup|seed|failed|bytes .*'
  + '|page faults.*|.* (ns|not recorded|no longer logged|outside of scopes'
  + '|not kept|in signal handlers|by another recorder|without an end)'
  + '|clock jumped)$');

// A root has no edge.
function keyOfNode({ profile, tree, origin }, node) {
  const at = origin[node];
  const isMoved = tree.parents[node] < 0 && profile.tree.parents[at] >= 0;
  return JSON.stringify([profile.names[at], profile.categories[at],
                         isMoved ? 0 : profile.edges[at]]);
}

// Matches the paths of both trees: [{ before, after, parent, children }], -1
// for a missing one; the roots are the children of the one at -1.
function pairPaths(before, after) {
  const paths = [];
  const top = { children: [], byKey: new Map() };
  const add = (shape, side, other) => {
    const places = new Int32Array(shape.size);
    for (let node = 0; node < shape.size; node++) {
      const up = shape.tree.parents[node];
      const parent = up < 0 ? -1 : places[up];
      const above = parent < 0 ? top : paths[parent];
      const key = keyOfNode(shape, node);
      let path = above.byKey.get(key);
      if (path === undefined) {
        path = paths.length;
        paths.push({ [side]: node, [other]: -1, parent, children: [],
                     byKey: new Map() });
        above.byKey.set(key, path);
        above.children.push(path);
      }
      paths[path][side] = node;
      places[node] = path;
    }
  };
  add(before, 'before', 'after');
  add(after, 'after', 'before');
  return { paths, top };
}

// Returns the columns of each run for all nodes; where runs were not recorded
// one by one, the mean.
function columnsOfRuns(shape, id) {
  const totals = totalsOfRuns(shape, id);
  if (totals !== null)
    return totals;
  const total = shape.metrics.find((one) => one.id === id)?.total
    ?? new Float64Array(shape.size);
  return [total.map((value) => value / shape.runs.length)];
}

// Zero for a missing node.
function spreadAt(columns, node) {
  return node < 0 ? { n: columns.length, median: 0 }
    : spreadOf(columns.map((column) => column[node]));
}

// Rounds halves away from 0; never -0.
function toWhole(value) {
  return Math.sign(value) * Math.floor(Math.abs(value) + 0.5) || 0;
}

// Whether a node belongs to the runs whose calls are given and to none of the
// n others: all of them have it, or significantly most (the rule of
// compare.c).
function belongs(calls, node, n) {
  const all = calls.length;
  const have = calls.filter((column) => column[node] > 0).length;
  let chance = 1;
  for (let i = 0; i < have; i++)
    chance *= (all - i) / (all + n - i);
  return all < 2 || have === all || 2 * have > all && chance <= 0.05;
}

// calls: columns of before, and of after.
function judgeChange(path, before, after, calls) {
  if (path.before < 0 || path.after < 0) {
    const [a, b] = calls;
    const change = path.before < 0 ? belongs(b, path.after, a.length) && 'new'
      : belongs(a, path.before, b.length) && 'gone';
    return { change: change || 'noise', low: 0, high: 0 };
  }
  if (before.n < 2 || after.n < 2)
    return { change: 'one run', low: 0, high: 0 };
  const [low, high] = spreadInterval(before, after);
  return { change: low > 0 ? 'slower' : high < 0 ? 'faster' : 'noise',
           low: toWhole(low), high: toWhole(high) };
}

// columns: { total, self, calls }, each of before and of after.
function measurePath(before, after, path, columns) {
  const of = (what) => [spreadAt(columns[what][0], path.before),
                        spreadAt(columns[what][1], path.after)];
  const shape = path.before >= 0 ? before : after;
  const node = shape.origin[path.before >= 0 ? path.before : path.after];
  const { names, categories, edges } = shape.profile;
  const total = of('total');
  const made = {
    name: names[node], category: categories[node], edge: edges[node],
    before: path.before, after: path.after,
    ...judgeChange(path, ...total, columns.calls),
  };
  for (const [what, [a, b]] of [['total', total], ['self', of('self')],
                                ['calls', of('calls')]]) {
    made[what + 'Before'] = toWhole(a.median);
    made[what + 'After'] = toWhole(b.median);
  }
  return made;
}

// Facts that both have and that differ.
function differingFacts(before, after) {
  const others = new Map(after.facts.map(({ key, value }) => [key, value]));
  return before.facts.filter(({ key, value }) => !PASSING.test(key)
    && others.has(key) && others.get(key) !== value)
    .map(({ key, value }) => ({ name: key, before: value,
                                after: others.get(key) }));
}

function isSameOperation(before, after) {
  const fact = (profile) => profile.facts.find(({ key }) =>
    key === 'operation')?.value;
  const [a, b] = [fact(before), fact(after)];
  if (a !== undefined && b !== undefined && a !== b)
    return false;
  const [ours, theirs] = [before, after].map((profile) =>
    Array.from(profile.tree.children(-1), (node) => profile.names[node]
      + '\0' + profile.categories[node]));
  return ours.length === 0 || theirs.length === 0
    || ours.some((one) => theirs.includes(one));
}

// The comparison of two profiles, given as shapes of run-shape.mjs, by a
// metric: { id, unit }.
export function compareProfiles(before, after,
                                metric = { id: 'wall', unit: 'time' }) {
  const { paths, top } = pairPaths(before, after);
  const list = [], places = new Int32Array(paths.length);
  const of = (what) => [before, after].map(({ runs }) =>
    runs.map((run) => run[what]));
  const columns = { self: of('self'), calls: of('calls'),
                    total: [before, after].map((shape) =>
                      columnsOfRuns(shape, metric.id)) };
  const stack = top.children.slice().reverse();
  while (stack.length > 0) {
    const at = stack.pop();
    const path = paths[at];
    places[at] = list.length;
    const parent = path.parent < 0 ? -1 : places[path.parent];
    list.push({ ...measurePath(before, after, path, columns), parent,
                depth: parent < 0 ? 0 : list[parent].depth + 1 });
    for (const child of path.children.reverse())
      stack.push(child);
  }
  const roots = list.filter((one) => one.parent < 0);
  const sum = (key) => roots.reduce((all, one) => all + one[key], 0);
  return {
    paths: list, tree: new Tree(Int32Array.from(list, (one) => one.parent)),
    unit: metric.unit, before: sum('totalBefore'), after: sum('totalAfter'),
    conditions: differingFacts(before.profile, after.profile),
    sameOperation: isSameOperation(before.profile, after.profile),
  };
}

// The second profile's times: as measured, or scaled to the same total.
export function scaleOfAfter(comparison, normalised) {
  return normalised && comparison.before > 0 && comparison.after > 0
    ? comparison.before / comparison.after : 1;
}

// The times for the views: of each path before and after, and the larger of
// both as its width, so that vanished paths stay visible.
export function diffTimes(comparison, normalised) {
  const scale = scaleOfAfter(comparison, normalised);
  const before = Float64Array.from(comparison.paths, (one) =>
    one.totalBefore);
  const after = Float64Array.from(comparison.paths, (one) =>
    one.totalAfter * scale);
  const total = before.map((one, i) => Math.max(one, after[i]));
  return { before, after, total };
}

// The change of a path when times are scaled: noise by the same interval,
// moved by the scaling.
export function changeOf(path, scale) {
  if (scale === 1 || !['slower', 'faster', 'noise'].includes(path.change))
    return path.change;
  const moved = (scale - 1) * path.totalAfter;
  return path.low + moved > 0 ? 'slower'
    : path.high + moved < 0 ? 'faster' : 'noise';
}
