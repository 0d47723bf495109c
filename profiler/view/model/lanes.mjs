// SPDX-License-Identifier: MIT
// The rows of the timeline: one for each depth of nesting of each lane (a
// thread, successive threads of one name, or a row of requests), and a band for
// each lane, which has the deepest span at each moment.  Pieces of a row do not
// overlap, so their begins and ends are sorted and can be searched.

// From more rows of requests on these are one lane.
const MANY_ROWS = 64;

// Depths of spans in their lanes; spans are sorted by lane, begin, then longer
// first.
function spanDepths(spans) {
  const depths = new Uint16Array(spans.count);
  const ends = [];
  let lane = -1;
  for (let i = 0; i < spans.count; i++) {
    if (spans.lane[i] !== lane) {
      lane = spans.lane[i];
      ends.length = 0;
    }
    while (ends.length > 0 && ends[ends.length - 1] <= spans.begin[i])
      ends.pop();
    depths[i] = ends.length;
    ends.push(spans.begin[i] + spans.duration[i]);
  }
  return depths;
}

export class Lanes {
  constructor(profile) {
    const { spans, lanes } = profile;
    this.spans = spans;
    this.depths = spanDepths(spans);
    this.extents = lanes.map(() => ({ begin: Infinity, end: 0, busy: 0,
                                      count: 0, height: 0 }));
    for (let i = 0; i < spans.count; i++) {
      const extent = this.extents[spans.lane[i]];
      extent.first ??= i;
      extent.count++;
      if (this.depths[i] === 0)
        extent.busy += spans.duration[i];
      extent.height = Math.max(extent.height, this.depths[i] + 1);
      extent.begin = Math.min(extent.begin, spans.begin[i]);
      extent.end = Math.max(extent.end, spans.begin[i] + spans.duration[i]);
    }
    this.names = new Set(lanes.map(({ name }) => name));
    this.firstRow = new Uint32Array(lanes.length);
    this.laneOf = [];
    this.lanes = [];
    this.isMany = lanes.filter(({ isAsync }) => isAsync).length > MANY_ROWS;
    let nrows = 0;
    // Requests last; otherwise in the profile's order.
    const order = lanes.map((lane, i) => i)
      .sort((a, b) => lanes[a].isAsync - lanes[b].isAsync);
    for (const lane of order)
      if (this.extents[lane].count > 0)
        this.add(lanes[lane], lane);
    for (const one of this.lanes) {
      one.row = nrows;
      for (const lane of one.lanes) {
        this.firstRow[lane] = nrows;
        this.laneOf[lane] = one;
        if (one.isMixed)
          nrows += this.extents[lane].height;
      }
      nrows = one.row + one.height;
    }
    this.fill(nrows);
  }

  // A thread that began after one of its name had ended, such as a pool's in
  // the next run, continues in its rows, in the first that are free.  Many
  // requests are below each other in one lane.
  add({ name, isAsync }, lane) {
    const { begin, end, busy, height } = this.extents[lane];
    const isMixed = this.isMany && isAsync;
    // The recorder calls threads of one name "loader", "loader 2", ..., those
    // without one "thread", "thread 2", ...
    const first = name.replace(/ \d+$/, '');
    const plain = this.names.has(first) ? first : name;
    const before = this.lanes.find((one) => isMixed ? one.isMixed
      : !isAsync && one.plain === plain && one.end <= begin);
    if (before) {
      before.lanes.push(lane);
      before.height = isMixed ? before.height + height
        : Math.max(before.height, height);
      before.end = end;
      before.busy += busy;
    } else
      this.lanes.push({ lanes: [lane], height, name, plain, isAsync, isMixed,
                        end, busy });
  }

  fill(nrows) {
    const { spans } = this;
    const counts = new Uint32Array(nrows);
    for (let i = 0; i < spans.count; i++)
      counts[this.rowOf(i)]++;
    // The columns that drawing reads are copied row by row, since jumping
    // through memory is slow.
    this.rows = Array.from(counts, (count) => new Uint32Array(count));
    this.nodes = Array.from(counts, (count) => new Uint32Array(count));
    this.begins = Array.from(counts, (count) => new Float64Array(count));
    this.ends = Array.from(counts, (count) => new Float64Array(count));
    counts.fill(0);
    for (let i = 0; i < spans.count; i++) {
      const row = this.rowOf(i), at = counts[row]++;
      this.rows[row][at] = i;
      this.nodes[row][at] = spans.node[i];
      this.begins[row][at] = spans.begin[i];
      this.ends[row][at] = spans.begin[i] + spans.duration[i];
    }
  }

  rowOf(span) {
    return this.firstRow[this.spans.lane[span]] + this.depths[span];
  }

  // The row of a lane's band, made when it is first wanted.
  bandOf(lane) {
    if (lane.height === 1)
      return lane.row;
    lane.band ??= this.makeBand(lane);
    return lane.band;
  }

  // Of spans that overlap, the one that began last.
  makeBand({ lanes, isMixed }) {
    const { begin, duration, node, lane } = this.spans;
    // A span has a piece at its end, and one before each of its children.
    const most = 2 * lanes.reduce((sum, one) =>
      sum + this.extents[one].count, 0);
    const rows = new Uint32Array(most);
    const begins = new Float64Array(most), ends = new Float64Array(most);
    const open = [];
    let n = 0, reached = 0;
    // Closes the spans that ended by a time, and goes there.
    const go = (time) => {
      while (open.length > 0) {
        const span = open[open.length - 1];
        const end = begin[span] + duration[span];
        const to = end < time ? end : time;
        if (to > reached) {
          rows[n] = span;
          begins[n] = reached;
          ends[n++] = reached = to;
        }
        if (end > time)
          break;
        open.pop();
      }
      reached = time;
    };
    // Lanes follow one another, unless they are of many requests.
    const all = new Uint32Array(most / 2);
    let nall = 0;
    for (const one of lanes)
      for (let i = this.extents[one].first; lane[i] === one; i++)
        all[nall++] = i;
    if (isMixed)
      all.sort((a, b) => begin[a] - begin[b] || a - b);
    for (const span of all) {
      go(begin[span]);
      open.push(span);
    }
    go(Infinity);
    this.rows.push(rows.slice(0, n));
    this.nodes.push(rows.slice(0, n).map((span) => node[span]));
    this.begins.push(begins.slice(0, n));
    return this.ends.push(ends.slice(0, n)) - 1;
  }

  // In a row: the first span, from `low' on, that ends after a time.  Searched
  // by doubling steps, since it is usually near.
  firstEnding(row, time, low = 0) {
    const ends = this.ends[row];
    let high = low, step = 1;
    while (high < ends.length && ends[high] <= time) {
      low = high + 1;
      high += step;
      step *= 2;
    }
    high = Math.min(high, ends.length);
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle] <= time)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  // The span of a row at a time, or the nearest within a tolerance; -1.
  at(row, time, tolerance) {
    const spans = this.rows[row];
    const begins = this.begins[row], ends = this.ends[row];
    let best = -1, distance = tolerance;
    const first = Math.max(0, this.firstEnding(row, time) - 1);
    for (let i = first; i < Math.min(spans.length, first + 3); i++) {
      const away = Math.max(begins[i] - time, time - ends[i], 0);
      if (away <= distance) {
        best = spans[i];
        distance = away;
      }
    }
    return best;
  }
}
