// SPDX-License-Identifier: MIT
// The ranks of a joined profile, side by side.

import { button, element, nameElement, partsTable, showShare }
  from '../widgets/dom.mjs';
import { threadsBusy, timesInBrief } from '../model/runs-data.mjs';
import { SearchedRows } from './searched-rows.mjs';
import { exactUnit, formatRatio, formatTime } from '../data/units.mjs';

function timeCell(ns, share) {
  const cell = element('td', { title: exactUnit(ns, 'time') },
                       formatTime(ns));
  showShare(cell, share);
  return cell;
}

function partsPanel({ profile, show }) {
  const { parts } = profile;
  const { mean, median, least, most } =
    timesInBrief(parts.map(({ wall }) => wall));
  const rows = parts.map((part, i) => element('tr', {},
    element('th', { scope: 'row' },
            button(nameElement(part.name), () => show('why', { why: 'p' + i }),
                   { class: 'link', title: 'Why is it slow?' })),
    timeCell(part.wall, part.wall / most), timeCell(part.work, 0),
    element('td', {}, formatRatio(threadsBusy(part)))));
  return element('div', { class: 'scroll', tabindex: 0 },
    element('p', {}, 'Wall of ' + parts.length + ' ' + profile.partKind()
      + 's: mean ' + formatTime(mean) + ', median ' + formatTime(median)
      + ', ' + formatTime(least) + ' to ' + formatTime(most) + '.'),
    partsTable([profile.partKind(), 'wall', 'work', 'threads busy'], rows));
}

export const partsView = {
  id: 'parts', label: 'Ranks',
  about: 'Ranks side by side',
  needs: (profile) => profile.parts.length > 1
    && profile.partKind() === 'rank',
  keys: [],
  ignores: { metric: 'Ranks are by wall and work.',
             part: 'Each is shown whole.', transforms: 'All scopes count.' },
  make: (shared) => new SearchedRows(partsPanel(shared), shared.state),
};
