// list.test.mjs - lists of single allocations against the oracle: which, how many, in which order.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDevice } from '../../../viewer/core/memory/device.js';
import { MOST, listWork } from '../../../viewer/core/memory/list.js';
import { createPictureOps } from '../../../viewer/core/memory/pictures.js';
import { isBefore } from '../../../viewer/core/memory/live.js';
import { atOnce, isWork } from '../../../viewer/core/model/slices.js';
import { makeModel, manyModels, oracle } from './made/synthetic.mjs';

const ops = createPictureOps();

async function list(d, args) {
  const made = await ops.list(d, args);
  return isWork(made) ? atOnce(made) : made;
}

/* What a row is sorted by, read plainly; undefined where it is not known. */
function plainValue({ model, grouping }, id, row) {
  const { bytes, born, end } = model.alloc;
  if (['line', 'category', 'stream', 'pool'].includes(id)) {
    return grouping(id).names[grouping(id).of[row]];
  }
  if (id === 'end') return end[row] < model.states ? end[row] : undefined;
  return { bytes: bytes[row], born: born[row], id: row,
    life: Math.min(end[row], model.states) - born[row] }[id];
}

function plainOrder(d, rows, { id, descending }) {
  const sign = descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [v, w] = [a, b].map((row) => plainValue(d, id, row));
    if (v === w) return a - b;
    if (v === undefined || w === undefined) return v === undefined ? 1 : -1;
    return (v < w ? -1 : 1) * sign;
  });
}

const sorts = ['bytes', 'born', 'end', 'life', 'line', 'category', 'stream', 'pool', 'id']
  .flatMap((id) => [{ id, descending: true }, { id, descending: false }]);

test('what is alive is that of the oracle, in any order, cut after its sums', async () => {
  for (const [name, model] of manyModels(8)) {
    const d = createDevice(model);
    for (const p of [0, Math.floor(model.states / 2), model.states - 1]) {
      const rows = oracle(model).live(p);
      const bytes = rows.reduce((sum, row) => sum + model.alloc.bytes[row], 0);
      for (const sort of sorts) {
        for (const most of [1, 5, MOST]) {
          const got = await list(d, { of: 'alive', state: p, sort, most });
          assert.deepEqual(got.rows.map((row) => row.id),
            plainOrder(d, rows, sort).slice(0, most), `${name} ${p} ${sort.id} ${most}`);
          assert.deepEqual([got.count, got.bytes, got.alive], [rows.length, bytes, bytes], name);
        }
      }
    }
  }
});

test('matches are those of the search, alive or not', async () => {
  const model = makeModel(5, { events: 800 });
  const d = createDevice(model);
  const { bytes } = model.alloc;
  const rows = [...bytes.keys()].filter((row) => bytes[row] >= 4096);
  const sort = { id: 'bytes', descending: true };
  const got = await list(d, { of: 'matches', state: 300, text: 'size>=4KiB', sort });
  assert.ok(rows.length > 20 && rows.length < bytes.length);
  assert.deepEqual(got.rows.map((row) => row.id), plainOrder(d, rows, sort));
  assert.equal(got.count, rows.length);
  assert.equal(got.bytes, rows.reduce((sum, row) => sum + bytes[row], 0));
  assert.equal((await list(d, { of: 'matches', state: 0, text: 'nosuchtext' })).count, 0);
  const wrong = await list(d, { of: 'matches', state: 0, text: 'size>x' });
  assert.deepEqual(Object.keys(wrong).sort(), ['at', 'error']);
});

test('a row says when it lives, and what of that is not known', () => {
  const model = makeModel(12, { events: 600, before: 10, neverFreed: 0.1 });
  const d = createDevice(model);
  const { born, end, bytes } = model.alloc;
  const got = atOnce(listWork(d, { of: 'alive', state: 300 }, null));
  assert.ok(got.rows.some((row) => row.before) && got.rows.some((row) => row.end === null));
  for (const row of got.rows) {
    assert.equal(row.end, end[row.id] < model.states ? end[row.id] : null);
    assert.equal(row.open, row.end === null || isBefore(model, row.id));
    assert.deepEqual([row.born, row.bytes, row.part],
      [born[row.id], bytes[row.id], bytes[row.id] / got.alive]);
  }
});

test('many that are equal are cut in birth order', () => {
  const model = makeModel(3, { size: () => 512, events: 900 });
  const d = createDevice(model);
  const all = atOnce(listWork(d, { of: 'alive', state: 500 }, null)).rows.map((row) => row.id);
  const few = atOnce(listWork(d, { of: 'alive', state: 500, most: 7 }, null)).rows;
  assert.ok(all.length > 20);
  assert.deepEqual(few.map((row) => row.id), all.slice(0, 7));
  assert.deepEqual(all, [...all].sort((a, b) => a - b));
});
