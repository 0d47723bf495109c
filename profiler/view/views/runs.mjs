// SPDX-License-Identifier: MIT
// Runs: each run of the operation as a dot and a row, with their spread, by
// the metric and with transforms applied.  Choosing a run narrows all views to
// its time.

import { button, element, nameElement, partsTable, plural, showShare }
  from '../widgets/dom.mjs';
import { formatRange, narrow } from '../model/model.mjs';
import { transformedRuns } from '../model/run-shape.mjs';
import { cacheOfRuns, listRuns, matchedOfRuns, threadsBusy, timesInBrief,
         valuesOfRuns }
  from '../model/runs-data.mjs';
import { makeMatcher } from '../data/search.mjs';
import { Strip } from './strip.mjs';
import { parseTransforms } from '../model/transforms.mjs';
import { exactUnit, formatRatio, formatShare, formatTime, formatUnit }
  from '../data/units.mjs';

const MOST_ROWS = 200;

class Runs {
  constructor({ profile, state, model, tooltip, show }) {
    Object.assign(this, { profile, state, model, tooltip, show });
    this.limit = MOST_ROWS;
    this.strip = new Strip({
      label: 'Runs in their order, higher is slower. Arrow keys choose a '
        + 'run; the table below has the same.', tooltip,
      choose: (i) => this.choose(i),
      lines: (i) => [this.runs[i].name, [
        [this.metric.label, this.format(this.runs[i].value)],
        ['remark', this.runs[i].mark]]],
    });
    this.list = element('div');
    this.more = element('p');
    this.summary = element('p');
    this.head = element('div', { class: 'runs-head' });
    this.element = element('div', { class: 'scroll runs-view' },
      this.summary, this.head, this.strip.pane.box, this.list, this.more);
    this.measure();
  }

  update(keys) {
    const has = (...names) => names.some((name) => keys.has(name));
    if (has('metric', 'transforms', 'query'))
      this.measure();
    else if (has('range', 'lanes', 'theme'))
      this.render();
  }

  // The metric's values of each run, if known.
  measure() {
    const { profile, state } = this;
    const transforms = parseTransforms(state.get('transforms'),
                                       profile.sites);
    this.isAll = transforms.length === 0;
    const shape = transformedRuns(profile, profile, transforms);
    const asked = this.model.whole.metric(state.get('metric'));
    const values = valuesOfRuns(shape, asked.id, this.isAll);
    this.lacking = values === null ? asked.label : '';
    this.metric = values === null ? this.model.whole.metric('wall') : asked;
    this.runs = listRuns(profile,
      values ?? valuesOfRuns(shape, 'wall', this.isAll));
    this.brief = timesInBrief(this.runs.map(({ value }) => value));
    const matcher = makeMatcher(state.get('query'));
    this.shares = matcher ? matchedOfRuns(shape,
      Array.from(shape.origin, (node) => matcher(profile.names[node])))
      : null;
    this.render();
  }

  render() {
    this.summary.textContent = this.sentence();
    this.showHead();
    this.fill();
    this.strip.show({
      values: this.runs.map(({ value }) => value), brief: this.brief,
      isSlow: (i) => this.runs[i].mark.startsWith('slow'),
      chosen: this.chosen(), format: (value) => this.format(value) });
  }

  format(value) {
    return formatUnit(value, this.metric.unit);
  }

  // The run of the selected stretch, or -1.
  chosen() {
    const range = this.state.get('range');
    return this.runs.findIndex((run) =>
      formatRange(run.begin, run.end) === range);
  }

  choose(i) {
    const run = this.runs[Math.max(0, Math.min(this.runs.length - 1, i))];
    const range = formatRange(run.begin, run.end);
    narrow(this.state, { range: range === this.state.get('range') ? ''
      : range });
  }

  sentence() {
    const { n, mean, median, least, most, lower, upper, deviation }
      = this.brief;
    const cache = cacheOfRuns(this.profile);
    const kind = cache === '' ? '' : cache + ' ';
    const by = this.metric.id === 'wall' ? '' : ', by ' + this.metric.label;
    return n + ' ' + kind + plural(n, 'run', 'runs') + by
      + ': median ' + this.format(median) + ', half of them '
      + this.format(lower) + ' to ' + this.format(upper) + ', all '
      + this.format(least) + ' to ' + this.format(most) + '; mean '
      + this.format(mean) + ', standard deviation ' + this.format(deviation)
      + ' (' + formatShare(deviation, mean) + ').'
      + (cache === 'cold' ? ' Files were dropped from memory before each.'
        : '')
      + (this.lacking === '' ? '' : ' By wall, since ' + this.lacking
        + ' was not recorded run by run.');
  }

  showHead() {
    const at = this.chosen();
    if (at < 0) {
      const isPart = this.state.get('range') + this.state.get('lanes') !== '';
      this.head.replaceChildren(element('span', { class: 'muted' },
        (isPart ? 'Here are whole runs, on all lanes. ' : '')
        + 'Choose a run to see it alone in all views.'));
      return;
    }
    this.head.replaceChildren(
      element('strong', {}, nameElement(this.runs[at].name)), ' alone. ',
      button('All runs', () => narrow(this.state, { range: '' })), ' ',
      button('Timeline of this run', () => this.show('timeline')), ' ',
      button('Why is it slow?', () => this.show('why', { why: 'p' + at })));
  }

  // Work is known for all scopes together only.
  headings() {
    return ['run', this.metric.label, 'against the median',
            ...this.isAll ? ['work', 'threads busy'] : [],
            ...this.shares ? ['matches'] : [], 'remark'];
  }

  fill() {
    const at = this.chosen();
    const rows = this.runs.slice(0, Math.max(this.limit, at + 1));
    this.list.replaceChildren(partsTable(this.headings(),
      rows.map((run) => this.row(run, run.part === at))));
    const left = this.runs.length - rows.length;
    this.more.replaceChildren(left > 0 ? button(left + ' more', () => {
      this.limit = Infinity;
      this.fill();
    }) : '');
  }

  row(run, isChosen) {
    const { median, most } = this.brief;
    const value = element('td', {
      title: exactUnit(run.value, this.metric.unit) },
                          this.format(run.value));
    showShare(value, run.value / most);
    const delta = run.value - median;
    return element('tr', { class: isChosen ? 'selected' : null },
      element('th', { scope: 'row' },
              button(nameElement(run.name), () => this.choose(run.part),
                     { class: 'link', 'aria-pressed': String(isChosen) })),
      value,
      element('td', {}, (delta < 0 ? '\u2212' : '+')
        + formatShare(Math.abs(delta), median)),
      ...this.isAll ? [element('td', {}, formatTime(run.work)),
                       element('td', {}, formatRatio(threadsBusy(run)))]
        : [],
      ...this.shares
        ? [element('td', {}, formatShare(this.shares[run.part], 1))] : [],
      element('td', { class: 'text' }, run.mark));
  }
}

export const runsView = {
  id: 'runs', label: 'Runs', about: 'Each run of the operation, and their '
    + 'spread',
  needs: (profile) => profile.parts.length > 1
    && profile.partKind() === 'run',
  keys: [['Arrows', 'Select the previous or next run']],
  make: (shared) => new Runs(shared),
};
