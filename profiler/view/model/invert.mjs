// SPDX-License-Identifier: MIT
// Inverted trees: each function with its callers below.

import { Shape } from './shape.mjs';
import { Tree } from '../data/tree.mjs';

// The maximum depth of callers.
const DEPTH = 100;

// Builds a tree of sites, each below its callee, and sums values of the nodes
// that they come from.
class Callers {
  constructor(shape) {
    this.shape = shape;
    this.parents = [];
    this.origin = [];
    this.known = new Map();
  }

  place(node, parent) {
    const key = (parent + 1) * this.shape.profile.sites.size
      + this.shape.site(node);
    let made = this.known.get(key);
    if (made === undefined) {
      made = this.parents.length;
      this.known.set(key, made);
      this.parents.push(parent);
      this.origin.push(this.shape.origin[node]);
    }
    return made;
  }

  // The new nodes of a leaf and its callers, the leaf first.
  climb(leaf) {
    const { parents } = this.shape.tree;
    const way = [];
    let at = -1;
    for (let node = leaf; node >= 0 && way.length < DEPTH;
         node = parents[node])
      way.push(at = this.place(node, at));
    return way;
  }
}

// Inverts from some leaves: value (metric) returns each leaf's value.
function climbAll(shape, leaves, value) {
  const callers = new Callers(shape);
  const ways = leaves.map((leaf) => callers.climb(leaf));
  const tree = new Tree(Int32Array.from(callers.parents));
  const metrics = shape.metrics.map((metric) => {
    const values = value(metric);
    const total = new Float64Array(tree.size);
    ways.forEach((way, i) => {
      for (const node of way)
        total[node] += values[leaves[i]];
    });
    return { ...metric, total, own: total };
  });
  return Object.assign(Object.create(Shape.prototype),
    { profile: shape.profile, tree, metrics, counters: [],
      origin: Int32Array.from(callers.origin) });
}

// Bottom-up: the roots are sites with their self values, their callers below.
export function bottomUp(shape) {
  const leaves = Array.from({ length: shape.size }, (_, i) => i)
    .filter((i) => shape.metrics.some(({ own }) => own[i] > 0));
  return climbAll(shape, leaves, (metric) => metric.own);
}

// The outermost nodes of a site.
export function outermost(shape, site) {
  const { parents } = shape.tree;
  const within = new Uint8Array(shape.size);
  const found = [];
  for (let node = 0; node < shape.size; node++) {
    const parent = parents[node];
    const inside = parent >= 0 && within[parent] === 1;
    const is = shape.site(node) === site;
    within[node] = inside || is ? 1 : 0;
    if (is && !inside)
      found.push(node);
  }
  return found;
}

// The callers of a site: the root is the site with its totals.
export function callersOf(shape, site) {
  return climbAll(shape, outermost(shape, site), (metric) => metric.total);
}
