// SPDX-License-Identifier: MIT
// A second profile, from a file of radio's that the reader gives: JSON, or a
// page that holds it.

import { readProfile } from './profile.mjs';

const DATA_TAG = '<script type="application/json" id="radio-profile">';

// The document within a file's text.
export function documentOf(text) {
  const at = text.indexOf(DATA_TAG);
  if (at >= 0) {
    const from = at + DATA_TAG.length;
    const end = text.indexOf('</script>', from);
    if (end < 0)
      throw new Error('the page is cut short');
    return text.slice(from, end);
  }
  if (text.trimStart().startsWith('<'))
    throw new Error('this page holds no profile of radio\u2019s');
  return text;
}

// The profile of a file (of an input, or dropped).
export async function openProfile(file) {
  const profile = await readProfile(documentOf(await file.text()));
  profile.fileName = file.name;
  return profile;
}
