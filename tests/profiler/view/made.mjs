// SPDX-License-Identifier: MIT
// Profiles for tests of modules, made of spans.
import { readProfile } from '../../../profiler/view/data/profile.mjs';

// The numeric columns of the nodes.
export const NUMBERS = [
  'line', 'edge', 'calls', 'total_ns', 'self_ns', 'work_ns', 'wait_ns',
  'queue_ns', 'min_ns', 'max_ns', 'open_count', 'late_count',
  'dropped_count', 'alloc_count', 'alloc_nbytes', 'alloc_peak_nbytes',
  'alloc_live_nbytes',
];

// Returns columns of numbers below 2^53 as a block of a document.
export function block(columns) {
  const bytes = [];
  for (let value of columns.flat()) {
    for (; value > 127; value = Math.floor(value / 128))
      bytes.push(value % 128 + 128);
    bytes.push(value);
  }
  return { count: columns[0].length, encoding: 'none', nbytes: bytes.length,
           data: Buffer.from(bytes).toString('base64') };
}

export function signed(value) {
  return value >= 0 ? 2 * value : -2 * value - 1;
}

// Returns a random generator that gives the same numbers in every run.
export function random(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
}

// nodes: [{ name, parent, category, edge, ... }], spans: [{ lane, node,
// begin, duration, parent, wait, queue, bytes }] by their ids - 1, parents
// too; figures of nodes are given, or 0.
export function makeDocument(nodes, spans, changes = {}) {
  const strings = [''];
  const text = (one) => {
    if (!strings.includes(one))
      strings.push(one);
    return strings.indexOf(one);
  };
  const table = {
    name: nodes.map(({ name }) => text(name)),
    category: nodes.map(({ category = 'user' }) => text(category)),
    function: nodes.map(() => 0), file: nodes.map(() => 0),
    parent: nodes.map(({ parent = -1 }) => parent),
  };
  for (const column of NUMBERS)
    table[column] = nodes.map((node) => node[column] ?? 0);
  const nlanes = 1 + Math.max(0, ...spans.map(({ lane }) => lane));
  const order = spans.map((span, i) => ({ ...span, id: i + 1 }))
    .sort((a, b) => a.lane - b.lane || a.begin - b.begin
      || b.duration - a.duration || a.id - b.id);
  const before = (i, key) =>
    i > 0 && order[i - 1].lane === order[i].lane ? order[i - 1][key] : 0;
  return {
    format: 'radio-profile', version: 1,
    info: { title: 't', program: 'p', parts: 'none', wall_ns: 1000,
            dropped_count: 0 },
    strings, nodes: table,
    lanes: {
      name: Array.from({ length: nlanes }, (_, i) => 'lane ' + i),
      is_async: Array(nlanes).fill(0), os_tid: Array(nlanes).fill(0),
      part: Array(nlanes).fill(0),
      span_count: Array.from({ length: nlanes }, (_, i) =>
        order.filter(({ lane }) => lane === i).length),
    },
    spans: block([
      order.map(({ begin }, i) => begin - before(i, 'begin')),
      order.map(({ duration }) => duration),
      order.map(({ queue = 0 }) => queue),
      order.map(({ wait = 0 }) => wait),
      order.map(({ id }, i) => signed(id - before(i, 'id'))),
      order.map(({ id, parent = -1 }) =>
        parent < 0 ? 0 : signed(id - parent - 1)),
      order.map(({ node }) => node),
      order.map(() => 0),
      order.map(({ bytes = 0 }) => bytes),
    ]),
    ...changes,
  };
}

export function makeProfile(nodes, spans, changes) {
  return readProfile(JSON.stringify(makeDocument(nodes, spans, changes)));
}

// A history of nested calls on several lanes, some of which ask other lanes
// for work; nodes are made as paths need them.
export function history(seed, nspans = 200, nlanes = 3) {
  const next = random(seed);
  const nodes = [], spans = [];
  const place = (name, parent, edge) => {
    const at = nodes.findIndex((one) =>
      one.name === name && one.parent === parent && one.edge === edge);
    return at >= 0 ? at
      : nodes.push({ name, parent, edge, category: 'user' }) - 1;
  };
  const free = new Array(nlanes).fill(0);
  const call = (lane, begin, room, parent, depth) => {
    if (spans.length >= nspans || room < 4)
      return;
    const edge = parent >= 0 && spans[parent].lane !== lane ? 1 : 0;
    const node = place('abcd'[next(4)], parent < 0 ? -1
      : spans[parent].node, edge);
    const duration = 2 + next(room - 2);
    const span = spans.push({ lane, node, begin, duration, parent,
                              queue: edge ? next(5) : 0, wait: 0,
                              bytes: next(100) }) - 1;
    let at = begin + next(3);
    for (let i = next(4); i > 0 && depth < 6; i--) {
      const room = begin + duration - at;
      const made = spans.length;
      call(lane, at, room, span, depth + 1);
      if (spans.length > made)
        at = spans[made].begin + spans[made].duration + next(3);
    }
    const other = (lane + 1 + next(nlanes)) % nlanes;
    if (other !== lane && depth < 3 && free[other] <= begin) {
      free[other] = begin + duration + 50;
      call(other, begin + 1, duration + 40, span, depth + 1);
    }
    return;
  };
  for (let t = 0; spans.length < nspans; ) {
    const lane = next(nlanes);
    t = Math.max(t, free[lane]) + 1;
    free[lane] = t + 200;
    call(lane, t, 200, -1, 0);
  }
  return { nodes, spans };
}
