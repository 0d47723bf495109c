// SPDX-License-Identifier: MIT
// Functions: a table of scopes by name over all call sites, with the spread of
// their durations; and for the selected one its longest spans, which lead to
// the timeline.

import { button, element, nameElement, showShare, swatch }
  from '../widgets/dom.mjs';
import { functionStats, hottest, spanFilter }
  from '../model/function-stats.mjs';
import { Model } from '../model/model.mjs';
import { spanName } from '../data/profile.mjs';
import { spark } from '../widgets/spark.mjs';
import { CPU_COLUMNS, SHOWN } from './tree-columns.mjs';
import { exactUnit, formatCount, formatTime, formatUnit }
  from '../data/units.mjs';

// The number of rows shown first, and of spans in the list.
const ROWS = 40, RUNS = 12;

// [id, label, hint].
const TIME_COLUMNS = [
  ['total', 'total', 'From begin to end, of all calls; within itself once'],
  ['self', 'self', 'Time not in child scopes'],
  ['work', 'work', 'Time its threads ran'],
  ...CPU_COLUMNS,
  ['wait', 'wait', 'Time its threads waited'],
  ['mean', 'mean', 'Mean of one call'],
  ['p50', 'p50', 'Median of one call'],
  ['p90', 'p90', '90th percentile of one call'],
  ['p99', 'p99', '99th percentile of one call'],
];

class Functions {
  constructor({ profile, state, model, show }) {
    Object.assign(this, { profile, state, model, show, limit: ROWS });
    this.head = element('thead');
    this.body = element('tbody');
    this.note = element('p', { class: 'muted' });
    this.runs = element('section', { class: 'runs' });
    this.element = element('div', { class: 'scroll' },
      element('table', { class: 'tree functions', 'aria-label': 'Functions' },
              this.head, this.body), this.note, this.runs);
    this.body.addEventListener('click', (event) => this.click(event));
    this.body.addEventListener('keydown', (event) => this.key(event));
    this.render();
  }

  update(keys) {
    if (Model.reshapes(keys) || ['query', 'order', 'metric'].some((key) =>
      keys.has(key)))
      this.render();
    else if (keys.has('node') && !this.mark())
      this.render();
  }

  stats() {
    const { state } = this;
    return this.model.derived('functions', (shape) =>
      functionStats(shape, state.get('range'), state.get('lanes')));
  }

  // The current metric, unless it has a column already.
  extra() {
    const metric = this.model.metric();
    return SHOWN.includes(metric.id) ? null : metric;
  }

  // Those of threads without a CPU, only if there were any.
  timeColumns() {
    const { metrics } = this.model.shape();
    return TIME_COLUMNS.filter((one) => !CPU_COLUMNS.includes(one)
      || metrics.some(({ id }) => id === one[0]));
  }

  // A row's value in a column.
  value(one, id) {
    return id !== 'metric' ? one[id] : this.extra()
      ? one.nodes.reduce((sum, node) => sum + this.extra().total[node], 0)
      : undefined;
  }

  sorted() {
    const order = this.state.get('order');
    const { rows, measure } = this.stats();
    if (/^p\d/.test(order))
      measure(rows);
    const keys = new Map(rows.map((one) =>
      [one, this.value(one, order) ?? one.self]));
    return rows.slice().sort((a, b) =>
      keys.get(b) - keys.get(a) || a.site - b.site);
  }

  // Steps to the next match in the order of the rows.
  step(by) {
    const { sites } = this.profile;
    const rows = this.sorted().map(({ site }) => sites.first[site]);
    const at = rows.indexOf(sites.first[this.site()]);
    const from = at < 0 && by < 0 ? 0 : at;
    for (let i = 1; i <= rows.length; i++) {
      const node = rows.at((from + i * by) % rows.length);
      if (this.model.matched[node]) {
        this.state.set({ node });
        break;
      }
    }
    return true;
  }

  // The first rows, and the selected one.
  render() {
    this.renderHead();
    const rows = this.sorted();
    const at = rows.findIndex(({ site }) => site === this.site());
    const shown = rows.filter((_, i) => i < this.limit || i === at);
    // Concurrent threads exceed what the roots took.
    const whole = Math.max(...rows.map(({ total }) => total));
    const extra = this.extra();
    this.stats().measure(shown);
    this.body.replaceChildren(...shown.map((one) =>
      this.row(one, whole, extra)));
    const left = rows.length - shown.length;
    const before = Math.min(left, at - this.limit);
    if (before > 0)
      this.body.lastElementChild.before(this.more(before));
    if (left > Math.max(0, before))
      this.body.append(this.more(left - Math.max(0, before)));
    this.note.textContent = rows.length === 0
      ? 'Nothing ran here.'
      : this.stats().isExact ? ''
        : 'Percentiles are from histograms of doubling buckets: the log '
          + 'dropped spans.';
    this.mark();
  }

  renderHead() {
    const order = this.state.get('order');
    const extra = this.extra();
    const head = (id, label, hint) => element('th', {
      scope: 'col', 'aria-sort': id === order ? 'descending' : 'none' },
      button(label, () => this.state.set({ order: id }), { title: hint }));
    this.head.replaceChildren(element('tr', {},
      element('th', { scope: 'col' }, 'scope'), ...extra === null ? []
        : [head('metric', extra.label, extra.label + ', here and below')],
      head('calls', 'calls', 'Number of calls'),
      ...this.timeColumns().map((one) => head(...one)),
      element('th', { scope: 'col' }, 'durations')));
  }

  row(one, whole, extra) {
    const node = this.profile.sites.first[one.site];
    const faint = this.model.matched !== null && !this.model.matched[node];
    const name = element('th', { scope: 'row' },
                         swatch(this.model.colours[node]),
                         nameElement(this.profile.names[node]));
    return element('tr', { tabindex: '-1', 'data-site': one.site,
                           class: faint ? 'faint'
                             : this.model.matched ? 'match' : null },
      name, ...extra === null ? []
        : [this.cell('metric', this.value(one, 'metric'), extra.sum,
                     extra.unit)],
      element('td', {}, formatCount(one.calls)),
      ...this.timeColumns().map(([id]) => this.cell(id, one[id], whole)),
      element('td', { class: 'spark' }, spark(one.buckets)));
  }

  cell(id, value, whole, unit = 'time') {
    const cell = element('td', {
      'data-column': id, title: exactUnit(value, unit),
    }, value > 0 ? formatUnit(value, unit) : '');
    if (['metric', 'total', 'self'].includes(id))
      showShare(cell, value / whole);
    return cell;
  }

  more(n) {
    return element('tr', {}, element('td', { colspan: TIME_COLUMNS.length + 4 },
      button(n + ' more', () => {
        this.limit *= 10;
        this.render();
      })));
  }

  site() {
    return this.profile.sites.of[this.state.get('node')] ?? -1;
  }

  // Marks the selected row; returns whether it is shown.
  mark() {
    const site = this.site();
    let current = null;
    for (const row of this.body.querySelectorAll('[data-site]')) {
      const is = Number(row.dataset.site) === site;
      row.classList.toggle('selected', is);
      row.setAttribute('aria-current', String(is));
      row.tabIndex = is ? 0 : -1;
      current = is ? row : current;
    }
    this.list(site);
    const first = current ?? this.body.querySelector('[data-site]');
    first?.setAttribute('tabindex', '0');
    first?.scrollIntoView({ block: 'nearest' });
    return current !== null;
  }

  list(site) {
    const { profile, state } = this;
    const spans = site < 0 ? [] : hottest(profile, site, RUNS,
      spanFilter(profile, state.get('range'), state.get('lanes')));
    if (spans.length === 0) {
      this.runs.replaceChildren();
      return;
    }
    const { begin, duration, lane, steps } = profile.spans;
    this.runs.replaceChildren(
      element('h2', {}, 'Longest runs of ', nameElement(
        profile.names[profile.sites.first[site]])),
      element('ol', {}, ...spans.map((span) => element('li', {},
        button(formatTime(duration[span]), () => this.show('timeline',
          { span, node: profile.spans.node[span] }),
          { class: 'link', title: 'Show it on the timeline' }),
        ' at ' + formatTime(begin[span]) + ', '
          + (steps.has(span) ? spanName(profile, span) + ', ' : ''),
        nameElement(profile.lanes[lane[span]].name)))));
  }

  select(row) {
    const node = this.profile.sites.first[Number(row.dataset.site)];
    this.state.set({ node });
    this.body.querySelector('.selected')?.focus();
  }

  click(event) {
    const row = event.target.closest('[data-site]');
    if (row)
      this.select(row);
  }

  key(event) {
    const row = event.target.closest('[data-site]');
    if (!row || event.altKey || event.ctrlKey || event.metaKey)
      return;
    const rows = [...this.body.querySelectorAll('[data-site]')];
    const at = rows.indexOf(row);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0,
                 End: rows.length - 1 }[event.key];
    if (to === undefined)
      return;
    this.select(rows[Math.max(0, Math.min(rows.length - 1, to))]);
    event.preventDefault();
  }
}

export const functionsView = {
  id: 'functions', label: 'Functions',
  about: 'Scopes over all call sites: calls, percentiles, longest spans',
  keys: [['Arrows', 'Select'], ['Home End', 'The first row, or the last']],
  state: { order: 'self' },
  make: (shared) => new Functions(shared),
};
