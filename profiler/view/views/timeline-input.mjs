// SPDX-License-Identifier: MIT
// The timeline's input: pointer, wheel, touch and keyboard.

import { spanFacts } from '../widgets/fact-lines.mjs';
import { spanName } from '../data/profile.mjs';
import { narrow } from '../model/model.mjs';
import { Pointers } from '../widgets/pointers.mjs';
import { FOLD_WIDTH } from './timeline-rows.mjs';

// The pixels below which a drag is not a stretch of time.
const BRUSH_SLACK = 4;

export class TimelineInput {
  constructor(timeline) {
    this.timeline = timeline;
    this.pane = timeline.pane;
    this.brushFrom = null;
    const { canvas } = this.pane;
    this.pointers = new Pointers(canvas, {
      drag: (...moved) => this.drag(...moved),
      pinch: (factor, x) => timeline.zoom(factor, this.timeAt(x)),
    });
    const on = (type, handler, options) =>
      canvas.addEventListener(type, handler, options);
    on('wheel', (event) => this.wheel(event), { passive: false });
    on('pointerdown', (event) => this.down(event));
    on('pointermove', (event) => this.hover(event));
    on('pointerup', (event) => this.up(event));
    on('pointercancel', () => this.cancel());
    on('pointerleave', () => timeline.tooltip.hide());
    on('keydown', (event) => this.key(event));
  }

  timeAt(clientX) {
    return this.timeline.time(this.pane.position({ clientX, clientY: 0 }).x);
  }

  // Vertical scrolling zooms at the pointer, horizontal scrolling pans; with
  // shift the picture scrolls.
  wheel(event) {
    const unit = event.deltaMode === 1 ? 20 : 1;
    if (event.shiftKey) {
      this.pane.box.scrollTop += (event.deltaY || event.deltaX) * unit;
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      this.timeline.pan(event.deltaX * unit / this.pane.width);
    } else {
      this.timeline.zoom(1.002 ** (event.deltaY * unit),
                         this.timeAt(event.clientX));
    }
    event.preventDefault();
  }

  down(event) {
    if (event.button !== 0)
      return;
    this.timeline.tooltip.hide();
    const place = this.pane.position(event);
    this.brushFrom = this.pointers.down.size === 1
      && (event.shiftKey || this.timeline.isAxis(place.y))
      ? this.timeline.time(place.x) : null;
  }

  drag(dx, dy, event) {
    if (this.brushFrom !== null) {
      this.brush(event);
      return;
    }
    this.timeline.pan(-dx / this.timeline.viewport().width);
    this.pane.box.scrollTop -= dy;
  }

  // Marks a stretch of time while the pointer is down.
  brush({ clientX }) {
    const { timeline } = this;
    const at = this.timeAt(clientX);
    const clamp = (time) => Math.max(0, Math.min(timeline.end, time));
    if (Math.abs(clientX - this.pointers.start.x) <= BRUSH_SLACK)
      return;
    timeline.brushed = [clamp(Math.min(this.brushFrom, at)),
                        clamp(Math.max(this.brushFrom, at))];
    timeline.pane.redraw();
  }

  endBrush() {
    const { timeline } = this;
    const range = timeline.brushed;
    timeline.brushed = null;
    this.brushFrom = null;
    if (range && range[1] - range[0] >= 1)
      timeline.brush(...range);
    else
      timeline.brush(0, timeline.end);
    timeline.pane.redraw();
  }

  up(event) {
    if (event.button !== 0)
      return;
    if (this.brushFrom !== null) {
      this.endBrush();
      return;
    }
    if (this.pointers.dragged)
      return;
    const place = this.pane.position(event);
    const lane = this.timeline.laneAt(place.y);
    if (place.x < FOLD_WIDTH && this.timeline.folded.size > 0) {
      if (lane)
        this.timeline.fold(this.timeline.groups.find((one) =>
          one.includes(lane)));
      return;
    }
    if (place.x < this.timeline.viewport().left) {
      if (lane)
        this.timeline.choose(lane.lanes[0], event.ctrlKey || event.metaKey);
      return;
    }
    const span = this.timeline.hit(place);
    if (span >= 0)
      this.timeline.select(span);
    else
      this.timeline.state.set({ span: -1 });
  }

  cancel() {
    this.brushFrom = this.timeline.brushed = null;
    this.pane.redraw();
  }

  hover(event) {
    const { timeline } = this;
    if (this.pointers.down.size > 0)
      return;
    const span = timeline.hit(this.pane.position(event));
    const place = this.pane.position(event);
    this.pane.canvas.style.cursor = timeline.isAxis(place.y) ? 'col-resize'
      : span >= 0 || place.x < timeline.viewport().left ? 'pointer' : 'grab';
    if (span < 0) {
      timeline.tooltip.hide();
      return;
    }
    const node = timeline.profile.spans.node[span];
    timeline.tooltip.show(event.clientX, event.clientY,
                          spanName(timeline.profile, span),
                          spanFacts(timeline.profile, span),
                          timeline.model.colours[node]);
  }

  key(event) {
    const { timeline } = this;
    const actions = {
      ArrowLeft: () => timeline.pan(-0.2), a: () => timeline.pan(-0.2),
      ArrowRight: () => timeline.pan(0.2), d: () => timeline.pan(0.2),
      ArrowUp: () => { this.pane.box.scrollTop -= 60; },
      ArrowDown: () => { this.pane.box.scrollTop += 60; },
      '+': () => timeline.zoom(0.5), w: () => timeline.zoom(0.5),
      '=': () => timeline.zoom(0.5),
      '-': () => timeline.zoom(2), s: () => timeline.zoom(2),
      0: () => timeline.show(0, timeline.end),
      ',': () => this.step(-1), '.': () => this.step(1),
      p: () => this.toParent(),
      l: () => this.toLane(false), L: () => this.toLane(true),
      Escape: () => timeline.state.get('span') >= 0
        ? timeline.state.set({ span: -1 })
        : narrow(timeline.state, { range: '', lanes: '' }),
    };
    if (event.ctrlKey || event.metaKey || event.altKey
        || !Object.hasOwn(actions, event.key))
      return;
    actions[event.key]();
    event.preventDefault();
  }

  // Moves to the next or previous span, in the order of lanes and times.
  step(by) {
    const count = this.timeline.profile.spans.count;
    const span = this.timeline.state.get('span') + by;
    if (count > 0)
      this.timeline.select(Math.max(0, Math.min(count - 1, span)));
  }

  toLane(more) {
    const { spans } = this.timeline.profile;
    const span = this.timeline.state.get('span');
    if (span >= 0 && span < spans.count)
      this.timeline.choose(spans.lane[span], more);
  }

  toParent() {
    const span = this.timeline.state.get('span');
    const parent = span >= 0 ? this.timeline.profile.parentOf(span) : -1;
    if (parent >= 0)
      this.timeline.select(parent);
  }
}
