// slices.test.mjs - long work in slices: the pauses, the same answers, and no long way between two.
import test from 'node:test';
import assert from 'node:assert/strict';
import { atOnce, inSlices, isWork, SLICE, STRIDE, strides } from '../../../viewer/core/model/slices.js';
import { answers } from '../../../viewer/core/memory/answers.js';
import { createDevice } from '../../../viewer/core/memory/device.js';
import { createEngine } from '../../../viewer/core/engine.js';
import { createPictureOps } from '../../../viewer/core/memory/pictures.js';
import { groupsWork, stackWork } from '../../../viewer/core/memory/raster.js';
import { mapExtent, mapRowsWork, mapWork } from '../../../viewer/core/memory/address.js';
import { makeModel } from './made/synthetic.mjs';
import { makeShape } from './made/shapes.mjs';
import { packModel } from './made/pack.mjs';

test('work pauses when a slice is over, and only then', async () => {
  let clock = 0;
  const began = [];
  let pauses = 0;
  const work = strides(100, (from) => {
    began.push([from, pauses]);
    clock += 3;
  }, 10);
  await inSlices(work, async () => { pauses++; }, () => clock);
  assert.equal(SLICE, 8);
  assert.deepEqual(began.map(([from]) => from), [0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
  assert.deepEqual(began.map(([, n]) => n), [0, 0, 0, 1, 1, 1, 2, 2, 2, 3]);
  assert.equal(atOnce((function* () { return yield* strides(5, () => {}); })()), undefined);
  assert.deepEqual([isWork(work), isWork({ rows: [] }), isWork(null)], [true, false, false]);
});

test('what fails in slices fails', async () => {
  const work = strides(STRIDE * 2, (from) => { if (from > 0) throw new Error('here'); });
  await assert.rejects(inSlices(work, async () => {}), /here/);
});

test('an engine in slices gives the answers of one at once', async () => {
  const model = makeModel(4, { events: 600 });
  const { head, blocks } = packModel(model);
  const answers = [];
  let paused = 0;
  // A clock that makes every step a slice.
  let clock = 0;
  const sliced = (work) => inSlices(work, async () => { paused++; }, () => (clock += SLICE));
  for (const run of [undefined, sliced]) {
    const call = createEngine([{ devices: [head] }], createPictureOps(), run);
    for (const [n, bytes] of blocks.entries()) await call('block', { n, bytes });
    const size = { W: 80, H: 60, x: { mode: 'events', from: 0, to: model.states } };
    const got = [await call('cover', { wait: true })];
    for (const op of ['raster', 'groups', 'map']) {
      got.push(await call(op, { ...size, by: 'line' }));
      got.push(await call(op, { ...size, by: 'category', query: 'size>=1KiB', only: true }));
    }
    answers.push(got);
  }
  assert.deepEqual(answers[1], answers[0]);
  assert.ok(paused > 40, `${paused} pauses`);
});

test('decoding lets others work before each column', async () => {
  const { head, blocks } = packModel(makeModel(4, { events: 600 }));
  const columns = Object.values(head.tables).filter((table) => table.rows > 0)
    .flatMap((table) => Object.keys(table.columns));
  let pauses = 0;
  const call = createEngine([{ devices: [head] }], {}, undefined, async () => { pauses++; });
  for (const [n, bytes] of blocks.entries()) await call('block', { n, bytes });
  await call('cover', { wait: true });
  assert.equal(pauses, columns.length + 1, 'the last is before references are checked');
});

test('no step makes two of the tables that a device makes once', async () => {
  const size = { W: 80, H: 60, x: { mode: 'events', from: 0, to: 500 }, by: 'line', state: 300 };
  const ops = { ...answers, ...createPictureOps() };
  for (const op of ['raster', 'groups', 'map', 'live']) {
    const d = createDevice(makeModel(4, { events: 600 }));
    const made = new Set();
    for (const name of ['curve', 'pyramid', 'grouping', 'bands', 'order']) {
      const make = d[name];
      d[name] = (...args) => {
        made.add(name);
        return make(...args);
      };
    }
    const work = await ops[op](d, size);
    for (let before = 0; !work.next().done; before = made.size) {
      assert.ok(made.size <= before + 1, `${op}: ${[...made]}`);
    }
    assert.ok(made.has('curve') && made.has('grouping'), op);
  }
});

test('pictures of many allocations stand still often', () => {
  const allocs = 1e5;
  const model = makeShape('training', { allocs, live: 500 });
  const shown = Uint32Array.from({ length: 200 }, (_, c) => Math.floor(model.states * c / 200));
  const count = (work) => {
    for (let n = 0; ; n++) {
      const { done, value } = work.next();
      if (done) return [n, value];
    }
  };
  const view = { shown, y0: 0, y1: 1e9, H: 100 };
  const least = Math.floor(allocs / STRIDE);
  const [stack, { drawn }] = count(stackWork(model, view));
  assert.ok(stack >= least + Math.floor(drawn / 1024), `${stack} of the stack`);
  const [groups] = count(groupsWork(model, { ...view, groups: 1,
    groupOf: new Uint8Array(model.alloc.rows) }));
  assert.ok(groups >= least);
  const [rows, map] = count(mapRowsWork(model));
  assert.ok(rows >= least);
  assert.ok(count(mapWork(model, map, { ...view, y1: mapExtent(map).bytes }))[0] >= least);
});
