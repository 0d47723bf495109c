// SPDX-License-Identifier: MIT
// A profile's tree with the columns of each run, so that transforms and
// metrics apply to comparisons of runs and profiles.

import { Shape, RUN_COLUMNS } from './shape.mjs';
import { transform } from './transforms.mjs';

// The columns of one run; figures: of each node.
function columnsOf(figures) {
  return Object.fromEntries(RUN_COLUMNS.map((name) =>
    [name, Float64Array.from(figures, (one) =>
      name === 'cpu' ? one.work - one.starved : one[name])]));
}

function columnsOfAll({ names, calls, total, self, work, starved }) {
  return columnsOf(names.map((_, i) =>
    ({ calls: calls[i], total: total[i], self: self[i], work: work[i],
       starved: starved[i] })));
}

// shape.runs: the columns of each run; of a single run its own.
export function runShape(profile) {
  const { parts, tree } = profile;
  const shape = new Shape(profile, tree,
    Int32Array.from({ length: tree.size }, (_, i) => i), profile,
    profile.counters);
  shape.runs = profile.info.parts === 'runs' && parts.length > 1
    ? parts.map((_, part) => columnsOf(profile.names.map((_name, node) =>
      profile.share(node, part)))) : [columnsOfAll(profile)];
  return shape;
}

// Applies transforms whose sites are those of `named', matched by name, since
// another profile numbers them differently.
export function transformedRuns(profile, named, transforms) {
  const { sites, names, categories } = named;
  return transforms.reduce((shape, { kind, site }) => {
    const node = sites.first[site];
    return transform(shape, { kind, site: profile.sites.find(
      names[node], categories[node]) });
  }, runShape(profile));
}

// The metric's values of each run by node, descendants included; null for what
// was not recorded run by run.
export function totalsOfRuns({ profile, runs, tree }, id) {
  if (id === 'wall')
    return runs.map(({ total }) => total);
  const isOfWork = id === 'cpu' || id === 'starved';
  if (isOfWork && runs.length > 1 && !profile.knowsWorkOfParts)
    return null;
  return RUN_COLUMNS.includes(id)
    ? runs.map((run) => tree.sums(run[id])) : null;
}
