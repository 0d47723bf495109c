// SPDX-License-Identifier: MIT
// Puts the page together: the model that views share, the head, the views.

import { element, choice, button } from './dom.mjs';
import { State } from './state.mjs';
import { Tooltip } from './tooltip.mjs';
import { Tabs } from './tabs.mjs';
import { SearchBox } from './search-box.mjs';
import { Details } from './details.mjs';
import { TreeGrid } from './treegrid.mjs';
import { Icicle } from './icicle.mjs';
import { Timeline } from './timeline.mjs';
import { partsPanel } from './parts.mjs';
import { factsPanel } from './facts.mjs';
import { summaryPanel, findingsPanel } from './summary.mjs';
import { byteMetrics, makeMetrics } from './metrics.mjs';
import { breakdownPanel } from './breakdown.mjs';
import { nodeColours } from './colour.mjs';
import { formatCount, formatRate, formatTime, formatUnit } from './units.mjs';

const DEFAULTS = { view: 'tree', metric: 'wall', node: -1, zoom: -1, span: -1,
                   query: '', sort: 'total', theme: '' };

// What follows from the profile, and what the search found.
function makeModel(profile, state) {
  const metrics = makeMetrics(profile);
  const model = {
    metrics, matched: null, byteCounters: byteMetrics(metrics),
    colours: nodeColours(profile),
    metric: () => metrics.find((one) => one.id === state.get('metric'))
      ?? metrics[0],
  };
  // The lines of a node's tooltip, after those of the metric.
  model.facts = (node) => {
    const { total, self, treeWork, treeWait, calls } = profile;
    const lines = [
      ['total', formatTime(total[node])], ['self', formatTime(self[node])],
      ['work', formatTime(treeWork[node])],
      ['wait', treeWait[node] > 0 ? formatTime(treeWait[node]) : ''],
      ['calls', formatCount(calls[node])],
      ['mean', calls[node] > 1 ? formatTime(total[node] / calls[node]) : ''],
    ];
    for (const metric of metrics)
      if (metric.id.startsWith('c:') && metric.total[node] > 0)
        lines.push([metric.label,
                    formatUnit(metric.total[node], metric.unit)
                    + (metric.unit === 'bytes'
                       ? ', ' + formatRate(metric.total[node], total[node])
                       : '')]);
    return lines.filter(([name]) => name !== model.metric().label);
  };
  return model;
}

function themeButton(state) {
  const dark = () => state.get('theme') === 'dark' || state.get('theme') === ''
    && matchMedia('(prefers-color-scheme: dark)').matches;
  const apply = () => {
    document.documentElement.dataset.theme = state.get('theme');
    made.textContent = dark() ? 'Light' : 'Dark';
  };
  const made = button('', () => state.set({ theme: dark() ? 'light'
    : 'dark' }), { class: 'theme', title: 'Change colours' });
  state.listen((keys) => keys.has('theme') && apply());
  apply();
  return made;
}

function makeViews(shared) {
  const { profile, model } = shared;
  const views = [
    { id: 'tree', label: 'Tree', make: () => new TreeGrid(shared).view },
    { id: 'icicle', label: 'Icicle', make: () => new Icicle(shared).view },
  ];
  if (profile.spans.count > 0)
    views.push({ id: 'timeline', label: 'Timeline',
                 make: () => new Timeline(shared).view });
  if (profile.parts.length > 1)
    views.push({ id: 'parts', label: profile.partKind() === 'run' ? 'Runs'
      : 'Ranks', make: () => partsPanel(profile) });
  views.push({ id: 'facts', label: 'Recording',
               make: () => factsPanel(profile, model) });
  return views;
}

// Keys that work everywhere but in a field.
function listenKeys(search, tabs, state) {
  addEventListener('keydown', (event) => {
    if (event.target.closest('input, select') || event.ctrlKey
        || event.metaKey || event.altKey)
      return;
    const digit = /^[1-9]$/.test(event.key) ? Number(event.key) : 0;
    if (event.key === '/')
      search.input.focus();
    else if (event.key === 'n' || event.key === 'N')
      search.step(event.key === 'n' ? 1 : -1);
    else if (digit > 0 && digit <= tabs.views.length)
      tabs.select(tabs.views[digit - 1].id);
    else if (event.key === 'm')
      nextMetric(state, tabs.model);
    else
      return;
    event.preventDefault();
  });
}

function nextMetric(state, model) {
  const { metrics } = model;
  const at = metrics.indexOf(model.metric());
  state.set({ metric: metrics[(at + 1) % metrics.length].id });
}

function metricChoice(model, state) {
  const made = choice('Widths by', model.metrics.map(({ id, label }) =>
    [id, label]), state.get('metric'), (metric) => state.set({ metric }));
  state.listen((keys) => {
    if (keys.has('metric'))
      made.querySelector('select').value = model.metric().id;
    if (keys.has('view'))
      made.hidden = state.get('view') !== 'icicle';
  });
  made.hidden = state.get('view') !== 'icicle';
  return made;
}

export function startApp(profile, root) {
  // At first the heaviest operation is selected.
  const [first = -1] = profile.tree.sorted(-1, profile.total);
  const state = new State({ ...DEFAULTS, node: first });
  state.follow();
  const span = state.get('span');
  if (span >= 0 && span < profile.spans.count && state.get('node') === first)
    state.assign({ node: profile.spans.node[span] });
  const model = makeModel(profile, state);
  const tooltip = new Tooltip();
  const shared = { profile, state, model, tooltip };
  const search = new SearchBox(shared);
  const tabs = new Tabs(makeViews(shared), state);
  tabs.model = model;
  root.append(
    summaryPanel(profile, model, themeButton(state)),
    breakdownPanel(profile),
    findingsPanel(profile, (node) => state.set({ node }, { step: true })),
    element('main', {},
      element('div', { class: 'bar-of-tools' }, tabs.list,
              metricChoice(model, state), search.view),
      element('div', { class: 'views panel' }, ...tabs.panels),
      new Details(shared).view),
    tooltip.box);
  root.hidden = false;
  tabs.show();
  listenKeys(search, tabs, state);
  return { profile, state, model };
}
