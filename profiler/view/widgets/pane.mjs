// SPDX-License-Identifier: MIT
// A canvas as large as its window onto a picture that may be much higher:
// browsers refuse canvases above some 32,000 pixels.  An empty element of the
// picture's height makes the scroll bar; the canvas is sticky.

import { element } from './dom.mjs';
import { SvgContext } from './svg-context.mjs';

export const FONT_PX = 12;

// The theme's colours by the names of their CSS properties.
export function themeColours() {
  const style = getComputedStyle(document.documentElement);
  const colours = {};
  for (const name of ['text', 'muted', 'panel', 'border', 'accent', 'sunken',
                      'critical'])
    colours[name] = style.getPropertyValue('--' + name).trim();
  return colours;
}

// The pane of a canvas.
const panes = new WeakMap();

export function paneOf(canvas) {
  return panes.get(canvas);
}

export class Pane {
  // draw (context, width, height, scrollTop) paints everything; label
  // describes the canvas to screen readers.
  constructor({ label, draw, height, className }) {
    this.draw = draw;
    this.canvas = element('canvas', {
      tabindex: 0, role: 'application', 'aria-label': label,
      'aria-roledescription': 'chart',
    });
    panes.set(this.canvas, this);
    this.spacer = element('div', { class: 'spacer' });
    this.box = element('div', { class: 'pane ' + className }, this.canvas,
                       this.spacer);
    this.width = this.height = 0;
    this.pending = false;
    this.widths = new Map();
    this.setHeight(height);
    this.box.addEventListener('scroll', () => this.redraw());
    new ResizeObserver(() => this.resize()).observe(this.box);
  }

  // The box is as high as the picture, up to the style's limit.
  setHeight(pictureHeight) {
    this.pictureHeight = pictureHeight;
    this.box.style.height = pictureHeight + 'px';
    this.resize();
  }

  resize() {
    this.width = this.box.clientWidth;
    this.height = this.box.clientHeight;
    const ratio = devicePixelRatio || 1;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.width = this.width + 'px';
    this.canvas.style.height = this.height + 'px';
    this.spacer.style.height =
      Math.max(0, this.pictureHeight - this.height) + 'px';
    this.redraw();
  }

  // Draws once before the next frame, however often it is requested.
  redraw() {
    if (this.pending)
      return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      if (this.width > 0 && this.height > 0)
        this.paint();
    });
  }

  paint(canvas = this.canvas) {
    const context = canvas.getContext('2d');
    const ratio = devicePixelRatio || 1;
    this.context = context;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.font = FONT_PX + 'px system-ui, sans-serif';
    context.textBaseline = 'middle';
    this.draw(context, this.width, this.height, this.box.scrollTop);
  }

  // The whole picture, not only the visible part.
  svg() {
    const { context, height } = this;
    this.context = new SvgContext(this.canvas.getContext('2d'),
                                  FONT_PX + 'px system-ui, sans-serif');
    this.height = this.pictureHeight;
    this.draw(this.context, this.width, this.height, 0);
    const drawn = this.context.text();
    Object.assign(this, { context, height });
    return drawn;
  }

  // Text in a width: whole, its first words and an ellipsis, or nothing if the
  // first word does not fit.
  text(text, x, y, width) {
    let shown = text;
    const full = this.textWidth(text);
    if (full > width) {
      const fitting = Math.floor(text.length * (width - 10) / full);
      const words = text.slice(0, fitting + 1).replace(/\s*\S*$/, '');
      if (!/[\p{L}\p{N}]/u.test(words))
        return;
      shown = words + '\u2026';
    }
    this.context.fillText(shown, x, y);
  }

  textWidth(text) {
    let width = this.widths.get(text);
    if (width === undefined) {
      width = this.context.measureText(text).width;
      this.widths.set(text, width);
    }
    return width;
  }

  // The pointer's place in the picture.
  position(event) {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left,
             y: event.clientY - box.top + this.box.scrollTop };
  }

  // Scrolls so that a part of the picture is visible.
  reveal(top, bottom) {
    if (top < this.box.scrollTop)
      this.box.scrollTop = top;
    else if (bottom > this.box.scrollTop + this.height)
      this.box.scrollTop = bottom - this.height;
  }
}
