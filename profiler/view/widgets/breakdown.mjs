// SPDX-License-Identifier: MIT
// The threads' time by category: one bar, which is also the legend of the
// colours: the header of the timeline.

import { categoryColour } from '../model/colour.mjs';
import { element, nameElement } from './dom.mjs';
import { exactUnit, formatShare, formatTime } from '../data/units.mjs';

// What scopes of some categories wait for.
const AWAITED = { queue: 'other threads', network: 'the network',
                  disk: 'the disk' };

// [category, ns] sums of the nodes' times, the most first.
function sumByCategory({ categories }, times) {
  const sums = new Map();
  categories.forEach((category, node) =>
    sums.set(category, (sums.get(category) ?? 0) + times[node]));
  return [...sums].filter(([, ns]) => ns > 0).sort((a, b) => b[1] - a[1]);
}

// [category, ns] of work on CPUs, the most first; the work without one,
// ['no CPU', ns, [[reason, ns], ...]]; and the waiting: ['waiting', ns, ...].
export function timeByCategory(profile) {
  const slices = sumByCategory(profile, profile.work.map(
    (ns, node) => ns - profile.starved[node]));
  const starved = sumByCategory(profile, profile.starved);
  if (starved.length > 0)
    slices.push(['no CPU', profile.info.starved, starved]);
  const waits = sumByCategory(profile, profile.wait).map(([category, ns]) =>
    [AWAITED[category] ?? 'in ' + category, ns]);
  const waited = waits.reduce((sum, [, ns]) => sum + ns, 0);
  return waited > 0 ? [...slices, ['waiting', waited, waits]] : slices;
}

export function breakdownPanel(profile) {
  const slices = timeByCategory(profile);
  if (slices.length === 0)
    return '';
  const whole = slices.reduce((sum, [, ns]) => sum + ns, 0);
  const bar = element('div', { class: 'breakdown', 'aria-hidden': 'true' });
  const legend = element('ul', { class: 'legend' }, element('li',
    { class: 'base' }, 'Of the threads\u2019 ' + formatTime(whole) + ':'));
  for (const [category, ns, waits = []] of slices) {
    const colour = categoryColour(category);
    const slice = element('span', { title: category });
    slice.style.background = colour;
    slice.style.flexGrow = ns / whole;
    bar.append(slice);
    const swatch = element('span', { class: 'swatch' });
    swatch.style.background = colour;
    legend.append(element('li', { title: exactUnit(ns, 'time') }, swatch,
      nameElement(category), ' ', element('b', {}, formatShare(ns, whole)),
      waits.length === 0 ? '' : element('span', { class: 'muted' }, ' for '
        + waits.slice(0, 3).map(([what, part]) => what
          + (waits.length > 1 ? ' ' + formatShare(part, whole) : ''))
          .join(', '))));
  }
  return element('section', { class: 'threads-time',
                              'aria-label': 'Time of the threads' },
                 bar, legend);
}
