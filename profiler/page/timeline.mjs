// SPDX-License-Identifier: MIT
// The timeline: threads, then rows of requests, then gauges, on one axis of
// time.  A selected span shows by an arrow who asked for it.

import { element, button } from './dom.mjs';
import { Pane, themeColours } from './pane.mjs';
import { AXIS_HEIGHT, drawAxis } from './axis.mjs';
import { GAUGE_HEIGHT, splitSamples, drawGauge } from './gauges.mjs';
import { Lanes } from './lanes.mjs';
import { RowPainter, SPAN_HEIGHT } from './timeline-rows.mjs';
import { TimelineInput } from './timeline-input.mjs';

const GUTTER = 150;
const GAP = 6;
const MIN_SPAN_NS = 20;

export class Timeline {
  constructor({ profile, state, model, tooltip }) {
    Object.assign(this, { profile, state, model, tooltip });
    this.lanes = new Lanes(profile);
    this.gauges = splitSamples(profile);
    this.end = Math.max(profile.end, 1);
    this.from = 0;
    this.to = this.end;
    this.placeRows();
    this.pane = new Pane({
      label: 'Timeline of ' + this.lanes.lanes.length + ' lanes. Left and '
        + 'right move, plus and minus zoom, 0 shows all, comma and full stop '
        + 'go to the span before and after, p to who asked for it.',
      className: 'timeline', height: this.pictureHeight,
      draw: (...where) => this.draw(...where),
    });
    this.painter = new RowPainter(this.pane, this.lanes, profile, model);
    this.input = new TimelineInput(this);
    this.element = element('div', {}, this.buttons(), this.pane.box);
  }

  update() {
    this.pane.redraw();
  }

  buttons() {
    return element('div', { class: 'tools' },
      button('Zoom in', () => this.zoom(0.5)),
      button('Zoom out', () => this.zoom(2)),
      button('Show all', () => this.show(0, this.end)),
      element('span', { class: 'hint' },
              'Wheel zooms, dragging moves, a click selects.'));
  }

  placeRows() {
    let y = AXIS_HEIGHT + GAP;
    this.tops = new Float64Array(this.lanes.rows.length);
    for (const lane of this.lanes.lanes) {
      lane.top = y;
      for (let i = 0; i < lane.height; i++, y += SPAN_HEIGHT)
        this.tops[lane.row + i] = y;
      lane.bottom = y;
      y += GAP;
    }
    for (const gauge of this.gauges) {
      gauge.top = y;
      y += GAUGE_HEIGHT;
    }
    this.pictureHeight = y;
  }

  // The time that is seen, and where.
  viewport() {
    return { from: this.from, to: this.to, left: GUTTER,
             width: Math.max(1, this.pane.width - GUTTER) };
  }

  draw(context, width, height, scroll) {
    const view = this.viewport();
    const theme = themeColours();
    context.save();
    context.beginPath();
    context.rect(0, AXIS_HEIGHT, width, height - AXIS_HEIGHT);
    context.clip();
    for (const lane of this.lanes.lanes)
      if (lane.bottom > scroll && lane.top < scroll + height)
        this.drawLane(context, theme, lane, view, scroll, height);
    for (const gauge of this.gauges)
      drawGauge(this.pane, theme, gauge, gauge.top - scroll, view);
    this.drawSelection(context, theme, view, scroll);
    context.restore();
    drawAxis(this.pane, theme, view);
  }

  drawLane(context, theme, lane, view, scroll, height) {
    context.fillStyle = theme.border;
    context.fillRect(0, lane.bottom - scroll + GAP / 2 - 1, view.left
                     + view.width, 1);
    context.fillStyle = lane.isAsync ? theme.muted : theme.text;
    this.pane.text(lane.name, 8,
                   Math.max(lane.top - scroll, AXIS_HEIGHT)
                   + SPAN_HEIGHT / 2, GUTTER - 16);
    for (let i = 0; i < lane.height; i++) {
      const y = this.tops[lane.row + i] - scroll;
      if (y + SPAN_HEIGHT > 0 && y < height)
        this.painter.draw(lane.row + i, y, view, theme);
    }
  }

  x(time) {
    const view = this.viewport();
    return view.left + (time - view.from) / (view.to - view.from)
      * view.width;
  }

  // Clipped to some distance from what is seen: canvases lose precision far
  // out.
  clampedX(time) {
    return Math.max(-1e4, Math.min(1e5, this.x(time)));
  }

  drawSelection(context, theme, view, scroll) {
    const span = this.state.get('span');
    if (!(span >= 0 && span < this.profile.spans.count))
      return;
    context.save();
    context.beginPath();
    context.rect(view.left, 0, view.width, this.pane.height);
    context.clip();
    const parent = this.profile.parentOf(span);
    this.outline(context, theme.text, span, scroll);
    if (parent >= 0) {
      this.outline(context, theme.accent, parent, scroll);
      this.arrow(context, theme, parent, span, scroll);
    }
    context.restore();
  }

  outline(context, colour, span, scroll) {
    const { begin, duration } = this.profile.spans;
    const x = this.clampedX(begin[span]);
    const end = this.clampedX(begin[span] + duration[span]);
    context.strokeStyle = colour;
    context.lineWidth = 2;
    context.strokeRect(x, this.tops[this.lanes.rowOf(span)] - scroll + 1,
                       Math.max(2, end - x), SPAN_HEIGHT - 2);
  }

  // From where the parent handed the work on to where it began.
  arrow(context, theme, parent, span, scroll) {
    const { begin, submitted, lane } = this.profile.spans;
    if (lane[parent] === lane[span])
      return;
    const y0 = this.tops[this.lanes.rowOf(parent)] + SPAN_HEIGHT / 2 - scroll;
    const y1 = this.tops[this.lanes.rowOf(span)] + SPAN_HEIGHT / 2 - scroll;
    const x0 = this.clampedX(Math.min(submitted[span], begin[span]));
    const x1 = this.clampedX(begin[span]);
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

  // The time at a place of the picture.
  time(x) {
    const view = this.viewport();
    return view.from + (x - view.left) / view.width * (view.to - view.from);
  }

  // Show a stretch of time, inside of what there is.
  show(from, to) {
    const span = Math.min(Math.max(to - from, MIN_SPAN_NS), this.end);
    this.from = Math.max(0, Math.min(from, this.end - span));
    this.to = this.from + span;
    this.pane.redraw();
  }

  // Narrow or widen by a factor; what is at a time stays where it is.
  zoom(factor, at = (this.from + this.to) / 2) {
    this.show(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }

  pan(share) {
    const by = (this.to - this.from) * share;
    this.show(this.from + by, this.to + by);
  }

  hit({ x, y }) {
    if (x < GUTTER || y - this.pane.box.scrollTop < AXIS_HEIGHT)
      return -1;
    const lane = this.lanes.lanes.find((one) =>
      y >= one.top && y < one.bottom);
    if (!lane)
      return -1;
    const row = lane.row + Math.floor((y - lane.top) / SPAN_HEIGHT);
    const view = this.viewport();
    return this.lanes.at(row, this.time(x),
                         3 * (view.to - view.from) / view.width);
  }

  // Select a span, and move so that it is seen.
  select(span) {
    const { begin, duration, node } = this.profile.spans;
    this.state.set({ span, node: node[span] });
    const top = this.tops[this.lanes.rowOf(span)];
    this.pane.reveal(top - AXIS_HEIGHT, top + SPAN_HEIGHT);
    const end = begin[span] + duration[span];
    if (end < this.from || begin[span] > this.to) {
      const half = (this.to - this.from) / 2;
      const middle = begin[span] + Math.min(duration[span], half) / 2;
      this.show(middle - half, middle + half);
    }
  }
}

export const timelineView = {
  id: 'timeline', label: 'Timeline',
  about: 'Threads, requests and counters on one axis of time',
  needs: (profile) => profile.spans.count > 0,
  keys: [['a d', 'Move'], ['w s', 'Zoom in and out'], ['0', 'Show all'],
         [', .', 'To the span before, or after'],
         ['p', 'To the span that asked for this one']],
  make: (shared) => new Timeline(shared),
};
