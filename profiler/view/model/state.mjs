// SPDX-License-Identifier: MIT
// The state of the page: one object, kept in the address's fragment, so that a
// link opens the same view and Back works.  Views listen to it and do not know
// each other.

// Browsers limit changes of the address to some 200 in 10 s; a key that is
// held down makes more.
const SAVE_MS = 60;

export class State {
  constructor(defaults) {
    this.defaults = defaults;
    this.values = { ...defaults };
    this.listeners = [];
    // The next address, or null, and whether it has to wait.
    this.pending = null;
    this.isWaiting = false;
  }

  get(key) {
    return this.values[key];
  }

  // Every listener gets the set of changed keys.
  listen(listener) {
    this.listeners.push(listener);
  }

  // Changes some values.  With `step', Back returns to the previous ones.
  set(changes, { step = false } = {}) {
    const keys = this.assign(changes);
    if (keys.size === 0)
      return;
    this.save(step);
    this.notify(keys);
  }

  assign(changes) {
    const keys = new Set();
    for (const [key, value] of Object.entries(changes)) {
      if (this.values[key] !== value)
        keys.add(key);
      this.values[key] = value;
    }
    return keys;
  }

  notify(keys) {
    for (const listener of this.listeners)
      listener(keys);
  }

  // "#view=icicle&node=12": the differences from the defaults.
  fragment() {
    const parameters = new URLSearchParams();
    for (const [key, value] of Object.entries(this.values))
      if (value !== this.defaults[key])
        parameters.set(key, String(value));
    return parameters.toString();
  }

  // Parses values of known keys, in their default's type.
  parse(fragment) {
    const values = { ...this.defaults };
    for (const [key, text] of new URLSearchParams(fragment)) {
      if (!Object.hasOwn(values, key))
        continue;
      const number = Number(text);
      if (typeof values[key] !== 'number')
        values[key] = text;
      else if (Number.isFinite(number))
        values[key] = number;
    }
    return values;
  }

  save(step) {
    if (step)
      this.flush();
    this.pending = '#' + this.fragment();
    if (step)
      this.flush('pushState');
    else if (!this.isWaiting)
      this.saveNow();
  }

  // Writes the first change at once, those that follow soon after together.
  saveNow() {
    this.isWaiting = this.pending !== null;
    this.flush();
    if (this.isWaiting)
      setTimeout(() => this.saveNow(), SAVE_MS);
  }

  // A frame of a notebook has no address that could change.
  flush(method = 'replaceState') {
    if (this.pending !== null && this.pending !== (location.hash || '#')
        && parent === self)
      history[method](null, '', this.pending);
    this.pending = null;
  }

  // Takes the address's values now, and whenever it changes.
  follow() {
    this.assign(this.parse(location.hash.slice(1)));
    addEventListener('pagehide', () => this.flush());
    addEventListener('popstate', () => {
      this.pending = null;
      this.notify(this.assign(this.parse(location.hash.slice(1))));
    });
  }
}
