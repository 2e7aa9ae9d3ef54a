// store.js - the one state of the page, the actions upon it, and undo.  No DOM.

const remembered = 50;
const leastStates = 8;
const leastTime = 10;
const leastBytes = 65536;

/** The state a page opens with; `limits`: { states, peak, time: [from, to] or null }. */
export function firstState(limits) {
  return {
    file: 0, dev: 0, view: 'stack',
    x: { mode: 'events', from: 0, to: Math.max(1, limits.states) },
    y: { from: 0, to: null },
    at: limits.peak || 0, by: 'category', sel: null, query: '', only: false, cap: null,
    range: null, marks: [], sides: null, theme: null, patterns: false, folded: true, wide: false,
  };
}

function limitSpan(from, to, low, high, least) {
  const whole = Math.max(high - low, 1);
  const size = Math.min(Math.max(to - from, Math.min(least, whole)), whole);
  const middle = (from + to) / 2;
  let a = middle - size / 2;
  if (a < low) a = low;
  if (a + size > low + whole) a = low + whole - size;
  return [a, a + size];
}

/** An x range inside the recording, and no narrower than the least. */
export function limitX(x, limits) {
  if (x.mode === 'time' && limits.time) {
    const [from, to] = limitSpan(x.from, x.to, limits.time[0], limits.time[1], leastTime);
    return { mode: 'time', from, to };
  }
  const [from, to] = limitSpan(x.from, x.to, 0, Math.max(1, limits.states), leastStates);
  return { mode: 'events', from: Math.round(from), to: Math.max(Math.round(from) + 1,
    Math.round(to)) };
}

function limitY(y) {
  if (y.to === null) return { from: 0, to: null };
  if (y.to - y.from >= leastBytes) return y;
  const middle = (y.from + y.to) / 2;
  return { from: middle - leastBytes / 2, to: middle + leastBytes / 2 };
}

/** Zooms `x` by `factor` (above 1 is in) about `middle`. */
export function zoomed(x, factor, middle, limits) {
  const from = middle - (middle - x.from) / factor;
  const to = middle + (x.to - middle) / factor;
  if (x.mode === 'events' && Math.round(to) - Math.round(from) === x.to - x.from && factor < 1) {
    return limitX({ ...x, from: x.from - 1, to: x.to + 1 }, limits);
  }
  return limitX({ ...x, from, to }, limits);
}

export function panned(x, share, limits) {
  const by = (x.to - x.from) * share;
  const least = x.mode === 'events' ? Math.sign(by) * Math.max(1, Math.abs(by)) : by;
  return limitX({ ...x, from: x.from + least, to: x.to + least }, limits);
}

function limitState(p, limits) {
  return Math.min(Math.max(0, Math.round(p)), Math.max(0, limits.states - 1));
}

/** The part of an action that a person may send: unknown members are left out. */
export function applied(state, change, limits) {
  const next = { ...state };
  for (const key of Object.keys(change)) if (key in state) next[key] = change[key];
  if (change.x && change.x !== state.x) next.x = limitX(change.x, limits);
  if (change.y) next.y = limitY(change.y);
  if (change.at !== undefined) next.at = limitState(change.at, limits);
  if (change.range) {
    const a = limitState(Math.min(change.range.a, change.range.b), limits);
    const b = limitState(Math.max(change.range.a, change.range.b), limits);
    next.range = { a, b };
  }
  return next;
}

/** The range of events that brings `p` into view, or the present one when it is there. */
export function revealed(x, p, limits) {
  if (x.mode !== 'events' || (p >= x.from && p < x.to)) return x;
  const half = (x.to - x.from) / 2;
  return limitX({ ...x, from: p - half, to: p + half }, limits);
}

function same(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Holds the state; `jump` can be undone, `move` only replaces; listeners hear every change. */
export function createStore(first, limits) {
  let state = first;
  let bounds = limits;
  let past = [];
  let future = [];
  const listeners = [];

  function become(next, kind) {
    const before = state;
    state = next;
    for (const f of listeners) f(state, before, kind);
  }

  function change(part, kind) {
    const next = applied(state, part, bounds);
    if (same(next, state)) return state;
    if (kind === 'jump') {
      past.push(state);
      if (past.length > remembered) past = past.slice(-remembered);
      future = [];
    }
    become(next, kind);
    return state;
  }

  function step(from, to) {
    const next = from.pop();
    if (!next) return false;
    to.push(state);
    become({ ...next, theme: state.theme, patterns: state.patterns }, 'undo');
    return true;
  }

  return {
    get: () => state,
    limits: () => bounds,
    setLimits: (next) => { bounds = next; },
    move: (part) => change(part, 'move'),
    jump: (part) => change(part, 'jump'),
    undo: () => step(past, future),
    redo: () => step(future, past),
    listen: (f) => { listeners.push(f); },
  };
}
