// SPDX-License-Identifier: MIT
// The colour of a scope: its category's, in one of three shades by its name.
// The hues are Okabe and Ito's, which colour-blind people can distinguish,
// light enough for dark text in both themes.

const CATEGORIES = {
  operation: '#93a5f5',
  metadata: '#c98bb9',
  disk: '#eba531',
  network: '#ef7f5a',
  decode: '#37b48c',
  encode: '#e3d34a',
  place: '#7fd3f2',
  queue: '#c3c8d0',
  waiting: '#858e9a',
  'no CPU': '#b36a3c',
};

// For categories of other programs.
const OTHERS = ['#b9a5ec', '#9ccc65', '#f2a7a7', '#8fd0c8'];

export const INK = '#14181d';
// Marks failures on any of these colours.
export const FAILED_INK = '#a3140c';

// FNV-1a: the same in every run and browser.
function hash(text) {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++)
    value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return value;
}

// Mixes with white, by a share of 0 to 1.
function tint(colour, share) {
  let mixed = '#';
  for (let i = 1; i < 7; i += 2) {
    const part = parseInt(colour.slice(i, i + 2), 16);
    mixed += Math.round(part + (255 - part) * share)
      .toString(16).padStart(2, '0');
  }
  return mixed;
}

export function categoryColour(category) {
  if (Object.hasOwn(CATEGORIES, category))
    return CATEGORIES[category];
  return OTHERS[hash(category) % OTHERS.length];
}

export function scopeColour(category, name) {
  return tint(categoryColour(category), hash(name) % 3 * 0.14);
}

// Returns the colours of all nodes of a profile.
export function nodeColours(profile) {
  return profile.names.map((name, i) =>
    scopeColour(profile.categories[i], name));
}
