// SPDX-License-Identifier: MIT
// Members of a group as dots in the order of time, higher is slower, above
// the band of their middle half and the line of their median.

import { Pane, themeColours } from '../widgets/pane.mjs';

const STRIP_HEIGHT = 150;
const STRIP_LEFT = 74;
const STRIP_EDGE = 16;

// From this number on only the highest dot of each pixel is drawn.
const MANY = 2000;

export class Strip {
  // label: for screen readers; choose (i); lines (i): [title, lines] of the
  // tooltip.
  constructor({ label, tooltip, choose, lines }) {
    Object.assign(this, { tooltip, choose, lines, values: [] });
    this.pane = new Pane({ label, className: 'strip', height: STRIP_HEIGHT,
                           draw: (...where) => this.draw(...where) });
    this.listen(this.pane.canvas);
  }

  // values; brief: of timesInBrief; isSlow (i); chosen: or -1; format (value).
  show(shown) {
    Object.assign(this, shown);
    this.pane.redraw();
  }

  x(i, width) {
    return STRIP_LEFT + STRIP_EDGE + (width - STRIP_LEFT - 2 * STRIP_EDGE)
      * (this.values.length > 1 ? i / (this.values.length - 1) : 0.5);
  }

  y(value, height) {
    const { most } = this.brief;
    return height - STRIP_EDGE - (height - 2 * STRIP_EDGE)
      * (most > 0 ? value / most : 0);
  }

  // The dots that are drawn.
  dots(width) {
    const { values, chosen } = this;
    const all = Array.from(values, (_, i) => i);
    if (all.length < MANY)
      return all;
    const highest = new Map();
    for (const i of all) {
      const at = Math.round(this.x(i, width));
      if (!(values[highest.get(at)] >= values[i]))
        highest.set(at, i);
    }
    return [...highest.values(), ...chosen < 0 ? [] : [chosen]];
  }

  draw(context, width, height) {
    const { values, brief, chosen } = this;
    if (!brief)
      return;
    const theme = themeColours();
    const { lower, upper, median, most } = brief;
    context.fillStyle = theme.sunken;
    context.fillRect(STRIP_LEFT, this.y(upper, height), width,
                     Math.max(1, this.y(lower, height)
                              - this.y(upper, height)));
    context.fillStyle = theme.accent;
    context.fillRect(STRIP_LEFT, this.y(median, height) - 0.5, width, 1);
    this.drawScale(context, theme, height, [0, median, most]);
    this.drawEnds(context, width, height);
    for (const i of this.dots(width)) {
      context.beginPath();
      context.arc(this.x(i, width), this.y(values[i], height),
                  i === chosen ? 6 : values.length > 300 ? 2 : 4, 0, 7);
      context.fillStyle = this.isSlow(i) ? '#d55e00' : theme.accent;
      context.fill();
      if (i === chosen) {
        context.strokeStyle = theme.text;
        context.lineWidth = 2;
        context.stroke();
      }
    }
  }

  // Values at the left, where they do not overlap.
  drawScale(context, theme, height, values) {
    context.fillStyle = theme.muted;
    context.textAlign = 'right';
    let free = Infinity;
    for (const value of values) {
      const y = this.y(value, height);
      if (y > free)
        continue;
      context.fillText(this.format(value), STRIP_LEFT - 8, y);
      free = y - 14;
    }
    context.textAlign = 'left';
  }

  // The names of the first and the last.
  drawEnds(context, width, height) {
    const room = (width - STRIP_LEFT) / 2 - STRIP_EDGE;
    const write = (i, x) => this.pane.text(this.lines(i)[0], x, height - 7,
                                           room);
    write(0, STRIP_LEFT + STRIP_EDGE / 2);
    context.textAlign = 'right';
    write(this.values.length - 1, width - STRIP_EDGE / 2);
    context.textAlign = 'left';
  }

  hit(event) {
    const { x } = this.pane.position(event);
    const last = this.values.length - 1;
    const at = Math.round((x - STRIP_LEFT - STRIP_EDGE)
      / (this.pane.width - STRIP_LEFT - 2 * STRIP_EDGE) * last);
    return Math.max(0, Math.min(last, at || 0));
  }

  listen(canvas) {
    canvas.addEventListener('click', (event) =>
      this.choose(this.hit(event)));
    canvas.addEventListener('pointerleave', () => this.tooltip.hide());
    canvas.addEventListener('pointermove', (event) =>
      this.tooltip.show(event.clientX, event.clientY,
                        ...this.lines(this.hit(event)), 'transparent'));
    canvas.addEventListener('keydown', (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (by === undefined)
        return;
      this.choose(this.chosen < 0 ? 0 : Math.max(0,
        Math.min(this.values.length - 1, this.chosen + by)));
      event.preventDefault();
    });
  }
}
