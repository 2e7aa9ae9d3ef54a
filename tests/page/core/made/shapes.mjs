// shapes.mjs - the four shapes that the page is measured with, seeded, as decoded models.
import { random } from './synthetic.mjs';

const UNIT = 512;
const SEGMENT = 32 * 2 ** 20;
const CATEGORIES = ['parameter', 'gradient', 'optimizer_state', 'optimizer_temp', 'activation',
  'input', 'temporary', 'autograd_detail', 'workspace', 'unknown', 'communication', 'buffer'];
const NEVER = 0;

/* Room by size class: classes are powers of two, a segment holds blocks of one class only. */
function makeRoom(recording) {
  const free = [];
  const ranges = [];
  let lane = 0;
  const classOf = (bytes) => Math.ceil(Math.log2(Math.max(bytes, UNIT) / UNIT));
  const grow = (k) => {
    const block = UNIT * 2 ** k;
    const bytes = Math.max(SEGMENT, block);
    ranges.push({ born: ++recording.state, lane, bytes });
    for (let at = bytes - block; at >= 0; at -= block) free[k].push(lane + at / UNIT);
    lane += bytes / UNIT;
  };
  return {
    ranges,
    take(bytes) {
      const k = classOf(bytes);
      if (!free[k]) free[k] = [];
      if (free[k].length === 0) grow(k);
      return free[k].pop();
    },
    give: (bytes, at) => free[classOf(bytes)].push(at),
  };
}

/* Columns that are filled as events are made: an alloc is one event, a free is two, the request and
 * its completion. */
function makeRecording(most, r) {
  const alloc = {
    rows: 0, born: new Uint32Array(most), end: new Uint32Array(most), wait: new Uint32Array(most),
    bytes: new Float64Array(most), lane: new Uint32Array(most), stack: new Uint32Array(most),
    free_stack: new Uint32Array(most), cat: new Uint8Array(most), phase: new Uint8Array(most),
  };
  const recording = { alloc, state: 0, sites: 1 };
  const room = makeRoom(recording);
  recording.room = room;
  const any = () => Math.floor(r() * recording.sites);
  recording.take = (bytes, cat, site = any(), phase = 0, freed = any()) => {
    const row = alloc.rows++;
    alloc.lane[row] = room.take(bytes);
    alloc.born[row] = ++recording.state;
    alloc.bytes[row] = bytes;
    alloc.cat[row] = cat;
    alloc.phase[row] = phase;
    alloc.stack[row] = site;
    alloc.free_stack[row] = freed;
    return row;
  };
  recording.give = (row) => {
    recording.state += 2;
    alloc.end[row] = recording.state;
    alloc.wait[row] = 1;
    room.give(alloc.bytes[row], alloc.lane[row]);
  };
  return recording;
}

function size(r, low, high) {
  return Math.floor(2 ** (low + r() * (high - low)));
}

/* What a step allocates, the same in each: a size and a stack for every place in the program. */
function planOf(recording, r, layers, params) {
  const slot = (low, high, cat, phase) => ({ bytes: size(r, low, high), cat, phase,
    site: Math.floor(r() * recording.sites), freed: Math.floor(r() * recording.sites) });
  return Array.from({ length: layers }, (_, i) => ({
    held: slot(14, 23, 4, 1),
    forward: Array.from({ length: Math.floor(r() * 4) }, () => slot(10, 22, 6, 0)),
    backward: slot(10, 22, 6, 2),
    grad: i < params ? slot(12, 22, 1, 2) : null,
  }));
}

/* Weights; then steps: forward holds activations, with temporaries between, backward gives them
 * back in reverse, the first step makes the optimizer's state; now and then a step leaves one. */
function training(recording, r, { allocs, live }) {
  const params = Math.floor(live / 8);
  for (let i = 0; i < params; i++) recording.take(size(r, 12, 24), 0);
  const plan = planOf(recording, r, Math.floor(live * 0.6), params);
  const take = ({ bytes, cat, site, phase, freed }) =>
    recording.take(bytes, cat, site, phase, freed);
  let first = true;
  recording.steps = [];
  while (recording.alloc.rows < allocs) {
    const from = recording.state + 1;
    const held = plan.map((layer) => {
      const row = take(layer.held);
      for (const slot of layer.forward) recording.give(take(slot));
      return row;
    });
    const grads = [];
    for (let i = plan.length - 1; i >= 0; i--) {
      const temporary = take(plan[i].backward);
      recording.give(held[i]);
      recording.give(temporary);
      if (plan[i].grad) grads.push(take(plan[i].grad));
    }
    for (let i = 0; first && i < params; i++) recording.take(size(r, 12, 24), 2, undefined, 3);
    grads.forEach(recording.give);
    if (r() < 0.1) recording.take(1 << 20, 9);
    first = false;
    recording.steps.push([from, recording.state]);
  }
}

/* `live` allocations, and then each new one replaces another: the oldest, or any. */
function churn(recording, r, { allocs, live, low, high }, pick) {
  const held = new Uint32Array(live);
  for (let i = 0; recording.alloc.rows < allocs; i++) {
    const at = i < live ? i : pick(i);
    if (i >= live) recording.give(held[at]);
    held[at] = recording.take(size(r, low, high), Math.floor(r() * CATEGORIES.length));
  }
}

const MAKERS = {
  training,
  fifo: (recording, r, o) => churn(recording, r, { low: 9, high: 20, ...o }, (i) => i % o.live),
  random: (recording, r, o) =>
    churn(recording, r, { low: 9, high: 20, ...o }, () => Math.floor(r() * o.live)),
  short: (recording, r, o) =>
    churn(recording, r, { low: 9, high: 20, ...o }, () => Math.floor(r() * o.live)),
};

/* The rows of the table of acceptance. */
export const SHAPES = {
  'training-small': { shape: 'training', allocs: 28000, live: 2900 },
  training: { shape: 'training', allocs: 1e6, live: 4000 },
  fifo: { shape: 'fifo', allocs: 1e6, live: 97000 },
  random: { shape: 'random', allocs: 1e6, live: 97000 },
  short: { shape: 'short', allocs: 6.7e6, live: 5000 },
};

/* A tree of stacks, callers first, in which depth grows as the logarithm; one frame for each. */
function stackTables(r, stacks, strings) {
  const string = [''];
  for (let i = 1; i < strings; i++) {
    const name = `forward_${i}_${Math.floor(r() * 1e6)}`;
    string.push(i % 3 ? name : `/srv/model/layers/block_${i}.py`);
  }
  const column = (of) => Uint32Array.from({ length: stacks }, (_, s) => (s === 0 ? 0 : of(s)));
  const any = () => 1 + Math.floor(r() * (strings - 1));
  const stack = { rows: stacks, caller: column((s) => Math.floor(r() * s)), frame: column((s) => s),
    site: column((s) => s), culprit: column(any), line: column((s) => s), owner: column(any),
    op: column(any), module: column(any) };
  const frame = { rows: stacks, func: column(any), file: column(any),
    line: column(() => 1 + Math.floor(r() * 900)), kind: new Uint8Array(stacks) };
  return { string, stack, frame };
}

function rangeTables({ ranges }, states) {
  const n = ranges.length;
  const from = (type, of) => type.from(ranges, of);
  const range = { rows: n, born: from(Uint32Array, (x) => x.born),
    end: new Uint32Array(n).fill(states),
    lane: from(Uint32Array, (x) => x.lane), bytes: from(Float64Array, (x) => x.bytes),
    base: from(Float64Array, (x) => 0x7f0000000000 + x.lane * UNIT),
    segment: from(Uint32Array, (_, i) => i), kind: new Uint8Array(n) };
  const segment = { rows: n, stream: new Uint8Array(n), pool: new Uint8Array(n),
    flags: new Uint8Array(n), stack: new Uint32Array(n), bytes: range.bytes };
  const event = { rows: n, state: range.born, kind: new Uint8Array(n), arg: range.bytes };
  return { range, segment, event };
}

function markTable(steps, string) {
  const names = steps.map((_, i) => string.push(`step ${i + 1}`) - 1);
  return { rows: steps.length, kind: new Uint8Array(steps.length),
    first: Uint32Array.from(steps, ([first]) => first),
    last: Uint32Array.from(steps, ([, last]) => last), depth: new Uint8Array(steps.length),
    name: Uint32Array.from(names) };
}

function trimmed(alloc, states) {
  const n = alloc.rows;
  for (const key of Object.keys(alloc)) if (key !== 'rows') alloc[key] = alloc[key].subarray(0, n);
  for (let i = 0; i < n; i++) if (alloc.end[i] === NEVER) alloc.end[i] = states;
  const pad = new Float64Array(n);
  for (let i = 0; i < n; i++) pad[i] = (UNIT - (alloc.bytes[i] % UNIT)) % UNIT;
  for (let i = 0; i < n; i++) if (alloc.end[i] === states) alloc.free_stack[i] = 0;
  return { ...alloc, pad, source: new Uint8Array(n), rule: new Uint8Array(n),
    sure: new Uint8Array(n), stream: new Uint8Array(n), pool: new Uint8Array(n),
    flags: new Uint8Array(n) };
}

/* name: one of SHAPES.  allocs, live, stacks, strings may be given. */
export function makeShape(name, options = {}, seed = 1) {
  const o = { stacks: 5000, strings: 4000, ...SHAPES[name], ...options };
  const r = random(seed);
  const recording = makeRecording(o.allocs + o.live * 8, r); // a step may end past the number
  recording.sites = o.stacks;
  MAKERS[o.shape](recording, r, o);
  const states = recording.state + 1;
  const tables = stackTables(r, o.stacks, o.strings);
  const time = new Float64Array(states);
  for (let p = 2; p < states; p++) time[p] = time[p - 1] + (r() < 0.3 ? 0 : Math.floor(r() * 40));
  return {
    name: 'cuda:0', states, adjust: 0, alloc: trimmed(recording.alloc, states), time,
    ...rangeTables(recording.room, states), oom: { rows: 0 }, ...tables,
    mark: markTable(recording.steps ?? [], tables.string),
    head: { streams: ['0'], pools: ['(0,0)'], rules: ['W1'], check: [],
      phases: ['none', 'forward', 'backward', 'optimizer'],
      categories: CATEGORIES.map((text, slot) => ({ name: text, slot })) },
  };
}
