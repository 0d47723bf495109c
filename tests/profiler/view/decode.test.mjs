// SPDX-License-Identifier: MIT
// The packed blocks, compared with an encoder written here and node's zlib.
import test from 'node:test';
import assert from 'node:assert/strict';
import { deflateRawSync } from 'node:zlib';
import { readColumns, zigzag } from '../../../profiler/view/data/decode.mjs';

function varints(numbers) {
  const bytes = [];
  for (let value of numbers.map(BigInt)) {
    for (; value > 127n; value >>= 7n)
      bytes.push(Number(value & 127n) | 128);
    bytes.push(Number(value));
  }
  return Buffer.from(bytes);
}

function block(columns, encoding = 'deflate', changes = {}) {
  const raw = Buffer.concat(columns.map(varints));
  const data = encoding === 'none' ? raw : deflateRawSync(raw);
  return { count: columns[0].length, encoding, nbytes: raw.length,
           data: data.toString('base64'), ...changes };
}

const COLUMNS = [[0, 1, 127, 128, 300], [16383, 16384, 2 ** 32, 2 ** 53 - 1,
                                         5]];

for (const encoding of ['deflate', 'none'])
  test('columns come back as they went in: ' + encoding, async () => {
    const read = await readColumns(block(COLUMNS, encoding), 2);
    assert.deepEqual(read.map((one) => Array.from(one)), COLUMNS);
  });

test('numbers above 2^53 are rounded, not wrong', async () => {
  const [column] = await readColumns(block([[(1n << 64n) - 1n]]), 1);
  assert.equal(column[0], 2 ** 64);
});

test('a block that is missing or empty has empty columns', async () => {
  assert.equal((await readColumns(undefined, 3)).length, 3);
  const [column] = await readColumns({ count: 0, encoding: 'none',
                                       nbytes: 0, data: '' }, 1);
  assert.equal(column.length, 0);
});

test('zigzag has small numbers for small numbers', () => {
  assert.deepEqual([0, 1, 2, 3, 4].map(zigzag).map((n) => n + 0),
                   [0, -1, 1, -2, 2]);
  assert.equal(zigzag(2 ** 33 + 1), -(2 ** 32) - 1);
});

for (const [name, changes] of Object.entries({
  'a count that is too large': { count: 6 },
  'a count that is absurd': { count: 1e15 },
  'a count that is negative': { count: -1 },
  'a count that is no number': { count: 'x' },
  'a length that is too large': { nbytes: 27 },
  'a length that is absurd': { nbytes: 1e15 },
  'a length that is too small': { nbytes: 3 },
  'data that are truncated': { data: block(COLUMNS).data.slice(0, 12) },
  'data that are no deflate stream': { data: '/////w==' },
  'data that are no base64': { data: '!!!!' },
}))
  test('refused with a message: ' + name, async () => {
    await assert.rejects(readColumns(block(COLUMNS, 'deflate', changes), 2,
                                     'tiles'),
      /^Error: its tiles (claim|are (damaged|truncated|longer))/);
  });

test('refused: a last number without its end', async () => {
  const raw = Buffer.from([1, 2, 0x80]);
  await assert.rejects(readColumns({ count: 3, encoding: 'none', nbytes: 3,
                                     data: raw.toString('base64') }, 1),
                       /damaged/);
});

test('refused: something after the last column', async () => {
  const data = Buffer.from([1, 2, 3]).toString('base64');
  await assert.rejects(readColumns({ count: 2, encoding: 'none', nbytes: 3,
                                     data }, 1), /follows/);
});
