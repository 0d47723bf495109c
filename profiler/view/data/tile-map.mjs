// SPDX-License-Identifier: MIT
// Which tiles of which volumes were read or written: from the shapes and boxes
// in spans' texts, and from the tile numbers of decoded or encoded tiles
// (docs/profile.md, "Tiles").  A volume is identified by its name and shapes.

// "304,512,512" -> [304, 512, 512]; null if it is not a shape.
export function parseShape(text) {
  const shape = String(text).split(',').map(Number);
  const isOne = text !== undefined && shape.length <= 8
    && shape.every((size) => Number.isSafeInteger(size) && size >= 0);
  return isOne ? shape : null;
}

// "8,0,0+1,512,512 9,0,0+1,512,512 ..." -> boxes, and whether more follow.
export function parseBoxes(text) {
  const words = String(text).split(' ');
  const boxes = [];
  for (const word of words) {
    const [start, size] = word.split('+').map(parseShape);
    if (start && size && start.length === size.length)
      boxes.push({ start, size });
  }
  return { boxes, more: words.includes('...') };
}

function product(sizes) {
  return sizes.reduce((all, one) => all * one, 1);
}

// The grid of an array, from its shapes; null if they do not match.
export function tileGeometry(array, tile, shard) {
  const rank = array?.length;
  if (!(rank >= 1) || tile?.length !== rank || shard?.length !== rank
      || tile.some((size) => size < 1) || shard.some((size) => size < 1))
    return null;
  const per = (whole, part) => whole.map((n, i) => Math.ceil(n / part[i]));
  const grid = per(array, tile), shards = per(array, shard);
  const inShard = per(shard, tile);
  if (!Number.isSafeInteger(product(shards) * product(inShard)))
    return null;
  return { array, tile, shard, grid, shards, inShard,
           count: product(grid) };
}

// Converts a tile number to its place in the grid: shards in C order, in each
// its tiles. null: outside the array.
export function placeOfTile(geometry, number) {
  const { grid, shards, inShard } = geometry;
  const tiles = product(inShard);
  let shard = Math.floor(number / tiles), inside = number % tiles;
  const place = new Array(grid.length);
  for (let i = grid.length - 1; i >= 0; i--) {
    place[i] = shard % shards[i] * inShard[i] + inside % inShard[i];
    shard = Math.floor(shard / shards[i]);
    inside = Math.floor(inside / inShard[i]);
    if (place[i] >= grid[i])
      return null;
  }
  return shard === 0 ? place : null;
}

// A place as one number, in C order of the whole grid.
export function indexOfPlace(geometry, place) {
  return place.reduce((index, at, i) => index * geometry.grid[i] + at, 0);
}

// The first and last tile that a box touches, by axis; null: none.
export function tilesOfBox(geometry, box) {
  const { array, tile } = geometry;
  if (box.start.length !== array.length
      || box.size.some((size, i) => size < 1
                       || box.start[i] + size > array[i]))
    return null;
  return {
    first: box.start.map((at, i) => Math.floor(at / tile[i])),
    last: box.start.map((at, i) =>
      Math.floor((at + box.size[i] - 1) / tile[i])),
  };
}

// The texts of each span that has any, by key.
function textsBySpan(profile) {
  const texts = new Map();
  for (const note of profile.notes) {
    if (!(note.span > 0))
      continue;
    if (!texts.has(note.span))
      texts.set(note.span, new Map());
    texts.get(note.span).set(note.key, note.value);
  }
  return texts;
}

function boxesOf(texts) {
  if (texts.has('boxes'))
    return parseBoxes(texts.get('boxes'));
  const start = parseShape(texts.get('box start'));
  const size = parseShape(texts.get('box shape'));
  const fits = start && size && start.length === size.length;
  return { boxes: fits ? [{ start, size }] : [], more: false };
}

// Derives a volume and boxes from the texts of an operation's span.
function operationOf(texts) {
  const tile = texts && parseShape(texts.get('tile shape'));
  const geometry = tile && tileGeometry(parseShape(texts.get('array shape')),
    tile, parseShape(texts.get('shard shape') ?? texts.get('tile shape')));
  return geometry ? { geometry, ...boxesOf(texts) } : null;
}

// Maps spans to their operations and volumes.
class TileFinder {
  constructor(profile) {
    this.profile = profile;
    this.texts = textsBySpan(profile);
    this.operations = new Map();
    this.names = new Map();
    this.volumes = new Map();
  }

  // Returns find's first result from this span upward, cached for the spans on
  // the way.
  climb(span, known, find) {
    const path = [];
    let found = null;
    for (let at = span; at >= 0; at = this.profile.parentOf(at)) {
      if (known.has(at)) {
        found = known.get(at);
        break;
      }
      path.push(at);
      found = find(at);
      if (found !== null)
        break;
    }
    for (const at of path)
      known.set(at, found);
    return found;
  }

  textsOf(span) {
    return this.texts.get(this.profile.spans.id[span]);
  }

  operation(span) {
    return this.climb(span, this.operations, (at) => {
      const found = operationOf(this.textsOf(at));
      if (found === null)
        return null;
      found.span = at;
      found.volume = this.volume(at, found.geometry);
      found.volume.operations.push(found);
      return found;
    });
  }

  name(span) {
    return this.climb(span, this.names, (at) => {
      const texts = this.textsOf(at);
      return texts?.get('volume') ?? texts?.get('array') ?? null;
    }) ?? '';
  }

  volume(span, geometry) {
    const name = this.name(span);
    const key = [name, geometry.array, geometry.tile, geometry.shard]
      .join('|');
    if (!this.volumes.has(key))
      this.volumes.set(key, { name, geometry, operations: [], tiles: [],
                              spans: [], fetches: [] });
    return this.volumes.get(key);
  }
}

// Returns all volumes in the log, those with most spans first: their
// operations, the spans about a tile (tiles[i] is the tile of spans[i]) and
// those that fetched. unplaced: spans whose operation was dropped, or whose
// number is outside the array.
export function findVolumes(profile) {
  const finder = new TileFinder(profile);
  const { spans } = profile;
  const fetches = nodesThatFetch(profile);
  let unplaced = 0;
  for (let i = 0; i < spans.count; i++)
    if (finder.texts.has(spans.id[i]))
      finder.operation(i);
  for (let i = 0; i < spans.count; i++) {
    const isTile = spans.tile !== null && spans.tile[i] >= 0;
    if (!isTile && !fetches[spans.node[i]])
      continue;
    const parent = profile.parentOf(i);
    const operation = parent >= 0 ? finder.operation(parent) : null;
    const place = operation && isTile
      ? placeOfTile(operation.geometry, spans.tile[i]) : null;
    if (operation && !isTile)
      operation.volume.fetches.push(i);
    else if (place) {
      operation.volume.tiles.push(indexOfPlace(operation.geometry, place));
      operation.volume.spans.push(i);
    } else if (isTile)
      unplaced++;
  }
  const volumes = [...finder.volumes.values()].sort((a, b) =>
    b.spans.length - a.spans.length
    || b.operations.length - a.operations.length);
  return { volumes, unplaced };
}

// Whether a node counted fetched bytes.
function nodesThatFetch(profile) {
  const counter = profile.counters.find((one) =>
    one.name === 'bytes fetched');
  return Array.from(profile.names, (_, node) => counter?.own[node] > 0);
}

// The values that can be shown for a tile.
export const TILE_METRICS = [
  { id: 'waste', label: 'decoded, not used', unit: 'bytes' },
  { id: 'count', label: 'times decoded', unit: 'count' },
  { id: 'time', label: 'time', unit: 'time' },
  { id: 'asked', label: 'reads', unit: 'count' },
  { id: 'bytes', label: 'bytes decoded', unit: 'bytes' },
  { id: 'stored', label: 'bytes stored', unit: 'bytes' },
];

// Boxes of at most this many tiles are enumerated; there may be as many
// operations as spans.
const MOST_BOX_TILES = 1 << 20;

// Sums the tiles within a stretch of time (all of it: 0, Infinity): of wanted
// spans that began in it.  Boxes of operations count for all.
export function sumTiles(profile, volume, from = 0, to = Infinity,
                         isWanted = () => true) {
  const { spans } = profile;
  const tiles = new Map();
  const at = (index) => {
    let tile = tiles.get(index);
    if (tile === undefined) {
      tile = { index, asked: 0, used: 0, waste: 0, count: 0, time: 0,
               bytes: 0, stored: 0, longest: -1 };
      tiles.set(index, tile);
    }
    return tile;
  };
  const isIn = (span) => spans.begin[span] >= from && spans.begin[span] < to;
  const sums = { tiles, operations: 0, asked: 0, askedVoxels: 0, waste: 0,
                 count: 0, time: 0, bytes: 0, stored: 0, fetched: 0,
                 more: false };
  for (const operation of volume.operations)
    if (isIn(operation.span))
      addOperation(sums, at, operation);
  volume.spans.forEach((span, i) => {
    if (isIn(span) && isWanted(span))
      addTileSpan(sums, at(volume.tiles[i]), spans, span);
  });
  for (const span of volume.fetches)
    if (isIn(span) && isWanted(span))
      sums.fetched += spans.bytes[span];
  return sums;
}

// Adds what was decoded and not used; to be called if all boxes are known and
// all spans wanted.
export function addWaste(sums, geometry) {
  for (const tile of sums.tiles.values()) {
    const item = tile.bytes / tile.count / product(geometry.tile);
    tile.waste = Math.max(0, tile.bytes - tile.used * item) || 0;
    sums.waste += tile.waste;
  }
}

function addTileSpan(sums, tile, spans, span) {
  const duration = spans.duration[span];
  if (tile.longest < 0 || duration > spans.duration[tile.longest])
    tile.longest = span;
  for (const [key, value] of [['count', 1], ['time', duration],
                              ['bytes', spans.bytes[span]],
                              ['stored', spans.stored[span]]]) {
    tile[key] += value;
    sums[key] += value;
  }
}

function addOperation(sums, at, operation) {
  const { geometry } = operation;
  sums.operations++;
  sums.more ||= operation.more;
  for (const box of operation.boxes) {
    const touched = tilesOfBox(geometry, box);
    if (touched === null)
      continue;
    sums.askedVoxels += product(box.size);
    const sizes = touched.first.map((one, i) => touched.last[i] - one + 1);
    if (product(sizes) > MOST_BOX_TILES)
      sums.more = true;
    else
      addBox(sums, at, geometry, touched, box);
  }
}

function addBox(sums, at, { grid, tile: shape }, { first, last },
                { start, size }) {
  const place = first.slice();
  for (;;) {
    const tile = at(indexOfPlace({ grid }, place));
    tile.asked++;
    tile.used += product(place.map((one, i) =>
      Math.min(start[i] + size[i], (one + 1) * shape[i])
        - Math.max(start[i], one * shape[i])));
    sums.asked++;
    let axis = place.length - 1;
    while (axis >= 0 && place[axis] === last[axis]) {
      place[axis] = first[axis];
      axis--;
    }
    if (axis < 0)
      return;
    place[axis]++;
  }
}

// The axes of three projections: rows and columns of the picture, and the axis
// that is summed, as places from the array's last axis (x is 1).
export const PROJECTIONS = [
  { id: 'axial', label: 'Axial', rows: 2, columns: 1, through: 3 },
  { id: 'coronal', label: 'Coronal', rows: 3, columns: 1, through: 2 },
  { id: 'sagittal', label: 'Sagittal', rows: 3, columns: 2, through: 1 },
];

// An array of less than three axes is one plane, or a row.
function axisOf(geometry, place) {
  return geometry.grid.length - place;
}

function sizeOf(sizes, axis) {
  return axis >= 0 ? sizes[axis] : 1;
}

function placeOn(place, axis) {
  return axis >= 0 ? place[axis] : 0;
}

// Sums tiles along one axis into a projection.
export function projectTiles(geometry, tiles, metric, projection) {
  const axes = { row: axisOf(geometry, projection.rows),
                 column: axisOf(geometry, projection.columns) };
  const rows = sizeOf(geometry.grid, axes.row);
  const columns = sizeOf(geometry.grid, axes.column);
  const cells = new Map();
  let most = 0;
  for (const tile of tiles.values()) {
    const value = tile[metric];
    if (!(value > 0))
      continue;
    const place = placeOfIndex(geometry, tile.index);
    const cell = placeOn(place, axes.row) * columns
      + placeOn(place, axes.column);
    const sum = (cells.get(cell) ?? 0) + value;
    cells.set(cell, sum);
    most = Math.max(most, sum);
  }
  return { ...projection, rows, columns, cells, most,
           axes, height: sizeOf(geometry.array, axes.row),
           width: sizeOf(geometry.array, axes.column),
           cellHeight: sizeOf(geometry.tile, axes.row),
           cellWidth: sizeOf(geometry.tile, axes.column) };
}

// The place of an index in C order of the grid.
export function placeOfIndex(geometry, index) {
  const place = new Array(geometry.grid.length);
  for (let i = place.length - 1; i >= 0; i--) {
    place[i] = index % geometry.grid[i];
    index = Math.floor(index / geometry.grid[i]);
  }
  return place;
}

// The tiles in a cell of a projection.
export function tilesOfCell(geometry, tiles, projected, cell) {
  const row = Math.floor(cell / projected.columns);
  const column = cell % projected.columns;
  const { axes } = projected;
  return [...tiles.values()].filter((tile) => {
    const place = placeOfIndex(geometry, tile.index);
    return placeOn(place, axes.row) === row
      && placeOn(place, axes.column) === column;
  });
}

// Whether a volume was written.
export function isWritten(profile, volume) {
  const [span] = volume.spans;
  return span !== undefined
    && profile.categories[profile.spans.node[span]] === 'encode';
}

// The bytes delivered, as they are stored: where elements were converted on
// the way, what they were converted from.  The finding of amplification has
// the same rule (profiler/model/find-amplification.c).
const AS_STORED = 'delivered as stored';

function deliveredAsStored(profile) {
  const named = (name) => profile.counters.find((one) => one.name === name);
  const converted = named('bytes converted');
  const delivered = named('bytes delivered');
  if (!converted || !delivered)
    return 0;
  return delivered.own.reduce((sum, nbytes, node) =>
    sum + (converted.own[node] || nbytes), 0);
}

// The bytes requested, fetched, decoded and returned; for writing those
// inflated, encoded and written.  From the tree's counters if all of them
// belong to this volume; otherwise from the log, and exact is false.
export function byteFlow(profile, volume, sums, isAll) {
  const total = (name) => profile.counters.filter((one) => one.name === name)
    .reduce((sum, { own }) => own.reduce((a, b) => a + b, sum), 0);
  // The counter of requested bytes is named "bytes asked" in the file.
  const counted = (names) => names.map((name) =>
    [name, total('bytes ' + (name === 'requested' ? 'asked' : name))]);
  const asStored = deliveredAsStored(profile);
  const known = (flow) => flow.filter(([, nbytes]) => nbytes > 0);
  const writes = isWritten(profile, volume);
  if (isAll)
    return { exact: true, steps: known(counted(
      writes ? ['inflated', 'encoded', 'written']
        : ['requested', 'fetched', 'decoded', 'delivered'])
      .concat(writes ? [] : [[AS_STORED, asStored]])) };
  const item = sums.count > 0
    ? sums.bytes / sums.count / product(volume.geometry.tile) : 0;
  return { exact: false, steps: known(
    writes ? [['encoded', sums.bytes], ['written', sums.stored]]
      : [['requested', sums.stored], ['fetched', sums.fetched],
         ['decoded', sums.bytes],
         [asStored > 0 ? AS_STORED : 'delivered',
          sums.askedVoxels * item]]) };
}

// The ratio of a step's bytes to the returned ones: [label, ratio].
export function amplification({ steps }) {
  const of = Object.fromEntries(steps);
  return [['decoded', of[AS_STORED] > 0 ? AS_STORED : 'delivered'],
          ['fetched', 'requested'], ['encoded', 'written']]
    .filter(([more, less]) => of[more] > 0 && of[less] > 0)
    .map(([more, less]) => [more, less, of[more] / of[less]]);
}
