// SPDX-License-Identifier: MIT
// Drawing one row of spans.  Whatever is narrower than a pixel goes, with all
// that begins in the same pixel, into one stroke, and the search for what
// comes next jumps over it: a row costs at most as many steps as it has
// pixels, however many spans it holds.

import { INK } from './colour.mjs';

export const SPAN_HEIGHT = 18;

// view: { from, to, left, width } of the time that is seen.
export class RowPainter {
  constructor(pane, lanes, profile, model) {
    Object.assign(this, { pane, lanes, profile, model });
  }

  draw(row, y, view, theme) {
    const { begin, duration } = this.profile.spans;
    const spans = this.lanes.rows[row];
    const scale = view.width / (view.to - view.from);
    this.theme = theme;
    for (let i = this.lanes.firstEnding(row, view.from); i < spans.length;) {
      const span = spans[i];
      if (begin[span] >= view.to)
        break;
      const x = Math.max(0, (begin[span] - view.from) * scale);
      const end = Math.min(view.width,
                           (begin[span] + duration[span] - view.from)
                           * scale);
      if (end - x >= 1.5) {
        this.box(span, view.left + x, y, end - x);
        i++;
        continue;
      }
      const pixel = Math.floor(x);
      this.stroke(span, view.left + pixel, y);
      const next = view.from + (pixel + 1) / scale;
      i = Math.max(i + 1, this.lanes.firstBeginning(row, next, i));
    }
  }

  box(span, x, y, width) {
    const { context } = this.pane;
    const node = this.profile.spans.node[span];
    const faint = this.isFaint(node);
    context.globalAlpha = faint ? 0.25 : 1;
    context.fillStyle = this.model.colours[node];
    context.fillRect(x, y + 1, width > 3 ? width - 1 : width,
                     SPAN_HEIGHT - 2);
    context.globalAlpha = 1;
    if (width < 34)
      return;
    context.fillStyle = faint ? this.theme.text : INK;
    this.pane.text(this.profile.names[node], x + 4, y + SPAN_HEIGHT / 2,
                   width - 8);
  }

  stroke(span, x, y) {
    const { context } = this.pane;
    const node = this.profile.spans.node[span];
    context.globalAlpha = this.isFaint(node) ? 0.15 : 0.8;
    context.fillStyle = this.model.colours[node];
    context.fillRect(x, y + 1, 1, SPAN_HEIGHT - 2);
    context.globalAlpha = 1;
  }

  isFaint(node) {
    return this.model.matched !== null && !this.model.matched[node];
  }
}
