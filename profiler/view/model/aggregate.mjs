// SPDX-License-Identifier: MIT
// Sums spans by their node of the tree, for a stretch of time and some lanes.
// If no span was dropped, the whole time on all lanes gives the recorder's
// counts.

import { FAILED } from '../data/failures.mjs';

// Edges from this one on are requests and phases, which are no thread's work,
// and instants, which take no time.
export const REQUEST = 2;

// Sums the stretch from `from' to `to' on the given lanes (null: all), of the
// spans that `inside' marks (without it: all).  A span that is partly inside
// counts in proportion; an instant counts where it is.  Spans carry only the
// bytes and failures of the counters.
export function aggregateSpans(profile, { from, to, lanes, inside: marks }) {
  const { spans, tree, causes, edges } = profile;
  const { begin, duration, submitted, wait, node, bytes, lane } = spans;
  const cover = coverageOf(spans, causes);
  const sums = Object.fromEntries(['calls', 'total', 'self', 'work', 'wait',
    'queue', 'bytes', 'failures', 'starved'].map((name) =>
      [name, new Float64Array(tree.size)]));
  const { calls, total, self, work, queue, wait: waits } = sums;
  const failed = failedSpans(profile);
  for (let i = 0; i < spans.count; i++) {
    const end = begin[i] + duration[i];
    if (begin[i] > to || end < from || lanes && !lanes[lane[i]]
        || marks && !marks[i])
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
    if (spans.starved)
      sums.starved[at] += spans.starved[i] * part;
  }
  if (!spans.starved)
    sums.starved = null;
  return sums;
}

// Returns the ids of failed spans, which have a note.
function failedSpans({ notes }) {
  return new Set(notes.filter(({ span, key }) => span > 0 && key === FAILED)
    .map(({ span }) => span));
}

// Faster than Math.min and Math.max, which also handle -0 and NaN.
const lesser = (a, b) => a < b ? a : b;
const greater = (a, b) => a > b ? a : b;

// Returns how much of a stretch of a span its children cover together, and how
// much those on its own lane do.
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
