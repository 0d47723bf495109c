// SPDX-License-Identifier: MIT
// Why a run was slow: one of the runs, ranks, steps, requests or any other
// scope's spans beside the median one, with a sentence that names the largest
// differences.

import { DiffIcicle } from './diff-icicle.mjs';
import { Strip } from './strip.mjs';
import { formatRange, narrow } from '../model/model.mjs';
import { stretchOfPart, timesInBrief } from '../model/runs-data.mjs';
import { causesOf, compareMembers, countsOf, groupName, groupOf, groupsOf,
         medianOf, membersOf, slowestOf } from '../model/why.mjs';
import { exactUnit, formatBytes, formatCount, formatSigned, formatTime }
  from '../data/units.mjs';
import { button, choice, element, nameElement, partsTable, plural }
  from '../widgets/dom.mjs';

const WHY_ROWS = 30;

const OTHER_THREAD = 1;

// The parts of time, by the names that they have in the tree.
const SELF_PARTS = { 'on a CPU': 'on CPUs', 'without a CPU': 'no CPU',
                  working: 'work', waiting: 'wait' };

// Differences of less than these parts of the whole are drawn as noise, or not
// shown; members from this many times the median on are slow.
const SAME = 0.02;
const TOO_SMALL = 1e-4;
const SLOW_TIMES = 1.5;

class Why {
  constructor({ profile, state, tooltip }) {
    Object.assign(this, { profile, state, tooltip });
    this.limit = WHY_ROWS;
    this.head = element('div', { 'aria-live': 'polite' });
    this.strip = new Strip({
      label: 'All of them in the order of time, higher is slower. Arrow keys '
        + 'choose one.', tooltip,
      choose: (i) => state.set({ why: this.all.key(i) }),
      lines: (i) => [this.all.name(i), [
        ['took', formatTime(this.all.values[i])]]],
    });
    this.icicle = new DiffIcicle({
      choose: (node) => node >= 0 && state.set({ node }),
      point: (event, node) => this.point(event, node),
      zoom: (zoomed) => {
        this.zoomed = zoomed;
        this.follow();
      },
    });
    this.list = element('div');
    this.element = element('div', { class: 'scroll why' }, this.head,
      this.strip.pane.box, this.icicle.pane.box, this.list);
    this.choose();
  }

  update(keys) {
    if (keys.has('why') || keys.has('node') && this.group === '')
      this.choose();
    else if (keys.has('bythread') && this.group !== '')
      this.render();
    else if (keys.has('node'))
      this.showHead();
    this.follow();
  }

  // The member in the address, or the slowest of its group, or of the first.
  choose() {
    const { profile, state } = this;
    const key = state.get('why');
    this.group = groupOf(profile, key)
      || (groupsOf(profile, state.get('node'))[0] ?? '');
    this.strip.pane.box.hidden = this.icicle.pane.box.hidden
      = this.group === '';
    if (this.group === '') {
      this.head.replaceChildren('Select a scope that ran more than once.');
      this.list.replaceChildren();
      return;
    }
    this.all = membersOf(profile, this.group);
    const { values } = this.all;
    const named = this.all.find(key);
    this.at = named >= 0 && named < values.length ? named : slowestOf(values);
    this.other = medianOf(values, this.at);
    this.compared = compareMembers(profile, this.all.key(this.at),
                                   this.all.key(this.other),
                                   values[this.at] - values[this.other]);
    this.zoomed = -1;
    this.render();
  }

  render() {
    const { values } = this.all;
    const brief = timesInBrief(values);
    this.shown = this.isSplit() ? this.compared.byThread : this.compared;
    this.lacking = this.findLacking();
    this.showHead();
    this.strip.show({
      values, brief, chosen: this.at, format: formatTime,
      isSlow: (i) => values[i] >= SLOW_TIMES * brief.median });
    this.showTree();
    this.showList();
  }

  showHead() {
    const { profile, state, group } = this;
    const groups = [...new Set([...groupsOf(profile, state.get('node')),
                                group])];
    this.head.replaceChildren(
      element('p', { class: 'diff-whole' }, ...this.sentence()),
      element('div', { class: 'tile-controls' },
        choice('Of', groups.map((one) =>
          [one, groupName(profile, one, groups)]), group,
               (why) => state.set({ why }, { step: true })),
        button('The slowest', () => state.set({ why: group })),
        button('Only this one, in all views', () => this.narrow()),
        this.splitter()));
  }

  isSplit() {
    return this.state.get('bythread') !== '';
  }

  // Of paths that ran on several threads.
  splitter() {
    const { rows, to } = this.compared.byThread;
    const { to: merged } = this.compared;
    if (rows.every((row, node) => !row || merged[node] === to[node]))
      return '';
    return button('By thread', () => this.state.set(
      { bythread: this.isSplit() ? '' : '1' }, { step: true }),
                  { 'aria-pressed': String(this.isSplit()),
                    title: 'What other threads did for a path on its own' });
  }

  // The last names of a path, or all.
  path(node, most = Infinity) {
    const { tree, names } = this.profile;
    return tree.path(node).slice(-most).map((one) => names[one])
      .join(' \u203a ');
  }

  // "step 57 took 152 ms, 52 ms more than the median one, step 12. 47 of
  // 52 ms: decode blosc lz4 without a CPU."
  sentence() {
    const { profile, compared, all, at, other, group } = this;
    const { excess, labels } = compared;
    const named = (i) => nameElement(all.name(i));
    const made = [named(at), ' took ' + formatTime(all.values[at]) + ', '
      + formatTime(Math.abs(excess)) + (excess < 0 ? ' less' : ' more')
      + ' than the median one' + (group !== 'p'
        && this.lacks(this.shown.to[group.slice(1)]) ? ' in the log, ' : ', '),
                  named(other), '.'];
    const causes = causesOf(profile, compared);
    // One thread's are more where others took less, such as what a scope that
    // is new took from its caller.
    const isSummed = compared.byThread.rows.some((row, node) =>
      row && profile.edges[node] === OTHER_THREAD)
      && causes.reduce((all, one) => all + one.amount, 0) > 1.05 * excess;
    for (const { node, kind, amount } of causes) {
      made.push(' ', element('strong', {}, !isSummed
        ? formatTime(Math.min(amount, excess)) + ' of ' + formatTime(excess)
        : formatTime(amount) + ' more, of all threads together'), ': ',
        nameElement(this.path(node, 3)),
        labels[kind] && ', ' + labels[kind], '.');
    }
    for (const [name, ours, theirs] of countsOf(profile, compared))
      made.push(' ' + formatCount(ours) + ' instead of '
        + formatCount(theirs) + ' ' + name + '.');
    return made;
  }

  // What all views are narrowed to by a member.
  narrow() {
    const { profile, state, all, at, group } = this;
    const { begin, duration } = profile.spans;
    const number = Number(all.key(at).slice(1));
    narrow(state, group === 'p' ? stretchOfPart(profile, number)
      : { range: formatRange(begin[number],
                             begin[number] + duration[number]), lanes: '' });
  }

  // Both trees as one: paths are as wide as the longer time.  The scopes around
  // a span are as long as it.
  showTree() {
    const { profile, all } = this;
    const { rows, tree, to } = this.shown;
    const longest = Math.max(all.values[this.at], all.values[this.other]);
    const sides = [0, 1].map((side) => Float64Array.from(rows, (row) =>
      row?.total[side] ?? 0));
    if (this.group !== 'p')
      for (const node of profile.tree.path(Number(this.group.slice(1))))
        [this.at, this.other].forEach((i, side) => {
          sides[side][to[node]] = all.values[i];
        });
    const [after, before] = sides;
    const labels = rows.map((row, node) => {
      const delta = after[node] - before[node];
      const [ours, theirs] = row?.calls ?? [1, 1];
      return { name: profile.names[node], value: formatSigned(delta, 'time'),
               faint: false, change: this.lacks(node) ? 'one run'
                 : ours > 0 && theirs === 0 ? 'new'
                   : ours === 0 && theirs > 0 ? 'gone'
                     : Math.abs(delta) < SAME * longest ? 'noise'
                       : delta > 0 ? 'slower' : 'faster' };
    });
    this.icicle.show(tree, {
      before, after,
      total: before.map((ns, node) => Math.max(ns, after[node])) }, labels);
    this.follow();
  }

  // The paths of which the log, from which spans are summed, lacks some.
  findLacking() {
    const { to } = this.shown;
    return new Set(this.group === 'p' ? []
      : Array.from(this.profile.dropped, (n, node) => n > 0 ? to[node] : -1));
  }

  lacks(node) {
    return this.lacking.has(node);
  }

  follow() {
    if (this.group !== '')
      this.icicle.see(this.shown.to[this.state.get('node')] ?? -1,
                      this.zoomed);
  }

  point(event, node) {
    const row = this.shown.rows[node];
    if (!row)
      this.tooltip.hide();
    else
      this.tooltip.show(event.clientX, event.clientY,
                        this.profile.names[node], this.cells(row),
                        'transparent');
  }

  // [heading, text, title] of each column; '' where nothing differs.
  cells({ total, kinds, calls, bytes }) {
    const least = TOO_SMALL * this.all.values[this.at];
    const signed = (value) => Math.abs(value) <= least ? ''
      : formatSigned(value, 'time');
    const both = ([a, b], format) => a === b ? format(a)
      : format(b) + ' \u2192 ' + format(a);
    return [
      ['this one', formatTime(total[0]), exactUnit(total[0], 'time')],
      ['median', formatTime(total[1]), exactUnit(total[1], 'time')],
      ['difference', signed(total[0] - total[1])],
      ...this.compared.labels.flatMap((label, kind) => label === '' ? []
        : [['self, ' + SELF_PARTS[label], signed(kinds[kind])]]),
      ['calls', both(calls, formatCount)],
      ...bytes === null ? []
        : [['bytes', bytes[0] + bytes[1] > 0 ? both(bytes, formatBytes)
          : '']],
    ];
  }

  // Marks a path on another thread than what is around it.
  thread(node) {
    const { tree, edges } = this.profile;
    return this.isSplit() && tree.path(node).some((one) =>
      edges[one] === OTHER_THREAD)
      ? element('span', { class: 'edge' }, 'other thread') : null;
  }

  showList() {
    const weight = ({ kinds }) => Math.max(...kinds.map(Math.abs));
    const rows = this.shown.rows.filter(Boolean)
      .sort((a, b) => weight(b) - weight(a) || a.node - b.node);
    const headings = ['path', ...this.cells(rows[0]).map(([name]) => name)];
    const left = rows.length - this.limit;
    this.list.replaceChildren(
      partsTable(headings, rows.slice(0, this.limit).map((row) =>
        element('tr', {}, element('th', { scope: 'row' },
          button(nameElement(this.path(row.node, 2)
            + (this.lacks(row.node) ? ' ?' : '')), () =>
            this.state.set({ node: row.node }),
                 { class: 'link', title: this.path(row.node) }),
          this.thread(row.node)),
          ...this.cells(row).map(([, text, title]) =>
            element('td', { title }, text))))),
      left > 0 ? button(left + ' more', () => {
        this.limit = Infinity;
        this.showList();
      }) : '', element('p', { class: 'muted' }, this.limits()));
  }

  // What is not known of a single one.
  limits() {
    const { profile, compared, group } = this;
    const { dropped } = profile.info;
    return [
      compared.labels[0] === 'working' && 'The log does not know which spans '
        + 'had no CPU.',
      compared.labels[0] === '' && 'Work of single runs was not recorded.',
      dropped > 0 && 'The log lacks ' + formatCount(dropped)
        + plural(dropped, ' span', ' spans') + (group === 'p'
          ? ', so bytes are not known of single runs.'
          : ' (of paths with a ?): their times count for the scopes around '
            + 'them.'),
    ].filter(Boolean).join(' ');
  }
}

export const whyView = {
  id: 'why', label: 'Why slow', letter: 'y',
  about: 'A run, step or request beside the median one',
  needs: ({ parts, spans }) => parts.length > 1 || spans.count > 1,
  keys: [['Arrows', 'Select the one before or after, or the path beside']],
  ignores: { metric: 'No metric here.',
             part: 'Each is shown whole.', transforms: 'All scopes count.' },
  state: { why: '', bythread: '' },
  make: (shared) => new Why(shared),
};
