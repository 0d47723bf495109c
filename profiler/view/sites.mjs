// SPDX-License-Identifier: MIT
// Functions: all nodes of one name and category are one, wherever in the
// tree they are.

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

  // The site of a name and category; -1: there is none.
  find(name, category) {
    return this.known.get(name + '\0' + category) ?? -1;
  }
}
