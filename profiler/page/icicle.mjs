// SPDX-License-Identifier: MIT
// The icicle: merged call paths, the root at the top, widths by the metric.
// The tree table shows the same to those who do not see it.

import { element, button } from './dom.mjs';
import { INK } from './colour.mjs';
import { Pane, themeColours } from './pane.mjs';
import { layoutIcicle, firstAfter } from './icicle-layout.mjs';
import { formatShare, formatUnit } from './units.mjs';

const ROW = 26;

export class Icicle {
  constructor({ profile, state, model, tooltip }) {
    Object.assign(this, { profile, state, model, tooltip });
    this.tree = profile.tree;
    this.pane = new Pane({
      label: 'Icicle of the call tree. Arrow keys move, Enter zooms in, '
        + 'Escape zooms out. The tree shows the same as a table.',
      className: 'icicle', height: 0,
      draw: (...where) => this.draw(...where),
    });
    this.out = button('Zoom out', () => this.zoomOut());
    this.crumbs = element('nav', { class: 'crumbs',
                                   'aria-label': 'Zoomed into' });
    this.view = element('div', {}, this.crumbs, this.pane.box);
    this.listen(this.pane.canvas);
    state.listen((keys) => this.changed(keys));
    this.arrange();
  }

  changed(keys) {
    if (keys.has('metric'))
      this.arrange();
    else if (keys.has('zoom'))
      this.showCrumbs();
    this.pane.redraw();
  }

  arrange() {
    this.layout = layoutIcicle(this.tree, this.model.metric());
    this.pane.setHeight(this.layout.rows.length * ROW + 2);
    this.showCrumbs();
  }

  zoomed() {
    const zoom = this.state.get('zoom');
    return zoom >= 0 && zoom < this.tree.size
      && this.layout.right[zoom] > this.layout.left[zoom] ? zoom : -1;
  }

  // The stretch of the layout that is seen.
  window() {
    const zoom = this.zoomed();
    return zoom < 0 ? [0, 1]
      : [this.layout.left[zoom], this.layout.right[zoom]];
  }

  showCrumbs() {
    const zoom = this.zoomed();
    const all = button('all', () => this.zoom(-1),
                       { 'aria-current': zoom < 0 });
    const path = this.tree.path(zoom).map((node) =>
      button(this.profile.names[node], () => this.zoom(node),
             { 'aria-current': node === zoom }));
    this.out.disabled = zoom < 0;
    this.crumbs.replaceChildren(this.out, all, ...path);
  }

  zoom(node) {
    this.state.set({ zoom: node }, { step: true });
  }

  zoomOut() {
    const zoom = this.zoomed();
    this.zoom(zoom < 0 ? -1 : this.tree.parents[zoom]);
  }

  draw(context, width, height, scroll) {
    const [from, to] = this.window();
    const theme = this.theme = themeColours();
    const first = Math.floor(scroll / ROW);
    const last = Math.min(this.layout.rows.length - 1,
                          Math.floor((scroll + height) / ROW));
    for (let depth = first; depth <= last; depth++)
      this.drawRow(context, theme, this.layout.rows[depth],
                   depth * ROW - scroll, from, width / (to - from), width);
    this.drawSelection(context, theme, scroll, from, width / (to - from));
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
        // All that falls into this pixel is one grey stroke.
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
    const { matched } = this.model;
    context.globalAlpha = matched && !matched[node] ? 0.3 : 1;
    context.fillStyle = this.model.colours[node];
    context.fillRect(x, y + 1, Math.max(1, width - 1), ROW - 1);
    context.globalAlpha = 1;
    if (width < 30)
      return;
    context.fillStyle = matched && !matched[node]
      ? this.theme.text : INK;
    const metric = this.model.metric();
    const value = formatUnit(metric.total[node], metric.unit);
    const name = this.profile.names[node];
    this.pane.text(name, x + 5, y + ROW / 2 + 1, width - 10);
    const room = width - 10 - this.pane.textWidth(name) - 14;
    if (room > this.pane.textWidth(value)) {
      context.textAlign = 'right';
      context.fillText(value, x + width - 6, y + ROW / 2 + 1);
      context.textAlign = 'left';
    }
  }

  drawSelection(context, theme, scroll, from, scale) {
    const node = this.state.get('node');
    if (!(node >= 0 && node < this.tree.size))
      return;
    const x = (this.layout.left[node] - from) * scale;
    const end = (this.layout.right[node] - from) * scale;
    const y = this.tree.depths[node] * ROW - scroll;
    context.strokeStyle = theme.text;
    context.lineWidth = 2;
    context.strokeRect(x + 1, y + 2, Math.max(2, end - x - 3), ROW - 3);
  }

  // The node under a point of the picture, or -1.
  hit({ x, y }) {
    const row = this.layout.rows[Math.floor(y / ROW)];
    if (!row)
      return -1;
    const [from, to] = this.window();
    const at = from + x / this.pane.width * (to - from);
    const i = firstAfter(row, this.layout.right, at);
    return i < row.length && this.layout.left[row[i]] <= at ? row[i] : -1;
  }

  listen(canvas) {
    canvas.addEventListener('pointermove', (event) => {
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
      if (node < 0)
        return;
      this.tooltip.hide();
      this.state.set({ node, zoom: node }, { step: true });
    });
    canvas.addEventListener('keydown', (event) => this.key(event));
  }

  tip(event, node) {
    const metric = this.model.metric();
    const parent = this.tree.parents[node];
    const lines = [
      [metric.label, formatUnit(metric.total[node], metric.unit)],
      ['of all', formatShare(metric.total[node], metric.sum)],
      ['of its parent', parent < 0 ? ''
        : formatShare(metric.total[node], metric.total[parent])],
      ...this.model.facts(node),
    ];
    this.tooltip.show(event.clientX, event.clientY, this.profile.names[node],
                      lines, this.model.colours[node]);
  }

  key(event) {
    const step = { ArrowUp: () => this.tree.parents[this.current()],
                   ArrowDown: () => this.child(this.current()),
                   ArrowLeft: () => this.sibling(-1),
                   ArrowRight: () => this.sibling(1) }[event.key];
    if (event.altKey || event.ctrlKey || event.metaKey)
      return;
    if (step)
      this.select(step());
    else if (event.key === 'Enter' && this.current() >= 0)
      this.zoom(this.current());
    else if (event.key === 'Escape' || event.key === 'Backspace')
      this.zoomOut();
    else
      return;
    event.preventDefault();
  }

  current() {
    return this.state.get('node');
  }

  child(node) {
    const children = this.tree.sorted(node, this.model.metric().total);
    return children.length > 0 ? children[0] : node;
  }

  sibling(step) {
    const node = this.current();
    if (node < 0)
      return this.child(-1);
    const all = this.tree.sorted(this.tree.parents[node],
                                 this.model.metric().total);
    const at = all.indexOf(node) + step;
    return all[Math.max(0, Math.min(all.length - 1, at))];
  }

  select(node) {
    if (node < 0 || node === undefined)
      return;
    this.state.set({ node });
    const y = this.tree.depths[node] * ROW;
    this.pane.reveal(y, y + ROW + 2);
  }
}
