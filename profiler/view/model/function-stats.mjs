// SPDX-License-Identifier: MIT
// Functions: scopes by name and category over all call sites, with their
// counts and durations.

import { parseLanes, parseRange } from './model.mjs';

const BUCKETS = 48;

// Bucket i counts 2^i to 2^(i + 1) - 1 ns; the first also 0.
function bucketOf(ns) {
  return ns < 2 ? 0 : ns < 2 ** 32 ? 31 - Math.clz32(ns)
    : Math.min(BUCKETS - 1, Math.floor(Math.log2(ns)));
}

// Returns the place of a percentile of a list (nearest rank).  Smaller values
// precede it then; sorting a million takes much longer. low: the place of a
// smaller percentile, if already known.
export function findQuantile(list, share, low = 0) {
  const rank = Math.max(0, Math.ceil(share * list.length) - 1);
  let high = list.length - 1;
  while (low < high) {
    const pivot = list[(low + high) >> 1];
    let i = low, j = high;
    while (i <= j) {
      while (list[i] < pivot)
        i++;
      while (list[j] > pivot)
        j--;
      if (i <= j) {
        const value = list[i];
        list[i++] = list[j];
        list[j--] = value;
      }
    }
    if (rank <= j)
      high = j;
    else if (rank >= i)
      low = i;
    else
      break;
  }
  return rank;
}

// The same from bucket counts; values are taken as evenly spread within a
// bucket.
export function bucketQuantile(counts, share) {
  const all = counts.reduce((sum, count) => sum + count, 0);
  let left = share * all;
  for (let i = 0; i < counts.length; i++) {
    if (counts[i] > 0 && left <= counts[i]) {
      const low = i === 0 ? 0 : 2 ** i;
      return low + (2 ** (i + 1) - low) * left / counts[i];
    }
    left -= counts[i];
  }
  return 0;
}

// Which nodes of the profile are unchanged in a shape.
function present(shape) {
  const { sites, tree } = shape.profile;
  return Uint8Array.from({ length: tree.size }, (_, node) => {
    const place = shape.place(node);
    return place >= 0 && shape.site(place) === sites.of[node] ? 1 : 0;
  });
}

// Returns a test for the spans of a stretch of time on some lanes.  A span
// that only touches the stretch does not count, as in aggregateSpans, unless
// it has no duration (times are whole nanoseconds).
export function spanFilter(profile, range, lanes) {
  const { begin, duration, lane } = profile.spans;
  const [from, to] = parseRange(range) ?? [0, Infinity];
  const chosen = parseLanes(lanes, profile.lanes.length);
  return (i) => begin[i] < to + !duration[i]
    && begin[i] + duration[i] > from - !duration[i]
    && (!chosen || chosen[lane[i]]);
}

// The durations of each site's spans; siteOf: of each node, -1 to leave it
// out.
function durations({ spans, sites }, siteOf, isWanted) {
  const { node, duration } = spans;
  const chosen = new Int32Array(node.length).fill(-1);
  const counts = new Uint32Array(sites.size);
  for (let i = 0; i < node.length; i++)
    if (siteOf[node[i]] >= 0 && isWanted(i))
      counts[chosen[i] = siteOf[node[i]]]++;
  const lists = Array.from(counts, (count) => new Float64Array(count));
  for (let i = 0; i < node.length; i++)
    if (chosen[i] >= 0)
      lists[chosen[i]][--counts[chosen[i]]] = duration[i];
  return lists;
}

// The number of calls in each site's buckets.
function histogramsOf({ histograms, sites }, siteOf) {
  const found = Array.from({ length: sites.size }, () =>
    new Float64Array(BUCKETS));
  histograms?.node.forEach((node, i) => {
    if (siteOf[node] >= 0)
      found[siteOf[node]][histograms.bucket[i]] += histograms.count[i];
  });
  return found;
}

// Totals; a site within itself counts only once, the outermost.
function addTotals(shape, stats) {
  const { parents } = shape.tree;
  const ofWork = shape.metrics.filter(({ id }) =>
    ['cpu', 'starved'].includes(id));
  for (let node = 0; node < shape.size; node++) {
    const site = shape.site(node);
    const one = stats[site];
    one.calls += shape.calls[node];
    one.self += shape.self[node];
    one.work += shape.work[node];
    one.wait += shape.wait[node];
    for (const { id, own } of ofWork)
      one[id] += own[node];
    let above = parents[node];
    while (above >= 0 && shape.site(above) !== site)
      above = parents[above];
    if (above < 0)
      one.nodes.push(node);
    one.total += above < 0 ? shape.total[node] : 0;
  }
}

// find: returns a percentile; ask for rising ones.
function spread(buckets, find) {
  const [p50, p90, p99] = [0.5, 0.9, 0.99].map(find);
  return { buckets, p50, p90, p99 };
}

function fromSpans(list) {
  const buckets = new Float64Array(BUCKETS);
  for (const ns of list)
    buckets[bucketOf(ns)]++;
  let at = 0;
  return spread(buckets, (share) =>
    list[at = findQuantile(list, share, at)] ?? 0);
}

function fromBuckets(buckets) {
  return spread(buckets, (share) => bucketQuantile(buckets, share));
}

// Returns { site, calls, total, self, work, cpu, starved, wait, mean, nodes }
// of each site of a shape; measure (rows) adds p50, p90, p99 and buckets to
// some of them, which takes long. isExact: these come from spans; otherwise,
// where spans were dropped, from the histograms of all calls.
export function functionStats(shape, range, lanes) {
  const { profile } = shape;
  const { sites, spans, info } = profile;
  const nodes = present(shape);
  const narrowed = parseRange(range) !== null || lanes !== '';
  const isExact = spans.count > 0 && (narrowed || info.dropped === 0);
  const stats = Array.from({ length: sites.size }, (_, site) =>
    ({ site, calls: 0, total: 0, self: 0, work: 0, cpu: 0, starved: 0, wait: 0,
       nodes: [] }));
  addTotals(shape, stats);
  for (const one of stats)
    one.mean = one.calls > 0 ? one.total / one.calls : 0;
  const measure = (rows) => {
    const left = rows.filter(({ buckets }) => !buckets);
    const isLeft = new Set(left.map(({ site }) => site));
    const siteOf = Int32Array.from(sites.of, (site, node) =>
      nodes[node] && isLeft.has(site) ? site : -1);
    const found = isExact ? durations(profile, siteOf,
                                      spanFilter(profile, range, lanes))
      : histogramsOf(profile, siteOf);
    for (const one of left)
      Object.assign(one, (isExact ? fromSpans : fromBuckets)(found[one.site]));
  };
  return { isExact, measure, rows: stats.filter(({ calls, self, total }) =>
    calls > 0 || self > 0 || total > 0) };
}

// Returns the n longest spans of a site, longest first.
export function hottest(profile, site, n, wanted) {
  const { spans, sites } = profile;
  const found = [];
  for (let i = 0; i < spans.count; i++) {
    if (sites.of[spans.node[i]] !== site
        || found.length === n
        && spans.duration[i] <= spans.duration[found[n - 1]] || !wanted(i))
      continue;
    let at = found.length;
    while (at > 0 && spans.duration[found[at - 1]] < spans.duration[i])
      at--;
    found.splice(at, 0, i);
    found.length = Math.min(found.length, n);
  }
  return found;
}
