// SPDX-License-Identifier: MIT
// Drawn over the spans of the timeline: the selected span, its parent and
// children, the selected stretch, the critical path.

import { AXIS_HEIGHT } from './axis.mjs';
import { parseRange } from '../model/model.mjs';

// The maximum number of arrows to a span's children.
const ARROWS = 40;

export class TimelineMarks {
  constructor(timeline) {
    this.timeline = timeline;
    this.profile = timeline.profile;
  }

  draw(context, theme, scroll) {
    Object.assign(this, { context, theme, scroll });
    const { pane, state } = this.timeline;
    const view = this.timeline.viewport();
    context.save();
    context.beginPath();
    context.rect(view.left, AXIS_HEIGHT, view.width, pane.height);
    context.clip();
    this.path(view);
    const span = state.get('span');
    if (span >= 0 && span < this.profile.spans.count)
      this.selection(span);
    context.restore();
  }

  // Greys out everything outside the range, on the axis too.
  drawRange(context, theme) {
    const { pane, state } = this.timeline;
    const range = this.timeline.brushed ?? parseRange(state.get('range'));
    if (!range)
      return;
    const view = this.timeline.viewport();
    const [from, to] = range.map((time) => Math.max(view.left,
      Math.min(view.left + view.width, this.timeline.x(time))));
    context.fillStyle = theme.sunken;
    context.globalAlpha = 0.7;
    context.fillRect(view.left, AXIS_HEIGHT, from - view.left, pane.height);
    context.fillRect(to, AXIS_HEIGHT, view.left + view.width - to,
                     pane.height);
    context.globalAlpha = 1;
    context.fillStyle = theme.accent;
    context.fillRect(from, AXIS_HEIGHT - 4, Math.max(2, to - from), 4);
    context.fillRect(from, AXIS_HEIGHT, 1, pane.height);
    context.fillRect(to - 1, AXIS_HEIGHT, 1, pane.height);
  }

  // The top of a span in the window, and its height.
  place(span) {
    const [top, height] = this.timeline.placeOf(span);
    return [top - this.scroll, height];
  }

  selection(span) {
    const { list, starts } = this.profile.causes;
    const { lane } = this.profile.spans;
    const parent = this.profile.parentOf(span);
    this.outline(this.theme.text, span);
    if (parent >= 0) {
      this.outline(this.theme.accent, parent);
      this.arrow(parent, span);
    }
    for (let k = starts[span], n = 0; k < starts[span + 1] && n < ARROWS; k++)
      if (lane[list[k]] !== lane[span]) {
        this.arrow(span, list[k]);
        n++;
      }
  }

  outline(colour, span) {
    const { begin, duration } = this.profile.spans;
    const x = this.timeline.clampedX(begin[span]);
    const end = this.timeline.clampedX(begin[span] + duration[span]);
    this.context.strokeStyle = colour;
    this.context.lineWidth = 2;
    const [top, height] = this.place(span);
    this.context.strokeRect(x, top + 1, Math.max(2, end - x), height - 2);
  }

  // From the parent's handoff to the child's begin.
  arrow(parent, span) {
    const { begin, submitted, lane } = this.profile.spans;
    if (lane[parent] === lane[span])
      return;
    const { context, theme } = this;
    const [y0, y1] = [parent, span].map((one) => {
      const [top, height] = this.place(one);
      return top + height / 2;
    });
    const x0 = this.timeline.clampedX(Math.min(submitted[span], begin[span]));
    const x1 = this.timeline.clampedX(begin[span]);
    const bend = Math.max(18, (x1 - x0) / 2);
    context.strokeStyle = context.fillStyle = theme.accent;
    context.lineWidth = 1.5;
    context.beginPath();
    context.arc(x0, y0, 3, 0, 2 * Math.PI);
    context.fill();
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 6, y1);
    context.stroke();
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x1 - 8, y1 - 4);
    context.lineTo(x1 - 8, y1 + 4);
    context.fill();
  }

  // Draws a thick line under each span of the path, and lines between them;
  // of those within a pixel one.
  path(view) {
    const path = this.timeline.path();
    if (path === null)
      return;
    const { context, timeline } = this;
    const { lane } = this.profile.spans;
    const { spans, froms, tos } = path;
    context.fillStyle = this.theme.critical;
    let last = null;
    for (let i = firstPiece(froms, view.to); i < spans.length;) {
      if (tos[i] < view.from)
        break;
      const x = timeline.clampedX(froms[i]), end = timeline.clampedX(tos[i]);
      const [top, height] = this.place(spans[i]);
      const thick = Math.min(3, height - 2), y = top + height - thick;
      // Within a lane only where they do not form a block.
      const wide = end - x > 4, at = lane[spans[i]];
      if (last !== null && last.y !== y && (last.at !== at || wide
                                            && last.wide))
        context.fillRect(end - 1, Math.min(y, last.y), 1.5,
                         Math.abs(y - last.y) + thick);
      context.fillRect(x, y, Math.max(1, end - x), thick);
      last = { y, wide, at };
      i++;
      if (end - x < 1)
        i = firstPiece(froms, timeline.time(Math.floor(x)), i);
    }
  }
}

// The first piece, from `low' on, that began before a time; they go from the
// end to the beginning.
function firstPiece(froms, time, low = 0) {
  let high = froms.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (froms[middle] >= time)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
