// trees.js - the two trees that are drawn of one weight: as it was called, and from the innermost
// frame outwards.
//
// Both are { top, name, kind, self, total, calls, parent, children, key, find }: functions from a
// node to what it has. `name` is a place in the names, or less than none: the sum of all, or frames
// that are left out.  A key says in a link which node is meant.
import { by, childrenOf, rootsOf, totalsOf } from './paths.js';

export const nameOfAll = -1;
export const nameOfRest = -2;
// Frames of one stack that are drawn from the innermost on: as in the other formats.
export const framesMost = 1024;

/** As it was called: a node is a path, plus 1; 0 is the sum of several threads. */
export function callerTree(paths, weight) {
  const self = paths.self[weight];
  const total = totalsOf(paths, self);
  const children = childrenOf(paths, total);
  const threads = rootsOf(paths);
  const roots = threads.filter((p) => total[p] > 0).sort(by(total));
  const all = roots.reduce((sum, p) => sum + total[p], 0);
  const top = threads.length === 1 ? threads[0] + 1 : 0;
  return {
    inner: false, top,
    name: (n) => (n === 0 ? nameOfAll : paths.name[n - 1]),
    kind: (n) => (n === 0 ? -1 : paths.kind[n - 1]),
    self: (n) => (n === 0 ? 0 : self[n - 1]),
    total: (n) => (n === 0 ? all : total[n - 1]),
    calls: (n) => (n === 0 ? 0 : paths.calls[n - 1]),
    parent: (n) => (n === top ? -1 : paths.parent[n - 1] + 1),
    children: (n) => (n === 0 ? roots.map((p) => p + 1) :
      Array.from(children(n - 1), (p) => p + 1)),
    key: (n) => (n === top ? '' : String(n - 1)),
    find: (key) => {
      const p = /^\d{1,10}$/.test(key) ? Number(key) : -1;
      return p >= 0 && p < paths.count && total[p] > 0 ? p + 1 : top;
    },
  };
}

/* A node of the inverted tree is some paths that have a weight of their own, and of each the frame
 * that stands here; children are made when they are first asked for. */
function makeNode(nodes, parent, depth, name, kind) {
  nodes.push({ parent, depth, name, kind, total: 0, calls: 0, leaves: [], at: [], children: null });
  return nodes.length - 1;
}

function put(node, leaf, at, self, calls) {
  node.leaves.push(leaf);
  node.at.push(at);
  node.total += self[leaf];
  node.calls += calls[leaf];
}

/** From the innermost frame outwards; threads are frames where there are several. */
export function calleeTree(paths, weight) {
  const self = paths.self[weight];
  const { parent, name, kind, calls } = paths;
  const several = rootsOf(paths).length > 1;
  // The frame that called the one at p; -1: none that is shown.
  const outward = (p) => {
    const up = parent[p];
    return up >= 0 && (several || parent[up] >= 0) ? up : -1;
  };
  const nodes = [];
  makeNode(nodes, -1, 0, nameOfAll, -1);
  for (let p = 0; p < paths.count; p++) {
    if (self[p] > 0) put(nodes[0], p, p, self, calls);
  }
  const grow = (n) => {
    const { depth, leaves, at } = nodes[n];
    const isFull = depth >= framesMost;
    const made = new Map();
    for (let i = 0; i < leaves.length; i++) {
      const to = n === 0 ? at[i] : outward(at[i]);
      if (to < 0) continue;
      const called = isFull ? nameOfRest : name[to];
      let child = made.get(called);
      if (child === undefined) {
        child = makeNode(nodes, n, depth + 1, called, isFull ? -1 : kind[to]);
        made.set(called, child);
      }
      put(nodes[child], leaves[i], to, self, calls);
    }
    return [...made.values()].sort((a, b) => nodes[b].total - nodes[a].total || a - b);
  };
  const children = (n) => {
    if (nodes[n].name === nameOfRest) return [];
    nodes[n].children ??= grow(n);
    return nodes[n].children;
  };
  return {
    inner: true, top: 0,
    name: (n) => nodes[n].name,
    kind: (n) => nodes[n].kind,
    self: (n) => (nodes[n].depth === 1 ? nodes[n].total : 0),
    total: (n) => nodes[n].total,
    calls: (n) => nodes[n].calls,
    parent: (n) => nodes[n].parent,
    children,
    key: (n) => (n === 0 ? '' : `${nodes[n].leaves[0]}.${nodes[n].depth}`),
    find: (key) => findInner(key, paths, nodes, children),
  };
}

/* A key is a path and how many of its frames, from the innermost on, lead to the node. */
function findInner(key, paths, nodes, children) {
  const match = /^(\d{1,10})\.(\d{1,5})$/.exec(key);
  if (!match) return 0;
  const [leaf, depth] = [Number(match[1]), Number(match[2])];
  let [n, at] = [0, leaf];
  while (nodes[n].depth < depth) {
    if (!(at >= 0 && at < paths.count)) return 0;
    const next = children(n).find((c) => nodes[c].name === paths.name[at] ||
      nodes[c].name === nameOfRest);
    if (next === undefined) return 0;
    [n, at] = [next, paths.parent[at]];
  }
  return n;
}
