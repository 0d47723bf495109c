// SPDX-License-Identifier: MIT
// The conditions of two recordings: whether their times can be compared, and
// how exactly.  The same rules as profiler/model/conditions.c, which explains
// them.

import { formatCount, formatUnit } from '../data/units.mjs';

const FLOOR = 0.05, FLOOR_OF_ROUNDS = 0.01, FLOOR_OF_ROOTS = 0.1;
const FLOOR_OF_LOAD = 0.25, FLOOR_OF_SHARED = 0.05, FLOOR_OF_MACHINES = 1;
const LEAST_SHARE = 0.01, LEAST_SHARE_OF_ROUNDS = 0.005;
const LEAST_SHARE_UNFAIR = 0.02;
const MAX_LACK = 0.1, CPU_SHARE_CHANGE = 0.05, RAN_SHARE_CHANGE = 0.1;
const LOAD_CHANGE = 0.25, LOAD_CHANGE_SHARE = 0.05, STEAL_CHANGE = 0.03;
const CLOCK_CHANGE = 0.1, CLOCK_ERROR = 0.02;
const COLD_CHANGE = 0.1, COLD_CHANGE_NBYTES = 65536;
const PRESSURE_CHANGE = 0.1, TICKS_ERROR_NS = 1.5e7, CPU_TIME_ERROR_NS = 2e6;

// Facts that differ between any two recordings, or are measured: those that
// facts.c calls incidental.
const INCIDENTAL = new RegExp('^(pid|command|runs|warmup|seed|made by|failed'
  + '|recovered from|((machine |recorded |(run|recorder)\'s )?cpu'
  + '|cpu at least|steal|throttled'
  + '|recorded( without disks| by another recorder)?|ring begins|run began'
  + '|last seen|disk (wait|pressure) of others) ns'
  + '|clock (MHz|jumped)|page faults( from disks)?'
  + '|bytes (read from disks|resident at most)|paths logged in part'
  + '|threads (not recorded|recorded by another recorder)'
  + '|scopes (not recorded|left without an end)'
  + '|(texts|counter values|gauge samples|damaged spans) not kept'
  + '|(no file|damage) of the ring|events dropped in signal handlers'
  + '|limit (memory bytes|flop)/s(, 1 thread)?'
  + '|counts and texts outside of scopes|triggers without a scope'
  + '|cpu not known because|slow runs (written|not written( because)?))$');

export const factOf = (profile, name) =>
  profile.facts.find(({ key }) => key === name)?.value;

export const countRuns = ({ info, parts }) =>
  info.parts === 'runs' ? parts.length : 1;

// Names that distinguish two recordings: { title: what both are called, or '',
// sides }.  The sides are the names of their files, else their titles; where
// these are equal, when they began, to the millisecond.  own: the one that is
// marked as the page's, if the other was opened.
export function namesOf(both, own) {
  const names = both.map(({ fileName, info }) => fileName ?? info.title);
  const isSame = names[0] === names[1]
    && both.every(({ info }) => info.started > 0);
  const [was, is] = both.map(({ info }) => !isSame ? ''
    : new Date(info.started / 1e6).toISOString().slice(0, 23)
      .replace('T', ' '));
  const isSameDay = was.slice(0, 10) === is.slice(0, 10);
  const sides = isSame ? [was, isSameDay ? is.slice(11) : is] : names;
  return { title: isSame ? names[0] : '', sides: both.map((one, i) =>
    sides[i] + (one === own ? ' (this page)' : '')) };
}

const isSame = (a, b) => a.pid === b.pid
  && (!a.process || !b.process || a.process === b.process);

// Stretches of runs of one process: [[first, end], ...]; none if processes are
// not known.
export function roundsOf(profile) {
  const rounds = [], { parts } = profile;
  for (let i = 0; i < countRuns(profile); i++) {
    if (!parts[i]?.pid)
      return [];
    if (i > 0 && isSame(parts[i], parts[i - 1]))
      rounds.at(-1)[1] = i + 1;
    else
      rounds.push([i, i + 1]);
  }
  return rounds;
}

export const isByRounds = (...profiles) =>
  profiles.every((one) => roundsOf(one).length >= 4);

// What to do where a change is unclear, as `radio diff' says (cmd-diff.c).
function adviceOf(before, after, isUnfair) {
  const isOfRanks = [before, after].some(({ info }) =>
    info.parts === 'ranks');
  if (isUnfair && isByRounds(before, after))
    return 'measure both again in turn, on a quieter machine or with more runs';
  return (isUnfair ? 'record both under the same conditions, or ' : '')
    + 'compare ' + (!isOfRanks && /^\{/.test(factOf(before, 'made by'))
      ? 'in turn (radio profile --against)'
      : 'four recordings of each ' + (isOfRanks ? 'job' : 'program')
        + ' in turn (radio profile merge --as runs)');
}

function stateOf(profile) {
  const number = (key) => Number(factOf(profile, key) ?? 0);
  const { info, counters = [], lanes = [] } = profile;
  const runs = countRuns(profile);
  const fetched = counters.find(({ name }) => name === 'bytes fetched');
  const cpu = number('cpu ns'), machine = number('machine cpu ns');
  const time = Math.max(number('recorded ns'), info.wall ?? 0);
  const diskTime = number('recorded without disks ns') || time;
  return {
    runs, time, cpu, machine,
    on: (info.work ?? 0) - (info.starved ?? 0), work: info.work ?? 0,
    wait: profile.wait.reduce((sum, ns, i) =>
      sum + (profile.categories[i] === 'queue' ? 0 : ns), 0),
    load: Math.max(machine - Math.max(number('recorded cpu ns'), cpu), 0)
      / time,
    steal: number('steal ns'),
    diskWait: number('disk wait of others ns') / diskTime,
    pressure: factOf(profile, 'disk pressure of others ns') / diskTime,
    cpus: number('ncpus'),
    clock: number('clock MHz'),
    knowsDisk: factOf(profile, 'bytes read from disks') !== undefined,
    disk: number('bytes read from disks') / runs,
    fetched: (fetched?.own.reduce((a, b) => a + b, 0) ?? 0) / runs,
    threads: new Set(lanes.filter(({ isAsync }) => !isAsync)
      .map(({ name }) => name)).size,
  };
}

// Returns { basis: 'wall', 'cpu' or 'none', isUnfair, leastFloor, floor,
// rootFloor, leastShare, advice, conditions: [{ name, before, after,
// isUnfair }] }.
export function compareConditions(before, after) {
  const sides = [stateOf(before), stateOf(after)];
  const conditions = [];
  const both = (of) => sides.map(of);
  const apart = ([a, b]) => Math.abs(a - b);
  const most = (of) => Math.max(...both(of));
  let basis = 'wall';
  const byRounds = isByRounds(before, after);
  let leastFloor = byRounds ? FLOOR_OF_ROUNDS : FLOOR, floor = leastFloor;
  const add = (name, isUnfair, values, format) =>
    conditions.push({ name, isUnfair, before: format(values[0]),
                      after: format(values[1]) });
  const check = (name, values, limit, format) =>
    apart(values) > limit && add(name, true, values, format);
  const percent = (value) => (100 * value).toFixed(1) + '\u00a0%';

  if (sides.every(({ on }) => on > 0)) {
    const shares = both(({ on, work }) => on / work);
    const lacks = both(({ on, work, wait }) => (work - on) / (work + wait));
    if (Math.max(...lacks) > MAX_LACK)
      basis = 'cpu';
    if (apart(lacks) > CPU_SHARE_CHANGE)
      check('CPU share', shares, CPU_SHARE_CHANGE, percent);
    const ran = both(({ cpu, on }) => Math.min(cpu / on, 1));
    const error = RAN_SHARE_CHANGE
      + CPU_TIME_ERROR_NS * most(({ runs, on }) => runs / on);
    if (Math.min(...ran) > 0
        && check('CPU time of work', ran, error, percent))
      basis = 'none';
  }
  if (sides.every(({ machine, time }) => machine > 0 && time > 0)) {
    const least = TICKS_ERROR_NS
      * most(({ runs, time }) => Math.sqrt(runs) / time)
      + Math.max(LOAD_CHANGE, LOAD_CHANGE_SHARE
        * Math.min(...both(({ cpus }) => cpus)));
    const cpus = (value) => value.toFixed(2) + ' CPUs';
    check('load', both((one) => one.load), least, cpus);
    const pressure = both((one) => one.pressure);
    if (pressure.every((one) => one >= 0))
      check('disk pressure', pressure, PRESSURE_CHANGE, percent);
    else
      check('disk load', both((one) => one.diskWait), least, cpus);
    const steal = both((one) => one.steal / (one.machine + one.steal));
    if (check('steal', steal, STEAL_CHANGE + TICKS_ERROR_NS
        * most(({ runs, machine }) => Math.sqrt(runs) / machine), percent))
      floor += apart(steal);
  }
  const clocks = both(({ clock }) => clock);
  const ratio = Math.max(...clocks) / Math.min(...clocks);
  if (Math.min(...clocks) > 0 && ratio > 1 + CLOCK_ERROR) {
    floor += ratio - 1;
    leastFloor += ratio - 1;
    add('clock', ratio > 1 + CLOCK_CHANGE, clocks, (value) => value + ' MHz');
  }
  const disk = both((one) => one.disk);
  if (sides.every(({ knowsDisk }) => knowsDisk))
    check('cold files', disk, COLD_CHANGE_NBYTES
      + COLD_CHANGE * most(({ fetched }) => fetched),
          (value) => formatUnit(value, 'bytes'));
  const threads = both((one) => one.threads);
  if (apart(threads) > 0 && Math.min(...threads) > 0)
    add('threads', false, threads, formatCount);

  for (const { key, value } of before.facts) {
    const other = factOf(after, key);
    const isUnfair = key === 'CPU' || key === 'ncpus';
    if (INCIDENTAL.test(key) || other === undefined || other === value)
      continue;
    floor += isUnfair ? FLOOR_OF_MACHINES : 0;
    conditions.push({ name: key, before: value, after: other, isUnfair });
  }
  const isUnfair = conditions.some((one) => one.isUnfair);
  // Others had CPUs between the threads of both: as much again.
  if (isUnfair)
    floor += FLOOR_OF_LOAD;
  else if (basis === 'cpu' && !byRounds)
    floor += FLOOR_OF_SHARED;
  return { conditions, isUnfair, leastFloor, floor,
           advice: adviceOf(before, after, isUnfair),
           rootFloor: floor + (byRounds ? 0 : FLOOR_OF_ROOTS),
           leastShare: isUnfair ? LEAST_SHARE_UNFAIR
             : byRounds ? LEAST_SHARE_OF_ROUNDS : LEAST_SHARE,
           basis: isUnfair && basis === 'wall' ? 'cpu' : basis };
}

