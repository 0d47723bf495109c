// SPDX-License-Identifier: MIT
// Gauges on the timeline, drawn as steps.

import { formatUnit } from '../data/units.mjs';

export const GAUGE_HEIGHT = 40;

// The samples of each gauge by time: { name, unit, times, values, most }.
export function splitSamples(profile) {
  const { gauges, samples } = profile;
  const split = gauges.map((gauge) =>
    ({ ...gauge, times: [], values: [], most: 0 }));
  for (let i = 0; i < samples.count; i++) {
    const gauge = split[samples.gauge[i]];
    gauge.times.push(samples.time[i]);
    gauge.values.push(samples.value[i]);
    gauge.most = Math.max(gauge.most, samples.value[i]);
  }
  return split.filter((gauge) => gauge.times.length > 0);
}

export function drawGauge(pane, theme, gauge, y, view) {
  const { context } = pane;
  const scale = view.width / (view.to - view.from);
  const base = y + GAUGE_HEIGHT - 3;
  const high = GAUGE_HEIGHT - 8;
  const level = (value) =>
    base - Math.max(0, value) / Math.max(1, gauge.most) * high;
  context.save();
  context.beginPath();
  context.rect(view.left, y, view.width, GAUGE_HEIGHT);
  context.clip();
  context.beginPath();
  context.moveTo(view.left, base);
  for (let i = 0, last = base; i < gauge.times.length; i++) {
    const x = view.left + (gauge.times[i] - view.from) * scale;
    context.lineTo(x, last);
    last = level(gauge.values[i]);
    context.lineTo(x, last);
    if (i === gauge.times.length - 1)
      context.lineTo(view.left + view.width, last);
  }
  context.lineTo(view.left + view.width, base);
  context.fillStyle = theme.accent;
  context.globalAlpha = 0.35;
  context.fill();
  context.restore();
  context.fillStyle = theme.text;
  pane.text(gauge.name, 8, y + 13, view.left - 16);
  context.fillStyle = theme.muted;
  pane.text('up to ' + formatUnit(gauge.most, gauge.unit), 8, y + 28,
            view.left - 16);
}
