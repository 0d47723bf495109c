// SPDX-License-Identifier: MIT
// Changes: this profile and one of before, which the page holds or the
// reader opens, path by path, with what is noise told as noise.

import { element, button, choice, nameElement } from './dom.mjs';
import { changeOf, compareProfiles, diffTimes, scaleOfAfter } from
  './compare.mjs';
import { CHANGES, DiffIcicle } from './diff-icicle.mjs';
import { openProfile } from './open-profile.mjs';
import { exactUnit, formatCount, formatRatio, formatShare, formatTime } from
  './units.mjs';

const DIFF_ROWS = 100;
const DIFF_LISTS = [['', 'all paths'], ['slower', 'slower'],
                    ['faster', 'faster'], ['new', 'new'], ['gone', 'gone'],
                    ['noise', 'within noise']];

function signedTime(ns) {
  return (ns < 0 ? '\u2212' : '+') + formatTime(Math.abs(ns));
}

// "+12.5 %", "3.2 x", or '' where there is nothing to divide.
function changeShare(before, after) {
  if (!(before > 0 && after > 0))
    return '';
  if (after >= 3 * before)
    return formatRatio(after / before) + '\u00a0\u00d7';
  return (after < before ? '\u2212' : '+')
    + formatShare(Math.abs(after - before), before);
}

// The names from the root down to a path.
function namesOfPath(compared, path) {
  return compared.tree.path(path).map((one) => compared.paths[one].name)
    .join(' \u203a ');
}

class Diff {
  constructor({ profile, state, tooltip }) {
    Object.assign(this, { profile, state, tooltip });
    this.chosen = -1;
    this.swapped = false;
    this.other = profile.before ?? null;
    this.notice = element('p', { role: 'status' });
    this.head = element('div');
    this.list = element('div');
    this.icicle = new DiffIcicle({
      choose: (path) => this.choose(path),
      point: (event, path) => this.point(event, path),
    });
    this.legend = element('p', { class: 'diff-legend' },
      ...['slower', 'faster', 'new', 'gone', 'noise'].map(legendEntry),
      element('span', { class: 'muted' }, 'A box is as wide as the longer '
        + 'of both times; the line at its foot is the shorter one.'));
    this.told = element('p', { class: 'diff-told', 'aria-live': 'polite' });
    this.shown = element('div', {}, this.head, this.legend,
                         this.icicle.pane.box, this.told, this.list);
    this.element = element('div', { class: 'scroll diff' }, this.opener(),
                           this.notice, this.shown);
    this.compare();
  }

  update(keys) {
    if (keys.has('normalise') || keys.has('changes'))
      this.render();
    else if (keys.has('theme'))
      this.icicle.pane.redraw();
  }

  opener() {
    const input = element('input', {
      type: 'file', accept: '.json,.html', class: 'unseen',
      onchange: () => input.files[0] && this.open(input.files[0]),
    });
    return element('p', { class: 'diff-open' },
      element('label', { class: 'as-button' }, 'Open a profile to compare '
        + 'with\u2026', input), ' ',
      element('span', { class: 'muted' }, 'or drop one on the page: .json '
        + 'or .html of radio\u2019s'));
  }

  async open(file) {
    try {
      this.other = await openProfile(file);
      this.swapped = false;
      this.notice.replaceChildren();
      this.compare();
    } catch (error) {
      this.notice.replaceChildren(nameElement(file.name),
        ' cannot be compared with: ' + error.message + '.');
    }
  }

  compare() {
    this.shown.hidden = this.other === null;
    if (this.other === null) {
      this.notice.textContent = 'Compare this profile with another one, as '
        + 'radio diff does: what got slower or faster, is new or gone, and '
        + 'what is mere noise. Nothing leaves this page.';
      return;
    }
    this.chosen = -1;
    const both = [this.other, this.profile];
    const [before, after] = this.swapped ? both.reverse() : both;
    this.compared = compareProfiles(before, after);
    this.names = [before, after].map((one) => one === this.profile
      ? 'this profile' : one.fileName ?? one.info.title);
    this.render();
  }

  render() {
    if (this.other === null)
      return;
    const { compared } = this;
    const isNormalised = this.state.get('normalise') !== '';
    this.scale = scaleOfAfter(compared, isNormalised);
    this.times = diffTimes(compared, isNormalised);
    this.changes = compared.paths.map((path) =>
      changeOf(path, this.scale));
    this.head.replaceChildren(this.controls(isNormalised), this.sentence(),
                              this.conditions());
    this.icicle.show(compared.tree, this.times,
                     compared.paths.map(({ name }, i) => ({
                       name, change: this.changes[i],
                       value: this.valueOf(i) })));
    this.showList();
    this.tell();
  }

  valueOf(i) {
    const { before, after } = this.times;
    switch (this.changes[i]) {
      case 'new': return formatTime(after[i]);
      case 'gone': return formatTime(before[i]);
      default: return formatTime(before[i]) + ' \u2192 '
        + formatTime(after[i]);
    }
  }

  controls(isNormalised) {
    const box = element('input', {
      type: 'checkbox', checked: isNormalised,
      onchange: () => this.state.set({ normalise: box.checked ? '1' : '' }),
    });
    return element('div', { class: 'tile-controls' },
      element('strong', {}, nameElement(this.names[0]), ' \u2192 ',
              nameElement(this.names[1])),
      button('Swap', () => {
        this.swapped = !this.swapped;
        this.compare();
      }),
      element('label', { title: 'Scale times such that both took the same '
        + 'in all: what then differs is where the time goes' }, box,
              ' equal wholes'));
  }

  sentence() {
    const { compared, changes } = this;
    const count = (change) => changes.filter((one) => one === change).length;
    const { before, after } = compared;
    const share = changeShare(before, after);
    const whole = formatTime(before) + ' \u2192 ' + formatTime(after)
      + (share === '' ? '' : ' (' + share + ')');
    const noise = count('one run') > 0
      ? 'A single run has no spread: whether a difference is noise cannot be '
        + 'told (record with --runs).'
      : ['slower', 'faster', 'new', 'gone'].map((one) =>
        formatCount(count(one)) + ' ' + one).join(', ') + ', '
        + formatCount(count('noise')) + ' within noise.';
    return element('p', {}, element('strong', { class: 'diff-whole' },
                                    whole), ' Paths: ' + noise
      + (this.scale === 1 ? '' : ' Times of the second are scaled by '
         + formatRatio(this.scale) + '.'));
  }

  // Before any figure: what makes them no comparison of like with like.
  conditions() {
    const { conditions, sameOperation } = this.compared;
    const items = conditions.map(({ name, before, after }) =>
      element('li', {}, nameElement(name), ': ', nameElement(before),
              ' \u2192 ', nameElement(after)));
    if (!sameOperation)
      items.unshift(element('li', {}, element('strong', {}, 'These are '
        + 'profiles of different operations.')));
    return items.length === 0 ? ''
      : element('ul', { class: 'diff-conditions',
                        'aria-label': 'Different conditions' }, ...items);
  }

  lines(i) {
    const path = this.compared.paths[i];
    const { before, after } = this.times;
    const delta = after[i] - before[i];
    const has = path.low !== 0 || path.high !== 0;
    const moved = (this.scale - 1) * path.totalAfter;
    return [
      ['change', CHANGES[this.changes[i]].label],
      ['before', path.before < 0 ? '' : formatTime(before[i])],
      ['after', path.after < 0 ? '' : formatTime(after[i])],
      ['difference', signedTime(delta) + ' '
        + changeShare(before[i], after[i])],
      ['with 95 % confidence', has ? signedTime(path.low + moved) + ' to '
        + signedTime(path.high + moved) : ''],
      ['self', signedTime(path.selfAfter * this.scale - path.selfBefore)],
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
    this.chosen = i;
    this.icicle.select(i);
    this.tell();
    for (const row of this.list.querySelectorAll('[data-path]'))
      row.classList.toggle('selected', Number(row.dataset.path) === i);
    const node = this.swapped ? this.compared.paths[i].before
      : this.compared.paths[i].after;
    if (node >= 0)
      this.state.set({ node });
  }

  tell() {
    const i = this.chosen;
    this.told.replaceChildren(...i < 0 ? ['Choose a path to see its '
      + 'figures.'] : [element('strong', {},
                               nameElement(namesOfPath(this.compared, i))),
      ': ' + this.lines(i).filter(([, value]) => value !== '')
        .map(([name, value]) => name + ' ' + value).join('; ') + '.']);
  }

  showList() {
    const { before, after } = this.times;
    const wanted = this.state.get('changes');
    const rows = this.changes.map((_, i) => i).filter((i) =>
      wanted === '' || this.changes[i] === wanted)
      .sort((a, b) => Math.abs(after[b] - before[b])
        - Math.abs(after[a] - before[a]) || a - b);
    const heads = ['path', 'before', 'after', 'difference', 'relative',
                   '95 % of it', 'change'].map((label) =>
      element('th', { scope: 'col' }, label));
    this.list.replaceChildren(
      choice('List', DIFF_LISTS.map(([id, label]) =>
        [id, label + ' (' + this.changes.filter((one) => id === ''
          || one === id).length + ')']), wanted, (changes) =>
        this.state.set({ changes })),
      rows.length === 0 ? element('p', { class: 'muted' }, 'None.')
        : element('table', { class: 'parts' },
                  element('thead', {}, element('tr', {}, ...heads)),
                  element('tbody', {}, ...rows.slice(0, DIFF_ROWS)
                    .map((i) => this.row(i)))));
  }

  // How a path came below the one above it, where that is not by a call.
  edge(path) {
    const both = [this.other, this.profile];
    const [before, after] = this.swapped ? both.reverse() : both;
    const name = path.before >= 0 ? before.edgeName(path.before)
      : after.edgeName(path.after);
    return name === '' ? null : element('span', { class: 'edge' }, name);
  }

  row(i) {
    const path = this.compared.paths[i];
    const { before, after } = this.times;
    const time = (ns, there) => element('td', {
      title: there < 0 ? null : exactUnit(ns, 'time') },
      there < 0 ? '\u2013' : formatTime(ns));
    const lines = new Map(this.lines(i));
    const { colour, sign, label } = CHANGES[this.changes[i]];
    const mark = element('span', { class: 'swatch' });
    mark.style.background = colour;
    return element('tr', { 'data-path': i,
                           class: i === this.chosen ? 'selected' : null },
      element('th', { scope: 'row' }, element('button', {
        type: 'button', class: 'link', title: namesOfPath(this.compared, i),
        onclick: () => this.choose(i),
      }, nameElement(path.name)), this.edge(path)),
      time(before[i], path.before), time(after[i], path.after),
      element('td', {}, signedTime(after[i] - before[i])),
      element('td', {}, changeShare(before[i], after[i])),
      element('td', {}, lines.get('with 95 % confidence')),
      element('td', { class: 'text' }, mark,
              (sign === label ? '' : sign + ' ') + label));
  }
}

function legendEntry(change) {
  const { sign, label, colour } = CHANGES[change];
  const swatch = element('span', { class: 'swatch' });
  swatch.style.background = colour;
  return element('span', {}, swatch,
                 (sign === label ? '' : sign + ' ') + label);
}

export const diffView = {
  id: 'diff', label: 'Changes',
  about: 'This profile and another one, path by path',
  leads: (profile) => Boolean(profile.before),
  keys: [['Arrows', 'go from path to path'],
         ['Enter Escape', 'zoom in, and out']],
  state: { normalise: '', changes: '' },
  make: (shared) => {
    const made = new Diff(shared);
    return { element: made.element, update: (keys) => made.update(keys),
             open: (file) => made.open(file) };
  },
};
