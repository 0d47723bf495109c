// SPDX-License-Identifier: MIT
// All views, in the order of their tabs and of the keys 1 to 9.  A view is a
// module that exports
//
//   { id, label, about, needs, leads, letter, keys, ignores, state, make }
//
// about: a line for the list of keys; needs (profile): whether there is
// anything to show (a view without it is always there); leads (profile):
// whether it comes first, as what the page is for; letter: the key to it
// behind the ninth; label: a text, or
// label (profile); keys: [[key, what it does], ...] of its own; ignores: why
// it does not go by the metric, a part of the time or the lanes (part) or
// transforms, for those that it does not; state: the keys
// that it adds to the address, with their defaults (a number, or text);
// make (shared): the view, when it is first shown, from { profile, state,
// model, tooltip, show } (show (id, changes): go to another view), as
//
//   { element, update (keys), step (by), searched (), matches (), actions }
//
// of which all but element may be missing.  update: these keys of the state
// changed (all that did while the view was hidden come when it is shown
// again); step: to the next match of the search (1) or the one before (-1),
// false if the view has no order of its own; searched: the tree that the
// search is of, if the view has its own (search-box.mjs); matches: how many
// rows it means in a view without scopes; actions: { key: () => ... }, keys
// that work wherever the focus is.

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
  factsView,
];

// Those that a profile has something for, with their labels.
export function viewsFor(profile) {
  const leads = (view) => Number(view.leads?.(profile) ?? false);
  return VIEWS.filter(({ needs }) => needs === undefined || needs(profile))
    .sort((a, b) => leads(b) - leads(a))
    .map((view, i) => ({
      ...view,
      key: i < 9 ? String(i + 1) : view.letter ?? '',
      label: typeof view.label === 'function' ? view.label(profile)
        : view.label,
    }));
}
