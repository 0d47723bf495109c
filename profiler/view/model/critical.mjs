// SPDX-License-Identifier: MIT
// The critical path of an operation, from its end back to its begin: at each
// moment what had to end before it could continue.  Within a span that is the
// child that ended last, on any thread, then the one that ended last before
// that began; time without a child is the span's own.  Where a thread only
// waited, apart from time when it was runnable without a CPU, the path
// continues in the thread that it waited for.  Where the path leaves a span at
// a moment in which the parent's own thread was in another child, it continues
// there.

import { sortBy } from '../data/causes.mjs';

// Steps between two moments in which the search may be suspended.
const STEPS = 4096;

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

// Finds the path below a root, in steps (slices.mjs).  Returns { spans, froms,
// tos, sums }: the pieces from the end to the beginning, without gaps, and the
// time in each node.
export function* findPath(profile, root) {
  const { begin, duration, wait, starved, lane, node } = profile.spans;
  yield* profile.findCauses();
  const { starts, list } = profile.causes;
  const endOf = (span) => begin[span] + duration[span];
  const path = { spans: [], froms: [], tos: [],
                 sums: new Float64Array(profile.tree.size) };
  const add = (span, from, to) => {
    if (!(to > from))
      return;
    path.spans.push(span);
    path.froms.push(from);
    path.tos.push(to);
    path.sums[node[span]] += to - from;
  };
  // Time without a CPU counts neither for waiting nor against it.
  const isWait = (span) => wait[span] > 0
    && wait[span] >= 0.9 * (duration[span] - (starved?.[span] ?? 0));
  // The last child of another thread that ended while one waited; else that.
  const awaited = (children, at) => {
    const waiting = children[at];
    let last = at;
    while (endOf(children[last + 1]) === endOf(waiting))
      last++;
    for (; last >= 0 && endOf(children[last]) > begin[waiting]; last--)
      if (lane[children[last]] !== lane[waiting])
        return children[last];
    return waiting;
  };
  // A walk back through a span: time is where it is, children[at] the next to
  // look at, the last of own the next of the span's own thread.  Children of
  // one thread are in the order of their ends already.
  const enter = (span, time) => {
    const children = list.subarray(starts[span], starts[span + 1]);
    return { span, time, children, at: children.length - 1, isFirst: true,
             own: [...children].filter((child) =>
               lane[child] === lane[span] && begin[child] >= begin[span]),
             isMixed: children.some((child, i) =>
               i > 0 && endOf(child) < endOf(children[i - 1])) };
  };
  // The next child on the path; -1 at the span's own begin.  A child that
  // outlives its parent is cut at its end.
  const next = (walk) => {
    while (begin[walk.own.at(-1)] >= walk.time)
      walk.own.pop();
    const own = walk.own.at(-1);
    const running = endOf(own) > walk.time ? own : -1;
    if (running >= 0 && !isWait(running)) {
      walk.isFirst = false;
      return running;
    }
    for (; walk.at >= 0; walk.at--) {
      const child = walk.children[walk.at];
      if (begin[child] >= walk.time || begin[child] < begin[walk.span]
          || endOf(child) > walk.time && !walk.isFirst)
        continue;
      walk.isFirst = false;
      if (running >= 0 && endOf(child) <= begin[running])
        return running;
      return isWait(child) ? awaited(walk.children, walk.at) : child;
    }
    return running;
  };
  const walks = [enter(root, endOf(root))];
  for (let step = 1; walks.length > 0; step++) {
    const walk = walks.at(-1);
    if (walk.isMixed) {
      walk.children = yield* sortBy(walk.children.slice(), endOf);
      walk.isMixed = false;
    }
    const child = next(walk);
    if (child < 0) {
      add(walk.span, begin[walk.span], walk.time);
      walks.pop();
    } else {
      const end = Math.min(endOf(child), walk.time);
      add(walk.span, end, walk.time);
      walk.time = Math.max(begin[child], begin[walk.span]);
      walks.push(enter(child, end));
    }
    if (step % STEPS === 0)
      yield;
  }
  return path;
}

// Returns [[site, ns], ...]: the path's time by function, the most first.
export function pathBySite(profile, { sums }) {
  const times = new Map();
  sums.forEach((ns, node) => {
    const site = profile.sites.of[node];
    if (ns > 0)
      times.set(site, (times.get(site) ?? 0) + ns);
  });
  return [...times].sort((a, b) => b[1] - a[1]);
}
