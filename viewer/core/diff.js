// diff.js - what changed between two live sets: rows by site or group that sum to the difference.

/* Bytes, count and the largest allocation of each group of a side's rows.  A side is { model, rows,
 * grouping }, grouping { of, names } as live.js makes them; without it groups are sites. */
function sumSide({ model, rows, grouping }) {
  const { alloc, stack, string } = model;
  const siteOf = (r) => (stack.site ? stack.site[alloc.stack[r]] : 0);
  const of = grouping ? (r) => grouping.of[r] : siteOf;
  const groups = new Map();
  for (let i = 0; i < rows.length; i++) {
    const r = rows[i];
    const key = of(r);
    let group = groups.get(key);
    if (!group) {
      const name = grouping ? grouping.names[key] : string[key];
      group = { key, name: name ?? '', bytes: 0, count: 0, row: r };
      groups.set(key, group);
    }
    group.bytes += alloc.bytes[r];
    group.count++;
    if (alloc.bytes[r] > alloc.bytes[group.row]) group.row = r;
  }
  return groups;
}

function statusOf(a, b, stage) {
  if (!a) return 'new';
  if (!b) return 'gone';
  if (stage === 'M3') return 'moved';
  if (a.bytes === b.bytes && a.count === b.count) return 'same';
  return b.bytes > a.bytes || (b.bytes === a.bytes && b.count > a.count) ? 'grown' : 'shrunk';
}

function rowOf(a, b, pair) {
  const [aBytes, bBytes] = [a ? a.bytes : 0, b ? b.bytes : 0];
  const [aCount, bCount] = [a ? a.count : 0, b ? b.count : 0];
  return {
    name: (b ?? a).name,
    aKey: a ? a.key : -1,
    bKey: b ? b.key : -1,
    a: aBytes,
    b: bBytes,
    delta: bBytes - aBytes,
    aCount,
    bCount,
    deltaCount: bCount - aCount,
    status: statusOf(a, b, pair && pair.stage),
    stage: pair ? pair.stage ?? null : null,
    score: pair ? pair.score ?? null : null,
    aRow: a ? a.row : -1,
    bRow: b ? b.row : -1,
  };
}

/* Pairs by equal names, or by equal keys within one recording. */
function pairsOf(a, b, groupsA, groupsB) {
  if (a.model === b.model && a.grouping === b.grouping) {
    return [...groupsA.keys()].map((key) => ({ a: key, b: key }));
  }
  const named = new Map();
  for (const [key, { name }] of groupsB) if (!named.has(name)) named.set(name, key);
  return [...groupsA.values()].filter(({ name }) => named.has(name))
    .map(({ key, name }) => ({ a: key, b: named.get(name) }));
}

/* What both curves have beneath the allocations. */
function unattributed(a, b) {
  const [aBytes, bBytes] = [a.model.adjust || 0, b.model.adjust || 0];
  if (aBytes === 0 && bBytes === 0) return [];
  const row = rowOf({ key: -1, name: 'unattributed', bytes: aBytes, count: 0, row: -1 },
    { key: -1, name: 'unattributed', bytes: bBytes, count: 0, row: -1 }, null);
  return [{ ...row, status: aBytes === bBytes ? 'same' : row.status }];
}

function byChange(x, y) {
  return Math.abs(y.delta) - Math.abs(x.delta) || y.b - x.b ||
    (x.name < y.name ? -1 : x.name > y.name ? 1 : x.bKey - y.bKey || x.aKey - y.aKey);
}

/** pairs: [{ a, b, stage, score }], keys of groups of both sides (site: its string's number), each
 * key at most once; null pairs equal names.  Rows are { name, a, b, delta, aCount, bCount,
 * deltaCount, status, stage, score, aRow, bRow (a representative allocation, -1 none) }, largest
 * change first.  With `curve` a row unattributed is added, so that they sum to the difference of
 * the curves.  total is their sum. */
export function diffRows(a, b, pairs = null, { curve = true } = {}) {
  const groupsA = sumSide(a);
  const groupsB = sumSide(b);
  const rows = curve ? unattributed(a, b) : [];
  for (const pair of pairs ?? pairsOf(a, b, groupsA, groupsB)) {
    const one = groupsA.get(pair.a);
    const two = groupsB.get(pair.b);
    if (!one && !two) continue;
    rows.push(rowOf(one, two, pair));
    groupsA.delete(pair.a);
    groupsB.delete(pair.b);
  }
  for (const one of groupsA.values()) rows.push(rowOf(one, null, null));
  for (const two of groupsB.values()) rows.push(rowOf(null, two, null));
  const total = { a: 0, b: 0, delta: 0, aCount: 0, bCount: 0, deltaCount: 0 };
  for (const row of rows) for (const key of Object.keys(total)) total[key] += row[key];
  return { rows: rows.sort(byChange), total };
}

/** The first `most` rows and one row `small (n)` for the rest, so that the sum stays. */
export function foldSmall(rows, most) {
  if (rows.length <= most) return rows;
  const rest = rows.slice(most);
  const sum = (key) => rest.reduce((n, row) => n + row[key], 0);
  const [a, b, aCount, bCount] = ['a', 'b', 'aCount', 'bCount'].map(sum);
  return [...rows.slice(0, most), {
    name: `small (${rest.length})`, aKey: -1, bKey: -1, a, b, delta: b - a, aCount, bCount,
    deltaCount: bCount - aCount, status: 'small', stage: null, score: null, aRow: -1, bRow: -1,
    folded: rest.length,
  }];
}
