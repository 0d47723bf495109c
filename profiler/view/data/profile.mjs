// SPDX-License-Identifier: MIT
// The profile for the views, read from the document of docs/profile-format.md:
// columns of numbers, times in nanoseconds.

import { findChildren, findParents } from './causes.mjs';
import { readColumns, zigzag } from './decode.mjs';
import { atOnce } from './slices.mjs';
import { Sites, Tree } from './tree.mjs';

const EDGES = ['', 'other thread', 'request', 'phase', 'instant'];

// Returns the rows of a small table as objects.
function rows(table) {
  if (!table)
    return [];
  const keys = Object.keys(table);
  return table[keys[0]].map((first, i) =>
    Object.fromEntries(keys.map((key) => [key, table[key][i]])));
}

// The tables that a profile may have, and what no view can do without.
const TABLES = ['facts', 'findings', 'parts', 'gauges', 'lanes', 'nodes',
                'counters', 'values', 'shares', 'histograms', 'notes'];
const NEEDED = ['info', 'strings', 'nodes'];

// Checks that the columns of each table are lists of one length.
function checkTables(document) {
  for (const name of NEEDED)
    if (typeof document[name] !== 'object')
      throw new Error('its data lack ' + name);
  for (const name of TABLES) {
    const columns = Object.values(document[name] ?? {});
    if (columns.some((one) => !Array.isArray(one)
                     || one.length !== columns[0].length))
      throw new Error('its ' + name + ' are damaged: columns differ');
  }
}

function checkRange(column, limit, what) {
  for (let i = 0; i < column.length; i++)
    if (!(column[i] >= 0 && column[i] < limit))
      throw new Error('its ' + what + ' ' + i + ' points to nothing');
}

function checkParents(parents) {
  for (let i = 0; i < parents.length; i++)
    if (!(parents[i] >= -1 && parents[i] < i))
      throw new Error('the parent of its scope ' + i + ' does not come '
        + 'before it');
}

function readInfo(info) {
  return {
    title: info.title, program: info.program, clock: info.clock,
    started: info.started_unix_ns, wall: info.wall_ns, work: info.work_ns,
    wait: info.wait_ns, dropped: info.dropped_count,
    scopes: info.scope_count, scopeCost: info.scope_cost_ns,
    overhead: info.overhead_ns, open: info.open_count,
    late: info.late_count, parts: info.parts,
    allocPeak: info.alloc_peak_nbytes, allocLive: info.alloc_live_nbytes,
    starved: info.starved_ns ?? 0,
  };
}

async function readSpans(document, lanes, nnodes) {
  const [begin, duration, queue, wait, id, parent, node, flags, bytes] =
    await readColumns(document.spans, 9);
  const count = begin.length;
  const lane = new Uint32Array(count);
  let at = 0;
  lanes.forEach((one, i) => {
    let time = 0, number = 0;
    for (const end = Math.min(count, at + one.spanCount); at < end; at++) {
      time = begin[at] += time;
      number = id[at] = number + zigzag(id[at]);
      parent[at] = parent[at] === 0 ? 0 : number - zigzag(parent[at]);
      queue[at] = begin[at] - queue[at];
      lane[at] = i;
    }
  });
  if (at !== count)
    throw new Error((count - at) + ' of its spans are in no lane');
  checkRange(node, nnodes, 'span');
  return { count, begin, duration, submitted: queue, wait, id, parent,
           node: Uint32Array.from(node), flags: Uint8Array.from(flags),
           bytes, lane, tile: null, stored: null, starved: null,
           steps: new Map() };
}

// The category of steps, whose spans have a number.
export const STEP = 'step';

// A span's name: of a step, with its number.
export function spanName({ names, spans: { node, steps } }, span) {
  const name = names[node[span]];
  return steps.has(span) ? name + ' ' + steps.get(span) : name;
}

// Reads the tile (-1: none) and stored bytes of each span, null if no span has
// one; and the numbers of steps.
async function readTiles(document, spans, categories) {
  const [skipped, tile, stored] = await readColumns(document.tiles, 3,
                                                  'tiles');
  let span = -1, number = 0;
  for (let i = 0; i < tile.length; i++) {
    span += 1 + skipped[i];
    number += zigzag(tile[i]);
    const isStep = categories[spans.node[span]] === STEP;
    if (!(span < spans.count && (isStep || number >= 0)))
      throw new Error('its tile ' + i + ' points to nothing');
    if (isStep) {
      spans.steps.set(span, number);
      continue;
    }
    spans.tile ??= new Float64Array(spans.count).fill(-1);
    spans.stored ??= new Float64Array(spans.count);
    spans.tile[span] = number;
    spans.stored[span] = stored[i];
  }
}

// Reads the time without a CPU of each span, null if the log does not know it.
async function readStarved(document, spans) {
  if (!document.starved)
    return;
  const [skipped, ns] = await readColumns(document.starved, 2, 'starved');
  spans.starved = new Float64Array(spans.count);
  let span = -1;
  for (let i = 0; i < ns.length; i++) {
    span += 1 + skipped[i];
    if (!(span < spans.count))
      throw new Error('its starved span ' + i + ' points to nothing');
    spans.starved[span] = ns[i];
  }
}

async function readSamples(document, ngauges) {
  const [time, gauge, value] = await readColumns(document.samples, 3,
                                                 'samples');
  checkRange(gauge, ngauges, 'sample');
  const last = new Float64Array(ngauges);
  for (let i = 0; i < time.length; i++) {
    if (i > 0)
      time[i] += time[i - 1];
    value[i] = last[gauge[i]] += zigzag(value[i]);
  }
  return { count: time.length, time, gauge, value };
}

// The text of a note for readers: a volume's sizes and places begin with x,
// unlike in the file.
function xFirst({ key, value }) {
  return !/ shape$| start$|^boxes$/.test(key) ? value
    : value.replace(/\d+(,\d+)+/g, (sizes) =>
      sizes.split(',').reverse().join(', '));
}

class Profile {
  constructor(document) {
    const { nodes } = document;
    const strings = document.strings;
    const text = (column) => column.map((i) => strings[i] ?? '');
    const numbers = (name) => Float64Array.from(nodes[name]);
    this.info = readInfo(document.info);
    this.facts = rows(document.facts);
    this.findings = rows(document.findings);
    this.parts = rows(document.parts).map((part) =>
      ({ name: part.name, wall: part.wall_ns, work: part.work_ns,
         starved: part.starved_ns, pid: part.pid ?? 0,
         process: part.process }));
    this.ran = this.timeRan();
    this.threadsBusy = this.ran / (this.timeToRun() || Infinity);
    this.gauges = rows(document.gauges);
    this.lanes = rows(document.lanes).map((lane) =>
      ({ name: lane.name, isAsync: lane.is_async, part: lane.part,
         spanCount: lane.span_count }));
    this.names = text(nodes.name);
    this.categories = text(nodes.category);
    this.sites = new Sites(this.names, this.categories);
    this.functions = text(nodes.function);
    this.files = text(nodes.file);
    this.lines = nodes.line;
    this.edges = nodes.edge;
    checkParents(nodes.parent);
    this.tree = new Tree(Int32Array.from(nodes.parent));
    const names = {
      calls: 'calls', total: 'total_ns', self: 'self_ns', work: 'work_ns',
      wait: 'wait_ns', queue: 'queue_ns', min: 'min_ns', max: 'max_ns',
      open: 'open_count', late: 'late_count', dropped: 'dropped_count',
      allocCount: 'alloc_count', allocBytes: 'alloc_nbytes',
      allocPeak: 'alloc_peak_nbytes', allocLive: 'alloc_live_nbytes',
    };
    for (const [ours, theirs] of Object.entries(names))
      this[ours] = numbers(theirs);
    // Earlier recordings do not know it.
    this.starved = Float64Array.from(nodes.starved_ns
                                     ?? nodes.work_ns.map(() => 0));
    this.treeWork = this.tree.sums(this.work);
    this.treeWait = this.tree.sums(this.wait);
    this.counters = this.readCounters(document);
    this.histograms = document.histograms;
    this.shares = this.readShares(document.shares);
    this.notes = rows(document.notes).map((note) =>
      ({ ...note, key: strings[note.key], value: strings[note.value] }));
  }

  // Work on CPUs, as in rd_profile_ran_ns.  Recording took a share of the
  // process's CPU time of it, at most all, as in rd_profile_recording_ns: null
  // where there is hardly any.
  timeRan() {
    const { work, starved, overhead } = this.info;
    const fact = (name) =>
      parseInt(this.facts.find(({ key }) => key === name)?.value, 10) || 0;
    const ran = work - starved, own = fact('recorder\'s cpu ns');
    const ns = Math.min(ran, fact('cpu ns') || ran);
    const span = this.timeToRun();
    this.recordingTime = Math.min(overhead, ns) + own;
    this.recording = ns < Math.max(span / 100, Math.min(1e7, span / 10))
      ? null : this.recordingTime / (ns + own || 1);
    return starved > 0 ? ran : ns;
  }

  // Ranks' work is added up, so their times are too.
  timeToRun() {
    return this.partKind() !== 'rank' ? this.info.wall
      : this.parts.reduce((sum, { wall }) => sum + wall, 0);
  }

  readCounters(document) {
    const counters = rows(document.counters).map((counter) =>
      ({ ...counter, own: new Float64Array(this.tree.size) }));
    const values = document.values ?? { node: [], counter: [] };
    checkRange(values.node, this.tree.size, 'value');
    checkRange(values.counter, counters.length, 'value');
    values.node.forEach((node, i) => {
      counters[values.counter[i]].own[node] = values.value[i];
    });
    return counters;
  }

  // The figures of each node and part.
  readShares(table) {
    const found = new Map();
    this.knowsWorkOfParts = Boolean(table?.starved_ns);
    table?.node.forEach((node, i) => {
      found.set(node * this.parts.length + table.part[i],
                { calls: table.calls[i], total: table.total_ns[i],
                  self: table.self_ns[i], work: table.work_ns?.[i] ?? 0,
                  starved: table.starved_ns?.[i] ?? 0 });
    });
    return found;
  }

  // Where each span is, once they are read.
  indexSpans() {
    const { spans } = this;
    this.end = this.info.wall;
    for (let i = 0; i < spans.count; i++)
      this.end = Math.max(this.end, spans.begin[i] + spans.duration[i]);
    for (let i = 0; i < this.samples.count; i++)
      this.end = Math.max(this.end, this.samples.time[i]);
  }

  // The causal graph is built on first use.
  get spanParents() {
    return this.foundParents ??= findParents(this.spans);
  }

  // { starts, list }: the children of each span.
  get causes() {
    return this.foundChildren ??= atOnce(this.findCauses());
  }

  // Finds them in steps (slices.mjs).
  * findCauses() {
    const parents = this.spanParents;
    yield;
    this.foundChildren ??= yield* findChildren(this.spans, parents);
    return this.foundChildren;
  }

  // Returns the index of the span's parent; -1: none, or dropped.
  parentOf(span) {
    return this.spanParents[span];
  }

  share(node, part) {
    return this.shares.get(node * this.parts.length + part)
      ?? { calls: 0, total: 0, self: 0, work: 0, starved: 0 };
  }

  // Returns the bucket counts of a node.
  histogram(node) {
    const counts = new Array(48).fill(0);
    this.histograms?.node.forEach((one, i) => {
      if (one === node)
        counts[this.histograms.bucket[i]] = this.histograms.count[i];
    });
    return counts;
  }

  nodeNotes(node) {
    return this.notes.filter((note) => note.span === 0 && note.node === node)
      .map((note) => [note.key, xFirst(note)
        + (note.varies ? ', and others' : '')]);
  }

  spanNotes(span) {
    const id = this.spans.id[span];
    return this.notes.filter((note) => note.span === id && id > 0)
      .map((note) => [note.key, xFirst(note)]);
  }

  edgeName(node) {
    return EDGES[this.edges[node]] ?? '';
  }

  // Returns what a part is: "run" or "rank".
  partKind() {
    return this.info.parts === 'ranks' ? 'rank' : 'run';
  }
}

export async function readProfile(text) {
  let document;
  try {
    document = JSON.parse(text);
  } catch {
    throw new Error('its data are damaged or cut short');
  }
  if (document?.format !== 'radio-profile')
    throw new Error('its data are no profile of radio');
  if (document.version !== 1)
    throw new Error('its data are of version ' + document.version
      + ', unknown to this page');
  checkTables(document);
  const profile = new Profile(document);
  profile.spans = await readSpans(document, profile.lanes,
                                  profile.tree.size);
  await readTiles(document, profile.spans, profile.categories);
  await readStarved(document, profile.spans);
  profile.samples = await readSamples(document, profile.gauges.length);
  profile.indexSpans();
  return profile;
}

const DATA_TAG = '<script type="application/json" id="radio-profile">';

// Returns the document inside a file's text: radio's JSON, or a page that
// contains it.
export function documentOf(text) {
  const at = text.indexOf(DATA_TAG);
  if (at >= 0) {
    const from = at + DATA_TAG.length;
    const end = text.indexOf('</script>', from);
    if (end < 0)
      throw new Error('the page is truncated');
    return text.slice(from, end);
  }
  if (text.trimStart().startsWith('<'))
    throw new Error('this page has no profile of radio');
  return text;
}

// Reads the profile of a file (from an input, or dropped).
export async function openProfile(file) {
  const profile = await readProfile(documentOf(await file.text()));
  profile.fileName = file.name;
  return profile;
}
