// SPDX-License-Identifier: MIT
// A profile's tree with the columns of each run, so that transforms and
// metrics apply to comparisons of runs and profiles.

import { Shape, RUN_COLUMNS } from './shape.mjs';
import { transform } from './transforms.mjs';

// The columns of one run.
function columnsOf(profile, part) {
  const figures = profile.names.map((_, node) => profile.share(node, part));
  return Object.fromEntries(RUN_COLUMNS.map((name) =>
    [name, Float64Array.from(figures, (one) => one[name])]));
}

// shape.runs: the columns of each run; of a single run its own.
export function runShape(profile) {
  const { parts, tree } = profile;
  const shape = new Shape(profile, tree,
    Int32Array.from({ length: tree.size }, (_, i) => i), profile,
    profile.counters);
  shape.runs = profile.info.parts === 'runs' && parts.length > 1
    ? parts.map((_, part) => columnsOf(profile, part)) : [profile];
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
export function totalsOfRuns({ runs, tree }, id) {
  if (id === 'wall')
    return runs.map(({ total }) => total);
  return RUN_COLUMNS.includes(id)
    ? runs.map((run) => tree.sums(run[id])) : null;
}
