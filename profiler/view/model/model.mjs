// SPDX-License-Identifier: MIT
// What views share besides the profile: the current tree (of a stretch of
// time, of lanes, transformed), cached; its metric; and the search matches.

import { aggregateSpans } from './aggregate.mjs';
import { nodeColours } from './colour.mjs';
import { FAILURES } from '../data/failures.mjs';
import { byteMetrics } from './metrics.mjs';
import { Shape } from './shape.mjs';
import { parseTransforms, transform } from './transforms.mjs';

// The number of cached trees, and of transforms taken from an address.
const KEPT = 12, MOST_TRANSFORMS = 32;

// "1200-5000" (ns) -> [1200, 5000]; null for anything else.
export function parseRange(text) {
  const found = /^(\d+)-(\d+)$/.exec(text);
  if (found === null || Number(found[1]) >= Number(found[2]))
    return null;
  return [Number(found[1]), Number(found[2])];
}

export function formatRange(from, to) {
  return Math.floor(from) + '-' + Math.ceil(to);
}

// Narrows or widens all views, and zooms out, since the tree changes.
export function narrow(state, changes) {
  state.set({ zoom: -1, stretch: '', path: -1, into: -1, rows: '',
              callers: '', ...changes }, { step: true });
}

// "0,2" -> which of n lanes are selected; null for '': all.
export function parseLanes(text, n) {
  if (text === '')
    return null;
  const chosen = new Uint8Array(n);
  for (const lane of text.split(','))
    if (Number(lane) < n)
      chosen[Number(lane)] = 1;
  return chosen;
}

// The index of the byte counter that each node's spans carry: the largest.
function largestBytes(profile) {
  const largest = new Int32Array(profile.tree.size).fill(-1);
  profile.counters.forEach(({ unit, own }, k) => {
    if (unit !== 'bytes')
      return;
    for (let i = 0; i < own.length; i++)
      if (own[i] > 0 && (largest[i] < 0
                         || own[i] > profile.counters[largest[i]].own[i]))
        largest[i] = k;
  });
  return largest;
}

// Counters that all spans carry: failures, and byte counters that are the
// largest of each node that has them.
function carriedCounters(profile) {
  const largest = largestBytes(profile);
  return profile.counters.filter(({ name, own }, k) => name === FAILURES
    || own.every((value, i) => value === 0 || largest[i] === k));
}

// sums: from aggregateSpans.
function spanCounters(profile, sums) {
  return carriedCounters(profile).map((counter) => ({
    ...counter,
    own: counter.name === FAILURES ? sums.failures
      : sums.bytes.map((value, i) => counter.own[i] > 0 ? value : 0),
  })).filter(({ own }) => own.some((value) => value > 0));
}

function identity(n) {
  return Int32Array.from({ length: n }, (_, i) => i);
}

export class Model {
  constructor(profile, state) {
    this.profile = profile;
    this.state = state;
    this.colours = nodeColours(profile);
    this.matched = null;
    this.cache = new Map();
    this.whole = new Shape(profile, profile.tree,
                           identity(profile.tree.size), profile,
                           profile.counters);
    this.byteCounters = byteMetrics(this.whole.metrics);
  }

  // Calls `make' once for each key.
  once(key, make) {
    let made = this.cache.get(key);
    this.cache.delete(key);
    made ??= make();
    this.cache.set(key, made);
    if (this.cache.size > KEPT)
      this.cache.delete(this.cache.keys().next().value);
    return made;
  }

  // The tree for a stretch of time ("from-to", ''), lanes ("0,2", '') and
  // transforms ("f1,h2", '').
  aggregate(range, lanes, transforms) {
    const cut = transforms.lastIndexOf(',');
    if (transforms !== '')
      return this.once([range, lanes, transforms].join(' '), () => {
        const before = cut < 0 ? '' : transforms.slice(0, cut);
        const [last] = parseTransforms(transforms.slice(cut + 1),
                                       this.profile.sites);
        const shape = this.aggregate(range, lanes, before);
        return last ? transform(shape, last) : shape;
      });
    if (parseRange(range) === null && lanes === '')
      return this.whole;
    return this.once(range + ' ' + lanes, () => this.ofSpans(range, lanes));
  }

  ofSpans(range, lanes) {
    const { profile } = this;
    const [from, to] = parseRange(range) ?? [0, profile.end];
    const sums = aggregateSpans(profile, {
      from, to, lanes: parseLanes(lanes, profile.lanes.length) });
    return new Shape(profile, profile.tree, this.whole.origin, sums,
                     spanCounters(profile, sums));
  }

  // The current tree.
  shape() {
    const { state } = this;
    const transforms = state.get('transforms').split(',');
    return this.aggregate(state.get('range'), state.get('lanes'),
                          transforms.slice(0, MOST_TRANSFORMS).join(','));
  }

  // Whether a change of these keys may change the tree.
  static reshapes(keys) {
    return keys.has('range') || keys.has('lanes') || keys.has('transforms');
  }

  // Values derived from the current tree, once each: derived('up', make).
  derived(name, make) {
    const { state } = this;
    const shape = this.shape();
    return this.once([name, state.get('range'), state.get('lanes'),
                      state.get('transforms')].join(' '),
                     () => make(shape));
  }

  metric() {
    return this.shape().metric(this.state.get('metric'));
  }

  // The current tree is made of spans, some of which were dropped.
  isPartial() {
    return this.shape() !== this.whole && this.profile.info.dropped > 0
      && (this.state.get('range') !== '' || this.state.get('lanes') !== '');
  }

  // Why another metric is shown than the selected one; '' if it is not.
  lacking() {
    const asked = this.whole.metric(this.state.get('metric'));
    const shown = this.metric();
    if (asked.id === shown.id)
      return '';
    return (this.isLogged(asked.id) ? 'nothing here has any ' + asked.label
      : 'the log has no ' + asked.label + ' for a part')
      + ': shown by ' + shown.label;
  }

  // Whether the current tree can have a metric.
  isLogged(id) {
    if (this.state.get('range') === '' && this.state.get('lanes') === '')
      return true;
    return id.startsWith('c:')
      ? carriedCounters(this.profile).some(({ name }) => id === 'c:' + name)
      : ['cpu', 'starved'].includes(id) ? this.profile.spans.starved !== null
        : !id.startsWith('alloc');
  }

  colour(shape, node) {
    return this.colours[shape.origin[node]];
  }

  // Whether a search is active and does not match this node.
  isFaint(shape, node) {
    return this.matched !== null && !this.matched[shape.origin[node]];
  }
}
