// SPDX-License-Identifier: MIT
// Chips for what narrows the views, each removable: a stretch of time, lanes,
// transforms of the tree.

import { button, element, nameElement, plural } from './dom.mjs';
import { Model, narrow, parseLanes, parseRange } from '../model/model.mjs';
import { TRANSFORMS, parseTransforms, formatTransforms } from
  '../model/transforms.mjs';
import { formatCount, formatTime } from '../data/units.mjs';

// Adds a transform by a node of the profile, once.
export function addTransform(state, profile, kind, node) {
  const { sites } = profile;
  const present = parseTransforms(state.get('transforms'), sites);
  const site = sites.of[node];
  if (present.some((one) => one.kind === kind && one.site === site))
    return;
  narrow(state, { transforms: formatTransforms([...present, { kind, site }],
                                               sites) });
}

export class Chips {
  constructor({ profile, state, model }) {
    Object.assign(this, { profile, state, model });
    this.element = element('div', { class: 'chips', role: 'group',
                                    'aria-label': 'Narrowed to' });
    state.listen((keys) => (Model.reshapes(keys) || keys.has('metric'))
      && this.render());
    this.render();
  }

  render() {
    const chips = [this.range(), this.lanes(), ...this.transforms()]
      .filter((one) => one !== null);
    if (this.model.isPartial())
      chips.push(element('span', { class: 'partial' },
        'partial: the log lacks '
        + formatCount(this.profile.info.dropped)
        + plural(this.profile.info.dropped, ' span', ' spans')));
    if (this.model.lacking() !== '')
      chips.push(element('span', { class: 'partial', role: 'status' },
                         this.model.lacking()));
    this.element.replaceChildren(...chips);
    this.element.hidden = chips.length === 0;
  }

  chip(what, name, remove) {
    const label = [what, name].filter(Boolean).join(' ');
    return element('span', { class: 'chip' },
      element('span', {}, what, name === '' ? '' : ' ',
              name === '' ? '' : nameElement(name)),
      button('\u00d7', remove, { 'aria-label': 'Remove: ' + label,
                                 title: 'Remove' }));
  }

  set(changes) {
    narrow(this.state, changes);
  }

  range() {
    const range = parseRange(this.state.get('range'));
    return range === null ? null
      : this.chip(formatTime(range[1] - range[0]) + ' from '
                  + formatTime(range[0]), '',
                  () => this.set({ range: '' }));
  }

  lanes() {
    const { lanes } = this.profile;
    const chosen = parseLanes(this.state.get('lanes'), lanes.length);
    if (chosen === null)
      return null;
    const names = lanes.filter((_, i) => chosen[i]).map(({ name }) => name);
    const label = names.length === 1 ? ['Only', names[0]]
      : [names.length + ' of ' + lanes.length + ' lanes', ''];
    return this.chip(...label, () => this.set({ lanes: '' }));
  }

  transforms() {
    const { sites, names } = this.profile;
    const all = parseTransforms(this.state.get('transforms'), sites);
    return all.map(({ kind, site }, i) =>
      this.chip(TRANSFORMS.find((one) => one.kind === kind).label + ':',
                names[sites.first[site]],
                () => this.set({ transforms: formatTransforms(
                  all.filter((_, k) => k !== i), sites) })));
  }
}
