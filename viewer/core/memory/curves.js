// curves.js - bytes of a device at every state: curves, step lists, and where a curve is largest.
import { columnsOf } from '../model/intervals.js';

const FAN = 64;
// Of alloc.source: a block size that its request rounded up only bounds.
const ROUNDED = 2;

/* Adds `value` in the states [from, to) by differences; `running` makes them the curve. */
function add(curve, from, to, value) {
  curve[from] += value;
  if (to < curve.length) curve[to] -= value;
}

function running(curve) {
  let sum = 0;
  for (let p = 0; p < curve.length; p++) {
    sum += curve[p];
    curve[p] = sum;
  }
  return curve;
}

/** What the live rows lack to the curve in state `p`: one number, but in files that contradict
 * themselves. */
export function adjustAt({ adjust = 0, adjusts }, p) {
  return adjusts ? at(adjusts, p) : adjust;
}

/** The least of these numbers. */
export function leastAdjust({ adjust = 0, adjusts }) {
  return adjusts ? adjusts.value.reduce((a, b) => Math.min(a, b)) : adjust;
}

/** Requested bytes in every state, of the rows of `mask` where one is given. Sums are whole numbers
 * below 2^53, hence exact. */
export function requested(model, mask = null) {
  const { alloc: { rows, born, end, bytes }, adjusts } = model;
  const curve = new Float64Array(model.states);
  curve[0] = model.adjust;
  for (let k = 1; k < (adjusts?.state.length ?? 0); k++) {
    curve[adjusts.state[k]] += adjusts.value[k] - adjusts.value[k - 1];
  }
  for (let i = 0; i < rows; i++) if (!mask || mask[i]) add(curve, born[i], end[i], bytes[i]);
  return running(curve);
}

/** The same of some rows alone. */
export function requestedOf({ alloc: { rows, born, end, bytes }, states }, mask) {
  const curve = new Float64Array(states);
  for (let i = 0; i < rows; i++) if (mask[i]) add(curve, born[i], end[i], bytes[i]);
  return running(curve);
}

/** In each of some ascending states: how many rows are `live`, the bytes of their blocks (`active`;
 * one of unknown size counts what was requested) and the requested bytes whose free is asked for
 * and not completed (`pending`). No curve is made of these, a recording's would be its largest
 * part. `exact`: no block of the recording is only bounded. */
export function sumsIn(model, states) {
  const { rows, born, end, wait, bytes, pad, source } = model.alloc;
  const W = states.length;
  const firstOf = columnsOf(states);
  const [live, active, pending] = [0, 1, 2].map(() => new Float64Array(W + 1));
  let exact = true;
  for (let i = 0, c = 0; i < rows; i++) {
    const known = pad !== undefined && !Number.isNaN(pad[i]);
    if (!known || (source && source[i] === ROUNDED)) exact = false;
    while (c < W && states[c] < born[i]) c++;
    if (c === W || end[i] <= states[c]) continue;
    const past = firstOf(end[i]);
    add(live, c, past, 1);
    add(active, c, past, bytes[i] + (known ? pad[i] : 0));
    const asked = wait ? end[i] - wait[i] : end[i];
    // Most wait for less than a column.
    if (asked > states[past - 1]) continue;
    add(pending, Math.max(c, firstOf(asked)), past, bytes[i]);
  }
  running(active);
  for (let c = 0; c < W; c++) active[c] += adjustAt(model, states[c]);
  return { live: running(live), active, pending: running(pending), exact };
}

/** The same bytes of one state, whose live rows are given: { active, pending }. */
export function sumsOf(model, rows, p) {
  const { end, wait, bytes, pad } = model.alloc;
  const sums = { active: adjustAt(model, p), pending: 0 };
  for (const i of rows) {
    sums.active += bytes[i] + (pad && !Number.isNaN(pad[i]) ? pad[i] : 0);
    if (wait && end[i] - wait[i] <= p) sums.pending += bytes[i];
  }
  return sums;
}

/* Changes of a step function, sorted by state and joined. */
function stepsOf(changes) {
  const { state: when } = changes;
  const order = Array.from(when.keys()).sort((a, b) => when[a] - when[b]);
  const state = [0];
  const value = [0];
  let sum = 0;
  for (const i of order) {
    sum += changes.by[i];
    if (state[state.length - 1] !== when[i]) {
      state.push(when[i]);
      value.push(0);
    }
    value[value.length - 1] = sum;
  }
  return withoutRepeats(state, value);
}

function withoutRepeats(state, value) {
  const keep = [];
  for (let i = 0; i < state.length; i++) {
    if (i === 0 || value[i] !== value[keep[keep.length - 1]]) keep.push(i);
  }
  return {
    state: Uint32Array.from(keep, (i) => state[i]),
    value: Float64Array.from(keep, (i) => value[i]),
  };
}

/* The same from a whole curve, which is faster where changes are many. */
function stepsOfCurve(curve) {
  let n = 0;
  for (let p = 0; p < curve.length; p++) if (p === 0 || curve[p] !== curve[p - 1]) n++;
  const steps = { state: new Uint32Array(n), value: new Float64Array(n) };
  for (let p = 0, at = 0; p < curve.length; p++) {
    if (p > 0 && curve[p] === curve[p - 1]) continue;
    steps.state[at] = p;
    steps.value[at++] = curve[p];
  }
  return steps;
}

/** A step list of `each(add)`, which calls add(from, to, value) for states [from, to). */
export function stepList(states, few, each) {
  if (!few) {
    const curve = new Float64Array(states);
    each((from, to, value) => add(curve, from, to, value));
    return stepsOfCurve(running(curve));
  }
  const changes = { state: [], by: [] };
  const change = (state, by) => {
    if (state >= states) return;
    changes.state.push(state);
    changes.by.push(by);
  };
  each((from, to, value) => {
    change(from, value);
    change(to, -value);
  });
  return stepsOf(changes);
}

/** Mapped bytes, as a step list. */
export function reserved(model) {
  const { rows, born, end, bytes } = model.range;
  return stepList(model.states, rows * 16 < model.states, (step) => {
    for (let i = 0; i < rows; i++) step(born[i], end[i], bytes[i]);
  });
}

/** The first position of sorted `list` whose value is above `value`. */
export function firstAbove(list, value) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const mid = (low + high) >>> 1;
    if (list[mid] > value) high = mid;
    else low = mid + 1;
  }
  return low;
}

/** The value of a step list in state `p`. */
export function at(steps, p) {
  return steps.value[Math.max(0, firstAbove(steps.state, p) - 1)];
}

/* The earliest state with the largest value among states[from, to), or those states themselves. */
function largest(curve, states, from, to) {
  let best = states ? states[from] : from;
  for (let i = from + 1; i < to; i++) {
    const p = states ? states[i] : i;
    if (curve[p] > curve[best]) best = p;
  }
  return best;
}

/** The state of the maximum of every 64 states, of every 64 of those, and so on; the earliest on
 * ties. */
export function pyramid(curve) {
  const levels = [];
  let below = null;
  for (let n = curve.length; n > FAN; n = below.length) {
    const level = new Uint32Array(Math.ceil(n / FAN));
    for (let i = 0; i < level.length; i++) {
      level[i] = largest(curve, below, i * FAN, Math.min(n, (i + 1) * FAN));
    }
    levels.push(level);
    below = level;
  }
  return { curve, levels };
}

function climb(pyr, depth, from, to) {
  const { curve, levels } = pyr;
  const states = depth === 0 ? null : levels[depth - 1];
  const first = Math.ceil(from / FAN);
  const past = Math.floor(to / FAN);
  if (first >= past || depth === levels.length) return largest(curve, states, from, to);
  let best = climb(pyr, depth + 1, first, past);
  if (from < first * FAN) {
    const before = largest(curve, states, from, first * FAN);
    if (curve[before] >= curve[best]) best = before;
  }
  if (past * FAN < to) {
    const after = largest(curve, states, past * FAN, to);
    if (curve[after] > curve[best]) best = after;
  }
  return best;
}

/** The state in [a, b) with the largest value, the earliest on ties. */
export function peakIn(pyr, a, b) {
  const from = Math.min(Math.max(0, a), pyr.curve.length - 1);
  return climb(pyr, 0, from, Math.max(from + 1, Math.min(b, pyr.curve.length)));
}

/** The states [from, past) of which a model or cover has all: others have no figures. */
export function windowOf({ window, states }) {
  return window ?? [0, Math.max(1, states)];
}

/** The state of them that is next to `p`. */
export function heldState(model, p) {
  const [from, past] = windowOf(model);
  return Math.min(Math.max(from, Math.floor(p)), past - 1);
}

/** How often within [a, b) the curve comes to stand at the value it has in `state`. */
export function tiesAt(curve, state, a = 0, b = curve.length) {
  let ties = 0;
  for (let p = a; p < b; p++) {
    if (curve[p] === curve[state] && (p === a || curve[p - 1] !== curve[p])) ties++;
  }
  return ties;
}
