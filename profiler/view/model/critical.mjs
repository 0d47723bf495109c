// SPDX-License-Identifier: MIT
// The critical path of an operation, from its end back to its begin: at each
// moment what had to end before it could continue.  Within a span that is the
// child that ended last, on any thread, then the one that ended last before
// that began; time without a child is the span's own.  Where a thread only
// waited, the path continues in the thread that it waited for.

// Returns the root above a span.
export function rootOf(profile, span) {
  const { spanParents } = profile;
  while (spanParents[span] >= 0)
    span = spanParents[span];
  return span;
}

// Returns the longest span without a parent; -1: none.
export function longestRoot(profile) {
  const { spans, spanParents } = profile;
  let longest = -1;
  for (let i = 0; i < spans.count; i++)
    if (spanParents[i] < 0
        && (longest < 0 || spans.duration[i] > spans.duration[longest]))
      longest = i;
  return longest;
}

// Whether a child only waits.
function isWaiting({ wait, duration }, span) {
  return duration[span] > 0 && wait[span] >= 0.9 * duration[span];
}

// The children of a span, the last to end first.
function byEnd(profile, span) {
  const { begin, duration } = profile.spans;
  const { starts, list } = profile.causes;
  return Array.from(list.subarray(starts[span], starts[span + 1]))
    .map((child) => [begin[child] + duration[child], child])
    .sort((a, b) => b[0] - a[0] || b[1] - a[1]);
}

// The span of another thread that ended while this child waited.
function awaited({ begin, lane }, children, at) {
  const [end, waiting] = children[at];
  const found = children.find(([other, child]) => child !== waiting
    && lane[child] !== lane[waiting] && other > begin[waiting]
    && other <= end);
  return found ?? children[at];
}

// Walks back through one span, from a time to its begin.
class Walk {
  constructor(profile, span, until) {
    this.spans = profile.spans;
    this.span = span;
    this.time = until;
    this.children = byEnd(profile, span);
    this.at = 0;
    this.isFirst = true;
  }

  // The next child on the path, as [its end on the path, child]; null at the
  // span's own begin.  A child that outlives its parent is cut at its end.
  next() {
    const { begin } = this.spans;
    for (; this.at < this.children.length; this.at++) {
      const child = this.children[this.at][1];
      const end = this.children[this.at][0];
      if (begin[child] >= this.time || begin[child] < begin[this.span]
          || end > this.time && !this.isFirst)
        continue;
      this.isFirst = false;
      const [reached, found] = isWaiting(this.spans, child)
        ? awaited(this.spans, this.children, this.at) : [end, child];
      return [Math.min(reached, this.time), found];
    }
    return null;
  }
}

// Returns [{ span, from, to }, ...] from the end to the beginning, without
// gaps.
export function criticalPath(profile, root) {
  const { begin, duration } = profile.spans;
  const pieces = [];
  const add = (span, from, to) => {
    if (to > from)
      pieces.push({ span, from, to });
  };
  const walks = [new Walk(profile, root, begin[root] + duration[root])];
  while (walks.length > 0) {
    const walk = walks[walks.length - 1];
    const step = walk.next();
    if (step === null) {
      add(walk.span, begin[walk.span], walk.time);
      walks.pop();
      continue;
    }
    const [end, child] = step;
    add(walk.span, end, walk.time);
    walk.time = Math.max(begin[child], begin[walk.span]);
    walks.push(new Walk(profile, child, end));
  }
  return pieces;
}

// Returns [[site, ns], ...]: the path's time by function, the most first.
export function pathBySite(profile, pieces) {
  const sums = new Map();
  for (const { span, from, to } of pieces) {
    const site = profile.sites.of[profile.spans.node[span]];
    sums.set(site, (sums.get(site) ?? 0) + to - from);
  }
  return [...sums].sort((a, b) => b[1] - a[1]);
}
