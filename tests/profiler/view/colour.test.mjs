// SPDX-License-Identifier: MIT
// Colours: the same in every run, with enough contrast, and distinguishable
// by colour-blind readers.
import test from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { categoryColour, INK, scopeColour }
  from '../../../profiler/view/model/colour.mjs';

const CATEGORIES = ['operation', 'metadata', 'disk', 'network', 'decode',
                    'encode', 'place', 'queue', 'waiting'];

// Returns the contrast of two colours as defined by WCAG.
function contrast(a, b) {
  const luminance = (colour) => [1, 3, 5].map((i) => {
    const part = parseInt(colour.slice(i, i + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }).reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

test('contrast is as WCAG defines it', () => {
  assert.equal(contrast('#000000', '#ffffff'), 21);
  assert.equal(contrast('#ffffff', '#ffffff'), 1);
  assert.ok(Math.abs(contrast('#777777', '#ffffff') - 4.48) < 0.01);
});

test('text on every colour has a contrast of 4.5 or more', () => {
  for (const category of [...CATEGORIES, 'user', 'mine', 'x', 'y', 'z', ''])
    for (const name of ['a', 'b', 'c', 'd', 'decode', 'read', ''])
      assert.ok(contrast(INK, scopeColour(category, name)) >= 4.5,
                category + ' ' + name);
});

test('a colour depends on nothing but category and name', () => {
  assert.equal(scopeColour('decode', 'blosc'), scopeColour('decode',
                                                           'blosc'));
  assert.equal(categoryColour('decode'), '#37b48c');
  assert.equal(categoryColour('constructor'),
               categoryColour('constructor'));
  assert.match(categoryColour('__proto__'), /^#[0-9a-f]{6}$/);
});

// The colours that a protanope or a deuteranope sees, in linear light: Vienot,
// Brettel and Mollon (1999).
const SIMULATIONS = {
  protanopia: [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0],
               [0.00401, -0.00401, 1]],
  deuteranopia: [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0],
                 [-0.02234, 0.02234, 1]],
};

function linear(colour) {
  return [1, 3, 5].map((i) => {
    const part = parseInt(colour.slice(i, i + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
}

// Linear light to CIE L*a*b*.
function lab([r, g, b]) {
  const f = (t) => t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116;
  const x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505);
  const y = f(0.2126 * r + 0.7152 * g + 0.0722 * b);
  const z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

test('categories differ also for colour-blind readers', () => {
  for (const [name, matrix] of Object.entries(SIMULATIONS)) {
    const seen = CATEGORIES.map((category) => {
      const light = linear(categoryColour(category));
      return lab(matrix.map((row) => Math.max(0, row.reduce((sum, one, i) =>
        sum + one * light[i], 0))));
    });
    for (let i = 0; i < seen.length; i++)
      for (let k = 0; k < i; k++) {
        const distance = Math.hypot(...seen[i].map((one, at) =>
          one - seen[k][at]));
        assert.ok(distance >= 9, name + ': ' + CATEGORIES[i] + ' and '
          + CATEGORIES[k] + ' are ' + distance.toFixed(1) + ' apart');
      }
  }
});

test('the text of both themes has a contrast of 4.5 or more', () => {
  const style = ['page.css', 'view.css'].map((name) =>
    readFileSync(new URL('../../../profiler/view/' + name, import.meta.url),
                 'utf8')).join('');
  const themes = [':root', ':root:not([data-theme="light"])',
                  ':root[data-theme="dark"]'].map((selector) =>
    Object.fromEntries(style.split(/^ *(?=:root)/m)
      .filter((rule) => rule.startsWith(selector + ' {'))
      .flatMap((rule) => [...rule.split('}')[0]
        .matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)])
      .map(([, name, value]) => [name, value])));
  const [light, preferred, dark] = themes;
  assert.deepEqual(Object.keys(light).sort(), Object.keys(dark).sort());
  // Those that are there without a script.
  assert.ok(Object.keys(preferred).length > 6);
  assert.deepEqual({ ...dark, ...preferred }, dark);
  for (const theme of [light, dark])
    for (const [ink, paper] of [
      ['text', 'panel'], ['text', 'page'], ['text', 'sunken'],
      ['text', 'hover'], ['text', 'selected'], ['text', 'match'],
      ['muted', 'panel'], ['muted', 'page'], ['muted', 'sunken'],
      ['muted', 'hover'], ['muted', 'selected'], ['accent', 'panel'],
      ['problem', 'panel'], ['hint', 'panel'], ['note', 'panel'],
      ['warning-text', 'warning'],
    ])
      assert.ok(contrast(theme[ink], theme[paper]) >= 4.5,
                ink + ' on ' + paper + ': '
                + contrast(theme[ink], theme[paper]).toFixed(2));
});
