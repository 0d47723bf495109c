// SPDX-License-Identifier: MIT
// Starts the page when its document is there.  If the data cannot be read,
// the reason is told above what C wrote into the page.

import { readProfile } from './data/profile.mjs';
import { startApp } from './app.mjs';

async function start() {
  const data = document.getElementById('radio-profile');
  try {
    if (data === null)
      throw new Error('its data are missing');
    // The text stays where it is: the browser's "save page as" writes it.
    const profile = await readProfile(data.textContent);
    const before = document.getElementById('radio-before');
    if (before !== null)
      profile.before = await readProfile(before.textContent);
    // A page that was saved has what was shown then, and the style once more.
    const app = document.getElementById('app');
    app.replaceChildren(...document.querySelectorAll('#curve'));
    [...document.querySelectorAll('style')].slice(2)
      .forEach((style) => style.remove());
    // For the console, and for tests.
    window.radio = startApp(profile, app);
    if (!document.getElementById('whole'))
      document.getElementById('notice').textContent = 'This page was cut '
        + 'short: what its profile is compared with is missing.';
    document.getElementById('static').hidden = true;
  } catch (error) {
    document.getElementById('app').hidden = true;
    document.getElementById('notice').textContent =
      'This page cannot show its profile: ' + error.message
      + '. What follows was written with it, and needs no script.';
  }
}

if (document.readyState === 'loading')
  document.addEventListener('DOMContentLoaded', start);
else
  start();
