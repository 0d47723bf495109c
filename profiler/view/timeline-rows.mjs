// SPDX-License-Identifier: MIT
// Drawing rows of spans.  Whatever is narrower than a pixel goes, with all
// that ends in the same pixel, into one pixel of its row's line, and the
// search for what comes next jumps over it: a row costs at most as many
// steps as it has pixels, however many spans it holds.  The lines of all rows
// are one small image, each of them stretched to the height of its row: as
// rectangles they were what most of a picture's time went to.

import { INK } from './colour.mjs';
import { element } from './dom.mjs';

export const SPAN_HEIGHT = 18;

// What is narrower than BOX goes into the line; what is wider than APART is
// told by a pixel from what comes next; from NAMED on there are names.
const APART = 3, BOX = 8, NAMED = 34;

// As a pixel of an image, whatever the order of the machine's bytes.
function pixelOf(...bytes) {
  return new Uint32Array(Uint8Array.from(bytes).buffer)[0];
}

const FAINT = pixelOf(255, 255, 255, 64);

// view: { from, to, left, width } of the time that is seen.
export class RowPainter {
  constructor(pane, lanes, profile, model) {
    Object.assign(this, { pane, lanes, profile, model });
    this.pixels = Uint32Array.from(model.colours, (colour) => pixelOf(
      ...[1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16)), 255));
  }

  // places: [row, y] of each row that is seen.
  paint(places, view, theme) {
    const width = Math.ceil(view.width);
    const line = new Uint32Array(width);
    const image = this.makeImage(width, places.length);
    const pixels = image && new Uint32Array(image.data.buffer);
    Object.assign(this, { theme, labels: [], colour: null });
    places.forEach(([row, y], i) => {
      this.fillLine(line.fill(0), row, y, view);
      if (image)
        this.fillPixels(pixels, i * width, line);
      else
        this.strokes(line, view.left, y);
    });
    if (image)
      this.stretch(image, places, view.left);
    this.writeLabels();
  }

  // null: what is drawn into takes no images, as what makes SVG.
  makeImage(width, height) {
    return this.pane.context.drawImage && width * height > 0
      ? new ImageData(width, height) : null;
  }

  // Of each pixel of a row, the node that is seen there, and 1; 0: none.
  // What is wide enough is drawn at once.
  fillLine(line, row, y, view) {
    const spans = this.lanes.rows[row];
    const begins = this.lanes.begins[row], ends = this.lanes.ends[row];
    const { node } = this.profile.spans;
    const scale = view.width / (view.to - view.from);
    // The first pixel that has nothing narrow yet.
    let free = 0;
    for (let i = this.lanes.firstEnding(row, view.from); i < spans.length;) {
      if (begins[i] >= view.to)
        break;
      const x = Math.max(0, (begins[i] - view.from) * scale);
      const end = Math.min(view.width, (ends[i] - view.from) * scale);
      if (end - x >= BOX) {
        this.box(node[spans[i]], view.left + x, y, end - x);
        i++;
        continue;
      }
      if (end - x >= 1.5) {
        const last = Math.ceil(end) - (end - x > APART ? 1 : 0);
        for (let at = Math.floor(x); at < last; at++)
          line[at] = node[spans[i]] + 1;
        i++;
        continue;
      }
      // What began in a pixel that is taken ends in a later one.
      const pixel = Math.max(free, Math.floor(x));
      const next = view.from + (pixel + 1) / scale;
      const after = Math.max(i + 1, this.lanes.firstEnding(row, next, i));
      line[pixel] = node[spans[longest(begins, ends, i, after)]] + 1;
      free = pixel + 1;
      i = after;
    }
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

  fillPixels(pixels, from, line) {
    for (let x = 0; x < line.length; x++)
      if (line[x] > 0) {
        const node = line[x] - 1;
        pixels[from + x] = this.pixels[node]
          & (this.isFaint(node) ? FAINT : -1);
      }
  }

  stretch(image, places, left) {
    const { context } = this.pane;
    // One for all frames: making one takes longer than filling it.
    const canvas = this.canvas ??= element('canvas');
    const { width, height } = image;
    Object.assign(canvas, { width, height });
    canvas.getContext('2d').putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    places.forEach(([, y], i) => context.drawImage(
      canvas, 0, i, width, 1, left, y + 1, width, SPAN_HEIGHT - 2));
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
