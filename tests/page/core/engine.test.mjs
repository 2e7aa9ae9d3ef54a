// engine.test.mjs - blocks in, answers out: the operations that need no picture, and their order.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEngine } from '../../../viewer/core/engine.js';
import { createPictureOps } from '../../../viewer/core/memory/pictures.js';
import { createQueue } from '../../../viewer/core/model/queue.js';
import { packColumn, packModel } from './made/pack.mjs';
import { makeModel, manyModels, oracle } from './made/synthetic.mjs';

async function engineOf(model, more) {
  const { head, blocks } = packModel(model);
  const call = createEngine([{ name: 'a', devices: [head] }], more);
  for (const [n, bytes] of blocks.entries()) await call('block', { n, bytes });
  await call('end');
  return call;
}

test('an engine with all blocks gives the summary', async () => {
  for (const [name, model] of manyModels(3)) {
    const call = await engineOf(model);
    const cover = await call('cover', { wait: true });
    const curve = oracle(model).curve();
    const top = Math.max(...curve);
    assert.equal(cover.problem, null, name);
    assert.equal(cover.complete, true);
    assert.equal(cover.states, model.states);
    assert.equal(cover.peak.bytes, top);
    assert.equal(cover.peak.state, curve.indexOf(top));
    assert.equal(cover.peaks[0], cover.peak.state);
    assert.equal(Math.max(...cover.requested), top);
    assert.equal(cover.at.length, Math.min(2048, model.states));
    cover.at.forEach((p, c) => assert.equal(cover.requested[c], curve[p]));
    assert.equal(cover.ooms.length, model.log.events.filter((e) => e.op === 'oom').length);
    assert.equal(cover.steps.length, model.mark.rows);
  }
});

/* The page of the states `first` to `last`: what lives in them, and the cover of all. */
async function windowed(model, first, last) {
  const { alloc, states } = model;
  const curve = oracle(model).curve();
  const kept = Array.from({ length: alloc.rows }, (_, i) => i)
    .filter((i) => alloc.born[i] <= last && alloc.end[i] > first);
  const part = Object.fromEntries(Object.entries(alloc).map(([name, column]) =>
    [name, ArrayBuffer.isView(column) ? column.constructor.from(kept, (i) => column[i]) : column]));
  const { head, blocks } = packModel({ ...model, alloc: { ...part, rows: kept.length } });
  head.window = { first, last, of_allocations: alloc.rows };
  head.check = head.check.filter((c) => c.state >= first && c.state <= last);
  const columns = {};
  for (const [name, values, type] of [['state', curve.map((_, p) => p), 'u32'],
    ['requested', curve.map((n) => Math.max(0, n)), 'u64']]) {
    const { spec, bytes } = packColumn(Array.from(values), type);
    columns[name] = { ...spec, block: blocks.push(bytes) - 1, at: 0 };
  }
  head.tables.cover = { rows: states, columns };
  const call = createEngine([{ name: 'a', devices: [head] }], createPictureOps());
  for (const [n, bytes] of blocks.entries()) await call('block', { n, bytes });
  await call('end');
  return { call, curve };
}

test('a page of some events has their figures, and the curve of all', async () => {
  for (const [name, model] of manyModels(3)) {
    const [first, last] = [Math.floor(model.states / 3), Math.floor(model.states / 2)];
    const { call, curve } = await windowed(model, first, last);
    const cover = await call('cover', { wait: true });
    assert.equal(cover.problem, null, name);
    assert.deepEqual(cover.window, [first, last + 1]);
    assert.deepEqual(Array.from(cover.requested), Array.from(cover.at, (p) =>
      (p >= first && p <= last ? curve[p] : Math.max(0, curve[p]))));
    const held = Array.from(curve.slice(first, last + 1));
    const top = Math.max(...held);
    assert.deepEqual([cover.peak.bytes, cover.peak.state], [top, first + held.indexOf(top)], name);
    assert.ok(cover.peaks.every((p) => p >= first && p <= last));
    for (const state of [0, first, Math.floor((first + last) / 2), last, model.states - 1]) {
      const got = await call('live', { state });
      const p = Math.min(Math.max(state, first), last);
      assert.deepEqual([got.state, got.bytes], [p, curve[p]], `${name} ${state}`);
    }
    const { state } = await call('leaks', {});
    assert.equal(state, last);
    const events = await call('events', { state: first, n: 10 });
    assert.ok(events.rows.every((one) => one.state > first && one.state <= last));
    const { counts } = await call('range', { a: 0, b: model.states - 1, by: 'category' });
    const born = Array.from(model.alloc.born).filter((p) => p > first && p <= last);
    assert.equal(counts.churn, born.length, name);
  }
});

test('the states a page holds are those of its device', async () => {
  for (const window of [{ first: 5, last: 4 }, { first: 0, last: 1e9 }, { first: 0.5, last: 3 }]) {
    const { head, blocks } = packModel(makeModel(2));
    const call = createEngine([{ devices: [{ ...head, window }] }]);
    for (const [n, bytes] of blocks.entries()) await call('block', { n, bytes });
    await assert.rejects(call('cover', { wait: true }), /events that this page holds/);
  }
});

test('what the rows lack may differ from state to state', async () => {
  const model = makeModel(3);
  const { head, blocks } = packModel(model);
  const states = [3, Math.floor(model.states / 2)];
  const columns = {};
  for (const [name, values] of [['state', states], ['more', [0, 5000]], ['less', [700, 0]]]) {
    const { spec, bytes } = packColumn(values, name === 'state' ? 'u32' : 'u64');
    columns[name] = { ...spec, block: blocks.push(bytes) - 1, at: 0 };
  }
  head.tables.adjust = { rows: 2, columns };
  const of = (p) => (p < states[0] ? model.adjust : p < states[1] ? -700 : 5000);
  const curve = oracle(model).curve();
  for (const c of head.check) c.requested_bytes = curve[c.state] - model.adjust + of(c.state);
  const call = createEngine([{ devices: [head] }], createPictureOps());
  for (const [n, bytes] of blocks.entries()) await call('block', { n, bytes });
  assert.equal((await call('cover', { wait: true })).problem, null);
  for (const state of [0, 2, 3, 4, states[1] - 1, states[1], model.states - 1]) {
    const got = await call('live', { state });
    assert.equal(got.adjust, of(state));
    assert.equal(got.bytes, got.requested);
    const { active } = oracle(model);
    assert.equal(got.active, active(state) - model.adjust + of(state));
  }
  const { rows } = await call('range', { a: 2, b: states[1], by: 'category' });
  assert.equal(rows.find((row) => row.key === -1).delta, 5000 - model.adjust);
  const ends = [{ file: 0, dev: 0, state: 3 }, { file: 0, dev: 0, state: states[1] }];
  const diff = await call('diff', { a: ends[0], b: ends[1], by: 'line' });
  assert.equal(diff.rows.find((row) => row.aKey === -1 && row.bKey === -1).delta, 5700);
});

test('a figure that differs from the core is a problem that names its state', async () => {
  const model = makeModel(3);
  model.head.check[4].requested_bytes += 1;
  const state = model.head.check[4].state;
  const call = await engineOf(model);
  const { problem } = await call('cover', { wait: true });
  assert.match(problem, new RegExp(`^state ${state}: requested_bytes is`));
});

test('live and range: rows add up to the curve', async () => {
  for (const [name, model] of manyModels(2)) {
    const call = await engineOf(model);
    const { by } = await call('cover', {});
    const last = model.states - 1;
    for (const one of by) {
      const got = await call('live', { state: last, by: one });
      assert.equal(got.bytes, oracle(model).requested(last), `${name} ${one}`);
      assert.equal(got.rows.reduce((n, row) => n + row.bytes, got.adjust), got.bytes);
      assert.equal(got.pending, oracle(model).pending(last));
      const half = Math.floor(last / 2);
      const change = await call('range', { a: last, b: half, by: one });
      assert.equal(change.a, half);
      assert.equal(change.rows.reduce((n, row) => n + row.a, 0), change.start);
      assert.equal(change.rows.reduce((n, row) => n + row.delta, 0), change.end - change.start);
    }
  }
});

test('a row has its frames, its address and its neighbours', async () => {
  const model = makeModel(4, { events: 900 });
  const call = await engineOf(model);
  const addresses = new Set();
  const p = 600;
  for (const id of oracle(model).live(p)) {
    const row = await call('row', { id, state: p });
    assert.equal(row.bytes, model.alloc.bytes[id]);
    assert.equal(row.stack.length, 2);
    assert.match(row.stack[0].func, /^layer_/);
    assert.match(row.stack[1].func, /^forward_/);
    assert.equal(row.culprit, 1);
    assert.deepEqual(row.stack.map((frame) => frame.kind), [0, 1]);
    assert.ok(['low', 'medium', 'high'].includes(row.sure));
    assert.equal(row.end, model.alloc.end[id] === model.states ? null : model.alloc.end[id]);
    assert.match(row.address, /^0x7f/);
    assert.ok(!addresses.has(row.address));
    addresses.add(row.address);
    for (const other of row.neighbours) assert.ok(oracle(model).live(p).includes(other.id));
    assert.match(row.step, /^step \d+$/);
  }
  assert.equal(await call('row', { id: 1e9, state: 0 }), null);
});

test('a pile lists what a span of bytes holds, in the order of the picture', async () => {
  const model = makeModel(6);
  const call = await engineOf(model);
  const p = 200;
  const all = await call('pile', { state: p, low: 0, high: 1e12, by: 'birth' });
  assert.deepEqual(all.rows.map((row) => row.id), oracle(model).live(p)
    .filter((id) => model.alloc.bytes[id] > 0));
  const grouped = await call('pile', { state: p, low: 0, high: 1e12, by: 'category' });
  const cats = grouped.rows.map((row) => model.alloc.cat[row.id]);
  assert.deepEqual(cats, cats.slice().sort((a, b) => a - b));
  assert.equal(grouped.bytes, oracle(model).requested(p));
});

test('what is missing is a named error', async () => {
  const model = makeModel(2);
  const call = await engineOf(model);
  await assert.rejects(call('paint'), /no operation is called paint/);
  await assert.rejects(call('toString'), /no operation is called toString/);
  await assert.rejects(call('live', { dev: 7 }), /no device 7 in file 0/);
  const more = await engineOf(model, { paint: (d, { n }) => d.model.states + n });
  assert.equal(await more('paint', { n: 1 }), model.states + 1);
});

test('before all blocks are here: the first picture is answered, the rest waits', async () => {
  const { head, blocks } = packModel(makeModel(2));
  head.capacity_bytes = 16 << 20;
  const call = createEngine([{ devices: [head] }], { raster: (d) => d.model.alloc.rows });
  const order = [];
  const note = (name) => (value) => order.push(name) && value;
  const picture = call('raster', { by: 'category' }).then(note('picture'));
  const live = call('live', { state: 3 }).then(note('live'));
  await call('block', { n: 0, bytes: blocks[0] });
  assert.equal(await picture, head.tables.alloc.rows);
  const { complete, capacityLeast } = await call('cover', {});
  assert.equal(complete, false);
  assert.equal(capacityLeast, head.capacity_bytes);
  assert.deepEqual(order, ['picture']);
  await call('block', { n: 1, bytes: blocks[1] });
  await live;
  assert.equal((await call('cover', { wait: true })).complete, true);
});

test('the first picture by line is answered early where lines are here, else with the rest', async () => {
  for (const lines of [true, false]) {
    const { head, blocks } = packModel(makeModel(2), lines);
    const call = createEngine([{ devices: [head] }], { raster: (d) => d.grouping('line').names });
    const order = [];
    const picture = call('raster', { by: 'line' }).then((names) => order.push('picture') && names);
    await call('block', { n: 0, bytes: blocks[0] });
    const early = await call('cover', { wait: 'first' });
    assert.equal(early.lines !== null, lines);
    order.push('block');
    await call('block', { n: 1, bytes: blocks[1] });
    const names = await picture;
    assert.deepEqual(order, lines ? ['picture', 'block'] : ['block', 'picture']);
    const { rows } = await call('live', { by: 'line' });
    if (lines) {
      assert.deepEqual(early.lines.map((row) => ({ ...row })),
        rows.map(({ category, ...row }) => row));
    }
    assert.ok(rows.every(({ name }) => names.includes(name)) && rows.length > 3);
  }
});

test('a cut page and a damaged column say so, and every request ends', async () => {
  const { head, blocks } = packModel(makeModel(2));
  const cut = createEngine([{ devices: [head] }]);
  await cut('block', { n: 0, bytes: blocks[0] });
  const waits = cut('live', { state: 3 });
  await cut('end');
  await assert.rejects(waits, /ends before its data/);
  const damaged = createEngine([{ devices: [head] }]);
  const bad = blocks[0].slice();
  bad.fill(7, 20, 40);
  await damaged('block', { n: 0, bytes: bad });
  await assert.rejects(damaged('cover', { wait: true }), /^Error: column alloc\./);
  await assert.rejects(damaged('raster'), /no operation/);
  await assert.rejects(damaged('live', {}), (e) => e.column.startsWith('alloc.'));
});

test('of several devices only the last ones are kept, and each is itself', async () => {
  const models = [1, 2, 3, 4].map((seed) => makeModel(seed));
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
  const call = createEngine([{ devices: heads.slice(0, 2) }, { devices: heads.slice(2) }]);
  for (const [n, bytes] of all.entries()) await call('block', { n, bytes });
  for (const i of [0, 1, 2, 3, 0, 3]) {
    const got = await call('live', { file: i >> 1, dev: i & 1, state: 250 });
    assert.equal(got.bytes, oracle(models[i]).requested(250));
  }
});

/* Waits, as long as it takes, but for a queue that never answers. */
async function until(test) {
  for (let i = 0; i < 5000 && !test(); i++) await new Promise((resolve) => setTimeout(resolve, 2));
  assert.ok(test());
}

test('a queue answers each request once; of a kind only the newest waits', async () => {
  const called = [];
  const answers = new Map();
  const push = createQueue(async (op, args) => {
    called.push(`${op} ${args.n}`);
    if (args.n < 0) throw new Error('below');
    return args.n;
  }, (reply) => {
    assert.ok(!answers.has(reply.id));
    answers.set(reply.id, reply.error ?? reply.value);
  }, () => new Promise((resolve) => setTimeout(resolve, 1)));
  let id = 0;
  for (let n = 0; n < 5; n++) push({ id: ++id, op: 'raster', args: { n } });
  for (let n = 0; n < 2; n++) push({ id: ++id, op: 'row', args: { n, id: n } });
  for (let n = 0; n < 2; n++) push({ id: ++id, op: 'block', args: { n } });
  push({ id: ++id, op: 'find', args: { n: -1 } });
  await until(() => answers.size === 10);
  assert.deepEqual(called, ['raster 4', 'row 0', 'row 1', 'block 0', 'block 1', 'find -1']);
  assert.deepEqual([...answers.entries()].sort((a, b) => a[0] - b[0]).map((e) => e[1]),
    [null, null, null, null, 4, 0, 1, 0, 1, 'below']);
});

test('a request that waits for blocks does not keep them out', async () => {
  const { head, blocks } = packModel(makeModel(2));
  const call = createEngine([{ devices: [head] }]);
  const answered = new Map();
  const push = createQueue(call, ({ id, value, error }) => answered.set(id, error ?? value),
    () => new Promise((resolve) => setTimeout(resolve, 0)));
  push({ id: 1, op: 'live', args: { state: 5 } });
  await new Promise((resolve) => setTimeout(resolve, 10));
  blocks.forEach((bytes, n) => push({ id: 2 + n, op: 'block', args: { n, bytes } }));
  await until(() => answered.has(1));
  assert.equal(answered.get(1).bytes, oracle(makeModel(2)).requested(5));
});

test('covers of all devices need none of them', async () => {
  const cover = (n) => ({ rows: 1, columns: { requested: { type: 'u64', const: n } } });
  const devices = [1, 2, 3, 4, 5].map((seed) => {
    const { head } = packModel(makeModel(seed));
    return { ...head, tables: { ...head.tables, cover: cover(seed) } };
  });
  devices.push({ ...devices[0], tables: {} });
  const call = createEngine([{ devices: devices.slice(0, 2) }, { devices: devices.slice(2) }]);
  const covers = await call('covers');
  assert.deepEqual(covers.map((list) => list.map((one) => one && one.requested[0])),
    [[1, 2], [3, 4, 5, null]]);
});

test('devices are decoded when they are asked for, and the oldest is given back', async () => {
  const { head, blocks } = packModel(makeModel(3));
  const tables = new Set();
  const devices = [0, 1, 2, 3, 4].map((n) => ({ ...head, get tables() {
    tables.add(n);
    return head.tables;
  } }));
  const call = createEngine([{ devices }]);
  for (const [n, bytes] of blocks.entries()) await call('block', { n, bytes });
  await call('end');
  assert.equal(tables.size, 0);
  for (const dev of [0, 1, 0, 2, 3]) {
    tables.clear();
    await call('cover', { dev, wait: true });
    // What is kept is not read again.
    assert.deepEqual([...tables], dev === 0 && tables.size === 0 ? [] : [dev], `device ${dev}`);
  }
  tables.clear();
  await call('cover', { dev: 1, wait: true });
  assert.deepEqual([...tables], [1], 'it had been given back');
});
