// moments.test.mjs - what single events did, against a replay of the log.
import test from 'node:test';
import assert from 'node:assert/strict';
import { createDevice } from '../../../viewer/core/memory/device.js';
import { changedBar, momentsWork, refusedAt } from '../../../viewer/core/memory/moments.js';
import { segmentsAt } from '../../../viewer/core/memory/address.js';
import { atOnce } from '../../../viewer/core/model/slices.js';
import { createPictureOps } from '../../../viewer/core/memory/pictures.js';
import { makeModel, manyModels } from './made/synthetic.mjs';

const momentsOf = (model, p, n) => atOnce(momentsWork(createDevice(model), p, n));

/* The blocks that lie in a segment after `p` events. */
function blocksIn(model, segment, p) {
  const live = new Set(model.log.before);
  for (const { op, row } of model.log.events.slice(0, p)) {
    if (op === 'alloc') live.add(row);
    if (op === 'free_completed') live.delete(row);
  }
  return [...live].filter((row) => row.place?.segment === segment);
}

/* The segment that event `p` changed, as the log has it. */
function plainSegment(model, p) {
  const { op, row, segment = row?.place?.segment } = model.log.events[p - 1];
  if (!segment) return null;
  const base = model.range.base[segment.row];
  if (op === 'segment_free') return { base, bytes: 0, free: 0 };
  const used = blocksIn(model, segment, p).reduce((n, { block, bytes, padUnknown }) =>
    n + (padUnknown ? Math.max(512, Math.ceil(bytes / 512) * 512) : block), 0);
  return { base, bytes: segment.size, free: segment.size - used };
}

function* models() {
  yield* manyModels(4);
  for (let seed = 1; seed < 4; seed++) {
    yield [`small ${seed}`, makeModel(seed, { events: 900, neverFreed: 0, live: 0.5, other: 0.1,
      size: (r) => Math.floor(2 ** (16 + r() * 6)) })];
  }
}

test('the segment that each event changed, and what is free in it then', () => {
  const seen = new Set();
  for (const [name, model] of models()) {
    const most = model.states - 1;
    for (const p of [0, most >> 1, most]) {
      for (const { state, kind, segment } of momentsOf(model, p, 60)) {
        assert.deepEqual(segment, plainSegment(model, state), `${name} ${kind} ${state}`);
        if (segment) seen.add(kind);
      }
    }
  }
  assert.deepEqual([...seen].sort(), ['alloc', 'free_completed', 'free_requested',
    'segment_alloc', 'segment_free']);
});

test('the line and the category of each event are those of its allocation', () => {
  for (const [name, model] of models()) {
    for (const { state, row, line, category } of momentsOf(model, model.states >> 1, 80)) {
      const entry = model.log.events[state - 1];
      assert.equal(row < 0, !entry.row, name);
      if (!entry.row) {
        assert.deepEqual([line, category], ['', '']);
        continue;
      }
      const { site: n, cat } = entry.row;
      if (model.stack.rows > 1) assert.equal(line, `train.py:${10 + (n % 3)} via ${n}`);
      else assert.match(line, /^\(no stack\)/);
      assert.equal(category, model.head.categories[cat].name);
    }
  }
});

test('a request that failed has the line that asked', () => {
  const model = makeModel(3, { events: 300, other: 0.2 });
  const state = model.oom.state[1];
  model.oom.stack[1] = 4;
  const moments = momentsOf(model, state, 40).filter(({ kind }) => kind === 'oom');
  assert.ok(moments.length > 1);
  for (const one of moments) {
    assert.equal(one.line, one.state === state ? 'train.py:12 via 2' : '');
    assert.deepEqual([one.bytes, one.free], [1 << 30, 1 << 20]);
  }
  assert.deepEqual(refusedAt({ oom: { rows: 1, state: [7] }, stack: { rows: 1 }, string: [''] }, 0),
    { state: 7, bytes: null, free: null, line: '' });
});

test('of what is unmapped in part the rest is told, of all of it that it is gone', () => {
  const column = (...list) => Uint32Array.from(list);
  const MIB = 1 << 20;
  const model = { states: 6, head: {}, string: [''], stack: { rows: 1 }, oom: { rows: 0 },
    event: { rows: 4, state: column(1, 2, 4, 5), kind: column(2, 2, 3, 3),
      arg: [2, 2, 2, 2].map((n) => n * MIB) },
    range: { rows: 2, born: column(1, 2), end: column(5, 4), base: [0, 2 * MIB],
      bytes: [2 * MIB, 2 * MIB], lane: column(0, 4096) },
    alloc: { rows: 1, born: column(3), end: column(6), bytes: [MIB], pad: [512], lane: column(512) } };
  const told = momentsOf(model, 3, 10);
  assert.deepEqual(told.map(({ kind, segment }) => [kind, segment]), [
    ['segment_map', { base: 0, bytes: 2 * MIB, free: 2 * MIB }],
    ['segment_map', { base: 0, bytes: 4 * MIB, free: 4 * MIB }],
    ['alloc', { base: 0, bytes: 4 * MIB, free: 3 * MIB - 512 }],
    ['segment_unmap', { base: 0, bytes: 2 * MIB, free: MIB - 512 }],
    ['segment_unmap', { base: 0, bytes: 0, free: 0 }]]);
  assert.equal(changedBar(model, { row: -1, kind: 'oom', state: 3 }, segmentsAt(model, 3)), null);
});

test('State marks the segment that the last event changed, and no other', () => {
  const model = makeModel(2, { events: 600 });
  const d = createDevice(model);
  const { state: op } = createPictureOps();
  for (let p = 1; p < model.states; p += 7) {
    const { bars } = op(d, { state: p });
    const wanted = plainSegment(model, p);
    assert.deepEqual(bars.filter((bar) => bar.changed).map(({ base }) => base),
      wanted?.bytes ? [wanted.base] : []);
  }
});

test('without addresses no segment is told, and nothing fails', () => {
  const model = makeModel(1, { events: 100 });
  delete model.alloc.lane;
  assert.ok(momentsOf(model, 50, 40).every(({ segment }) => segment === null));
  model.range = { rows: 0, born: [], end: [] };
  assert.ok(momentsOf(model, 50, 40).every(({ segment }) => segment === null));
});
