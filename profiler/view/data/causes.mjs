// SPDX-License-Identifier: MIT
// The causal graph: the parent and the children of each span across threads
// and requests, in arrays that are built once.

// Returns the index of each span's parent; -1: none, or dropped from the log.
export function findParents({ id, parent, count }) {
  const found = new Int32Array(count).fill(-1);
  let most = 0;
  for (let i = 0; i < count; i++)
    most = Math.max(most, id[i]);
  const lookUp = most <= 8 * count + 1024 ? byTable(id, count, most)
    : bySearch(id, count);
  for (let i = 0; i < count; i++)
    if (parent[i] > 0)
      found[i] = lookUp(parent[i]);
  return found;
}

function byTable(id, count, most) {
  const table = new Int32Array(most + 1).fill(-1);
  for (let i = 0; i < count; i++)
    table[id[i]] = i;
  return (wanted) => wanted <= most ? table[wanted] : -1;
}

function bySearch(id, count) {
  const order = Uint32Array.from({ length: count }, (_, i) => i)
    .sort((a, b) => id[a] - id[b]);
  return (wanted) => {
    let low = 0, high = count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (id[order[middle]] < wanted)
        low = middle + 1;
      else
        high = middle;
    }
    return low < count && id[order[low]] === wanted ? order[low] : -1;
  };
}

// Above this number, a comparison sort would take too long for one step.
const SORTED_AT_ONCE = 1 << 14;

// Sorts the numbers of a typed array by a key of whole numbers, stably: many of
// them digit by digit, in steps.
export function* sortBy(list, key) {
  if (list.length < SORTED_AT_ONCE)
    return list.sort((a, b) => key(a) - key(b));
  let most = 0;
  for (const one of list)
    most = Math.max(most, key(one));
  let from = list, to = list.slice();
  for (let unit = 1; unit <= most; unit *= 65536) {
    const next = new Uint32Array(65537);
    for (const one of from)
      next[(key(one) / unit & 65535) + 1]++;
    for (let i = 0; i < 65536; i++)
      next[i + 1] += next[i];
    yield;
    for (const one of from)
      to[next[key(one) / unit & 65535]++] = one;
    [from, to] = [to, from];
    yield;
  }
  list.set(from);
  return list;
}

// Finds the children of each span in order of their begin, in steps: those of
// span i are list[starts[i]] to list[starts[i + 1] - 1].
export function* findChildren(spans, parents) {
  const { count, begin } = spans;
  const starts = new Uint32Array(count + 1);
  for (let i = 0; i < count; i++)
    if (parents[i] >= 0)
      starts[parents[i] + 1]++;
  for (let i = 0; i < count; i++)
    starts[i + 1] += starts[i];
  yield;
  const list = new Uint32Array(starts[count]);
  const next = starts.slice(0, count);
  // Spans are sorted by lane and begin, so only children on several lanes need
  // sorting.
  const mixed = new Set();
  for (let i = 0; i < count; i++) {
    const above = parents[i];
    if (above < 0)
      continue;
    const at = next[above]++;
    if (at > starts[above] && begin[list[at - 1]] > begin[i])
      mixed.add(above);
    list[at] = i;
  }
  yield;
  for (const above of mixed) {
    yield* sortBy(list.subarray(starts[above], starts[above + 1]),
                  (span) => begin[span]);
    yield;
  }
  return { starts, list };
}
