// SPDX-License-Identifier: MIT
// Builds the page: the shared model, the head, the views.

import { element, choice } from './widgets/dom.mjs';
import { Chips } from './widgets/chips.mjs';
import { inSlices } from './data/slices.mjs';
import { State } from './model/state.mjs';
import { Model, narrow } from './model/model.mjs';
import { Tooltip } from './widgets/tooltip.mjs';
import { Tabs } from './widgets/tabs.mjs';
import { Help } from './widgets/help.mjs';
import { listenPrint } from './widgets/paper.mjs';
import { presentPicture, shareButtons } from './widgets/share.mjs';
import { rasterise } from './widgets/picture.mjs';
import { SearchBox } from './widgets/search-box.mjs';
import { Details } from './widgets/details.mjs';
import { findingsPanel } from './widgets/findings.mjs';
import { failureWarnings, summaryPanel } from './widgets/summary.mjs';
import { themeButton } from './widgets/theme.mjs';
import { viewsFor } from './views/views.mjs';

// The keys of the address besides those of views. node is a node of the
// profile; which, its node in the current tree; zoom, one of that tree; range
// is in ns, lanes and transforms as in model.mjs and transforms.mjs.
const DEFAULTS = { view: '', metric: 'wall', node: -1, which: -1, zoom: -1,
                   span: -1, query: '', sort: 'total', theme: '',
                   range: '', lanes: '', transforms: '' };

// The delay until the first view is drawn.
const CAUSES_MS = 500;

// Keys that work everywhere except in a field.
function listenKeys(search, tabs, shared, help) {
  const { state } = shared;
  const actions = {
    '/': () => search.input.focus(),
    n: () => search.step(1), N: () => search.step(-1),
    m: () => tabs.ignores().metric || nextMetric(shared),
    '?': () => help.open(),
    Escape: () => narrow(state, { range: '', lanes: '' }),
  };
  for (const { id, key, number } of tabs.views)
    actions[number] = actions[key] = () => tabs.select(id);
  addEventListener('keydown', (event) => {
    if (event.target.closest('input, select, dialog') || event.ctrlKey
        || event.metaKey || event.altKey || event.defaultPrevented)
      return;
    const own = tabs.current()?.actions ?? {};
    const action = Object.hasOwn(own, event.key) ? own[event.key]
      : Object.hasOwn(actions, event.key) ? actions[event.key] : null;
    if (action === null)
      return;
    event.preventDefault();
    // A held key would fill the browser's history; the search is exempt.
    if (!event.repeat || /^n$/i.test(event.key))
      action(state);
  });
}

// A profile dropped anywhere on the page opens in the comparison; the browser
// would navigate to it.
function listenDrop(tabs) {
  addEventListener('dragover', (event) => event.preventDefault());
  addEventListener('drop', (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer?.files ?? [];
    if (file) {
      tabs.select('diff');
      tabs.current().open(file);
    }
  });
}

// Shows a finding's scope in the tree or icicle, and returns which.
function showEvidence({ state, show }, node) {
  const here = ['tree', 'icicle'].includes(state.get('view'));
  const view = here ? state.get('view') : 'tree';
  show(view, { node, range: '', lanes: '', transforms: '', zoom: -1 });
  return view;
}

function nextMetric({ state, model }) {
  const { metrics } = model.shape();
  const at = metrics.indexOf(model.metric());
  state.set({ metric: metrics[(at + 1) % metrics.length].id },
            { step: true });
}

function metricChoice({ state, model }) {
  const made = choice('By', model.whole.metrics.map(({ id, label }) =>
    [id, label]), state.get('metric'), (metric) =>
      state.set({ metric }, { step: true }));
  made.title = 'Metric of widths, order, shares. Key m';
  state.listen((keys) => {
    if (keys.has('metric'))
      made.querySelector('select').value =
        model.whole.metric(state.get('metric')).id;
  });
  return made;
}

// Disables what the current view ignores, and says why in the note.  Changes
// may be by another time than wall, which is called by that there.
function listenIgnored({ state, profile }, tabs, metrics, note) {
  const update = () => {
    const ignores = tabs.ignores();
    metrics.querySelector('select').disabled = ignores.metric;
    metrics.querySelector('option').text =
      tabs.current().compared?.basis === 'cpu' ? 'CPU time' : 'wall';
    const ignored = [state.get('range') + state.get('lanes') && ignores.part,
                     state.get('transforms') && ignores.transforms];
    const isSecond = profile.before && state.get('view') !== 'diff';
    note.textContent = [isSecond ? 'Of the second recording.'
      : ignores.metric, ...ignored].filter(Boolean).join(' ');
    // The choice of a metric is not there either.
    note.classList.toggle('hint', !isSecond && !ignored.some(Boolean));
  };
  state.listen(update);
  update();
}

export function startApp(profile, root) {
  // The heaviest operation is selected first.
  const [first = -1] = profile.tree.sorted(-1, profile.total);
  const views = viewsFor(profile);
  const state = new State(Object.assign({}, DEFAULTS,
    ...views.map((view) => view.state ?? {}),
    { view: views[0].id, node: first }));
  state.follow();
  const span = state.get('span');
  if (span >= 0 && span < profile.spans.count && state.get('node') === first)
    state.assign({ node: profile.spans.node[span] });
  const model = new Model(profile, state);
  const tooltip = new Tooltip();
  const shared = { profile, state, model, tooltip };
  // The search listens before the tabs, since views draw its matches.
  const search = new SearchBox(shared);
  const tabs = new Tabs(views, state, (view) => view.make(shared));
  shared.show = (id, changes = {}) =>
    state.set({ ...changes, ...tabs.has(id) ? { view: id } : {} },
              { step: true });
  const help = new Help(views);
  const metrics = metricChoice(shared);
  const note = element('span', { class: 'muted', role: 'status' });
  const warnings = failureWarnings(profile);
  const findings = findingsPanel(shared, warnings.length, {
    showNode: (node) => showEvidence(shared, node),
    show: shared.show, has: (id) => tabs.has(id) });
  root.append(
    summaryPanel(profile, model, warnings,
                 element('span', { class: 'head-tools' },
                         shareButtons(shared, tabs), help.opener,
                         themeButton(state))),
    profile.before ? '' : findings,
    // The part that C wrote.
    ...root.children,
    element('main', {},
      element('div', { class: 'above-views' }, tabs.list,
        element('div', { class: 'bar-of-tools' }, metrics, note,
                new Chips(shared).element, search.view)),
      element('div', { class: 'views panel' }, ...tabs.panels),
      // What changed comes before what was found in the second.
      profile.before ? findings : '',
      new Details(shared).view),
    help.dialog, tooltip.box);
  root.hidden = false;
  tabs.show();
  listenIgnored(shared, tabs, metrics, note);
  // So that the first marked stretch does not wait for it.
  setTimeout(() => inSlices(profile.findCauses(), () => {}), CAUSES_MS);
  search.follow(tabs);
  listenKeys(search, tabs, shared, help);
  listenDrop(tabs);
  listenPrint(shared, tabs);
  const picture = () => presentPicture(shared, tabs);
  return { profile, state, model, tabs, picture,
           png: () => rasterise(picture()) };
}
