// SPDX-License-Identifier: MIT
// Starts the page once its document is complete.  If the data cannot be read,
// the reason is shown above the static part.

import { reasonOf } from './data/decode.mjs';
import { formatBytes } from './data/units.mjs';
import { readProfile } from './data/profile.mjs';
import { startApp } from './app.mjs';

// What a file that was cut short lacks; '' of a whole one.
function cutReason() {
  if (document.getElementById('whole'))
    return '';
  const all = Number(document.getElementById('notice').dataset.nbytes);
  const { size } = new Blob([...document.querySelectorAll('[type$=json]')]
    .map((one) => one.textContent));
  return 'its file was cut short, ' + formatBytes(Math.max(0, all - size))
    + ' of the ' + formatBytes(all)
    + ' of its data are missing; copy or export it again';
}

async function start() {
  const data = document.getElementById('radio-profile');
  try {
    if (data === null)
      throw new Error('its data are missing');
    // The text stays in place: the browser's "save page as" writes it.
    const profile = await readProfile(data.textContent);
    const before = document.getElementById('radio-before');
    if (before !== null)
      profile.before = await readProfile(before.textContent);
    // A saved page contains the previous view and a second style.
    const app = document.getElementById('app');
    app.replaceChildren(...document.querySelectorAll('#curve'));
    [...document.querySelectorAll('style')].slice(2)
      .forEach((style) => style.remove());
    // For the console, and for tests.
    window.radio = startApp(profile, app);
    document.getElementById('static').hidden = true;
  } catch (error) {
    document.getElementById('app').hidden = true;
    document.getElementById('notice').textContent =
      'This page cannot show its profile: ' + (cutReason() || reasonOf(error))
      + '. The static summary follows.';
  }
}

// For the loader: this script runs.
window.radioRuns = true;
if (document.readyState === 'loading')
  document.addEventListener('DOMContentLoaded', start);
else
  start();
