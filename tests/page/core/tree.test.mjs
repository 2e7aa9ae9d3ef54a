// tree.test.mjs - flame graphs: totals against sums of rows, cells that lie within their callers.
import test from 'node:test';
import assert from 'node:assert/strict';
import { makeModel, manyModels, oracle } from './made/synthetic.mjs';
import { sum } from './made/plain.mjs';
import { flame, layout, pathOf, SPECIAL, weightOf } from '../../../viewer/core/memory/tree.js';

const WEIGHTS = ['bytes', 'count', 'byte_time'];

/* Frames of a row from the outermost inwards. */
function framesOf(model, row) {
  const frames = [];
  for (let s = model.alloc.stack[row]; s > 0; s = model.stack.caller[s]) {
    frames.unshift(model.stack.frame[s]);
  }
  return frames;
}

/* Sums by path as text, frame by frame. */
function plainTree(model, rows, { weight, root, hide }) {
  const value = weightOf(model, weight);
  const totals = new Map();
  for (const r of rows) {
    const frames = framesOf(model, r).filter((f) => !hide || !hide[f]);
    if (root === 'callee') frames.reverse();
    const none = model.alloc.born[r] === 0 ? 'before' : 'unknown';
    const path = model.alloc.stack[r] === 0 ? [none] : frames;
    for (let n = 0; n <= path.length; n++) {
      const key = path.slice(0, n).join('/');
      totals.set(key, (totals.get(key) ?? 0) + value(r));
    }
  }
  return totals;
}

function pathsOf(tree) {
  const names = Object.keys(SPECIAL);
  const paths = [''];
  for (let n = 1; n < tree.nodes; n++) {
    const own = tree.special[n] ? names[tree.special[n]] : tree.frame[n];
    const above = paths[tree.parent[n]];
    paths.push(above === '' ? String(own) : `${above}/${own}`);
  }
  return paths;
}

test('totals are the sums of rows by path, from callers or callees, with library or not', () => {
  for (const [name, model] of manyModels(6)) {
    const rows = oracle(model).live(Math.floor(model.states / 2));
    const library = Uint8Array.from(model.frame.kind, (kind) => (kind === 1 ? 1 : 0));
    for (const weight of WEIGHTS) {
      for (const root of ['caller', 'callee']) {
        for (const hide of [null, library]) {
          const tree = flame(model, rows, { weight, root, hide });
          const got = new Map(pathsOf(tree).map((path, n) => [path, tree.total[n]]));
          const expected = plainTree(model, rows, { weight, root, hide });
          if (rows.length === 0) expected.set('', 0);
          assert.deepEqual(new Map([...got].sort()), new Map([...expected].sort()), name);
          assert.equal(tree.total[0], sum(tree.self), name);
          assert.equal(tree.count[0], rows.length, name);
        }
      }
    }
  }
});

test('a parent stands before its children, of which there are thousands', () => {
  const model = makeModel(2, { events: 9000, live: 0.95, sites: 6000 });
  for (const root of ['caller', 'callee']) {
    const { parent } = flame(model, oracle(model).live(9000), { root });
    assert.ok(parent.length > 3000);
    for (let n = 1; n < parent.length; n++) assert.ok(parent[n] < n);
  }
});

test('bytes over time count microseconds of life', () => {
  const model = makeModel(4, { events: 300 });
  const rows = [...Array(model.alloc.rows).keys()];
  const last = model.states - 1;
  const expected = rows.map((r) => model.alloc.bytes[r] *
    (model.time[Math.min(model.alloc.end[r], last)] - model.time[model.alloc.born[r]]));
  assert.equal(flame(model, rows, { weight: 'byte_time' }).total[0], sum(expected));
});

test('cells lie within their callers and add up; nothing under a pixel but what is merged', () => {
  for (const seed of [1, 2, 3]) {
    const model = makeModel(seed, { events: 1500, sites: 300 });
    const tree = flame(model, oracle(model).live(1200));
    for (const width of [10, 200, 1600]) {
      const cells = layout(tree, width);
      const byNode = new Map(cells.filter((c) => !c.merged).map((c) => [c.node, c]));
      const inside = new Map();
      for (const cell of cells.slice(1)) {
        const parent = byNode.get(tree.parent[cell.node]);
        assert.equal(cell.depth, parent.depth + 1);
        assert.ok(cell.x >= parent.x - 1e-9 && cell.x + cell.w <= parent.x + parent.w + 1e-6);
        assert.ok(cell.merged || cell.w >= 1);
        inside.set(parent, (inside.get(parent) ?? 0) + cell.total);
      }
      for (const [parent, total] of inside) {
        assert.equal(total + tree.self[parent.node], parent.total);
      }
    }
    assert.ok(layout(tree, 10).some((cell) => cell.merged > 1));
    const zoomed = layout(tree, 300, 1);
    assert.deepEqual([zoomed[0].node, zoomed[0].w], [1, 300]);
  }
});

test('an empty set has one cell', () => {
  const model = makeModel(1, { nasty: 'empty' });
  assert.equal(layout(flame(model, []), 100).length, 1);
});

/* Frames of equal texts as one, as those of a recording are. */
function interned(model) {
  const { func, file, line } = model.frame;
  const first = new Map();
  const of = Array.from(line, (_, f) => {
    const key = `${func[f]} ${file[f]} ${line[f]}`;
    if (!first.has(key)) first.set(key, f);
    return first.get(key);
  });
  model.stack.frame = model.stack.frame.map((f) => of[f]);
  return model;
}

test('what a mask matches of each node is the tree of those rows alone', () => {
  for (const [name, model] of manyModels(4)) {
    const rows = oracle(model).live(Math.floor(model.states / 2));
    const mask = Uint8Array.from({ length: model.alloc.rows }, (_, r) => (r % 3 === 0 ? 1 : 0));
    for (const root of ['caller', 'callee']) {
      const tree = flame(model, rows, { root, mask });
      const alone = flame(model, rows.filter((r) => mask[r]), { root });
      const expected = new Map(pathsOf(alone).map((path, n) => [path, alone.total[n]]));
      const got = pathsOf(tree).map((path, n) => [path, tree.matched[n]]).filter(([, v]) => v > 0);
      assert.deepEqual(new Map(got.sort()), new Map([...expected].filter(([, v]) => v > 0).sort()),
        name);
    }
    assert.equal(flame(model, rows).matched, null);
  }
});

test('the path of an allocation is its stack, from either end', () => {
  for (const [name, model] of manyModels(4)) {
    const rows = oracle(model).live(Math.floor(model.states / 2));
    for (const root of ['caller', 'callee']) {
      const tree = flame(model, rows, { root });
      for (const row of rows.slice(0, 20)) {
        const path = pathOf(model, tree, row, { root });
        const frames = framesOf(model, row);
        if (root === 'callee') frames.reverse();
        assert.deepEqual(path.map((n) => tree.frame[n]), frames, name);
        path.forEach((n, k) => assert.equal(tree.parent[n], k ? path[k - 1] : 0, name));
      }
    }
  }
});
