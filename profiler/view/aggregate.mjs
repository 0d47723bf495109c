// SPDX-License-Identifier: MIT
// Spans added up by the node of the tree that they are runs of: of a stretch
// of time, on some of the lanes.  Of a profile that dropped no span, the
// whole stretch on all lanes gives what the recorder counted.

import { FAILED } from './failures.mjs';

const REQUEST = 2, PHASE = 3;

// Figures of each node; counters other than the one of its bytes and that of
// failures are not in spans.
const SPAN_COLUMNS = ['calls', 'total', 'self', 'work', 'wait', 'queue',
                      'bytes', 'failures'];

// Begin and end of the stretch, and which lanes count (null: all).  A span
// that is partly inside counts with that part of it; what has no duration
// counts where it is.
export function aggregateSpans(profile, { from, to, lanes }) {
  const { spans, tree, causes, edges } = profile;
  const { begin, duration, submitted, wait, node, bytes, lane } = spans;
  const sums = Object.fromEntries(SPAN_COLUMNS.map((name) =>
    [name, new Float64Array(tree.size)]));
  const { calls, total, self, work, queue } = sums;
  const failed = failedSpans(profile);
  for (let i = 0; i < spans.count; i++) {
    const end = begin[i] + duration[i];
    if (begin[i] > to || end < from || lanes !== null && !lanes[lane[i]])
      continue;
    const low = Math.max(begin[i], from), high = Math.min(end, to);
    if (high === low && duration[i] > 0)
      continue;
    const at = node[i];
    const part = duration[i] > 0 ? (high - low) / duration[i] : 1;
    const waited = wait[i] * part;
    calls[at]++;
    total[at] += high - low;
    sums.wait[at] += waited;
    sums.bytes[at] += bytes[i] * part;
    if (failed.size > 0 && failed.has(spans.id[i]))
      sums.failures[at]++;
    queue[at] += Math.max(0, Math.min(begin[i], to)
                             - Math.max(submitted[i], from));
    const { union, called } = coverage(spans, causes, i, low, high);
    self[at] += high - low - union;
    if (edges[at] !== REQUEST && edges[at] !== PHASE)
      work[at] += Math.max(0, high - low - called - waited);
  }
  return sums;
}

// Their ids: they note why.
function failedSpans({ notes }) {
  return new Set(notes.filter(({ span, key }) => span > 0 && key === FAILED)
    .map(({ span }) => span));
}

// How much of a stretch of a span its children cover together, and how much
// those do that it called itself, on its own lane.
const covered = { union: 0, called: 0 };

function coverage({ begin, duration, lane }, { starts, list }, span, low,
                  high) {
  covered.union = covered.called = 0;
  let reached = low;
  for (let k = starts[span]; k < starts[span + 1]; k++) {
    const child = list[k];
    if (begin[child] >= high)
      break;
    const end = Math.min(high, begin[child] + duration[child]);
    if (end > reached) {
      covered.union += end - Math.max(reached, begin[child]);
      reached = end;
    }
    if (lane[child] === lane[span])
      covered.called += Math.max(0, end - Math.max(low, begin[child]));
  }
  return covered;
}
