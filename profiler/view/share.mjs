// SPDX-License-Identifier: MIT
// Taking the present view elsewhere: as a link, as a picture.

import { button, element } from './dom.mjs';
import { copyText } from './copy.mjs';
import { fileName, pictureOf, rasterise, saveBlob } from './picture.mjs';

// The view that is shown, as SVG.
export function presentPicture({ profile }, tabs) {
  const view = tabs.views[tabs.index()];
  return pictureOf(tabs.panels[tabs.index()],
                   profile.info.title + ' \u00b7 ' + view.label);
}

async function say(pressed, work, done) {
  const before = pressed.textContent;
  let told;
  try {
    told = await work() === false ? 'Not allowed' : done;
  } catch (error) {
    told = error.message;
  }
  pressed.textContent = told;
  setTimeout(() => { pressed.textContent = before; }, 1500);
}

export function shareButtons(shared, tabs) {
  const name = (suffix) => fileName(shared.profile.info.title,
                                    tabs.views[tabs.index()].id, suffix);
  const svg = () => presentPicture(shared, tabs);
  const save = {
    SVG: () => saveBlob(new Blob([svg()], { type: 'image/svg+xml' }),
                        name('.svg')),
    PNG: async () => saveBlob(await rasterise(svg()), name('.png')),
  };
  return element('span', { class: 'share' },
    button('Copy link', (event) => say(event.currentTarget, () =>
      copyText(location.href), 'Copied'),
      { title: 'The address of just this view' }),
    ...Object.entries(save).map(([kind, work]) =>
      button('Save ' + kind, (event) => say(event.currentTarget, work,
                                            'Saved'),
             { title: 'This view as a picture' })));
}
