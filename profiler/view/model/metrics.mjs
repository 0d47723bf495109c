// SPDX-License-Identifier: MIT
// The metrics of a tree: for each node its own value, and its total with
// descendants.  Children's totals add up to at most their parent's, except for
// wall time, where they may run concurrently.

// A node that did not run itself, such as the parent's on a worker's lane, is
// as long as its children.
function wallTotals({ tree, calls, total }) {
  const filled = Float64Array.from(total);
  const below = new Float64Array(tree.size);
  for (let i = tree.size - 1; i >= 0; i--) {
    if (calls[i] === 0 && total[i] === 0)
      filled[i] = below[i];
    if (tree.parents[i] >= 0)
      below[tree.parents[i]] += filled[i];
  }
  return filled;
}

// The parts of work on CPUs and without one.  Where threads always had a CPU,
// work is all on CPUs, and both are left out.
function cpuMetrics({ tree, work, starved }) {
  if (!starved?.some((ns) => ns > 0))
    return [];
  const ran = work.map((ns, node) => Math.max(0, ns - starved[node]));
  return [['cpu', 'on CPUs', ran], ['starved', 'no CPU', starved]]
    .map(([id, label, own]) =>
      ({ id, label, unit: 'time', own, total: tree.sums(own) }));
}

// Views call a counter of the file by its name, except one.
function labelOf({ name }) {
  return name === 'bytes asked' ? 'bytes requested' : name;
}

// profile: or a shape, which has the same columns.
export function makeMetrics(profile) {
  const { tree } = profile;
  const summed = (id, label, unit, own) =>
    ({ id, label, unit, own, total: tree.sums(own) });
  const metrics = [
    { id: 'wall', label: 'wall', unit: 'time', own: profile.self,
      total: wallTotals(profile) },
    { id: 'work', label: 'work', unit: 'time', own: profile.work,
      total: profile.treeWork },
    ...cpuMetrics(profile),
    { id: 'wait', label: 'wait', unit: 'time', own: profile.wait,
      total: profile.treeWait },
    summed('self', 'self', 'time', profile.self),
    summed('queue', 'queued', 'time', profile.queue),
    summed('calls', 'calls', 'count', profile.calls),
    summed('allocs', 'allocations', 'count', profile.allocCount),
    summed('alloc', 'bytes allocated', 'bytes', profile.allocBytes),
    ...profile.counters.map((counter) =>
      summed('c:' + counter.name, labelOf(counter), counter.unit,
             counter.own)),
  ];
  for (const metric of metrics)
    metric.sum = tree.children(-1).reduce((sum, i) => sum + metric.total[i],
                                          0);
  // Metrics without data are left out.
  return metrics.filter((metric, i) => i === 0 || metric.sum > 0);
}

// The base of a metric's percentages.
export function baseOf({ id, label }) {
  return id === 'wall' ? 'roots\u2019 time' : label;
}

// The most useful byte counter of a node: returned rather than requested
// bytes.
const PREFERRED = ['bytes delivered', 'bytes decoded', 'bytes written',
                   'bytes encoded', 'bytes fetched', 'bytes inflated',
                   'bytes requested'];

// Byte counters, most useful first.
export function byteMetrics(metrics) {
  const rank = (metric) => {
    const at = PREFERRED.indexOf(metric.label);
    return at < 0 ? PREFERRED.length : at;
  };
  return metrics.filter((metric) =>
    metric.unit === 'bytes' && metric.id.startsWith('c:'))
    .sort((a, b) => rank(a) - rank(b));
}

// Counters of arithmetic operations as one: { total, sum }, or null.
export function flopMetric(metrics) {
  const found = metrics.filter(({ unit }) => unit === 'flop');
  if (found.length === 0)
    return null;
  return {
    total: found[0].total.map((_, node) =>
      found.reduce((sum, { total }) => sum + total[node], 0)),
    sum: found.reduce((all, { sum }) => all + sum, 0),
  };
}

// A node's work on CPUs, with descendants, by which operations are compared.
export function timeOnCpus({ metrics }, node) {
  return (metrics.find(({ id }) => id === 'cpu')
          ?? metrics.find(({ id }) => id === 'work'))?.total[node];
}

// The first of these that a node has.
export function nodeBytes(byteCounters, node) {
  return byteCounters.find((metric) => metric.total[node] > 0) ?? null;
}
