// SPDX-License-Identifier: MIT
// The list of keys, from the views' descriptions.

import { element, button } from './dom.mjs';

const GLOBAL = [
  ['1 to 9', 'To a view'], ['/', 'Search; Enter goes to the next match'],
  ['n N', 'To the next or previous match'],
  ['m', 'To the next metric'], ['?', 'This list'],
  ['Escape', 'Zoom out, end the search, or widen all views'],
];

function keyTable(pairs) {
  return element('table', { class: 'facts' }, element('tbody', {},
    ...pairs.map(([keys, what]) => element('tr', {},
      element('th', { scope: 'row' }, ...keys.split(' ').flatMap((key) =>
        [key === 'to' ? 'to' : element('kbd', {}, key), ' '])),
      element('td', {}, what)))));
}

export class Help {
  constructor(views) {
    // The button is first: the browser scrolls to what it gives the focus.
    this.dialog = element('dialog', { 'aria-label': 'Keys', class: 'help' },
      button('Close', () => this.dialog.close()),
      element('div', { class: 'columns' },
        element('section', {}, element('h2', {}, 'Everywhere'),
                keyTable(GLOBAL)),
        ...views.map((view) => element('section', {},
          element('h2', {}, view.label), element('p', { class: 'muted' },
            (view.key ? 'Key ' + view.key + '. ' : '') + view.about + '.'),
          view.keys.length ? keyTable(view.keys) : null))));
    this.opener = button('Keys', () => this.open(), { title: 'Key ?' });
  }

  open() {
    if (this.dialog.open)
      return;
    this.dialog.showModal();
    this.dialog.scrollTop = 0;
  }
}
