// SPDX-License-Identifier: MIT
// The time axis: steps of 1, 2 or 5 with room for their labels.

import { formatTime } from '../data/units.mjs';

export const AXIS_HEIGHT = 24;

// Returns the smallest round step that fits at most `most' times into a span.
export function roundStep(span, most) {
  const raw = Math.max(span / most, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  for (const factor of [1, 2, 5])
    if (factor * power >= raw * (1 - 1e-9))
      return factor * power;
  return 10 * power;
}

// A tick's label has enough decimals to differ from the next.
export function tickLabel(time, step) {
  const units = [[1e9, 's'], [1e6, 'ms'], [1e3, '\u00b5s'], [1, 'ns']];
  const [size, unit] = units.find(([ns]) => step >= ns
    || time >= ns * 10 && step >= ns / 1000) ?? units[3];
  const decimals = Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9));
  return (time / size).toFixed(decimals) + '\u00a0' + unit;
}

export function drawAxis(pane, theme, { left, width, from, to }) {
  const { context } = pane;
  context.fillStyle = theme.sunken;
  context.fillRect(0, 0, pane.width, AXIS_HEIGHT);
  const step = roundStep(to - from, Math.max(2, width / 110));
  context.fillStyle = theme.muted;
  for (let time = Math.ceil(from / step) * step; time < to; time += step) {
    const x = left + (time - from) / (to - from) * width;
    context.fillRect(Math.round(x), AXIS_HEIGHT - 7, 1, 7);
    const label = tickLabel(time, step);
    // Measuring every text takes longer than drawing all.
    if (x + 7 * label.length + 6 < left + width)
      context.fillText(label, x + 5, AXIS_HEIGHT / 2 - 1);
  }
  const label = formatTime(to - from) + ' seen';
  pane.text(label, 8, AXIS_HEIGHT / 2 - 1, left - 10);
  context.fillStyle = theme.border;
  context.fillRect(0, AXIS_HEIGHT - 1, pane.width, 1);
}
