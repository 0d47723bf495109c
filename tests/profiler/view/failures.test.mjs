// SPDX-License-Identifier: MIT
// Failures, as reported in every tree that contains them.
import test from 'node:test';
import assert from 'node:assert/strict';
import { failuresOf, failureText } from
  '../../../profiler/view/data/failures.mjs';
import { bottomUp } from '../../../profiler/view/model/invert.mjs';
import { Model } from '../../../profiler/view/model/model.mjs';
import { makeProfile } from './made.mjs';

// Two of three opens failed, the first in a read that continued; one other
// read failed without a recorded reason.
async function failing(values = {}) {
  const node = (i, key, value, span = 0, varies = 0) =>
    ({ span, node: i, key, value, is_name: 0, varies });
  const strings = ['', 'read', 'open', 'check', 'user', 'failed',
                   'not found'];
  const notes = [node(1, 5, 6, 0, 1), node(1, 5, 6, 2), node(1, 5, 6, 4)];
  const columns = Object.fromEntries(Object.keys(notes[0]).map((key) =>
    [key, notes.map((one) => one[key])]));
  const profile = await makeProfile(
    [{ name: 'read', calls: 2 }, { name: 'open', parent: 0, calls: 3 },
     { name: 'check', parent: 0, calls: 1 }],
    [{ lane: 0, node: 0, begin: 0, duration: 1000 },
     { lane: 0, node: 1, begin: 100, duration: 100, parent: 0 },
     { lane: 0, node: 1, begin: 300, duration: 100, parent: 0 },
     { lane: 0, node: 1, begin: 500, duration: 100, parent: 0 },
     { lane: 0, node: 2, begin: 700, duration: 100, parent: 0 }],
    { strings, notes: columns,
      counters: { name: ['failures'], unit: ['count'] },
      values: { node: [1, 2], counter: [0, 0], value: [2, 1] } });
  return new Model(profile, { get: (key) => values[key] ?? '' });
}

function texts(shape) {
  return Array.from({ length: shape.size }, (_, i) =>
    [shape.name(i), failureText(shape, i)]).filter(([, text]) => text);
}

test('a scope says how many of its calls failed, and why', async () => {
  const { whole } = await failing();
  assert.deepEqual(texts(whole),
                   [['open', '2 of 3 failed: not found, and others'],
                    ['check', 'failed']]);
  assert.equal(failuresOf(whole, 0), 0);
});

test('a stretch of time has the failures within it', async () => {
  const at = async (range) => texts((await failing({ range })).shape());
  assert.deepEqual(await at('50-450'),
                   [['open', '1 of 2 failed: not found, and others']]);
  assert.deepEqual(await at('250-450'), []);
  assert.deepEqual(await at('450-650'),
                   [['open', 'failed: not found, and others']]);
});

test('a bottom-up tree does not count failures for callers', async () => {
  const { whole } = await failing();
  assert.deepEqual(texts(bottomUp(whole)).map(([name]) => name).sort(),
                   ['check', 'open']);
});

test('a profile without failures has none', async () => {
  const profile = await makeProfile([{ name: 'a' }], []);
  const { whole } = new Model(profile, { get: () => '' });
  assert.equal(failureText(whole, 0), '');
});
