// SPDX-License-Identifier: MIT
// A canvas context that writes SVG, as far as the views need it: a picture is
// saved by drawing once more into it.

// Text for SVG: characters that XML does not allow are replaced.
export function escapeXml(text) {
  return String(text).replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd]/gu,
                              (letter) => letter.codePointAt(0) > 0xffff
                                ? letter : '\ufffd')
    .replace(/[&<>"]/g, (letter) => '&#' + letter.charCodeAt(0) + ';');
}

function rounded(value) {
  return String(Math.round(value * 100) / 100);
}

// "600 12px a, b" as attributes: the page's policy allows no style in a
// picture that becomes a PNG.
export function fontAttributes(font) {
  const [, weight = '400', size, family] =
    /^(\d+ )?([\d.]+)px (.*)$/.exec(font);
  return `font-weight="${weight.trim()}" font-size="${size}" `
    + `font-family="${escapeXml(family)}"`;
}

const KEPT_STYLES = ['fillStyle', 'strokeStyle', 'lineWidth', 'globalAlpha',
                     'textAlign', 'font'];

export class SvgContext {
  // measure: measures text, as a canvas context does.
  constructor(measure, font) {
    Object.assign(this, { measure, font, fillStyle: '#000',
                          strokeStyle: '#000', lineWidth: 1, globalAlpha: 1,
                          textAlign: 'left' });
    this.parts = [];
    this.saved = [];
    this.path = '';
    // Open clip groups since the last save.
    this.groups = 0;
  }

  measureText(text) {
    return this.measure.measureText(text);
  }

  save() {
    this.saved.push({ groups: this.groups, ...Object.fromEntries(
      KEPT_STYLES.map((name) => [name, this[name]])) });
    this.groups = 0;
  }

  restore() {
    this.parts.push('</g>'.repeat(this.groups));
    Object.assign(this, this.saved.pop());
  }

  alpha() {
    return this.globalAlpha < 1 ? ` opacity="${rounded(this.globalAlpha)}"`
      : '';
  }

  rectangle(x, y, width, height, paint) {
    if (width > 0 && height > 0)
      this.parts.push(`<rect x="${rounded(x)}" y="${rounded(y)}" `
        + `width="${rounded(width)}" height="${rounded(height)}" `
        + `${paint}${this.alpha()}/>`);
  }

  fillRect(x, y, width, height) {
    this.rectangle(x, y, width, height,
                   `fill="${escapeXml(this.fillStyle)}"`);
  }

  strokeRect(x, y, width, height) {
    this.rectangle(x, y, width, height, this.stroked());
  }

  stroked() {
    return `fill="none" stroke="${escapeXml(this.strokeStyle)}" `
      + `stroke-width="${rounded(this.lineWidth)}"`;
  }

  fillText(text, x, y) {
    const anchor = this.textAlign === 'right' ? ' text-anchor="end"' : '';
    this.parts.push(`<text x="${rounded(x)}" y="${rounded(y)}" `
      + `dominant-baseline="central" fill="${escapeXml(this.fillStyle)}" `
      + `${fontAttributes(this.font)}${anchor}${this.alpha()}>`
      + `${escapeXml(text)}</text>`);
  }

  beginPath() {
    this.path = '';
  }

  moveTo(x, y) {
    this.path += `M${rounded(x)} ${rounded(y)}`;
  }

  lineTo(x, y) {
    this.path += (this.path === '' ? 'M' : 'L') + `${rounded(x)} ${rounded(y)}`;
  }

  bezierCurveTo(...points) {
    this.path += 'C' + points.map(rounded).join(' ');
  }

  // Only whole circles are drawn.
  arc(x, y, radius) {
    const r = rounded(radius);
    this.path += `M${rounded(x - radius)} ${rounded(y)}a${r} ${r} 0 1 0 `
      + `${rounded(2 * radius)} 0a${r} ${r} 0 1 0 ${rounded(-2 * radius)} 0`;
  }

  rect(x, y, width, height) {
    this.path += `M${rounded(x)} ${rounded(y)}h${rounded(width)}`
      + `v${rounded(height)}h${rounded(-width)}Z`;
  }

  fill() {
    this.parts.push(`<path d="${this.path}" `
      + `fill="${escapeXml(this.fillStyle)}"${this.alpha()}/>`);
  }

  stroke() {
    this.parts.push(`<path d="${this.path}" ${this.stroked()}`
      + `${this.alpha()}/>`);
  }

  clip() {
    const id = 'c' + SvgContext.number++;
    this.parts.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath>`
      + `<g clip-path="url(#${id})">`);
    this.groups++;
  }

  setTransform() {}

  clearRect() {}

  text() {
    return this.parts.join('\n') + '</g>'.repeat(this.groups);
  }
}

// Clips are numbered across the picture.
SvgContext.number = 1;
