// pictures.test.mjs - the operations that draw, through the engine, as the page asks for them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDevice } from '../../../viewer/core/memory/device.js';
import { createEngine } from '../../../viewer/core/engine.js';
import { createPictureOps } from '../../../viewer/core/memory/pictures.js';
import { startEngine } from '../../../viewer/worker/asking.js';
import { runWorker } from '../../../viewer/worker/serving.js';
import { packModel } from './made/pack.mjs';
import { makeModel, manyModels, oracle } from './made/synthetic.mjs';
import { groupsPicture } from './made/whole.mjs';

async function engineOf(...models) {
  const heads = [];
  const all = [];
  for (const model of models) {
    const { head, blocks } = packModel(model);
    for (const table of Object.values(head.tables)) {
      for (const spec of Object.values(table.columns)) {
        if (spec.block !== undefined) spec.block += all.length;
      }
    }
    heads.push(head);
    all.push(...blocks);
  }
  const call = createEngine([{ devices: heads }], createPictureOps());
  for (const [n, bytes] of all.entries()) await call('block', { n, bytes });
  return call;
}

const wholeX = (model) => ({ mode: 'events', from: 0, to: model.states });
const size = { W: 60, H: 40, y0: null, y1: null };

test('stack and groups: columns add up to the curve, pixels are live there', async () => {
  for (const [name, model] of manyModels(2)) {
    const call = await engineOf(model);
    const curve = oracle(model).curve();
    const { by } = await call('cover', { wait: true });
    for (const one of by) {
      const got = await call('raster', { ...size, x: wholeX(model), by: one });
      assert.deepEqual(Array.from(got.sums), Array.from(got.shown, (p) => curve[p]), name);
      for (let i = 0; i < got.ids.length; i += 7) {
        const id = got.ids[i];
        const p = got.shown[i % got.W];
        if (id < 0) continue;
        assert.ok(model.alloc.born[id] <= p && p < model.alloc.end[id]);
        assert.ok(got.group[i] < got.groups);
      }
      if (one === 'birth') continue;
      const groups = await call('groups', { ...size, x: wholeX(model), by: one });
      assert.deepEqual(groups.sums, got.sums, `${name} ${one}`);
      const { rows } = await call('live', { state: got.shown[30], by: one });
      if (one === 'age') continue;
      for (const row of rows) assert.equal(groups.parts[row.key * 60 + 30], row.bytes);
    }
  }
});

test('of more groups than a picture can tell apart the least at the peak are one', async () => {
  let n = 0;
  const model = makeModel(5, { events: 6000, size: () => 512 * ++n });
  const call = await engineOf(model);
  const d = createDevice(model);
  const { of, names } = d.grouping('size');
  assert.ok(names.length > 1500);
  const own = new Set(d.bands('size').subarray(0, 1000));
  const got = await call('groups', { ...size, x: wholeX(model), by: 'size' });
  const plain = groupsPicture(model, { shown: got.shown, groupOf: of, groups: names.length,
    bands: d.bands('size'), y0: got.y0, y1: got.y1, H: size.H });
  assert.deepEqual(got.ids, plain.ids.map((id) => (id < 0 || own.has(id) ? id : names.length)));
  assert.deepEqual(got.sums, plain.sums);
  assert.ok(got.ids.includes(names.length) && got.groups > names.length);
});

test('a query marks what it leaves out, and only draws what it leaves in', async () => {
  const model = makeModel(5, { events: 800 });
  const call = await engineOf(model);
  const args = { ...size, x: wholeX(model), by: 'category', query: 'cat:gradient' };
  const marked = await call('raster', args);
  const only = await call('raster', { ...args, only: true });
  let left = 0;
  marked.ids.forEach((id, i) => {
    if (id < 0) return;
    const out = model.alloc.cat[id] !== 1;
    left += out ? 1 : 0;
    assert.equal((marked.mark[i] & 1) !== 0, out);
  });
  assert.ok(left > 0);
  assert.ok(only.ids.every((id) => id < 0 || model.alloc.cat[id] === 1));
  assert.ok(only.ids.some((id) => id >= 0));
  assert.equal(only.y1, Math.max(...only.sums));
});

test('find: counts, the next match, errors with their place', async () => {
  const model = makeModel(5, { events: 800 });
  const call = await engineOf(model);
  const p = 400;
  const got = await call('find', { text: 'cat:gradient', state: p });
  const all = Array.from(model.alloc.cat.keys()).filter((id) => model.alloc.cat[id] === 1);
  assert.equal(got.count, all.length);
  const now = oracle(model).live(p).filter((id) => model.alloc.cat[id] === 1);
  assert.equal(got.now, now.reduce((n, id) => n + model.alloc.bytes[id], 0));
  assert.equal(got.share, got.now / oracle(model).requested(p));
  assert.equal(got.visit.id, all[0]);
  const next = await call('find', { text: 'cat:gradient', state: p, after: all[0], step: 1 });
  assert.equal(next.visit.id, all[1]);
  const back = await call('find', { text: 'cat:gradient', state: p, after: all[0], step: -1 });
  assert.equal(back.visit.id, all[all.length - 1]);
  const wrong = await call('find', { text: 'cat:gradient size>=x', state: p });
  assert.equal(typeof wrong.error, 'string');
  assert.ok(wrong.at > 0);
  const regex = await call('find', { text: '/layer_[12]$/', state: p });
  assert.ok(regex.count > 0 && regex.count < model.alloc.rows);
  assert.equal(typeof (await call('find', { text: '/(/', state: p })).error, 'string');
});

test('map, state and events', async () => {
  const model = makeModel(6, { events: 800 });
  const call = await engineOf(model);
  const map = await call('map', { ...size, x: wholeX(model), by: 'category' });
  assert.equal(map.ids.length, 60 * 40);
  assert.ok(map.ids.some((id) => id >= 0));
  const p = 500;
  const { bars } = await call('state', { state: p });
  assert.equal(bars.reduce((n, bar) => n + bar.bytes, 0), oracle(model).reserved(p));
  assert.equal(bars.reduce((n, bar) => n + bar.requested, 0), oracle(model).requested(p));
  const { rows } = await call('events', { state: p, n: 50 });
  assert.ok(rows.length >= 50);
});

test('trees sum to the live set, and their cells have words', async () => {
  const model = makeModel(6, { events: 800 });
  const call = await engineOf(model);
  const p = 500;
  for (const args of [{ of: 'cursor', state: p }, { of: 'cursor', state: p, library: false },
    { of: 'cursor', state: p, root: 'callee' }]) {
    const tree = await call('tree', { ...args, width: 800 });
    assert.equal(tree.total[0], oracle(model).requested(p));
    assert.ok(tree.cells.length > 1);
    for (const cell of tree.cells) assert.equal(typeof cell.name, 'string');
    assert.ok(tree.cells.some((cell) => cell.name.startsWith('forward_')));
    const layers = tree.cells.filter((cell) => cell.name.startsWith('layer_'));
    assert.equal(layers.length > 0, args.library !== false);
  }
  const { peak } = await call('cover', {});
  const atPeak = await call('tree', { of: 'peak' });
  assert.equal(atPeak.total[0], peak.bytes);
  const churn = await call('range', { a: 100, b: p, by: 'line' });
  const tree = await call('tree', { of: 'churn', a: 100, b: p });
  assert.equal(tree.total[0], churn.churn);
});

test('a tree of leaks is of what the steps left at their sites', async () => {
  const model = makeModel(6, { events: 900, neverFreed: 0.3 });
  const call = await engineOf(model);
  const { rows } = await call('leaks', { by: 'line' });
  const sites = [rows[0].name, rows[2].name, 'nowhere'];
  const tree = await call('tree', { of: 'leaks', sites, state: 5 });
  assert.ok(rows.length > 3 && rows[2].total > 0);
  assert.equal(tree.total[0], rows[0].total + rows[2].total);
  assert.equal(tree.cells[0].total, tree.total[0]);
  assert.equal(tree.count[0], [rows[0], rows[2]].flatMap((row) => [...row.count])
    .reduce((n, one) => n + one, 0));
  assert.equal((await call('tree', { of: 'leaks', sites: [] })).total[0], 0);
});

test('a tree of a difference has both ends, and knows a filter', async () => {
  const model = makeModel(6, { events: 800 });
  const call = await engineOf(model);
  const [a, b] = [300, 600].map((state) => ({ file: 0, dev: 0, state }));
  const tree = await call('tree', { of: 'diff', a, b, width: 800 });
  assert.deepEqual([tree.cells[0].a, tree.cells[0].b],
    [oracle(model).requested(300), oracle(model).requested(600)]);
  for (const cell of tree.cells) assert.equal(typeof cell.name, 'string');
  const some = await call('tree', { of: 'diff', a, b, query: 'fn:/forward_1/', only: true });
  assert.ok(some.cells[0].a + some.cells[0].b < tree.cells[0].a + tree.cells[0].b);
  assert.equal((await call('tree', { of: 'diff', a, b, top: 1e6 })).cells[0].node, 0);
});

test('leaks and differences', async () => {
  const [one, two] = [makeModel(6), makeModel(7)];
  const call = await engineOf(one, two);
  const leaks = await call('leaks', { by: 'line' });
  assert.equal(leaks.steps.length, one.mark.rows);
  const [a, b] = [{ file: 0, dev: 0, state: 250 }, { file: 0, dev: 1, state: 120 }];
  const { rows, total } = await call('diff', { a, b, by: 'line' });
  assert.equal(total.delta, oracle(two).requested(120) - oracle(one).requested(250));
  assert.equal(rows.reduce((n, row) => n + row.delta, 0), total.delta);
});

/* A worker and its page, joined as a browser joins them: messages are copied and come later. */
function pairOf() {
  const [page, scope] = [{}, {}];
  const send = (to) => (data, moved = []) => {
    const copy = structuredClone(data, { transfer: moved });
    setTimeout(() => to.onmessage({ data: copy }), 0);
  };
  page.postMessage = send(scope);
  scope.postMessage = send(page);
  runWorker(scope, () => pairOf);
  return Object.assign(page, { terminate: () => {} });
}

/* A worker that takes all it is told, and ends before it has said anything. */
function failing() {
  const worker = { postMessage: () => {}, terminate: () => {} };
  setTimeout(() => worker.onerror({ message: 'no worker here' }), 20);
  return worker;
}

test('a worker that ends once it has answered is an error', async () => {
  const { head, blocks } = packModel(makeModel(9));
  const worker = pairOf();
  const engine = startEngine([{ devices: [head] }], worker);
  blocks.forEach((bytes, n) => engine.block(n, Buffer.from(bytes).toString('base64')));
  await engine.call('live', { state: 5 });
  const open = engine.call('range', { a: 1, b: 5 });
  worker.onerror({ message: 'out of memory' });
  await assert.rejects(open, /out of memory/);
});

test('the worker and the page alone give the same answers', async () => {
  const model = makeModel(9);
  const { head, blocks } = packModel(model);
  const texts = blocks.map((bytes) => Buffer.from(bytes).toString('base64'));
  const answers = [];
  for (const make of [pairOf, () => null, failing]) {
    const worker = make();
    const engine = startEngine([{ devices: [head] }], worker);
    const early = engine.call('raster', { ...size, x: wholeX(model), by: 'category' });
    for (const [n, text] of texts.entries()) engine.block(n, text);
    const got = [await early, await engine.call('live', { state: 200, by: 'line' })];
    engine.end();
    const dropped = engine.call('raster', { ...size, x: wholeX(model), by: 'line' });
    const last = engine.call('raster', { ...size, x: wholeX(model), by: 'owner' });
    // Through a worker it may have been begun before the next one came.
    if (make !== pairOf) assert.equal(await dropped, null);
    got.push(await last);
    // What moved to the asker is not needed again.
    got.push(await engine.call('raster', { ...size, x: wholeX(model), by: 'owner' }));
    assert.deepEqual(got[2], got[3]);
    got.push(await engine.call('find', { text: '/o.*[a-f]/', state: 200 }));
    assert.ok(got[4].count > 0);
    await assert.rejects(engine.call('paint', {}), /no operation is called paint/);
    await assert.rejects(engine.block(9, '**'), /block 9: damaged data/);
    answers.push(got);
  }
  assert.deepEqual(answers[0], answers[1]);
  assert.deepEqual(answers[0], answers[2]);
});
