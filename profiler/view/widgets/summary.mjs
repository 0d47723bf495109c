// SPDX-License-Identifier: MIT
// The head of the page: what was recorded, its main figures, what is missing,
// and the findings.

import { button, element, nameElement, plural } from './dom.mjs';
import { exactUnit, formatBytes, formatCount, formatRate, formatRatio,
         formatShare, formatTime } from '../data/units.mjs';

function figure(label, value, title, note) {
  return element('div', { class: 'figure', title },
    element('dt', {}, label),
    element('dd', {}, value,
            note ? element('small', {}, note) : null));
}

// The most useful byte counter, for the whole profile.
function bytesFigures(profile, model) {
  const metric = model.byteCounters[0];
  if (!metric)
    return [];
  const rate = formatRate(metric.sum, profile.info.wall);
  return [figure(metric.label, formatBytes(metric.sum),
                 exactUnit(metric.sum, 'bytes'), rate)];
}

function figures(profile, model) {
  const { info } = profile;
  const time = (label, ns, note) =>
    figure(label, formatTime(ns), exactUnit(ns, 'time'), note);
  const cost = formatShare(info.overhead, info.work);
  return element('dl', { class: 'figures' },
    time('wall', info.wall),
    time('work', info.work,
         info.wall > 0
           ? formatRatio(profile.threadsBusy) + ' threads busy' : ''),
    time('wait', info.wait),
    ...bytesFigures(profile, model),
    info.allocPeak > 0
      ? figure('memory', formatBytes(info.allocPeak),
               'Peak; at the end: '
               + formatBytes(info.allocLive), 'at most')
      : '',
    figure('scopes', formatCount(info.scopes), 'Scopes opened in all',
           'cost ' + cost));
}

// Warnings that qualify all other figures.
function warnings(info, failure) {
  const warnings = failure ? ['It failed: ' + failure.value] : [];
  if (info.dropped > 0)
    warnings.push('The timeline lacks ' + formatCount(info.dropped)
      + plural(info.dropped, ' span', ' spans')
      + ': the log was full and kept the longest. Tree and totals are '
      + 'exact.');
  if (info.open > 0)
    warnings.push(formatCount(info.open)
      + plural(info.open, ' scope was', ' scopes were')
      + ' open when the recording ended; they end there.');
  if (info.late > 0)
    warnings.push(formatCount(info.late)
      + plural(info.late, ' scope', ' scopes')
      + ' ended after the parent.');
  return warnings.map((text) => element('p', { class: 'warning' }, text));
}

function when(unixNs) {
  if (!(unixNs > 0))
    return null;
  const iso = new Date(unixNs / 1e6).toISOString();
  return element('time', { datetime: iso },
                 iso.slice(0, 19).replace('T', ' ') + ' UTC');
}

// The number of findings that leaves room for a view on the screen.
const FIRST = 3;

const WEIGHTS = [['note', 'i', 'Note'], ['hint', '?', 'Hint'],
                 ['problem', '!', 'Problem']];

// Where the evidence of findings without a scope is, or is shown better: the
// first of these views that exists.
const EVIDENCE = {
  'read-amplification': ['tiles'], 'fetch-amplification': ['tiles'],
  'threads-off-cpu': ['timeline'], 'bound-by-one-thread': ['timeline'],
  'bound-by-queueing': ['timeline'], imbalance: ['parts', 'timeline'],
  straggler: ['parts', 'timeline'], 'warm-up': ['runs'],
  'runs-scatter': ['runs'], 'profiler-overhead': ['facts'],
  'limits-reached': ['facts'], 'log-incomplete': ['facts'],
  'open-scopes': ['facts'],
};

// The link to the evidence of a finding: { title, go }; null: none.
function wayTo(profile, one, { showNode, show, has }) {
  const view = EVIDENCE[one.id]?.find(has);
  if (view)
    return { title: 'Show where',
             go: () => show(view, one.node < 0 ? {} : { node: one.node }) };
  return one.node < 0 ? null
    : { title: 'Show ' + profile.names[one.node],
        go: () => showNode(one.node) };
}

function finding(profile, one, ways) {
  const [name, glyph, label] = WEIGHTS[one.weight] ?? WEIGHTS[0];
  const way = wayTo(profile, one, ways);
  const title = way
    ? element('button', { type: 'button', class: 'link', title: way.title,
                          onclick: way.go }, one.title)
    : element('strong', {}, one.title);
  return element('li', { class: name },
    element('span', { class: 'weight', title: label }, glyph,
            element('span', { class: 'unseen' }, label + ': ')),
    element('div', {}, title, element('p', {}, withUnits(one.evidence))));
}

// Keeps numbers with their units, which C writes in ASCII.
function withUnits(text) {
  return text.replace(/(\d) us\b/g, '$1 \u00b5s')
    .replace(/(\d) x\b/g, '$1 \u00d7')
    .replace(/(\d) ([%\u00d7]|(?:n|\u00b5|m)?s\b|[kMGT]?B\b)/g,
             '$1\u00a0$2').replace(/\u00d7 (?=\d+\b(?!\.))/g, '\u00d7\u00a0');
}

// ways: showNode (node), show (view), has (view).
export function findingsPanel(profile, ways) {
  if (profile.findings.length === 0)
    return '';
  const all = profile.findings.map((one) => finding(profile, one, ways));
  const fold = button('', () => show(all[FIRST].hidden),
                      { 'aria-expanded': false });
  const show = (isAll) => {
    all.slice(FIRST).forEach((one) => { one.hidden = !isAll; });
    fold.textContent = isAll ? 'Only the first ' + FIRST
      : 'All ' + all.length;
    fold.setAttribute('aria-expanded', isAll);
  };
  if (all.length > FIRST)
    show(false);
  return element('section', { class: 'findings', 'aria-label': 'Findings' },
    element('h2', {}, 'Findings ', all.length > FIRST ? fold : ''),
    element('ul', {}, ...all));
}

export function summaryPanel(profile, model, tools) {
  const { info } = profile;
  return element('header', {},
    element('div', { class: 'title' },
      element('h1', {}, nameElement(info.title)),
      element('p', { class: 'muted' },
              nameElement(info.program), ' \u00b7 ',
              when(info.started) ?? ''),
      tools),
    ...warnings(info, profile.facts.find(({ key }) => key === 'failed')),
    figures(profile, model));
}
