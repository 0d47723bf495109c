// SPDX-License-Identifier: MIT
// The search: what matches is lit in every view, its share is told, and one
// goes from match to match.

import { element, button, plural } from './dom.mjs';
import { layoutIcicle } from './icicle-layout.mjs';
import { Model } from './model.mjs';
import { makeMatcher, matchNodes, matchedShare } from './search.mjs';
import { formatShare } from './units.mjs';

export class SearchBox {
  constructor({ profile, state, model }) {
    Object.assign(this, { profile, state, model });
    this.input = element('input', {
      type: 'search', placeholder: 'Search scopes', 'aria-label':
        'Search scopes by name; between slashes a regular expression',
      title: 'Part of a name, or /regular expression/. Key /',
      oninput: () => state.set({ query: this.input.value }),
      onkeydown: (event) => this.key(event),
    });
    this.answer = element('output', { 'aria-live': 'polite' });
    this.view = element('div', { class: 'search', role: 'search' },
      this.answer, this.input,
      button('\u2191', () => this.step(-1),
             { 'aria-label': 'Match before', title: 'Match before: N' }),
      button('\u2193', () => this.step(1),
             { 'aria-label': 'Next match', title: 'Next match: n' }));
    // First of all listeners: the views draw by what it finds.
    state.listen((keys) => {
      if (keys.has('query'))
        this.find();
      if (keys.has('query') || keys.has('metric') || Model.reshapes(keys))
        this.tell();
    });
    this.find();
    this.tell();
  }

  find() {
    const query = this.state.get('query');
    if (this.input.value !== query)
      this.input.value = query;
    this.broken = makeMatcher(query) === undefined;
    this.model.matched = matchNodes(this.profile, query);
    this.input.setAttribute('aria-invalid', String(this.broken));
  }

  // Of the present tree, which nodes match.
  matches(shape) {
    return Uint8Array.from(shape.origin, (node) => this.model.matched[node]);
  }

  tell() {
    if (this.model.matched === null) {
      this.answer.value = this.broken ? 'not a regular expression' : '';
      return;
    }
    const shape = this.model.shape();
    const matched = this.matches(shape);
    const count = matched.reduce((sum, one) => sum + one, 0);
    const metric = this.model.metric();
    const layout = layoutIcicle(shape.tree, metric);
    const share = matchedShare(shape.tree, layout, matched);
    this.answer.value = count === 0 ? 'no match'
      : count + plural(count, ' match, ', ' matches, ')
        + formatShare(share, 1) + ' of ' + metric.label;
  }

  // To another match: in the order of the view, if it has its own, else of
  // the tree; around its ends.
  step(by) {
    if (this.model.matched === null || this.tabs.current()?.step?.(by))
      return;
    const shape = this.model.shape();
    const matched = this.matches(shape);
    const current = shape.find(this.state.get('node'));
    const order = [...shape.tree.walk(this.model.metric().total)]
      .filter((node) => matched[node] || node === current);
    const at = order.indexOf(current);
    const from = at < 0 && by > 0 ? -1 : at < 0 ? 0 : at;
    for (let i = 1; i <= order.length; i++) {
      const node = order[(from + i * by + i * order.length) % order.length];
      if (matched[node]) {
        this.state.set({ node: shape.origin[node] });
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
