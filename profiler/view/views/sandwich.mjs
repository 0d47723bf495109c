// SPDX-License-Identifier: MIT
// The sandwich of the selected scope over all call sites: its callers above,
// its callees below, on one scale.

import { INK } from '../model/colour.mjs';
import { fillBox, labelBox, outlineBox } from '../widgets/boxes.mjs';
import { element, nameElement } from '../widgets/dom.mjs';
import { nodeFacts } from '../widgets/fact-lines.mjs';
import { layoutIcicle } from '../model/icicle-layout.mjs';
import { callersOf, outermost } from '../model/invert.mjs';
import { baseOf } from '../model/metrics.mjs';
import { Model } from '../model/model.mjs';
import { Pane, themeColours } from '../widgets/pane.mjs';
import { transform } from '../model/transforms.mjs';
import { formatCount, formatShareOfAll, formatUnit } from '../data/units.mjs';

const BOX_HEIGHT = 24;

// The two halves: { callers, callees }, trees of one root each.
export function makeSandwich(shape, site) {
  return { callers: callersOf(shape, site),
           callees: transform(shape, { kind: 'f', site }) };
}

class Sandwich {
  constructor({ profile, state, model, tooltip }) {
    Object.assign(this, { profile, state, model, tooltip });
    this.head = element('p', { class: 'tools' });
    this.pane = new Pane({
      label: 'Callers of the selected scope above it, callees below. '
        + 'Arrow keys move, Enter selects.',
      className: 'sandwich', height: 0,
      draw: (...where) => this.draw(...where),
    });
    this.element = element('div', {}, this.head, this.pane.box);
    this.listen(this.pane.canvas);
    this.arrange();
  }

  update(keys) {
    if (Model.reshapes(keys) || keys.has('node') || keys.has('metric'))
      this.arrange();
    this.pane.redraw();
  }

  arrange() {
    const node = this.state.get('node');
    this.boxes = [];
    this.rows = 0;
    if (node >= 0 && node < this.profile.tree.size)
      this.place(this.profile.sites.of[node]);
    this.at = this.boxes.findIndex((box) => box.middle);
    this.pane.setHeight(Math.max(1, this.rows) * BOX_HEIGHT + 2);
    this.describe();
    if (this.at >= 0)
      requestAnimationFrame(() => this.pane.reveal(
        (this.boxes[this.at].row - 3) * BOX_HEIGHT,
        (this.boxes[this.at].row + 4) * BOX_HEIGHT));
  }

  // Boxes of both halves, by rows from the top: [{ shape, node, row, left,
  // right, middle }], each row in order.
  place(site) {
    const { callers, callees } = this.model.derived(
      'sandwich ' + site, (shape) => makeSandwich(shape, site));
    const id = this.state.get('metric');
    const above = layoutIcicle(callers.tree, callers.metric(id));
    const below = layoutIcicle(callees.tree, callees.metric(id));
    const middle = Math.max(0, above.rows.length - 1);
    const add = (shape, layout, depth, row) => {
      for (const node of layout.rows[depth])
        this.boxes.push({ shape, node, row, left: layout.left[node],
                          right: layout.right[node], middle: row === middle });
    };
    for (let depth = above.rows.length - 1; depth > 0; depth--)
      add(callers, above, depth, middle - depth);
    for (let depth = 0; depth < below.rows.length; depth++)
      add(callees, below, depth, middle + depth);
    this.rows = middle + Math.max(1, below.rows.length);
  }

  describe() {
    const node = this.state.get('node');
    const shape = this.model.shape();
    const box = this.boxes[this.at];
    if (!box) {
      this.head.replaceChildren(node < 0
        ? 'Select a scope, in any view.'
        : 'Nothing has any ' + this.model.metric().label + ' here.');
      return;
    }
    const metric = box.shape.metric(this.state.get('metric'));
    const n = outermost(shape, shape.site(shape.find(node))).filter((one) =>
      shape.calls[one] > 0 || shape.total[one] > 0).length;
    const value = metric.total[box.node];
    this.head.replaceChildren(
      element('b', {}, nameElement(this.profile.names[node])),
      element('span', {}, formatUnit(value, metric.unit) + ' of '
        + metric.label + ', '
        + formatShareOfAll(value, this.model.metric().sum,
                           ' of ' + baseOf(metric))
        + ', from ' + formatCount(n) + (n === 1 ? ' place' : ' places')));
  }

  draw(context, width, height, scroll) {
    const theme = themeColours();
    this.boxes.forEach((box, i) => {
      const y = box.row * BOX_HEIGHT - scroll;
      if (y + BOX_HEIGHT > 0 && y < height)
        this.drawBox(theme, box, box.left * width, y,
                     (box.right - box.left) * width, i === this.at);
    });
  }

  drawBox(theme, { shape, node, middle }, x, y, width, current) {
    if (width < 0.5)
      return;
    const faint = this.model.isFaint(shape, node);
    const place = [x, y, width, BOX_HEIGHT];
    fillBox(this.pane, place, this.model.colour(shape, node), faint);
    if (middle || current)
      outlineBox(this.pane, place, theme.text, current ? 2.5 : 1);
    const { total, unit } = shape.metric(this.state.get('metric'));
    labelBox(this.pane, place, faint ? theme.text : INK, () =>
      [shape.name(node), formatUnit(total[node], unit)]);
  }

  hit({ x, y }) {
    const row = Math.floor(y / BOX_HEIGHT), at = x / this.pane.width;
    return this.boxes.findIndex((box) =>
      box.row === row && box.left <= at && at < box.right);
  }

  listen(canvas) {
    canvas.addEventListener('pointermove', (event) => {
      const at = this.hit(this.pane.position(event));
      canvas.style.cursor = at >= 0 ? 'pointer' : '';
      if (at < 0) {
        this.tooltip.hide();
        return;
      }
      const { shape, node } = this.boxes[at];
      this.tooltip.show(event.clientX, event.clientY, shape.name(node),
        nodeFacts(shape, node, shape.metric(this.state.get('metric'))),
        this.model.colour(shape, node));
    });
    canvas.addEventListener('pointerleave', () => this.tooltip.hide());
    canvas.addEventListener('click', (event) => {
      this.tooltip.hide();
      this.select(this.hit(this.pane.position(event)));
    });
    canvas.addEventListener('keydown', (event) => this.key(event));
  }

  select(at) {
    if (at < 0)
      return;
    const { shape, node } = this.boxes[at];
    this.state.set({ node: shape.origin[node] }, { step: true });
  }

  key(event) {
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1],
                 ArrowDown: [0, 1] }[event.key];
    if (event.altKey || event.ctrlKey || event.metaKey)
      return;
    if (by)
      this.move(...by);
    else if (event.key === 'Enter')
      this.select(this.at);
    else
      return;
    event.preventDefault();
  }

  // Moves to the box beside, or to the widest overlapping one above or below.
  move(dx, dy) {
    const current = this.boxes[this.at];
    if (!current)
      return;
    const overlap = (box) => Math.min(box.right, current.right)
      - Math.max(box.left, current.left);
    const inRow = this.boxes.map((box, i) => [box, i])
      .filter(([box]) => box.row === current.row + dy);
    const next = dy !== 0
      ? inRow.filter(([box]) => overlap(box) > 0)
        .sort(([a], [b]) => overlap(b) - overlap(a))[0]
      : inRow[inRow.findIndex(([, i]) => i === this.at) + dx];
    if (!next)
      return;
    this.at = next[1];
    const top = next[0].row * BOX_HEIGHT;
    this.pane.reveal(top, top + BOX_HEIGHT + 2);
    this.pane.redraw();
  }
}

export const sandwichView = {
  id: 'sandwich', label: 'Sandwich',
  about: 'Callers and callees of the selected scope, over all call sites',
  needs: (profile) => profile.tree.size > 0,
  keys: [['Arrows', 'Move'], ['Enter', 'Select what is there']],
  make: (shared) => new Sandwich(shared),
};
