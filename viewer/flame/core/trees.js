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
 * that stands here.  Children are made when they are first asked for; the paths are theirs then, as
 * a tree of long stacks would have each of them once for every frame. */
function makeNode(parent, depth, name, kind, size) {
  return { parent, depth, name, kind, total: 0, calls: 0, first: -1, children: null,
    leaves: new Uint32Array(size), at: new Int32Array(size), filled: 0 };
}

function put(node, leaf, at, self, calls) {
  if (node.filled === 0) node.first = leaf;
  node.leaves[node.filled] = leaf;
  node.at[node.filled++] = at;
  node.total += self[leaf];
  node.calls += calls[leaf];
}

/* The only child takes the place of what its parent keeps: deep recursions are made of such. */
function handOver({ leaves, at }, child, self, calls) {
  let [kept, total, called] = [0, 0, 0];
  for (let i = 0; i < at.length; i++) {
    if (at[i] < 0) continue;
    leaves[kept] = leaves[i];
    at[kept++] = at[i];
    total += self[leaves[i]];
    called += calls[leaves[i]];
  }
  Object.assign(child, { leaves: leaves.subarray(0, kept), at: at.subarray(0, kept), total,
    calls: called, first: leaves[0] });
}

/* The frame that called the one at p; -1: none that is shown. */
function outward({ paths: { parent }, several }, p) {
  const up = p < 0 ? -1 : parent[p];
  return up >= 0 && (several || parent[up] >= 0) ? up : -1;
}

/* A child for each name that stands here, in the order of the paths. */
function childrenByName({ nodes, paths: { name, kind }, sizes, places }, n) {
  const { depth, at } = nodes[n];
  const made = [];
  for (let i = 0; i < at.length; i++) if (at[i] >= 0 && sizes[name[at[i]]]++ === 0) made.push(i);
  return made.map((i) => {
    const called = name[at[i]];
    const size = made.length > 1 ? sizes[called] : 0;
    places[called] = nodes.length;
    sizes[called] = 0;
    return nodes.push(makeNode(n, depth + 1, called, kind[at[i]], size)) - 1;
  });
}

/* One for all frames that are further out. */
function childOfRest({ nodes }, n) {
  const { depth, at } = nodes[n];
  if (!at.some((to) => to >= 0)) return [];
  return [nodes.push(makeNode(n, depth + 1, nameOfRest, -1, 0)) - 1];
}

function grow(inner, n) {
  const { nodes, paths: { name, calls }, self, places } = inner;
  const { depth, leaves, at } = nodes[n];
  if (n > 0) for (let i = 0; i < at.length; i++) at[i] = outward(inner, at[i]);
  const made = depth < framesMost ? childrenByName(inner, n) : childOfRest(inner, n);
  if (made.length === 1) handOver(nodes[n], nodes[made[0]], self, calls);
  else {
    for (let i = 0; i < at.length; i++) {
      if (at[i] >= 0) put(nodes[places[name[at[i]]]], leaves[i], at[i], self, calls);
    }
  }
  Object.assign(nodes[n], { leaves: null, at: null });
  return made.sort((a, b) => nodes[b].total - nodes[a].total || a - b);
}

/* The top of an inverted tree: all paths that have some of the weight by themselves. */
function innermost(paths, self) {
  const weighs = self.reduce((sum, value) => sum + (value > 0 ? 1 : 0), 0);
  const top = makeNode(-1, 0, nameOfAll, -1, weighs);
  for (let p = 0; p < paths.count; p++) if (self[p] > 0) put(top, p, p, self, paths.calls);
  return top;
}

/** From the innermost frame outwards; threads are frames where there are several. */
export function calleeTree(paths, weight) {
  const self = paths.self[weight];
  const nodes = [innermost(paths, self)];
  const inner = { paths, self, nodes, several: rootsOf(paths).length > 1,
    // Of each name, while children are made: how many paths lead to it, then its node.
    sizes: new Uint32Array(paths.names.length), places: new Int32Array(paths.names.length) };
  const children = (n) => {
    if (nodes[n].name === nameOfRest) return [];
    nodes[n].children ??= grow(inner, n);
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
    key: (n) => (n === 0 ? '' : `${nodes[n].first}.${nodes[n].depth}`),
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
