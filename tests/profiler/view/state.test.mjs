// SPDX-License-Identifier: MIT
// The state of the page, as part of its address.
import test from 'node:test';
import assert from 'node:assert/strict';
import { State } from '../../../profiler/view/model/state.mjs';

const DEFAULTS = { view: 'tree', node: -1, query: '' };

function browser(hash = '') {
  const calls = [];
  let onpopstate;
  globalThis.self = globalThis.parent = globalThis;
  globalThis.location = { hash };
  globalThis.history = {
    pushState: (a, b, fragment) => {
      calls.push('push ' + fragment);
      location.hash = fragment;
    },
    replaceState: (a, b, fragment) => {
      calls.push('replace ' + fragment);
      location.hash = fragment;
    },
  };
  globalThis.addEventListener = (type, listener) => {
    onpopstate = listener;
  };
  return { calls, back: (to) => { location.hash = to; onpopstate(); } };
}

test('the fragment holds what differs from the defaults', () => {
  browser();
  const state = new State(DEFAULTS);
  state.set({ view: 'icicle', node: 12 });
  assert.equal(state.fragment(), 'view=icicle&node=12');
  state.set({ view: 'tree' });
  assert.equal(state.fragment(), 'node=12');
});

test('any text survives the address', () => {
  browser();
  const state = new State(DEFAULTS);
  const query = 'a&b=c #%20+\u05e9</script>';
  state.set({ query });
  assert.equal(new State(DEFAULTS).parse(state.fragment()).query, query);
});

test('an address with nonsense does no harm', () => {
  browser();
  const state = new State(DEFAULTS);
  assert.deepEqual(state.parse('node=abc&nothing=1&__proto__=2&%&=&view=x'),
                   { view: 'x', node: -1, query: '' });
});

test('steps can be undone by going back, other changes cannot', () => {
  const { calls } = browser();
  const state = new State(DEFAULTS);
  state.set({ node: 1 });
  state.set({ view: 'icicle' }, { step: true });
  assert.deepEqual(calls, ['replace #node=1', 'push #view=icicle&node=1']);
});

test('many changes in a row make few changes of the address', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { calls } = browser();
  const state = new State(DEFAULTS);
  for (let i = 0; i < 1000; i++) {
    state.set({ node: i });
    t.mock.timers.tick(10);
  }
  for (let i = 0; i < 20; i++)
    t.mock.timers.tick(10);
  assert.equal(calls[0], 'replace #node=0');
  assert.equal(calls.at(-1), 'replace #node=999');
  assert.ok(calls.length > 100 && calls.length < 180);
  state.set({ node: 5 });
  assert.equal(calls.at(-1), 'replace #node=5');
});

test('a step includes changes that are not yet in the address', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { calls, back } = browser();
  const state = new State(DEFAULTS);
  state.follow();
  state.set({ node: 1 });
  state.set({ node: 2 });
  state.set({ view: 'icicle' }, { step: true });
  assert.deepEqual(calls, ['replace #node=1', 'replace #node=2',
                           'push #view=icicle&node=2']);
  state.set({ node: 3 });
  back('#node=2');
  t.mock.timers.tick(1000);
  assert.equal(state.get('node'), 2);
  assert.equal(calls.length, 3);
});

test('listeners are notified of changes, and of nothing else', () => {
  browser();
  const state = new State(DEFAULTS);
  const heard = [];
  state.listen((keys) => heard.push([...keys].join()));
  state.set({ node: 1, view: 'tree' });
  state.set({ node: 1 });
  state.set({ node: 2, query: 'x' });
  assert.deepEqual(heard, ['node', 'node,query']);
});

test('the address is followed, now and when it changes', () => {
  const { back } = browser('#view=icicle&node=3');
  const state = new State(DEFAULTS);
  state.follow();
  assert.equal(state.get('view'), 'icicle');
  assert.equal(state.get('node'), 3);
  const heard = [];
  state.listen((keys) => heard.push(...keys));
  back('#node=3');
  assert.equal(state.get('view'), 'tree');
  assert.deepEqual(heard, ['view']);
});

test('a frame of a notebook leaves the address alone', () => {
  const { calls } = browser();
  globalThis.parent = {};
  const state = new State(DEFAULTS);
  state.set({ node: 1 });
  state.set({ view: 'icicle' }, { step: true });
  assert.equal(state.get('view'), 'icicle');
  assert.deepEqual(calls, []);
});
