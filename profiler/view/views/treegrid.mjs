// SPDX-License-Identifier: MIT
// The call tree as a table (an ARIA tree grid): rows open and close, heaviest
// first.  The accessible form of the canvases.

import { button, element, nameElement, showShare, swatch }
  from '../widgets/dom.mjs';
import { failureText } from '../data/failures.mjs';
import { bottomUp } from '../model/invert.mjs';
import { Model } from '../model/model.mjs';
import { makeColumns } from './tree-columns.mjs';

// Siblings shown before "more"; a node may have very many.
const SIBLINGS = 100;

// The maximum number of rows in the address that were opened or closed by
// hand.
const MOST_BY_HAND = 64;

class TreeGrid {
  // shape: returns the tree; inverted: whether its roots are leaves; byHand:
  // the address's key for rows opened (12) or closed (-12) by hand.
  constructor({ state, model }, { label, shape, byHand, inverted = false }) {
    Object.assign(this, { state, model, inverted, byHand, makeShape: shape });
    this.shown = new Map();
    this.body = element('tbody');
    this.head = element('thead');
    this.table = element('table', {
      role: 'treegrid', 'aria-label': label, class: 'tree',
    }, this.head, this.body);
    this.element = element('div', { class: 'scroll' }, this.table);
    this.body.addEventListener('click', (event) => this.click(event));
    this.body.addEventListener('keydown', (event) => this.key(event));
    this.reshape();
    this.render();
  }

  // Takes the current tree.
  reshape() {
    this.shape = this.makeShape();
    this.tree = this.shape.tree;
    this.makeColumns();
    this.table.setAttribute('aria-colcount', this.columns.length + 1);
    this.open = new Set();
    this.findRan();
    this.find();
    this.openHeavy();
  }

  // The row of the selected scope.
  find() {
    this.current = this.shape.find(this.state.get('node'),
                                   this.state.get('which'));
  }

  // In a stretch of time or a lane, scopes that did not run are left out,
  // unless a descendant did, such as another thread's work.
  findRan() {
    const { total } = this.shape.metrics[0];
    const calls = this.shape.metric('calls').own;
    this.ran = total.map((ns, node) =>
      this.shape === this.model.whole || ns > 0 || calls[node] > 0);
    for (let node = this.tree.size - 1; node >= 0; node--)
      if (this.ran[node])
        this.ran[this.tree.parents[node]] = 1;
  }

  // The metric of the tree shown, which may be inverted.
  metric() {
    return this.shape.metric(this.model.metric().id);
  }

  makeColumns() {
    this.columns = makeColumns(this.shape, this.metric(), this.inverted);
  }

  // The heaviest paths are open at first.
  openHeavy() {
    const { total, sum } = this.metric();
    const deepest = this.inverted ? 1 : 12;
    for (let node = 0; node < this.tree.size; node++)
      if (total[node] >= 0.05 * sum && this.tree.depths[node] < deepest)
        this.open.add(node);
    this.reveal(this.current);
    if (this.model.matched)
      this.openMatches();
    this.follow();
  }

  // The rows in the address; the last entry for each wins.
  follow() {
    for (const [, shut, node] of
      this.state.get(this.byHand).matchAll(/(-?)(\d+)/g))
      this.open[shut ? 'delete' : 'add'](Number(node));
  }

  reveal(node) {
    for (const ancestor of this.tree.path(node).slice(0, -1))
      this.open.add(ancestor);
  }

  update(keys) {
    if (Model.reshapes(keys))
      this.reshape();
    if (keys.has('metric'))
      this.makeColumns();
    if (keys.has('node') || keys.has('which')) {
      this.find();
      this.reveal(this.current);
    }
    if (keys.has('query') && this.model.matched)
      this.openMatches();
    if (keys.has(this.byHand))
      this.follow();
    this.render();
  }

  select(node) {
    this.state.set({ node: this.shape.origin[node], which: node });
    this.row(node)?.focus();
  }

  openMatches() {
    const matched = Array.from(this.shape.origin, (node) =>
      this.model.matched[node]);
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
      .filter((node) => this.ran[node])
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
    const current = this.row(this.current) ?? this.body.firstElementChild;
    current?.setAttribute('tabindex', '0');
    if (focused)
      current?.focus();
    current?.scrollIntoView({ block: 'nearest' });
  }

  renderHead() {
    const sort = this.column().id;
    const cells = this.columns.map(({ id, label, hint }) =>
      element('th', { scope: 'col', role: 'columnheader',
                      'aria-sort': id === sort ? 'descending' : 'none' },
        button(label, () => this.state.set({ sort: id }), { title: hint })));
    this.head.replaceChildren(element('tr', { role: 'row' },
      element('th', { scope: 'col', role: 'columnheader' }, 'scope'),
      ...cells));
  }

  addRows(rows, parent) {
    const path = new Set(this.tree.path(this.current));
    const stack = [[this.sorted(parent), 0, parent]];
    while (stack.length > 0) {
      const top = stack[stack.length - 1];
      const [siblings, at, above] = top;
      const limit = this.shown.get(above) ?? SIBLINGS;
      // The selected scope is shown however far down it is.
      const next = at < limit ? at : siblings.findIndex((node, i) =>
        i >= at && path.has(node));
      const to = next < 0 ? siblings.length : next;
      if (to > at)
        rows.push(this.moreRow(above, to - at, limit));
      if (to === siblings.length) {
        stack.pop();
        continue;
      }
      top[1] = to + 1;
      rows.push(this.makeRow(siblings[to], to + 1, siblings.length));
      if (this.open.has(siblings[to]))
        stack.push([this.sorted(siblings[to]), 0, siblings[to]]);
    }
  }

  moreRow(parent, count, limit) {
    const more = button(count + ' more', () => {
      this.shown.set(parent, limit + 10 * SIBLINGS);
      this.render();
    });
    return element('tr', { role: 'row' },
      element('td', { role: 'gridcell',
                      colspan: this.columns.length + 1 }, more));
  }

  makeRow(node, place, count) {
    const leaf = this.tree.children(node).length === 0;
    const faint = this.model.isFaint(this.shape, node);
    const classes = [
      node === this.current ? 'selected' : '',
      this.model.matched && !faint ? 'match' : '', faint ? 'faint' : '',
    ].join(' ').trim();
    return element('tr', {
      role: 'row', tabindex: '-1', 'data-node': node, class: classes || null,
      'aria-level': this.tree.depths[node] + 1, 'aria-posinset': place,
      'aria-setsize': count,
      'aria-selected': String(node === this.current),
      'aria-expanded': leaf ? null : String(this.open.has(node)),
    }, this.nameCell(node, leaf),
    ...this.columns.map((column) => this.cell(column, node)));
  }

  nameCell(node, leaf) {
    const marker = element('span', { class: 'marker', 'aria-hidden': 'true' },
      leaf ? '' : this.open.has(node) ? '\u25be' : '\u25b8');
    const edge = this.inverted ? ''
      : this.shape.profile.edgeName(this.shape.origin[node]);
    const cell = element('th', { scope: 'row', role: 'rowheader' },
      marker, swatch(this.model.colour(this.shape, node)),
      nameElement(this.shape.name(node)),
      edge === '' ? null : element('span', { class: 'edge' }, edge),
      this.failed(node));
    cell.style.paddingInlineStart =
      0.4 + 1.1 * Math.min(this.tree.depths[node], 24) + 'em';
    return cell;
  }

  failed(node) {
    const text = failureText(this.shape, node);
    return text === '' ? null
      : element('span', { class: 'failed', title: text }, '! ' + text);
  }

  cell(column, node) {
    const [text, title, share] = column.cell(node);
    const made = element('td', {
      role: 'gridcell', 'data-column': column.id, title: title || null,
    }, text);
    showShare(made, share);
    return made;
  }

  row(node) {
    return this.body.querySelector('[data-node="' + node + '"]');
  }

  toggle(node) {
    this.turn([node], !this.open.has(node));
  }

  // Opens or closes rows, and updates the address.
  turn(nodes, open) {
    const others = this.state.get(this.byHand).split(',').filter((one) =>
      one !== '' && !nodes.includes(Math.abs(one)));
    const turned = nodes.map((node) => (open ? '' : '-') + node);
    this.state.set({ [this.byHand]: [...others, ...turned]
      .slice(-MOST_BY_HAND).join() });
  }

  click(event) {
    const row = event.target.closest('[data-node]');
    if (!row)
      return;
    const node = Number(row.dataset.node);
    if (event.target.closest('.marker'))
      this.toggle(node);
    this.select(node);
  }

  // Keys as in the ARIA practices for tree grids with focusable rows.
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
    this.select(Number(row.dataset.node));
  }

  inward(node, next) {
    if (this.tree.children(node).length === 0)
      return;
    if (this.open.has(node))
      this.focus(next);
    else
      this.turn([node], true);
  }

  outward(node) {
    const parent = this.tree.parents[node];
    if (this.open.has(node) && this.tree.children(node).length > 0)
      this.turn([node], false);
    else if (parent >= 0)
      this.focus(this.row(parent));
  }

  openSiblings(node) {
    const closed = Array.from(this.tree.children(this.tree.parents[node]))
      .filter((one) => this.tree.children(one).length > 0
                       && !this.open.has(one));
    for (const one of closed)
      this.open.add(one);
    this.turn(closed, true);
  }
}

const TREE_KEYS = [
  ['Arrows', 'Move; open and close rows'],
  ['Enter Space', 'Open or close this row'],
  ['Home End', 'To the first row, or the last'],
  ['PageUp PageDown', 'Move by 15 rows'],
  ['*', 'Open all rows beside this one'],
];

export const treeView = {
  id: 'tree', label: 'Tree',
  about: 'The call tree as a table',
  keys: TREE_KEYS,
  state: { rows: '' },
  make: (shared) => new TreeGrid(shared, {
    label: 'Call tree', byHand: 'rows', shape: () => shared.model.shape(),
  }),
};

export const bottomUpView = {
  id: 'bottomup', label: 'Bottom-up',
  about: 'Functions by self time, with their callers below',
  keys: TREE_KEYS,
  state: { callers: '' },
  make: (shared) => new TreeGrid(shared, {
    label: 'Scopes by self time, with their callers', inverted: true,
    byHand: 'callers',
    shape: () => shared.model.derived('up', bottomUp),
  }),
};
