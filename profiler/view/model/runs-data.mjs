// SPDX-License-Identifier: MIT
// The runs of an operation in time: where each one is, which are outliers, and
// their spread.

import { formatRange } from './model.mjs';
import { layoutIcicle } from './icicle-layout.mjs';
import { totalsOfRuns } from './run-shape.mjs';
import { matchedShare } from '../data/search.mjs';
import { spreadOf } from '../data/spread.mjs';

// Tukey's fence for far outliers: this many interquartile ranges above the
// upper quartile.
const FAR_OUT = 3;

// Returns a percentile of sorted values.
function quantileOf(sorted, share) {
  const at = (sorted.length - 1) * share;
  const low = Math.floor(at), high = Math.ceil(at);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}

// Returns the summary of some times, at least one.
export function timesInBrief(times) {
  const sorted = Float64Array.from(times).sort();
  const mean = sorted.reduce((sum, one) => sum + one, 0) / sorted.length;
  const squares = sorted.reduce((sum, one) => sum + (one - mean) ** 2, 0);
  return {
    n: sorted.length, mean, median: spreadOf(sorted).median,
    least: sorted[0], most: sorted[sorted.length - 1],
    lower: quantileOf(sorted, 0.25), upper: quantileOf(sorted, 0.75),
    deviation: sorted.length > 1 ? Math.sqrt(squares / (sorted.length - 1))
      : 0,
  };
}

// How many threads of a run or rank were busy at a time, as in the head.
export function threadsBusy({ wall, work, starved }) {
  return (work - (starved ?? 0)) / (wall || Infinity);
}

// Returns [{ part, name, begin, end, wall, work, starved, value, mark }]; each
// run begins where the previous one ends. values: the metric; mark: 'slow' and
// the like, or ''.
export function listRuns(profile,
                         values = profile.parts.map(({ wall }) => wall)) {
  const { parts } = profile;
  const brief = timesInBrief(values);
  const fence = brief.upper + FAR_OUT * (brief.upper - brief.lower);
  let begin = 0;
  return parts.map(({ name, wall, work, starved }, part) => {
    const value = values[part];
    const run = { part, name, begin, end: begin + wall, wall, work, starved,
                  value,
                  mark: markOf(value, part, brief, fence, parts.length) };
    begin += wall;
    return run;
  });
}

// What narrows all views to a run or a rank: { range, lanes } of the state.
export function stretchOfPart(profile, part) {
  if (profile.partKind() === 'rank')
    return { range: '', lanes: profile.lanes.flatMap((lane, i) =>
      lane.part === part ? [i] : []).join() };
  const { begin, end } = listRuns(profile)[part];
  return { range: formatRange(begin, end), lanes: '' };
}

// The run or rank that the views are narrowed to; -1: no single one.
export function partOfStretch(profile, { range, lanes }) {
  return profile.parts.length < 2 || range + lanes === '' ? -1
    : profile.parts.findIndex((_, part) => {
      const stretch = stretchOfPart(profile, part);
      return stretch.range === range && stretch.lanes === lanes;
    });
}

function markOf(value, part, brief, fence, n) {
  if (n >= 4 && value > fence && value > 1.1 * brief.median)
    return part === 0 ? 'slow: the first' : 'slow';
  if (n >= 4 && value === brief.least && brief.least < brief.most)
    return 'fastest';
  return '';
}

// The metric's values of the runs, all roots together, of a shape with runs
// (run-shape.mjs); null: not recorded run by run.  For all scopes this is what
// the recording has for each run, including work.
export function valuesOfRuns(shape, id, isAll) {
  const { parts } = shape.profile;
  if (isAll && ['wall', 'work'].includes(id))
    return parts.map((part) => part[id]);
  const roots = Array.from(shape.tree.children(-1));
  return totalsOfRuns(shape, id)?.map((column) =>
    roots.reduce((sum, node) => sum + column[node], 0)) ?? null;
}

// The share of each run's time in matching scopes.
export function matchedOfRuns({ tree, runs }, matched) {
  return runs.map(({ total }) =>
    matchedShare(tree, layoutIcicle(tree, { total }), matched));
}

// Whether each run began with uncached files: 'cold', 'warm', or '' if
// unknown.
export function cacheOfRuns(profile) {
  const fact = profile.facts.find(({ key }) => key === 'cache');
  return ['cold', 'warm'].includes(fact?.value) ? fact.value : '';
}
