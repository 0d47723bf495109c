// SPDX-License-Identifier: MIT
// The touched tiles: numbers of tiles, boxes, volumes, projections.
import test from 'node:test';
import assert from 'node:assert/strict';
import { addWaste, amplification, byteFlow, findVolumes, indexOfPlace,
         isWritten, parseBoxes, parseShape, placeOfIndex, placeOfTile,
         PROJECTIONS, projectTiles, sumTiles, tileGeometry, tilesOfBox,
         tilesOfCell } from '../../../profiler/view/data/tile-map.mjs';

test('shapes are parsed, and invalid ones refused', () => {
  assert.deepEqual(parseShape('304,512,512'), [304, 512, 512]);
  assert.deepEqual(parseShape('7'), [7]);
  for (const text of [undefined, 'x', '1,-2', '1.5', '1e400',
                      '9007199254740993', '1,1,1,1,1,1,1,1,1'])
    assert.equal(parseShape(text), null);
});

test('lists of boxes are read, also those that were cut', () => {
  assert.deepEqual(parseBoxes('8,0+1,5 9,0+1,5'), {
    boxes: [{ start: [8, 0], size: [1, 5] }, { start: [9, 0], size: [1, 5] }],
    more: false });
  assert.deepEqual(parseBoxes('8,0+1,5 ...'), {
    boxes: [{ start: [8, 0], size: [1, 5] }], more: true });
  assert.deepEqual(parseBoxes('nonsense 1+2,3 4'),
                   { boxes: [], more: false });
});

test('shapes that do not fit together make no geometry', () => {
  assert.equal(tileGeometry(null, [1], [1]), null);
  assert.equal(tileGeometry([4, 4], [2], [2]), null);
  assert.equal(tileGeometry([4], [0], [4]), null);
  assert.equal(tileGeometry([4], [2], undefined), null);
  const large = 2 ** 40;
  assert.equal(tileGeometry([large, large], [1, 1], [1, 1]), null);
});

// The library numbers shard after shard, and the tiles within each; tiles
// beyond the array's end have numbers, but no place.
test('tile numbers have the same places as in the library', () => {
  const array = [5, 7, 9], tile = [2, 2, 3], shard = [4, 6, 6];
  const geometry = tileGeometry(array, tile, shard);
  const seen = new Set();
  let number = 0;
  for (let sz = 0; sz < 2; sz++)
    for (let sy = 0; sy < 2; sy++)
      for (let sx = 0; sx < 2; sx++)
        for (let z = sz * 2; z < sz * 2 + 2; z++)
          for (let y = sy * 3; y < sy * 3 + 3; y++)
            for (let x = sx * 2; x < sx * 2 + 2; x++, number++) {
              const isIn = z * 2 < 5 && y * 2 < 7 && x * 3 < 9;
              assert.deepEqual(placeOfTile(geometry, number),
                               isIn ? [z, y, x] : null);
              if (isIn)
                seen.add(indexOfPlace(geometry, [z, y, x]));
            }
  assert.equal(seen.size, geometry.count);
  assert.equal(placeOfTile(geometry, number), null);
  for (const index of seen)
    assert.equal(indexOfPlace(geometry, placeOfIndex(geometry, index)),
                 index);
});

test('a box touches the tiles that its voxels lie in', () => {
  const geometry = tileGeometry([10, 10], [4, 3], [4, 3]);
  assert.deepEqual(tilesOfBox(geometry, { start: [3, 3], size: [2, 3] }),
                   { first: [0, 1], last: [1, 1] });
  assert.deepEqual(tilesOfBox(geometry, { start: [0, 0], size: [10, 10] }),
                   { first: [0, 0], last: [2, 3] });
  for (const box of [{ start: [0, 0], size: [0, 1] },
                     { start: [9, 0], size: [2, 1] },
                     { start: [0], size: [1] }])
    assert.equal(tilesOfBox(geometry, box), null);
});

// Spans by hand: [id, parent, begin, duration, bytes, tile, stored, node].
function makeProfile(rows, notes) {
  const column = (i) => rows.map((row) => row[i]);
  const id = column(0), parent = column(1);
  return {
    names: ['read', 'tiles', 'decode', 'pread'],
    counters: [{ name: 'bytes fetched', own: [0, 0, 0, 5] }],
    notes: notes.map(([span, key, value]) => ({ span, key, value })),
    spans: { count: rows.length, id, parent, begin: column(2),
             duration: column(3), bytes: column(4), tile: column(5),
             stored: column(6), node: column(7) },
    parentOf: (span) => id.indexOf(parent[span]),
  };
}

function shapes(span, name, start, size) {
  return [[span, 'volume', name], [span, 'array shape', '4,4,4'],
          [span, 'tile shape', '2,2,2'], [span, 'shard shape', '2,4,4'],
          [span, 'box start', start], [span, 'box shape', size]];
}

// Two reads of one volume, one of another, and a decode whose read is not in
// the log.
const PROFILE = makeProfile([
  [1, 0, 0, 100, 0, -1, 0, 0], [2, 1, 10, 50, 0, -1, 0, 1],
  [3, 2, 11, 5, 30, -1, 0, 3], [4, 2, 20, 7, 16, 0, 9, 2],
  [5, 2, 30, 8, 16, 5, 4, 2],
  [6, 0, 200, 50, 0, -1, 0, 0], [7, 6, 210, 9, 16, 5, 4, 2],
  [8, 0, 300, 10, 0, -1, 0, 0], [9, 8, 301, 2, 16, 7, 1, 2],
  [10, 77, 400, 5, 16, 3, 1, 2], [11, 8, 305, 2, 16, 99, 1, 2],
], [...shapes(1, 'a', '0,0,0', '4,2,2'), ...shapes(6, 'a', '3,1,3', '1,1,1'),
    ...shapes(8, '</script>', '0,0,0', '4,4,4')]);

test('volumes are separate, the one with most tiles first', () => {
  const { volumes, unplaced } = findVolumes(PROFILE);
  assert.deepEqual(volumes.map(({ name, spans, operations, fetches }) =>
    [name, spans.length, operations.length, fetches]),
                   [['a', 3, 2, [2]], ['</script>', 1, 1, []]]);
  assert.equal(unplaced, 2);
});

test('tiles have the values of their spans and boxes', () => {
  const [volume] = findVolumes(PROFILE).volumes;
  const sums = sumTiles(PROFILE, volume);
  assert.deepEqual([...sums.tiles.values()].sort((a, b) =>
    a.index - b.index), [
    { index: 0, asked: 1, used: 8, waste: 0, count: 1, time: 7, bytes: 16,
      stored: 9, longest: 3 },
    { index: 4, asked: 1, used: 8, waste: 0, count: 0, time: 0, bytes: 0,
      stored: 0, longest: -1 },
    { index: 5, asked: 1, used: 1, waste: 0, count: 2, time: 17, bytes: 32,
      stored: 8, longest: 6 },
  ]);
  assert.deepEqual([sums.operations, sums.asked, sums.askedVoxels,
                    sums.count, sums.time, sums.bytes, sums.stored,
                    sums.fetched, sums.more],
                   [2, 3, 17, 3, 24, 48, 17, 30, false]);
});

test('what was decoded and not used is known by tile', () => {
  const [volume] = findVolumes(PROFILE).volumes;
  const sums = sumTiles(PROFILE, volume);
  addWaste(sums, volume.geometry);
  // Two bytes a voxel: all of a tile was used, and one voxel of another that
  // was decoded twice.
  assert.deepEqual([...sums.tiles].map(([index, { waste }]) =>
    [index, waste]).sort((a, b) => a[0] - b[0]), [[0, 0], [4, 0], [5, 30]]);
  assert.equal(sums.waste, 30);
});

test('a stretch of time has the tiles begun in it', () => {
  const [volume] = findVolumes(PROFILE).volumes;
  const sums = sumTiles(PROFILE, volume, 25, 205);
  assert.deepEqual([sums.operations, sums.count, sums.time, sums.fetched],
                   [1, 1, 8, 0]);
  assert.equal(sums.askedVoxels, 1);
});

test('several boxes of one operation are all requested', () => {
  const rows = [[1, 0, 0, 1, 0, -1, 0, 0]];
  const notes = [...shapes(1, 'a', '0,0,0', '1,1,1'),
                 [1, 'boxes', '0,0,0+1,1,1 3,3,3+1,1,1 0,0,0+9,9,9 ...']];
  const profile = makeProfile(rows, notes);
  const sums = sumTiles(profile, findVolumes(profile).volumes[0]);
  assert.deepEqual([...sums.tiles.keys()], [0, 7]);
  assert.equal(sums.more, true);
});

test('the tiles of a huge box are not enumerated', () => {
  const profile = makeProfile([[1, 0, 0, 1, 0, -1, 0, 0]], [
    [1, 'array shape', '100000,100000'], [1, 'tile shape', '1,1'],
    [1, 'box start', '0,0'], [1, 'box shape', '100000,100000']]);
  const sums = sumTiles(profile, findVolumes(profile).volumes[0]);
  assert.equal(sums.tiles.size, 0);
  assert.equal(sums.more, true);
  assert.equal(sums.askedVoxels, 1e10);
});

test('projections add up the tiles along an axis', () => {
  const [volume] = findVolumes(PROFILE).volumes;
  const { tiles } = sumTiles(PROFILE, volume);
  const cells = (id, metric) => {
    const projected = projectTiles(volume.geometry, tiles, metric,
                                   PROJECTIONS.find((one) => one.id === id));
    return [projected.rows, projected.columns, projected.most,
            [...projected.cells].sort((a, b) => a[0] - b[0])];
  };
  // The tiles at z,y,x of 0,0,0 and 1,0,0 and 1,0,1.
  assert.deepEqual(cells('axial', 'asked'), [2, 2, 2, [[0, 2], [1, 1]]]);
  assert.deepEqual(cells('coronal', 'count'), [2, 2, 2, [[0, 1], [3, 2]]]);
  assert.deepEqual(cells('sagittal', 'time'),
                   [2, 2, 17, [[0, 7], [2, 17]]]);
});

test('the sum of a projection is that of the tiles', () => {
  const [volume] = findVolumes(PROFILE).volumes;
  const sums = sumTiles(PROFILE, volume);
  for (const projection of PROJECTIONS)
    for (const metric of ['asked', 'count', 'time', 'bytes', 'stored']) {
      const { cells } = projectTiles(volume.geometry, sums.tiles, metric,
                                     projection);
      assert.equal([...cells.values()].reduce((a, b) => a + b, 0),
                   sums[metric]);
    }
});

test('a cell lists the tiles projected onto it', () => {
  const [volume] = findVolumes(PROFILE).volumes;
  const { tiles } = sumTiles(PROFILE, volume);
  const projected = projectTiles(volume.geometry, tiles, 'asked',
                                 PROJECTIONS[0]);
  assert.deepEqual(tilesOfCell(volume.geometry, tiles, projected, 0)
    .map((tile) => tile.index).sort(), [0, 4]);
});

test('arrays of one and of four axes have projections', () => {
  for (const [array, tile, tiles] of [['9', '4', 3],
                                      ['2,4,4,4', '1,2,2,2', 16]]) {
    const start = array.replace(/\d+/g, '0');
    const profile = makeProfile([[1, 0, 0, 1, 0, -1, 0, 0]], [
      [1, 'array shape', array], [1, 'tile shape', tile],
      [1, 'box start', start], [1, 'box shape', array]]);
    const [volume] = findVolumes(profile).volumes;
    const sums = sumTiles(profile, volume);
    assert.equal(sums.tiles.size, tiles);
    for (const projection of PROJECTIONS) {
      const { cells } = projectTiles(volume.geometry, sums.tiles, 'asked',
                                     projection);
      assert.equal([...cells.values()].reduce((a, b) => a + b, 0), tiles);
    }
  }
});

test('bytes are those that the tree counted, if all is one volume', () => {
  const [volume] = findVolumes(PROFILE).volumes;
  const sums = sumTiles(PROFILE, volume);
  const profile = { ...PROFILE, categories: ['', '', 'decode', 'disk'],
                    counters: [
    { name: 'bytes fetched', own: [0, 0, 0, 5] },
    { name: 'bytes asked', own: [0, 0, 0, 4] },
    { name: 'bytes decoded', own: [0, 0, 60, 0] },
    { name: 'bytes delivered', own: [0, 0, 10, 20] },
  ] };
  const flow = byteFlow(profile, volume, sums, true);
  assert.deepEqual(flow, { exact: true, steps: [
    ['requested', 4], ['fetched', 5], ['decoded', 60], ['delivered', 30]] });
  assert.deepEqual(amplification(flow), [['decoded', 'delivered', 2],
                                         ['fetched', 'requested', 1.25]]);
});

// The finding of the same profile says so too: see
// tests/profiler/model/test-find-amplification.c.
test('what is converted counts as it is stored', () => {
  const [volume] = findVolumes(PROFILE).volumes;
  const sums = sumTiles(PROFILE, volume);
  const profile = { ...PROFILE, categories: ['', '', 'decode', 'disk'],
                    counters: [
    { name: 'bytes decoded', own: [0, 33.2e6, 0, 0] },
    { name: 'bytes delivered', own: [1e6, 0, 2e6, 0] },
    { name: 'bytes converted', own: [0, 0, 1e6, 0] },
  ] };
  const flow = byteFlow(profile, volume, sums, true);
  assert.deepEqual(flow.steps, [['decoded', 33.2e6], ['delivered', 3e6],
                                ['delivered as stored', 2e6]]);
  assert.deepEqual(amplification(flow),
                   [['decoded', 'delivered as stored', 16.6]]);
  const part = byteFlow(profile, volume, sums, false);
  assert.equal(part.steps.at(-1)[0], 'delivered as stored');
});

test('bytes of one volume among others are those of the log', () => {
  const [volume] = findVolumes(PROFILE).volumes;
  const profile = { ...PROFILE, categories: ['', '', 'decode', 'disk'] };
  // 3 tiles of 2 x 2 x 2 voxels took 48 bytes, so a voxel takes 2.
  assert.deepEqual(byteFlow(profile, volume, sumTiles(PROFILE, volume),
                            false),
                   { exact: false, steps: [['requested', 17],
                                           ['fetched', 30],
                                           ['decoded', 48],
                                           ['delivered', 34]] });
});

test('written tiles are marked as such', () => {
  const [volume] = findVolumes(PROFILE).volumes;
  const profile = { ...PROFILE, categories: ['', '', 'encode', 'disk'] };
  assert.equal(isWritten(profile, volume), true);
  const flow = byteFlow(profile, volume, sumTiles(PROFILE, volume), false);
  assert.deepEqual(flow.steps, [['encoded', 48], ['written', 17]]);
});
