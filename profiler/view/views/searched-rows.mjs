// SPDX-License-Identifier: MIT
// Tables without scopes: the search marks the rows that contain its text, and
// steps through them.

import { makeMatcher } from '../data/search.mjs';

export class SearchedRows {
  constructor(element, state) {
    Object.assign(this, { element, state });
    this.update();
  }

  update() {
    const matcher = makeMatcher(this.state.get('query'));
    const rows = [...this.element.querySelectorAll('tbody tr')];
    this.found = rows.filter(({ cells }) =>
      [...cells].some(({ textContent }) => matcher?.(textContent)));
    this.at = -1;
    for (const row of rows)
      row.className = !matcher ? '' : this.found.includes(row) ? 'match'
        : 'faint';
  }

  // The number of matching rows.
  matches() {
    return this.found.length;
  }

  step(by) {
    const n = this.found.length;
    this.found[this.at]?.classList.remove('selected');
    this.at = this.at < 0 && by < 0 ? n - 1 : (this.at + by + n) % n;
    this.found[this.at]?.classList.add('selected');
    this.found[this.at]?.scrollIntoView({ block: 'nearest' });
    return true;
  }
}
