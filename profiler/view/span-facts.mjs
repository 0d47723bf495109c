// SPDX-License-Identifier: MIT
// What is known of one span, as lines of name and value.

import { formatBytes, formatRate, formatTime } from './units.mjs';

const OPEN = 1, LATE = 2;

function askedBy(profile, span) {
  const parent = profile.parentOf(span);
  if (parent >= 0)
    return profile.names[profile.spans.node[parent]];
  return profile.spans.parent[span] > 0 ? 'a span that was dropped' : '';
}

export function spanFacts(profile, span) {
  const { spans } = profile;
  const queued = spans.begin[span] - spans.submitted[span];
  const time = (ns) => ns > 0 ? formatTime(ns) : '';
  return [
    ['took', formatTime(spans.duration[span])],
    ['began at', formatTime(spans.begin[span])],
    ['waited', time(spans.wait[span])],
    ['queued', time(queued)],
    ['bytes', spans.bytes[span] > 0 ? formatBytes(spans.bytes[span]) : ''],
    ['rate', formatRate(spans.bytes[span], spans.duration[span])],
    ['lane', profile.lanes[spans.lane[span]].name],
    ['asked for by', askedBy(profile, span)],
    ['end', spans.flags[span] & OPEN ? 'still open when recording ended'
      : spans.flags[span] & LATE ? 'after who asked for it' : ''],
    ...profile.spanNotes(span),
  ];
}
