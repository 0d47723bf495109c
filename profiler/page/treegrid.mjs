// SPDX-License-Identifier: MIT
// The call tree as a table (an ARIA tree grid): rows open and close, the
// heaviest first.  What the canvases show can be read here by anyone.

import { element, nameElement } from './dom.mjs';
import { nodeBytes } from './metrics.mjs';
import { exactUnit, formatRate, formatShare, formatUnit } from './units.mjs';

// Siblings shown before "more"; a node may have very many.
const SIBLINGS = 100;

// A column: title, hint, value (node) to sort by, and cell (node), either
// text or [text, title, share of the bar].
function timeColumn(id, label, hint, values, whole) {
  return { id, label, hint, value: (node) => values[node],
           cell: (node) => [values[node] > 0 || id === 'total'
                              ? formatUnit(values[node], 'time') : '',
                            exactUnit(values[node], 'time'),
                            whole > 0 ? values[node] / whole : 0] };
}

function bytesCell(model, node) {
  const metric = nodeBytes(model.byteCounters, node);
  return metric === null ? ['', '', 0]
    : [formatUnit(metric.total[node], 'bytes'),
       metric.label + ': ' + exactUnit(metric.total[node], 'bytes'), 0];
}

function bytesOf(model, node) {
  const metric = nodeBytes(model.byteCounters, node);
  return metric === null ? 0 : metric.total[node];
}

export function makeColumns(profile, model) {
  const { total, self, treeWork, treeWait, calls } = profile;
  const wall = model.metrics[0].sum;
  const mean = (node) => calls[node] > 0 ? total[node] / calls[node] : 0;
  const rate = (node) => total[node] > 0
    ? bytesOf(model, node) / total[node] : 0;
  return [
    timeColumn('total', 'total', 'From begin to end, of all calls', total,
               wall),
    { id: 'share', label: '%', hint: 'Share of the total of all roots; above '
      + '100 % where several threads ran at once',
      value: (node) => total[node],
      cell: (node) => [formatShare(total[node], wall), '', 0] },
    timeColumn('self', 'self', 'What no scope inside accounts for', self,
               wall),
    timeColumn('work', 'work', 'Threads ran, here and below', treeWork, 0),
    timeColumn('wait', 'wait', 'Threads waited, here and below', treeWait,
               0),
    { id: 'calls', label: 'calls', hint: 'How often it was entered',
      value: (node) => calls[node],
      cell: (node) => [formatUnit(calls[node], 'count'), '', 0] },
    { id: 'mean', label: 'mean', hint: 'Total of one call', value: mean,
      cell: (node) => [formatUnit(mean(node), 'time'), '', 0] },
    { id: 'bytes', label: 'bytes',
      hint: 'Delivered, decoded, written or fetched, here and below',
      value: (node) => bytesOf(model, node),
      cell: (node) => bytesCell(model, node) },
    { id: 'rate', label: 'MB/s', hint: 'These bytes in this total',
      value: rate,
      cell: (node) => [formatRate(bytesOf(model, node), total[node])
                         .replace('\u00a0MB/s', ''), '', 0] },
  ];
}

export class TreeGrid {
  constructor({ profile, state, model }) {
    Object.assign(this, { profile, state, model });
    this.tree = profile.tree;
    this.columns = makeColumns(profile, model);
    this.open = new Set();
    this.shown = new Map();
    this.body = element('tbody');
    this.head = element('thead');
    this.table = element('table', {
      role: 'treegrid', 'aria-label': 'Call tree', class: 'tree',
      'aria-colcount': this.columns.length + 1,
    }, this.head, this.body);
    this.view = element('div', { class: 'scroll' }, this.table);
    this.body.addEventListener('click', (event) => this.click(event));
    this.body.addEventListener('keydown', (event) => this.key(event));
    this.openHeavy();
    state.listen((keys) => this.changed(keys));
    this.render();
  }

  // At first what takes most of the time is open.
  openHeavy() {
    const { total } = this.profile;
    const whole = this.model.metrics[0].sum;
    for (let node = 0; node < this.tree.size; node++)
      if (total[node] >= 0.05 * whole && this.tree.depths[node] < 12)
        this.open.add(node);
  }

  changed(keys) {
    const node = this.state.get('node');
    if (keys.has('node') && node >= 0)
      for (const ancestor of this.tree.path(node).slice(0, -1))
        this.open.add(ancestor);
    if (keys.has('query') && this.model.matched)
      this.openMatches();
    if (keys.has('node') || keys.has('query') || keys.has('sort'))
      this.render();
  }

  openMatches() {
    const { matched } = this.model;
    for (let node = this.tree.size - 1; node >= 0; node--) {
      const parent = this.tree.parents[node];
      if (parent >= 0 && (matched[node] || this.found?.has(node)))
        (this.found ??= new Set()).add(parent);
    }
    for (const node of this.found ?? [])
      this.open.add(node);
    this.found = null;
  }

  column() {
    return this.columns.find((one) => one.id === this.state.get('sort'))
      ?? this.columns[0];
  }

  sorted(parent) {
    const { value } = this.column();
    return Array.from(this.tree.children(parent))
      .map((node) => [value(node), node])
      .sort((a, b) => b[0] - a[0] || a[1] - b[1])
      .map(([, node]) => node);
  }

  render() {
    const focused = this.body.contains(document.activeElement);
    this.renderHead();
    const rows = [];
    this.addRows(rows, -1);
    this.body.replaceChildren(...rows);
    const node = this.state.get('node');
    const current = this.row(node) ?? this.body.firstElementChild;
    current?.setAttribute('tabindex', '0');
    if (focused)
      current?.focus();
    current?.scrollIntoView?.({ block: 'nearest' });
  }

  renderHead() {
    const sort = this.column().id;
    const cells = this.columns.map(({ id, label, hint }) =>
      element('th', { scope: 'col', role: 'columnheader',
                      'aria-sort': id === sort ? 'descending' : 'none' },
        element('button', { type: 'button', title: hint,
                            onclick: () => this.state.set({ sort: id }) },
                label)));
    this.head.replaceChildren(element('tr', { role: 'row' },
      element('th', { scope: 'col', role: 'columnheader' }, 'scope'),
      ...cells));
  }

  addRows(rows, parent) {
    const stack = [[this.sorted(parent), 0, parent]];
    while (stack.length > 0) {
      const top = stack[stack.length - 1];
      const [siblings, at, above] = top;
      const limit = this.shown.get(above) ?? SIBLINGS;
      if (at >= siblings.length || at >= limit) {
        if (at < siblings.length)
          rows.push(this.moreRow(above, siblings, at));
        stack.pop();
        continue;
      }
      top[1]++;
      rows.push(this.makeRow(siblings[at], at + 1, siblings.length));
      if (this.open.has(siblings[at]))
        stack.push([this.sorted(siblings[at]), 0, siblings[at]]);
    }
  }

  moreRow(parent, siblings, at) {
    const more = element('button', {
      type: 'button',
      onclick: () => {
        this.shown.set(parent, at + 10 * SIBLINGS);
        this.render();
      },
    }, (siblings.length - at) + ' more');
    return element('tr', { role: 'row' },
      element('td', { role: 'gridcell',
                      colspan: this.columns.length + 1 }, more));
  }

  makeRow(node, place, count) {
    const leaf = this.tree.children(node).length === 0;
    const { matched } = this.model;
    const classes = [
      node === this.state.get('node') ? 'selected' : '',
      matched && matched[node] ? 'match' : '',
      matched && !matched[node] ? 'faint' : '',
    ].join(' ').trim();
    return element('tr', {
      role: 'row', tabindex: '-1', 'data-node': node, class: classes || null,
      'aria-level': this.tree.depths[node] + 1, 'aria-posinset': place,
      'aria-setsize': count,
      'aria-selected': String(node === this.state.get('node')),
      'aria-expanded': leaf ? null : String(this.open.has(node)),
    }, this.nameCell(node, leaf),
    ...this.columns.map((column) => this.cell(column, node)));
  }

  nameCell(node, leaf) {
    const marker = element('span', { class: 'marker', 'aria-hidden': 'true' },
      leaf ? '' : this.open.has(node) ? '\u25be' : '\u25b8');
    const swatch = element('span', { class: 'swatch',
                                     'aria-hidden': 'true' });
    swatch.style.background = this.model.colours[node];
    const edge = this.profile.edgeName(node);
    const cell = element('th', { scope: 'row', role: 'rowheader' },
      marker, swatch, nameElement(this.profile.names[node]),
      edge === '' ? null : element('span', { class: 'edge' }, edge));
    cell.style.paddingInlineStart =
      0.4 + 1.1 * Math.min(this.tree.depths[node], 24) + 'em';
    return cell;
  }

  cell(column, node) {
    const [text, title, share] = column.cell(node);
    const made = element('td', {
      role: 'gridcell', 'data-column': column.id, title: title || null,
    }, text);
    if (share > 0) {
      made.classList.add('bar');
      made.style.setProperty('--share',
                             Math.min(100, 100 * share).toFixed(2) + '%');
    }
    return made;
  }

  row(node) {
    return this.body.querySelector('[data-node="' + node + '"]');
  }

  toggle(node, open = !this.open.has(node)) {
    if (open)
      this.open.add(node);
    else
      this.open.delete(node);
    this.render();
  }

  click(event) {
    const row = event.target.closest('[data-node]');
    if (!row)
      return;
    const node = Number(row.dataset.node);
    if (event.target.closest('.marker'))
      this.toggle(node);
    this.state.set({ node });
    this.row(node)?.focus();
  }

  // As the ARIA practices have it for tree grids whose rows take the focus.
  key(event) {
    const row = event.target.closest('[data-node]');
    if (!row || event.altKey || event.ctrlKey || event.metaKey)
      return;
    const node = Number(row.dataset.node);
    const rows = [...this.body.querySelectorAll('[data-node]')];
    const at = rows.indexOf(row);
    const to = (i) =>
      this.focus(rows[Math.max(0, Math.min(rows.length - 1, i))]);
    const actions = {
      ArrowDown: () => to(at + 1), ArrowUp: () => to(at - 1),
      Home: () => to(0), End: () => to(rows.length - 1),
      PageDown: () => to(at + 15), PageUp: () => to(at - 15),
      ArrowRight: () => this.inward(node, rows[at + 1]),
      ArrowLeft: () => this.outward(node),
      Enter: () => this.toggle(node), ' ': () => this.toggle(node),
      '*': () => this.openSiblings(node),
    };
    if (!Object.hasOwn(actions, event.key))
      return;
    actions[event.key]();
    event.preventDefault();
  }

  focus(row) {
    const node = Number(row.dataset.node);
    this.state.set({ node });
    this.row(node)?.focus();
  }

  inward(node, next) {
    if (this.tree.children(node).length === 0)
      return;
    if (this.open.has(node))
      this.focus(next);
    else
      this.toggle(node, true);
  }

  outward(node) {
    const parent = this.tree.parents[node];
    if (this.open.has(node) && this.tree.children(node).length > 0)
      this.toggle(node, false);
    else if (parent >= 0)
      this.focus(this.row(parent));
  }

  openSiblings(node) {
    for (const sibling of this.tree.children(this.tree.parents[node]))
      this.open.add(sibling);
    this.render();
  }
}
