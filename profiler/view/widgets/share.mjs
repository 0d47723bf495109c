// SPDX-License-Identifier: MIT
// Sharing the current view: a link, a picture, the stack of a scope as text.

import { button, element } from './dom.mjs';
import { fileName, pictureOf, rasterise, saveBlob } from './picture.mjs';
import { formatCount, formatTime } from '../data/units.mjs';

// The current view as SVG.
export function presentPicture({ profile }, tabs) {
  const view = tabs.views[tabs.index()];
  return pictureOf(tabs.panels[tabs.index()],
                   profile.info.title + ' \u00b7 ' + view.label);
}

// Does the work of a button, which shows for a moment how that went.
export async function report(pressed, work, done) {
  const before = pressed.textContent;
  let result;
  try {
    result = await work() === false ? 'Not allowed' : done;
  } catch (error) {
    result = error.message;
  }
  pressed.textContent = result;
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
    // A frame of a notebook has no address.
    parent === self ? button('Copy link', (event) => report(
      event.currentTarget, () => copyText(location.href), 'Copied')) : '',
    ...Object.entries(save).map(([kind, work]) =>
      button('Save ' + kind, (event) => report(event.currentTarget, work,
                                               'Saved'),
             { title: 'This view as a picture' })));
}

function lines(shape, node) {
  const wall = shape.metrics[0];
  const calls = shape.metric('calls').own;
  return shape.tree.path(node).map((one) => ({
    name: shape.name(one), total: formatTime(wall.total[one]),
    self: formatTime(wall.own[one]), calls: formatCount(calls[one]),
  }));
}

// The stack, its root first, each scope below its caller.
export function stackText(shape, node) {
  return lines(shape, node).map(({ name, total, calls }, depth) =>
    '  '.repeat(depth) + name + '  ' + total + ', ' + calls
      + (calls === '1' ? ' call' : ' calls'))
    .join('\n') + '\n';
}

// Escapes a name for a table's cell.
function escapeMarkdown(text) {
  return text.replace(/[\\|`*_<>[\]]/g, '\\$&').replace(/\s+/g, ' ');
}

export function stackMarkdown(shape, node) {
  const rows = lines(shape, node).map(({ name, total, self, calls }, depth) =>
    `| ${'\u00a0\u00a0'.repeat(depth)}${escapeMarkdown(name)} | ${total} `
    + `| ${self} | ${calls} |`);
  return ['| scope | total | self | calls |', '|:--|--:|--:|--:|', ...rows]
    .join('\n') + '\n';
}

// Copies to the clipboard and returns whether that worked: browsers may refuse
// it to a page from a file, and there is an older way.
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement('textarea');
    field.value = text;
    field.setAttribute('readonly', '');
    field.className = 'unseen';
    document.body.append(field);
    field.select();
    const done = document.execCommand('copy');
    field.remove();
    return done;
  }
}
