// SPDX-License-Identifier: MIT
// Runs: each run of the operation as a dot and a row, with the spread of all.
// Who chooses one sees its stretch of time in every view.

import { element, button, nameElement, plural, showShare } from './dom.mjs';
import { formatRange } from './model.mjs';
import { Pane, themeColours } from './pane.mjs';
import { cacheOfRuns, listRuns, timesInBrief } from './runs-data.mjs';
import { exactUnit, formatRatio, formatShare, formatTime } from
  './units.mjs';

const STRIP_HEIGHT = 150;
const STRIP_LEFT = 74;
const STRIP_EDGE = 16;
const MOST_ROWS = 200;

class Runs {
  constructor({ profile, state, tooltip, show }) {
    Object.assign(this, { profile, state, tooltip, show });
    this.runs = listRuns(profile);
    this.brief = timesInBrief(this.runs.map(({ wall }) => wall));
    this.limit = MOST_ROWS;
    this.pane = new Pane({
      label: 'Runs in their order, higher is slower. Arrow keys choose a '
        + 'run; the table below has the same.',
      className: 'strip', height: STRIP_HEIGHT,
      draw: (...where) => this.draw(...where),
    });
    this.body = element('tbody');
    this.more = element('p');
    this.head = element('div', { class: 'runs-head' });
    this.element = element('div', { class: 'scroll runs-view' },
      this.sentence(), this.head, this.pane.box, this.table(), this.more);
    this.listen(this.pane.canvas);
    this.update(new Set(['range']));
  }

  update(keys) {
    if (!keys.has('range') && !keys.has('theme'))
      return;
    this.showHead();
    this.fill();
    this.pane.redraw();
  }

  // The run whose stretch is chosen, or -1.
  chosen() {
    const range = this.state.get('range');
    return this.runs.findIndex((run) =>
      formatRange(run.begin, run.end) === range);
  }

  choose(i) {
    const run = this.runs[Math.max(0, Math.min(this.runs.length - 1, i))];
    const range = formatRange(run.begin, run.end);
    this.state.set({ range: range === this.state.get('range') ? '' : range });
  }

  sentence() {
    const { n, mean, median, least, most, lower, upper, deviation }
      = this.brief;
    const cache = cacheOfRuns(this.profile);
    const kind = cache === '' ? '' : cache + ' ';
    return element('p', {}, n + ' ' + kind + plural(n, 'run', 'runs')
      + ': median ' + formatTime(median) + ', half of them '
      + formatTime(lower) + ' to ' + formatTime(upper) + ', all '
      + formatTime(least) + ' to ' + formatTime(most) + '; mean '
      + formatTime(mean) + ', standard deviation ' + formatTime(deviation)
      + ' (' + formatShare(deviation, mean) + ').'
      + (cache === 'cold' ? ' Files were dropped from memory before each.'
        : ''));
  }

  showHead() {
    const at = this.chosen();
    if (at < 0) {
      this.head.replaceChildren(element('span', { class: 'muted' },
        'Choose a run to see it alone in all views.'));
      return;
    }
    this.head.replaceChildren(
      element('strong', {}, nameElement(this.runs[at].name)), ' alone. ',
      button('All runs', () => this.state.set({ range: '' })), ' ',
      button('Timeline of this run', () => this.show('timeline')));
  }

  table() {
    const heads = ['run', 'wall', 'against the median', 'work',
                   'threads busy', 'remark'].map((label) =>
      element('th', { scope: 'col' }, label));
    return element('table', { class: 'parts' },
      element('thead', {}, element('tr', {}, ...heads)), this.body);
  }

  fill() {
    const at = this.chosen();
    const rows = this.runs.slice(0, Math.max(this.limit, at + 1));
    this.body.replaceChildren(...rows.map((run) =>
      this.row(run, run.part === at)));
    const left = this.runs.length - rows.length;
    this.more.replaceChildren(left > 0 ? button(left + ' more', () => {
      this.limit = Infinity;
      this.fill();
    }) : '');
  }

  row(run, isChosen) {
    const { median, most } = this.brief;
    const wall = element('td', { title: exactUnit(run.wall, 'time') },
                         formatTime(run.wall));
    showShare(wall, run.wall / most);
    const delta = run.wall - median;
    return element('tr', { class: isChosen ? 'selected' : null },
      element('th', { scope: 'row' }, element('button', {
        type: 'button', class: 'link', 'aria-pressed': String(isChosen),
        onclick: () => this.choose(run.part),
      }, nameElement(run.name))),
      wall,
      element('td', {}, (delta < 0 ? '\u2212' : '+')
        + formatShare(Math.abs(delta), median)),
      element('td', {}, formatTime(run.work)),
      element('td', {}, run.wall > 0 ? formatRatio(run.work / run.wall)
        : ''),
      element('td', { class: 'text' }, run.mark));
  }

  // Where a run's dot is.
  x(i, width) {
    return STRIP_LEFT + STRIP_EDGE + (width - STRIP_LEFT - 2 * STRIP_EDGE)
      * (this.runs.length > 1 ? i / (this.runs.length - 1) : 0.5);
  }

  y(wall, height) {
    const { most } = this.brief;
    return height - STRIP_EDGE - (height - 2 * STRIP_EDGE)
      * (most > 0 ? wall / most : 0);
  }

  draw(context, width, height) {
    const theme = themeColours();
    const { lower, upper, median, most } = this.brief;
    context.fillStyle = theme.sunken;
    context.fillRect(STRIP_LEFT, this.y(upper, height), width,
                     Math.max(1, this.y(lower, height)
                              - this.y(upper, height)));
    context.fillStyle = theme.accent;
    context.fillRect(STRIP_LEFT, this.y(median, height) - 0.5, width, 1);
    this.drawScale(context, theme, height, [0, median, most]);
    const at = this.chosen();
    this.runs.forEach((run, i) => {
      const isSlow = run.mark.startsWith('slow');
      context.beginPath();
      context.arc(this.x(i, width), this.y(run.wall, height),
                  i === at ? 6 : this.runs.length > 300 ? 2 : 4, 0, 7);
      context.fillStyle = isSlow ? '#d55e00' : theme.accent;
      context.fill();
      if (i === at) {
        context.strokeStyle = theme.text;
        context.lineWidth = 2;
        context.stroke();
      }
    });
  }

  // Times at the left, where they do not run into one another.
  drawScale(context, theme, height, times) {
    context.fillStyle = theme.muted;
    context.textAlign = 'right';
    let free = Infinity;
    for (const time of times) {
      const y = this.y(time, height);
      if (y > free)
        continue;
      context.fillText(time > 0 ? formatTime(time) : '0', STRIP_LEFT - 8, y);
      free = y - 14;
    }
    context.textAlign = 'left';
  }

  hit(event) {
    const { x } = this.pane.position(event);
    const width = this.pane.width - STRIP_LEFT - 2 * STRIP_EDGE;
    const at = Math.round((x - STRIP_LEFT - STRIP_EDGE) / width
                          * (this.runs.length - 1));
    return Math.max(0, Math.min(this.runs.length - 1, at || 0));
  }

  listen(canvas) {
    canvas.addEventListener('click', (event) =>
      this.choose(this.hit(event)));
    canvas.addEventListener('pointerleave', () => this.tooltip.hide());
    canvas.addEventListener('pointermove', (event) => {
      const run = this.runs[this.hit(event)];
      this.tooltip.show(event.clientX, event.clientY, run.name, [
        ['wall', formatTime(run.wall)], ['work', formatTime(run.work)],
        ['', run.mark],
      ], 'transparent');
    });
    canvas.addEventListener('keydown', (event) => {
      const to = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (to === undefined)
        return;
      const at = this.chosen();
      this.choose(at < 0 ? 0 : at + to);
      event.preventDefault();
    });
  }
}

export const runsView = {
  id: 'runs', label: 'Runs', about: 'Each run of the operation, and their '
    + 'spread',
  needs: (profile) => profile.parts.length > 1
    && profile.partKind() === 'run',
  keys: [['Arrows', 'choose the run before or after']],
  make: (shared) => {
    const made = new Runs(shared);
    return { element: made.element, update: (keys) => made.update(keys) };
  },
};
