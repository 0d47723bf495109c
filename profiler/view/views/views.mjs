// SPDX-License-Identifier: MIT
// All views, in the order of their tabs and of the keys 1 to 9.  A view is a
// module that exports
//
//   { id, label, about, needs, leads, letter, keys, ignores, state, make }
//
// about: a line for the list of keys; needs (profile): whether there is
// anything to show (default: always); leads (profile): whether it is the
// page's first view; letter: its key besides its number, of views that may
// have none; keys: [[key, what it does], ...] of its own; ignores: why it does
// not use the metric, the range and lanes (part) or the transforms; state: its
// keys of the address with their defaults (a number or text); make (shared):
// creates the view when it is first shown, from { profile, state, model,
// tooltip, show } (show (id, changes): goes to another view), as
//
//   { element, update (keys), step (by), searched (), matches (), actions }
//
// where only element is required. update: these keys of the state changed
// (those changed while it was hidden come when it is shown); step: goes to the
// next match of the search (1) or the previous one (-1), false if the view has
// no order of its own; searched: the tree that is searched, if it has its own
// (search-box.mjs); matches: the number of matching rows in a view without
// scopes; actions: { key: () => ... }, keys that work regardless of the focus.

import { diffView } from './diff.mjs';
import { factsView } from './facts.mjs';
import { functionsView } from './functions.mjs';
import { icicleView } from './icicle.mjs';
import { partsView } from './parts.mjs';
import { runsView } from './runs.mjs';
import { sandwichView } from './sandwich.mjs';
import { timelineView } from './timeline.mjs';
import { tilesView } from './tiles.mjs';
import { bottomUpView, treeView } from './treegrid.mjs';
import { whyView } from './why.mjs';

const VIEWS = [
  timelineView,
  icicleView,
  treeView,
  bottomUpView,
  sandwichView,
  functionsView,
  tilesView,
  runsView,
  partsView,
  diffView,
  whyView,
  factsView,
];

// Returns the views that a profile has data for, with their keys.
export function viewsFor(profile) {
  const leads = (view) => Number(view.leads?.(profile) ?? false);
  return VIEWS.filter(({ needs }) => needs === undefined || needs(profile))
    .sort((a, b) => leads(b) - leads(a))
    .map((view, i) => ({
      ...view,
      key: view.letter ?? (i < 9 ? String(i + 1) : ''),
      number: String(i + 1),
    }));
}
