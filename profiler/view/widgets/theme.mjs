// SPDX-License-Identifier: MIT
// Dark or light: the system's preference, unless the reader chooses.

import { button } from './dom.mjs';

export const isDarkGround = () =>
  document.documentElement.dataset.theme === 'dark';

export function themeButton(state) {
  const preferred = matchMedia('(prefers-color-scheme: dark)');
  const { dataset } = document.documentElement;
  const apply = () => {
    dataset.theme = state.get('theme') || (preferred.matches ? 'dark'
      : 'light');
    made.textContent = isDarkGround() ? 'Light' : 'Dark';
  };
  const made = button('', () => state.set({ theme: isDarkGround() ? 'light'
    : 'dark' }), { class: 'theme', title: 'Change colours' });
  state.listen((keys) => keys.has('theme') && apply());
  // Canvases must be redrawn.
  preferred.addEventListener('change', () =>
    state.notify(new Set(['theme'])));
  apply();
  return made;
}
