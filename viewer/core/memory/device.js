// device.js - one device as the operations see it: its model, and what is made of it once.
import { peakIn, pyramid, requested, reserved, windowOf } from './curves.js';
import { differences } from './check.js';
import { columnEdges, shownStates, timeColumns, timeEdges } from './columns.js';
import { grouping, groupRows, liveAt } from './live.js';

/** A function that makes its value at the first call and keeps it. */
export function once(make) {
  let made = null;
  return () => (made ??= { value: make() }).value;
}

/* Values by key, the last few of them. */
function remembered(make, most) {
  const kept = new Map();
  return (key, ...rest) => {
    if (!kept.has(key)) {
      if (kept.size >= most) kept.delete(kept.keys().next().value);
      kept.set(key, make(key, ...rest));
    }
    return kept.get(key);
  };
}

/* Groups from the bottom of the stack: categories as the head lists them, what is of none on top;
 * others by their bytes at the peak, the largest on top, as in a list. What has no line lies at the
 * bottom, since most of it never moves. */
function bandsOf(d, by) {
  const { names, bare = [] } = d.grouping(by);
  const bands = Uint32Array.from(names.keys());
  if (by === 'category') {
    return bands.sort((a, b) => (names[a] === 'unknown') - (names[b] === 'unknown') || a - b);
  }
  const at = new Float64Array(names.length);
  for (const g of groupRows(d.model, liveAt(d.model, d.peak()), d.grouping(by))) {
    at[g.key] = g.bytes;
  }
  const isBare = (key) => Number(bare[key] !== undefined);
  return bands.sort((a, b) => isBare(b) - isBare(a) || at[a] - at[b] || b - a);
}

/* Rows in stack order when groups lie on one another: by group, then by birth. */
function orderOf(d, by) {
  const { of, names } = d.grouping(by);
  const first = new Uint32Array(names.length);
  const count = new Uint32Array(names.length);
  const { rows } = d.model.alloc;
  for (let i = 0; i < rows; i++) count[of[i]]++;
  let at = 0;
  for (const g of d.bands(by)) {
    first[g] = at;
    at += count[g];
  }
  const order = new Uint32Array(rows);
  for (let i = 0; i < rows; i++) order[first[of[i]]++] = i;
  return order;
}

/** The shown states of a view x: {mode: events | time, from, to} in W columns, with the edges
 * between columns and the span of states. */
export function columnsOf(d, { mode, from, to }, W) {
  const { model } = d;
  const timed = mode === 'time' && model.time;
  const shown = timed ? timeColumns(model, d.pyramid(), from, to, W)
    : shownStates(d.pyramid(), from, to, W);
  const edges = timed ? timeEdges(model.time, from, to, W)
    : columnEdges(from, to, W, model.states);
  return { shown, edges, span: [edges[0], Math.max(edges[W], edges[0] + 1)] };
}

/** What operations take. Curves and groupings are made when they are first asked for. */
export function createDevice(model, cover = null) {
  const d = { model, cover };
  d.curve = once(() => requested(model));
  d.pyramid = once(() => pyramid(d.curve()));
  d.peak = once(() => peakIn(d.pyramid(), ...windowOf(model)));
  d.reserved = once(() => reserved(model));
  d.differences = once(() => differences(model, { curve: d.curve(), reserved: d.reserved() }));
  // Ages are counted to a state: `age@12`.
  d.grouping = remembered((key) => {
    const [by, p] = key.split('@');
    return grouping(model, by, p === undefined ? p : Number(p));
  }, 12);
  d.bands = remembered((by) => bandsOf(d, by), 12);
  d.order = remembered((by) => orderOf(d, by), 3);
  d.columns = (x, W) => columnsOf(d, x, W);
  return d;
}
