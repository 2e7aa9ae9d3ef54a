// answers.js - the operations that need no picture: figures, groups, one allocation, a range.
import { adjustAt, at, heldState, sumsOf, tiesAt, windowOf } from './curves.js';
import { rangeFacts } from './range.js';
import { groupRows, grouping, liveAt, pileBetween } from './live.js';
import { areNamed, leftOf, peel } from './peel.js';
import { rowFacts } from './row.js';
import { steps } from './steps.js';

const PILE_MOST = 200;

function stateOf(d, p) {
  return heldState(d.model, p ?? d.peak());
}

/* `birth` is an order of the stack, not a grouping. */
function groupsOf(d, by, p) {
  const name = !by || by === 'birth' ? 'category' : by;
  return name === 'age' ? grouping(d.model, name, p) : d.grouping(name);
}

/* Rows of groups, each with the category of all its allocations; null where they are of several. */
function categorised({ alloc, head }, alive, { of }, rows) {
  const found = new Map();
  for (const row of alloc.cat ? alive : []) {
    const known = found.get(of[row]);
    if (known === undefined) found.set(of[row], alloc.cat[row]);
    else if (known !== alloc.cat[row]) found.set(of[row], null);
  }
  const names = head.categories ?? [];
  return Array.from(rows, (row) => {
    const id = found.get(row.key) ?? null;
    return { ...row, category: id === null ? null : names[id]?.name ?? names[id] };
  });
}

/* The groups that are taken out, as rows of who is alive: each has its bytes of `all`, or none. */
function rowsOut(d, { by, names }, all) {
  const found = new Map(groupRows(d.model, all, d.grouping(by)).map((row) => [row.key, row]));
  const groups = d.grouping(by);
  const out = areNamed(groups, names);
  return groups.names.flatMap((name, key) => (out[key] ? { key, name, site: groups.sites?.[key],
    bytes: 0, count: 0, largest: null, since: null, ...found.get(key), out: true } : []));
}

/* Adds to the rows of groups how many of their bytes a search finds. */
function addMatched({ alloc }, alive, { of }, mask, rows) {
  const found = new Map();
  for (const row of alive) {
    if (mask[row]) found.set(of[row], (found.get(of[row]) ?? 0) + alloc.bytes[row]);
  }
  for (const row of rows) row.matched = found.get(row.key) ?? 0;
}

/* {state, by, without, mask}: who is alive. `bytes` is the curve, with what no allocation explains
 * (`adjust`); `alive` is without, and what shares are of. Groups that are taken out are in `out`
 * alone, where they are of this grouping; what was reserved is not known without them. */
function* live(d, { state, by, without = null, mask = null }) {
  const { model } = d;
  const left = leftOf(d, without);
  left.curve();
  yield;
  const p = stateOf(d, state);
  const groups = groupsOf(d, by, p);
  yield;
  const all = liveAt(model, p);
  const alive = left.stays ? all.filter((i) => left.stays[i]) : all;
  yield;
  const rows = groupRows(model, alive, groups, p);
  if (mask) addMatched(model, alive, groups, mask, rows);
  const { active, pending } = sumsOf(model, alive, p);
  const adjust = adjustAt(model, p);
  return {
    state: p, rows: categorised(model, alive, groups, rows), count: rows.total.count, adjust,
    out: without && without.by === by ? rowsOut(d, without, all) : [],
    alive: rows.total.bytes, bytes: rows.total.bytes + adjust, requested: left.curve()[p],
    pending, reserved: model.range.rows && !without ? at(d.reserved(), p) : null,
    active: model.alloc.pad ? active : null,
    time: model.time ? model.time[p] : null,
    ties: tiesAt(left.curve(), p, ...windowOf(model)),
    names: groups.names.map((name, key) => ({ key, name, site: groups.sites?.[key],
      bare: groups.bare?.[key] })),
  };
}

/* Groups of two states side by side; rows add up to the difference of the curves. */
function changeRows(d, a, b, by, stays) {
  const { model } = d;
  const rows = new Map();
  const put = (p, bytes, count) => {
    const all = liveAt(model, p);
    const alive = stays ? all.filter((i) => stays[i]) : all;
    for (const g of groupRows(model, alive, groupsOf(d, by, b))) {
      const row = rows.get(g.key)
        ?? { key: g.key, name: g.name, site: g.site, a: 0, b: 0, delta: 0, countA: 0, countB: 0 };
      row[bytes] = g.bytes;
      row[count] = g.count;
      rows.set(g.key, row);
    }
  };
  put(a, 'a', 'countA');
  put(b, 'b', 'countB');
  const list = [...rows.values()];
  const [atA, atB] = [adjustAt(model, a), adjustAt(model, b)];
  if (atA !== 0 || atB !== 0) {
    list.push({ key: -1, name: 'unattributed', a: atA, b: atB, delta: 0, countA: 0, countB: 0 });
  }
  for (const row of list) row.delta = row.b - row.a;
  return list.sort((x, y) => Math.abs(y.delta) - Math.abs(x.delta) || y.b - x.b
    || (x.name < y.name ? -1 : x.name > y.name ? 1 : x.key - y.key));
}

/* {a, b, by, without}: what happened between two states, and the groups at both. */
function range(d, args) {
  const [a, b] = [stateOf(d, args.a), stateOf(d, args.b)].sort((x, y) => x - y);
  const { time } = d.model;
  const { curve, stays } = leftOf(d, args.without);
  const facts = rangeFacts(d.model, curve(), a, b, stays);
  return { ...facts, born: facts.counts.churn, times: time ? [time[a], time[b]] : null,
    rows: changeRows(d, a, b, args.by, stays) };
}

/* {state, low, high, by, without}: what a pixel stands for, bytes [low, high) of the stack. */
function pile(d, { state, low, high, by, without }) {
  const { model } = d;
  const p = stateOf(d, state);
  const { born, end } = model.alloc;
  const grouped = by && by !== 'birth';
  const { stays } = leftOf(d, without);
  const all = grouped
    ? d.order(by).filter((i) => born[i] <= p && p < end[i]) : liveAt(model, p);
  const alive = stays ? all.filter((i) => stays[i]) : all;
  const found = pileBetween(model, alive, low, high, adjustAt(model, p));
  return { state: p, count: found.count, bytes: found.bytes,
    rows: Array.from(found.rows.subarray(0, PILE_MOST),
      (id) => ({ id, bytes: model.alloc.bytes[id], born: born[id] })) };
}

/** Operations by name; each takes a device and arguments. */
export const answers = {
  live,
  range,
  pile,
  peel,
  row: (d, { id, state, columns }) => rowFacts(d, id, stateOf(d, state), columns),
  steps: (d, args) => steps(leftOf(d, args.without), args),
};
