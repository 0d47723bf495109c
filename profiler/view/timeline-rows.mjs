// SPDX-License-Identifier: MIT
// Drawing one row of spans.  Whatever is narrower than a pixel goes, with all
// that ends in the same pixel, into one stroke, and the search for what
// comes next jumps over it: a row costs at most as many steps as it has
// pixels, however many spans it holds.

import { INK } from './colour.mjs';

export const SPAN_HEIGHT = 18;

// A gap of so many pixels is not seen.
const TOUCH = 0.4;

// view: { from, to, left, width } of the time that is seen.
export class RowPainter {
  constructor(pane, lanes, profile, model) {
    Object.assign(this, { pane, lanes, profile, model });
    this.run = { node: -1, from: 0, to: 0 };
  }

  draw(row, y, view, theme) {
    const spans = this.lanes.rows[row];
    const begins = this.lanes.begins[row], ends = this.lanes.ends[row];
    const scale = view.width / (view.to - view.from);
    this.theme = theme;
    this.colour = null;
    // The first pixel that has no stroke yet.
    let free = 0;
    for (let i = this.lanes.firstEnding(row, view.from); i < spans.length;) {
      if (begins[i] >= view.to)
        break;
      const x = Math.max(0, (begins[i] - view.from) * scale);
      const end = Math.min(view.width, (ends[i] - view.from) * scale);
      if (end - x >= 1.5) {
        this.box(spans[i], view.left + x, y, end - x);
        i++;
        continue;
      }
      // What began in a pixel that has its stroke ends in a later one.
      const pixel = Math.max(free, Math.floor(x));
      const next = view.from + (pixel + 1) / scale;
      const after = Math.max(i + 1, this.lanes.firstEnding(row, next, i));
      const longest = this.longest(begins, ends, i, after);
      this.narrow(spans[longest], view.left + pixel, y, 1);
      free = pixel + 1;
      i = after;
    }
    this.endRun(y);
  }

  box(span, x, y, width) {
    if (width <= 3) {
      this.narrow(span, x, y, width);
      return;
    }
    const node = this.profile.spans.node[span];
    this.fill(node, x, y, width - 1);
    if (width < 34)
      return;
    this.pane.context.fillStyle = this.isFaint(node) ? this.theme.text : INK;
    this.colour = null;
    this.pane.text(this.profile.names[node], x + 4, y + SPAN_HEIGHT / 2,
                   width - 8);
  }

  fill(node, x, y, width) {
    const { context } = this.pane;
    const faint = this.isFaint(node);
    const colour = this.model.colours[node];
    if (faint)
      context.globalAlpha = 0.25;
    // Most boxes have the colour of the one before.
    if (colour !== this.colour)
      context.fillStyle = this.colour = colour;
    context.fillRect(x, y + 1, width, SPAN_HEIGHT - 2);
    if (faint)
      context.globalAlpha = 1;
  }

  // What takes most of a pixel, of the first few in it.
  longest(begins, ends, from, to) {
    let longest = from;
    for (let i = from + 1; i < Math.min(to, from + 8); i++)
      if (ends[i] - begins[i] > ends[longest] - begins[longest])
        longest = i;
    return longest;
  }

  // What is narrow is drawn as one with what it touches of the same node:
  // thousands of rectangles are what a picture's time goes to.
  narrow(span, x, y, width) {
    const node = this.profile.spans.node[span];
    const { run } = this;
    if (node !== run.node || x - run.to > TOUCH) {
      this.endRun(y);
      run.node = node;
      run.from = x;
    }
    run.to = x + width;
  }

  endRun(y) {
    const { node, from, to } = this.run;
    if (node >= 0)
      this.fill(node, from, y, to - from);
    this.run.node = -1;
  }

  isFaint(node) {
    return this.model.matched !== null && !this.model.matched[node];
  }
}
