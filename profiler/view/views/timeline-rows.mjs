// SPDX-License-Identifier: MIT
// Draws rows of spans.  Spans narrower than a pixel are merged, with all that
// end in the same pixel, into one pixel of their row's line, and the search
// for the next one skips them: a row costs at most as many steps as it has
// pixels, however many spans it has.  The lines of all rows are one small
// image, stretched to the height of each row: as rectangles they took most of
// the drawing time.

import { INK } from '../model/colour.mjs';
import { element } from '../widgets/dom.mjs';
import { spanName } from '../data/profile.mjs';

export const SPAN_HEIGHT = 18;
// The width of the signs that fold and unfold lanes, where any is folded.
export const FOLD_WIDTH = 20;

// Narrower than BOX goes into the line; wider than APART gets a gap to the
// next; from NAMED on there are names, in rows from READABLE on.
const APART = 3, BOX = 8, NAMED = 34;
export const READABLE = 14;

// An image's pixel, for any byte order.
function pixelOf(...bytes) {
  return new Uint32Array(Uint8Array.from(bytes).buffer)[0];
}

// view: the visible time, { from, to, left, width }.
export class RowPainter {
  constructor(pane, lanes, profile, model) {
    Object.assign(this, { pane, lanes, profile, model });
  }

  // places: [row, y, height] of each visible row.
  paint(places, view, theme) {
    const width = Math.ceil(view.width);
    const lines = this.makeLines(width, places.length);
    const lineOf = (i) => lines.subarray(i * width, (i + 1) * width);
    const painted = [];
    Object.assign(this, { theme, labels: [], colour: null });
    for (const [row, y, height] of places) {
      // High rows have a line between them.
      const gap = height < READABLE ? 0 : 1;
      const band = [y + gap, height - 2 * gap];
      if (this.fillLine(lineOf(painted.length).fill(0), row, band, view))
        painted.push(band);
    }
    if (this.pane.context.drawImage)
      this.stretch(painted, lines, view.left);
    else
      painted.forEach((band, i) => this.strokes(lineOf(i), view.left, band));
    this.writeLabels();
  }

  // Draws a line for each row, as an image if the target accepts one (the SVG
  // context does not).
  makeLines(width, height) {
    if (!this.pane.context.drawImage || width * height === 0)
      return new Uint32Array(width * height);
    // One for all frames: creating one takes longer than filling it.
    if (this.image?.width !== width || this.image.height < height) {
      this.image = new ImageData(width, height);
      this.canvas = element('canvas', { width, height });
    }
    return new Uint32Array(this.image.data.buffer);
  }

  // Sets the node seen at each pixel of a row, plus 1; 0: none.  Draws wide
  // spans at once.  Returns whether anything is left.
  fillLine(line, row, band, view) {
    const begins = this.lanes.begins[row], ends = this.lanes.ends[row];
    const nodes = this.lanes.nodes[row];
    const { from: seen, to, width } = view;
    const scale = width / (to - seen), step = 1 / scale;
    // The first pixel without a narrow span.
    let free = 0, any = false;
    for (let i = this.lanes.firstEnding(row, seen); i < ends.length;) {
      if (begins[i] >= to)
        break;
      const x = Math.max(0, (begins[i] - seen) * scale);
      const end = Math.min(width, (ends[i] - seen) * scale);
      const shown = nodes[i] + 1;
      if (end - x >= BOX) {
        this.box(nodes[i], view.left + x, band, end - x,
                 this.lanes.rows[row][i]);
        i++;
        continue;
      }
      any = true;
      if (end - x < 1.5) {
        // A span that began in a taken pixel ends in a later one.
        const pixel = Math.max(free, x | 0);
        const next = seen + (pixel + 1) * step;
        free = pixel + 1;
        line[pixel] = shown;
        i++;
        // It is usually alone in its pixel.
        if (i < ends.length && ends[i] <= next) {
          const after = this.lanes.firstEnding(row, next, i);
          line[pixel] = nodes[longest(begins, ends, i - 1, after)] + 1;
          i = after;
        }
        continue;
      }
      i++;
      const last = Math.ceil(end) - (end - x > APART ? 1 : 0);
      for (let at = x | 0; at < last; at++)
        line[at] = shown;
    }
    return any;
  }

  // Steps have their numbers, where these have room.
  box(node, x, [y, height], width, span) {
    const number = this.profile.spans.steps.get(span);
    this.fill(node, x, [y, height], width - 1);
    if (height < READABLE - 2 || width < NAMED && number === undefined)
      return;
    const name = spanName(this.profile, span);
    const isShort = number !== undefined
      && this.pane.textWidth(name) > width - 8;
    const margin = isShort ? 2 : 4;
    this.labels.push([node, isShort ? String(number) : name, x + margin,
                      y + height / 2, width - 2 * margin]);
  }

  fill(node, x, [y, height], width) {
    const { context } = this.pane;
    const faint = this.isFaint(node);
    const colour = this.model.colours[node];
    if (faint)
      context.globalAlpha = 0.25;
    // Most boxes have the previous one's colour.
    if (colour !== this.colour)
      context.fillStyle = this.colour = colour;
    context.fillRect(x, y, width, height);
    if (faint)
      context.globalAlpha = 1;
  }

  // The colours of a line's nodes, cached for one search.
  mixShades() {
    const { matched, colours } = this.model;
    if (this.shadesOf === matched)
      return;
    this.shadesOf = matched;
    this.shades = Uint32Array.from(['#', ...colours], (colour, i) => pixelOf(
      ...[1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)),
      i === 0 ? 0 : this.isFaint(i - 1) ? 64 : 255));
  }

  // Draws each line of the image over its row.
  stretch(bands, pixels, left) {
    if (bands.length === 0)
      return;
    this.mixShades();
    const { context } = this.pane;
    const { shades, image: { width } } = this;
    for (let i = 0; i < bands.length * width; i++)
      pixels[i] = shades[pixels[i]];
    this.canvas.getContext('2d').putImageData(this.image, 0, 0);
    context.imageSmoothingEnabled = false;
    bands.forEach(([y, height], i) => context.drawImage(
      this.canvas, 0, i, width, 1, left, y, width, height));
  }

  // Draws a line as rectangles.
  strokes(line, left, band) {
    for (let from = 0, to = 0; from < line.length; from = to) {
      while (to < line.length && line[to] === line[from])
        to++;
      if (line[from] > 0)
        this.fill(line[from] - 1, left + from, band, to - from);
    }
  }

  writeLabels() {
    const { context } = this.pane;
    for (const [node, ...label] of this.labels) {
      context.fillStyle = this.isFaint(node) ? this.theme.text : INK;
      this.pane.text(...label);
    }
  }

  isFaint(node) {
    return this.model.matched !== null && !this.model.matched[node];
  }
}

// The node with most time in a pixel, of the first few.
function longest(begins, ends, from, to) {
  let found = from;
  for (let i = from + 1; i < Math.min(to, from + 8); i++)
    if (ends[i] - begins[i] > ends[found] - begins[found])
      found = i;
  return found;
}
