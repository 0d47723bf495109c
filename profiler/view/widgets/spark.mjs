// SPDX-License-Identifier: MIT
// A histogram of durations in the size of a word.

import { formatCount, formatTime } from '../data/units.mjs';

const SVG = 'http://www.w3.org/2000/svg';
const BAR = 5, HEIGHT = 16;

function shape(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes))
    made.setAttribute(name, value);
  return made;
}

// The first and last bucket that is not empty; null: none.
export function extent(buckets) {
  const first = buckets.findIndex((count) => count > 0);
  if (first < 0)
    return null;
  let last = buckets.length - 1;
  while (buckets[last] === 0)
    last--;
  return [first, last];
}

// Bucket i counts 2^i to 2^(i + 1) - 1 ns.
export function spark(buckets) {
  const found = extent(buckets);
  if (found === null)
    return '';
  const [first, last] = found;
  const most = Math.max(...buckets);
  const width = (last - first + 1) * BAR;
  const low = formatTime(first === 0 ? 0 : 2 ** first);
  const label = `${low} to ${formatTime(2 ** (last + 1))}, most often `
    + `${formatCount(most)} calls at `
    + formatTime(2 ** buckets.indexOf(most));
  const made = shape('svg', { width, height: HEIGHT, role: 'img' });
  const title = shape('title', {});
  title.textContent = label;
  made.append(title);
  // All bars are one element: a table of functions has very many.
  let bars = '';
  for (let i = first; i <= last; i++)
    if (buckets[i] > 0)
      bars += `M${(i - first) * BAR} ${HEIGHT}v`
        + -Math.max(1.5, HEIGHT * buckets[i] / most).toFixed(1)
        + `h${BAR - 1}V${HEIGHT}`;
  made.append(shape('path', { d: bars }));
  return made;
}
