// list.js - single allocations as rows: those alive in a state, or those that a search found.
import { heldState } from './curves.js';
import { isBefore, liveAt } from './live.js';
import { leftOf } from './peel.js';
import { ratio } from '../model/human.js';
import { tensorName } from './tensors.js';

/** Rows of an answer at most. */
export const MOST = 2000;

/** Columns that are names of the grouping of the same name. */
const NAMED = ['line', 'category', 'stream', 'pool'];

/** The value at place `k` of ascending `keys`, which quickselect moves around. */
function valueAt(keys, k) {
  let [low, high] = [0, keys.length - 1];
  while (low < high) {
    const pivot = keys[(low + high) >> 1];
    let [i, j] = [low, high];
    while (i <= j) {
      while (keys[i] < pivot) i++;
      while (keys[j] > pivot) j--;
      if (i > j) break;
      const moved = keys[i];
      keys[i++] = keys[j];
      keys[j--] = moved;
    }
    if (k <= j) high = j;
    else if (k >= i) low = i;
    else break;
  }
  return keys[k];
}

/* Of each group its place among the names, by code units. */
function ranksOf(names) {
  const order = [...names.keys()].sort((a, b) => (names[a] < names[b] ? -1 : 1));
  const ranks = new Uint32Array(names.length);
  order.forEach((group, rank) => { ranks[group] = rank; });
  return ranks;
}

/* What a row is sorted by: a function to numbers, NaN where it is not known. */
function valueOf(d, id) {
  const { alloc: { bytes, born, end }, states } = d.model;
  if (NAMED.includes(id)) {
    const { of, names } = d.grouping(id);
    const ranks = ranksOf(names);
    return (r) => ranks[of[r]];
  }
  return {
    bytes: (r) => bytes[r],
    born: (r) => born[r],
    end: (r) => (end[r] < states ? end[r] : NaN),
    life: (r) => Math.min(end[r], states) - born[r],
    id: (r) => r,
  }[id] ?? ((r) => bytes[r]);
}

/* The first `most` of `rows`, in birth order, by a value; equal ones stay in that order, and what
 * is not known is last. */
function firstOf(rows, value, descending, most) {
  const keys = new Float64Array(rows.length);
  for (let i = 0; i < keys.length; i++) {
    const v = value(rows[i]);
    keys[i] = Number.isNaN(v) ? Infinity : descending ? -v : v;
  }
  const n = Math.min(most, rows.length);
  const limit = n < rows.length ? valueAt(keys.slice(), n - 1) : Infinity;
  const found = [];
  // Of those at the limit there is room for some.
  let equal = n;
  for (let i = 0; i < keys.length; i++) if (keys[i] < limit) equal--;
  for (let i = 0; i < keys.length; i++) {
    if (keys[i] < limit || (keys[i] === limit && equal-- > 0)) found.push(i);
  }
  return found.sort((a, b) => (keys[a] === keys[b] ? a - b : keys[a] - keys[b]))
    .map((i) => rows[i]);
}

function rowOf(d, id, names, alive) {
  const { model } = d;
  const { bytes, born, end } = model.alloc;
  const open = end[id] >= model.states;
  return { id, bytes: bytes[id], part: ratio(bytes[id], alive), born: born[id],
    end: open ? null : end[id], before: isBefore(model, id),
    life: Math.min(end[id], model.states) - born[id], open: open || isBefore(model, id),
    tensor: tensorName(model, id), ...names(id) };
}

function matching(mask, count) {
  const rows = new Uint32Array(count);
  for (let r = 0, n = 0; n < count; r++) if (mask[r]) rows[n++] = r;
  return rows;
}

function sumOf({ alloc: { bytes } }, rows) {
  let sum = 0;
  for (let i = 0; i < rows.length; i++) sum += bytes[rows[i]];
  return sum;
}

/**
 * {of, state, sort, without, most}: the first rows by `sort` {id, descending} of those alive in a
 * state, or
 * of the matches: `mask` says which they are.  `count` and `bytes` are of all of them, `alive` is
 * the sum of what is alive in the state.
 */
export function* listWork(d, { of, state, sort, without = null, most = MOST }, found) {
  const { model } = d;
  const p = heldState(model, state ?? d.peak());
  const groupings = [];
  for (const by of NAMED) {
    groupings.push([by, d.grouping(by)]);
    yield;
  }
  const { stays } = leftOf(d, without);
  const left = (rows) => (stays ? rows.filter((row) => stays[row]) : rows);
  const live = left(liveAt(model, p));
  const rows = of === 'alive' ? live : left(matching(found.mask, found.count));
  yield;
  const { id = 'bytes', descending = true } = sort ?? {};
  const first = firstOf(rows, valueOf(d, id), descending, Math.min(most, MOST));
  yield;
  const alive = sumOf(model, live);
  const names = (row) => Object.fromEntries(groupings.map(([name, groups]) =>
    [name, groups.names[groups.of[row]]]));
  return { of, state: p, count: rows.length, bytes: of === 'alive' ? alive : sumOf(model, rows),
    alive, rows: first.map((row) => rowOf(d, row, names, alive)) };
}
