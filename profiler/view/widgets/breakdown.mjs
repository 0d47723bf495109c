// SPDX-License-Identifier: MIT
// The threads' time by category: one bar, which is also the legend of the
// colours: the header of the timeline.

import { categoryColour } from '../model/colour.mjs';
import { element, nameElement, swatch } from './dom.mjs';
import { factOf } from '../model/conditions.mjs';
import { exactUnit, formatShare, formatTime } from '../data/units.mjs';

// What scopes of some categories wait for; of others it is not known.
const AWAITED = { queue: 'for other threads', network: 'for the network',
                  disk: 'for the disk' };

// [category, ns] sums of the nodes' times, the most first.
function sumByCategory({ categories }, times) {
  const sums = new Map();
  categories.forEach((category, node) =>
    sums.set(category, (sums.get(category) ?? 0) + times[node]));
  return [...sums].filter(([, ns]) => ns > 0).sort((a, b) => b[1] - a[1]);
}

// Whether files can have waited for a disk, as in find-bound.c.
function usesDisks(profile) {
  const nread = factOf(profile, 'bytes read from disks');
  return nread > 0 && nread * 4e3 >= Math.min(profile.timeToRun(),
    new Map(sumByCategory(profile, profile.wait)).get('disk'))
    || nread && profile.counters.some(({ name, own }) =>
      name === 'bytes written' && own.some((nbytes) => nbytes > 0));
}

// [category, ns] of work on CPUs, the most first; the work without one,
// ['no CPU', ns, [[reason, ns], ...]]; and the waiting: ['waiting', ns, ...].
// times: of the nodes: the profile's, or a shape's of a part of it, which may
// not know the time without a CPU.
export function timeByCategory(profile, { work, starved, wait } = profile) {
  const slices = sumByCategory(profile, starved
    ? work.map((ns, node) => ns - starved[node]) : work);
  const lost = sumByCategory(profile, starved ?? []).map(([category, ns]) =>
    ['in ' + category, ns]);
  const waits = sumByCategory(profile, wait).map(([category, ns]) =>
    [(category !== 'disk' || usesDisks(profile)) && AWAITED[category]
     || 'in ' + category, ns]);
  const sum = (parts) => parts.reduce((all, [, ns]) => all + ns, 0);
  return [...slices, ['no CPU', sum(lost), lost],
          ['waiting', sum(waits), waits]].filter(([, ns]) => ns > 0);
}

// Of what the views are narrowed to.
export function breakdownPanel({ profile, state, model }) {
  const panel = element('section', { class: 'threads-time',
                                     'aria-label': 'Time of the threads' });
  const update = () => {
    const range = state.get('range'), lanes = state.get('lanes');
    panel.replaceChildren(...partsOfPanel(
      timeByCategory(profile, model.aggregate(range, lanes, '')),
      range + lanes !== ''));
  };
  state.listen((keys) => (keys.has('range') || keys.has('lanes'))
    && update());
  update();
  return panel;
}

function partsOfPanel(slices, isPart) {
  if (slices.length === 0)
    return [];
  const whole = slices.reduce((sum, [, ns]) => sum + ns, 0);
  const bar = element('div', { class: 'breakdown', 'aria-hidden': 'true' });
  const legend = element('ul', { class: 'legend' }, element('li',
    { class: 'base' }, 'Of the threads\u2019 ' + formatTime(whole)
      + (isPart ? ' in this part:' : ':')));
  for (const [category, ns, waits = []] of slices) {
    const colour = categoryColour(category);
    const slice = element('span', { title: category });
    slice.style.background = colour;
    slice.style.flexGrow = ns / whole;
    bar.append(slice);
    legend.append(element('li', { title: exactUnit(ns, 'time') },
      swatch(colour), nameElement(category), ' ',
      element('b', {}, formatShare(ns, whole)),
      waits.length === 0 ? '' : element('span', { class: 'muted' }, ' '
        + waits.slice(0, 3).map(([what, part]) => what
          + (waits.length > 1 ? ' ' + formatShare(part, whole) : ''))
          .join(', '))));
  }
  return [bar, legend];
}
