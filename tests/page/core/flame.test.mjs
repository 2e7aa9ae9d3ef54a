// flame.test.mjs - the flame graph of a call tree: totals, both trees, cells, search and links
// against slow second definitions.
import test from 'node:test';
import assert from 'node:assert/strict';
import { byName, readPaths, totalsOf } from '../../../viewer/flame/core/paths.js';
import { calleeTree, callerTree, framesMost, nameOfAll, nameOfRest }
  from '../../../viewer/flame/core/trees.js';
import { cellAt, depthOf, layout, stepFrom } from '../../../viewer/flame/core/layout.js';
import { search } from '../../../viewer/flame/core/search.js';
import { readLink, writeLink } from '../../../viewer/flame/core/link.js';
import { clipped, label, nanoseconds } from '../../../viewer/flame/core/texts.js';
import { random } from './made/synthetic.mjs';

const KINDS = ['python', 'thread'];

/* What a page holds: rows are [up, name, self, calls]; a root is a thread. */
function dataOf(rows, names) {
  return { schema: 'vramscope.flame/1', kinds: KINDS, names,
    up: rows.map((r) => r[0]), name: rows.map((r) => r[1]),
    kind: rows.map((r) => (r[0] === 0 ? 1 : 0)),
    self: { host: rows.map((r) => r[2]), calls: rows.map((r) => r[3]) } };
}

const pathsOf = (rows, names) => readPaths(dataOf(rows, names));

/* A forest of `count` paths with few names, so that frames recur in their own stacks. */
function invented(seed) {
  const next = random(seed);
  const below = (n) => Math.floor(next() * n);
  const names = ['thread 1', 'thread 2', 'conv', 'Conv2d', 'aten::conv', 'relu', 'step', ''];
  const rows = [[0, 0, 0, 0]];
  const count = 2 + below(60);
  for (let i = 1; i < count; i++) {
    if (below(20) === 0) rows.push([0, 1, 0, 0]);
    else rows.push([1 + below(i), 2 + below(names.length - 2), below(3) * below(1000), 1 + below(9)]);
  }
  return pathsOf(rows, names);
}

const INVENTED = Array.from({ length: 60 }, (_, seed) => invented(seed + 1));

/* Frames of a path from the outermost inwards, a thread only where there are several. */
function stackOf(paths, p) {
  const stack = [];
  for (let at = p; at >= 0; at = paths.parent[at]) stack.unshift(at);
  const roots = paths.parent.filter((up) => up < 0).length;
  return roots > 1 ? stack : stack.slice(1);
}

/* Path of a node, as names from the top down. */
function wayOf(tree, node) {
  const way = [];
  for (let n = node; n >= 0 && n !== tree.top; n = tree.parent(n)) way.unshift(tree.name(n));
  return way.join('/');
}

function nodesOf(tree) {
  const nodes = [tree.top];
  for (let i = 0; i < nodes.length; i++) nodes.push(...tree.children(nodes[i]));
  return nodes;
}

function plainSums(paths, self, turned) {
  const sums = new Map();
  for (let p = 0; p < paths.count; p++) {
    const names = stackOf(paths, p).map((at) => paths.name[at]);
    if (turned) names.reverse();
    for (let n = 0; n <= names.length && self[p] > 0; n++) {
      const key = names.slice(0, n).join('/');
      sums.set(key, (sums.get(key) ?? 0) + self[p]);
    }
  }
  return sums;
}

function sumsOf(tree) {
  const sums = new Map();
  for (const n of nodesOf(tree)) {
    if (tree.total(n) <= 0) continue;
    const key = wayOf(tree, n);
    sums.set(key, (sums.get(key) ?? 0) + tree.total(n));
  }
  return sums;
}

test('both trees have the sums of all stacks', () => {
  for (const paths of INVENTED) {
    for (const weight of ['host', 'calls']) {
      const self = paths.self[weight];
      assert.deepEqual(sumsOf(callerTree(paths, weight)), plainSums(paths, self, false));
      const turned = plainSums(paths, self, true);
      assert.deepEqual(sumsOf(calleeTree(paths, weight)), turned);
    }
  }
});

test('a node is found again by its key', () => {
  let found = 0;
  for (const paths of INVENTED) {
    for (const tree of [callerTree(paths, 'host'), calleeTree(paths, 'host')]) {
      const other = (tree.inner ? calleeTree : callerTree)(paths, 'host');
      for (const n of nodesOf(tree)) {
        if (n !== tree.top) assert.notEqual(tree.key(n), '');
        assert.equal(wayOf(other, other.find(tree.key(n))), wayOf(tree, n));
        found++;
      }
      for (const key of ['', 'x', '-1', '99999', '99999.3', '0.99', '1.2.3']) {
        assert.equal(tree.find(key), tree.top, key);
      }
    }
  }
  assert.ok(found > 1000);
});

test('only frames with some of the weight are there, the heaviest first', () => {
  const names = ['t', 'a', 'b', 'c'];
  const paths = pathsOf([[0, 0, 0, 0], [1, 1, 0, 5], [2, 2, 3, 1], [3, 3, 9, 1]], names);
  const tree = callerTree(paths, 'host');
  assert.equal(tree.name(tree.top), 0, 'one thread is the whole');
  assert.deepEqual(tree.children(tree.top).map(tree.name), [3, 2]);
  const two = pathsOf([[0, 0, 0, 0], [0, 1, 4, 0], [1, 2, 3, 1]], names);
  const all = callerTree(two, 'host');
  assert.equal(all.name(all.top), nameOfAll);
  assert.deepEqual([all.total(all.top), all.self(all.top)], [7, 0]);
});

test('cells lie within their callers, and what is narrower than half a pixel is one', () => {
  let merged = 0;
  for (const paths of INVENTED) {
    for (const tree of [callerTree(paths, 'host'), calleeTree(paths, 'host')]) {
      for (const width of [7, 300]) {
        const layer = layout(tree, tree.top, width);
        const { cells, rows } = layer;
        assert.equal(rows.at(-1), cells.length);
        cells.forEach((cell, i) => {
          const { depth, x, w, node } = cell;
          assert.ok(i >= rows[depth] && i < rows[depth + 1]);
          if (i > rows[depth]) assert.ok(x >= cells[i - 1].x + cells[i - 1].w - 1e-9);
          if (cell.merged) merged++;
          else assert.ok(depth === 0 || w >= 0.5);
          if (depth > 0) {
            const above = cells.find((c) => !c.merged && c.node === tree.parent(node));
            assert.ok(x >= above.x - 1e-9 && x + w <= above.x + above.w + 1e-9);
          }
          if (w >= 1) assert.equal(cellAt(layer, depth, x + w / 2), i);
        });
        const at = (depth) => cells.slice(rows[depth], rows[depth + 1]);
        if (depthOf(layer) > 1) {
          const sum = at(1).reduce((s, c) => s + c.total, 0);
          assert.equal(sum, tree.total(tree.top) - (tree.inner ? 0 : tree.self(tree.top)));
        }
      }
    }
  }
  assert.ok(merged > 10);
  assert.equal(cellAt(layout(callerTree(INVENTED[0], 'host'), 1, 10), 99, 5), -1);
});

test('keys go inwards and back, and along a row', () => {
  const names = ['t', 'a', 'b', 'c'];
  const paths = pathsOf([[0, 0, 0, 0], [1, 1, 1, 1], [1, 2, 2, 1], [3, 3, 9, 1]], names);
  const tree = callerTree(paths, 'host');
  const layer = layout(tree, tree.top, 120);
  const name = (i) => names[tree.name(layer.cells[i].node)];
  const walk = (i, ...steps) => steps.reduce((at, step) => stepFrom(layer, at, step), i);
  assert.equal(name(walk(0, 'in')), 'c');
  assert.equal(name(walk(0, 'in', 'after')), 'a');
  assert.equal(name(walk(0, 'in', 'after', 'in')), 'b');
  assert.equal(walk(0, 'in', 'after', 'in', 'out', 'out'), 0);
  assert.equal(walk(0, 'out', 'before', 'after'), 0);
});

test('what is found counts once, however it is nested', () => {
  let shares = 0;
  for (const paths of INVENTED) {
    const self = paths.self.host;
    const total = totalsOf(paths, self);
    for (const text of ['conv', 'CONV', 'aten::', 'thread 2', 'nowhere', ' ']) {
      const found = search(paths, self, total, text);
      if (text === ' ') {
        assert.equal(found, null);
        continue;
      }
      const has = (at) => paths.names[paths.name[at]].toLowerCase().includes(text.toLowerCase());
      let [value, frames] = [0, 0];
      for (let p = 0; p < paths.count; p++) {
        const stack = stackOf(paths, p);
        if (stack.some(has)) value += self[p];
        if (total[p] > 0 && stack.includes(p) && has(p)) frames++;
      }
      assert.deepEqual([found.value, found.frames], [value, frames]);
      assert.ok(found.value <= self.reduce((a, b) => a + b, 0));
      shares += value > 0 ? 1 : 0;
    }
  }
  assert.ok(shares > 50);
});

test('totals by name count a frame below one of its name once', () => {
  for (const paths of INVENTED) {
    const self = paths.self.host;
    const rows = byName(paths, self, totalsOf(paths, self));
    for (const row of rows) {
      const isIt = (at) => paths.parent[at] >= 0 && paths.name[at] === row.name;
      const sum = (keep) => self.reduce((s, v, p) => (keep(p) ? s + v : s), 0);
      assert.equal(row.self, sum(isIt));
      assert.equal(row.total, sum((p) => stackOf(paths, p).some(isIt)));
      assert.ok(row.total > 0);
    }
    const below = self.reduce((s, v, p) => (paths.parent[p] >= 0 ? s + v : s), 0);
    assert.equal(rows.reduce((s, row) => s + row.self, 0), below);
  }
});

test('a tree of any depth', () => {
  const depth = 200000;
  const names = ['t', 'a', 'b', 'c'];
  const rows = Array.from({ length: depth }, (_, i) => [i ? 1 : 0, i ? 1 + i % 3 : 0, i ? 2 : 0, 1]);
  const paths = pathsOf(rows, names);
  const tree = callerTree(paths, 'host');
  const layer = layout(tree, tree.top, 1000);
  // One below the other, until less than half a pixel is left of them.
  assert.equal(depthOf(layer), Math.floor(depth - (depth - 1) / 2000) + 2);
  const self = paths.self.host;
  const found = byName(paths, self, totalsOf(paths, self));
  assert.deepEqual(found.map((r) => r.total).sort((a, b) => b - a)[0], 2 * (depth - 1));
});

test('turned round, frames further out than other formats have are left out', () => {
  const depth = framesMost + 500;
  const rows = Array.from({ length: depth }, (_, i) =>
    [i ? 1 : 0, i % 2, i === depth - 1 ? 7 : 0, 1]);
  const tree = calleeTree(pathsOf(rows, ['a', 'b']), 'host');
  const layer = layout(tree, tree.top, 1000);
  assert.equal(depthOf(layer), framesMost + 2);
  const last = layer.cells.at(-1).node;
  assert.deepEqual([tree.name(last), tree.total(last)], [nameOfRest, 7]);
  assert.deepEqual(tree.children(last), []);
  assert.equal(tree.find(tree.key(last)), last);
});

test('what is no tree is refused', () => {
  const whole = dataOf([[0, 0, 1, 0], [1, 1, 2, 1]], ['t', 'a']);
  assert.equal(readPaths(whole).count, 2);
  const broken = [{ schema: 'vramscope.flame/2' }, { up: [0, 2] }, { up: [1, 0] }, { up: [0, -1] },
    { up: [0, 0.5] }, { name: [0, 2] }, { name: [0] }, { kind: [0, 9] }, { names: null },
    { self: { host: [1] } }, { self: { host: [1, -1] } }, { self: { host: [1, null] } },
    { up: null }];
  for (const part of broken) {
    assert.throws(() => readPaths({ ...whole, ...part }), /damaged data/, JSON.stringify(part));
  }
});

test('a link is read as it was written, and nothing else of it is believed', () => {
  const usual = { weight: 'host', first: 'outermost', shape: 'icicle' };
  const places = [{ ...usual, at: '', q: '' }, { ...usual, at: '12', q: 'a&b=c#%é</script>' },
    { weight: 'bytes', first: 'innermost', shape: 'flame', at: '7.3', q: '' }];
  for (const place of places) assert.deepEqual(readLink(writeLink(place, usual), usual), place);
  assert.equal(writeLink(places[0], usual), '');
  const inner = { ...usual, first: 'innermost' };
  assert.deepEqual(readLink(writeLink(places[0], inner), inner), places[0]);
  for (const text of ['#weight=gpu&first=x&shape=', '#at=1e9&at=-1&at=9.9.9', '#q=%zz', '#__proto__=1',
    '#constructor=1']) {
    assert.deepEqual(readLink(text, usual), places[0], text);
  }
  assert.equal(readLink('#q=' + 'x'.repeat(5000), usual).q.length, 1000);
});

test('times as the report has them', () => {
  const cases = [[0, '0 ns'], [999, '999 ns'], [1000, '1.00 \u00b5s'], [1234, '1.23 \u00b5s'],
    [9994, '9.99 \u00b5s'], [9996, '10.0 \u00b5s'], [999949, '999.9 \u00b5s'], [999950, '1.00 ms'],
    [999949999, '999.9 ms'], [999999999, '999.9 ms'], [4216000000, '4.21 s'],
    [185e9, '3 min 05 s'], [7620e9, '2 h 07 min']];
  for (const [ns, text] of cases) assert.equal(nanoseconds(ns), text);
});

test('texts of frames', () => {
  assert.equal(label('torch/nn/modules/module.py(1102): _call_impl'), '_call_impl  module.py:1102');
  assert.equal(label('<string>(1): <module>'), '<module>  <string>:1');
  for (const name of ['aten::mm', 'void f<(int)3>(float)', 'nn.Module: Linear_0', '']) {
    assert.equal(label(name), name);
  }
  const fits = (most) => (text) => text.length <= most;
  assert.equal(clipped('aten::convolution', 99, fits(17)), 'aten::convolution');
  assert.equal(clipped('aten::convolution', 99, fits(8)), 'aten::c\u2026');
  assert.equal(clipped('aten::convolution', 99, fits(2)), '');
  assert.equal(clipped('ab\ud83d\ude00cd', 99, fits(4)), 'ab\u2026', 'no half of a letter');
});
