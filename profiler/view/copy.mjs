// SPDX-License-Identifier: MIT
// Text for elsewhere: the stack of a scope, and the page's address.

import { formatCount, formatTime } from './units.mjs';

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

// A name in a table's cell as it is.
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

// Whether it went to the clipboard: a page from a file may write to it where
// the browser lets it, and there is an older way.
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
