// paths.js - the call tree of a trace as columns: each distinct way down it once, by its parent.
//
// Of a path: `name`, a place in `names`; `kind`, one in `kinds`; `parent`, a smaller path, -1 for a
// root, which is a thread. `self` has a column for each weight of which any path has some.  Trees
// are as deep as what was recorded: nothing here calls itself.

const most = 2 ** 31 - 2;

function fail(what) {
  throw new Error(`${what}: damaged data; the file was altered`);
}

function column(array, type, rows, limit, what) {
  if (!Array.isArray(array) || array.length !== rows) fail(what);
  for (const n of array) if (!(typeof n === 'number' && n >= 0 && n < limit)) fail(what);
  return type.from(array);
}

function parentsOf(up) {
  return Int32Array.from(up, (n, i) => {
    if (!(Number.isInteger(n) && n >= 0 && n <= i)) fail('parents');
    return n === 0 ? -1 : i - n;
  });
}

/** The tree of a page's data. Fails where that is no tree. */
export function readPaths(data) {
  if (data?.schema !== 'vramscope.flame/1') fail('schema');
  const { names, kinds } = data;
  if (!Array.isArray(names) || !Array.isArray(kinds) || !Array.isArray(data.up)) fail('names');
  const count = data.up.length;
  if (count > most) fail('paths');
  const self = {};
  for (const [weight, values] of Object.entries(data.self ?? {})) {
    self[weight] = column(values, Float64Array, count, Infinity, weight);
  }
  return {
    count, names: names.map(String), kinds: kinds.map(String), self,
    parent: parentsOf(data.up),
    name: column(data.name, Uint32Array, count, names.length, 'name'),
    kind: column(data.kind, Uint8Array, count, kinds.length, 'kind'),
    calls: self.calls ?? new Float64Array(count),
  };
}

/** Sums over all that is below each path, itself too. */
export function totalsOf({ parent }, self) {
  const total = Float64Array.from(self);
  for (let p = total.length - 1; p >= 0; p--) if (parent[p] >= 0) total[parent[p]] += total[p];
  return total;
}

export function rootsOf({ count, parent }) {
  const roots = [];
  for (let p = 0; p < count; p++) if (parent[p] < 0) roots.push(p);
  return roots;
}

/** A function from a path to the paths below it that have any of `total`, the heaviest first. */
export function childrenOf({ count, parent }, total) {
  const first = new Uint32Array(count + 1);
  for (let p = 0; p < count; p++) if (parent[p] >= 0 && total[p] > 0) first[parent[p] + 1]++;
  for (let p = 0; p < count; p++) first[p + 1] += first[p];
  const next = first.slice();
  const list = new Uint32Array(first[count]);
  for (let p = 0; p < count; p++) if (parent[p] >= 0 && total[p] > 0) list[next[parent[p]]++] = p;
  for (let p = 0; p < count; p++) {
    if (first[p + 1] - first[p] > 1) list.subarray(first[p], first[p + 1]).sort(by(total));
  }
  return (p) => list.subarray(first[p], first[p + 1]);
}

/** Compares by weight, the heaviest first; of equals by number. */
export function by(total) {
  return (a, b) => total[b] - total[a] || a - b;
}

/* The paths as one walks down the tree, each with the step out of it: ~path. */
function walkOf({ count, parent }) {
  const first = new Int32Array(count).fill(-1);
  const next = new Int32Array(count).fill(-1);
  const roots = [];
  for (let p = count - 1; p >= 0; p--) {
    if (parent[p] < 0) roots.push(p);
    else [next[p], first[parent[p]]] = [first[parent[p]], p];
  }
  const walk = new Int32Array(2 * count);
  let at = 0;
  for (let p = roots.pop(); p !== undefined;) {
    walk[at++] = p;
    if (first[p] >= 0) {
      p = first[p];
      continue;
    }
    while (p >= 0) {
      walk[at++] = ~p;
      if (next[p] >= 0) break;
      p = parent[p];
    }
    p = p >= 0 ? next[p] : roots.pop();
  }
  return walk;
}

/** A row for each name that has some of the weight: { name, kind, self, total, calls }. What is
 * below a frame of the same name is in the total of the outer one, and counts once. */
export function byName(paths, self, total) {
  const { names, name, kind, calls, parent } = paths;
  const rows = new Map();
  const open = new Uint32Array(names.length);
  for (const step of walkOf(paths)) {
    const p = step < 0 ? ~step : step;
    const n = name[p];
    if (step < 0) {
      open[n]--;
      continue;
    }
    const isOutermost = open[n]++ === 0;
    if (total[p] <= 0 || parent[p] < 0) continue;
    if (!rows.has(n)) rows.set(n, { name: n, kind: kind[p], self: 0, total: 0, calls: 0 });
    const row = rows.get(n);
    row.self += self[p];
    row.calls += calls[p];
    if (isOutermost) row.total += total[p];
  }
  return [...rows.values()];
}
