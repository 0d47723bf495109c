// SPDX-License-Identifier: MIT
// The findings, a line each that unfolds in place.  A title leads to the
// evidence: its view opens, scrolled to it, and it is marked.

import { button, element, foldable, nameElement } from './dom.mjs';
import { STEP } from '../data/profile.mjs';
import { namesOf } from '../model/conditions.mjs';
import { membersOf } from '../model/why.mjs';

// The number of lines, with warnings, that leaves room for a view on the
// screen.
const FIRST = 3;

const WEIGHTS = [['note', 'i', 'Note'], ['hint', '?', 'Hint'],
                 ['problem', '!', 'Problem']];

// Where the evidence of findings without a scope is, or is shown better: the
// first of these views that exists.
const EVIDENCE = {
  'read-amplification': 'tiles', 'fetch-amplification': 'tiles',
  'threads-off-cpu': 'timeline', 'bound-by-one-thread': 'timeline',
  'bound-by-queueing': 'timeline', imbalance: 'parts timeline',
  straggler: 'parts timeline', 'warm-up': 'runs', 'runs-scatter': 'runs',
  'profiler-overhead': 'facts', 'limits-reached': 'facts',
  'outside-scopes': 'facts', 'log-incomplete': 'facts',
  'log-ring': 'timeline', recovered: 'facts', 'ring-damaged': 'facts',
  'ring-without-file': 'facts', 'open-scopes': 'facts',
  'left-scopes': 'facts', 'first-step': 'why', 'slow-steps': 'why',
  'recorded-elsewhere': 'facts', 'clock-jumped': 'facts',
};

// What is marked in a view, if it is there; else the view is.
const MARKED = {
  tree: 'tr.selected', icicle: '.pane', timeline: '.timeline',
  tiles: '.tile-bytes', runs: '.strip', parts: 'table',
  facts: '.facts', why: '.diff-whole',
};

let marked = null;

function unmark() {
  marked?.classList.remove('evidence');
  marked = null;
}

// Marks an element until the next click or key, and scrolls to it.
function markEvidence(view) {
  const panel = document.getElementById('view-' + view);
  unmark();
  marked = panel.querySelector(MARKED[view]) ?? panel;
  marked.classList.add('evidence');
  marked.scrollIntoView({ block: 'nearest' });
  for (const type of ['pointerdown', 'keydown'])
    addEventListener(type, unmark, { once: true });
}

function longestSpan({ spans }, node) {
  let longest = -1;
  for (let i = 0; i < spans.count; i++)
    if (spans.node[i] === node && (longest < 0
        || spans.duration[i] > spans.duration[longest]))
      longest = i;
  return longest;
}

// What the timeline selects as the evidence: a scope's longest run, or else
// what the operation waited for.
function seenInTime(profile, node) {
  return node < 0 ? { critical: '1' }
    : { node, span: longestSpan(profile, node) };
}

// The slowest step, or the first one, of the loop that a finding's scope is
// in.
function memberOf(profile, { id, node }) {
  const step = 'n' + profile.tree.path(node).find((one) =>
    profile.categories[one] === STEP);
  return id === 'first-step' ? membersOf(profile, step).key(0) : step;
}

// The way to the evidence of a finding: { title, go }; null: none.
function wayTo(profile, one, { showNode, show, has }) {
  const { id, node } = one;
  const view = EVIDENCE[id]?.split(' ').find(has);
  if (view)
    return { title: 'Show where', go: () => {
      show(view, view === 'timeline' ? seenInTime(profile, node)
        : { ...node < 0 ? {} : { node },
            ...view === 'why' ? { why: memberOf(profile, one) } : {},
            ...view === 'tiles' ? { tilesby: 'waste' } : {} });
      markEvidence(view);
    } };
  return node < 0 ? null : { title: 'Show ' + profile.names[node],
                             go: () => markEvidence(showNode(node)) };
}

function finding(profile, one, ways) {
  const [name, glyph, label] = WEIGHTS[one.weight] ?? WEIGHTS[0];
  const way = wayTo(profile, one, ways);
  const title = way
    ? button(one.title, way.go, { class: 'link', title: way.title })
    : element('strong', {}, one.title);
  return foldable('li', name, one.title, withUnits(one.evidence),
    element('span', { class: 'weight', title: label }, glyph,
            element('span', { class: 'unseen' }, label + ': ')), title,
    element('small', {}, 'whole recording'));
}

// Keeps numbers with their units, which C writes in ASCII.
function withUnits(text) {
  return text.replace(/(\d) us\b/g, '$1 \u00b5s')
    .replace(/(\d) x\b/g, '$1 \u00d7')
    .replace(/(\d) ([%\u00d7]|(?:n|\u00b5|m)?s\b|[kMGT]?B\b)/g,
             '$1\u00a0$2').replace(/\u00d7 (?=\d+\b(?!\.))/g, '\u00d7\u00a0');
}

// The findings of a recording, the heaviest first; of the second of two, by
// its name and all of them, since they stand below the views.  They are of the
// whole recording, which is said where the views are narrowed to a part of it.
// nwarnings: those above; ways: showNode (node), which returns the view that
// shows it, show (view, changes), has (view).
export function findingsPanel({ profile, state }, nwarnings, ways) {
  const { before, findings } = profile;
  if (findings.length === 0)
    return '';
  const all = findings.map((one) => finding(profile, one, ways));
  const first = before ? all.length : Math.max(1, FIRST - nwarnings);
  const fold = button('', () => show(all[first].hidden),
                      { class: 'all', 'aria-expanded': false });
  const show = (isAll) => {
    all.slice(first).forEach((one) => { one.hidden = !isAll; });
    fold.textContent = isAll ? 'Only ' + first : 'All ' + all.length;
    fold.setAttribute('aria-expanded', isAll);
  };
  if (all.length > first)
    show(false);
  const panel = element('section', { class: 'findings',
                                     'aria-label': 'Findings' },
    ...before ? [element('h2', {}, 'Findings of the second recording, ',
      nameElement(namesOf([before, profile]).sides[1]))] : [],
    element('ul', {}, ...all), all.length > first ? fold : '');
  const mark = () => panel.classList.toggle('of-whole',
    state.get('range') + state.get('lanes') !== '');
  state.listen(mark);
  mark();
  return panel;
}
