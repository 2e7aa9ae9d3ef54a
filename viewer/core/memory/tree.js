// tree.js - flame graphs: what a set of allocations weighs by stack, and where the cells lie.
//
// A tree is columns: node 0 is the root, a parent's number is below its children's.  `frame` 0 is
// no frame; `special` tells the root (0), memory from before recording without a stack (1) and
// allocations without a stack (2) apart.

export const SPECIAL = { frame: 0, before: 1, unknown: 2 };

/** The weight of one allocation: a function from a row to a number. */
export function weightOf(model, weight) {
  const { bytes, born, end } = model.alloc;
  const { time, states } = model;
  const last = (r) => Math.min(end[r], states - 1);
  if (weight === 'count') return () => 1;
  if (weight === 'byte_time' && time) return (r) => bytes[r] * (time[last(r)] - time[born[r]]);
  return (r) => bytes[r];
}

/* Children found by (parent, frame): open addressing over the nodes made so far. */
function makeNodes() {
  let table = new Int32Array(1024).fill(-1);
  const nodes = { parent: [0], frame: [0], special: [0], self: [0], count: [0] };
  const place = (parent, frame, special) => {
    const { parent: parents, frame: frames, special: specials } = nodes;
    let at = (Math.imul(parent, 0x9e3779b1) ^ Math.imul(frame * 4 + special, 0x85ebca6b)) >>> 7;
    for (at &= table.length - 1; table[at] >= 0; at = (at + 1) & (table.length - 1)) {
      const n = table[at];
      if (parents[n] === parent && frames[n] === frame && specials[n] === special) break;
    }
    return at;
  };
  const grow = () => {
    table = new Int32Array(table.length * 2).fill(-1);
    for (let n = 1; n < nodes.parent.length; n++) {
      table[place(nodes.parent[n], nodes.frame[n], nodes.special[n])] = n;
    }
  };
  const child = (parent, frame, special = 0) => {
    const at = place(parent, frame, special);
    if (table[at] >= 0) return table[at];
    const n = nodes.parent.push(parent) - 1;
    nodes.frame.push(frame);
    nodes.special.push(special);
    nodes.self.push(0);
    nodes.count.push(0);
    table[at] = n;
    if (n * 2 > table.length) grow();
    return n;
  };
  return { nodes, child };
}

/* Weight and count by stack; row 0 of a stack table is none, told apart by birth. */
function byStack(model, rows, weight) {
  const { stack, born } = model.alloc;
  const value = weightOf(model, weight);
  const n = Math.max(model.stack.rows, 1);
  const got = { value: new Float64Array(n), count: new Float64Array(n), before: [0, 0] };
  for (let i = 0; i < rows.length; i++) {
    const r = rows[i];
    const s = stack[r];
    const v = value(r);
    got.value[s] += v;
    got.count[s]++;
    if (s === 0 && born[r] === 0) {
      got.before[0] += v;
      got.before[1]++;
    }
  }
  return got;
}

/* Caller rooted: a stack is a node, as its caller is; hidden frames are left out, what they hold
 * is their caller's. */
function placeDown(model, count, hide, child) {
  const { caller, frame, rows } = model.stack;
  const used = Uint8Array.from(count, (n) => (n > 0 ? 1 : 0));
  for (let s = rows - 1; s > 0; s--) if (used[s]) used[caller[s]] = 1;
  const node = new Uint32Array(count.length);
  for (let s = 1; s < rows; s++) {
    if (!used[s]) continue;
    const above = node[caller[s]];
    node[s] = hide && hide[frame[s]] ? above : child(above, frame[s]);
  }
  return node;
}

/* Callee rooted: the innermost frame first, then its callers outward. */
function placeUp(model, count, hide, child) {
  const { caller, frame, rows } = model.stack;
  const node = new Uint32Array(count.length);
  for (let leaf = 1; leaf < rows; leaf++) {
    if (!count[leaf]) continue;
    let at = 0;
    for (let s = leaf; s > 0; s = caller[s]) {
      if (!hide || !hide[frame[s]]) at = child(at, frame[s]);
    }
    node[leaf] = at;
  }
  return node;
}

function addSpecial(got, nodes, child) {
  const before = got.before;
  const none = [got.value[0] - before[0], got.count[0] - before[1]];
  for (const [special, [value, count]] of [[SPECIAL.before, before], [SPECIAL.unknown, none]]) {
    if (!count) continue;
    const n = child(0, 0, special);
    nodes.self[n] += value;
    nodes.count[n] += count;
  }
}

/* self to total: callers have the smaller numbers, so one loop downwards is enough. */
function totals(parent, self) {
  const total = Float64Array.from(self);
  for (let n = total.length - 1; n > 0; n--) total[parent[n]] += total[n];
  return total;
}

/* What of each node's weight is of the rows that `mask` has, by node; null without a mask. */
function matchedOf(model, rows, { weight = 'bytes', mask }, node, { parent, special }) {
  if (!mask) return null;
  const { value, before } = byStack(model, rows.filter((row) => mask[row]), weight);
  const self = new Float64Array(parent.length);
  for (let s = 1; s < node.length; s++) self[node[s]] += value[s];
  special.forEach((kind, n) => {
    if (kind === SPECIAL.before) self[n] += before[0];
    else if (kind === SPECIAL.unknown) self[n] += value[0] - before[0];
  });
  return totals(parent, self);
}

/** The tree of `rows`.  weight: bytes, count, byte_time (microseconds); root: caller
 * or callee; hide: Uint8Array of frames to leave out; mask: `matched` is what of each node is of
 * its rows. */
export function flame(model, rows, options = {}) {
  const { weight = 'bytes', root = 'caller', hide = null } = options;
  const got = byStack(model, rows, weight);
  const { nodes, child } = makeNodes();
  const node = (root === 'callee' ? placeUp : placeDown)(model, got.count, hide, child);
  for (let s = 1; s < node.length; s++) {
    nodes.self[node[s]] += got.value[s];
    nodes.count[node[s]] += got.count[s];
  }
  addSpecial(got, nodes, child);
  const parent = Uint32Array.from(nodes.parent);
  return {
    nodes: parent.length,
    parent,
    frame: Uint32Array.from(nodes.frame),
    special: Uint8Array.from(nodes.special),
    self: Float64Array.from(nodes.self),
    total: totals(parent, nodes.self),
    count: totals(parent, nodes.count),
    matched: matchedOf(model, rows, options, node, nodes),
  };
}

/** The nodes of a tree along the stack of allocation `row`, the root's child first. */
export function pathOf(model, tree, row, { root = 'caller', hide = null } = {}) {
  const { caller, frame } = model.stack;
  const frames = [];
  for (let s = model.alloc.stack?.[row] ?? 0; s > 0; s = caller[s]) {
    if (!hide || !hide[frame[s]]) frames.push(frame[s]);
  }
  if (root !== 'callee') frames.reverse();
  const path = [];
  // A child's number is above its parent's, so one pass is enough.
  for (let n = 1, at = 0; n < tree.nodes && path.length < frames.length; n++) {
    if (tree.parent[n] !== at || tree.special[n] || tree.frame[n] !== frames[path.length]) continue;
    path.push(n);
    at = n;
  }
  return path;
}

/** A function from a node to its children. */
export function childrenOf({ nodes, parent }) {
  const first = new Uint32Array(nodes + 1);
  for (let n = 1; n < nodes; n++) first[parent[n] + 1]++;
  for (let n = 0; n < nodes; n++) first[n + 1] += first[n];
  const next = first.slice();
  const list = new Uint32Array(Math.max(nodes - 1, 0));
  for (let n = 1; n < nodes; n++) list[next[parent[n]]++] = n;
  return (n) => list.subarray(first[n], first[n + 1]);
}

function sumOf(values, nodes) {
  return nodes.reduce((sum, n) => sum + values[n], 0);
}

/** The cells of a tree in `width` pixels: { node, depth, x, w, merged, total }, by depth and then
 * x, the heaviest child first.  Children narrower than a pixel are one cell: `merged` is how many
 * there are (0 in an ordinary cell), `total` their weight (`matched`, `a` and `b` where the tree
 * has them too), `node` the first of them. */
export function layout(tree, width, top = 0) {
  const { total } = tree;
  const scale = total[top] > 0 ? width / total[top] : 0;
  const children = childrenOf(tree);
  const cells = [{ node: top, depth: 0, x: 0, w: width, merged: 0, total: total[top] }];
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i];
    if (cell.merged || scale === 0) continue;
    const list = children(cell.node).slice().sort((a, b) => total[b] - total[a] || a - b);
    const depth = cell.depth + 1;
    let x = cell.x;
    let at = 0;
    for (; at < list.length && total[list[at]] * scale >= 1; at++) {
      const w = total[list[at]] * scale;
      cells.push({ node: list[at], depth, x, w, merged: 0, total: total[list[at]] });
      x += w;
    }
    if (at === list.length) continue;
    const under = list.subarray(at);
    const rest = sumOf(total, under);
    if (rest <= 0) continue;
    cells.push({ node: list[at], depth, x, w: rest * scale, merged: under.length, total: rest,
      ...(tree.matched ? { matched: sumOf(tree.matched, under) } : null),
      ...(tree.a ? { a: sumOf(tree.a, under), b: sumOf(tree.b, under) } : null) });
  }
  return cells;
}
