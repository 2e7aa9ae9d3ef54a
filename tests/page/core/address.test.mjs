// address.test.mjs - the map and the allocator at one moment, against scans of the live blocks.
import test from 'node:test';
import assert from 'node:assert/strict';
import { makeModel, manyModels, oracle } from './made/synthetic.mjs';
import { shownOf } from './made/plain.mjs';
import { mapPicture, mapRows } from './made/whole.mjs';
import { blockBytes, eventsAround, mapExtent, PLACE, rangeFinder,
  SEGMENT_FLAGS, segmentsAt } from '../../../viewer/core/memory/address.js';

const NONE = 0xffffffff;
const SMALL = { events: 1200, before: 6, size: (r) => Math.floor(2 ** (10 + r() * 12)), live: 0.5 };

function plainRange(model, lane, state) {
  const { range } = model;
  for (let i = 0; i < range.rows; i++) {
    const inside = lane >= range.lane[i] && lane < range.lane[i] + range.bytes[i] / 512;
    if (inside && range.born[i] <= state && state < range.end[i]) return i;
  }
  return -1;
}

/* Lets a segment that came after another went have its addresses, as allocators do. */
function reused(model) {
  const { range, alloc } = model;
  const of = Array.from(alloc.lane, (lane, r) => plainRange(model, lane, alloc.born[r]));
  for (let j = 1; j < range.rows; j++) {
    const taken = (i) => [...Array(range.rows).keys()].some((k) => k !== i && k !== j &&
      range.lane[k] === range.lane[i] && range.born[k] < range.end[j] &&
      range.end[k] > range.born[j]);
    const i = [...Array(j).keys()].find((k) => range.end[k] <= range.born[j] &&
      range.bytes[k] >= range.bytes[j] && !taken(k));
    if (i === undefined) continue;
    const shift = range.lane[j] - range.lane[i];
    range.lane[j] = range.lane[i];
    range.base[j] = range.base[i];
    of.forEach((segment, r) => { if (segment === j) alloc.lane[r] -= shift; });
  }
  return model;
}

/* Segments as two mappings each, the second a quarter; every other pair has a hole between them. */
function expandable(model) {
  const { range, segment } = model;
  const parts = [];
  for (let i = 0; i < range.rows; i++) {
    const row = { born: range.born[i], end: range.end[i], lane: range.lane[i], base: range.base[i],
      bytes: range.bytes[i], segment: i };
    const cut = (range.bytes[i] / 4) * 3;
    parts.push({ ...row, bytes: cut });
    parts.push({ ...row, bytes: range.bytes[i] - cut, lane: row.lane + cut / 512,
      base: row.base + cut + (i % 2 ? 1 << 21 : 0) });
    segment.flags[i] = SEGMENT_FLAGS.expandable | (i % 3 === 2 ? SEGMENT_FLAGS.graph : 0);
  }
  for (const key of ['born', 'end', 'lane', 'base', 'bytes', 'segment']) {
    range[key] = range[key].constructor.from(parts, (part) => part[key]);
  }
  range.rows = parts.length;
  return model;
}

function models() {
  const list = [...manyModels(3)];
  for (let seed = 1; seed < 5; seed++) {
    list.push([`small ${seed}`, makeModel(seed, SMALL)]);
    list.push([`reused ${seed}`, reused(makeModel(seed, SMALL))]);
    list.push([`expandable ${seed}`, expandable(makeModel(seed, SMALL))]);
  }
  return list;
}

test('some segments of these models share addresses', () => {
  const rows = models().map(([name, model]) => [name, mapRows(model).rows]);
  assert.ok(rows.some(([name, list]) => name.startsWith('reused') &&
    list.some((row) => row.segments.size > 1)));
});

test('a lane at a state is in one range', () => {
  for (const [name, model] of models()) {
    const find = rangeFinder(model);
    const { lane, born, rows } = model.alloc;
    for (let r = 0; r < rows; r++) {
      if (lane[r] === NONE) continue;
      assert.equal(find(lane[r], born[r]), plainRange(model, lane[r], born[r]), name);
      assert.equal(find(lane[r], 0), plainRange(model, lane[r], 0), name);
    }
  }
});

test('rows hold every range once and do not overlap', () => {
  for (const [name, model] of models()) {
    const { rows, rowOf, rangeOf, unplaced } = mapRows(model);
    const ranges = rows.flatMap((row) => row.ranges);
    assert.deepEqual(ranges.sort((a, b) => a - b), [...Array(model.range.rows).keys()], name);
    rows.slice(1).forEach((row, i) => assert.ok(row.lane >= rows[i].lane + rows[i].lanes, name));
    rowOf.forEach((row, i) => assert.ok(rows[row].ranges.includes(i)));
    assert.equal(unplaced.count, rangeOf.filter((range) => range < 0).length, name);
  }
});

/* Bytes of each pixel in use, mapped, and who is over the centre, by looking at each live block. */
function plainPixel(model, map, tops, p, from, to) {
  const place = (lane, row) => tops[row] + (lane - map.rows[row].lane) * 512;
  const got = { used: 0, mapped: 0, id: -1, range: -1, into: 0 };
  const centre = (from + to) / 2;
  const look = (at, bytes, key, which, i) => {
    got[key] += Math.max(0, Math.min(to, at + bytes) - Math.max(from, at));
    if (at > centre || centre >= at + bytes) return;
    got[which] = i;
    got.into = centre - at;
  };
  for (let i = 0; i < model.range.rows; i++) {
    if (model.range.born[i] > p || model.range.end[i] <= p || tops[map.rowOf[i]] < 0) continue;
    look(place(model.range.lane[i], map.rowOf[i]), model.range.bytes[i], 'mapped', 'range', i);
  }
  for (let r = 0; r < model.alloc.rows; r++) {
    const range = map.rangeOf[r];
    if (range < 0 || model.alloc.born[r] > p || model.alloc.end[r] <= p) continue;
    if (tops[map.rowOf[range]] < 0) continue;
    look(place(model.alloc.lane[r], map.rowOf[range]), blockBytes(model, r), 'used', 'id', r);
  }
  return got;
}

function plainKind(model, map, p, pixel) {
  const { born, end, wait, bytes, pad } = model.alloc;
  if (pixel.id >= 0) {
    const r = pixel.id;
    if (wait[r] > 0 && p >= end[r] - wait[r]) return PLACE.pending;
    return pixel.into >= bytes[r] && blockBytes(model, r) - bytes[r] === pad?.[r] ? PLACE.slack :
      PLACE.used;
  }
  if (pixel.range < 0) return PLACE.unmapped;
  const segment = model.range.segment[pixel.range];
  if (model.segment.flags[segment] & SEGMENT_FLAGS.graph) return PLACE.held;
  const holds = [...map.rangeOf].some((range, r) => range >= 0 &&
    model.range.segment[range] === segment && born[r] <= p && p < end[r]);
  return holds ? PLACE.stranded : PLACE.returnable;
}

test('each pixel of the map: bytes in use and mapped, who is over its centre, what is free', () => {
  const seen = new Set();
  for (const [name, model] of models()) {
    if (model.alloc.rows > 700) continue;
    const map = mapRows(model);
    const shown = shownOf(oracle(model).curve(), 0, model.states, 7);
    const H = 41;
    const chosen = map.rows.length > 3 ? [2, 0, 3] : null;
    for (const [rows, part] of [[null, 1], [chosen, 1], [null, 0.3]]) {
      const { tops, bytes } = mapExtent(map, rows);
      const y0 = part < 1 ? Math.floor(bytes * 0.2) : 0;
      const y1 = Math.max(y0 + H, y0 + Math.floor(bytes * part));
      const got = mapPicture(model, map, { shown, chosen: rows, y0, y1, H });
      const bound = (p) => Math.floor(y0 + ((y1 - y0) * p) / H);
      for (let i = 0; i < got.ids.length; i++) {
        const [y, p] = [Math.floor(i / 7), shown[i % 7]];
        const [from, to] = [bound(y), bound(y + 1)];
        const expected = plainPixel(model, map, tops, p, from, to);
        assert.equal(got.used[i], Math.fround(expected.used / (to - from)), name);
        assert.equal(got.mapped[i], Math.fround(expected.mapped / (to - from)), name);
        assert.equal(got.ids[i], expected.id, name);
        assert.equal(got.ranges[i], expected.range, name);
        const kind = plainKind(model, map, p, expected);
        assert.equal(got.kinds[i], kind, name);
        seen.add(kind);
      }
    }
  }
  assert.equal(seen.size, Object.keys(PLACE).length);
});

/* The largest run of free bytes of a bar, byte ranges marked one by one in units of 512. */
function plainLargest(bar) {
  const used = new Uint8Array(bar.bytes / 512);
  for (const { at, size } of bar.blocks) {
    used.fill(1, Math.floor(at / 512), Math.ceil((at + size) / 512));
  }
  let best = 0;
  let run = 0;
  used.forEach((taken, i) => {
    run = taken ? 0 : (bar.gaps.includes(i * 512) ? 0 : run) + 1;
    best = Math.max(best, run);
  });
  return best * 512;
}

test('bars at a state: reserved, used, free and its largest run', () => {
  for (const [name, model] of models()) {
    const replay = oracle(model);
    for (const p of [0, Math.floor(model.states / 2), model.states - 1]) {
      const bars = segmentsAt(model, p);
      const total = (key) => bars.reduce((n, bar) => n + bar[key], 0);
      assert.equal(total('bytes'), replay.reserved(p), name);
      const placed = replay.live(p).filter((r) => model.alloc.lane[r] !== NONE);
      assert.equal(total('used'), placed.reduce((n, r) => n + blockBytes(model, r), 0), name);
      const rows = bars.flatMap((bar) => bar.blocks.map((block) => block.row));
      assert.deepEqual(rows.sort((a, b) => a - b), placed, name);
      for (const bar of bars) {
        assert.equal(bar.free, bar.bytes - bar.used, name);
        assert.equal(bar.largest, plainLargest(bar), name);
        const pending = bar.blocks.filter((b) => b.pending).reduce((n, b) => n + b.size, 0);
        assert.equal(bar.pending, pending);
      }
      const keys = bars.map((bar) => [bar.pool, bar.stream, bar.base]);
      const order = (a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
      assert.deepEqual(keys, keys.slice().sort(order));
    }
  }
});

test('where no table tells of segments, ranges name pool and stream; private pools are held', () => {
  const model = makeModel(4, { events: 400 });
  const plain = segmentsAt(model, 200);
  delete model.range.segment;
  model.segment = { rows: 0 };
  model.range.pool = Uint8Array.from({ length: model.range.rows }, (_, i) => i % 3);
  model.range.stream = Uint8Array.from({ length: model.range.rows }, (_, i) => i % 2);
  model.head = { ...model.head, pools: ['unknown', 'default', 'pool 2'] };
  const bars = segmentsAt(model, 200);
  const rangeOf = (bar) => bar.ranges[0];
  assert.equal(bars.length, plain.length);
  for (const bar of bars) {
    assert.deepEqual([bar.pool, bar.stream, bar.flags], [rangeOf(bar) % 3, rangeOf(bar) % 2,
      rangeOf(bar) % 3 === 2 ? SEGMENT_FLAGS.graph : 0]);
  }
  assert.equal(new Set(bars.map((bar) => bar.flags)).size, 2);
});

test('what is mapped in parts is one segment, where pool and stream are one', () => {
  const column = (...list) => Uint32Array.from(list);
  const MIB = 1 << 20;
  const model = { states: 9, head: { pools: ['default'] },
    event: { rows: 4, state: column(1, 2, 3, 4), kind: column(2, 2, 0, 2) },
    // Two mapped one after the other, one more behind an address, a plain one beside it, another
    // stream's.
    range: { rows: 5, born: column(1, 2, 2, 3, 4), end: column(9, 9, 9, 9, 9),
      base: [0, 2, 6, 8, 10].map((n) => n * MIB), bytes: [2, 2, 2, 2, 2].map((n) => n * MIB),
      lane: column(0, 4096, 8192, 12288, 16384), stream: column(0, 0, 0, 0, 1) },
    // One from the first into the second.
    alloc: { rows: 1, born: column(5), end: column(9), lane: column(3072), bytes: [MIB],
      pad: [0] } };
  const bars = segmentsAt(model, 6);
  assert.deepEqual(bars.map((bar) => [bar.base / MIB, bar.bytes / MIB, bar.flags,
    bar.blocks.length, bar.empty.map(({ at, size }) => [at / MIB, size / MIB])]), [
    [0, 4, 1, 1, []], [6, 2, 1, 0, [[0, 2]]], [8, 2, 0, 0, [[0, 2]]],
    [10, 2, 1, 0, [[0, 2]]]]);
  assert.deepEqual(segmentsAt({ ...model, event: { rows: 0, state: [], kind: [] }, kindAt: null },
    6).map((bar) => [bar.base / MIB, bar.flags]), [[0, 0], [2, 0], [6, 0], [8, 0], [10, 0]]);
  const { rows } = mapRows(model);
  assert.deepEqual(rows.map((row) => [row.base / MIB, row.bytes / MIB]), [[0, 4], [6, 2], [8, 2], [10, 2]]);
});

test('a hole between mappings ends a free run', () => {
  const bars = models().filter(([name]) => name.startsWith('expandable'))
    .flatMap(([, model]) => segmentsAt(model, model.states >> 1));
  assert.ok(bars.some((bar) => bar.gaps.length > 0 && bar.largest < bar.free));
});

test('events around a state are those of the log', () => {
  for (const [name, model] of manyModels(6)) {
    const most = model.states - 1;
    for (const [p, n] of [[0, 10], [Math.floor(most / 2), 31], [most, 200], [most, 1]]) {
      const events = eventsAround(model, p, n);
      const states = events.map((event) => event.state);
      assert.equal(states.length, Math.min(n, most), name);
      if (p > 0) assert.ok(states.includes(p), name);
      for (const { state, kind, row } of events) {
        const entry = model.log.events[state - 1];
        assert.equal(kind, entry.op, name);
        assert.equal(row, entry.row ? entry.row.id : -1, name);
      }
      assert.deepEqual(states, states.slice().sort((a, b) => a - b));
    }
  }
});

test('where an address is given again, its end comes before the birth', () => {
  const model = makeModel(1, { events: 40 });
  const { born, end, wait } = model.alloc;
  const later = born.findLastIndex((state) => state > 20);
  const older = born.findIndex((state) => state > 0 && state < 10);
  end[older] = born[later];
  wait[older] = 0;
  const kinds = eventsAround(model, 20, 100).filter(({ state }) => state === born[later])
    .map(({ kind, row }) => [kind, row]);
  assert.deepEqual(kinds, [['free', older], ['alloc', later]]);
});

test('an event that nothing tells of is there as other', () => {
  const model = makeModel(1, { events: 30, other: 0.5 });
  const told = model.event.rows;
  model.event.rows = 0;
  const others = eventsAround(model, 15, 30).filter((event) => event.kind === 'other');
  assert.equal(others.length, told);
  assert.ok(told > 0);
});

test('without addresses there is no map, and nothing fails', () => {
  const model = makeModel(1, { events: 100 });
  delete model.alloc.lane;
  model.range = { rows: 0, born: [], end: [], lane: [], base: [], bytes: [] };
  const map = mapRows(model);
  assert.equal(map.rows.length, 0);
  assert.equal(map.unplaced.count, model.alloc.rows);
  const shown = Uint32Array.of(50);
  const view = { shown, y0: 0, y1: 4096, H: 8 };
  const { kinds, mapped } = mapPicture(model, map, view);
  assert.ok(kinds.every((kind) => kind === PLACE.unmapped));
  assert.ok(mapped.every((part) => part === 0));
  assert.equal(mapPicture(model, map, { ...view, mapped: false }).mapped, null);
  assert.deepEqual(segmentsAt(model, 50), []);
});
