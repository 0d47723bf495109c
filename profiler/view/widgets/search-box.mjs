// SPDX-License-Identifier: MIT
// The search: matches are highlighted in every view, with their share, and can
// be stepped through.

import { element, button, plural } from './dom.mjs';
import { layoutIcicle } from '../model/icicle-layout.mjs';
import { baseOf } from '../model/metrics.mjs';
import { Model } from '../model/model.mjs';
import { makeMatcher, matchNodes, matchedShare } from '../data/search.mjs';
import { formatShare } from '../data/units.mjs';

export class SearchBox {
  constructor({ profile, state, model }) {
    Object.assign(this, { profile, state, model });
    this.input = element('input', {
      type: 'search', placeholder: 'Search',
      'aria-label': 'Search scopes',
      title: 'Part of a name, or /regular expression/. Key /',
      oninput: () => state.set({ query: this.input.value }),
      onkeydown: (event) => this.key(event),
    });
    this.answer = element('output');
    const steps = [button('\u2191', () => this.step(-1),
      { 'aria-label': 'Match before', title: 'Match before: N' }),
                   button('\u2193', () => this.step(1),
      { 'aria-label': 'Next match', title: 'Next match: n' })];
    this.view = element('div', { class: 'search', role: 'search' },
                        this.answer, this.input, ...steps);
    // The first of all listeners: views draw its matches.
    state.listen((keys) => keys.has('query') && this.find());
    this.find();
  }

  // The last of all: views may have their own trees.
  follow(tabs) {
    this.tabs = tabs;
    this.state.listen((keys) => {
      if (['query', 'metric', 'view', 'swap', 'normalise'].some((key) =>
        keys.has(key)) || Model.reshapes(keys))
        this.describe();
    });
    this.describe();
  }

  find() {
    const query = this.state.get('query');
    if (this.input.value !== query)
      this.input.value = query;
    this.broken = makeMatcher(query) === undefined;
    this.model.matched = matchNodes(this.profile, query);
    this.input.setAttribute('aria-invalid', String(this.broken));
  }

  // The tree to step through, the view's own or the current one, and its
  // matching nodes.
  searched() {
    const own = this.tabs.current()?.searched?.();
    if (own)
      return own;
    const { state, model } = this;
    const shape = model.shape();
    return {
      tree: shape.tree, metric: model.metric(),
      matched: Array.from(shape.origin, (node) => model.matched[node] > 0),
      current: shape.find(state.get('node')),
      select: (node) => state.set({ node: shape.origin[node] }),
    };
  }

  describe() {
    if (this.model.matched === null) {
      this.answer.value = this.broken ? 'not a regular expression' : '';
      return;
    }
    const rows = this.tabs.current()?.matches?.();
    if (rows !== undefined) {
      this.answer.value = rows === 0 ? 'no match'
        : rows + plural(rows, ' row', ' rows');
      return;
    }
    const { tree, metric, matched } = this.searched();
    const count = matched.filter(Boolean).length;
    const share = matchedShare(tree, layoutIcicle(tree, metric), matched);
    this.answer.value = count === 0 ? 'no match'
      : count + plural(count, ' match, ', ' matches, ')
        + formatShare(share, 1) + ' of ' + baseOf(metric);
  }

  // Steps to another match, in the view's own order or the tree's, and wraps
  // around.
  step(by) {
    if (this.model.matched === null || this.tabs.current()?.step?.(by))
      return;
    const { tree, metric, matched, current, select } = this.searched();
    const order = [...tree.walk(metric.total)]
      .filter((node) => matched[node] || node === current);
    const at = order.indexOf(current);
    const from = at < 0 && by > 0 ? -1 : at < 0 ? 0 : at;
    for (let i = 1; i <= order.length; i++) {
      const node = order[(from + i * by + i * order.length) % order.length];
      if (matched[node]) {
        select(node);
        return;
      }
    }
  }

  key(event) {
    if (event.key === 'Enter')
      this.step(event.shiftKey ? -1 : 1);
    else if (event.key === 'Escape' && this.input.value !== '')
      this.state.set({ query: '' });
    else
      return;
    event.preventDefault();
  }
}
