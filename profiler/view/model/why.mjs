// SPDX-License-Identifier: MIT
// Why a run was slow: a run, a rank, or a span among those of its scope (a
// step, a request) beside the median one, path by path.

import { aggregateSpans, REQUEST } from './aggregate.mjs';
import { findQuantile } from './function-stats.mjs';
import { listRuns } from './runs-data.mjs';
import { STEP } from '../data/profile.mjs';
import { Tree } from '../data/tree.mjs';

// The kinds of a path's own time: on a CPU (where times without one are not
// known, both), without one, else.
const NKINDS = 3;

// The category of scopes that wait for other threads.
const QUEUE = 'queue';

// The share of a kind's difference of which a path must have more to be named
// instead of those around it, and causes of the whole to leave out waiting; and
// that of the whole from which on a cause is named.
const LARGER_PART = 0.5;
const NAMED_SHARE = 0.1;
const MOST_NAMED = 3;

const countsByProfile = new WeakMap();

// The number of spans of each node.
function spanCounts(profile) {
  let counts = countsByProfile.get(profile);
  if (!counts) {
    countsByProfile.set(profile, counts = new Uint32Array(profile.tree.size));
    for (const node of profile.spans.node)
      counts[node]++;
  }
  return counts;
}

const nodeOf = (group) => Number(group.slice(1));

// The groups whose members can be compared: 'p' of runs or ranks, 'n5' of the
// spans of node 5, which are steps, or those of this node.
export function groupsOf(profile, node) {
  const { parts, categories } = profile;
  const counts = spanCounts(profile);
  const nodes = new Set(categories.map((one, i) => one === STEP ? i : -1)
    .concat(node));
  return [...parts.length > 1 ? ['p'] : [],
          ...[...nodes].filter((i) => counts[i] > 1).map((i) => 'n' + i)];
}

// What the members of a group are: 'ranks', 'runs of step'; the path where
// other groups' scopes have that name, and the place in the source where they
// have that path.
export function groupName(profile, group, groups) {
  const { names, tree, files, lines } = profile;
  const nodes = groups.filter((one) => one !== 'p').map(nodeOf);
  const path = (i) => tree.path(i).map((one) => names[one]).join(' \u203a ');
  const isAlone = (name, node) =>
    nodes.filter((i) => name(i) === name(node)).length < 2;
  const node = nodeOf(group);
  return group === 'p' ? profile.partKind() + 's'
    : 'runs of ' + (isAlone((i) => names[i], node) ? names[node]
      : isAlone(path, node) ? path(node)
        : path(node) + ' at ' + files[node] + ':' + lines[node]);
}

// The group of 'p', 'n5' or a member ('p2', 's7': span 7); '' if there is
// none.
export function groupOf(profile, key) {
  const { parts, spans } = profile;
  const [, kind, digits] = /^([pns])(\d*)$/.exec(key) ?? [];
  const number = Number(digits);
  if (kind === 'p' && parts.length > 1)
    return 'p';
  const node = kind === 's' && digits ? spans.node[number] ?? -1
    : kind === 'n' && digits ? number : -1;
  return node >= 0 && spanCounts(profile)[node] > 1 ? 'n' + node : '';
}

// The members of a group, in the order of time: { keys, values (their times),
// name (i), find (key) }.
export function membersOf(profile, group) {
  const { parts, spans, names } = profile;
  if (group === 'p')
    return { values: Float64Array.from(parts, ({ wall }) => wall),
             name: (i) => parts[i].name, key: (i) => 'p' + i,
             find: (key) => /^p\d/.test(key) ? Number(key.slice(1)) : -1 };
  const node = nodeOf(group);
  const list = [];
  for (let i = 0; i < spans.count; i++)
    if (spans.node[i] === node)
      list.push(i);
  list.sort((a, b) => spans.begin[a] - spans.begin[b]);
  return { values: Float64Array.from(list, (i) => spans.duration[i]),
           name: (i) => names[node] + ' '
             + (spans.steps.get(list[i]) ?? '#' + (i + 1)),
           key: (i) => 's' + list[i],
           find: (key) => key[0] === 's' ? list.indexOf(Number(key.slice(1)))
             : -1 };
}

// The slowest member, and the median one of all but one (nearest rank).
export function slowestOf(values) {
  return values.reduce((most, value, i) => value > values[most] ? i : most, 0);
}

export function medianOf(values, except) {
  const others = values.filter((_, i) => i !== except);
  const value = others[findQuantile(others, 0.5)];
  return values.findIndex((one, i) => one === value && i !== except);
}

// Marks a span and all that it caused.
function causedBy({ spans, causes }, span) {
  const { starts, list } = causes;
  const inside = new Uint8Array(spans.count);
  for (const stack = [span]; stack.length > 0;) {
    const top = stack.pop();
    inside[top] = 1;
    for (let k = starts[top]; k < starts[top + 1]; k++)
      stack.push(list[k]);
  }
  return inside;
}

// The columns of a run or rank: as counted; its bytes, only where the log has
// all spans.
function columnsOfPart(profile, part) {
  const { names, lanes, info, end } = profile;
  const own = names.map((_, node) => profile.share(node, part));
  const column = (name) => Float64Array.from(own, (one) => one[name]);
  const { begin, end: until } = listRuns(profile)[part];
  const isRank = profile.partKind() === 'rank';
  const logged = info.dropped > 0 || profile.spans.count === 0 ? null
    : aggregateSpans(profile, isRank
      ? { from: 0, to: end,
          lanes: Uint8Array.from(lanes, (lane) => Number(lane.part === part)) }
      : { from: begin, to: until, lanes: null });
  return { calls: column('calls'), total: column('total'),
           self: column('self'),
           work: profile.knowsWorkOfParts ? column('work') : null,
           starved: profile.knowsWorkOfParts ? column('starved') : null,
           bytes: logged?.bytes ?? null };
}

// The columns of a member.
function columnsOfMember(profile, key) {
  const number = Number(key.slice(1));
  if (key[0] === 'p')
    return columnsOfPart(profile, number);
  return aggregateSpans(profile, { from: 0, to: profile.end, lanes: null,
                                   inside: causedBy(profile, number) });
}

// A path's own time by kind.
function kindsOf({ edges }, { self, work, starved }, node) {
  const all = self[node];
  if (edges[node] >= REQUEST || work === null)
    return [0, 0, all];
  const ran = Math.min(all, work[node]);
  const without = Math.min(ran, starved?.[node] ?? 0);
  return [ran - without, without, all - ran];
}

function labelsOf({ work, starved }) {
  return work === null ? ['', '', '']
    : starved === null ? ['working', '', 'waiting']
      : ['on a CPU', 'without a CPU', 'waiting'];
}

// The tree in which what other threads did for a path is the same path: to[i]
// is the place of node i there, itself for one of each path's nodes.
function mergeThreads({ names, categories, edges, tree }) {
  const to = new Int32Array(tree.size);
  const known = new Map();
  const parents = to.map((_, node) => {
    const above = tree.parents[node] < 0 ? -1 : to[tree.parents[node]];
    const key = JSON.stringify([above, names[node], categories[node],
                                Math.max(1, edges[node])]);
    to[node] = known.get(key) ?? node;
    known.set(key, to[node]);
    return to[node] === node ? above : -1;
  });
  return { to, tree: new Tree(parents) };
}

// Adds b's figures to those of a.
function addRow(a, b) {
  const add = (x, y) => x && x.map((value, i) => value + y[i]);
  return { ...a, total: add(a.total, b.total), calls: add(a.calls, b.calls),
           bytes: add(a.bytes, b.bytes), kinds: add(a.kinds, b.kinds) };
}

function mergeRows(rows, { to }) {
  const merged = Array(rows.length).fill(undefined);
  rows.forEach((row, node) => {
    const at = to[node];
    if (row)
      merged[at] = merged[at] ? addRow(merged[at], row) : { ...row, node: at };
  });
  return merged;
}

// Compares a member (by its key) with another: { excess; rows by node of tree,
// each { node, total: [a, b], calls, bytes (or null), kinds: differences } or
// undefined where neither ran; to: the node there of each of the profile's;
// labels: of the kinds, '' where the document has none of a run's }.  Threads
// are merged, since which one did a path's work is chance; byThread has rows,
// tree and to of each on its own.
export function compareMembers(profile, key, other, excess) {
  const [a, b] = [key, other].map((one) => columnsOfMember(profile, one));
  const rows = profile.names.map((_, node) => {
    const both = (column) => [a[column][node], b[column][node]];
    const [ours, theirs] = [a, b].map((one) => kindsOf(profile, one, node));
    if (!(a.calls[node] + b.calls[node] + a.total[node] + b.total[node] > 0))
      return undefined;
    return { node, total: both('total'), calls: both('calls'),
             bytes: a.bytes && b.bytes ? both('bytes') : null,
             kinds: ours.map((ns, kind) => ns - theirs[kind]) };
  });
  const merged = mergeThreads(profile);
  return { excess, labels: labelsOf(a), ...merged,
           rows: mergeRows(rows, merged),
           byThread: { rows, tree: profile.tree,
                       to: rows.map((_, node) => node) } };
}

// The largest causes of a difference: [{ node, kind, amount }]: each the path
// that has most of one kind's, with all below it.  Waiting for other threads
// is left out if what these did explains the larger part.
export function causesOf({ categories }, { excess, rows, tree }) {
  if (!(excess > 0))
    return [];
  const valueOf = (node, kind) => rows[node]?.kinds[kind] ?? 0;
  const found = largestOfKinds(tree, excess, (node, kind) =>
    kind === NKINDS - 1 && categories[node] === QUEUE ? 0
      : valueOf(node, kind));
  const explained = found.reduce((all, one) => all + one.amount, 0);
  return explained > LARGER_PART * excess ? found
    : largestOfKinds(tree, excess, valueOf);
}

// Of each kind the deepest path that has the larger part of it.
function largestOfKinds(tree, excess, valueOf) {
  const found = Array.from({ length: NKINDS }, (_, kind) => {
    const sums = tree.sums(Array.from(tree.parents, (_parent, node) =>
      valueOf(node, kind)));
    const heaviest = (node) => tree.sorted(node, sums)[0] ?? -1;
    let node = heaviest(-1), below = node;
    const most = sums[node] ?? 0;
    while (below >= 0 && sums[below] > LARGER_PART * most) {
      node = below;
      below = heaviest(node);
    }
    return { node, kind, amount: sums[node] ?? 0 };
  });
  return found.filter(({ amount }) => amount >= NAMED_SHARE * excess)
    .sort((x, y) => y.amount - x.amount).slice(0, MOST_NAMED);
}

// How often scopes ran whose number explains a time: requests, and hits of
// caches: [[name, ours, theirs], ...] where they differ.
export function countsOf({ names, edges }, { rows, tree }) {
  const sum = (isOf) => [0, 1].map((side) => rows.reduce((all, row, node) =>
    all + (row && isOf(node) ? row.calls[side] : 0), 0));
  const isRequest = (node) => edges[node] === REQUEST
    && edges[tree.parents[node]] !== REQUEST;
  return [['requests', ...sum(isRequest)],
          ['cache hits', ...sum((node) => names[node] === 'cache hit')]]
    .filter(([, ours, theirs]) => ours !== theirs);
}
