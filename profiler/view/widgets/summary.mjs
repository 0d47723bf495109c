// SPDX-License-Identifier: MIT
// The head of the page: what was recorded, its main figures in a line, what is
// missing.

import { arrow, button, element, foldable, nameElement }
  from './dom.mjs';
import { compareConditions, countRuns, factOf, namesOf }
  from '../model/conditions.mjs';
import { byteMetrics, flopMetric, makeMetrics } from '../model/metrics.mjs';
import { parseRange } from '../model/model.mjs';
import { partOfStretch } from '../model/runs-data.mjs';
import { exactUnit, formatBytes, formatChange, formatCount, formatFlopRate,
         formatGrowth, formatIntensity, formatRate, formatRatio,
         formatShare, formatTime, formatUnit } from '../data/units.mjs';

function figure(label, value, title, note) {
  return element('div', { class: 'figure', title },
    element('dt', {}, label),
    element('dd', {}, value,
            note ? element('small', {}, note) : null));
}

// The figures of a run (the mean) before and after, on a page that has both;
// by how much it changed beside what can be compared.
function changeFigures(profile, model) {
  const both = [profile.before, profile];
  const { basis } = compareConditions(...both);
  const change = (label, id, of, unit = 'time') => {
    const [before, after] = both.map(of);
    return before + after > 0 ? [figure(label,
      formatChange(before, after, unit),
      exactUnit(before, unit) + ' \u2192 ' + exactUnit(after, unit),
      id === basis ? formatGrowth(before, after) : '')] : [];
  };
  const aRun = (of) => (one) => of(one) / countRuns(one);
  const isOfRuns = both.some((one) => countRuns(one) > 1);
  const isStarved = both.some(({ info }) => info.starved > 0);
  const [bytes] = model.byteCounters;
  const nbytes = (one) => byteMetrics(makeMetrics(one))
    .find(({ id }) => id === bytes.id)?.sum ?? 0;
  return [
    ...change((isOfRuns ? 'a run: ' : '') + 'wall', 'wall',
              aRun(({ info }) => info.wall)),
    ...change('work', '', aRun(({ info }) => info.work)),
    ...isStarved || basis === 'cpu' ? change('on CPUs', 'cpu',
      aRun(({ info }) => info.work - info.starved)) : [],
    ...change('no CPU', '', aRun(({ info }) => info.starved)),
    ...change('wait', '', aRun(({ info }) => info.wait)),
    ...bytes ? change(bytes.label.replace(/^bytes /, ''), '', aRun(nbytes),
                      'bytes') : [],
    ...change('allocated', '', ({ info }) => info.allocPeak, 'bytes'),
    ...change('scopes', '', aRun(({ info }) => info.scopes), 'count'),
  ];
}

// Arithmetic operations, in all.
function flopFigures(profile, model) {
  const flop = flopMetric(model.whole.metrics);
  const nbytes = model.byteCounters[0]?.sum ?? 0;
  if (flop === null)
    return [];
  const notes = [formatFlopRate(flop.sum, profile.ran),
                 formatIntensity(flop.sum, nbytes)];
  return [figure('operations', formatUnit(flop.sum, 'flop'),
                 exactUnit(flop.sum, 'flop'),
                 notes.filter((note) => note).join(', '))];
}

// What is known of all: { wall, work, ran, starved, wait, bytes (metric) }.
function wholeOf({ info, ran }, model) {
  return { ...info, ran, busy: ' threads busy', bytes: model.byteCounters[0] };
}

// The same of a stretch of time or some lanes: what a run or rank was recorded
// with, else what the log has.
function stretchOf(profile, model) {
  const range = model.state.get('range'), lanes = model.state.get('lanes');
  const shape = model.aggregate(range, lanes, '');
  const sum = (id) => shape.metrics.find((one) => one.id === id)?.sum ?? 0;
  const [from, to] = parseRange(range) ?? [0, profile.info.wall];
  const { name, wall, work, starved } = profile.parts[partOfStretch(
    profile, { range, lanes })]
    ?? { name: range === '' ? 'some lanes' : formatTime(to - from) + ' from '
           + formatTime(from), wall: to - from, work: sum('work'),
         starved: shape.starved?.reduce((all, ns) => all + ns, 0) };
  return { name, wall, work, ran: work - (starved ?? 0), starved,
           wait: sum('wait'), scopes: sum('calls'),
           busy: starved === undefined ? ' threads working' : ' threads busy',
           bytes: byteMetrics(shape.metrics)[0] };
}

function figures(profile, model) {
  const { state } = model;
  const { info } = profile;
  const isWhole = state.get('range') + state.get('lanes') === '';
  const { name, wall, work, ran, starved, wait, scopes, busy, bytes }
    = (isWhole ? wholeOf : stretchOf)(profile, model);
  const resident = Number(factOf(profile, 'bytes resident at most') ?? 0);
  const time = (label, ns, note) =>
    figure(label, formatTime(ns), exactUnit(ns, 'time'), note);
  if (isWhole && profile.before)
    return element('dl', { class: 'figures changes', tabindex: 0 },
                   ...changeFigures(profile, model));
  return element('dl', { class: isWhole ? 'figures' : 'figures narrowed',
                         tabindex: 0 },
    isWhole ? '' : figure('only', nameElement(name), 'The views are narrowed '
      + 'to this', info.dropped > 0 ? 'as far as logged' : ''),
    time('wall', wall),
    time('work', work, wall > 0
      ? formatRatio(isWhole ? profile.threadsBusy : ran / wall) + busy : ''),
    ran < work ? time('on CPUs', ran) : '',
    starved > 0 ? time('no CPU', starved) : '',
    time('wait', wait),
    bytes ? figure(bytes.label, formatBytes(bytes.sum),
                   exactUnit(bytes.sum, 'bytes'),
                   formatRate(bytes.sum, wall)) : '',
    ...isWhole ? flopFigures(profile, model) : [],
    isWhole && info.allocPeak > 0
      ? figure('allocated', formatBytes(info.allocPeak),
               'At most; at the end: ' + formatBytes(info.allocLive),
               resident ? 'resident ' + formatBytes(resident) : '')
      : '',
    figure('scopes', formatCount(scopes),
           isWhole ? 'Scopes opened in all' : 'Scopes in the log',
           isWhole && 'cost ' + (profile.recording === null
             ? formatTime(profile.recordingTime)
             : formatShare(profile.recording, 1))));
}

// Warnings of recordings that failed, by name if they are two; that of one is
// a finding, as is what they lack.
export function failureWarnings(profile) {
  const { before, findings } = profile;
  if (!before && findings.some(({ id }) => id === 'failed'))
    return [];
  const all = before ? [before, profile] : [profile];
  const { sides } = namesOf([all[0], profile]);
  return all.flatMap((one, i) => {
    const failure = factOf(one, 'failed');
    return failure === undefined ? []
      : [(before ? sides[i] : 'It') + ' failed: ' + failure];
  });
}

function when(unixNs) {
  if (!(unixNs > 0))
    return '';
  const iso = new Date(unixNs / 1e6).toISOString();
  return element('time', { datetime: iso },
                 iso.slice(0, 19).replace('T', ' ') + ' UTC');
}

// The title, and when it was recorded; of two recordings, what distinguishes
// them.
function titleOf(profile) {
  const { info, before } = profile;
  const { title, sides } = namesOf([before ?? profile, profile]);
  const whole = before ? title || sides.join(' \u2192 ') : info.title;
  return [
    element('h1', { title: whole },
            ...before && !title ? arrow(sides) : [nameElement(whole)]),
    element('p', { class: 'muted' },
            ...info.program === whole ? []
              : [nameElement(info.program), ' \u00b7 '],
            ...before && title ? arrow(sides) : [when(info.started)])];
}

// On narrow screens the tools are in a menu.
function menuOf(tools) {
  const open = button('\u22ef', () => {
    const isOpen = tools.parentNode.classList.toggle('open');
    open.setAttribute('aria-expanded', isOpen);
  }, { class: 'menu', 'aria-expanded': false,
       'aria-label': 'Link, pictures, keys, colours' });
  return open;
}

export function summaryPanel(profile, model, warnings, tools) {
  let shown = figures(profile, model);
  model.state.listen((keys) => {
    if (!keys.has('range') && !keys.has('lanes'))
      return;
    const next = figures(profile, model);
    shown.replaceWith(next);
    shown = next;
  });
  return element('header', {},
    element('div', { class: 'title' }, ...titleOf(profile), menuOf(tools),
            tools),
    ...warnings.map((text) => foldable('div', 'warning', 'Warning', text)),
    shown);
}
