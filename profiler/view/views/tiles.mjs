// SPDX-License-Identifier: MIT
// Tiles: which ones of a volume were accessed, in three projections, with the
// bytes of each step from the store to the reader.

import { button, choice, element, nameElement, partsTable, plural, showShare,
         swatch }
  from '../widgets/dom.mjs';
import { Model, parseLanes, parseRange } from '../model/model.mjs';
import { isDarkGround } from '../widgets/theme.mjs';
import { TileCanvas, tileShade } from './tile-canvas.mjs';
import { addWaste, amplification, byteFlow, findVolumes, isWritten,
         placeOfIndex, PROJECTIONS, projectTiles, sumTiles, TILE_METRICS,
         tilesOfCell }
  from '../data/tile-map.mjs';
import { exactUnit, formatBytes, formatCount, formatRatio, formatShare,
         formatTime, formatUnit } from '../data/units.mjs';

const AXIS_NAMES = ['x', 'y', 'z', 't', 'c'];
const MOST_BOXES = 64;
const HOTTEST = 8;
const FIGURE_GAP = 24;
const MOST_MAP_PIXELS = 420;

// The name of an axis, given the rank.
function axisName(rank, axis) {
  const place = rank - 1 - axis;
  return AXIS_NAMES[place] ?? 'axis ' + axis;
}

// "512 x 512 x 304": the sizes of all axes, x first as in NIfTI.
function sizesText(sizes) {
  return [...sizes].reverse().join(' \u00d7 ');
}

class Tiles {
  constructor(shared) {
    Object.assign(this, shared);
    this.found = findVolumes(this.profile);
    this.head = element('div');
    this.canvases = PROJECTIONS.map((projection, i) => new TileCanvas({
      label: projection.label + ' projection of the tiles. Arrow keys go '
        + 'from tile to tile; the table has those with most.',
      choose: (cell) => this.choose(i, cell),
      point: (event, cell) => this.point(event, i, cell),
    }));
    this.captions = PROJECTIONS.map(() => element('figcaption'));
    this.pictures = element('div', { class: 'projections' },
      ...PROJECTIONS.map((_, i) => element('figure', {}, this.captions[i],
                                           this.canvases[i].canvas)));
    this.legend = element('div', { class: 'tile-legend' });
    this.chosen = element('div', { class: 'tile-chosen',
                                   'aria-live': 'polite' });
    this.list = element('div');
    this.element = element('div', { class: 'scroll tiles' }, this.head,
                           this.pictures, this.legend, this.chosen,
                           this.list);
    new ResizeObserver(() => this.showPictures()).observe(this.element);
    this.render();
  }

  update(keys) {
    if (Model.reshapes(keys) || ['volume', 'tilesby', 'query'].some((key) =>
      keys.has(key)))
      this.render();
    else if (keys.has('tile'))
      this.showChosen();
    if (keys.has('theme'))
      this.recolour();
  }

  recolour() {
    this.showPictures();
    this.showLegend();
  }

  volume() {
    const { volumes } = this.found;
    return volumes[this.state.get('volume')] ?? volumes[0];
  }

  metrics() {
    const verb = isWritten(this.profile, this.volume()) ? 'encoded'
      : 'decoded';
    return TILE_METRICS.map((one) =>
      ({ ...one, label: one.label.replace('decoded', verb) }))
      .filter((one) => this.sums[one.id] > 0);
  }

  metric() {
    return this.choices.find(({ id }) => id === this.state.get('tilesby'))
      ?? this.choices[0] ?? TILE_METRICS[0];
  }

  render() {
    const { profile } = this;
    const range = parseRange(this.state.get('range'));
    const volume = this.volume();
    this.sums = sumTiles(profile, volume, ...range ?? [0, Infinity],
                         this.wanted());
    const isAll = this.model.shape() === this.model.whole
      && this.model.matched === null;
    if (this.model.matched === null && !this.sums.more
        && this.state.get('lanes') + this.state.get('transforms') === ''
        && volume.operations.every(({ boxes }) => boxes.length > 0))
      addWaste(this.sums, volume.geometry);
    this.choices = this.metrics();
    this.flow = byteFlow(profile, volume, this.sums,
                         isAll && this.found.volumes.length === 1);
    this.head.replaceChildren(this.controls(), this.sentence(range),
                              this.bytes());
    this.project();
    this.showPictures();
    this.showLegend();
    this.showChosen();
    this.showList();
  }

  // Spans on the selected lanes, of scopes that are neither hidden by a
  // transform nor outside the search.
  wanted() {
    const { profile, state, model } = this;
    const { parents } = profile.tree;
    const matched = model.matched?.slice();
    matched?.forEach((_, i) => {
      matched[i] ||= parents[i] >= 0 ? matched[parents[i]] : 0;
    });
    const { lane, node } = profile.spans;
    const lanes = parseLanes(state.get('lanes'), profile.lanes.length);
    const shape = model.shape();
    return (span) => (lanes === null || lanes[lane[span]] === 1)
      && shape.place(node[span]) >= 0 && (!matched || matched[node[span]]);
  }

  project() {
    const { geometry } = this.volume();
    this.projected = PROJECTIONS.map((one) =>
      projectTiles(geometry, this.sums.tiles, this.metric().id, one));
  }

  controls() {
    const { volumes } = this.found;
    const set = (key) => (value) =>
      this.state.set({ [key]: key === 'volume' ? Number(value) : value,
                       ...key === 'volume' ? { tile: -1 } : {} },
                     { step: true });
    const metric = choice('Colour by', this.choices.map(({ id, label }) =>
      [id, label]), this.metric().id, set('tilesby'));
    const name = volumes.length === 1
      ? element('strong', {}, nameElement(volumes[0].name))
      : choice('Volume', volumes.map((one, i) =>
        [String(i), one.name + ' (' + sizesText(one.geometry.array) + ')']),
               String(volumes.indexOf(this.volume())), set('volume'));
    return element('div', { class: 'tile-controls' }, name, metric);
  }

  sentence(range) {
    const { geometry } = this.volume();
    const { tiles, operations, more } = this.sums;
    const touched = tiles.size;
    const parts = [
      formatCount(touched) + ' of ' + formatCount(geometry.count)
        + ' tiles touched (' + formatShare(touched, geometry.count) + ') by '
        + formatCount(operations) + ' '
        + plural(operations, 'operation', 'operations')
        + (range === null ? '.' : ' in the chosen stretch of time.')
        + (this.model.matched === null ? ''
          : ' Figures are of the scopes that are searched for.'),
      'The array has ' + sizesText(geometry.array) + ' voxels, a tile '
        + sizesText(geometry.tile) + ' ('
        + geometry.array.map((_, i) => axisName(geometry.array.length, i))
          .reverse().join(', ') + ').',
    ];
    if (more)
      parts.push('More boxes were requested than the log could list.');
    if (this.profile.info.dropped > 0)
      parts.push('The log dropped spans: times and counts are of those that '
        + 'it has.');
    if (this.found.unplaced > 0)
      parts.push(formatCount(this.found.unplaced) + ' more tiles belong to '
        + 'operations dropped from the log.');
    return element('p', {}, parts.join(' '));
  }

  // The steps as bars on one scale, with their amplification.
  bytes() {
    const { steps } = this.flow;
    if (steps.length === 0)
      return '';
    const most = Math.max(...steps.map(([, nbytes]) => nbytes));
    const rows = steps.map(([name, nbytes]) => {
      const bar = element('td', { title: exactUnit(nbytes, 'bytes') },
                          formatBytes(nbytes));
      showShare(bar, nbytes / most);
      return element('tr', {}, element('th', { scope: 'row' }, name), bar);
    });
    const ratios = amplification(this.flow).map(([over, under, ratio]) =>
      element('div', { class: 'figure' },
              element('dt', {}, over + ' / ' + under),
              element('dd', {}, formatRatio(ratio) + '\u00a0\u00d7')));
    return element('div', { class: 'tile-bytes' },
      element('table', {}, element('caption', {}, this.flow.exact
        ? 'Bytes, as the tree counted them'
        : 'Bytes of this volume, from the log'),
              element('tbody', {}, ...rows)),
      element('dl', { class: 'figures' }, ...ratios));
  }

  // Pixels per voxel, the same in all three pictures.
  scale(projected) {
    const room = this.element.clientWidth - 2 * FIGURE_GAP;
    const wide = projected.reduce((sum, one) => sum + one.width, 0);
    const high = Math.max(...projected.map((one) => one.height));
    const beside = (room - 2 * FIGURE_GAP - 60) / wide;
    const below = (room - 20)
      / Math.max(...projected.map((one) => one.width));
    return Math.min(room >= 700 ? beside : below, MOST_MAP_PIXELS / high);
  }

  showPictures() {
    if (this.element.clientWidth === 0)
      return;
    const rank = this.volume().geometry.array.length;
    const scale = this.scale(this.projected);
    this.projected.forEach((one, i) => {
      const names = { row: axisName(rank, one.axes.row),
                      column: axisName(rank, one.axes.column) };
      this.captions[i].textContent = one.label + ', through '
        + axisName(rank, rank - one.through) + ': up to '
        + this.format(one.most);
      this.canvases[i].show(one, names, this.boxes(one.axes), scale);
    });
    this.markChosen();
  }

  // "7 times", "3 reads", "1.2 MB".
  format(value) {
    const { id, unit } = this.metric();
    const words = { count: ['time', 'times'], asked: ['read', 'reads'] }[id];
    return formatUnit(value, unit)
      + (words ? '\u00a0' + plural(value, ...words) : '');
  }

  // Boxes in a picture's voxels, if there are few enough to distinguish.
  boxes({ row, column }) {
    const all = this.volume().operations.flatMap(({ boxes }) => boxes);
    const kept = new Map();
    for (const { start, size } of all) {
      const box = [start[column] ?? 0, start[row] ?? 0, size[column] ?? 1,
                   size[row] ?? 1];
      kept.set(box.join(), box);
      if (kept.size > MOST_BOXES)
        return [];
    }
    return [...kept.values()];
  }

  showLegend() {
    const { label, unit } = this.metric();
    const dark = isDarkGround();
    const steps = [0, 1, 2, 3, 4, 5].map((i) =>
      swatch(tileShade((i + 0.5) / 6, dark)));
    this.legend.replaceChildren(
      element('span', {}, label + ', summed along the line of sight: above '
        + formatUnit(0, unit)),
      ...steps, element('span', { class: 'most' },
                        'to the maximum of the projection'));
    if (this.boxes({ row: 0, column: 0 }).length > 0)
      this.legend.append(element('span', { class: 'tile-box-key' },
                                 'requested box'));
  }

  // The tile with the largest value in a cell.
  tileOf(i, cell) {
    if (cell < 0)
      return null;
    const { id } = this.metric();
    return tilesOfCell(this.volume().geometry, this.sums.tiles,
                       this.projected[i], cell)
      .reduce((best, one) => best === null || one[id] > best[id] ? one
        : best, null);
  }

  choose(i, cell) {
    const tile = this.tileOf(i, cell);
    this.canvases[i].mark(cell);
    if (tile !== null)
      this.state.set({ tile: tile.index });
    else
      this.chosen.textContent = 'No tile here was touched.';
  }

  point(event, i, cell) {
    const value = cell < 0 ? undefined : this.projected[i].cells.get(cell);
    if (value === undefined) {
      this.tooltip.hide();
      return;
    }
    const { label, unit } = this.metric();
    const tile = this.tileOf(i, cell);
    this.tooltip.show(event.clientX, event.clientY,
      this.projected[i].label, [
        [label, formatUnit(value, unit)],
        ['tile with most', this.placeText(tile.index)],
        ['its voxels', this.voxels(tile.index)],
        ...this.tileLines(tile),
      ], 'transparent');
  }

  tileLines(tile) {
    return this.choices.filter(({ id }) => tile[id] > 0)
      .map(({ id, label, unit }) => [label, formatUnit(tile[id], unit)]);
  }

  placeText(index) {
    return placeOfIndex(this.volume().geometry, index).reverse()
      .join(', ');
  }

  // "x 32\u201363, y 0\u201331, z 96\u2013103"
  voxels(index) {
    const { geometry } = this.volume();
    return placeOfIndex(geometry, index).map((at, i) => {
      const first = at * geometry.tile[i];
      const last = Math.min(geometry.array[i], first + geometry.tile[i]) - 1;
      return axisName(geometry.tile.length, i) + '\u00a0' + first
        + (last > first ? '\u2013' + last : '');
    }).reverse().join(', ');
  }

  markChosen() {
    const { geometry } = this.volume();
    const index = this.state.get('tile');
    const place = this.sums.tiles.has(index)
      ? placeOfIndex(geometry, index) : null;
    this.canvases.forEach((canvas, i) => {
      const { axes, columns } = this.projected[i];
      canvas.mark(place === null ? -1
        : (place[axes.row] ?? 0) * columns + (place[axes.column] ?? 0));
    });
  }

  showChosen() {
    const tile = this.sums.tiles.get(this.state.get('tile'));
    this.markChosen();
    if (tile === undefined) {
      this.chosen.replaceChildren();
      return;
    }
    this.chosen.replaceChildren(
      element('strong', {}, 'Tile ' + this.placeText(tile.index)), ': ',
      this.voxels(tile.index) + '; '
        + this.tileLines(tile).map(([name, value]) => name + ' ' + value)
          .join('; '), ...tile.longest < 0 ? []
        : ['; longest run ', this.jump(tile)]);
  }

  // Goes to a tile's longest span.
  jump(tile) {
    const span = tile.longest;
    if (span < 0)
      return null;
    return button(formatTime(this.profile.spans.duration[span]), () =>
      this.show('timeline', { span, node: this.profile.spans.node[span] }),
                  { class: 'link' });
  }

  showList() {
    const { id, label } = this.metric();
    const hottest = [...this.sums.tiles.values()]
      .sort((a, b) => b[id] - a[id] || a.index - b.index).slice(0, HOTTEST);
    const names = ['tile', 'voxels', ...this.choices.map((one) => one.label),
                   'longest run'];
    const rows = hottest.map((tile) => element('tr', {},
      element('th', { scope: 'row' },
              button(this.placeText(tile.index), () =>
                this.state.set({ tile: tile.index }), { class: 'link' })),
      element('td', { class: 'text' }, this.voxels(tile.index)),
      ...this.choices.map((one) => element('td', {
        title: exactUnit(tile[one.id], one.unit),
      }, formatUnit(tile[one.id], one.unit))),
      element('td', {}, this.jump(tile) ?? '')));
    this.list.replaceChildren(partsTable(names, rows,
      element('caption', {}, 'Top tiles by ' + label)));
  }
}

export const tilesView = {
  id: 'tiles', label: 'Tiles',
  about: 'Which tiles of a volume were touched, and their bytes',
  needs: (profile) => profile.notes.some(({ span, key }) =>
    span > 0 && key === 'tile shape')
    && findVolumes(profile).volumes.length > 0,
  keys: [['Arrows', 'Go from tile to tile in a picture']],
  ignores: { metric: 'Tiles have \u201cColour by\u201d.' },
  state: { volume: 0, tilesby: 'waste', tile: -1 },
  make: (shared) => new Tiles(shared),
};
