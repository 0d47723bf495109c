// SPDX-License-Identifier: MIT
// The columns of tables of scopes: id, label, hint, value (node) to sort by,
// and cell (node): [text, title, share of the bar].

import { baseOf, byteMetrics, flopMetric, nodeBytes, timeOnCpus }
  from '../model/metrics.mjs';
import { exactUnit, formatRatio, formatShare, formatUnit }
  from '../data/units.mjs';

function metricColumn(id, label, hint, { unit }, values, whole,
                      always = false) {
  return { id, label, hint, value: (node) => values[node],
           cell: (node) => [always || values[node] > 0
                              ? formatUnit(values[node], unit) : '',
                            exactUnit(values[node], unit),
                            whole > 0 ? values[node] / whole : 0] };
}

function shareColumn(metric) {
  return { id: 'share', label: '% of ' + baseOf(metric),
           hint: 'Threads at once exceed 100 %',
           value: (node) => metric.total[node],
           cell: (node) => [formatShare(metric.total[node], metric.sum), '',
                            0] };
}

// A quotient, where both figures of a node are known.
function ratioColumn(id, label, hint, of, over) {
  const value = (node) => over(node) > 0 ? of(node) / over(node) : 0;
  return { id, label, hint, value,
           cell: (node) =>
             [value(node) > 0 ? formatRatio(value(node)) : '', '', 0] };
}

function bytesColumns(shape, wall) {
  const counters = byteMetrics(shape.metrics);
  const bytes = (node) => nodeBytes(counters, node)?.total[node] ?? 0;
  const cell = (node) => {
    const metric = nodeBytes(counters, node);
    return metric === null ? ['', '', 0]
      : [formatUnit(metric.total[node], 'bytes'),
         metric.label + ': ' + exactUnit(metric.total[node], 'bytes'), 0];
  };
  return [
    { id: 'bytes', label: 'bytes',
      hint: 'Returned, decoded, written or fetched, with descendants',
      value: bytes, cell },
    ratioColumn('rate', 'MB/s', 'These bytes in this total',
                (node) => 1e3 * bytes(node), (node) => wall.total[node]),
    ...flopColumns(shape, bytes),
  ];
}

// Of profiles that count operations.
function flopColumns(shape, bytes) {
  const metric = flopMetric(shape.metrics);
  const flop = (node) => metric.total[node];
  return metric === null ? [] : [
    ratioColumn('flops', 'GFLOP/s', 'Operations in this work on CPUs', flop,
                (node) => timeOnCpus(shape, node)),
    ratioColumn('intensity', 'flop/B', 'Operations for each of these bytes',
                flop, bytes),
  ];
}

// The metrics that have a column already.
export const SHOWN = ['wall', 'self', 'work', 'cpu', 'starved', 'wait',
                      'calls'];

// Of work, where threads had no CPU at times: [id, label, hint].
export const CPU_COLUMNS = [
  ['cpu', 'on CPUs', 'Work in which its threads had a CPU'],
  ['starved', 'no CPU', 'Work in which its threads could run, but others had '
    + 'the CPUs'],
];

// For a shape; inverted: totals are the self values of the root's scope.
export function makeColumns(shape, metric, inverted = false) {
  const of = (id) => shape.metrics.find((one) => one.id === id);
  const wall = of('wall');
  const none = new Float64Array(shape.size);
  const calls = of('calls')?.own ?? none;
  const mean = (node) => calls[node] > 0
    ? wall.total[node] / calls[node] : 0;
  const time = (id, label, hint, values, whole = 0) =>
    metricColumn(id, label, hint, wall, values ?? none, whole,
                 id === 'total');
  const extra = SHOWN.includes(metric.id) ? []
    : [metricColumn('metric', metric.label, metric.label
        + ', with descendants', metric, metric.total, metric.sum)];
  const first = inverted
    ? [time('total', 'self', 'Self time of the root, through this '
        + 'caller', wall.total, wall.sum)]
    : [time('total', 'total', 'From begin to end, of all calls', wall.total,
            wall.sum)];
  const own = inverted ? []
    : [time('self', 'self', 'Time not in child scopes', wall.own,
            wall.sum)];
  return [
    ...first, ...extra, shareColumn(metric), ...own,
    time('work', 'work', 'Time its threads ran, in all', of('work')?.total),
    ...CPU_COLUMNS.filter(([id]) => of(id)).map(([id, label, hint]) =>
      time(id, label, hint + ', in all', of(id).total)),
    time('wait', 'wait', 'Time its threads waited, in all',
         of('wait')?.total),
    { id: 'calls', label: 'calls', hint: 'Number of calls',
      value: (node) => calls[node],
      cell: (node) => [formatUnit(calls[node], 'count'), '', 0] },
    { id: 'mean', label: 'mean', hint: 'Mean of one call', value: mean,
      cell: (node) => [formatUnit(mean(node), 'time'), '', 0] },
    ...bytesColumns(shape, wall),
  ];
}
