// synthetic.mjs - seeded random recordings as decoded models, and a slow oracle that replays them.
//
// The walk writes a log of events; the columns are made from the log, and the oracle reads only the
// log, so that a fault in one does not hide in the other.

const NONE = 0xffffffff;
const GRAIN = 512;
const SEGMENT = 2 * 1024 * 1024;
// Classes of frames.
const [TORCH, LIBRARY, USER] = [1, 3, 5];

/** Numbers in [0, 1) from a seed, the same everywhere (mulberry32). */
export function random(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = a;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export const NASTY = ['empty', 'one', 'one-state', 'equal', 'zero', 'all-live', 'huge',
  'all-before', 'no-stacks', 'no-time', 'same-time', 'adjust', 'below-zero', 'pending',
  'no-ranges', 'unknown-pads', 'one-site'];

const NASTY_OPTIONS = {
  'empty': { events: 0, before: 0 },
  'one': { events: 1, before: 0, live: 1, other: 0, ranges: false },
  'one-state': { events: 0, before: 7 },
  'equal': { size: () => 4096 },
  'zero': { size: (r) => (r() < 0.5 ? 0 : 512) },
  'all-live': { live: 1, neverFreed: 1 },
  'huge': { events: 60, before: 0, size: (r, n) => (n === 3 ? 2 ** 52 : Math.floor(r() * 999)) },
  'all-before': { events: 60, before: 90, live: 0 },
  'no-stacks': { stacks: false },
  'no-time': { time: false },
  'same-time': { tick: () => 0 },
  'adjust': { adjust: 123456 },
  'below-zero': { adjust: -5000000 },
  'pending': { pending: 0.6 },
  'no-ranges': { ranges: false },
  'unknown-pads': { unknownPads: 0.5 },
  'one-site': { sites: 1 },
};

function settings(options) {
  const nasty = options.nasty ? NASTY_OPTIONS[options.nasty] : {};
  if (!nasty) throw new Error(`no nasty case ${options.nasty}`);
  return {
    events: 300, before: 12, live: 0.55, neverFreed: 0.05, sites: 9, stacks: true, time: true,
    ranges: true, adjust: 0, pending: 0.1, unknownPads: 0, other: 0.03, step: 50,
    size: (r) => Math.floor(2 ** (5 + r() * 16)),
    tick: (r) => (r() < 0.3 ? 0 : Math.floor(r() * 40)),
    ...nasty, ...options,
  };
}

/* ---- the walk: a log of events, one for each step from a state to the next ---- */

/** Segments in order of time, each a list of free runs; first fit. */
function makePlaces(log, use) {
  const segments = [];
  const grow = (need, born) => {
    const size = Math.ceil(Math.max(need, 1) / SEGMENT) * SEGMENT;
    const at = segments.reduce((n, s) => n + s.size / GRAIN, 0);
    segments.push({ row: segments.length, born, end: -1, size, lane: at, used: 0,
      free: [{ at: 0, size }] });
    return segments[segments.length - 1];
  };
  return {
    segments,
    fits(need) {
      return segments.some((s) => s.end < 0 && s.free.some((f) => f.size >= need));
    },
    grow,
    take(need) {
      if (!use || need > 2 ** 40) return null;
      for (const s of segments) {
        const i = s.end < 0 ? s.free.findIndex((f) => f.size >= need) : -1;
        if (i < 0) continue;
        const at = s.free[i].at;
        s.free[i].at += need;
        s.free[i].size -= need;
        if (s.free[i].size === 0) s.free.splice(i, 1);
        s.used += need;
        return { segment: s, at, size: need };
      }
      return null;
    },
    give(place) {
      const { segment: s, at, size } = place;
      s.used -= size;
      s.free.push({ at, size });
      s.free.sort((a, b) => a.at - b.at);
      for (let i = s.free.length - 1; i > 0; i--) {
        const low = s.free[i - 1];
        if (low.at + low.size !== s.free[i].at) continue;
        low.size += s.free[i].size;
        s.free.splice(i, 1);
      }
    },
    emptyOnes: () => segments.filter((s) => s.end < 0 && s.used === 0 && s.born > 0),
    log,
  };
}

function block(bytes) {
  return Math.max(GRAIN, Math.ceil(bytes / GRAIN) * GRAIN);
}

function newRow(rows, r, o, born) {
  const bytes = o.size(r, rows.length);
  const row = {
    id: rows.length, born, end: -1, asked: -1, bytes, block: block(bytes), place: null,
    site: 1 + Math.floor(r() * o.sites), free: 0, origin: born === 0 ? 1 + Math.floor(r() * 2) : 0,
    stream: r() < 0.8 ? 0 : 1, pool: r() < 0.9 ? 0 : 1, keep: r() < o.neverFreed,
    cat: Math.floor(r() * 6), phase: Math.floor(r() * 3), source: Math.floor(r() * 3),
    padUnknown: r() < o.unknownPads,
  };
  rows.push(row);
  return row;
}

function start(o, r, rows, places) {
  const live = [];
  for (let i = 0; i < o.before; i++) {
    const row = newRow(rows, r, o, 0);
    if (o.ranges && row.block <= 2 ** 40 && !places.fits(row.block)) places.grow(row.block, 0);
    row.place = places.take(row.block);
    live.push(row);
  }
  return live;
}

/** What the next event is; the log's entry. `kind` as in the event table where it has one. */
function nextEvent(w) {
  const { o, r, rows, live, asked, places, state } = w;
  if (asked.length > 0 && (r() < 0.5 || asked[0].hasty)) {
    const row = asked.splice(asked[0].hasty ? 0 : Math.floor(r() * asked.length), 1)[0];
    row.end = state;
    if (row.place) places.give(row.place);
    return { op: 'free_completed', row };
  }
  const x = r();
  if (x < o.other) return { op: ['oom', 'snapshot', 'retry'][Math.floor(r() * 3)] };
  const idle = x < o.other * 2 ? places.emptyOnes() : [];
  if (idle.length > 0) {
    idle[0].end = state;
    return { op: 'segment_free', segment: idle[0] };
  }
  const movable = live.filter((row) => !row.keep);
  if (movable.length > 0 && r() >= o.live) {
    const row = movable[Math.floor(r() * movable.length)];
    live.splice(live.indexOf(row), 1);
    row.asked = state;
    row.hasty = r() >= o.pending;
    row.free = 1 + Math.floor(r() * o.sites);
    asked.push(row);
    return { op: 'free_requested', row };
  }
  if (o.live === 0) return { op: 'snapshot' };
  const row = w.wanted ?? newRow(rows, r, o, 0);
  if (o.ranges && row.block <= 2 ** 40 && !places.fits(row.block)) {
    w.wanted = row;
    return { op: 'segment_alloc', segment: places.grow(row.block, state) };
  }
  w.wanted = null;
  Object.assign(row, { born: state, origin: 0, place: places.take(row.block) });
  live.push(row);
  return { op: 'alloc', row };
}

function walk(o, r) {
  const rows = [];
  const log = [];
  const places = makePlaces(log, o.ranges);
  const w = { o, r, rows, live: start(o, r, rows, places), asked: [], places, wanted: null };
  for (let i = 0; i < o.events; i++) {
    w.state = i + 1;
    log.push(nextEvent(w));
  }
  const made = rows.filter((row) => row !== w.wanted);
  made.forEach((row, i) => { row.id = i; });
  return { rows: made, log, segments: places.segments };
}

/* ---- tables ---- */

function fill(type, rows, of) {
  return type.from({ length: rows.length }, (_, i) => of(rows[i], i));
}

function allocTable(rows, states, o) {
  const lane = (row) => (row.place ? row.place.segment.lane + row.place.at / GRAIN : NONE);
  const end = (row) => (row.end < 0 ? states : row.end);
  const flags = (row) => row.origin | (row.id % 41 === 40 ? 4 : 0) | (row.id % 37 === 36 ? 8 : 0);
  return {
    rows: rows.length,
    born: fill(Uint32Array, rows, (row) => row.born),
    end: fill(Uint32Array, rows, end),
    wait: fill(Uint32Array, rows, (row) => (row.asked < 0 ? 0 : end(row) - row.asked)),
    bytes: fill(Float64Array, rows, (row) => row.bytes),
    pad: fill(Float64Array, rows, (row) => (row.padUnknown ? NaN : row.block - row.bytes)),
    source: fill(Uint8Array, rows, (row) => row.source),
    lane: fill(Uint32Array, rows, lane),
    stack: fill(Uint32Array, rows, (row) => (o.stacks ? 2 * row.site : 0)),
    free_stack: fill(Uint32Array, rows, (row) => (o.stacks && row.free ? 2 * row.free : 0)),
    cat: fill(Uint8Array, rows, (row) => row.cat),
    rule: fill(Uint8Array, rows, (row) => row.cat % 3),
    sure: fill(Uint8Array, rows, (row) => 1 + (row.cat % 3)),
    phase: fill(Uint8Array, rows, (row) => row.phase),
    stream: fill(Uint8Array, rows, (row) => row.stream),
    pool: fill(Uint8Array, rows, (row) => row.pool),
    flags: fill(Uint8Array, rows, flags),
  };
}

function rangeTables(segments, states) {
  const base = (s) => 0x7f0000000000 + s.row * 0x40000000;
  return {
    range: {
      rows: segments.length,
      born: fill(Uint32Array, segments, (s) => s.born),
      end: fill(Uint32Array, segments, (s) => (s.end < 0 ? states : s.end)),
      lane: fill(Uint32Array, segments, (s) => s.lane),
      base: fill(Float64Array, segments, base),
      bytes: fill(Float64Array, segments, (s) => s.size),
      segment: fill(Uint32Array, segments, (s) => s.row),
    },
    segment: {
      rows: segments.length,
      stream: fill(Uint8Array, segments, () => 0),
      pool: fill(Uint8Array, segments, () => 0),
      flags: fill(Uint8Array, segments, () => 0),
      stack: fill(Uint32Array, segments, () => 0),
      bytes: fill(Float64Array, segments, (s) => s.size),
    },
  };
}

const KINDS = ['segment_alloc', 'segment_free', 'segment_map', 'segment_unmap', 'oom', 'snapshot',
  'retry'];

function eventTables(log) {
  const told = log.map((e, i) => ({ ...e, state: i + 1, kind: KINDS.indexOf(e.op) }))
    .filter((e) => e.kind >= 0);
  const ooms = told.filter((e) => e.op === 'oom');
  return {
    event: {
      rows: told.length,
      state: fill(Uint32Array, told, (e) => e.state),
      kind: fill(Uint8Array, told, (e) => e.kind),
      arg: fill(Float64Array, told, (e) => (e.segment ? e.segment.size : 0)),
    },
    oom: {
      rows: ooms.length,
      state: fill(Uint32Array, ooms, (e) => e.state),
      bytes: fill(Float64Array, ooms, () => 1 << 30),
      free: fill(Float64Array, ooms, () => 1 << 20),
      stack: fill(Uint32Array, ooms, () => 0),
    },
  };
}

function marks(states, o, name) {
  const steps = [];
  for (let p = 0, i = 0; p < states && states > 1; p += o.step, i++) {
    const last = Math.min(p + o.step, states) - 1;
    steps.push({ kind: 0, first: p, last, name: `step ${i + 1}` });
  }
  return {
    rows: steps.length,
    kind: fill(Uint8Array, steps, (s) => s.kind),
    first: fill(Uint32Array, steps, (s) => s.first),
    last: fill(Uint32Array, steps, (s) => s.last),
    depth: fill(Uint8Array, steps, () => 0),
    name: fill(Uint32Array, steps, (s) => name(s.name)),
  };
}

/** Site i has the stack 2 i (its caller is 2 i - 1), all under one of three roots. */
function stackTables(o, name) {
  const stacks = [{}];
  const frames = [{ func: 0, file: 0, line: 0, kind: 0 }];
  for (let i = 1; i <= o.sites && o.stacks; i++) {
    const frame = (func, file, line, kind) => frames.push({
      func: name(func), file: name(file), line, kind }) - 1;
    const caller = frame(`forward_${i % 3}`, 'train.py', 10 + (i % 3), USER);
    const leaf = frame(`layer_${i}`, `/usr/lib/torch/nn/mod_${i % 4}.py`, i, i % 2 ? TORCH : LIBRARY);
    const texts = { culprit: name(`train.py:${10 + (i % 3)} via ${i}`), line: caller, site: i,
      owner: name(`layer_${i}`),
      op: name(i % 2 ? 'aten::mm' : 'aten::add'), module: name(`model.${i % 4}`) };
    stacks.push({ caller: 0, frame: caller, ...texts });
    stacks.push({ caller: stacks.length - 1, frame: leaf, ...texts });
  }
  const column = (key) => fill(Uint32Array, stacks, (s) => s[key] ?? 0);
  const stack = { rows: stacks.length };
  for (const key of ['caller', 'frame', 'site', 'culprit', 'line', 'owner', 'op', 'module']) {
    stack[key] = column(key);
  }
  return { stack, frame: {
    rows: frames.length,
    func: fill(Uint32Array, frames, (f) => f.func),
    file: fill(Uint32Array, frames, (f) => f.file),
    line: fill(Uint32Array, frames, (f) => f.line),
    kind: fill(Uint8Array, frames, (f) => f.kind),
  } };
}

function times(states, o, r) {
  if (!o.time) return null;
  const time = new Float64Array(states);
  for (let p = 2; p < states; p++) time[p] = time[p - 1] + o.tick(r);
  return time;
}

function headOf(o, states) {
  return {
    device: 0, name: 'cuda:0', states, capacity_bytes: null, adjust_bytes: o.adjust,
    time: o.time ? { base_us: '1762000000000000', unit_us: 1 } : null,
    streams: ['0', '7'], pools: ['(0,0)', '(0,1)'],
    categories: ['parameter', 'gradient', 'optimizer_state', 'activation', 'temporary', 'unknown']
      .map((name, slot) => ({ name, slot })),
    phases: ['', 'forward', 'backward'], rules: ['W1', 'W2', 'W3'], check: [],
    exact: { requested: true, active: false, reserved: true }, tables: {},
  };
}

function checks(model, count) {
  const replay = oracle(model);
  return Array.from({ length: Math.min(count, model.states) }, (_, i) => {
    const state = Math.floor((i * (model.states - 1)) / Math.max(count - 1, 1));
    return { state, requested_bytes: replay.requested(state), live: replay.live(state).length,
      pending_bytes: replay.pending(state), reserved_bytes: replay.reserved(state) };
  });
}

/**
 * A decoded model with consistent tables. Options: events, before, neverFreed, sites, live,
 * pending, adjust, size(r, row), tick(r), stacks, time, ranges, unknownPads, step; nasty: of NASTY.
 * `model.log` is the list of events the oracle reads.
 */
export function makeModel(seed, options = {}) {
  const o = settings(options);
  const r = random(seed);
  const { rows, log, segments } = walk(o, r);
  const states = o.events + 1;
  const string = [''];
  const ids = new Map([['', 0]]);
  const name = (text) => {
    if (!ids.has(text)) ids.set(text, string.push(text) - 1);
    return ids.get(text);
  };
  const model = {
    name: 'cuda:0', states, adjust: o.adjust, alloc: allocTable(rows, states, o),
    time: times(states, o, r), ...rangeTables(o.ranges ? segments : [], states),
    ...eventTables(log), mark: marks(states, o, name), ...stackTables(o, name), string,
    head: headOf(o, states),
    log: { before: rows.filter((row) => row.born === 0), events: log,
      segments: o.ranges ? segments.filter((s) => s.born === 0) : [] },
  };
  model.head.check = checks(model, 20);
  return model;
}

/* ---- the oracle ---- */

function replayTo(model, state, see) {
  const live = new Map(model.log.before.map((row) => [row.id, row]));
  const asked = new Set();
  const segments = new Set(model.log.segments);
  for (let p = 0; p <= state; p++) {
    if (p > 0) {
      const e = model.log.events[p - 1];
      if (e.op === 'alloc') live.set(e.row.id, e.row);
      if (e.op === 'free_requested') asked.add(e.row.id);
      if (e.op === 'free_completed') live.delete(e.row.id);
      if (e.op === 'segment_alloc') segments.add(e.segment);
      if (e.op === 'segment_free') segments.delete(e.segment);
    }
    if (see) see(p, live, asked, segments);
  }
  return { live, asked, segments };
}

const sum = (list, of) => list.reduce((n, x) => n + of(x), 0);

/** Replays the log one by one: requested(p), live(p) (row ids, ascending), pending(p), reserved(p);
 * curve() is requested of every state, in one replay. */
export function oracle(model) {
  return {
    requested: (p) => model.adjust + sum([...replayTo(model, p).live.values()], (x) => x.bytes),
    live: (p) => [...replayTo(model, p).live.keys()].sort((a, b) => a - b),
    pending: (p) => {
      const { live, asked } = replayTo(model, p);
      return sum([...live.values()].filter((row) => asked.has(row.id)), (row) => row.bytes);
    },
    reserved: (p) => sum([...replayTo(model, p).segments], (s) => s.size),
    active: (p) => model.adjust + sum([...replayTo(model, p).live.values()], (x) => x.block),
    curve: () => {
      const at = new Float64Array(model.states);
      replayTo(model, model.states - 1, (p, live) => {
        at[p] = model.adjust + sum([...live.values()], (row) => row.bytes);
      });
      return at;
    },
  };
}

/** Models for a property: one of each nasty case and `count` ordinary ones, as [name, model]. */
export function* manyModels(count = 6, options = {}) {
  for (const nasty of NASTY) yield [nasty, makeModel(7, { ...options, nasty })];
  for (let seed = 1; seed <= count; seed++) {
    const events = [3, 17, 120, 500, 1200, 2000][seed % 6];
    yield [`seed ${seed}`, makeModel(seed, { events, before: (seed * 5) % 23, ...options })];
  }
}
