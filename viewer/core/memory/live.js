// live.js - who is alive in a state, and what they add up to by category, site, age and others.
import { bytes as sizeText } from '../model/human.js';
import { firstAbove } from './curves.js';

// Bits of flags: freed here but never allocated, and only in the final state.
const UNTRACED = 3;

/** The groupings, in the order in which the page goes through them. */
export const GROUPINGS = ['category', 'site', 'owner', 'module', 'phase', 'pool', 'stream', 'size',
  'age'];

/** Rows live in state `p`, in stack order: oldest first. */
export function liveAt(model, p) {
  const { born, end } = model.alloc;
  const past = firstAbove(born, p);
  let n = 0;
  for (let i = 0; i < past; i++) if (end[i] > p) n++;
  const rows = new Uint32Array(n);
  for (let i = 0, at = 0; i < past; i++) if (end[i] > p) rows[at++] = i;
  return rows;
}

/** Was it there before the recording began? */
export function isBefore(model, row) {
  const { born, flags } = model.alloc;
  return born[row] === 0 || (flags !== undefined && (flags[row] & UNTRACED) !== 0);
}

/* Groups under names as they come up; equal names are one group. */
function named(rows, nameOf) {
  const of = new Uint32Array(rows);
  const names = [];
  const ids = new Map();
  for (let i = 0; i < rows; i++) {
    const name = nameOf(i);
    let id = ids.get(name);
    if (id === undefined) {
      id = names.push(name) - 1;
      ids.set(name, id);
    }
    of[i] = id;
  }
  return { of: names.length <= 0xffff ? new Uint16Array(of) : of, names };
}

/* Groups that the rows number already. */
function listed(column, rows, names) {
  if (!column) return { of: new Uint8Array(rows), names: ['unknown'] };
  const of = column;
  let most = -1;
  for (let i = 0; i < rows; i++) if (of[i] > most) most = of[i];
  const all = names.slice();
  for (let id = all.length; id <= most; id++) all.push(`(${id})`);
  return { of, names: all.map((name) => name || 'unknown') };
}

/* By a text of the stack. What has none is told apart by whether it precedes the recording. */
function byStack(model, key) {
  const { rows, stack } = model.alloc;
  const ids = model.stack[key];
  const names = new Array(model.stack.rows);
  for (let s = 0; s < names.length; s++) names[s] = (ids && s > 0 && model.string[ids[s]]) || '';
  return named(rows, (i) => (stack && names[stack[i]])
    || (isBefore(model, i) ? 'before recording' : key === 'module' ? '(no module)' : '(no stack)'));
}

/* Powers of two from 512 bytes on: class k is below 512 << k. */
const SIZES = Float64Array.from({ length: 45 }, (_, k) => 512 * 2 ** k);
const AGES = Float64Array.from({ length: 11 }, (_, k) => 10 ** (k + 1));

function classOf(limits, n) {
  let k = 0;
  while (n >= limits[k]) k++;
  return k;
}

function sizeClass(k) {
  if (k === 0) return 'under 512 B';
  return `${sizeText(SIZES[k - 1])} to ${sizeText(SIZES[k])}`;
}

function ageClass(k) {
  if (k === 0) return 'under 10 events';
  return `${AGES[k - 1]} to ${AGES[k]} events`;
}

/* The classes that occur, in order, as groups. */
function classes(rows, classAt, nameOf) {
  const of = new Uint8Array(rows);
  const seen = new Uint8Array(256);
  for (let i = 0; i < rows; i++) {
    of[i] = classAt(i);
    seen[of[i]] = 1;
  }
  const names = [];
  const group = new Uint8Array(256);
  seen.forEach((is, k) => {
    if (is) group[k] = names.push(nameOf(k)) - 1;
  });
  for (let i = 0; i < rows; i++) of[i] = group[of[i]];
  return { of, names };
}

const AGE_BEFORE = 254;
const AGE_LATER = 255;

function byAge(model, p) {
  const { rows, born } = model.alloc;
  const special = { [AGE_BEFORE]: 'before recording', [AGE_LATER]: 'not yet' };
  return classes(rows, (i) => (isBefore(model, i) ? AGE_BEFORE
    : born[i] > p ? AGE_LATER : classOf(AGES, p - born[i])), (k) => special[k] ?? ageClass(k));
}

/** The group of every row: {of, names}. `p` is the state ages are counted to. */
export function grouping(model, by, p = model.states - 1) {
  const { alloc, head } = model;
  const { rows, bytes } = alloc;
  switch (by) {
    case 'category':
      return listed(alloc.cat, rows, (head.categories ?? []).map((c) => c.name ?? c));
    case 'phase': return listed(alloc.phase, rows, head.phases ?? []);
    case 'pool': return listed(alloc.pool, rows, head.pools ?? []);
    case 'stream': return listed(alloc.stream, rows, head.streams ?? []);
    case 'site': return byStack(model, model.stack.site ? 'site' : 'culprit');
    case 'owner':
    case 'module': return byStack(model, by);
    case 'size': return classes(rows, (i) => classOf(SIZES, bytes[i]), sizeClass);
    case 'age': return byAge(model, p);
    default: throw new Error(`no grouping is called ${by}`);
  }
}

/* Larger first; then names, by code units so that no locale changes the order. */
function byBytes(a, b) {
  if (a.bytes !== b.bytes) return b.bytes - a.bytes;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : a.key - b.key;
}

/**
 * What rows add up to in each group: a list of {key, name, bytes, count, largest, since} with most
 * bytes first; `since` is the state in which the oldest was born. The list has `total`, which is
 * their sum: {bytes, count}. `by` is a name or what `grouping` gave.
 */
export function groupRows(model, rows, by, p = model.states - 1) {
  const { of, names } = typeof by === 'string' ? grouping(model, by, p) : by;
  const groups = new Map();
  const total = { bytes: 0, count: rows.length };
  for (const row of rows) {
    const bytes = model.alloc.bytes[row];
    const key = of[row];
    let group = groups.get(key);
    if (!group) {
      group = { key, name: names[key], bytes: 0, count: 0, largest: 0, since: Infinity };
      groups.set(key, group);
    }
    group.bytes += bytes;
    group.count++;
    if (bytes > group.largest) group.largest = bytes;
    if (model.alloc.born[row] < group.since) group.since = model.alloc.born[row];
    total.bytes += bytes;
  }
  return Object.assign([...groups.values()].sort(byBytes), { total });
}

/** The rows of a stack (in stack order, on `base` bytes) that touch bytes [low, high) of it: what a
 * pixel stands for. {rows, bytes, count} */
export function pileBetween(model, rows, low, high, base = model.adjust) {
  const { bytes } = model.alloc;
  const found = [];
  let sum = base;
  let held = 0;
  for (const row of rows) {
    const next = sum + bytes[row];
    if (sum >= high) break;
    if (next > low && next > sum) {
      found.push(row);
      held += bytes[row];
    }
    sum = next;
  }
  return { rows: Uint32Array.from(found), bytes: held, count: found.length };
}

/** Rows of the same site as `row`: how many ever, and live in state `p`. */
export function sameSite(model, row, p) {
  const { stack, born, end, rows } = model.alloc;
  const sites = model.stack.site ?? model.stack.culprit;
  const site = sites && stack ? sites[stack[row]] : 0;
  let ever = 0;
  let live = 0;
  for (let i = 0; site > 0 && i < rows; i++) {
    if (sites[stack[i]] !== site) continue;
    ever++;
    if (born[i] <= p && p < end[i]) live++;
  }
  return { ever, live };
}
