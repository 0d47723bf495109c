// SPDX-License-Identifier: MIT
// Failures: operations count them, and note the reason.

import { formatCount } from './units.mjs';

// The counter of failures, and the key of the note.
export const FAILURES = 'failures';
export const FAILED = 'failed';

// Returns the failures of each node of a shape, or null if there are none.  In
// an inverted tree nodes have their root's, so only those of roots are their
// own.
function ownFailures(shape) {
  const metric = shape.metrics.find(({ id }) => id === 'c:' + FAILURES);
  if (!metric)
    return null;
  const { parents } = shape.tree;
  return metric.own === metric.total
    ? metric.own.map((n, node) => parents[node] < 0 ? n : 0) : metric.own;
}

const failuresByShape = new WeakMap();

export function failuresOf(shape, node) {
  if (!failuresByShape.has(shape))
    failuresByShape.set(shape, ownFailures(shape));
  return failuresByShape.get(shape)?.[node] ?? 0;
}

// Returns "failed: not found", "2 of 5 failed: not found", or ''
// without failures.
export function failureText(shape, node) {
  const n = failuresOf(shape, node);
  if (n === 0)
    return '';
  const calls = shape.metric('calls').own[node];
  const why = shape.profile.nodeNotes(shape.origin[node])
    .find(([key]) => key === FAILED)?.[1];
  return (calls > 1 ? formatCount(n) + ' of ' + formatCount(calls) + ' ' : '')
    + 'failed' + (why ? ': ' + why : '');
}
