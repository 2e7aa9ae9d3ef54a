// treediff.test.mjs - two trees as one: every node against both, widths, moved lines.
import test from 'node:test';
import assert from 'node:assert/strict';
import { makeModel, oracle } from './made/synthetic.mjs';
import { flame, layout } from '../../../viewer/core/memory/tree.js';
import { treeDiff } from '../../../viewer/core/memory/treediff.js';

/* What a node is called, but for its line. */
function nameOf({ model: { frame, string }, tree }, n) {
  const f = tree.frame[n];
  return tree.special[n] ? tree.special[n] : `${string[frame.func[f]]} ${string[frame.file[f]]}`;
}

const sideOf = (model, p, options) =>
  ({ model, tree: flame(model, oracle(model).live(p), options) });

test('each node has what both trees have there, and both add up', () => {
  for (const seed of [1, 2, 3, 4]) {
    const model = makeModel(seed, { events: 1200, sites: 60 });
    for (const root of ['caller', 'callee']) {
      const sides = [sideOf(model, 500, { root }), sideOf(model, 1100, { root })];
      const diff = treeDiff(...sides);
      const seen = sides.map(({ tree }) => new Uint8Array(tree.nodes));
      diff.refs.forEach((pair, n) => {
        pair.forEach((ref, side) => {
          if (ref >= 0) seen[side][ref]++;
          assert.equal([diff.a, diff.b][side][n], ref < 0 ? 0 : sides[side].tree.total[ref]);
        });
        if (n > 0 && !pair.includes(-1)) {
          assert.equal(nameOf(sides[0], pair[0]), nameOf(sides[1], pair[1]));
        }
        assert.ok(diff.total[n] >= Math.max(diff.a[n], diff.b[n]));
        assert.ok(n === 0 || diff.parent[n] < n);
      });
      assert.deepEqual([diff.a[0], diff.b[0]], sides.map(({ tree }) => tree.total[0]));
      for (const nodes of seen) assert.ok(nodes.every((times) => times === 1));
    }
  }
});

test('a tree against itself changes nothing and has its widths', () => {
  const side = sideOf(makeModel(9, { events: 800 }), 700);
  const diff = treeDiff(side, side);
  assert.deepEqual(diff.a, diff.b);
  assert.deepEqual([...diff.total].sort(), [...side.tree.total].sort());
});

test('cells lie within their callers though one grew and another shrank', () => {
  const model = makeModel(5, { events: 1500, sites: 200 });
  const diff = treeDiff(sideOf(model, 400), sideOf(model, 1400));
  for (const width of [30, 900]) {
    const cells = layout(diff, width);
    const byNode = new Map(cells.filter((c) => !c.merged).map((c) => [c.node, c]));
    for (const cell of cells.slice(1)) {
      const above = byNode.get(diff.parent[cell.node]);
      assert.ok(cell.x >= above.x - 1e-9 && cell.x + cell.w <= above.x + above.w + 1e-6);
      if (cell.merged) assert.ok(cell.a + cell.b >= cell.total);
    }
  }
});

/* Two stacks under one caller; `frames` are [function, line] from row 1 on. */
function small(frames, bytes) {
  const string = ['', 'run.py', ...frames.map(([func]) => func)];
  const n = frames.length;
  return { states: 2, time: null, string,
    alloc: { rows: n - 1, born: new Uint32Array(n - 1).fill(1),
      end: new Float64Array(n - 1).fill(3),
      bytes: Float64Array.from(bytes), stack: Uint32Array.from(bytes, (_, i) => i + 2) },
    stack: { rows: n + 1, caller: Uint32Array.from([0, 0, ...frames.slice(1).map(() => 1)]),
      frame: Uint32Array.from({ length: n + 1 }, (_, i) => i) },
    frame: { rows: n + 1, func: Uint32Array.from({ length: n + 1 }, (_, i) => (i ? i + 1 : 0)),
      file: new Uint32Array(n + 1).fill(1),
      line: Uint32Array.from([0, ...frames.map((f) => f[1])]) } };
}

test('of two recordings equal lines are one, then the same function in its order', () => {
  const one = small([['main', 9], ['f', 20], ['f', 30], ['gone', 40]], [1, 10, 100]);
  const two = small([['main', 9], ['f', 21], ['f', 30], ['new', 40]], [5, 50, 500]);
  const rows = [0, 1, 2];
  const diff = treeDiff(...[one, two].map((model) => ({ model, tree: flame(model, rows) })));
  const got = diff.refs.map((pair, n) => [diff.a[n], diff.b[n]]).slice(2);
  assert.deepEqual(got.sort((x, y) => x[0] - y[0]), [[0, 500], [1, 5], [10, 50], [100, 0]]);
  assert.equal(diff.total[0], 5 + 50 + 500 + 100, 'all that both sides need');
});
