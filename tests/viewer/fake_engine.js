// fake_engine.js - a small recording of training, and the face that the page's views are written
// against: call(op, args) -> Promise.  Plain and slow; the page's tests and dev.html use it.
//
// Every args has file, dev.  x: { mode: 'events' | 'time', from, to }; states are half-open spans.
//   cover   {}                        -> see `cover` below: curves, marks, flags, small tables
//   raster  {x, W, H, y0, y1 (null: fit), by, query, only} -> { W, H, y0, y1, ids (-1 none), group,
//           mark (bits 0-2 shade, 8 excluded, 16 before recording), sums, shown, span: [from, to),
//           drawn, matched, churn: Float64Array(W) | null }        row 0 of a picture is on top
//   groups  the same, where ids are groups
//   live    {state, by, all}          -> { state, time, bytes, active, reserved, count, rows: [{ key,
//           name, bytes, count, largest, since }], names: [{ key, name }] when `all` } sorted by
//           bytes; key is the `group` of pictures
//   row     {id}                      -> what the details panel shows, see `details`
//   pile    {state, from, to, by, query, only} -> { count, bytes, rows: [{ id, name, bytes }] }
//   range   {a, b, by}                -> { min, max, start, end, churn, born, bornSurvived, freed,
//           times: [us, us] | null, rows: [{ key, name, a, b, delta, countA, countB }] }
//   find    {text, state, by, after, step} -> { error, at } | { count, ever, now, share, visit }
//   tree    {of: live|peak|range|churn|leaks, state, a, b, weight, root, hide, query} -> { parent,
//           name, kind, self, total, special, matched }
//   leaks   {}                        -> { steps, rows: [{ name, slope, from, to, bytes[], count[],
//           first, total, expected, query }] }
//   state   {state}                   -> see `allocator`
import { stackPicture, groupsPicture } from '../../viewer/core/raster.js';
import { flame } from '../../viewer/core/tree.js';

const MiB = 1048576;

function random(seed) {
  let a = seed;
  return () => {
    a = a + 0x6d2b79f5 | 0;
    let t = Math.imul(a ^ a >>> 15, 1 | a);
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
    return ((t ^ t >>> 14) >>> 0) / 4294967296;
  };
}

const categories = ['parameter', 'buffer', 'gradient', 'optimizer_state', 'optimizer_temp',
  'activation', 'input', 'kv_cache', 'temporary', 'autograd_detail', 'workspace', 'communication',
  'unknown', 'persistent'];
const phases = ['setup', 'forward', 'backward', 'optimizer'];

/** A recording of `steps` training steps with a leak and a failed allocation at its end. */
export function training({ steps = 4, layers = 12, seed = 1 } = {}) {
  const next = random(seed);
  const rows = [];
  const open = [];
  const marks = [];
  const stacks = [null];
  const known = new Map();
  let state = 0;
  const stackOf = (frames) => {
    let caller = 0;
    let path = '';
    for (const frame of frames) {
      path += '|' + frame;
      if (!known.has(path)) {
        known.set(path, stacks.length);
        stacks.push({ caller, text: frame });
      }
      caller = known.get(path);
    }
    return caller;
  };
  const alloc = (bytes, cat, phase, frames) => {
    state++;
    const row = { born: state, end: 0, bytes: Math.round(bytes), cat: categories.indexOf(cat),
      phase, stack: stackOf(['train.py:64 main', ...frames]) };
    rows.push(row);
    return row;
  };
  const free = (row) => { row.end = ++state; };
  const temporary = (size, phase, frames) => free(alloc(size, 'temporary', phase, frames));
  for (let l = 0; l < layers; l++) {
    open.push(alloc((40 + l) * MiB, 'parameter', 0, ['model.py:12 __init__', 'linear.py:98 empty']));
    if (l % 4 === 0) open.push(alloc(2 * MiB, 'buffer', 0, ['model.py:19 register']));
  }
  let state2 = null;
  const leaked = [];
  for (let s = 0; s < steps; s++) {
    const first = state + 1;
    const input = alloc(16 * MiB, 'input', 1, ['data.py:31 next']);
    const held = [];
    for (let l = 0; l < layers; l++) {
      const where = ['train.py:212 forward', 'model.py:88 forward'];
      held.push(alloc((60 + 30 * next()) * MiB, 'activation', 1, [...where, 'attention.py:40 attn']));
      temporary(30 * MiB * next(), 1, [...where, 'functional.py:1847 softmax']);
      held.push(alloc((90 + 10 * next()) * MiB, 'activation', 1, [...where, 'mlp.py:22 forward']));
    }
    leaked.push(alloc(25 * MiB, 'unknown', 1, ['log.py:40 append']));
    const grads = [];
    while (held.length) {
      const layer = held.pop();
      temporary(60 * MiB * next(), 2, ['train.py:214 backward', 'autograd:MmBackward0']);
      if (held.length % 2 === 0) {
        grads.push(alloc(45 * MiB, 'gradient', 2, ['train.py:214 backward', 'autograd:AccumulateGrad']));
      }
      free(layer);
    }
    if (!state2) {
      state2 = Array.from({ length: layers }, (_, l) => alloc((80 + 2 * l) * MiB, 'optimizer_state', 3,
        ['train.py:219 step', 'adamw.py:71 step', 'adamw.py:140 exp_avg']));
    }
    temporary(120 * MiB, 3, ['train.py:219 step', 'adamw.py:330 _multi_tensor']);
    grads.forEach(free);
    free(input);
    marks.push({ kind: 0, first, last: state, name: 'step ' + (s + 1), depth: 0 });
  }
  return model(rows, marks, stacks, state + 1);
}

function column(Type, rows, f) {
  return Type.from(rows, f);
}

function model(rows, marks, stacks, states) {
  const texts = [''];
  const string = (text) => (texts.includes(text) ? texts.indexOf(text) : texts.push(text) - 1);
  const parts = (text) => /^(?:(.*):(\d+) )?(.*)$/.exec(text);
  const frames = [...new Set(stacks.slice(1).map((s) => s.text))];
  const frameParts = frames.map(parts);
  const time = new Float64Array(states);
  for (let p = 2; p < states; p++) time[p] = time[p - 1] + (p % 3 ? 37 : 900);
  return {
    name: 'cuda:0', states, adjust: 0, time, marks, categories, phases,
    alloc: {
      rows: rows.length, born: column(Uint32Array, rows, (r) => r.born),
      end: column(Uint32Array, rows, (r) => r.end || states),
      bytes: column(Float64Array, rows, (r) => r.bytes),
      stack: column(Uint32Array, rows, (r) => r.stack), cat: column(Uint8Array, rows, (r) => r.cat),
      phase: column(Uint8Array, rows, (r) => r.phase),
    },
    stack: {
      rows: stacks.length, caller: column(Uint32Array, stacks, (s) => (s ? s.caller : 0)),
      frame: column(Uint32Array, stacks, (s) => (s ? frames.indexOf(s.text) + 1 : 0)),
    },
    frame: {
      rows: frames.length + 1,
      func: Uint32Array.from([0, ...frameParts.map((p) => string(p[3]))]),
      file: Uint32Array.from([0, ...frameParts.map((p) => string(p[1] || ''))]),
      line: Uint32Array.from([0, ...frameParts.map((p) => Number(p[2] || 0))]),
      kind: Uint8Array.from([0, ...frameParts.map((p) => (/^(functional|linear|adamw)/.test(p[1]) ? 2 : 1))]),
    },
    string: texts,
  };
}

function curveOf({ alloc, states }) {
  const curve = new Float64Array(states + 1);
  for (let r = 0; r < alloc.rows; r++) {
    curve[alloc.born[r]] += alloc.bytes[r];
    curve[alloc.end[r]] -= alloc.bytes[r];
  }
  for (let p = 1; p <= states; p++) curve[p] += curve[p - 1];
  return curve.subarray(0, states);
}

function frameText(m, f) {
  const file = m.string[m.frame.file[f]];
  return (file ? `${file}:${m.frame.line[f]} ` : '') + m.string[m.frame.func[f]];
}

function grouping(m, by) {
  const { alloc } = m;
  if (by === 'category' || by === 'birth') return { of: alloc.cat, names: m.categories };
  if (by === 'phase') return { of: alloc.phase, names: m.phases };
  const names = [];
  const of = Uint16Array.from(alloc.stack, (s) => {
    const name = by === 'owner' ? frameText(m, m.stack.frame[m.stack.caller[s]]) :
      frameText(m, m.stack.frame[s]);
    return names.includes(name) ? names.indexOf(name) : names.push(name) - 1;
  });
  return { of, names };
}

function liveRows(m, p) {
  const rows = [];
  for (let r = 0; r < m.alloc.rows; r++) if (m.alloc.born[r] <= p && m.alloc.end[r] > p) rows.push(r);
  return rows;
}

function grouped(m, rows, by) {
  const { of, names } = grouping(m, by);
  const groups = new Map();
  for (const r of rows) {
    const row = groups.get(of[r]) || { key: of[r], name: names[of[r]], bytes: 0, count: 0, largest: 0,
      since: m.alloc.born[r] };
    row.bytes += m.alloc.bytes[r];
    row.count++;
    row.largest = Math.max(row.largest, m.alloc.bytes[r]);
    groups.set(of[r], row);
  }
  return [...groups.values()].sort((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1));
}

function shownStates(m, curve, x, W) {
  const from = x.mode === 'time' ? Math.max(0, m.time.findIndex((t) => t >= x.from)) : x.from;
  const past = x.mode === 'time' ? m.time.findLastIndex((t) => t <= x.to) + 1 : x.to;
  const shown = new Uint32Array(W);
  for (let c = 0; c < W; c++) {
    const a = from + Math.floor((past - from) * c / W);
    const b = Math.max(a + 1, from + Math.floor((past - from) * (c + 1) / W));
    shown[c] = a;
    for (let p = a; p < b && p < m.states; p++) if (curve[p] > curve[shown[c]]) shown[c] = p;
  }
  return { shown, span: [from, past] };
}

function masked(m, query) {
  const wanted = query.toLowerCase();
  return Uint8Array.from(m.alloc.stack, (s, r) => {
    if (!query || m.categories[m.alloc.cat[r]] === wanted.replace('cat:', '')) return 1;
    for (let at = s; at; at = m.stack.caller[at]) {
      if (frameText(m, m.stack.frame[at]).toLowerCase().includes(wanted)) return 1;
    }
    return 0;
  });
}

function picture(m, curve, args, grouped_) {
  const { shown, span } = shownStates(m, curve, args.x, args.W);
  const { of, names } = grouping(m, args.by);
  const mask = masked(m, args.query || '');
  const y0 = args.y0 || 0;
  const y1 = args.y1 || Math.max(1, shown.reduce((most, p) => Math.max(most, curve[p]), 0) * 1.05);
  const order = args.by === 'birth' ? undefined :
    Uint32Array.from(of.keys()).sort((a, b) => of[a] - of[b] || a - b);
  const view = { shown, y0, y1, H: args.H, order, mask: args.only ? mask : undefined };
  const got = grouped_ ? groupsPicture(m, { ...view, groupOf: of, groups: names.length }) :
    stackPicture(m, view);
  const group = new Uint16Array(got.ids.length);
  const mark = new Uint8Array(got.ids.length);
  got.ids.forEach((id, i) => {
    if (id < 0) return;
    group[i] = grouped_ ? id : of[id];
    mark[i] = grouped_ ? 0 : m.alloc.stack[id] * 7 & 7 | (mask[id] ? 0 : 8) |
      (m.alloc.born[id] === 0 ? 16 : 0);
  });
  const churn = new Float64Array(args.W);
  m.alloc.born.forEach((p, r) => {
    const c = Math.floor((p - span[0]) * args.W / (span[1] - span[0]));
    if (c >= 0 && c < args.W) churn[c] += m.alloc.bytes[r];
  });
  return { W: args.W, H: args.H, y0, y1, ...got, drawn: got.drawn || 0, group, mark, shown, span, churn,
    groups: names.length, rows: m.alloc.rows };
}

function cover(m, curve, W = 1024) {
  const { shown } = shownStates(m, curve, { mode: 'events', from: 0, to: m.states }, W);
  const peak = curve.indexOf(Math.max(...curve));
  const reserved = Float64Array.from(shown, (p) => Math.ceil(
    Math.max(...curve.subarray(0, p + 1)) / (256 * MiB)) * 256 * MiB);
  return {
    name: m.name, states: m.states, at: shown, requested: Float64Array.from(shown, (p) => curve[p]),
    active: Float64Array.from(shown, (p) => curve[p] * 1.01), activeExact: false, reserved,
    peak: { state: peak, bytes: curve[peak], ties: 1 }, peaks: [peak, Math.floor(peak / 2)],
    time: [0, m.time[m.states - 1]], adjust: 0, capacity: null, capacityKnown: 5 * 1024 * MiB,
    ooms: [{ state: m.states - 1, bytes: 2048 * MiB }], steps: m.marks, phases: [],
    mallocs: [[1, 0], [40, 0], [90, 1]], snapshots: [], retries: [],
    allocations: m.alloc.rows, before: 0, cut: null, startUnknown: false,
    by: ['category', 'site', 'owner', 'phase', 'birth'], has: { stacks: true, events: true },
    ops: ['raster', 'groups', 'live', 'row', 'pile', 'range', 'find', 'tree', 'leaks', 'state'],
  };
}

function details(m, id) {
  const { alloc } = m;
  const stack = [];
  for (let s = alloc.stack[id]; s; s = m.stack.caller[s]) {
    const f = m.stack.frame[s];
    stack.push({ func: m.string[m.frame.func[f]], file: m.string[m.frame.file[f]],
      line: m.frame.line[f], kind: m.frame.kind[f] });
  }
  const culprit = stack.findIndex((f) => f.kind === 1);
  const same = [...alloc.stack.keys()].filter((r) => alloc.stack[r] === alloc.stack[id]);
  return {
    id, bytes: alloc.bytes[id], block: Math.ceil(alloc.bytes[id] / 512) * 512, source: 'block',
    born: alloc.born[id], end: alloc.end[id] < m.states ? alloc.end[id] : null, wait: 0,
    times: [m.time[alloc.born[id]], m.time[Math.min(alloc.end[id], m.states - 1)]],
    category: m.categories[alloc.cat[id]], group: alloc.cat[id], rule: 'W1', sure: 'high',
    phase: m.phases[alloc.phase[id]], stream: '0x0', pool: '(0,0)', address: '0x7f2a40000000',
    origin: alloc.born[id] ? 'traced' : 'before recording',
    step: (m.marks.find((k) => k.first <= alloc.born[id] && k.last >= alloc.born[id]) || {}).name || null,
    stack, culprit, owner: stack.length ? frameText(m, m.stack.frame[alloc.stack[id]]) : null,
    freeStack: [], same: { live: same.length, ever: same.length },
  };
}

function range(m, curve, { a, b, by }) {
  const part = curve.subarray(a, b + 1);
  const facts = { min: Math.min(...part), max: Math.max(...part), start: curve[a], end: curve[b],
    churn: 0, born: 0, bornSurvived: 0, freed: 0, times: [m.time[a], m.time[b]], rows: [] };
  m.alloc.born.forEach((p, r) => {
    const bytes = m.alloc.bytes[r];
    const end = m.alloc.end[r];
    if (p > a && p <= b) {
      facts.born++;
      facts.churn += bytes;
      if (end > b) facts.bornSurvived += bytes;
    }
    if (p <= a && end > a && end <= b) facts.freed += bytes;
  });
  const before = grouped(m, liveRows(m, a), by);
  const after = grouped(m, liveRows(m, b), by);
  for (const key of new Set([...before, ...after].map((row) => row.key))) {
    const x = before.find((row) => row.key === key) || { bytes: 0, count: 0 };
    const y = after.find((row) => row.key === key) || { bytes: 0, count: 0 };
    facts.rows.push({ key, name: (y.name || x.name), a: x.bytes, b: y.bytes, delta: y.bytes - x.bytes,
      countA: x.count, countB: y.count });
  }
  return facts;
}

function find(m, curve, { text, state, after, step }) {
  if (text.startsWith('(')) return { error: 'a term is wanted here', at: 0 };
  const mask = masked(m, text);
  const rows = [...mask.keys()].filter((r) => mask[r]);
  const now = rows.filter((r) => m.alloc.born[r] <= state && m.alloc.end[r] > state);
  const sum = (list) => list.reduce((n, r) => n + m.alloc.bytes[r], 0);
  const at = after === null || after === undefined ? -1 : rows.indexOf(after);
  const id = rows[(at + (step || 1) + rows.length) % rows.length];
  return { count: rows.length, ever: sum(rows), now: sum(now), nowCount: now.length,
    share: curve[state] ? sum(now) / curve[state] : 0,
    visit: id === undefined ? null : { id, born: m.alloc.born[id] } };
}

function tree(m, curve, args) {
  const rows = args.of === 'churn' ? [...m.alloc.born.keys()].filter((r) => m.alloc.born[r] > 0) :
    liveRows(m, args.of === 'peak' ? curve.indexOf(Math.max(...curve)) : args.state);
  const hide = args.hide ? Uint8Array.from(m.frame.kind, (k) => (k > 1 ? 1 : 0)) : null;
  const got = flame(m, Uint32Array.from(rows), { weight: args.weight, root: args.root, hide });
  const name = Array.from(got.frame, (f, n) => (n === 0 ? 'all' : f ? frameText(m, f) : 'no stack'));
  return { ...got, name, kind: Uint8Array.from(got.frame, (f) => m.frame.kind[f]) };
}

function leaks(m) {
  const bytes = m.marks.map(() => 25 * MiB);
  return { steps: m.marks.map((k) => k.name), rows: [
    { name: 'log.py:40 append', slope: 25 * MiB, from: 1, to: 4, bytes, count: bytes.map(() => 1),
      first: 'step 1', total: 100 * MiB, expected: null, query: 'log.py' },
    { name: 'adamw.py:71 step', slope: 0, from: 1, to: 1, bytes: [1092 * MiB, 0, 0, 0], count: [12, 0, 0, 0],
      first: 'step 1', total: 1092 * MiB, expected: 'optimizer state, created at the end of step 1',
      query: 'adamw' }] };
}

function allocator(m, curve, { state }) {
  const rows = liveRows(m, state).slice(0, 60);
  const segment = (list, size, cls) => {
    let at = 0;
    const parts = list.map((id) => {
      const part = { at, bytes: m.alloc.bytes[id], id, kind: 'used', group: m.alloc.cat[id] };
      at += part.bytes;
      return part;
    });
    if (at < size) parts.push({ at, bytes: size - at, id: -1, kind: 'stranded' });
    return { address: '0x7f2a40000000', bytes: Math.max(size, at), use: at, free: Math.max(0, size - at),
      largest: Math.max(0, size - at), blocks: list.length, kind: cls, parts };
  };
  return { state, what: `alloc ${m.alloc.bytes[0]}`, pools: [
    { pool: 'default', stream: '0x0', segments: [segment(rows.slice(0, 20), 2 ** 31, 'expandable'),
      segment(rows.slice(20), 2 ** 32, 'large')] }],
  events: [...m.alloc.born.keys()].slice(0, 40).map((r) => ({ state: m.alloc.born[r], kind: 'alloc',
    bytes: m.alloc.bytes[r], id: r })) };
}

/** call(op, args) over one model. */
export function createFakeEngine(m = training()) {
  const curve = curveOf(m);
  const ops = {
    cover: () => cover(m, curve),
    raster: (args) => picture(m, curve, args, false),
    groups: (args) => picture(m, curve, args, true),
    live: ({ state, by }) => ({ state, time: m.time[state], bytes: curve[state],
      active: curve[state] * 1.01, reserved: 5 * 1024 * MiB,
      count: liveRows(m, state).length, names: grouping(m, by).names.map((name, key) => ({ key, name })),
      rows: grouped(m, liveRows(m, state), by) }),
    row: ({ id }) => details(m, id),
    pile: ({ state }) => ({ count: 2, bytes: 1024, rows: liveRows(m, state).slice(0, 2).map((id) =>
      ({ id, name: frameText(m, m.stack.frame[m.alloc.stack[id]]), bytes: m.alloc.bytes[id] })) }),
    range: (args) => range(m, curve, args),
    find: (args) => find(m, curve, args),
    tree: (args) => tree(m, curve, args),
    leaks: () => leaks(m),
    state: (args) => allocator(m, curve, args),
  };
  return async (op, args) => {
    if (!ops[op]) throw new Error(`no operation ${op}`);
    return ops[op](args);
  };
}
