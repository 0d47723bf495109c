// SPDX-License-Identifier: MIT
// Dark or light: the system's preference, unless the reader chooses.

import { button } from './dom.mjs';

export function themeButton(state) {
  const dark = () => state.get('theme') === 'dark' || state.get('theme') === ''
    && matchMedia('(prefers-color-scheme: dark)').matches;
  const apply = () => {
    document.documentElement.dataset.theme = state.get('theme');
    made.textContent = dark() ? 'Light' : 'Dark';
  };
  const made = button('', () => state.set({ theme: dark() ? 'light'
    : 'dark' }), { class: 'theme', title: 'Change colours' });
  state.listen((keys) => keys.has('theme') && apply());
  // Canvases must be redrawn.
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () =>
    state.notify(new Set(['theme'])));
  apply();
  return made;
}
