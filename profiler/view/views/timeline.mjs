// SPDX-License-Identifier: MIT
// The timeline: the threads' time by category in a bar; below it threads, then
// rows of requests, then gauges, on one time axis.
// Arrows show the parent of the selected span; a stretch marked on the axis
// narrows all views.

import { AXIS_HEIGHT, drawAxis } from './axis.mjs';
import { breakdownPanel } from '../widgets/breakdown.mjs';
import { criticalPath, longestRoot, pathBySite, rootOf }
  from '../model/critical.mjs';
import { button, element, nameElement } from '../widgets/dom.mjs';
import { spanFilter } from '../model/function-stats.mjs';
import { drawGauge, GAUGE_HEIGHT, splitSamples } from './gauges.mjs';
import { Lanes } from '../model/lanes.mjs';
import { formatRange, narrow, parseLanes, parseRange }
  from '../model/model.mjs';
import { Pane, themeColours } from '../widgets/pane.mjs';
import { TimelineInput } from './timeline-input.mjs';
import { TimelineMarks } from './timeline-marks.mjs';
import { RowPainter, SPAN_HEIGHT } from './timeline-rows.mjs';
import { formatShare, formatTime } from '../data/units.mjs';

const GUTTER = 150;
const GAP = 6;
const MIN_SPAN_NS = 20;
// The address follows once the view has stopped moving.
const REST_MS = 250;

export class Timeline {
  constructor({ profile, state, model, tooltip }) {
    Object.assign(this, { profile, state, model, tooltip });
    this.lanes = new Lanes(profile);
    this.gauges = splitSamples(profile);
    this.end = Math.max(profile.end, 1);
    this.placeRows();
    this.pane = new Pane({
      label: 'Timeline of ' + this.lanes.lanes.length + ' lanes. Left and '
        + 'right move, plus and minus zoom, ? lists all keys.',
      className: 'timeline', height: this.pictureHeight,
      draw: (...where) => this.draw(...where),
    });
    this.painter = new RowPainter(this.pane, this.lanes, profile, model);
    this.marks = new TimelineMarks(this);
    this.input = new TimelineInput(this);
    this.pathSum = element('div', { class: 'path-sum' });
    this.element = element('div', {}, breakdownPanel(profile),
                           this.buttons(), this.pathSum, this.pane.box);
    this.actions = { c: () => this.critical.click(),
                     b: () => this.brush(this.from, this.to) };
    this.follow();
    this.describe();
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
    const span = this.state.get('span');
    if (keys.has('span') && span >= 0 && span < this.profile.spans.count)
      this.reveal(span);
    this.pane.redraw();
  }

  // Applies the address.
  follow() {
    clearTimeout(this.resting);
    const seen = parseRange(this.state.get('seen')) ?? [0, this.end];
    this.from = Math.min(seen[0], this.end - 1);
    this.to = Math.min(seen[1], this.end);
  }

  buttons() {
    this.critical = button('Critical path', () => this.state.set(
      { critical: this.state.get('critical') ? '' : '1' }, { step: true }),
      { title: 'What the operation waited for at each moment. Key c',
        'aria-pressed': 'false' });
    return element('div', { class: 'tools' },
      button('Zoom in', () => this.zoom(0.5), { title: 'Key +' }),
      button('Zoom out', () => this.zoom(2), { title: 'Key -' }),
      button('Show all', () => this.show(0, this.end), { title: 'Key 0' }),
      button('Narrow to this', () => this.brush(this.from, this.to),
             { title: 'Narrow all views to the visible time. '
                + 'Key b' }),
      this.critical,
      element('span', { class: 'hint' },
              'Drag on the axis, click a lane: all views narrow to it.'));
  }

  // Of the selected span's operation, or of the longest.
  path() {
    if (!this.state.get('critical'))
      return [];
    const span = this.state.get('span');
    const root = span >= 0 && span < this.profile.spans.count
      ? rootOf(this.profile, span) : longestRoot(this.profile);
    if (this.pathRoot !== root) {
      this.pathRoot = root;
      this.pieces = root < 0 ? [] : criticalPath(this.profile, root);
    }
    return this.pieces;
  }

  // Summarizes the critical path.
  describe() {
    this.critical.setAttribute('aria-pressed',
                               String(this.state.get('critical') === '1'));
    const pieces = this.path();
    this.pathSum.hidden = pieces.length === 0;
    if (pieces.length === 0)
      return;
    const sites = pathBySite(this.profile, pieces);
    const whole = sites.reduce((sum, [, ns]) => sum + ns, 0);
    const parts = sites.slice(0, 6).flatMap(([site, ns]) => {
      const node = this.profile.sites.first[site];
      const swatch = element('span', { class: 'swatch' });
      swatch.style.background = this.model.colours[node];
      return [element('span', {}, swatch,
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
    const { lanes } = this.lanes.lanes.find((one) =>
      one.lanes.includes(lane));
    for (const one of lanes)
      next[one] = chosen !== null && chosen[lane] === 1 ? 0 : 1;
    const list = Array.from(next.keys()).filter((i) => next[i] === 1);
    narrow(this.state, { lanes: list.join(',') });
  }

  placeRows() {
    let y = AXIS_HEIGHT + GAP;
    this.tops = new Float64Array(this.lanes.rows.length);
    for (const lane of this.lanes.lanes) {
      lane.top = y;
      for (let i = 0; i < lane.height; i++, y += SPAN_HEIGHT)
        this.tops[lane.row + i] = y;
      lane.bottom = y;
      y += GAP;
    }
    for (const gauge of this.gauges) {
      gauge.top = y;
      y += GAUGE_HEIGHT;
    }
    this.pictureHeight = y;
  }

  // The visible time and its position.
  viewport() {
    return { from: this.from, to: this.to, left: GUTTER,
             width: Math.max(1, this.pane.width - GUTTER) };
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
    for (const lane of lanes)
      this.drawName(context, theme, lane, view, scroll);
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

  drawName(context, theme, lane, view, scroll) {
    context.fillStyle = theme.border;
    context.fillRect(0, lane.bottom - scroll + GAP / 2 - 1, view.left
                     + view.width, 1);
    context.fillStyle = lane.isAsync || this.isOut(lane) ? theme.muted
      : theme.text;
    const n = lane.lanes.length;
    context.fillText(lane.name + (n > 1 ? ' \u00d7' + n : ''), 8,
                     Math.max(lane.top - scroll, AXIS_HEIGHT)
                     + SPAN_HEIGHT / 2, GUTTER - 16);
  }

  // The visible rows of some lanes: [row, y].
  places(lanes, scroll, height) {
    return lanes.flatMap((lane) => Array.from({ length: lane.height },
      (_, i) => [lane.row + i, lane.top + i * SPAN_HEIGHT - scroll]))
      .filter(([, y]) => y + SPAN_HEIGHT > 0 && y < height);
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
    if (!lane || x < GUTTER || this.isAxis(y))
      return -1;
    const row = lane.row + Math.floor((y - lane.top) / SPAN_HEIGHT);
    const view = this.viewport();
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
    const top = this.tops[this.lanes.rowOf(span)];
    this.pane.reveal(top - AXIS_HEIGHT, top + SPAN_HEIGHT);
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
         ['Escape', 'Select nothing; then widen all views again'],
         ['shift-drag', 'Narrow all views to a stretch of time'],
         ['ctrl-click', 'On a name: add that lane, or take it away']],
  ignores: { metric: 'The timeline is by time.',
             transforms: 'The timeline has all scopes.' },
  state: { seen: '', critical: '' },
  make: (shared) => new Timeline(shared),
};
