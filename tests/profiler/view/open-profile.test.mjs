// SPDX-License-Identifier: MIT
// Profiles from files that the reader gives.
import test from 'node:test';
import assert from 'node:assert/strict';
import { documentOf, openProfile }
  from '../../../profiler/view/data/profile.mjs';

const TAG = '<script type="application/json" id="radio-profile">';

test('a document is taken as it is, and out of a page', () => {
  assert.equal(documentOf('{"format": 1}'), '{"format": 1}');
  assert.equal(documentOf('<html>' + TAG + '{}</script>\n'
    + '<script id="radio-before">{"other": 1}</script>'), '{}');
});

test('pages without a profile, and such as were cut, are refused', () => {
  assert.throws(() => documentOf('<!DOCTYPE html><p>hello'),
                /has no profile/);
  assert.throws(() => documentOf('<html>' + TAG + '{'), /truncated/);
});

test('what is no profile is told in words', async () => {
  const file = (text) => ({ name: 'x.json', text: async () => text });
  await assert.rejects(openProfile(file('not JSON')), /damaged or truncated/);
  await assert.rejects(openProfile(file('{"traceEvents": []}')),
                       /version undefined/);
});
