// SPDX-License-Identifier: MIT
// The views, one at a time, in a list of tabs.

import { element } from './dom.mjs';

export class Tabs {
  // views: from views.mjs; make (view) creates one.
  constructor(views, state, make) {
    this.state = state;
    this.views = views;
    this.make = make;
    this.made = views.map(() => null);
    // The keys changed since a view was last shown.
    this.missed = views.map(() => new Set());
    this.tabs = views.map((one) => element('button', {
      type: 'button', role: 'tab', id: 'tab-' + one.id,
      'aria-controls': 'view-' + one.id,
      title: one.about + (one.key ? '. Key ' + one.key : ''),
      onclick: () => this.select(one.id),
    }, one.label));
    this.panels = views.map((one) => element('section', {
      role: 'tabpanel', id: 'view-' + one.id,
      'aria-labelledby': 'tab-' + one.id, hidden: true,
    }));
    this.list = element('div', { role: 'tablist', 'aria-label': 'Views' },
                        ...this.tabs);
    this.list.addEventListener('keydown', (event) => this.key(event));
    state.listen((keys) => this.changed(keys));
  }

  index() {
    return Math.max(0, this.views.findIndex((one) =>
      one.id === this.state.get('view')));
  }

  // The current view's object.
  current() {
    return this.made[this.index()];
  }

  // What the current view ignores, and why.
  ignores() {
    return this.views[this.index()].ignores ?? {};
  }

  has(id) {
    return this.views.some((one) => one.id === id);
  }

  select(id) {
    this.state.set({ view: id }, { step: true });
  }

  changed(keys) {
    for (const missed of this.missed)
      for (const key of keys)
        missed.add(key);
    if (keys.has('view'))
      this.show();
    else
      this.update();
  }

  show() {
    const current = this.index();
    this.views.forEach((one, i) => {
      this.tabs[i].setAttribute('aria-selected', String(i === current));
      this.tabs[i].tabIndex = i === current ? 0 : -1;
      this.panels[i].hidden = i !== current;
    });
    const { offsetLeft, offsetWidth } = this.tabs[current];
    // In a narrow list the tabs beside it stay visible too.
    this.list.scrollLeft = offsetLeft
      - (this.list.clientWidth - offsetWidth) / 2;
    this.update();
  }

  update() {
    const current = this.index();
    const missed = this.missed[current];
    this.missed[current] = new Set();
    if (this.made[current] === null) {
      this.made[current] = this.make(this.views[current]);
      this.panels[current].append(this.made[current].element);
    } else if (missed.size > 0) {
      this.made[current].update?.(missed);
    }
  }

  key(event) {
    const n = this.views.length;
    const to = { ArrowRight: this.index() + 1, ArrowLeft: this.index() - 1,
                 Home: 0, End: n - 1 }[event.key];
    if (to === undefined)
      return;
    const next = (to + n) % n;
    this.select(this.views[next].id);
    this.tabs[next].focus();
    event.preventDefault();
  }
}
