// SPDX-License-Identifier: MIT
// A tree with its metrics, as views draw it: the profile's own, sums of spans
// in a stretch of time, a transformed one, or an inverted one.  Each node has
// a node of the profile as its origin.

import { Tree } from '../data/tree.mjs';
import { makeMetrics } from './metrics.mjs';

export const COLUMNS = ['calls', 'total', 'self', 'work', 'wait', 'queue',
                        'allocCount', 'allocBytes'];

// The columns of each run; cpu: its own work on CPUs.
export const RUN_COLUMNS = ['calls', 'total', 'self', 'cpu', 'starved'];

export class Shape {
  // parents: of each node; origin: the profile's node; columns: { calls,
  // total, self, ... }; counters: [{ name, unit, own }].
  constructor(profile, parents, origin, columns, counters) {
    this.profile = profile;
    this.tree = parents instanceof Tree ? parents : new Tree(parents);
    this.origin = origin;
    this.counters = counters;
    for (const name of COLUMNS)
      this[name] = columns[name] ?? new Float64Array(this.tree.size);
    // null: not known of a part.
    this.starved = columns.starved ?? null;
    this.treeWork = this.tree.sums(this.work);
    this.treeWait = this.tree.sums(this.wait);
    this.metrics = makeMetrics(this);
  }

  get size() {
    return this.tree.size;
  }

  name(node) {
    return this.profile.names[this.origin[node]];
  }

  site(node) {
    return this.profile.sites.of[this.origin[node]];
  }

  // Maps a node of the profile to its node here or, if that is gone, to the
  // outermost of the same site; -1: none.  If several have this origin, as
  // callers do, `which' if it is one of them.
  find(profileNode, which) {
    if (!(profileNode >= 0 && profileNode < this.profile.tree.size))
      return -1;
    if (this.origin[which] === profileNode)
      return which;
    const place = this.place(profileNode);
    return place >= 0 ? place
      : this.findSite(this.profile.sites.of[profileNode]);
  }

  // Maps a node of the profile to its node here; -1: none.
  place(profileNode) {
    this.places ??= this.findPlaces();
    return this.places[profileNode];
  }

  findPlaces() {
    const places = new Int32Array(this.profile.tree.size).fill(-1);
    for (let i = this.size - 1; i >= 0; i--)
      places[this.origin[i]] = i;
    return places;
  }

  findSite(site) {
    const { depths } = this.tree;
    let found = -1;
    for (let i = 0; i < this.size; i++)
      if (this.site(i) === site && (found < 0 || depths[i] < depths[found]))
        found = i;
    return found;
  }

  // A metric by its id; wall for an unknown one.
  metric(id) {
    return this.metrics.find((one) => one.id === id) ?? this.metrics[0];
  }
}
