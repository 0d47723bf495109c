// SPDX-License-Identifier: MIT
// Creates elements.  Text from a profile becomes a text node or an attribute's
// value, never markup.

// element('td', { class: 'number', onclick: f }, 'text', otherElement)
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false)
      continue;
    if (name.startsWith('on'))
      made.addEventListener(name.slice(2), value);
    else
      made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

// A name from the profile, isolated so that right-to-left letters do not
// affect what follows.
export function nameElement(name, attributes = {}) {
  return element('bdi', attributes, name === '' ? '(no name)' : name);
}

// Two names, of before and after.
export function arrow([was, is]) {
  return [nameElement(was), ' \u2192 ', nameElement(is)];
}

export function button(label, onclick, attributes = {}) {
  return element('button', { type: 'button', onclick, ...attributes }, label);
}

// A small square of a colour, for a legend.
export function swatch(colour) {
  const made = element('span', { class: 'swatch', 'aria-hidden': 'true' });
  made.style.background = colour;
  return made;
}

// A table of rows below its headings.
export function partsTable(headings, rows, caption = '') {
  return element('table', { class: 'parts' }, caption,
    element('thead', {}, element('tr', {}, ...headings.map((heading) =>
      element('th', { scope: 'col' }, heading)))),
    element('tbody', {}, ...rows));
}

// A choice of [value, label] pairs.
export function choice(label, pairs, value, onchange) {
  const select = element('select', {
    onchange: () => onchange(select.value),
  }, ...pairs.map(([key, text]) => element('option', { value: key }, text)));
  select.value = value;
  return element('label', { class: 'choice' }, label + ' ', select);
}

// A line that ends in a text, cut at the line's end until it is unfolded by its
// button; label: what the button names.
export function foldable(tag, name, label, text, ...before) {
  const fold = button('\u25be', () => {
    const isOpen = line.classList.toggle('unfolded');
    fold.setAttribute('aria-expanded', isOpen);
  }, { class: 'fold', 'aria-expanded': false,
       'aria-label': 'Unfold: ' + label });
  const line = element(tag, { class: 'foldable ' + name }, ...before,
                       element('p', {}, text), fold);
  return line;
}

// A bar at the foot of a cell, for a share (0 to 1).
export function showShare(cell, share) {
  if (!(share > 0))
    return;
  cell.classList.add('bar');
  cell.style.setProperty('--share',
                         Math.min(100, 100 * share).toFixed(2) + '%');
}

export function plural(n, one, many) {
  return n === 1 ? one : many;
}
