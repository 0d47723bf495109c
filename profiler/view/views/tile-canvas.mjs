// SPDX-License-Identifier: MIT
// One projection of a volume's tiles: the array's origin is at the bottom
// left, a cell as dark (in the dark theme: as light) as its value.

import { element } from '../widgets/dom.mjs';
import { FONT_PX, themeColours } from '../widgets/pane.mjs';
import { isDarkGround } from '../widgets/theme.mjs';

// From low to high, for the light theme; reversed for the dark one.  One hue,
// so that the order is visible to everyone.
const TILE_SHADES = ['#d5e6f6', '#9cc8ea', '#5aa0d8', '#2b74b8', '#164f8c',
                '#0a2d5c'];
const BOX_COLOUR = '#d55e00';

// Space for the names of axes.
const AXIS_ROOM = 18;

// The colour of a share of the maximum, 0 < share <= 1.
export function tileShade(share, isDark) {
  const n = TILE_SHADES.length;
  const at = Math.min(n - 1, Math.floor(share * n));
  return TILE_SHADES[isDark ? n - 1 - at : at];
}

export class TileCanvas {
  // choose (cell), point (event, cell; -1: none).
  constructor({ label, choose, point }) {
    this.cursor = -1;
    this.canvas = element('canvas', {
      tabindex: 0, role: 'application', 'aria-roledescription': 'chart',
      'aria-label': label,
      onclick: (event) => choose(this.hit(event)),
      onpointermove: (event) => point(event, this.hit(event)),
      onpointerleave: (event) => point(event, -1),
      onkeydown: (event) => this.key(event, choose),
      onfocus: () => this.draw(), onblur: () => this.draw(),
    });
  }

  // projected: from projectTiles; names: of the row's and column's axis;
  // boxes: rectangles in voxels; scale: pixels per voxel.
  show(projected, names, boxes, scale) {
    Object.assign(this, { projected, names, boxes, scale });
    const ratio = devicePixelRatio || 1;
    this.width = Math.max(1, Math.round(projected.width * scale));
    this.height = Math.max(1, Math.round(projected.height * scale));
    const { style } = this.canvas;
    style.width = this.width + AXIS_ROOM + 'px';
    style.height = this.height + AXIS_ROOM + 'px';
    this.canvas.width = Math.round((this.width + AXIS_ROOM) * ratio);
    this.canvas.height = Math.round((this.height + AXIS_ROOM) * ratio);
    this.draw();
  }

  // The marked cell, -1: none.
  mark(cell) {
    this.cursor = cell;
    this.draw();
  }

  // Left, top, width and height of a rectangle in voxels.
  place(column, row, width, height) {
    const { scale, projected } = this;
    const right = Math.min(projected.width, column + width);
    const upper = Math.min(projected.height, row + height);
    return [AXIS_ROOM + column * scale, this.height - upper * scale,
            (right - column) * scale, (upper - row) * scale];
  }

  placeOfCell(cell) {
    const { columns, cellWidth, cellHeight } = this.projected;
    return this.place(cell % columns * cellWidth,
                      Math.floor(cell / columns) * cellHeight,
                      cellWidth, cellHeight);
  }

  draw() {
    if (!this.projected)
      return;
    const context = this.canvas.getContext('2d');
    const ratio = devicePixelRatio || 1;
    const theme = themeColours();
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width + AXIS_ROOM, this.height + AXIS_ROOM);
    context.fillStyle = theme.sunken;
    context.fillRect(AXIS_ROOM, 0, this.width, this.height);
    this.drawGrid(context, theme);
    this.drawCells(context);
    this.drawBoxes(context, theme);
    context.strokeStyle = theme.border;
    context.lineWidth = 1;
    context.strokeRect(AXIS_ROOM + 0.5, 0.5, this.width - 1, this.height - 1);
    this.drawCursor(context, theme);
    this.drawAxes(context, theme);
  }

  drawGrid(context, theme) {
    const { rows, columns, cellWidth, cellHeight } = this.projected;
    context.fillStyle = theme.border;
    context.globalAlpha = 0.6;
    if (cellWidth * this.scale >= 5)
      for (let i = 1; i < columns; i++)
        context.fillRect(AXIS_ROOM + i * cellWidth * this.scale, 0, 0.5,
                         this.height);
    if (cellHeight * this.scale >= 5)
      for (let i = 1; i < rows; i++)
        context.fillRect(AXIS_ROOM, this.height - i * cellHeight * this.scale,
                         this.width, 0.5);
    context.globalAlpha = 1;
  }

  drawCells(context) {
    const { cells, most } = this.projected;
    const isDark = isDarkGround();
    for (const [cell, value] of cells) {
      const [x, y, width, height] = this.placeOfCell(cell);
      const gap = Math.min(width, height) >= 5 ? 0.5 : 0;
      context.fillStyle = tileShade(value / most, isDark);
      context.fillRect(x + gap, y + gap, Math.max(1, width - gap),
                       Math.max(1, height - gap));
    }
  }

  drawBoxes(context, theme) {
    for (const box of this.boxes) {
      const [x, y, width, height] = this.place(...box);
      for (const [colour, wide] of [[theme.panel, 3], [BOX_COLOUR, 1.5]]) {
        context.strokeStyle = colour;
        context.lineWidth = wide;
        context.strokeRect(x, y, Math.max(1, width), Math.max(1, height));
      }
    }
  }

  drawCursor(context, theme) {
    if (this.cursor < 0)
      return;
    const [x, y, width, height] = this.placeOfCell(this.cursor);
    const grow = Math.max(0, 6 - Math.min(width, height)) / 2;
    context.strokeStyle = theme.text;
    context.lineWidth = 2;
    context.strokeRect(x - grow, y - grow, width + 2 * grow,
                       height + 2 * grow);
  }

  drawAxes(context, theme) {
    context.font = FONT_PX + 'px system-ui, sans-serif';
    context.fillStyle = theme.muted;
    context.textBaseline = 'middle';
    context.fillText(this.names.column + ' \u2192', AXIS_ROOM,
                     this.height + AXIS_ROOM / 2 + 1);
    context.save();
    context.translate(AXIS_ROOM / 2 - 1, this.height);
    context.rotate(-Math.PI / 2);
    context.fillText(this.names.row + ' \u2192', 0, 0);
    context.restore();
  }

  // The cell under a pointer, or -1.
  hit(event) {
    const box = this.canvas.getBoundingClientRect();
    const { rows, columns, cellWidth, cellHeight } = this.projected;
    const column = Math.floor((event.clientX - box.left - AXIS_ROOM)
                              / this.scale / cellWidth);
    const row = Math.floor((box.top + this.height - event.clientY)
                           / this.scale / cellHeight);
    return column >= 0 && column < columns && row >= 0 && row < rows
      ? row * columns + column : -1;
  }

  key(event, choose) {
    if (!this.projected)
      return;
    const { rows, columns } = this.projected;
    const at = Math.max(0, this.cursor);
    let row = Math.floor(at / columns), column = at % columns;
    switch (event.key) {
      case 'ArrowLeft': column--; break;
      case 'ArrowRight': column++; break;
      case 'ArrowUp': row++; break;
      case 'ArrowDown': row--; break;
      default: return;
    }
    event.preventDefault();
    row = Math.max(0, Math.min(rows - 1, row));
    column = Math.max(0, Math.min(columns - 1, column));
    choose(row * columns + column);
  }
}
