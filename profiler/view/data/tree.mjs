// SPDX-License-Identifier: MIT
// The shape of the call tree: parents and children, and which nodes are the
// same function.  Parents precede their children, so sums need no recursion.

export class Tree {
  // parents[i] is the parent of node i, -1 for roots.
  constructor(parents) {
    const n = parents.length;
    this.size = n;
    this.parents = parents;
    this.depths = new Uint16Array(n);
    const starts = new Uint32Array(n + 2);
    for (let i = 0; i < n; i++) {
      const parent = parents[i];
      this.depths[i] = parent < 0 ? 0 : this.depths[parent] + 1;
      starts[parent + 2]++;
    }
    for (let i = 1; i < starts.length; i++)
      starts[i] += starts[i - 1];
    this.lists = new Uint32Array(n);
    const next = starts.slice();
    for (let i = 0; i < n; i++)
      this.lists[next[parents[i] + 1]++] = i;
    this.starts = starts;
  }

  // The children of a node; of -1: the roots.
  children(node) {
    return this.lists.subarray(this.starts[node + 1], this.starts[node + 2]);
  }

  // The nodes from a root down to this one.
  path(node) {
    const path = [];
    for (; node >= 0; node = this.parents[node])
      path.unshift(node);
    return path;
  }

  // Sums a value over each node and its descendants.
  sums(own) {
    const sums = Float64Array.from(own);
    for (let i = this.size - 1; i >= 0; i--)
      if (this.parents[i] >= 0)
        sums[this.parents[i]] += sums[i];
    return sums;
  }

  // Every node, children after their parents and siblings by a value, heaviest
  // first.
  *walk(value, node = -1) {
    const stack = this.sorted(node, value).reverse();
    while (stack.length > 0) {
      const top = stack.pop();
      yield top;
      for (const child of this.sorted(top, value).reverse())
        stack.push(child);
    }
  }

  sorted(node, value) {
    return Array.from(this.children(node))
      .sort((a, b) => value[b] - value[a] || a - b);
  }
}

export class Sites {
  // of[node] is the site of a node; first[site] its first node.
  constructor(names, categories) {
    const known = this.known = new Map();
    this.of = new Uint32Array(names.length);
    this.first = [];
    names.forEach((name, node) => {
      const key = name + '\0' + categories[node];
      let site = known.get(key);
      if (site === undefined) {
        site = known.size;
        known.set(key, site);
        this.first.push(node);
      }
      this.of[node] = site;
    });
    this.size = known.size;
  }

  // Returns the site of a name and category, or -1.
  find(name, category) {
    return this.known.get(name + '\0' + category) ?? -1;
  }
}
