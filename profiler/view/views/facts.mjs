// SPDX-License-Identifier: MIT
// The recording's facts, and a glossary.

import { element, nameElement } from '../widgets/dom.mjs';
import { SearchedRows } from './searched-rows.mjs';
import { formatBytes, formatCount, formatTime,
         formatUnit } from '../data/units.mjs';

const GLOSSARY = [
  ['total', 'From begin to end, of all calls.'],
  ['self', 'Time not in child scopes.'],
  ['work', 'Time its threads ran.'],
  ['no CPU', 'Work in which its threads could run, but others had the CPUs.'],
  ['wait', 'Time its threads waited, for others, too.'],
  ['queued', 'From the handoff to another thread to the begin.'],
  ['wall', 'Elapsed time. Concurrent scopes share the width of their '
    + 'parent in the icicle.'],
];

function factTable(pairs) {
  return element('table', { class: 'facts' }, element('tbody', {},
    ...pairs.map(([name, value]) => element('tr', {},
      element('th', { scope: 'row' }, nameElement(name)),
      element('td', {}, nameElement(value))))));
}

// A fact whose key says that it is a time or bytes, or several of these.
function withUnit({ key, value }) {
  const each = (format) => value.replace(/\d+/g, (n) => format(Number(n)));
  if (!/^\d+(, (\d+|\.+))*$/.test(value))
    return [key, value];
  if (key.endsWith(' ns'))
    return [key.slice(0, -3).replace(/cpu$/, 'CPU time'), each(formatTime)];
  return [key, key.startsWith('bytes ') ? each(formatBytes) : value];
}

function factsPanel(profile, model) {
  const { info } = profile;
  const recorded = [
    ...profile.facts.map(withUnit),
    ['clock', info.clock],
    ['scopes opened', formatCount(info.scopes)],
    ['cost of a scope', info.scopeCost.toFixed(1) + '\u00a0ns'],
    ['cost of all', formatTime(info.overhead)],
    ['spans in the timeline', formatCount(profile.spans.count)],
    ['lanes', formatCount(profile.lanes.length)],
    ['paths in the tree', formatCount(profile.tree.size)],
  ];
  const counted = model.whole.metrics.filter((one) => one.id.startsWith('c:'))
    .map((one) => [one.label, formatUnit(one.sum, one.unit)]);
  return element('div', { class: 'scroll columns', tabindex: 0 },
    element('section', {}, element('h2', {}, 'Recording'), factTable(recorded)),
    element('section', {}, element('h2', {}, 'Counted'),
            counted.length > 0 ? factTable(counted)
              : element('p', { class: 'muted' }, 'Nothing.'),
            element('h2', {}, 'Words'), factTable(GLOSSARY)));
}

export const factsView = {
  id: 'facts', label: 'Recording',
  about: 'The recording, its environment, and a glossary',
  letter: 'r', keys: [],
  ignores: { metric: 'No metric here.' },
  make: ({ profile, model, state }) =>
    new SearchedRows(factsPanel(profile, model), state),
};
