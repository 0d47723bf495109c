// SPDX-License-Identifier: MIT
// What a tree can be looked at by.  A metric has of each node its own value
// and the total with everything below; the totals of children add up to at
// most their parent's, but with wall, where children may run at once.

// profile: or a shape, which has the same columns.
export function makeMetrics(profile) {
  const { tree } = profile;
  const summed = (id, label, unit, own) =>
    ({ id, label, unit, own, total: tree.sums(own) });
  const metrics = [
    { id: 'wall', label: 'wall', unit: 'time', own: profile.self,
      total: profile.total },
    { id: 'work', label: 'work', unit: 'time', own: profile.work,
      total: profile.treeWork },
    { id: 'wait', label: 'wait', unit: 'time', own: profile.wait,
      total: profile.treeWait },
    summed('self', 'self', 'time', profile.self),
    summed('queue', 'queued', 'time', profile.queue),
    summed('calls', 'calls', 'count', profile.calls),
    summed('allocs', 'allocations', 'count', profile.allocCount),
    summed('alloc', 'bytes allocated', 'bytes', profile.allocBytes),
    ...profile.counters.map((counter) =>
      summed('c:' + counter.name, counter.name, counter.unit, counter.own)),
  ];
  for (const metric of metrics)
    metric.sum = tree.children(-1).reduce((sum, i) => sum + metric.total[i],
                                          0);
  // What nobody counted is not offered.
  return metrics.filter((metric, i) => i === 0 || metric.sum > 0);
}

// Which bytes say most about a node, if there are several: what a read
// delivered rather than what it asked for.
const PREFERRED = ['bytes delivered', 'bytes decoded', 'bytes written',
                   'bytes encoded', 'bytes fetched', 'bytes inflated',
                   'bytes asked'];

// Byte counters, the most telling first.
export function byteMetrics(metrics) {
  const rank = (metric) => {
    const at = PREFERRED.indexOf(metric.label);
    return at < 0 ? PREFERRED.length : at;
  };
  return metrics.filter((metric) =>
    metric.unit === 'bytes' && metric.id.startsWith('c:'))
    .sort((a, b) => rank(a) - rank(b));
}

// Of those, the first that a node has.
export function nodeBytes(byteCounters, node) {
  return byteCounters.find((metric) => metric.total[node] > 0) ?? null;
}
