// SPDX-License-Identifier: MIT
// Profiles from files that the user opens.
import test from 'node:test';
import assert from 'node:assert/strict';
import { documentOf, openProfile }
  from '../../../profiler/view/data/profile.mjs';

const TAG = '<script type="application/json" id="radio-profile">';

test('a document is read as it is, and from a page', () => {
  assert.equal(documentOf('{"format": 1}'), '{"format": 1}');
  assert.equal(documentOf('<html>' + TAG + '{}</script>\n'
    + '<script id="radio-before">{"other": 1}</script>'), '{}');
});

test('pages without a profile and truncated pages are refused', () => {
  assert.throws(() => documentOf('<!DOCTYPE html><p>hello'),
                /has no profile/);
  assert.throws(() => documentOf('<html>' + TAG + '{'), /truncated/);
});

test('files that are not profiles give a message', async () => {
  const file = (text) => ({ name: 'x.json', text: async () => text });
  await assert.rejects(openProfile(file('not JSON')), /damaged or cut short/);
  await assert.rejects(openProfile(file('{"traceEvents": []}')),
                       /no profile of radio/);
});
