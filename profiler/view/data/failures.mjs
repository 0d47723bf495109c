// SPDX-License-Identifier: MIT
// What failed, in words: operations count their failures, and note why.

import { formatCount } from './units.mjs';

// The counter of failures, and the note of why.
export const FAILURES = 'failures';
export const FAILED = 'failed';

// Of each node of a shape, how often it failed; null: nothing did.  Seen from
// its leaves a node has what its root has: only of roots it is their own.
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

// "failed: not found", "2 of 5 failed: not found, or otherwise"; '' where
// nothing did.
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
