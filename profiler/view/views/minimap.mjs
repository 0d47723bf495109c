// SPDX-License-Identifier: MIT
// All of the time above the timeline, a lane's band a line, with the visible
// part framed: dragging the frame moves it, dragging beside it marks another.

import { element } from '../widgets/dom.mjs';
import { inSlices } from '../data/slices.mjs';
import { Pane, themeColours } from '../widgets/pane.mjs';
import { Pointers } from '../widgets/pointers.mjs';
import { RowPainter } from './timeline-rows.mjs';

const MAP_HEIGHT = 30;

export class Minimap {
  constructor(timeline) {
    this.timeline = timeline;
    this.lanes = timeline.lanes.lanes;
    // The keys of the timeline do the same.
    this.pane = new Pane({
      label: 'all', className: 'minimap', height: MAP_HEIGHT,
      draw: (...where) => this.draw(...where),
    });
    this.canvas = this.pane.canvas;
    this.canvas.tabIndex = -1;
    this.canvas.ariaHidden = 'true';
    this.frame = element('div', { class: 'frame', hidden: true });
    this.pane.box.append(this.frame);
    this.painter = new RowPainter(this.pane, timeline.lanes, timeline.profile,
                                  timeline.model);
    this.pointers = new Pointers(this.canvas, {
      drag: (dx, dy, event) => this.drag(event), pinch: () => {},
    });
    this.canvas.addEventListener('pointerdown', (event) => this.down(event));
    this.canvas.addEventListener('pointerup', (event) => this.up(event));
    inSlices(this.prepare(), () => {
      this.isReady = true;
      this.pane.redraw();
    });
  }

  // Makes the bands, in steps, so that the page opens sooner.
  * prepare() {
    for (const lane of this.lanes) {
      this.timeline.lanes.bandOf(lane);
      yield;
    }
    return true;
  }

  view() {
    const { end } = this.timeline;
    return { ...this.timeline.viewport(), from: 0, to: end };
  }

  draw(context, width, height) {
    if (!this.isReady)
      return;
    const theme = themeColours();
    this.follow();
    const step = height / this.lanes.length;
    this.painter.paint(this.lanes.map((lane, i) =>
      [this.timeline.lanes.bandOf(lane), i * step,
       Math.max(1, Math.min(step, 8))]),
                       this.view(), theme);
    context.fillStyle = theme.muted;
    this.pane.text('all', 8, height / 2, 90);
  }

  // Shows what the timeline shows.
  follow() {
    const { from, to, end } = this.timeline;
    const { left, width } = this.view();
    this.frame.hidden = from <= 0 && to >= end;
    this.frame.style.left = left + from / end * width + 'px';
    this.frame.style.width = (to - from) / end * width + 'px';
  }

  time({ clientX }) {
    const { left, width } = this.view();
    const { x } = this.pane.position({ clientX, clientY: 0 });
    return Math.max(0, Math.min(1, (x - left) / width)) * this.timeline.end;
  }

  down(event) {
    const { from, to } = this.timeline;
    this.begun = this.time(event);
    this.grip = !this.frame.hidden && this.begun >= from && this.begun <= to
      ? this.begun - from : null;
  }

  drag(event) {
    const { from, to } = this.timeline;
    const time = this.time(event);
    if (this.grip !== null)
      this.timeline.show(time - this.grip, time - this.grip + to - from);
    else
      this.timeline.show(Math.min(this.begun, time),
                         Math.max(this.begun, time));
  }

  // A click centres the visible part there.
  up({ button }) {
    const half = (this.timeline.to - this.timeline.from) / 2;
    if (button === 0 && !this.pointers.dragged)
      this.timeline.show(this.begun - half, this.begun + half);
  }
}
