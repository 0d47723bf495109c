// SPDX-License-Identifier: MIT
// Everything about the selected scope.

import { addTransform } from './chips.mjs';
import { button, element, nameElement, showShare } from './dom.mjs';
import { counterLines, nodeFacts, shareLines, spanFacts }
  from './fact-lines.mjs';
import { failureText } from '../data/failures.mjs';
import { Model } from '../model/model.mjs';
import { copyText, report, stackMarkdown, stackText } from './share.mjs';
import { extent } from './spark.mjs';
import { TRANSFORMS } from '../model/transforms.mjs';
import { groupOf } from '../model/why.mjs';
import { exactUnit, formatCount, formatTime, formatUnit }
  from '../data/units.mjs';

// The maximum number of runs or ranks listed: the list is rebuilt with every
// marked stretch.
const MOST_PARTS = 50;

function table(lines) {
  const list = element('dl', { class: 'details' });
  for (const [name, value, title] of lines)
    if (value !== '')
      list.append(element('dt', {}, name),
                  element('dd', { title: title ?? null }, value));
  return list;
}

function timeLine(name, ns, always = false) {
  return [name, ns > 0 || always ? formatTime(ns) : '',
          exactUnit(ns, 'time')];
}

// Bucket i of the histogram counts 2^i to 2^(i + 1) - 1 ns.
function histogramBars(histogram) {
  let [first, last] = extent(histogram) ?? [0, 0];
  if (first === last)
    return null;
  const most = Math.max(...histogram);
  const bars = element('div', { class: 'bars', role: 'img',
    'aria-label': 'Calls by duration, from '
      + formatTime(first === 0 ? 0 : 2 ** first) + ' to '
      + formatTime(2 ** (last + 1)) });
  for (; first <= last; first++) {
    const bar = element('span', {
      title: formatTime(first === 0 ? 0 : 2 ** first) + ' to '
        + formatTime(2 ** (first + 1)) + ': '
        + formatCount(histogram[first]),
    });
    bar.style.height = histogram[first] > 0
      ? Math.max(6, 100 * histogram[first] / most) + '%' : '0';
    bars.append(bar);
  }
  return element('figure', {}, element('figcaption', {},
    'Calls by duration, each bar twice the last'), bars);
}

export class Details {
  constructor({ profile, state, model, show }) {
    Object.assign(this, { profile, state, model, show });
    // Announces the selection to screen readers.
    this.announced = element('p', { class: 'unseen', 'aria-live': 'polite' });
    this.content = element('div', { class: 'content' });
    this.view = element('aside', { class: 'panel', tabindex: 0, 'aria-label':
      'Selected scope' }, this.announced, this.content);
    state.listen((keys) => (Model.reshapes(keys)
      || ['node', 'span', 'metric'].some((key) => keys.has(key)))
      && this.render());
    this.render();
  }

  render() {
    const node = this.state.get('node');
    if (!(node >= 0 && node < this.profile.tree.size)) {
      this.content.replaceChildren(element('p', { class: 'muted' },
        'Select a scope, in any view.'));
      return;
    }
    this.announced.textContent = this.profile.names[node] + ', '
      + formatTime(this.profile.total[node]) + ', '
      + formatCount(this.profile.calls[node]) + ' calls';
    this.content.replaceChildren(...[
      element('h2', {}, nameElement(this.profile.names[node]),
              this.profile.before
                ? element('small', {}, ' in the second recording') : ''),
      this.failed(node),
      this.path(node),
      this.deeds(node),
      this.span(node),
      table(this.times(node)),
      this.model.shape() === this.model.whole
        ? table(this.counters(node)) : null,
      this.model.shape() === this.model.whole
        ? histogramBars(this.profile.histogram(node)) : null,
      this.parts(node),
      table(this.profile.nodeNotes(node)),
      table(this.place(node)),
    ].filter((one) => one !== null
      && (one.childElementCount > 0 || one.textContent !== '')));
  }

  // Values of the current tree.
  failed(node) {
    const shape = this.model.shape();
    const at = shape.place(node);
    const text = at < 0 ? '' : failureText(shape, at);
    return text === '' ? null
      : element('p', { class: 'failed' }, '! ' + text);
  }

  // The actions for the scope.
  deeds(node) {
    const transforms = TRANSFORMS.filter(({ kind }) =>
      kind !== 'r' || this.isRecursive(node)).map(({ kind, label, hint }) =>
      button(label.replace(/ (on|of)$/, ''), () =>
        addTransform(this.state, this.profile, kind, node),
             { title: hint }));
    return element('div', { class: 'deeds' }, ...transforms,
      button('Sandwich', () => this.show('sandwich', { node }),
             { title: 'Its callers and callees' }),
      button('Copy stack', (event) => this.copy(event, stackText),
             { title: 'The path to it, as text' }),
      button('Copy as Markdown', (event) => this.copy(event, stackMarkdown),
             { title: 'The path to it, as a table in Markdown' }));
  }

  isRecursive(node) {
    const { tree, sites } = this.profile;
    return tree.path(node).slice(0, -1).some((one) =>
      sites.of[one] === sites.of[node]);
  }

  copy({ currentTarget }, make) {
    const node = this.state.get('node');
    const here = this.model.shape(), at = here.place(node);
    report(currentTarget, () => copyText(at < 0 ? make(this.model.whole, node)
      : make(here, at)), 'Copied');
  }

  // The selected span, if it is of this scope.
  span(node) {
    const span = this.state.get('span');
    const { spans } = this.profile;
    if (!(span >= 0 && span < spans.count && spans.node[span] === node))
      return null;
    const why = groupOf(this.profile, 's' + span) === '' ? ''
      : button('Why is it slow?', () => this.show('why', { why: 's' + span }));
    return element('section', { class: 'run' }, element('h3', {}, 'This run'),
                   table(spanFacts(this.profile, span)), why,
                   element('h3', {}, this.model.shape() === this.model.whole
                     ? 'All runs' : 'All runs here'));
  }

  path(node) {
    const links = this.profile.tree.path(node).slice(0, -1).map((one) =>
      button(this.profile.names[one], () => this.state.set({ node: one }),
             { class: 'link' }));
    return element('nav', { class: 'path', 'aria-label': 'Called from' },
                   ...links);
  }

  // Values of the current tree, if it is not the whole one.
  narrowed(node) {
    const shape = this.model.shape();
    const at = shape.place(node);
    return at < 0 ? [['here', 'Not in the selected time and lanes']]
      : nodeFacts(shape, at, this.model.metric());
  }

  times(node) {
    const { profile } = this;
    if (this.model.shape() !== this.model.whole)
      return this.narrowed(node);
    const calls = profile.calls[node];
    const total = profile.total[node];
    const metric = this.model.metric();
    return [
      timeLine('total', total, true),
      ...metric.id === 'wall' ? []
        : [[metric.label, formatUnit(metric.total[node], metric.unit)]],
      ...shareLines(this.model.whole, node, metric),
      timeLine('self', profile.self[node], true),
      timeLine('work here', profile.work[node]),
      timeLine('work with below', profile.treeWork[node]),
      ...this.work(node),
      timeLine('wait here', profile.wait[node]),
      timeLine('wait with below', profile.treeWait[node]),
      timeLine('queued', profile.queue[node]),
      ['calls', formatCount(calls)],
      timeLine('mean', calls > 0 ? total / calls : 0),
      timeLine('shortest', profile.min[node]),
      timeLine('longest', profile.max[node]),
      ['open at the end', this.count(profile.open[node])],
      ['ended late', this.count(profile.late[node])],
      ['not in the log', this.count(profile.dropped[node])],
    ];
  }

  // Where its threads were without a CPU, with all below.
  work(node) {
    return this.model.whole.metrics.filter(({ id }) =>
      ['cpu', 'starved'].includes(id)).map(({ label, total }) =>
      timeLine('of it, ' + label, total[node]));
  }

  count(value) {
    return value > 0 ? formatCount(value) : '';
  }

  // Counters with descendants, and memory.
  counters(node) {
    const { profile } = this;
    return [
      ...counterLines(this.model.whole, node, profile.total[node]),
      ['allocations', this.count(profile.allocCount[node])],
      ...[['allocated', profile.allocBytes], ['peak', profile.allocPeak],
          ['never released', profile.allocLive]].map(([label, values]) =>
        [label, values[node] > 0 ? formatUnit(values[node], 'bytes') : '']),
    ];
  }

  // Each run's or rank's part of the total.
  parts(node) {
    const { parts } = this.profile;
    if (parts.length < 2)
      return null;
    const totals = parts.map((part, i) => this.profile.share(node, i).total);
    const most = Math.max(...totals, 1);
    const rows = parts.slice(0, MOST_PARTS).map((part, i) => {
      const bar = element('td', {}, formatTime(totals[i]));
      showShare(bar, totals[i] / most);
      return element('tr', {}, element('th', { scope: 'row' },
                                       nameElement(part.name)), bar);
    });
    return element('table', { class: 'parts' },
      element('caption', {}, (parts.length > MOST_PARTS
        ? 'First ' + MOST_PARTS + ' of ' + parts.length + ' totals by '
        : 'Total by ') + this.profile.partKind()),
      element('tbody', {}, ...rows));
  }

  place(node) {
    const { profile } = this;
    const file = profile.files[node];
    return [
      ['category', profile.categories[node]],
      ['function', profile.functions[node]],
      ['source', file === '' ? '' : file + ':' + profile.lines[node]],
    ];
  }
}
