// SPDX-License-Identifier: MIT
// What is known of a node of a tree, as lines of name and value.

import { failureText } from './failures.mjs';
import { formatCount, formatRate, formatShareOfAll, formatTime,
         formatUnit } from './units.mjs';

function time(name, ns, always = false) {
  return [name, always || ns > 0 ? formatTime(ns) : ''];
}

// The share of a metric: of all, of the operation (the root above), of the
// parent.
export function shareLines(shape, node, metric) {
  const { parents } = shape.tree;
  const parent = parents[node];
  let root = node;
  while (parents[root] >= 0)
    root = parents[root];
  const value = metric.total[node];
  return [
    ['of all', formatShareOfAll(value, metric.sum)],
    ['of the operation', root === node ? ''
      : formatShareOfAll(value, metric.total[root])],
    ['of its parent', parent < 0 || parent === root ? ''
      : formatShareOfAll(value, metric.total[parent])],
  ];
}

// Of every counter, with what is below.
function counterLines(shape, node, wall) {
  return shape.metrics.filter((metric) =>
    metric.id.startsWith('c:') && metric.total[node] > 0).map((metric) => {
    const rate = metric.unit === 'bytes'
      ? formatRate(metric.total[node], wall) : '';
    return [metric.label, formatUnit(metric.total[node], metric.unit)
      + (rate ? ', ' + rate : '')];
  });
}

// All that a tooltip says of a node, the present metric first.
export function nodeFacts(shape, node, metric) {
  const of = (id) => shape.metrics.find((one) => one.id === id);
  const total = of('wall').total[node], calls = of('calls')?.own[node] ?? 0;
  return [
    [metric.label, formatUnit(metric.total[node], metric.unit)],
    ...shareLines(shape, node, metric),
    ['failed', failureText(shape, node)],
    ...[
      time('wall', total, true),
      time('self', of('wall').own[node]),
      time('work', of('work')?.total[node]),
      time('wait', of('wait')?.total[node]),
      ['calls', formatCount(calls)],
      time('mean', calls > 1 ? total / calls : 0),
      ...counterLines(shape, node, total),
    ].filter(([name]) => name !== metric.label),
  ];
}
