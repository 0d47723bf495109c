// SPDX-License-Identifier: MIT
// Compares two profiles path by path, like `radio diff'
// (profiler/model/compare.c): the union of both trees, in the order of the
// first, summed over threads.  Values are per run, the mean over the runs.

import { compareConditions, countRuns, factOf, isByRounds, roundsOf }
  from './conditions.mjs';
import { totalsOfRuns } from './run-shape.mjs';
import { Tree } from '../data/tree.mjs';
import { spreadInterval, spreadOf } from '../data/spread.mjs';

// Of all paths together.
const ALPHA = 0.05;

const CALL = 0, HANDOFF = 1;

// Directions of changes: a path that is new takes time.
export const DIRECTIONS = { slower: 1, new: 1, faster: 2, gone: 2 };

// What is compared where wall times cannot be.
const CPU = { id: 'cpu', label: 'CPU time', unit: 'time' };

// A root has no edge; which thread it was makes no other path.
function keyOfNode({ profile, tree, origin }, node) {
  const at = origin[node], edge = profile.edges[at];
  const isMoved = tree.parents[node] < 0 && profile.tree.parents[at] >= 0;
  return JSON.stringify([profile.names[at], profile.categories[at],
                         isMoved || edge === HANDOFF ? 0 : edge]);
}

// Matches the paths of both trees: [{ nodes: those of before, and of after,
// parent, children }]; the roots are the children of the one at -1.
function pairPaths(shapes) {
  const paths = [];
  const top = { children: [], byKey: new Map() };
  shapes.forEach((shape, side) => {
    const places = new Int32Array(shape.size);
    for (let node = 0; node < shape.size; node++) {
      const up = shape.tree.parents[node];
      const parent = up < 0 ? -1 : places[up];
      const above = parent < 0 ? top : paths[parent];
      const key = keyOfNode(shape, node);
      let path = above.byKey.get(key);
      if (path === undefined) {
        path = paths.length;
        paths.push({ nodes: [[], []], parent, children: [],
                     byKey: new Map() });
        above.byKey.set(key, path);
        above.children.push(path);
      }
      paths[path].nodes[side].push(node);
      places[node] = path;
    }
  });
  return { paths, top };
}

// Returns the columns of each run for all nodes; where runs were not recorded
// one by one, the mean.
function columnsOfRuns(shape, id, isSelf) {
  const totals = isSelf ? shape.runs.map((run) =>
    run[id === 'wall' ? 'self' : id]) : totalsOfRuns(shape, id);
  if (totals !== null && totals[0] !== undefined)
    return totals;
  const metric = shape.metrics.find((one) => one.id === id);
  const values = (isSelf ? metric?.own : metric?.total)
    ?? new Float64Array(shape.size);
  return [values.map((value) => value / shape.runs.length)];
}

const sumAt = (column, nodes) =>
  nodes.reduce((sum, node) => sum + column[node], 0);

const meanOf = (values) =>
  values.reduce((sum, one) => sum + one / values.length, 0);

// Rounds halves away from 0; never -0.
function toWhole(value) {
  return Math.sign(value) * Math.floor(Math.abs(value) + 0.5) || 0;
}

class Comparer {
  constructor(shapes, metric) {
    const profiles = shapes.map(({ profile }) => profile);
    this.shapes = shapes;
    this.conditions = compareConditions(...profiles);
    const { basis } = this.conditions;
    this.metric = metric.id === 'wall' && basis === 'cpu' ? CPU : metric;
    this.rounds = profiles.map(roundsOf);
    this.isByRounds = isByRounds(...profiles);
    const of = (id, isSelf) => shapes.map((shape) =>
      columnsOfRuns(shape, id, isSelf));
    const { id } = this.metric;
    this.columns = { total: of(id, false), self: of(id, true),
                     calls: of('calls', true) };
    Object.assign(this, pairPaths(shapes));
    this.setThresholds();
  }

  // The values of each run.
  runsOf(what, path, side) {
    return this.columns[what][side].map((column) =>
      sumAt(column, path.nodes[side]));
  }

  // What is compared: runs, or the median of each process's.
  joinRounds(runs, side) {
    return !this.isByRounds || runs.length < 2 ? runs
      : this.rounds[side].map(([first, end]) =>
        Math.floor(spreadOf(runs.slice(first, end)).median));
  }

  // Processes are independent.  The mean is of runs.
  spreadOfRuns(runs, side) {
    return { ...spreadOf(this.joinRounds(runs, side), this.isByRounds),
             mean: spreadOf(runs).mean };
  }

  isQueue(path) {
    const side = path.nodes[0].length > 0 ? 0 : 1;
    const { profile, origin } = this.shapes[side];
    return profile.categories[origin[path.nodes[side][0]]] === 'queue';
  }

  setThresholds() {
    const roots = this.top.children.map((one) => this.paths[one]);
    const whole = [0, 1].map((side) => roots.reduce((sum, path) =>
      sum + meanOf(this.runsOf('total', path, side)), 0));
    this.least = Math.max(...whole) * this.conditions.leastShare;
    const isOfBoth = ({ nodes }) => nodes.every((one) => one.length > 0);
    const tested = this.paths.filter((path) =>
      isOfBoth(path) && !this.isQueue(path) && [0, 1].some((side) =>
        meanOf(this.runsOf('self', path, side)) > this.least));
    const alone = this.paths.filter((path) =>
      !isOfBoth(path) && !this.isQueue(path));
    this.alpha = ALPHA / Math.max(1, tested.length
      + roots.filter(isOfBoth).length
      + roots.filter((path) => this.hasWaits(path)).length);
    this.presenceAlpha = ALPHA / Math.max(1, alone.length);
  }

  // Whether a path is typical of the runs of its side (compare.c).
  belongs(path, side) {
    const calls = this.joinRounds(this.runsOf('calls', path, side),
                                  side);
    const others = this.columns.calls[1 - side].length;
    const n = calls.length, have = calls.filter((one) => one > 0).length;
    const m = this.isByRounds ? this.rounds[1 - side].length : others;
    let chance = 1;
    for (let i = 0; i < have; i++)
      chance *= (n - i) / (n + m - i);
    return n < 2 || have === n
      || 2 * have > n && chance <= this.presenceAlpha;
  }

  classify([before, after]) {
    if (before.n < 2 || after.n < 2 || this.conditions.basis === 'none')
      return { change: 'one run', low: 0, high: 0 };
    const [low, high] = spreadInterval(before, after, this.alpha);
    const least = Math.max(this.least, this.conditions.floor
      * Math.min(before.median, after.median));
    const delta = after.median - before.median;
    const isNoise = Math.abs(delta) <= least
      || delta > 0 !== after.mean > before.mean;
    return { change: isNoise ? 'noise' : low > 0 ? 'slower'
      : high < 0 ? 'faster' : 'noise',
             low: toWhole(low), high: toWhole(high), least };
  }

  classifyPath(path, spreads) {
    const isQueue = this.isQueue(path);
    const alone = path.nodes.findIndex((one) => one.length === 0);
    if (alone >= 0)
      return { change: isQueue || !this.belongs(path, 1 - alone) ? 'noise'
        : alone === 0 ? 'new' : 'gone',
               below: 'noise', low: 0, high: 0, selfLow: 0, selfHigh: 0 };
    const total = this.classify(spreads.total);
    const self = this.classify(spreads.self);
    return { change: isQueue && self.change !== 'one run' ? 'noise'
      : self.change,
             below: total.change, low: total.low, high: total.high,
             selfLow: self.low, selfHigh: self.high, least: self.least };
  }

  // Whether a node is in the time of one of others, on the same thread.
  isInside(side, node, others) {
    const { tree, origin, profile } = this.shapes[side];
    while (profile.edges[origin[node]] === CALL) {
      node = tree.parents[node];
      if (node < 0 || others.has(node))
        return node >= 0;
    }
    return false;
  }

  // The spreads of a path's total less the waits for other threads in it.
  spreadsWithoutWaits(path, waits) {
    return [0, 1].map((side) => {
      const others = new Set(path.nodes[side]);
      const inside = waits.flatMap(({ nodes }) => nodes[side].filter((node) =>
        this.isInside(side, node, others)));
      const runs = this.runsOf('total', path, side).map((total, i) =>
        Math.max(0, total - sumAt(this.columns.self[side][i], inside)));
      return this.spreadOfRuns(runs, side);
    });
  }

  // A total changed if it did so without the waits for other threads, too, or
  // if what these wait for changed (compare.c).  list: what is known of the
  // paths, each before those below it, which have these indexes.
  leaveOutWaits(list, indexes) {
    if (this.metric.id !== 'wall')
      return;
    const called = list.map(({ change }) => DIRECTIONS[change] ?? 0);
    for (let i = list.length - 1; i >= 0; i--) {
      const { below, depth, parent } = list[i];
      if (parent >= 0)
        called[parent] |= called[i];
      if (((DIRECTIONS[below] ?? 0) & ~called[i]) === 0)
        continue;
      const waits = [];
      for (let j = i + 1; j < list.length && list[j].depth > depth; j++)
        if (list[j].category === 'queue')
          waits.push(this.paths[indexes[j]]);
      const spreads = this.spreadsWithoutWaits(this.paths[indexes[i]], waits);
      if (this.classify(spreads).change !== below)
        list[i].below = 'noise';
    }
  }

  // An operation's change is unclear where processes differ as much, or do
  // under such conditions.
  judgeRoots(list) {
    const { leastFloor, floor, rootFloor } = this.conditions;
    for (const one of list) {
      const { below, low, high, medianBefore, medianAfter, parent } = one;
      const change = Math.abs(medianAfter - medianBefore);
      const least = Math.min(medianBefore, medianAfter);
      if (parent < 0 && change <= rootFloor * least
          && (DIRECTIONS[below] || below === 'noise'
            && change > leastFloor * least && change <= floor * least
            && (low > 0 || high < 0)))
        one.below = 'unclear';
    }
  }

  // Whether waits are compared: those of an operation of both, where its times
  // on CPUs are, which have none.
  hasWaits({ nodes, parent }) {
    return parent < 0 && this.metric.id === 'cpu'
      && this.conditions.basis === 'cpu'
      && nodes.every((one) => one.length > 0)
      && this.shapes.every((one) => totalsOfRuns(one, 'cpu') !== null);
  }

  // An operation's waits on all threads, except for other threads, as
  // medians: the time in which threads were in it, less what they worked
  // (compare.c).  CPU time does not show it.  Those of processes of one program
  // differ, too.
  compareWaits(path) {
    const spreads = [0, 1].map((side) => {
      const { tree, origin, profile } = this.shapes[side];
      const { edges, categories } = profile;
      const of = (id, isSelf) => columnsOfRuns(this.shapes[side], id, isSelf);
      const totals = of('wall', false), selves = of('wall', true);
      const cpus = of('cpu', true), lacks = of('starved', true);
      const runs = totals.map((total, i) => {
        const waits = tree.sums(total.map((ns, node) => {
          const at = origin[node], edge = edges[at];
          const isOfThread = edge === HANDOFF
            || edge === CALL && tree.parents[node] < 0;
          return (isOfThread ? ns : 0) - (categories[at] === 'queue'
            ? selves[i][node] : cpus[i][node] + lacks[i][node]);
        }));
        return Math.max(0, sumAt(waits, path.nodes[side]));
      });
      return this.spreadOfRuns(runs, side);
    });
    const [before, after] = spreads.map(({ median }) => toWhole(median));
    const { change, low, high } = this.classify(spreads);
    const isUnclear = DIRECTIONS[change] > 0 && Math.abs(after - before)
      <= this.conditions.rootFloor * Math.min(before, after);
    return { change: isUnclear ? 'unclear' : change, before, after, low, high };
  }

  // The part of a path on other threads than its root's: their means.
  elsewhere(path) {
    if (path.nodes.every((one) => one.length < 2))
      return null;
    return [0, 1].map((side) => {
      const { tree, origin, profile } = this.shapes[side];
      const other = path.nodes[side].filter((node) => tree.path(node)
        .some((one) => profile.edges[origin[one]] === HANDOFF));
      return toWhole(meanOf(this.columns.total[side].map((column) =>
        sumAt(column, other))));
    });
  }

  measure(path) {
    const side = path.nodes[0].length > 0 ? 0 : 1;
    const { profile, origin } = this.shapes[side];
    const node = origin[path.nodes[side][0]];
    const spreads = {};
    const made = {
      name: profile.names[node], category: profile.categories[node],
      edge: profile.edges[node], elsewhere: this.elsewhere(path),
      before: path.nodes[0][0] ?? -1, after: path.nodes[1][0] ?? -1,
    };
    for (const what of ['total', 'self', 'calls']) {
      spreads[what] = [0, 1].map((one) =>
        this.spreadOfRuns(this.runsOf(what, path, one), one));
      const [before, after] = [0, 1].map((one) =>
        toWhole(meanOf(this.runsOf(what, path, one))));
      Object.assign(made, { [what + 'Before']: before,
                            [what + 'After']: after });
    }
    const { total, self } = spreads;
    return { ...made, ...this.classifyPath(path, spreads),
             waits: this.hasWaits(path) ? this.compareWaits(path) : null,
             medianBefore: toWhole(total[0].median),
             medianAfter: toWhole(total[1].median),
             selfMedians: toWhole(self[1].median - self[0].median) };
  }
}

function isSameOperation(before, after) {
  const [a, b] = [before, after].map((one) => factOf(one, 'operation'));
  if (a !== undefined && b !== undefined && a !== b)
    return false;
  const [ours, theirs] = [before, after].map((profile) =>
    Array.from(profile.tree.children(-1), (node) => profile.names[node]
      + '\0' + profile.categories[node]));
  return ours.length === 0 || theirs.length === 0
    || ours.some((one) => theirs.includes(one));
}

// Whether roots ran on several threads of a run, or on several ranks
// (conditions.c).
function isSummed({ profile, tree, origin }) {
  const { spans, lanes, info } = profile;
  const isRoot = new Uint8Array(profile.names.length);
  let last = -1, total = 0, calls = 0;
  for (const node of tree.children(-1)) {
    isRoot[origin[node]] = 1;
    total += profile.total[origin[node]];
    calls += profile.calls[origin[node]];
  }
  for (let i = 0; i < spans.count; i++) {
    const lane = spans.lane[i];
    if (lane === last || !isRoot[spans.node[i]] || lanes[lane].isAsync)
      continue;
    if (last >= 0 && (info.parts === 'ranks'
        || lanes[last].part === lanes[lane].part))
      return true;
    last = lane;
  }
  return (spans.count === 0 || info.dropped > 0)
    && info.wall > 0 && total > info.wall + calls;
}

// The comparison of two profiles, given as shapes of run-shape.mjs, by a
// metric: { id, unit }.
export function compareProfiles(before, after,
                                metric = { id: 'wall', unit: 'time' }) {
  const comparer = new Comparer([before, after], metric);
  const { paths, top, conditions } = comparer;
  const list = [], indexes = [], places = new Int32Array(paths.length);
  const stack = top.children.slice().reverse();
  while (stack.length > 0) {
    const at = stack.pop();
    const path = paths[at];
    places[at] = list.length;
    const parent = path.parent < 0 ? -1 : places[path.parent];
    list.push({ ...comparer.measure(path), parent,
                depth: parent < 0 ? 0 : list[parent].depth + 1 });
    indexes.push(at);
    for (const child of path.children.reverse())
      stack.push(child);
  }
  comparer.leaveOutWaits(list, indexes);
  comparer.judgeRoots(list);
  const roots = list.filter((one) => one.parent < 0);
  const sum = (key) => roots.reduce((all, one) => all + one[key], 0);
  const whole = [sum('totalBefore'), sum('totalAfter')];
  // Of a run, however many threads had it.
  const wall = [before, after].map(({ profile }) =>
    profile.info.wall / countRuns(profile));
  return {
    ...conditions, metric: comparer.metric,
    paths: list, tree: new Tree(Int32Array.from(list, (one) => one.parent)),
    unit: metric.unit, before: whole[0], after: whole[1], wall,
    isSummed: comparer.metric.id === 'wall' && [before, after].some(isSummed),
    sameOperation: isSameOperation(before.profile, after.profile),
  };
}

// The names above a path that distinguish it from others of its last name, as
// few as possible.  Those beside it differ by another thing.
export function namesAbove(paths, path) {
  const { name, parent } = paths[path], found = [];
  let others = [...paths.keys()].filter((one) =>
    paths[one].name === name && paths[one].parent !== parent);
  for (let at = parent; at >= 0 && others.length > 0;
       at = paths[at].parent) {
    found.unshift(paths[at].name);
    others = others.map((one) => paths[one].parent).filter((one) =>
      one !== at && paths[one]?.name === found[0]);
  }
  return found;
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
  const moved = (scale - 1) * path.selfAfter;
  const delta = path.selfAfter - path.selfBefore + moved;
  return Math.abs(delta) <= (path.least ?? 0) ? 'noise'
    : path.selfLow + moved > 0 ? 'slower'
    : path.selfHigh + moved < 0 ? 'faster' : 'noise';
}
