// diff.js - what changed between two live sets: rows by line or group that sum to the difference.
import { bytes as sizeText } from '../model/human.js';

const STAGES = ['M0', 'M1', 'M2', 'M3', 'M4', 'small'];

/* Bytes, count and the row that stands for each group of a side.  A side is { model, rows,
 * grouping }, grouping { of, names } as live.js makes them, or { keyOf(row), nameOf(key, row),
 * weight(row) }. */
function sumSide({ model, rows, grouping }) {
  const { of, names, keyOf, nameOf, weight, placeOf: place } = grouping;
  const { bytes } = model.alloc;
  const heavy = weight ?? ((r) => bytes[r]);
  const groups = new Map();
  for (const r of rows) {
    const key = keyOf ? keyOf(r) : of[r];
    let group = groups.get(key);
    if (!group) groups.set(key, group = { key, bytes: 0, count: 0, row: r });
    group.bytes += bytes[r];
    group.count++;
    if (heavy(r) > heavy(group.row)) group.row = r;
  }
  for (const group of groups.values()) {
    group.name = (nameOf ? nameOf(group.key, group.row) : names[group.key]) ?? '';
    group.place = place?.(group.key, group.row) ?? null;
  }
  return groups;
}

/* What `vramscope diff --json` says of a stack besides its line. */
function placeOf({ stack, string }, s) {
  const text = (column) => (stack[column] ? string[stack[column][s]] : '');
  return { owner: text('owner'), operator: text('runs'), innermost: text('innermost'),
    from: text('called_from') };
}

/* Groups by the matches of the core.  What has none is told apart as `pair.keyless` says. */
function byMatch({ model, rows }, match, stage, { keyless, first }) {
  const { alloc, stack, string, head } = model;
  const held = new Float64Array(stack.rows);
  for (const r of rows) held[alloc.stack[r]] += alloc.bytes[r];
  const part = { category: (r) => alloc.cat[r], size: (r) => alloc.bytes[r] }[keyless] ?? (() => 0);
  const rest = { category: (k) => ` ${head.categories[k].name}`, size: (k) => ` ${sizeText(k)}` };
  return {
    keyOf: (r) => match?.[alloc.stack[r]] || `-${part(r)}`,
    nameOf: (key, r) => (typeof key === 'string'
      ? `(no stack)${rest[keyless]?.(Number(key.slice(1))) ?? ''}`
      : stage.stage[key - 1] === 5 ? 'small' : string[stack.culprit[alloc.stack[r]]]),
    placeOf: (key, r) => (typeof key === 'string' || stage.stage[key - 1] === 5 ? null
      : placeOf(model, alloc.stack[r])),
    // The stack with most bytes, of equal ones the first.
    weight: (r) => held[alloc.stack[r]] - alloc.stack[r] / stack.rows / 2,
    stageOf: (key, both) => (typeof key === 'string' ? { stage: STAGES[both ? first : 4] }
      : { stage: STAGES[stage.stage[key - 1]], score: stage.score[key - 1] / 1e6 }),
  };
}

/** The sides, grouped as the core matched them: `pair` is one of the head's diff, `ends` the
 * { file, dev, state } of both, `tables` decodes (tables, name). */
export async function matched(sides, pair, ends, tables) {
  const is = ({ file, dev }, side) => side.file === file && side.device === dev;
  const names = is(ends[0], pair.a) && is(ends[1], pair.b) ? ['a', 'b'] : ['b', 'a'];
  const scope = ends.every(({ state }, i) => state === pair[names[i]].peak_state) ? 'peak' : 'ever';
  const stage = await tables(pair.tables, scope);
  const match = await Promise.all(names.map((name) => tables(pair.tables, name)));
  return sides.map((side, i) => ({ ...side,
    grouping: byMatch(side, match[i]?.[scope], stage, pair) }));
}

function statusOf(a, b, stage) {
  if (!a) return 'new';
  if (!b) return 'gone';
  if (stage === 'M3') return 'moved';
  if (a.bytes === b.bytes && a.count === b.count) return 'same';
  return b.bytes > a.bytes || (b.bytes === a.bytes && b.count > a.count) ? 'grown' : 'shrunk';
}

function rowOf(a, b, { stage = null, score = null } = {}) {
  const [aBytes, bBytes] = [a ? a.bytes : 0, b ? b.bytes : 0];
  const [aCount, bCount] = [a ? a.count : 0, b ? b.count : 0];
  return {
    name: (b ?? a).name,
    aName: (a ?? b).name,
    aKey: a ? a.key : -1,
    bKey: b ? b.key : -1,
    a: aBytes,
    b: bBytes,
    delta: bBytes - aBytes,
    aCount,
    bCount,
    deltaCount: bCount - aCount,
    status: statusOf(a, b, stage),
    place: (b ?? a).place ?? null,
    stage,
    score: stage === 'M3' ? score : null,
    aRow: a ? a.row : -1,
    bRow: b ? b.row : -1,
  };
}

/* Keys of both sides that are one group: equal ones where both number alike, else by names. */
function pairsOf(a, b, groupsA, groupsB) {
  if (a.grouping.keyOf || (a.model === b.model && a.grouping === b.grouping)) {
    return [...groupsA.keys()].filter((key) => groupsB.has(key)).map((key) => [key, key]);
  }
  const named = new Map();
  for (const [key, { name }] of groupsB) if (!named.has(name)) named.set(name, key);
  return [...groupsA.values()].filter(({ name }) => named.has(name))
    .map(({ key, name }) => [key, named.get(name)]);
}

/** Rows that share what `same(row)` gives. */
function alike(rows, same) {
  const groups = new Map();
  for (const row of rows) {
    const key = JSON.stringify(same(row));
    if (groups.has(key)) groups.get(key).push(row);
    else groups.set(key, [row]);
  }
  return [...groups.values()].filter((group) => group.length > 1);
}

/* Rows of one line get the words that tell them apart, as those of `vramscope diff`: the line of
 * the owner, the operator, and where all these are one, the line below or above that differs. */
function tellApart(rows) {
  const owner = ({ place }) => place?.owner ?? '';
  const operator = ({ place }) => place?.operator ?? '';
  const called = new Map();
  const add = (row, words) => { if (words) called.set(row, (called.get(row) ?? '') + words); };
  for (const group of alike(rows, ({ name }) => name)) {
    for (const row of group) called.set(row, owner(row) || row.name);
  }
  for (const group of alike(rows, (row) => [row.name, owner(row)])) {
    for (const row of group) add(row, operator(row) && `: ${operator(row)}`);
  }
  for (const group of alike(rows, (row) => [row.name, owner(row), operator(row)])) {
    const differs = (of) => new Set(group.map(({ place }) => place?.[of] ?? '')).size > 1;
    const [above, below] = [differs('from'), differs('innermost')];
    for (const row of group) {
      const { from, innermost } = row.place ?? {};
      add(row, above && from ? `, called from ${from}` : below && innermost && `, at ${innermost}`);
    }
  }
  for (const [row, name] of called) {
    if (row.aName === row.name) row.aName = name;
    row.name = name;
  }
}

/* What both curves have beneath the allocations. */
function unattributed(a, b) {
  const [aBytes, bBytes] = [a, b].map(({ model, adjust = model.adjust || 0 }) => adjust);
  if (aBytes === 0 && bBytes === 0) return [];
  const row = rowOf({ key: -1, name: 'unattributed', bytes: aBytes, count: 0, row: -1 },
    { key: -1, name: 'unattributed', bytes: bBytes, count: 0, row: -1 });
  return [{ ...row, status: aBytes === bBytes ? 'same' : row.status }];
}

function byChange(x, y) {
  return Math.abs(y.delta) - Math.abs(x.delta) || y.b - x.b ||
    (x.name < y.name ? -1 : x.name > y.name ? 1 : x.bKey - y.bKey || x.aKey - y.aKey);
}

/** Rows are { name, aName, a, b, delta, aCount, bCount, deltaCount, status, stage, score, aRow,
 * bRow (an allocation that stands for it, -1 none) }, largest change first.  Where there is any, a
 * row unattributed is added, so that they sum to the difference of the curves: total. */
export function diffRows(a, b) {
  const groupsA = sumSide(a);
  const groupsB = sumSide(b);
  const rows = unattributed(a, b);
  const stageOf = a.grouping.stageOf ?? (() => undefined);
  for (const [one, two] of pairsOf(a, b, groupsA, groupsB)) {
    rows.push(rowOf(groupsA.get(one), groupsB.get(two), stageOf(one, true)));
    groupsA.delete(one);
    groupsB.delete(two);
  }
  for (const one of groupsA.values()) rows.push(rowOf(one, null, stageOf(one.key)));
  for (const two of groupsB.values()) rows.push(rowOf(null, two, stageOf(two.key)));
  tellApart(rows);
  const total = { a: 0, b: 0, delta: 0, aCount: 0, bCount: 0, deltaCount: 0 };
  for (const row of rows) for (const key of Object.keys(total)) total[key] += row[key];
  return { rows: rows.sort(byChange), total };
}
