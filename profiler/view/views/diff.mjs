// SPDX-License-Identifier: MIT
// Changes: this profile and an earlier one, from the page or opened by the
// reader, path by path, with noise marked.

import { changeOf, compareProfiles, diffTimes, DIRECTIONS, namesAbove,
         scaleOfAfter } from '../model/compare.mjs';
import { changeLabel, CHANGES, DiffIcicle } from './diff-icicle.mjs';
import { arrow, button, choice, element, nameElement, partsTable, swatch }
  from '../widgets/dom.mjs';
import { reasonOf } from '../data/decode.mjs';
import { openProfile } from '../data/profile.mjs';
import { namesOf } from '../model/conditions.mjs';
import { totalsOfRuns, transformedRuns } from '../model/run-shape.mjs';
import { makeMatcher } from '../data/search.mjs';
import { parseTransforms } from '../model/transforms.mjs';
import { exactUnit, formatChange, formatCount, formatGrowth, formatRatio,
         formatShare, formatSigned, formatUnit } from '../data/units.mjs';

const DIFF_ROWS = 100;

// Changed paths that the answer names.
const ANSWERS = 3;

// What is said of waits, which are not called a change.
const WAITS = { slower: 'longer', faster: 'shorter' };

const LISTED = ['slower', 'faster', 'new', 'gone', 'noise'];

// The names from the root to a path.
function namesOfPath(compared, path) {
  return compared.tree.path(path).map((one) => compared.paths[one].name)
    .join(' \u203a ');
}

class Diff {
  constructor({ profile, state, model, tooltip }) {
    Object.assign(this, { profile, state, model, tooltip });
    this.other = profile.before ?? null;
    this.limit = DIFF_ROWS;
    this.notice = element('p', { role: 'status' });
    this.head = element('div');
    this.list = element('div');
    this.icicle = new DiffIcicle({
      choose: (path) => this.choose(path),
      point: (event, path) => this.point(event, path),
      zoom: (into) => this.state.set({ into }, { step: true }),
    });
    this.legend = element('p', { class: 'diff-legend' });
    this.choice = element('p', { class: 'diff-choice', 'aria-live': 'polite' });
    this.shown = element('div', {}, this.head, this.legend,
                         this.icicle.pane.box, this.choice, this.list);
    this.opener = this.makeOpener();
    this.element = element('div', { class: 'scroll diff' }, this.notice,
                           this.opener, this.shown);
    this.compare();
  }

  update(keys) {
    if (this.other === null)
      return;
    const has = (...names) => names.some((name) => keys.has(name));
    if (has('swap', 'metric', 'transforms'))
      this.compare();
    else if (has('normalise', 'changes', 'query'))
      this.render();
    else if (has('path', 'into'))
      this.follow();
    else if (has('theme'))
      this.icicle.pane.redraw();
  }

  // The matches that the search steps through.
  searched() {
    const { compared, matched, times } = this;
    return !matched ? null
      : { tree: compared.tree, matched, metric: {
        total: times.total, label: this.metric.label,
        id: this.metric.id },
          current: this.chosen(), select: (path) => this.choose(path) };
  }

  makeOpener() {
    const input = element('input', {
      type: 'file', accept: '.json,.html', class: 'unseen',
      onchange: () => input.files[0] && this.open(input.files[0]),
    });
    return element('label', { class: 'as-button',
                              title: 'A .json or .html of radio' },
                   'Open a profile\u2026', input);
  }

  async open(file) {
    try {
      this.other = await openProfile(file);
      this.state.set({ swap: '', path: -1, into: -1 });
      this.state.notify(new Set(['swap']));
    } catch (error) {
      this.notice.replaceChildren(nameElement(file.name),
        ' cannot be compared with: ' + reasonOf(error) + '.');
    }
  }

  compare() {
    this.shown.hidden = this.other === null;
    if (this.other === null) {
      this.notice.replaceChildren('Open the earlier recording, drop it on '
        + 'the page, or make a page of both: ',
        element('kbd', {}, 'radio diff before.json after.json -o '
          + 'changes.html'), '. Nothing leaves this page.');
      return;
    }
    this.notice.replaceChildren();
    const both = [this.other, this.profile];
    if (this.state.get('swap'))
      both.reverse();
    const transforms = parseTransforms(this.state.get('transforms'),
                                       this.profile.sites);
    this.metric = this.model.whole.metric(this.state.get('metric'));
    this.shapes = both.map((one) =>
      transformedRuns(one, this.profile, transforms));
    this.compared = compareProfiles(...this.shapes, this.metric);
    this.metric = this.compared.metric;
    this.names = namesOf(both, this.other !== this.profile.before
      && this.profile);
    this.render();
  }

  format(value) {
    return formatUnit(value, this.metric.unit);
  }

  signed(value) {
    return formatSigned(value, this.metric.unit);
  }

  label(change) {
    return changeLabel(change, this.metric.unit);
  }

  // The path in the address, if any.
  chosen() {
    const path = this.state.get('path');
    return path < this.compared.paths.length ? path : -1;
  }

  render() {
    const { compared } = this;
    const isNormalised = this.state.get('normalise') !== '';
    this.scale = scaleOfAfter(compared, isNormalised);
    this.times = diffTimes(compared, isNormalised);
    this.changes = compared.paths.map((path) =>
      changeOf(path, this.scale));
    // A path of both that took nothing says nothing.
    this.said = [...this.changes.keys()].filter((i) =>
      this.times.total[i] > 0 || ['new', 'gone'].includes(this.changes[i]));
    this.head.replaceChildren(this.sentence(), this.conditions(),
                              this.controls(isNormalised));
    const matcher = makeMatcher(this.state.get('query'));
    this.matched = matcher
      ? compared.paths.map(({ name }) => matcher(name)) : null;
    this.showLegend();
    this.icicle.show(compared.tree, this.times,
                     compared.paths.map(({ name }, i) => ({
                       name, change: this.changes[i],
                       faint: this.matched?.[i] === false,
                       below: this.below(i),
                       value: this.valueOf(i) })));
    this.showList();
    this.follow();
  }

  count(change) {
    return this.said.filter((i) => this.changes[i] === change).length;
  }

  // The kinds of changes, with the number of paths of each.
  showLegend() {
    this.legend.replaceChildren(
      ...LISTED.map((change) =>
        element('span', {}, ...this.mark(change, this.count(change)))),
      element('span', { class: 'muted' }, 'A box is as wide as the larger '
        + 'of both; the line at its foot is the smaller one.'));
  }

  mark(change, count = '', below = '') {
    const { sign, colour } = CHANGES[change];
    const label = this.label(change);
    return [swatch(colour), below || [sign === label ? '' : sign, count, label]
      .filter((one) => one !== '').join(' ')];
  }

  // Applies the address.
  follow() {
    const chosen = this.chosen();
    this.icicle.see(chosen, this.state.get('into'));
    this.describe();
    if (chosen >= 0 && !this.row(chosen))
      this.showList();
    for (const row of this.list.querySelectorAll('[data-path]'))
      row.classList.toggle('selected', Number(row.dataset.path) === chosen);
  }

  valueOf(i) {
    const { before, after } = this.times;
    switch (this.changes[i]) {
      case 'new': return this.format(after[i]);
      case 'gone': return this.format(before[i]);
      default: return this.format(before[i]) + ' \u2192 '
        + this.format(after[i]);
    }
  }

  controls(isNormalised) {
    const box = element('input', {
      type: 'checkbox', checked: isNormalised,
      onchange: () => this.state.set({ normalise: box.checked ? '1' : '' },
                                     { step: true }),
    });
    const { title, sides } = this.names;
    const isInHead = this.other === this.profile.before
      && !this.state.get('swap');
    return element('div', { class: 'tile-controls' },
      element('span', { class: isInHead && 'in-head' },
        ...title === '' ? []
          : [element('strong', {}, nameElement(title)), ' of '],
        ...arrow(sides)),
      button('Swap', () => this.state.set(
        { swap: this.state.get('swap') ? '' : '1', path: -1, into: -1 },
        { step: true })),
      element('label', { title: 'Scale both to the same total: what then '
        + 'differs is where it goes' }, box,
              ' compare shares of the total'), this.opener);
  }

  // What changed, by how much: "Faster: a run took 3.00 -> 2.14 ms on CPUs,
  // -28.7 %; the median one 2.99 -> 2.13 ms, a difference of ... decode
  // faster, median -459 us (...)."  Intervals are of medians, and follow them.
  // Where it is noise, medians come first: one long run moves the mean.
  sentence() {
    const { before, after, basis, isSummed, metric: { id, label, unit },
            isUnfair, rootFloor, advice } = this.compared;
    const growth = formatGrowth(before, after);
    const means = formatChange(before, after, unit);
    const of = id === 'cpu' ? ' on CPUs'
      : isSummed ? ' summed over threads' : '';
    const root = this.root() ?? {};
    const range = this.range(root.low, root.high);
    const interval = range && ', a difference of ' + range
      + ' with 95\u00a0% confidence';
    const isNoise = root.below === 'noise' && range !== '';
    const shown = isNoise ? this.medians() + of
      : means + of + (growth === '' ? '' : ', ' + growth);
    const run = isNoise ? 'the median run' : 'a run';
    const whole = (id === 'wall' || id === 'cpu' ? run + ' took '
      : label + ' of ' + run + ' ') + shown;
    // Times on CPUs do not show them.
    const { waits } = root;
    const waited = WAITS[waits?.change] ? 'Waits are ' + WAITS[waits.change]
      + ': ' + formatChange(waits.before, waits.after, 'time') + '. ' : '';
    const unknown = totalsOfRuns(this.shapes[0], id) === null
      ? 'The spread of runs was not recorded, so the noise is unknown.'
      : basis === 'none' ? 'What changed is unclear: the recordings do not '
        + 'show which scopes had CPUs; ' + advice + '.'
      : this.count('one run') > 0 ? 'A single run has no spread, so the '
        + 'noise is unknown; ' + advice + '.'
      : root.below === 'unclear' ? 'Processes of one program '
        + (isUnfair || basis === 'cpu' ? 'under such conditions ' : '')
        + 'differ by up to ' + formatShare(rootFloor, 1) + ': ' + advice + '.'
      : '';
    return element('p', {}, element('strong', { class: 'diff-whole' },
                                    waited + this.verdict() + whole),
      isNoise ? interval + ' (mean ' + means + '). '
        : (range && '; the median one ' + this.medians() + interval) + '. ',
      ...this.answer(), unknown
      + (this.scale === 1 ? '' : ' Values of the second are scaled by '
         + formatRatio(this.scale) + '.'));
  }

  // The only root, if both have one.
  root() {
    const roots = this.compared.paths.filter((one) => one.parent < 0);
    return roots.length === 1 && this.scale === 1 ? roots[0] : null;
  }

  // "Faster: ", or '' where the whole is not one path.
  verdict() {
    const { change, below = '' } = this.root() ?? {};
    const label = change === 'new' || change === 'gone' ? ''
      : below === 'noise' ? 'no change beyond noise'
        : below !== 'one run' ? below && this.label(below)
          : this.compared.basis === 'none' ? 'unclear' : 'noise unknown';
    return label === '' ? ''
      : label[0].toUpperCase() + label.slice(1) + ': ';
  }

  medians() {
    const { medianBefore = 0, medianAfter = 0 } = this.root() ?? {};
    return formatChange(medianBefore, medianAfter * this.scale,
                        this.metric.unit);
  }

  // The interval of the difference of two medians, if it is known.
  range(low = 0, high = 0) {
    return low === 0 && high === 0 ? ''
      : this.signed(low) + ' to ' + this.signed(high);
  }

  // The paths that changed, the largest first.
  answer() {
    const { paths } = this.compared;
    const moved = (i) => paths[i].selfAfter * this.scale
      - paths[i].selfBefore;
    const found = this.said.filter((i) =>
      !['noise', 'one run'].includes(this.changes[i]))
      .sort((a, b) => Math.abs(moved(b)) - Math.abs(moved(a)) || a - b);
    const by = (i, { selfLow, selfHigh, selfMedians }) => {
      const range = this.scale === 1 && this.range(selfLow, selfHigh);
      return range ? 'median ' + this.signed(selfMedians) + ' (' + range + ')'
        : this.signed(moved(i));
    };
    return found.slice(0, ANSWERS).flatMap((i, at) => [at === 0 ? '' : '; ',
      this.link(i),
      (this.compared.tree.children(i).length > 0 ? ' itself ' : ' ')
        + this.label(this.changes[i]) + ', ' + by(i, paths[i])])
      .concat(found.length > ANSWERS ? ['; and '
        + (found.length - ANSWERS) + ' more. '] : found.length > 0 ? ['. ']
        : []);
  }

  // A path's name, with those above it where others end in it, too.
  link(i) {
    const { paths } = this.compared;
    const above = namesAbove(paths, i).join(' \u203a ');
    const made = button(nameElement(paths[i].name), () => this.choose(i),
                        { class: 'link',
                          title: namesOfPath(this.compared, i) });
    made.append(above && element('small', {}, ' in ', nameElement(above)));
    return made;
  }

  // Lists the differences that make the comparison unfair.
  conditions() {
    const { basis, conditions, floor, isUnfair, paths, sameOperation }
      = this.compared;
    const wall = this.compared.wall.map((ns) => formatUnit(ns, 'time'));
    const items = conditions.map(({ name, before, after }) =>
      element('li', {}, nameElement(name), ': ', nameElement(before),
              ' \u2192 ', nameElement(after)));
    if (!sameOperation)
      items.unshift(element('li', {}, element('strong', {}, 'These are '
        + 'profiles of different operations')));
    if (basis !== 'wall')
      items.push(element('li', {}, 'wall time: ' + wall.join(' \u2192 ')
        + ', not comparable' + (isUnfair ? '' : ', for lack of CPUs')
        + (basis === 'cpu' ? ', so CPU time is compared, apart from waits'
          : '')));
    for (const { name, waits } of paths) {
      const range = this.range(waits?.low, waits?.high);
      if (waits?.before > 0 || waits?.after > 0)
        items.push(element('li', {}, 'median wait for disks, requests and '
          + 'locks, which a busy machine prolongs, too',
          ...this.root() === null ? [' (', nameElement(name), ')'] : [],
          ': ' + formatChange(waits.before, waits.after, 'time')
          + (range && ' (' + range + ')') + ', '
          + (WAITS[waits.change] ?? this.label(waits.change))));
    }
    if (basis === 'cpu' && floor >= 0.1)
      items.push(element('li', {}, 'differences of less than '
        + formatShare(floor, 1) + ' may come from the conditions, and count '
        + 'as noise'));
    return items.length === 0 ? ''
      : element('div', { class: 'diff-conditions' },
        element('span', {}, 'Conditions: '),
        element('ul', { 'aria-label': 'Different conditions' }, ...items));
  }

  // 'faster below': a path whose total changed by the scopes below it.
  below(i) {
    const { below } = this.compared.paths[i];
    return this.changes[i] !== 'noise' || this.scale !== 1 ? ''
      : DIRECTIONS[below] ? this.label(below) + ' below'
      : below === 'unclear' ? below : '';
  }

  lines(i) {
    const path = this.compared.paths[i];
    const { before, after } = this.times;
    const delta = after[i] - before[i];
    const moved = path.low || path.high
      ? (this.scale - 1) * path.totalAfter : 0;
    return [
      ['change', this.below(i) || this.label(this.changes[i])],
      ['before', path.before < 0 ? '' : this.format(before[i])],
      ['after', path.after < 0 ? '' : this.format(after[i])],
      ['difference', this.signed(delta) + ' '
        + formatGrowth(before[i], after[i])],
      ['of medians with 95 % confidence',
       this.range(path.low + moved, path.high + moved)],
      ['medians', path.change === 'one run' ? ''
        : this.format(path.medianBefore) + ', '
          + this.format(path.medianAfter * this.scale)],
      ['self', this.signed(path.selfAfter * this.scale - path.selfBefore)],
      ['of its medians with 95 % confidence', this.scale === 1
        ? this.range(path.selfLow, path.selfHigh) : ''],
      ['on other threads', path.elsewhere === null ? ''
        : path.elsewhere.map((one) => this.format(one)).join(' \u2192 ')],
      ['calls', formatCount(path.callsBefore) + ' \u2192 '
        + formatCount(path.callsAfter)],
    ];
  }

  point(event, i) {
    if (i < 0)
      this.tooltip.hide();
    else
      this.tooltip.show(event.clientX, event.clientY,
                        this.compared.paths[i].name, this.lines(i),
                        CHANGES[this.changes[i]].colour);
  }

  choose(i) {
    if (i < 0)
      return;
    const own = this.shapes.findIndex(({ profile }) =>
      profile === this.profile);
    const { before, after } = this.compared.paths[i];
    const node = [before, after][own];
    this.state.set({ path: i, ...node >= 0
      ? { node: this.shapes[own].origin[node] } : {} });
  }

  describe() {
    const i = this.chosen();
    this.choice.replaceChildren(...i < 0 ? ['Choose a path to see its '
      + 'figures.'] : [element('strong', {},
                               nameElement(namesOfPath(this.compared, i))),
      ': ' + this.lines(i).filter(([, value]) => value !== '')
        .map(([name, value]) => name + ' ' + value).join('; ') + '.']);
  }

  showList() {
    const { before, after } = this.times;
    const wanted = this.state.get('changes');
    const rows = this.said.filter((i) =>
      wanted === '' || this.changes[i] === wanted)
      .sort((a, b) => Math.abs(after[b] - before[b])
        - Math.abs(after[a] - before[a]) || a - b);
    const headings = ['path', 'change', 'before', 'after', 'difference',
                      'relative', '95 % of medians'];
    const count = (change) => change === '' ? this.said.length
      : this.count(change);
    const shown = rows.filter((one, i) => i < this.limit
      || one === this.chosen());
    this.list.replaceChildren(
      choice('List', ['', ...LISTED].map((id) =>
        [id, (id === '' ? 'all paths' : this.label(id)) + ' (' + count(id)
          + ')']), wanted, (changes) =>
        this.state.set({ changes }, { step: true })),
      rows.length === 0 ? element('p', { class: 'muted' }, 'None.')
        : partsTable(headings, shown.map((i) => this.makeRow(i))),
      rows.length === shown.length ? '' : button(
        rows.length - shown.length + ' more', () => {
          this.limit *= 10;
          this.showList();
          this.follow();
        }));
  }

  row(i) {
    return this.list.querySelector('[data-path="' + i + '"]');
  }

  // Names the edge of a path, unless it is a call.
  edge(path) {
    const shape = this.shapes[path.before >= 0 ? 0 : 1];
    const name = path.parent < 0 ? '' : shape.profile.edgeName(
      shape.origin[path.before >= 0 ? path.before : path.after]);
    return name === '' ? null : element('span', { class: 'edge' }, name);
  }

  makeRow(i) {
    const path = this.compared.paths[i];
    const { before, after } = this.times;
    const cell = (value, there) => element('td', {
      title: there < 0 ? null : exactUnit(value, this.metric.unit) },
      there < 0 ? '\u2013' : this.format(value));
    const lines = new Map(this.lines(i));
    return element('tr', { 'data-path': i,
                           class: this.matched && (this.matched[i] ? 'match'
                             : 'faint') },
      element('th', { scope: 'row' }, this.link(i), this.edge(path)),
      element('td', { class: 'text' },
              ...this.mark(this.changes[i], '', this.below(i))),
      cell(before[i], path.before), cell(after[i], path.after),
      element('td', {}, this.signed(after[i] - before[i])),
      element('td', {}, formatGrowth(before[i], after[i])),
      element('td', {}, lines.get('of medians with 95 % confidence')));
  }
}

export const diffView = {
  id: 'diff', label: 'Changes',
  about: 'This profile and another one, path by path',
  leads: (profile) => Boolean(profile.before),
  keys: [['Arrows', 'Go from path to path'],
         ['Enter', 'Zoom in'], ['Escape', 'Zoom out']],
  ignores: { part: 'Changes are of all the time and all lanes.' },
  state: { normalise: '', changes: '', swap: '', path: -1, into: -1 },
  make: (shared) => new Diff(shared),
};
