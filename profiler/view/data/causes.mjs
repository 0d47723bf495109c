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

// The children of each span in order of their begin: those of span i are
// list[starts[i]] to list[starts[i + 1] - 1].
export function findChildren(spans, parents) {
  const { count, begin } = spans;
  const starts = new Uint32Array(count + 1);
  for (let i = 0; i < count; i++)
    if (parents[i] >= 0)
      starts[parents[i] + 1]++;
  for (let i = 0; i < count; i++)
    starts[i + 1] += starts[i];
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
  for (const above of mixed)
    list.subarray(starts[above], starts[above + 1])
      .sort((a, b) => begin[a] - begin[b] || a - b);
  return { starts, list };
}
