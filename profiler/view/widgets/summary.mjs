// SPDX-License-Identifier: MIT
// The head of the page: what was recorded, its main figures in a line, what is
// missing.

import { button, element, foldable, nameElement, plural } from './dom.mjs';
import { byteMetrics, flopMetric } from '../model/metrics.mjs';
import { parseRange } from '../model/model.mjs';
import { partOfStretch } from '../model/runs-data.mjs';
import { exactUnit, formatBytes, formatCount, formatFlopRate,
         formatIntensity, formatRate, formatRatio,
         formatShare, formatTime, formatUnit } from '../data/units.mjs';

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

// Arithmetic operations, in all.
function flopFigures(profile, model) {
  const flop = flopMetric(model.whole.metrics);
  const nbytes = model.byteCounters[0]?.sum ?? 0;
  if (flop === null)
    return [];
  const notes = [formatFlopRate(flop.sum, profile.info.wall),
                 formatIntensity(flop.sum, nbytes)];
  return [figure('operations', formatUnit(flop.sum, 'flop'),
                 exactUnit(flop.sum, 'flop'),
                 notes.filter((note) => note).join(', '))];
}

// Of a stretch of time or some lanes, marked so: what a run or rank was
// recorded with, else what the log has.
function figuresOfStretch(profile, model) {
  const [range, lanes] = ['range', 'lanes'].map((key) =>
    model.state.get(key));
  const shape = model.aggregate(range, lanes, '');
  const sum = (id) => shape.metrics.find((one) => one.id === id)?.sum ?? 0;
  const at = partOfStretch(profile, { range, lanes });
  const [from, to] = parseRange(range) ?? [0, profile.info.wall];
  const { name, wall, work, starved } = profile.parts[at]
    ?? { name: range === '' ? 'some lanes' : formatTime(to - from) + ' from '
           + formatTime(from), wall: to - from, work: sum('work'),
         starved: shape.starved?.reduce((all, ns) => all + ns, 0) };
  const ran = work - (starved ?? 0);
  const [bytes] = byteMetrics(shape.metrics);
  return element('dl', { class: 'figures narrowed', tabindex: 0 },
    figure('only', nameElement(name), 'The views are narrowed to this',
           profile.info.dropped > 0 ? 'as far as logged' : ''),
    timeFigure('wall', wall),
    timeFigure('work', work, wall > 0 ? formatRatio(ran / wall) + ' threads '
      + (starved === undefined ? 'working' : 'busy') : ''),
    ...starved > 0 ? [timeFigure('on CPUs', ran, 'of work'),
                      timeFigure('no CPU', starved, 'of work')] : [],
    timeFigure('wait', sum('wait')),
    bytes ? figure(bytes.label, formatBytes(bytes.sum),
                   exactUnit(bytes.sum, 'bytes'),
                   formatRate(bytes.sum, wall)) : '',
    figure('scopes', formatCount(sum('calls')), 'Scopes in the log', ''));
}

function timeFigure(label, ns, note) {
  return figure(label, formatTime(ns), exactUnit(ns, 'time'), note);
}

function figures(profile, model) {
  const { info } = profile;
  const cost = formatShare(info.overhead, profile.ran);
  return element('dl', { class: 'figures', tabindex: 0 },
    timeFigure('wall', info.wall),
    timeFigure('work', info.work,
               info.wall > 0
                 ? formatRatio(profile.threadsBusy) + ' threads busy' : ''),
    profile.ran < info.work ? timeFigure('on CPUs', profile.ran, 'of work')
      : '',
    info.starved > 0 ? timeFigure('no CPU', info.starved, 'of work') : '',
    timeFigure('wait', info.wait),
    ...bytesFigures(profile, model),
    ...flopFigures(profile, model),
    info.allocPeak > 0
      ? figure('memory', formatBytes(info.allocPeak),
               'Peak; at the end: '
               + formatBytes(info.allocLive), 'allocated at most')
      : '',
    figure('scopes', formatCount(info.scopes), 'Scopes opened in all',
           'cost ' + cost));
}

// The texts of the warnings that qualify all figures.
export function warningsOf({ info, facts }) {
  const failure = facts.find(({ key }) => key === 'failed');
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
  return warnings;
}

function when(unixNs) {
  if (!(unixNs > 0))
    return null;
  const iso = new Date(unixNs / 1e6).toISOString();
  return element('time', { datetime: iso },
                 iso.slice(0, 19).replace('T', ' ') + ' UTC');
}

// The tools are behind a button where the screen is narrow.
function menuOf(tools) {
  const open = button('\u22ef', () => {
    const isOpen = tools.parentNode.classList.toggle('open');
    open.setAttribute('aria-expanded', isOpen);
  }, { class: 'menu', 'aria-expanded': false,
       'aria-label': 'Link, pictures, keys, colours' });
  return open;
}

export function summaryPanel(profile, model, tools) {
  const { info } = profile;
  const { state } = model;
  const make = () => (state.get('range') + state.get('lanes') === ''
    ? figures : figuresOfStretch)(profile, model);
  let shown = make();
  state.listen((keys) => {
    if (!keys.has('range') && !keys.has('lanes'))
      return;
    const next = make();
    shown.replaceWith(next);
    shown = next;
  });
  return element('header', {},
    element('div', { class: 'title' },
      element('h1', { title: info.title }, nameElement(info.title)),
      element('p', { class: 'muted' },
              nameElement(info.program), ' \u00b7 ',
              when(info.started) ?? ''),
      menuOf(tools), tools),
    ...warningsOf(profile).map((text) =>
      foldable('div', 'warning', 'Warning', text)),
    shown);
}
