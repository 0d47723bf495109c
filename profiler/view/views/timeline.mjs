// SPDX-License-Identifier: MIT
// The timeline: the threads' time by category in a bar; below it threads, then
// rows of requests, then gauges, on one time axis.
// Arrows show the parent of the selected span; a stretch marked on the axis
// narrows all views.

import { AXIS_HEIGHT, drawAxis } from './axis.mjs';
import { breakdownPanel } from '../widgets/breakdown.mjs';
import { findPath, longestRoot, pathBySite, rootOf }
  from '../model/critical.mjs';
import { button, element, nameElement, swatch } from '../widgets/dom.mjs';
import { spanFilter } from '../model/function-stats.mjs';
import { drawGauge, GAUGE_HEIGHT, splitSamples } from './gauges.mjs';
import { inSlices } from '../data/slices.mjs';
import { Lanes } from '../model/lanes.mjs';
import { formatRange, narrow, parseLanes, parseRange }
  from '../model/model.mjs';
import { Minimap } from './minimap.mjs';
import { Pane, themeColours } from '../widgets/pane.mjs';
import { TimelineInput } from './timeline-input.mjs';
import { TimelineMarks } from './timeline-marks.mjs';
import { FOLD_WIDTH, READABLE, RowPainter, SPAN_HEIGHT }
  from './timeline-rows.mjs';
import { formatShare, formatTime } from '../data/units.mjs';

// The width of the margin with the names; of a narrow picture.
const GUTTER = 150, NARROW = 600, NARROW_GUTTER = 96;
const GAP = 6;
const MIN_SPAN_NS = 20;
// The address follows once the view has stopped moving.
const REST_MS = 250;

// The height that the picture has at first, if folding lanes to bands can do
// it; that of bands of requests and idle threads together, and a band's least
// height, if it can be; and the share of the time below which a thread is idle.
const FIT = 600, MINOR = 120, LEAST_BAND = 3, IDLE = 0.01;

export class Timeline {
  constructor({ profile, state, model, tooltip }) {
    Object.assign(this, { profile, state, model, tooltip });
    this.lanes = new Lanes(profile);
    this.gauges = splitSamples(profile);
    this.end = Math.max(profile.end, 1);
    this.placeRows();
    this.longest = longestRoot(profile);
    this.pane = new Pane({
      label: 'Timeline of ' + this.lanes.lanes.length + ' lanes. Left and '
        + 'right move, plus and minus zoom, ? lists all keys.',
      className: 'timeline', height: this.pictureHeight,
      draw: (...where) => this.draw(...where),
    });
    this.painter = new RowPainter(this.pane, this.lanes, profile, model);
    this.minimap = new Minimap(this);
    this.marks = new TimelineMarks(this);
    this.input = new TimelineInput(this);
    this.pathSum = element('div', { class: 'path-sum' });
    this.element = element('div', {},
                           breakdownPanel({ profile, state, model }),
                           this.buttons(), this.pathSum,
                           this.minimap.pane.box, this.pane.box);
    this.actions = { c: () => this.critical.click(),
                     f: () => this.foldSelected(),
                     F: () => this.foldAll.click(),
                     b: () => this.brush(this.from, this.to) };
    this.follow();
    this.describe();
    this.showFolds();
    this.warmUp(0.6, element('canvas'));
    if (state.get('span') >= 0)
      requestAnimationFrame(() => this.update(new Set(['span'])));
  }

  // Browsers compile the drawing code for what they have seen, and the first
  // frames of a zoom would take three times as long: draw offscreen in idle
  // moments before.
  warmUp(share, aside) {
    self.requestIdleCallback?.(() => {
      const { to } = this;
      this.to = this.from + (to - this.from) * share;
      this.pane.paint(aside);
      this.to = to;
      if (share > 0.001)
        this.warmUp(share * 0.6, aside);
    });
  }

  update(keys) {
    if (keys.has('seen'))
      this.follow();
    if (keys.has('critical') || keys.has('span'))
      this.describe();
    if (keys.has('folds')) {
      this.placeRows();
      this.showFolds();
    }
    const span = this.state.get('span');
    if (keys.has('span') && span >= 0 && span < this.profile.spans.count)
      this.reveal(span);
    if (keys.has('theme') || keys.has('query'))
      this.minimap.pane.redraw();
    this.pane.redraw();
  }

  // Applies the address.
  follow() {
    clearTimeout(this.resting);
    const seen = parseRange(this.state.get('seen')) ?? [0, this.end];
    this.from = Math.min(seen[0], this.end - 1);
    this.to = Math.min(seen[1], this.end);
    this.minimap.follow();
  }

  buttons() {
    this.critical = button('Critical path', () => this.state.set(
      { critical: this.state.get('critical') ? '' : '1' }, { step: true }),
      { title: 'What the operation waited for at each moment. Key c',
        'aria-pressed': 'false' });
    this.foldAll = button('', () => this.setFolds(this.lanes.lanes.map(
      (_, i) => i).filter((i) => !this.folded.size && this.canFold(i))),
                          { title: 'Lanes as bands, with the deepest scope '
      + 'at each moment. Key F' });
    return element('div', { class: 'tools' },
      button('Zoom in', () => this.zoom(0.5), { title: 'Key +' }),
      button('Zoom out', () => this.zoom(2), { title: 'Key -' }),
      button('Show all', () => this.show(0, this.end), { title: 'Key 0' }),
      button('Narrow to this', () => this.brush(this.from, this.to),
             { title: 'Narrow all views to the visible time. '
                + 'Key b' }),
      this.critical, this.foldAll,
      element('span', { class: 'hint' },
              'Drag on the axis, click a lane: all views narrow to it.'));
  }

  // The critical path of the selected span's operation, or of the longest;
  // null: none, or it is still being sought.
  path() {
    if (!this.state.get('critical'))
      return null;
    const span = this.state.get('span');
    const root = span >= 0 && span < this.profile.spans.count
      ? rootOf(this.profile, span) : this.longest;
    if (this.pathRoot !== root) {
      this.pathRoot = root;
      this.found = null;
      this.search?.return();
      this.search = root < 0 ? null
        : inSlices(findPath(this.profile, root), (path) => {
          this.found = path;
          this.describe();
          this.pane.redraw();
        });
    }
    return this.found;
  }

  // Summarizes the critical path.
  describe() {
    const isWanted = this.state.get('critical') === '1';
    this.critical.setAttribute('aria-pressed', String(isWanted));
    const path = this.path();
    this.pathSum.hidden = !isWanted;
    this.pathSum.textContent = 'Critical path\u2026';
    if (path === null)
      return;
    const sites = pathBySite(this.profile, path);
    const whole = sites.reduce((sum, [, ns]) => sum + ns, 0);
    const parts = sites.slice(0, 6).flatMap(([site, ns]) => {
      const node = this.profile.sites.first[site];
      return [element('span', {}, swatch(this.model.colours[node]),
        nameElement(this.profile.names[node]), ' ',
        element('b', {}, formatShare(ns, whole))), ' '];
    });
    this.pathSum.replaceChildren('Critical path, ' + formatTime(whole) + ': ',
                              ...parts);
  }

  // Narrows all views to a stretch of time.
  brush(from, to) {
    const range = from <= 0 && to >= this.end ? '' : formatRange(from, to);
    narrow(this.state, { range });
  }

  // Narrows all views to a lane, or widens them; with `more', adds or removes
  // it.
  choose(lane, more) {
    const n = this.profile.lanes.length;
    const chosen = parseLanes(this.state.get('lanes'), n);
    const next = more && chosen !== null ? chosen.slice() : new Uint8Array(n);
    for (const one of this.lanes.laneOf[lane].lanes)
      next[one] = chosen !== null && chosen[lane] === 1 ? 0 : 1;
    const list = Array.from(next.keys()).filter((i) => next[i] === 1);
    narrow(this.state, { lanes: list.join(',') });
  }

  // Which lanes are folded, by the address; or else as many as make the
  // picture fit: idle ones, requests, other threads, all.
  placeRows() {
    const folds = this.state.get('folds');
    const { lanes } = this.lanes;
    this.folded = new Set(folds.split(',').filter((one) => one !== '')
      .map(Number).filter((i) => i >= 0 && this.canFold(i)));
    this.place();
    for (const isNext of folds !== '' ? [] : [
      ({ busy }) => busy < IDLE * this.end, ({ isAsync }) => isAsync,
      (_, i) => i > 0, () => true]) {
      if (this.pictureHeight <= FIT)
        break;
      lanes.forEach((lane, i) => isNext(lane, i) && this.canFold(i)
        && this.folded.add(i));
      this.place();
    }
  }

  // Whether a band is lower than the lane, as all are if there are many.
  canFold(i) {
    return this.lanes.lanes[i]?.height > 1
      || SPAN_HEIGHT * this.lanes.lanes.length > FIT;
  }

  // Places the lanes in groups that have one name in the margin: an open lane,
  // a band, or low bands of one kind beside each other.
  place() {
    const { lanes } = this.lanes;
    const [open, bands] = [false, true].map((isFolded) =>
      lanes.filter((_, i) => this.folded.has(i) === isFolded));
    const minor = bands.filter((lane) => this.isMinor(lane)).length;
    const rest = FIT - AXIS_HEIGHT - 2 * GAP
      - this.gauges.length * GAUGE_HEIGHT
      - open.reduce((sum, { height }) => sum + height * SPAN_HEIGHT + GAP, 0);
    // The height of a band and the gap below it.
    const stepOf = (room, n) => Math.max(LEAST_BAND + 1,
      Math.min(SPAN_HEIGHT + 2, Math.floor(room / n)));
    const low = stepOf(MINOR, minor);
    const high = stepOf(rest - low * minor, bands.length - minor);
    this.groups = [];
    let y = AXIS_HEIGHT + GAP;
    for (const [i, lane] of lanes.entries()) {
      lane.isFolded = this.folded.has(i);
      const step = this.isMinor(lane) ? low : high;
      const last = this.groups.at(-1);
      const isNext = lane.isFolded && last?.[0].isFolded
        && last[0].isAsync === lane.isAsync;
      lane.step = !lane.isFolded ? SPAN_HEIGHT
        : step - (step < READABLE ? 1 : 2);
      if (isNext && last.at(-1).step === lane.step && step < READABLE)
        last.push(lane);
      else {
        y += !last || isNext ? 0 : GAP - (last[0].isFolded ? 1 : 0);
        if (last)
          y = Math.max(y, last[0].top + SPAN_HEIGHT);
        this.groups.push([lane]);
      }
      lane.top = y;
      lane.bottom = y + lane.step * (lane.isFolded ? 1 : lane.height);
      y = lane.isFolded ? y + step : lane.bottom;
    }
    y = Math.max(y + GAP, this.groups.at(-1)[0].top + SPAN_HEIGHT);
    for (const gauge of this.gauges) {
      gauge.top = y;
      y += GAUGE_HEIGHT;
    }
    this.pictureHeight = y;
  }

  // Requests and idle threads are lower than others when they are folded.
  isMinor({ isAsync, busy }) {
    return isAsync || busy < IDLE * this.end;
  }

  showFolds() {
    const { lanes } = this.lanes;
    this.pane.setHeight(this.pictureHeight);
    this.foldAll.textContent = this.folded.size ? 'Unfold' : 'Fold';
    this.foldAll.hidden = !lanes.some((_, i) => this.canFold(i));
  }

  // Folds these lanes only.
  setFolds(folds) {
    this.state.set({ folds: folds.join() || '-' }, { step: true });
  }

  // Folds or unfolds some lanes.
  fold(lanes) {
    const all = this.lanes.lanes;
    this.setFolds(all.map((_, i) => i).filter((i) => this.canFold(i)
      && lanes.includes(all[i]) !== this.folded.has(i)));
  }

  foldSelected() {
    const span = this.state.get('span');
    if (span >= 0 && span < this.profile.spans.count)
      this.fold([this.lanes.laneOf[this.profile.spans.lane[span]]]);
  }

  // The visible time and its position.
  viewport() {
    const { from, to, pane: { width } } = this;
    const left = width < NARROW ? NARROW_GUTTER : GUTTER;
    return { from, to, left, width: Math.max(1, width - left) };
  }

  draw(context, width, height, scroll) {
    const view = this.viewport();
    const theme = themeColours();
    context.save();
    context.beginPath();
    context.rect(0, AXIS_HEIGHT, width, height - AXIS_HEIGHT);
    context.clip();
    const lanes = this.lanes.lanes.filter(({ top, bottom }) =>
      bottom > scroll && top < scroll + height);
    for (const group of this.groups.filter((one) =>
      one.some((lane) => lanes.includes(lane))))
      this.drawName(context, theme, group, view, scroll);
    this.painter.paint(this.places(lanes, scroll, height), view, theme);
    for (const lane of lanes)
      if (this.isOut(lane))
        this.veil(context, theme, lane, view, scroll);
    for (const gauge of this.gauges)
      drawGauge(this.pane, theme, gauge, gauge.top - scroll, view);
    this.marks.draw(context, theme, scroll);
    context.restore();
    drawAxis(this.pane, theme, view);
    this.marks.drawRange(context, theme);
  }

  drawName(context, theme, group, view, scroll) {
    const [lane] = group, { bottom } = group.at(-1);
    context.fillStyle = theme.border;
    context.fillRect(0, bottom - scroll + (lane.isFolded ? 1 : GAP / 2 - 1),
                     view.left + view.width, 1);
    context.fillStyle = lane.isAsync || group.every((one) => this.isOut(one))
      ? theme.muted : theme.text;
    const n = lane.lanes.length;
    const y = Math.max(lane.top - scroll, AXIS_HEIGHT) + SPAN_HEIGHT / 2;
    if (lane.isFolded || this.folded.size > 0 && lane.height > 1)
      context.fillText(lane.isFolded ? '\u25b8' : '\u25be', 6, y);
    const left = this.folded.size > 0 ? FOLD_WIDTH : 8;
    context.fillText(lane.name + (group.length > 1
      ? '\u2013' + group.at(-1).name.split(' ').at(-1)
      : n > 1 ? ' \u00d7' + n : ''), left, y, view.left - left - 8);
    this.drawNumbers(context, theme, group, view, scroll);
  }

  // The last words of the names of low bands, of as many as there is room for.
  drawNumbers(context, theme, group, view, scroll) {
    context.fillStyle = theme.muted;
    let free = group[0].top + SPAN_HEIGHT;
    for (const { name, top, step } of group)
      if (top >= free) {
        const word = name.split(' ').at(-1);
        context.fillText(word, view.left - 8 - this.pane.textWidth(word),
                         top - scroll + step / 2);
        free = top + READABLE;
      }
  }

  // The visible rows of some lanes: [row, y, height].
  places(lanes, scroll, height) {
    return lanes.flatMap((lane) => lane.isFolded
      ? [[this.lanes.bandOf(lane), lane.top - scroll, lane.step]]
      : Array.from({ length: lane.height }, (_, i) =>
        [lane.row + i, lane.top + i * SPAN_HEIGHT - scroll, SPAN_HEIGHT]))
      .filter(([, y, high]) => y + high > 0 && y < height);
  }

  // The place of a span in the picture: [top, height].
  placeOf(span) {
    const lane = this.lanes.laneOf[this.profile.spans.lane[span]];
    return [lane.top + (lane.isFolded ? 0
      : (this.lanes.rowOf(span) - lane.row) * SPAN_HEIGHT), lane.step];
  }

  // Whether views are narrowed to other lanes.
  isOut({ lanes }) {
    const chosen = parseLanes(this.state.get('lanes'),
                              this.profile.lanes.length);
    return chosen !== null && lanes.every((lane) => chosen[lane] === 0);
  }

  veil(context, theme, lane, view, scroll) {
    context.fillStyle = theme.panel;
    context.globalAlpha = 0.65;
    context.fillRect(view.left, lane.top - scroll, view.width,
                     lane.bottom - lane.top);
    context.globalAlpha = 1;
  }

  x(time) {
    const view = this.viewport();
    return view.left + (time - view.from) / (view.to - view.from)
      * view.width;
  }

  // Clipped near the visible part: canvases lose precision far away.
  clampedX(time) {
    return Math.max(-1e4, Math.min(1e5, this.x(time)));
  }

  // The time at a place of the picture.
  time(x) {
    const view = this.viewport();
    return view.from + (x - view.left) / view.width * (view.to - view.from);
  }

  // Shows a stretch of time, within the profile's.
  show(from, to) {
    const span = Math.min(Math.max(to - from, MIN_SPAN_NS), this.end);
    this.from = Math.max(0, Math.min(from, this.end - span));
    this.to = this.from + span;
    this.minimap.follow();
    this.pane.redraw();
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.state.set({
      seen: span >= this.end ? '' : formatRange(this.from, this.to) }),
                              REST_MS);
  }

  // Zooms by a factor around a time.
  zoom(factor, at = (this.from + this.to) / 2) {
    this.show(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }

  pan(share) {
    const by = (this.to - this.from) * share;
    this.show(this.from + by, this.to + by);
  }

  laneAt(y) {
    return this.lanes.lanes.find((one) => y >= one.top && y < one.bottom);
  }

  hit({ x, y }) {
    const lane = this.laneAt(y);
    const view = this.viewport();
    if (!lane || x < view.left || this.isAxis(y))
      return -1;
    const row = lane.isFolded ? this.lanes.bandOf(lane)
      : lane.row + Math.floor((y - lane.top) / SPAN_HEIGHT);
    return this.lanes.at(row, this.time(x),
                         3 * (view.to - view.from) / view.width);
  }

  // Whether a place of the picture is on the axis.
  isAxis(y) {
    return y - this.pane.box.scrollTop < AXIS_HEIGHT;
  }

  select(span) {
    this.state.set({ span, node: this.profile.spans.node[span] });
  }

  // Pans so that a span is visible.
  reveal(span) {
    const { begin, duration } = this.profile.spans;
    const [top, height] = this.placeOf(span);
    this.pane.reveal(top - AXIS_HEIGHT, top + height);
    const end = begin[span] + duration[span];
    if (end < this.from || begin[span] > this.to) {
      const half = (this.to - this.from) / 2;
      const middle = begin[span] + Math.min(duration[span], half) / 2;
      this.show(middle - half, middle + half);
    }
  }

  // Steps to the next matching span by time, within the range and lanes.
  step(by) {
    const { state, profile, model: { matched } } = this;
    const { spans } = profile;
    const current = state.get('span');
    const isWanted = spanFilter(profile, state.get('range'),
                                state.get('lanes'));
    const order = (a, b) => spans.begin[a] - spans.begin[b] || a - b;
    let best = -1, end = -1;
    for (let i = 0; i < spans.count; i++) {
      if (!matched[spans.node[i]] || i === current || !isWanted(i))
        continue;
      if (current >= 0 && by * order(i, current) > 0
          && (best < 0 || by * order(i, best) < 0))
        best = i;
      if (end < 0 || by * order(i, end) < 0)
        end = i;
    }
    if (best >= 0 || end >= 0)
      this.select(best >= 0 ? best : end);
    return true;
  }
}

export const timelineView = {
  id: 'timeline', label: 'Timeline',
  about: 'Threads, requests and counters on one axis of time',
  needs: (profile) => profile.spans.count > 0,
  keys: [['a d \u2190 \u2192', 'Move'], ['w s + -', 'Zoom in and out'],
         ['\u2191 \u2193', 'Scroll'], ['0', 'Show all'],
         [', .', 'To the previous or next span'],
         ['p', 'To the parent span'],
         ['b', 'Narrow all views to the visible time'],
         ['l', 'Narrow all views to the lane of this span'],
         ['L', 'Add that lane to those chosen, or take it away'],
         ['c', 'Critical path'],
         ['f', 'Fold the lane of this span to a band, or unfold it'],
         ['F', 'Fold or unfold all lanes'],
         ['Escape', 'Select nothing; then widen all views again'],
         ['shift-drag', 'Narrow all views to a stretch of time'],
         ['ctrl-click', 'On a name: add that lane, or take it away']],
  ignores: { metric: 'The timeline is by time.',
             transforms: 'All scopes count.' },
  state: { seen: '', critical: '', folds: '' },
  make: (shared) => new Timeline(shared),
};
