// SPDX-License-Identifier: MIT
// The icicle: merged call paths, the root at the top, widths by the metric.
// The tree table shows the same in an accessible form.

import { FAILED_INK, INK } from '../model/colour.mjs';
import { fillBox, labelBox, outlineBox } from '../widgets/boxes.mjs';
import { button, element } from '../widgets/dom.mjs';
import { nodeFacts } from '../widgets/fact-lines.mjs';
import { failuresOf } from '../data/failures.mjs';
import { boxAt, firstAfter, layoutIcicle } from '../model/icicle-layout.mjs';
import { bottomUp } from '../model/invert.mjs';
import { baseOf } from '../model/metrics.mjs';
import { formatRange, Model, parseRange } from '../model/model.mjs';
import { Pane, themeColours } from '../widgets/pane.mjs';
import { Pointers } from '../widgets/pointers.mjs';
import { formatShare, formatUnit } from '../data/units.mjs';

const ROW = 26;
// The address has the visible part of the width in billionths, written when it
// has stopped moving.
const WHOLE_WIDTH = 1e9, ICICLE_REST_MS = 250;
const LEAST_WIDTH = 1e-6;

export class Icicle {
  constructor({ state, model, tooltip }) {
    Object.assign(this, { state, model, tooltip });
    this.pane = new Pane({
      label: 'Icicle of the call tree. Arrow keys move, Enter zooms in, '
        + 'Escape zooms out. The tree shows the same as a table.',
      className: 'icicle', height: 0,
      draw: (...where) => this.draw(...where),
    });
    this.out = button('Zoom out', () => this.zoomOut(),
                      { title: 'Key Escape' });
    this.crumbs = element('nav', { class: 'crumbs',
                                   'aria-label': 'Zoomed into' });
    this.base = element('span', { class: 'muted' });
    this.turn = this.toggle('flip', 'Flame', 'Roots at the bottom. Key i');
    this.invert = this.toggle('up', 'Bottom-up', 'Functions by '
      + 'self time, then their callers. Key u');
    this.element = element('div', {}, element('div', { class: 'tools' },
      this.out, this.crumbs, element('span', { class: 'space' }), this.base,
      this.turn, this.invert), this.pane.box);
    this.actions = { i: () => this.turn.click(),
                     u: () => this.invert.click() };
    this.listen(this.pane.canvas);
    this.follow();
    this.reshape();
    if (this.state.get('flip'))
      requestAnimationFrame(() => { this.pane.box.scrollTop = 1e6; });
  }

  toggle(key, label, title) {
    return button(label, () => this.state.set(
      { [key]: this.state.get(key) ? '' : '1', zoom: -1, stretch: '' },
      { step: true }),
      { title, 'aria-pressed': 'false' });
  }

  update(keys) {
    if (Model.reshapes(keys) || keys.has('up'))
      this.reshape();
    else if (keys.has('metric') || keys.has('flip'))
      this.arrange();
    if (keys.has('stretch'))
      this.follow();
    if (keys.has('zoom') || keys.has('stretch'))
      this.showCrumbs();
    if (keys.has('node') || keys.has('which')) {
      this.find();
      this.reveal();
    }
    this.pane.redraw();
  }

  reshape() {
    this.shape = this.state.get('up') ? this.model.derived('up', bottomUp)
      : this.model.shape();
    this.tree = this.shape.tree;
    this.find();
    this.arrange();
  }

  // The box of the selected scope.
  find() {
    this.current = this.shape.find(this.state.get('node'),
                                   this.state.get('which'));
  }

  arrange() {
    for (const [key, made] of [['flip', this.turn], ['up', this.invert]])
      made.setAttribute('aria-pressed', String(this.state.get(key) === '1'));
    this.metric = this.shape.metric(this.state.get('metric'));
    const { sum, unit } = this.metric;
    this.base.textContent = '% of ' + baseOf(this.metric) + ', '
      + formatUnit(sum, unit);
    this.layout = layoutIcicle(this.tree, this.metric);
    this.pane.setHeight(Math.max(1, this.layout.rows.length) * ROW + 2);
    this.showCrumbs();
  }

  reveal() {
    if (this.current < 0)
      return;
    const y = this.top(this.tree.depths[this.current]);
    this.pane.reveal(y, y + ROW + 2);
  }

  // The top of a row in the picture, and the row at a place.
  top(depth) {
    return ROW * (this.state.get('flip')
      ? this.layout.rows.length - 1 - depth : depth);
  }

  rowAt(y) {
    const row = Math.floor(y / ROW);
    return this.state.get('flip') ? this.layout.rows.length - 1 - row : row;
  }

  zoomed() {
    const zoom = this.state.get('zoom');
    return zoom >= 0 && zoom < this.tree.size
      && this.layout.right[zoom] > this.layout.left[zoom] ? zoom : -1;
  }

  // The visible part of the layout.
  window() {
    if (this.stretch !== null)
      return this.stretch;
    const zoom = this.zoomed();
    return zoom < 0 ? [0, 1]
      : [this.layout.left[zoom], this.layout.right[zoom]];
  }

  // Applies the address.
  follow() {
    clearTimeout(this.resting);
    this.stretch = parseRange(this.state.get('stretch'))
      ?.map((at) => Math.min(1, at / WHOLE_WIDTH)) ?? null;
  }

  // Shows a part of the width; the whole width means that no scope is zoomed.
  see(from, to) {
    const size = Math.max(LEAST_WIDTH, Math.min(1, to - from));
    const begin = Math.max(0, Math.min(1 - size, from));
    this.stretch = [begin, begin + size];
    this.pane.redraw();
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.state.set(size >= 1
      ? { stretch: '', zoom: -1 } : { stretch: formatRange(
        begin * WHOLE_WIDTH, (begin + size) * WHOLE_WIDTH) }),
                              ICICLE_REST_MS);
  }

  // Zooms by a factor around a place.
  widen(factor, clientX) {
    const [from, to] = this.window();
    const at = from + this.pane.position({ clientX, clientY: 0 }).x
      / this.pane.width * (to - from);
    this.see(at - (at - from) * factor, at + (to - at) * factor);
  }

  drag(dx, dy) {
    const [from, to] = this.window();
    const by = dx / this.pane.width * (to - from);
    this.tooltip.hide();
    this.pane.box.scrollTop -= dy;
    if (to - from < 1)
      this.see(from - by, to - by);
  }

  showCrumbs() {
    const zoom = this.zoomed();
    const all = button('all', () => this.zoom(-1),
                       { 'aria-current': zoom < 0 });
    const path = this.tree.path(zoom).map((node) =>
      button(this.shape.name(node), () => this.zoom(node),
             { 'aria-current': node === zoom }));
    this.out.disabled = zoom < 0 && this.stretch === null;
    this.crumbs.replaceChildren(all, ...path);
  }

  zoom(node, changes = {}) {
    clearTimeout(this.resting);
    this.stretch = null;
    this.pane.redraw();
    this.state.set({ zoom: node, stretch: '', ...changes }, { step: true });
  }

  // Zooms out from a part of the width to the scope, and from that to its
  // caller.
  zoomOut() {
    const zoom = this.zoomed();
    this.zoom(this.stretch !== null ? zoom
      : zoom < 0 ? -1 : this.tree.parents[zoom]);
  }

  draw(context, width, height, scroll) {
    const [from, to] = this.window();
    const theme = this.theme = themeColours();
    const scale = width / (to - from);
    this.layout.rows.forEach((row, depth) => {
      const y = this.top(depth) - scroll;
      if (y + ROW > 0 && y < height)
        this.drawRow(context, theme, row, y, from, scale, width);
    });
    context.fillStyle = theme.muted;
    if (this.layout.rows.length === 0)
      this.pane.text('Nothing has any ' + this.metric.label + ' here.', 8,
                     ROW / 2, width - 16);
    this.drawSelection(theme, scroll, from, scale);
  }

  drawRow(context, theme, row, y, from, scale, width) {
    const { left, right } = this.layout;
    for (let i = firstAfter(row, right, from); i < row.length;) {
      const node = row[i];
      const x = Math.max(0, (left[node] - from) * scale);
      if (x >= width)
        break;
      const end = Math.min(width, (right[node] - from) * scale);
      if (end - x < 1) {
        // Everything within this pixel is one grey line.
        const next = from + (Math.floor(x) + 1) / scale;
        context.fillStyle = theme.muted;
        context.fillRect(Math.floor(x), y + 4, 1, ROW - 8);
        i = Math.max(i + 1, firstAfter(row, right, next));
        continue;
      }
      this.drawBox(context, node, x, y, end - x);
      i++;
    }
  }

  drawBox(context, node, x, y, width) {
    const faint = this.model.isFaint(this.shape, node);
    const box = [x, y, width, ROW];
    fillBox(this.pane, box, this.model.colour(this.shape, node), faint);
    const failed = failuresOf(this.shape, node) > 0;
    if (failed)
      this.drawFailed(context, x, y, width);
    labelBox(this.pane, box, faint ? this.theme.text : INK, () =>
      [(failed ? '! ' : '') + this.shape.name(node), ...this.values(node)]);
  }

  // With its share first.  Concurrent scopes, which share their parent's width,
  // have a width that is not their share.
  values(node) {
    const { total, unit, sum } = this.metric;
    const value = formatUnit(total[node], unit);
    const { left, right } = this.layout;
    const share = total[node] / sum;
    return Math.abs(right[node] - left[node] - share) > 0.002 ? [value]
      : [value + ' \u00b7 ' + formatShare(share, 1), value];
  }

  // Stripes at the top, unlike a selection or any colour.
  drawFailed(context, x, y, width) {
    context.fillStyle = FAILED_INK;
    for (let at = 0; at < width - 1; at += 8)
      context.fillRect(x + at, y + 1, Math.min(5, width - 1 - at), 3);
  }

  drawSelection(theme, scroll, from, scale) {
    const node = this.current;
    if (node < 0 || this.layout.right[node] <= this.layout.left[node])
      return;
    const x = Math.max(-4, (this.layout.left[node] - from) * scale);
    const end = Math.min(this.pane.width + 4,
                         (this.layout.right[node] - from) * scale);
    const y = this.top(this.tree.depths[node]) - scroll;
    outlineBox(this.pane, [x, y, end - x, ROW], theme.text);
  }

  // Returns the node at a point of the picture, or -1.
  hit({ x, y }) {
    const row = this.layout.rows[this.rowAt(y)];
    if (!row)
      return -1;
    const [from, to] = this.window();
    return boxAt(this.layout, row, from + x / this.pane.width * (to - from));
  }

  listen(canvas) {
    this.pointers = new Pointers(canvas, {
      drag: (dx, dy) => this.drag(dx, dy),
      pinch: (factor, x) => this.widen(factor, x),
    });
    // A pinch on a touch pad.
    canvas.addEventListener('wheel', (event) => {
      if (!event.ctrlKey)
        return;
      this.widen(1.01 ** event.deltaY, event.clientX);
      event.preventDefault();
    }, { passive: false });
    canvas.addEventListener('pointermove', (event) => {
      if (this.pointers.down.size > 0)
        return;
      const node = this.hit(this.pane.position(event));
      canvas.style.cursor = node >= 0 ? 'pointer' : '';
      if (node < 0)
        this.tooltip.hide();
      else
        this.tip(event, node);
    });
    canvas.addEventListener('pointerleave', () => this.tooltip.hide());
    canvas.addEventListener('click', (event) => {
      const node = this.hit(this.pane.position(event));
      if (node < 0 || this.pointers.dragged)
        return;
      this.tooltip.hide();
      this.zoom(node, { node: this.shape.origin[node], which: node });
    });
    canvas.addEventListener('keydown', (event) => this.key(event));
  }

  tip(event, node) {
    this.tooltip.show(event.clientX, event.clientY, this.shape.name(node),
                      nodeFacts(this.shape, node, this.metric),
                      this.model.colour(this.shape, node));
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey)
      return;
    const flip = this.state.get('flip') !== '';
    const above = () => this.tree.parents[this.current];
    const below = () => this.child(this.current);
    const step = { ArrowUp: flip ? below : above,
                   ArrowDown: flip ? above : below,
                   ArrowLeft: () => this.sibling(-1),
                   ArrowRight: () => this.sibling(1) }[event.key];
    if (step)
      this.select(step());
    else if (event.key === 'Enter' && this.current >= 0)
      this.zoom(this.current);
    else if (event.key === 'Escape' || event.key === 'Backspace')
      this.zoomOut();
    else
      return;
    event.preventDefault();
  }

  child(node) {
    const children = this.tree.sorted(node, this.metric.total);
    return children.length > 0 ? children[0] : node;
  }

  sibling(step) {
    const node = this.current;
    if (node < 0)
      return this.child(-1);
    const all = this.tree.sorted(this.tree.parents[node], this.metric.total);
    const at = all.indexOf(node) + step;
    return all[Math.max(0, Math.min(all.length - 1, at))];
  }

  select(node) {
    if (node < 0 || node === undefined)
      return;
    this.state.set({ node: this.shape.origin[node], which: node });
  }
}

export const icicleView = {
  id: 'icicle', label: 'Icicle',
  about: 'Merged call paths, the heaviest first; as a flame, or bottom-up',
  keys: [['i', 'Turn over: icicle or flame'],
         ['u', 'Bottom-up: functions by self time, with callers'],
         ['Arrows', 'Move'], ['Enter', 'Zoom in'],
         ['Escape Backspace', 'Zoom out']],
  state: { flip: '', up: '', stretch: '' },
  make: (shared) => new Icicle(shared),
};
