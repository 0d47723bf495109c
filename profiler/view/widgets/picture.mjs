// SPDX-License-Identifier: MIT
// The current view as a picture: canvases redrawn whole as SVG; of other
// elements their backgrounds and texts.

import { paneOf } from './pane.mjs';
import { escapeXml, fontAttributes } from './svg-context.mjs';

const MARGIN = 16, TITLE = 34;
// A PNG has two pixels for one, within the browser's canvas limit.
const MOST_PIXELS = 8000;

function isSeen(element) {
  return element.checkVisibility ? element.checkVisibility()
    : element.getClientRects().length > 0;
}

class Walker {
  constructor(root) {
    this.origin = root.getBoundingClientRect();
    this.parts = [];
    this.height = this.origin.height;
  }

  place(box) {
    return [box.left - this.origin.left, box.top - this.origin.top];
  }

  walk(node) {
    if (node.nodeType === Node.TEXT_NODE)
      this.writing(node);
    else if (node.nodeType === Node.ELEMENT_NODE && isSeen(node)
             && !node.classList.contains('unseen'))
      this.element(node);
  }

  element(element) {
    const box = element.getBoundingClientRect();
    const [x, y] = this.place(box);
    this.background(element, x, y, box);
    const pane = paneOf(element);
    if (pane) {
      this.group(x, y, pane.svg());
      this.height = Math.max(this.height, y + pane.pictureHeight);
    } else if (element.tagName === 'CANVAS') {
      this.parts.push(`<image x="${x}" y="${y}" width="${box.width}" `
        + `height="${box.height}" href="${element.toDataURL()}"/>`);
    } else if (element.tagName === 'svg') {
      const colour = getComputedStyle(element.querySelector('rect')
                                      ?? element).fill;
      this.group(x, y, `<g fill="${escapeXml(colour)}">`
        + [...element.querySelectorAll('rect')].map((one) =>
          new XMLSerializer().serializeToString(one)).join('') + '</g>');
    } else {
      for (const child of element.childNodes)
        this.walk(child);
    }
  }

  group(x, y, content) {
    this.parts.push(`<g transform="translate(${x} ${y})">${content}</g>`);
  }

  background(element, x, y, box) {
    const style = getComputedStyle(element);
    const fill = style.backgroundColor;
    if (fill !== 'transparent' && !/, 0\)$/.test(fill))
      this.rectangle(x, y, box.width, box.height, fill);
    if (!element.classList.contains('bar'))
      return;
    const share = parseFloat(style.getPropertyValue('--share')) / 100;
    this.rectangle(x, y + box.height - 5, box.width * share, 4,
                   style.getPropertyValue('--bar'));
  }

  rectangle(x, y, width, height, fill) {
    this.parts.push(`<rect x="${x}" y="${y}" width="${width}" `
      + `height="${height}" fill="${escapeXml(fill.trim())}"/>`);
  }

  writing(node) {
    if (node.textContent.trim() === '')
      return;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (box.width === 0)
      return;
    const [x, y] = this.place(box);
    const style = getComputedStyle(node.parentElement);
    this.parts.push(`<text x="${x}" y="${y + box.height / 2}" `
      + `dominant-baseline="central" fill="${escapeXml(style.color)}" `
      + fontAttributes(`${style.fontWeight} ${style.fontSize} system-ui, `
                       + 'sans-serif')
      + ` textLength="${box.width}">`
      + `${escapeXml(node.textContent)}</text>`);
  }
}

// An element as SVG, with a title above it.
export function pictureOf(root, title) {
  const scrolled = [...root.querySelectorAll('.scroll')];
  // All of a table, not only the visible part.
  for (const one of scrolled)
    one.classList.add('whole');
  const walker = new Walker(root);
  walker.walk(root);
  for (const one of scrolled)
    one.classList.remove('whole');
  const style = getComputedStyle(document.documentElement);
  const width = walker.origin.width + 2 * MARGIN;
  const height = walker.height + TITLE + 2 * MARGIN;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" `
    + `height="${height}" viewBox="0 0 ${width} ${height}">\n`
    + `<rect width="100%" height="100%" `
    + `fill="${escapeXml(style.getPropertyValue('--page').trim())}"/>\n`
    + `<text x="${MARGIN}" y="${MARGIN + 12}" `
    + `fill="${escapeXml(style.getPropertyValue('--text').trim())}" `
    + `${fontAttributes('600 16px system-ui, sans-serif')}>`
    + `${escapeXml(title)}</text>\n`
    + `<g transform="translate(${MARGIN} ${MARGIN + TITLE})">\n`
    + walker.parts.join('\n') + '\n</g>\n</svg>\n';
}

// SVG as a PNG, in a blob.
export async function rasterise(svg) {
  const image = new Image();
  image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(svg);
  await image.decode();
  const scale = Math.min(2, MOST_PIXELS / Math.max(image.width,
                                                   image.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.ceil(image.width * scale);
  canvas.height = Math.ceil(image.height * scale);
  canvas.getContext('2d').drawImage(image, 0, 0, canvas.width,
                                    canvas.height);
  return new Promise((resolve, reject) => canvas.toBlob((blob) =>
    blob ? resolve(blob) : reject(new Error('the picture is too large')),
                                                        'image/png'));
}

export function saveBlob(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// A name for any file system.
export function fileName(title, view, suffix) {
  const stem = (title + ' ' + view).replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+|-+$/g, '').slice(0, 80);
  return (stem || 'profile') + suffix;
}
