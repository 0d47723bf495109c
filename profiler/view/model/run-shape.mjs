// SPDX-License-Identifier: MIT
// The tree of a profile with what each run had of it, so that transforms and
// metrics mean the same where runs or profiles are compared.

import { Shape, RUN_COLUMNS } from './shape.mjs';
import { transform } from './transforms.mjs';

// The columns of one run.
function columnsOf(profile, part) {
  const shares = profile.names.map((_, node) => profile.share(node, part));
  return Object.fromEntries(RUN_COLUMNS.map((name) =>
    [name, Float64Array.from(shares, (share) => share[name])]));
}

// shape.runs: columns of each run; of a profile of one run its own.
export function runShape(profile) {
  const { parts, tree } = profile;
  const shape = new Shape(profile, tree,
    Int32Array.from({ length: tree.size }, (_, i) => i), profile,
    profile.counters);
  shape.runs = profile.info.parts === 'runs' && parts.length > 1
    ? parts.map((_, part) => columnsOf(profile, part)) : [profile];
  return shape;
}

// After transforms, whose sites are those of `named': another profile has
// the same scopes by their names.
export function transformedRuns(profile, named, transforms) {
  const { sites, names, categories } = named;
  return transforms.reduce((shape, { kind, site }) => {
    const node = sites.first[site];
    return transform(shape, { kind, site: profile.sites.find(
      names[node], categories[node]) });
  }, runShape(profile));
}

// Of each run the values of a metric by node, with all below; null for what
// was not recorded run by run.
export function totalsOfRuns({ runs, tree }, id) {
  if (id === 'wall')
    return runs.map(({ total }) => total);
  return RUN_COLUMNS.includes(id)
    ? runs.map((run) => tree.sums(run[id])) : null;
}
