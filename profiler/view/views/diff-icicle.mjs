// SPDX-License-Identifier: MIT
// The icicle of two profiles: a path is as wide as its longer time, so that
// vanished ones stay visible; a sign and a colour show the change.

import { INK } from '../model/colour.mjs';
import { boxAt, firstAfter, layoutIcicle } from '../model/icicle-layout.mjs';
import { fillBox, labelBox, outlineBox } from '../widgets/boxes.mjs';
import { Pane, themeColours } from '../widgets/pane.mjs';

const DIFF_ROW = 26;

// Signs come first in a box, so that colours are not needed.
export const CHANGES = {
  slower: { sign: '+', label: 'slower', colour: '#e0703c' },
  faster: { sign: '\u2212', label: 'faster', colour: '#5aa5dc' },
  noise: { sign: '\u2248', label: 'within noise', colour: '#c6cbd2' },
  new: { sign: 'new', label: 'new', colour: '#e6c22e' },
  gone: { sign: 'gone', label: 'gone', colour: '#b9a5ec' },
  'one run': { sign: '?', label: 'noise unknown', colour: '#c6cbd2' },
};

// Metrics other than time are more or less.
export function changeLabel(change, unit) {
  return unit !== 'time' && { slower: 'more', faster: 'less' }[change]
    || CHANGES[change]?.label || change;
}

export class DiffIcicle {
  // choose (path), point (event, path; -1: none), zoom (path; -1: all).
  constructor({ choose, point, zoom }) {
    Object.assign(this, { choose, zoom, zoomed: -1, chosen: -1 });
    this.pane = new Pane({
      label: 'Icicle of both profiles. Arrow keys move, Enter zooms in, '
        + 'Escape zooms out. The table below has the same.',
      className: 'icicle', height: 0,
      draw: (...where) => this.draw(...where),
    });
    const { canvas } = this.pane;
    const at = (event) => this.hit(this.pane.position(event));
    canvas.addEventListener('click', (event) => {
      if (at(event) >= 0)
        choose(at(event));
    });
    canvas.addEventListener('dblclick', (event) => this.zoom(at(event)));
    canvas.addEventListener('pointermove', (event) =>
      point(event, at(event)));
    canvas.addEventListener('pointerleave', (event) => point(event, -1));
    canvas.addEventListener('keydown', (event) => this.key(event));
  }

  // tree; times: from diffTimes; labels: [{ name, value, change, faint, below
  // (it changed by what is below it) }] by path.
  show(tree, times, labels) {
    Object.assign(this, { tree, times, labels });
    this.layout = layoutIcicle(tree, times);
    this.pane.setHeight(this.layout.rows.length * DIFF_ROW + 2);
  }

  // The selected path, and the one that fills the width.
  see(chosen, zoomed) {
    Object.assign(this, { chosen, zoomed });
    this.pane.redraw();
  }

  window() {
    const { left, right } = this.layout;
    return this.zoomed >= 0 && right[this.zoomed] > left[this.zoomed]
      ? [left[this.zoomed], right[this.zoomed]] : [0, 1];
  }

  draw(context, width, height, scroll) {
    if (!this.layout)
      return;
    const theme = themeColours();
    const [from, to] = this.window();
    const scale = width / (to - from);
    const { rows, left, right } = this.layout;
    rows.forEach((row, depth) => {
      const y = depth * DIFF_ROW - scroll;
      if (y < -DIFF_ROW || y > height)
        return;
      for (let i = firstAfter(row, right, from); i < row.length; i++) {
        const x = Math.max(0, (left[row[i]] - from) * scale);
        if (x >= width)
          break;
        const end = Math.min(width, (right[row[i]] - from) * scale);
        this.drawBox(context, theme, row[i], x, y, Math.max(1, end - x));
      }
    });
  }

  drawBox(context, theme, path, x, y, width) {
    const { name, value, change, faint, below } = this.labels[path];
    const box = [x, y, width, DIFF_ROW];
    fillBox(this.pane, box, CHANGES[change].colour, faint);
    this.drawShare(context, path, x, y, width);
    if (path === this.chosen)
      outlineBox(this.pane, box, theme.text);
    labelBox(this.pane, box, faint ? theme.text : INK, () =>
      [below ? name : CHANGES[change].sign + ' ' + name, value]);
  }

  // A line at the foot of a box shows the shorter time.
  drawShare(context, path, x, y, width) {
    const { before, after, total } = this.times;
    if (!(total[path] > 0) || width < 4)
      return;
    const share = Math.min(before[path], after[path]) / total[path];
    context.fillStyle = INK;
    context.globalAlpha = 0.55;
    context.fillRect(x, y + DIFF_ROW - 3, (width - 1) * share, 3);
    context.globalAlpha = 1;
  }

  // Returns the path at a point of the picture, or -1.
  hit({ x, y }) {
    const row = this.layout?.rows[Math.floor(y / DIFF_ROW)];
    if (!row)
      return -1;
    const [from, to] = this.window();
    return boxAt(this.layout, row, from + x / this.pane.width * (to - from));
  }

  key(event) {
    const at = this.chosen;
    const parent = at >= 0 ? this.tree.parents[at] : -1;
    const siblings = this.tree.sorted(parent, this.times.total)
      .filter((one) => one === at || this.times.total[one] > 0);
    const beside = (step) =>
      siblings[Math.max(0, Math.min(siblings.length - 1,
                                    siblings.indexOf(at) + step))];
    const steps = {
      ArrowUp: () => parent >= 0 ? parent : at,
      ArrowDown: () => this.tree.sorted(at, this.times.total)[0] ?? at,
      ArrowLeft: () => beside(-1), ArrowRight: () => beside(1),
    };
    if (Object.hasOwn(steps, event.key))
      this.choose(steps[event.key]());
    else if (event.key === 'Enter')
      this.zoom(at);
    else if (event.key === 'Escape')
      this.zoom(this.zoomed >= 0 ? this.tree.parents[this.zoomed] : -1);
    else
      return;
    event.preventDefault();
  }
}
