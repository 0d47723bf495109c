// SPDX-License-Identifier: MIT
// Searching scopes by name.

// Parses a query: a part of a name in any case or, between slashes, a regular
// expression. null for no query, undefined for an invalid one.
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

// Returns 1 for each node that matches, else 0; null without a search.
export function matchNodes(profile, query) {
  const matcher = makeMatcher(query);
  if (!matcher)
    return null;
  return Uint8Array.from(profile.names, (name) => matcher(name) ? 1 : 0);
}

// Returns the matches' share of the total; a match inside another is not
// counted twice.
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
