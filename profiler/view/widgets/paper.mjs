// SPDX-License-Identifier: MIT
// Printing: the static part, then the current view in light colours, its
// canvases redrawn at the page's width.

import { paneOf } from './pane.mjs';

// The width between the margins of A4, in pixels.
const PAPER_WIDTH = 700;

function drawOnPaper(pane) {
  const { width } = pane;
  pane.width = PAPER_WIDTH;
  const text = `<svg xmlns="http://www.w3.org/2000/svg" class="paper" `
    + `viewBox="0 0 ${PAPER_WIDTH} ${pane.pictureHeight}">${pane.svg()}</svg>`;
  pane.width = width;
  return document.importNode(new DOMParser().parseFromString(
    text, 'image/svg+xml').documentElement, true);
}

export function listenPrint({ state }, tabs) {
  let theme = null;
  // The address keeps the reader's theme.
  const take = (value) => {
    state.assign({ theme: value });
    state.notify(new Set(['theme']));
  };
  addEventListener('beforeprint', () => {
    if (theme !== null)
      return;
    theme = state.get('theme');
    take('light');
    const panes = [...tabs.panels[tabs.index()].querySelectorAll(
      'canvas:not([aria-hidden])')].map(paneOf);
    for (const pane of panes.filter((one) => one))
      pane.box.after(drawOnPaper(pane));
  });
  addEventListener('afterprint', () => {
    if (theme === null)
      return;
    document.querySelectorAll('.paper').forEach((one) => one.remove());
    take(theme);
    theme = null;
  });
}
