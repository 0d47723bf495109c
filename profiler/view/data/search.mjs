// SPDX-License-Identifier: MIT
// Finding scopes by name.

// What a query asks for: a part of a name in any case or, between slashes,
// a regular expression.  null for no query, undefined for a broken one.
export function makeMatcher(query) {
  if (query === '')
    return null;
  const expression = /^\/(.+)\/$/.exec(query);
  if (expression !== null) {
    try {
      const regexp = new RegExp(expression[1], 'iu');
      return (name) => regexp.test(name);
    } catch {
      return undefined;
    }
  }
  const part = query.toLowerCase();
  return (name) => name.toLowerCase().includes(part);
}

// Which nodes match: 1, 0; null when nothing is searched.
export function matchNodes(profile, query) {
  const matcher = makeMatcher(query);
  if (!matcher)
    return null;
  return Uint8Array.from(profile.names, (name) => matcher(name) ? 1 : 0);
}

// The share of the whole that the matches take together: a match inside
// another one is not counted again.
export function matchedShare(tree, layout, matched) {
  const inside = new Uint8Array(tree.size);
  let share = 0;
  for (let i = 0; i < tree.size; i++) {
    const parent = tree.parents[i];
    inside[i] = parent >= 0 && (inside[parent] || matched[parent]) ? 1 : 0;
    if (matched[i] && !inside[i])
      share += layout.right[i] - layout.left[i];
  }
  return share;
}
