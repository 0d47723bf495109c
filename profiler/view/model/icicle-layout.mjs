// SPDX-License-Identifier: MIT
// Lays out an icicle on a width of 1: children below their parent, heaviest
// first.  Children that took longer than their parent, since they ran
// concurrently, share its width in proportion.

export function layoutIcicle(tree, metric) {
  const { total } = metric;
  const left = new Float64Array(tree.size);
  const right = new Float64Array(tree.size);
  const place = (children, from, to, whole) => {
    const sum = children.reduce((s, i) => s + total[i], 0);
    const scale = (to - from) / (Math.max(whole, sum) || 1);
    let at = from;
    for (const i of children) {
      left[i] = at;
      at = Math.min(to, at + total[i] * scale);
      right[i] = at;
    }
  };
  place(tree.sorted(-1, total), 0, 1, 0);
  const rows = [];
  for (const i of tree.walk(total)) {
    if (right[i] <= left[i])
      continue;
    (rows[tree.depths[i]] ??= []).push(i);
    place(tree.sorted(i, total), left[i], right[i], total[i]);
  }
  return { left, right, rows };
}

// In a row sorted by left: the first box that ends after x.
export function firstAfter(row, right, x) {
  let low = 0, high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (right[row[middle]] <= x)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// The box of a layout's row at a place, or -1.
export function boxAt({ left, right }, row, at) {
  const box = row[firstAfter(row, right, at)] ?? -1;
  return box >= 0 && left[box] <= at ? box : -1;
}
