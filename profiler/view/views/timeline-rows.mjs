// SPDX-License-Identifier: MIT
// Drawing rows of spans.  Whatever is narrower than a pixel goes, with all
// that ends in the same pixel, into one pixel of its row's line, and the
// search for what comes next jumps over it: a row costs at most as many
// steps as it has pixels, however many spans it holds.  The lines of all rows
// are one small image, each of them stretched to the height of its row: as
// rectangles they were what most of a picture's time went to.

import { INK } from '../model/colour.mjs';
import { element } from '../widgets/dom.mjs';

export const SPAN_HEIGHT = 18;

// What is narrower than BOX goes into the line; what is wider than APART is
// told by a pixel from what comes next; from NAMED on there are names.
const APART = 3, BOX = 8, NAMED = 34;

// As a pixel of an image, whatever the order of the machine's bytes.
function pixelOf(...bytes) {
  return new Uint32Array(Uint8Array.from(bytes).buffer)[0];
}

// view: { from, to, left, width } of the time that is seen.
export class RowPainter {
  constructor(pane, lanes, profile, model) {
    Object.assign(this, { pane, lanes, profile, model });
  }

  // places: [row, y] of each row that is seen.
  paint(places, view, theme) {
    const width = Math.ceil(view.width);
    const lines = this.makeLines(width, places.length);
    const lineOf = (i) => lines.subarray(i * width, (i + 1) * width);
    const painted = [];
    Object.assign(this, { theme, labels: [], colour: null });
    for (const [row, y] of places)
      if (this.fillLine(lineOf(painted.length).fill(0), row, y, view))
        painted.push(y);
    if (this.pane.context.drawImage)
      this.stretch(painted, lines, view.left);
    else
      painted.forEach((y, i) => this.strokes(lineOf(i), view.left, y));
    this.writeLabels();
  }

  // A line for each row, of an image if what is drawn into takes such:
  // what makes SVG does not.
  makeLines(width, height) {
    if (!this.pane.context.drawImage || width * height === 0)
      return new Uint32Array(width * height);
    // One for all frames: making one takes longer than filling it.
    if (this.image?.width !== width || this.image.height < height) {
      this.image = new ImageData(width, height);
      this.canvas = element('canvas', { width, height });
    }
    return new Uint32Array(this.image.data.buffer);
  }

  // Of each pixel of a row, the node that is seen there, and 1; 0: none.
  // What is wide enough is drawn at once.  Whether there is more.
  fillLine(line, row, y, view) {
    const begins = this.lanes.begins[row], ends = this.lanes.ends[row];
    const nodes = this.lanes.nodes[row];
    const { from: seen, to, width } = view;
    const scale = width / (to - seen), step = 1 / scale;
    // The first pixel that has nothing narrow yet.
    let free = 0, any = false;
    for (let i = this.lanes.firstEnding(row, seen); i < ends.length;) {
      if (begins[i] >= to)
        break;
      const x = Math.max(0, (begins[i] - seen) * scale);
      const end = Math.min(width, (ends[i] - seen) * scale);
      const shown = nodes[i] + 1;
      if (end - x >= BOX) {
        this.box(nodes[i++], view.left + x, y, end - x);
        continue;
      }
      any = true;
      if (end - x < 1.5) {
        // What began in a pixel that is taken ends in a later one.
        const pixel = Math.max(free, x | 0);
        const next = seen + (pixel + 1) * step;
        free = pixel + 1;
        line[pixel] = shown;
        i++;
        // Mostly it is alone in its pixel.
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

  box(node, x, y, width) {
    this.fill(node, x, y, width - 1);
    if (width >= NAMED)
      this.labels.push([node, x + 4, y + SPAN_HEIGHT / 2, width - 8]);
  }

  fill(node, x, y, width) {
    const { context } = this.pane;
    const faint = this.isFaint(node);
    const colour = this.model.colours[node];
    if (faint)
      context.globalAlpha = 0.25;
    // Most boxes have the colour of the one before.
    if (colour !== this.colour)
      context.fillStyle = this.colour = colour;
    context.fillRect(x, y + 1, width, SPAN_HEIGHT - 2);
    if (faint)
      context.globalAlpha = 1;
  }

  // What a line's numbers look like, as long as the same is searched for.
  mixShades() {
    const { matched, colours } = this.model;
    if (this.shadesOf === matched)
      return;
    this.shadesOf = matched;
    this.shades = Uint32Array.from(['#', ...colours], (colour, i) => pixelOf(
      ...[1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)),
      i === 0 ? 0 : this.isFaint(i - 1) ? 64 : 255));
  }

  // Each line of the image onto its row.
  stretch(tops, pixels, left) {
    if (tops.length === 0)
      return;
    this.mixShades();
    const { context } = this.pane;
    const { shades, image: { width } } = this;
    for (let i = 0; i < tops.length * width; i++)
      pixels[i] = shades[pixels[i]];
    this.canvas.getContext('2d').putImageData(this.image, 0, 0);
    context.imageSmoothingEnabled = false;
    tops.forEach((y, i) => context.drawImage(
      this.canvas, 0, i, width, 1, left, y + 1, width, SPAN_HEIGHT - 2));
  }

  // A line as rectangles.
  strokes(line, left, y) {
    for (let from = 0, to = 0; from < line.length; from = to) {
      while (to < line.length && line[to] === line[from])
        to++;
      if (line[from] > 0)
        this.fill(line[from] - 1, left + from, y, to - from);
    }
  }

  writeLabels() {
    const { context } = this.pane;
    for (const [node, ...where] of this.labels) {
      context.fillStyle = this.isFaint(node) ? this.theme.text : INK;
      this.pane.text(this.profile.names[node], ...where);
    }
  }

  isFaint(node) {
    return this.model.matched !== null && !this.model.matched[node];
  }
}

// What takes most of a pixel, of the first few in it.
function longest(begins, ends, from, to) {
  let found = from;
  for (let i = from + 1; i < Math.min(to, from + 8); i++)
    if (ends[i] - begins[i] > ends[found] - begins[found])
      found = i;
  return found;
}
