// SPDX-License-Identifier: MIT
// Transforms of trees, compared with paths: a transform of a tree equals the
// same transform of each path of names.
import test from 'node:test';
import assert from 'node:assert/strict';
import { Model, parseRange, parseLanes,
         formatRange } from '../../../profiler/view/model/model.mjs';
import { transform, parseTransforms,
         formatTransforms } from '../../../profiler/view/model/transforms.mjs';
import { bottomUp, callersOf,
         outermost } from '../../../profiler/view/model/invert.mjs';
import { history, makeProfile, random } from './made.mjs';

async function made(seed, n = 200) {
  const { nodes, spans } = history(seed, n);
  const next = random(seed);
  for (const node of nodes)
    Object.assign(node, { calls: 1 + next(9), total_ns: 100 + next(1000),
                          self_ns: 1 + next(99), work_ns: next(99),
                          wait_ns: next(9) });
  const profile = await makeProfile(nodes, spans);
  const values = { view: '', metric: 'wall', range: '', lanes: '',
                   transforms: '' };
  const state = { get: (key) => values[key], values };
  return { profile, state, model: new Model(profile, state) };
}

function path(shape, node) {
  return shape.tree.path(node).map((one) => shape.name(one));
}

// Returns the sums of a shape's column by path.
function byPath(shape, column) {
  const sums = {};
  for (let node = 0; node < shape.size; node++) {
    const key = path(shape, node).join('>');
    sums[key] = (sums[key] ?? 0) + column[node];
  }
  return sums;
}

// The same, of changed paths: change (names) gives the path that a node's
// own values go to, or null.
function expected(shape, column, change) {
  const sums = {};
  for (let node = 0; node < shape.size; node++) {
    const names = change(path(shape, node));
    if (names !== null && names.length > 0)
      sums[names.join('>')] = (sums[names.join('>')] ?? 0) + column[node];
  }
  return sums;
}

function siteOf(profile, name) {
  return profile.sites.of[profile.names.indexOf(name)];
}

function dropZeros(sums) {
  return Object.fromEntries(Object.entries(sums).filter(([, n]) => n > 0)
    .sort());
}

const CHANGES = {
  f: (names) => names.includes('b') ? names.slice(names.indexOf('b')) : null,
  h: (names) => names.includes('b') ? null : names,
  m: (names) => names.filter((name) => name !== 'b'),
  // An inner b is the outer one; what is between stays below it.
  r: (names) => {
    const outer = names.indexOf('b');
    if (outer < 0)
      return names;
    const inner = names.lastIndexOf('b');
    return [...names.slice(0, outer + 1), ...names.slice(inner + 1)];
  },
};

for (const [kind, change] of Object.entries(CHANGES))
  test('transform ' + kind + ' is what it does to each path', async () => {
    for (let seed = 1; seed < 6; seed++) {
      const { profile, model } = await made(seed);
      const shape = transform(model.whole,
                              { kind, site: siteOf(profile, 'b') });
      for (const column of ['self', 'work', 'wait'])
        assert.deepEqual(dropZeros(byPath(shape, shape[column])),
                         dropZeros(expected(model.whole, model.whole[column],
                                            change)));
    }
  });

test('totals and calls of merged functions are dropped', async () => {
  const { profile, model } = await made(3);
  const shape = transform(model.whole,
                          { kind: 'm', site: siteOf(profile, 'b') });
  const kept = (column) => model.whole[column].reduce((sum, value, node) =>
    sum + (model.whole.name(node) === 'b' ? 0 : value), 0);
  for (const column of ['total', 'calls'])
    assert.equal(shape[column].reduce((a, b) => a + b, 0), kept(column));
});

test('a node is found where it went', async () => {
  const { profile, model, state } = await made(4);
  state.values.transforms = 'f' + profile.names.indexOf('b');
  const shape = model.shape();
  for (let node = 0; node < profile.tree.size; node++) {
    const names = CHANGES.f(path(model.whole, node));
    if (names !== null)
      assert.deepEqual(path(shape, shape.find(node)), names);
  }
  assert.equal(shape.find(-1), -1);
  assert.equal(shape.find(1e9), -1);
});

test('transforms follow each other, and are made once', async () => {
  const { profile, model, state } = await made(5);
  const [b, c] = ['b', 'c'].map((name) => profile.names.indexOf(name));
  state.values.transforms = 'f' + b + ',h' + c;
  const shape = model.shape();
  assert.equal(model.shape(), shape);
  const change = (names) => {
    const focused = CHANGES.f(names);
    return focused === null || focused.includes('c') ? null : focused;
  };
  assert.deepEqual(dropZeros(byPath(shape, shape.self)),
                   dropZeros(expected(model.whole, model.whole.self,
                                      change)));
  state.values.transforms = '';
  assert.equal(model.shape(), model.whole);
});

test('a stretch of time has its own tree, whose numbers add up', async () => {
  const { model, state, profile } = await made(6);
  state.values.range = '100-600';
  const shape = model.shape();
  assert.notEqual(shape, model.whole);
  assert.equal(model.shape(), shape);
  assert.equal(shape.tree, model.whole.tree);
  const work = shape.work.reduce((a, b) => a + b, 0);
  assert.ok(work > 0 && work <= 500 * profile.lanes.length);
});

test('invalid transforms and ranges are harmless', async () => {
  const { profile, state, model } = await made(7);
  const { sites } = profile;
  assert.deepEqual(parseTransforms('', sites), []);
  assert.deepEqual(parseTransforms('x1,f,f-1,f99999,h1e9,,', sites), []);
  assert.deepEqual(parseTransforms('f0,r1', sites),
                   [{ kind: 'f', site: sites.of[0] },
                    { kind: 'r', site: sites.of[1] }]);
  assert.equal(formatTransforms(parseTransforms('f0,h0', sites), sites),
               'f0,h0');
  for (const text of ['', 'x', '5-5', '9-3', '-1-4', '1-2-3', '1e3-4'])
    assert.equal(parseRange(text), null);
  assert.deepEqual(parseRange('5-90'), [5, 90]);
  assert.deepEqual(parseRange(formatRange(5.5, 89.1)), [5, 90]);
  assert.equal(parseLanes('', 3), null);
  assert.deepEqual([...parseLanes('0,2,7,x', 3)], [1, 0, 1]);
  state.values.transforms = 'nonsense,f999999';
  state.values.range = 'nonsense';
  assert.deepEqual(byPath(model.shape(), model.shape().self),
                   byPath(model.whole, model.whole.self));
});

test('an address with very many transforms is harmless', async () => {
  const { state, model } = await made(8);
  state.values.transforms = Array(100000).fill('r0').join(',');
  assert.ok(model.shape().size > 0);
});

// The callers of each node, the node first.
function upwards(shape, node) {
  return path(shape, node).reverse();
}

test('bottom-up has at each path of callers what is their leaves\' own',
     async () => {
  for (let seed = 1; seed < 5; seed++) {
    const { model } = await made(seed);
    const up = bottomUp(model.whole);
    const sums = {};
    for (let node = 0; node < model.whole.size; node++) {
      const names = upwards(model.whole, node);
      names.forEach((_, i) => {
        const key = names.slice(0, i + 1).join('>');
        sums[key] = (sums[key] ?? 0) + model.whole.self[node];
      });
    }
    assert.deepEqual(dropZeros(byPath(up, up.metric('wall').total)),
                     dropZeros(sums));
    const roots = up.tree.children(-1);
    assert.equal(roots.reduce((sum, i) => sum + up.metric('work').total[i],
                              0), model.whole.metric('work').sum);
  }
});

test('callers of one scope share its total, the outermost only',
     async () => {
  const { profile, model } = await made(8);
  const site = siteOf(profile, 'c');
  const callers = callersOf(model.whole, site);
  const [root, ...others] = callers.tree.children(-1);
  assert.equal(others.length, 0);
  const outer = outermost(model.whole, site);
  for (const node of outer)
    assert.ok(!path(model.whole, node).slice(0, -1).includes('c'));
  assert.equal(callers.metric('wall').total[root],
               outer.reduce((sum, i) => sum + model.whole.total[i], 0));
});
