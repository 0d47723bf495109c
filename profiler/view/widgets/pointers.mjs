// SPDX-License-Identifier: MIT
// Pointers on a canvas, by mouse, pen or finger: one that moves drags, two
// pinch, and one that hardly moves clicks.

// The pixels that a click may move.
const CLICK_SLACK = 4;

export class Pointers {
  // drag (dx, dy, event); pinch (factor, clientX): zoom by a factor around a
  // place.
  constructor(canvas, { drag, pinch }) {
    Object.assign(this, { canvas, drag, pinch, dragged: false });
    this.down = new Map();
    const on = (type, handler) => canvas.addEventListener(type, handler);
    on('pointerdown', (event) => this.begin(event));
    on('pointermove', (event) => this.move(event));
    on('pointerup', (event) => this.down.delete(event.pointerId));
    on('pointercancel', (event) => this.down.delete(event.pointerId));
  }

  begin({ button, pointerId, clientX: x, clientY: y }) {
    if (button !== 0)
      return;
    this.canvas.setPointerCapture(pointerId);
    this.down.set(pointerId, { x, y });
    this.start = { x, y };
    this.dragged = this.down.size > 1;
  }

  move(event) {
    const last = this.down.get(event.pointerId);
    if (!last)
      return;
    const { clientX: x, clientY: y } = event;
    this.dragged ||= Math.abs(x - this.start.x) > CLICK_SLACK
      || Math.abs(y - this.start.y) > CLICK_SLACK;
    if (!this.dragged)
      return;
    if (this.down.size > 1)
      this.spread(x, last);
    else
      this.drag(x - last.x, y - last.y, event);
    Object.assign(last, { x, y });
  }

  spread(x, last) {
    const other = [...this.down.values()].find((one) => one !== last);
    const apart = (at) => Math.max(10, Math.abs(at - other.x));
    this.pinch(apart(last.x) / apart(x), (x + other.x) / 2);
  }
}
