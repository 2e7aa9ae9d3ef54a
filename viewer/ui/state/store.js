// store.js - the one state of the page, whose changes can be undone.  No DOM.
import { windowOf } from '../../core/memory/curves.js';
import { limitX } from './span.js';

const remembered = 50;
const leastBytes = 65536;
const mostTimes = 4;

/** The state a page opens with; `limits`: { states, first, time: [from, to] or null, bytes:
 * the most there is of any kind }. */
export function firstState(limits) {
  const [from, to] = windowOf(limits);
  return {
    file: 0, dev: 0, view: 'stack',
    x: { mode: 'events', from, to },
    y: { from: 0, to: null },
    at: limitState(limits.first || 0, limits), by: 'line', sel: null, query: '', only: false,
    without: null, cap: null, range: null, marks: [], sides: null, theme: null, patterns: false,
    folded: true, wide: false, list: null,
  };
}

/** The memory axis `y`, no finer than the least, and within four times what there is to show. */
function limitY(y, { bytes }, cap) {
  if (y.to === null) return { from: 0, to: null };
  const most = mostTimes * Math.max(bytes ?? Infinity, cap ?? 0, leastBytes);
  const size = Math.min(Math.max(y.to - y.from, leastBytes), most);
  const middle = (y.from + y.to) / 2;
  const wanted = y.to - y.from === size ? y.from : middle - size / 2;
  const from = y.from >= 0 ? Math.max(0, wanted) : wanted;
  const low = Math.min(Math.max(from, -most), most - size);
  return { from: low, to: low === y.from && y.to - y.from === size ? y.to : low + size };
}

function limitState(p, limits) {
  const [from, past] = windowOf(limits);
  return Math.min(Math.max(from, Math.round(p)), past - 1);
}

/** The part of an action that a person may send: unknown members are left out. */
export function applied(state, change, limits) {
  const next = { ...state };
  for (const key of Object.keys(change)) if (key in state) next[key] = change[key];
  if (change.x && change.x !== state.x) next.x = limitX(change.x, limits);
  if (change.y) next.y = limitY(change.y, limits, next.cap);
  if (change.at !== undefined) next.at = limitState(change.at, limits);
  if (change.range) {
    const a = limitState(Math.min(change.range.a, change.range.b), limits);
    const b = limitState(Math.max(change.range.a, change.range.b), limits);
    next.range = { a, b };
  }
  return next;
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
