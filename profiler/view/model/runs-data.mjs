// SPDX-License-Identifier: MIT
// The runs of an operation, one after the other: where each lies in time,
// which ones are out of the ordinary, and how far all of them scatter.

import { layoutIcicle } from './icicle-layout.mjs';
import { totalsOfRuns } from './run-shape.mjs';
import { matchedShare } from '../data/search.mjs';
import { spreadOf } from '../data/spread.mjs';

// A run that took so many times the distance of the quarters longer than
// the upper one (Tukey's fence for what is far out).
const FAR_OUT = 3;

// The value that a share of sorted ones does not exceed.
function quantileOf(sorted, share) {
  const at = (sorted.length - 1) * share;
  const low = Math.floor(at), high = Math.ceil(at);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}

// Of some times, at least one: what is said of them in a line.
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

// Runs: [{ part, name, begin, end, wall, work, value, mark }].  Each begins
// where the one before ends.  values: what they are looked at by; mark: what
// is special about a value, or ''.
export function listRuns(profile,
                         values = profile.parts.map(({ wall }) => wall)) {
  const { parts } = profile;
  const brief = timesInBrief(values);
  const fence = brief.upper + FAR_OUT * (brief.upper - brief.lower);
  let begin = 0;
  return parts.map(({ name, wall, work }, part) => {
    const value = values[part];
    const run = { part, name, begin, end: begin + wall, wall, work, value,
                  mark: markOf(value, part, brief, fence, parts.length) };
    begin += wall;
    return run;
  });
}

function markOf(value, part, brief, fence, n) {
  if (n >= 4 && value > fence && value > 1.1 * brief.median)
    return part === 0 ? 'slow: the first' : 'slow';
  if (n >= 4 && value === brief.least && brief.least < brief.most)
    return 'fastest';
  return '';
}

// What the runs had of a metric, all roots together, of a shape with runs
// (run-shape.mjs); null: it was not recorded run by run.  Of all scopes that
// is what the recording says of each run, and work too.
export function valuesOfRuns(shape, id, isAll) {
  const { parts } = shape.profile;
  if (isAll && ['wall', 'work'].includes(id))
    return parts.map((part) => part[id]);
  const roots = Array.from(shape.tree.children(-1));
  return totalsOfRuns(shape, id)?.map((column) =>
    roots.reduce((sum, node) => sum + column[node], 0)) ?? null;
}

// Of each run the share of its time that scopes take together which match.
export function matchedOfRuns({ tree, runs }, matched) {
  return runs.map(({ total }) =>
    matchedShare(tree, layoutIcicle(tree, { total }), matched));
}

// Whether each run began with files that were not in memory: 'cold', 'warm',
// or '' where nobody said so.
export function cacheOfRuns(profile) {
  const fact = profile.facts.find(({ key }) => key === 'cache');
  return ['cold', 'warm'].includes(fact?.value) ? fact.value : '';
}
