// SPDX-License-Identifier: MIT
// Spans added up by the node of the tree that they are runs of: of a stretch
// of time, on some of the lanes.  Of a profile that dropped no span, the
// whole stretch on all lanes gives what the recorder counted.

import { FAILED } from '../data/failures.mjs';

// Edges from this one on are of requests and their phases, which are no
// thread's work, and of instants, which take no time.
const REQUEST = 2;

// Begin and end of the stretch, and which lanes count (null: all).  A span
// that is partly inside counts with that part of it; what has no duration
// counts where it is.  Counters other than the one of a node's bytes and that
// of failures are not in spans.
export function aggregateSpans(profile, { from, to, lanes }) {
  const { spans, tree, causes, edges } = profile;
  const { begin, duration, submitted, wait, node, bytes, lane } = spans;
  const cover = coverageOf(spans, causes);
  const sums = Object.fromEntries(['calls', 'total', 'self', 'work', 'wait',
    'queue', 'bytes', 'failures'].map((name) =>
      [name, new Float64Array(tree.size)]));
  const { calls, total, self, work, queue, wait: waits } = sums;
  const failed = failedSpans(profile);
  for (let i = 0; i < spans.count; i++) {
    const end = begin[i] + duration[i];
    if (begin[i] > to || end < from || lanes && !lanes[lane[i]])
      continue;
    const low = greater(begin[i], from), inside = lesser(end, to) - low;
    if (!inside && duration[i])
      continue;
    const at = node[i];
    const part = inside === duration[i] ? 1 : inside / duration[i];
    const waited = wait[i] * part;
    calls[at]++;
    total[at] += inside;
    waits[at] += waited;
    sums.bytes[at] += bytes[i] * part;
    if (failed.size > 0 && failed.has(spans.id[i]))
      sums.failures[at]++;
    if (submitted[i] < begin[i])
      queue[at] += greater(0, lesser(begin[i], to)
                              - greater(submitted[i], from));
    const { union, called } = cover(i, low, low + inside);
    self[at] += inside - union;
    if (edges[at] < REQUEST)
      work[at] += greater(0, inside - called - waited);
  }
  return sums;
}

// Their ids: they note why.
function failedSpans({ notes }) {
  return new Set(notes.filter(({ span, key }) => span > 0 && key === FAILED)
    .map(({ span }) => span));
}

// Neither is -0 or no number here, which Math.min and Math.max look after.
const lesser = (a, b) => a < b ? a : b;
const greater = (a, b) => a > b ? a : b;

// How much of a stretch of a span its children cover together, and how much
// those do that it called itself, on its own lane.
function coverageOf({ begin, duration, lane }, { starts, list }) {
  return (span, low, high) => {
    let union = 0, called = 0, reached = low;
    for (let k = starts[span]; k < starts[span + 1]; k++) {
      const child = list[k], from = begin[child];
      if (from >= high)
        break;
      const end = lesser(high, from + duration[child]);
      if (end > reached) {
        union += end - greater(reached, from);
        reached = end;
      }
      if (lane[child] === lane[span])
        called += greater(0, end - greater(low, from));
    }
    return { union, called };
  };
}
