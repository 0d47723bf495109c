// SPDX-License-Identifier: MIT
// The views, one at a time, behind a list of tabs.

import { element } from './dom.mjs';

export class Tabs {
  // views: [{ id, label, make () }]; a view is made when it is first shown.
  constructor(views, state) {
    this.state = state;
    this.views = views;
    this.tabs = views.map((one, i) => element('button', {
      type: 'button', role: 'tab', id: 'tab-' + one.id,
      'aria-controls': 'view-' + one.id, title: 'Key ' + (i + 1),
      onclick: () => this.select(one.id),
    }, one.label));
    this.panels = views.map((one) => element('section', {
      role: 'tabpanel', id: 'view-' + one.id,
      'aria-labelledby': 'tab-' + one.id, hidden: true,
    }));
    this.list = element('div', { role: 'tablist', 'aria-label': 'Views' },
                        ...this.tabs);
    this.list.addEventListener('keydown', (event) => this.key(event));
    state.listen((keys) => keys.has('view') && this.show());
  }

  index() {
    return Math.max(0, this.views.findIndex((one) =>
      one.id === this.state.get('view')));
  }

  select(id) {
    this.state.set({ view: id }, { step: true });
  }

  show() {
    const current = this.index();
    this.views.forEach((one, i) => {
      this.tabs[i].setAttribute('aria-selected', String(i === current));
      this.tabs[i].tabIndex = i === current ? 0 : -1;
      this.panels[i].hidden = i !== current;
    });
    const panel = this.panels[current];
    if (panel.childElementCount === 0)
      panel.append(this.views[current].make());
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
