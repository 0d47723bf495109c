// SPDX-License-Identifier: MIT
// The box at the pointer: a title and lines of name and value.

import { element, nameElement, swatch } from './dom.mjs';

export class Tooltip {
  constructor() {
    this.box = element('div', { class: 'tooltip', role: 'tooltip',
                                hidden: true });
  }

  // lines are [name, value] pairs; those without a value are not shown.
  show(x, y, title, lines, colour) {
    const list = element('dl');
    for (const [name, value] of lines) {
      if (value === '' || value === null || value === undefined)
        continue;
      list.append(element('dt', {}, name), element('dd', {}, value));
    }
    this.box.replaceChildren(element('div', { class: 'title' },
      swatch(colour), nameElement(title)), list);
    this.box.hidden = false;
    this.move(x, y);
  }

  // Beside the pointer, inside the window.
  move(x, y) {
    const { offsetWidth, offsetHeight } = this.box;
    const right = x + 14 + offsetWidth > innerWidth;
    const low = y + 16 + offsetHeight > innerHeight;
    const left = right ? x - 10 - offsetWidth : x + 14;
    const top = low ? y - 10 - offsetHeight : y + 16;
    this.box.style.left = Math.max(4, left) + 'px';
    this.box.style.top = Math.max(4, top) + 'px';
  }

  hide() {
    this.box.hidden = true;
  }
}
