// treediff.js - two trees of stacks as one: what each node weighs on either side.
import { childrenOf } from './tree.js';

/* What a node is called, so that equal ones of two recordings have equal names. */
function namesOf({ model, tree }) {
  const { frame, string } = model;
  return (n, withLine) => {
    const f = tree.frame[n];
    return tree.special[n] ? `-${tree.special[n]}` : string[frame.func[f]] + '\n' +
      string[frame.file[f]] + (withLine && frame.line ? '\n' + frame.line[f] : '');
  };
}

function take(lists, key) {
  return lists.get(key)?.shift() ?? -1;
}

function listed(nodes, nameOf) {
  const lists = new Map();
  for (const n of nodes) {
    const key = nameOf(n);
    if (lists.has(key)) lists.get(key).push(n);
    else lists.set(key, [n]);
  }
  return lists;
}

/* Pairs of the children of two nodes: equal frames; then, as lines move from version to version,
 * those of one function; then each that is left, alone (-1). */
function pairsOf(below, names, lines) {
  const left = below.map((nodes) => [...nodes]);
  const pairs = [];
  for (const withLine of [true, false]) {
    const ofB = listed(left[1], (n) => names[1](n, withLine));
    const rest = [];
    for (const n of left[0]) {
      const other = take(ofB, names[0](n, withLine));
      if (other >= 0) pairs.push([n, other]);
      else rest.push(n);
    }
    const byLine = (side) => (x, y) => lines[side](x) - lines[side](y);
    left[0] = rest.sort(byLine(0));
    left[1] = [...ofB.values()].flat().sort(byLine(1));
  }
  return [...pairs, ...left[0].map((n) => [n, -1]), ...left[1].map((n) => [-1, n])];
}

/**
 * Sides are { model, tree } of flame().  A tree with, for each node, `refs` [node of one, node of
 * two], -1 where it is not there; what it weighs, `a` and `b`; and `total`, its width: the larger
 * of them, or all of its children where they need more, as one grew and another shrank.
 */
export function treeDiff(one, two) {
  const sides = [one, two];
  const children = sides.map(({ tree }) => childrenOf(tree));
  const names = sides.map(namesOf);
  const lines = sides.map(({ model, tree }) => (n) => model.frame.line?.[tree.frame[n]] ?? 0);
  const refs = [[0, 0]];
  const parent = [0];
  for (let i = 0; i < refs.length; i++) {
    const below = refs[i].map((n, side) => (n < 0 ? [] : children[side](n)));
    for (const pair of pairsOf(below, names, lines)) {
      refs.push(pair);
      parent.push(i);
    }
  }
  const [a, b] = sides.map(({ tree }, side) =>
    Float64Array.from(refs, (pair) => (pair[side] < 0 ? 0 : tree.total[pair[side]])));
  const total = new Float64Array(refs.length);
  for (let n = total.length - 1; n >= 0; n--) {
    total[n] = Math.max(a[n], b[n], total[n]);
    if (n > 0) total[parent[n]] += total[n];
  }
  return { nodes: refs.length, parent: Uint32Array.from(parent), refs, a, b, total };
}
