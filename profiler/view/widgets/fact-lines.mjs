// SPDX-License-Identifier: MIT
// Lines of name and value about a node of a tree, and about a span.

import { failureText } from '../data/failures.mjs';
import { baseOf, timeOnCpus } from '../model/metrics.mjs';
import { exactUnit, formatBytes, formatCount, formatFlopRate, formatRate,
         formatShareOfAll, formatTime, formatUnit } from '../data/units.mjs';

function time(name, ns, always = false) {
  return [name, always || ns > 0 ? formatTime(ns) : ''];
}

// The metric as percentages: of all roots, of the node's root, of its parent.
export function shareLines(shape, node, metric) {
  const { parents } = shape.tree;
  const parent = parents[node];
  let root = node;
  while (parents[root] >= 0)
    root = parents[root];
  const value = metric.total[node];
  return [
    ['of ' + baseOf(metric), formatShareOfAll(value, metric.sum)],
    ['of the operation', root === node ? ''
      : formatShareOfAll(value, metric.total[root])],
    ['of its parent', parent < 0 || parent === root ? ''
      : formatShareOfAll(value, metric.total[parent])],
  ];
}

// All counters, with descendants, and their rates: of bytes in a time, of
// operations on CPUs.
export function counterLines(shape, node, ns) {
  return shape.metrics.filter(({ id, total }) =>
    id.startsWith('c:') && total[node] > 0).map(({ label, total, unit }) => {
    const rate = unit === 'bytes' ? formatRate(total[node], ns)
      : unit === 'flop' ? formatFlopRate(total[node], timeOnCpus(shape, node))
      : '';
    return [label, formatUnit(total[node], unit) + (rate && ', ' + rate),
            exactUnit(total[node], unit)];
  });
}

// The lines of a node's tooltip, the current metric first.
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
      ...['work', 'cpu', 'starved'].map((id) =>
        time(of(id)?.label, of(id)?.total[node])),
      time('wait', of('wait')?.total[node]),
      ['calls', formatCount(calls)],
      time('mean', calls > 1 ? total / calls : 0),
      ...counterLines(shape, node, total),
    ].filter(([name]) => name !== metric.label),
  ];
}

const OPEN = 1, LATE = 2;

function askedBy(profile, span) {
  const parent = profile.parentOf(span);
  if (parent >= 0)
    return profile.names[profile.spans.node[parent]];
  return profile.spans.parent[span] > 0 ? 'a span that was dropped' : '';
}

export function spanFacts(profile, span) {
  const { spans } = profile;
  const queued = spans.begin[span] - spans.submitted[span];
  const time = (ns) => ns > 0 ? formatTime(ns) : '';
  return [
    ['step', spans.steps.has(span) ? String(spans.steps.get(span)) : ''],
    ['took', formatTime(spans.duration[span])],
    ['began at', formatTime(spans.begin[span])],
    ['waited', time(spans.wait[span])],
    ['queued', time(queued)],
    ['bytes', spans.bytes[span] > 0 ? formatBytes(spans.bytes[span]) : ''],
    ['rate', formatRate(spans.bytes[span], spans.duration[span])],
    ['lane', profile.lanes[spans.lane[span]].name],
    ['parent', askedBy(profile, span)],
    ['end', spans.flags[span] & OPEN ? 'still open when recording ended'
      : spans.flags[span] & LATE ? 'after its parent' : ''],
    ...profile.spanNotes(span),
  ];
}
