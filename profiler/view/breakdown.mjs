// SPDX-License-Identifier: MIT
// Where the threads' time went, by category: one bar, which is the legend of
// the colours as well.

import { element, nameElement } from './dom.mjs';
import { categoryColour } from './colour.mjs';
import { exactUnit, formatShare } from './units.mjs';

// [category, ns] of work, the most first, and what was waiting.
export function timeByCategory(profile) {
  const sums = new Map();
  let waited = 0;
  profile.categories.forEach((category, node) => {
    sums.set(category, (sums.get(category) ?? 0) + profile.work[node]);
    waited += profile.wait[node];
  });
  const slices = [...sums].filter(([, ns]) => ns > 0)
    .sort((a, b) => b[1] - a[1]);
  return waited > 0 ? [...slices, ['waiting', waited]] : slices;
}

export function breakdownPanel(profile) {
  const slices = timeByCategory(profile);
  if (slices.length === 0)
    return '';
  const whole = slices.reduce((sum, [, ns]) => sum + ns, 0);
  const bar = element('div', { class: 'breakdown', 'aria-hidden': 'true' });
  const legend = element('ul', { class: 'legend' });
  for (const [category, ns] of slices) {
    const colour = categoryColour(category);
    const slice = element('span', { title: category });
    slice.style.background = colour;
    slice.style.flexGrow = ns / whole;
    bar.append(slice);
    const swatch = element('span', { class: 'swatch' });
    swatch.style.background = colour;
    legend.append(element('li', { title: exactUnit(ns, 'time') }, swatch,
      nameElement(category), ' ', element('b', {}, formatShare(ns, whole))));
  }
  return element('section', { 'aria-label': 'Time of the threads' },
                 element('h2', {}, 'Time of the threads'), bar, legend);
}
