// SPDX-License-Identifier: MIT
// Transforms of a tree: focus on a function, remove it, fold its frames, fold
// its recursion.  Each transform names a site.

import { Shape, COLUMNS, RUN_COLUMNS } from './shape.mjs';

export const TRANSFORMS = [
  { kind: 'f', label: 'Focus on', hint: 'Show only this scope, over all '
    + 'call sites, with its descendants' },
  { kind: 'h', label: 'Hide', hint: 'Remove this scope and its descendants' },
  { kind: 'm', label: 'Merge into caller', hint: 'Count this scope as part '
    + 'of its caller' },
  { kind: 'r', label: 'Collapse recursion of', hint: 'Count a recursive '
    + 'scope once' },
];

// "f12,h3" -> [{ kind: 'f', site }, ...]; the numbers are nodes of the
// profile.  Unknown ones are ignored.
export function parseTransforms(text, sites) {
  return text.split(',').filter((one) => /^[fhmr]\d+$/.test(one))
    .map((one) => ({ kind: one[0], site: sites.of[Number(one.slice(1))] }))
    .filter(({ site }) => site !== undefined);
}

export function formatTransforms(transforms, sites) {
  return transforms.map(({ kind, site }) => kind + sites.first[site])
    .join(',');
}

// The target of each node of a shape: target[node] is the new node, -1
// removed; whole[node] 1: with calls and total, 0: only its own values, folded
// into its surroundings.
class Moves {
  constructor(shape) {
    this.shape = shape;
    this.target = new Int32Array(shape.size).fill(-1);
    this.whole = new Uint8Array(shape.size);
    this.parents = [];
    this.origin = [];
    this.known = new Map();
  }

  // Finds or adds the new node of a site and edge under a parent; a root has
  // no edge.
  place(node, parent) {
    const { origin, profile } = this.shape;
    const key = (parent + 1) * profile.sites.size * 8
      + this.shape.site(node) * 8
      + (parent < 0 ? 0 : profile.edges[origin[node]]);
    let made = this.known.get(key);
    if (made === undefined) {
      made = this.parents.length;
      this.known.set(key, made);
      this.parents.push(parent);
      this.origin.push(origin[node]);
    }
    this.target[node] = made;
    this.whole[node] = 1;
  }

  join(node, into) {
    this.target[node] = into;
  }

  add(own, wholeOnly) {
    const sums = new Float64Array(this.parents.length);
    for (let node = 0; node < own.length; node++)
      if (this.target[node] >= 0 && (this.whole[node] || !wholeOnly))
        sums[this.target[node]] += own[node];
    return sums;
  }

  columns(names, from) {
    return Object.fromEntries(names.map((name) =>
      [name, this.add(from[name], name === 'total' || name === 'calls')]));
  }

  shapeOf() {
    const { shape } = this;
    const columns = this.columns(shape.starved === null ? COLUMNS
      : [...COLUMNS, 'starved'], shape);
    const made = new Shape(shape.profile, Int32Array.from(this.parents),
      Int32Array.from(this.origin), columns,
      shape.counters.map((one) => ({ ...one, own: this.add(one.own) })));
    shape.places ??= shape.findPlaces();
    made.places = shape.places.map((at) => at < 0 ? -1 : this.target[at]);
    made.runs = shape.runs?.map((run) => this.columns(RUN_COLUMNS, run));
    return made;
  }
}

// The target of a node, by the kind of transform: above is its parent's target
// (-1: a root, or removed), gone whether the parent is removed.
const RULES = {
  f(moves, node, is, above, gone) {
    if (is && gone)
      moves.place(node, -1);
    else if (!gone)
      moves.place(node, above);
  },
  h(moves, node, is, above, gone) {
    if (!is && !gone)
      moves.place(node, above);
  },
  m(moves, node, is, above) {
    if (is)
      moves.join(node, above);
    else
      moves.place(node, above);
  },
  r(moves, node, is, above, gone, within) {
    if (is && within >= 0)
      moves.join(node, within);
    else
      moves.place(node, above);
  },
};

// Parents precede their children in a shape, so one pass is enough.
export function transform(shape, { kind, site }) {
  const moves = new Moves(shape);
  const { parents } = shape.tree;
  // For each node, the new node of the site that encloses it; -1.
  const within = new Int32Array(shape.size).fill(-1);
  for (let node = 0; node < shape.size; node++) {
    const parent = parents[node];
    const above = parent < 0 ? -1 : moves.target[parent];
    const gone = kind === 'f' ? above < 0 : parent >= 0 && above < 0;
    const is = shape.site(node) === site;
    RULES[kind](moves, node, is, above, gone,
                parent < 0 ? -1 : within[parent]);
    within[node] = is ? moves.target[node]
      : parent < 0 ? -1 : within[parent];
  }
  return moves.shapeOf();
}
