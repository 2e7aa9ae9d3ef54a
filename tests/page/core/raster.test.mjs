// raster.test.mjs - the picture in blocks against the plain one, sums against the oracle.
import test from 'node:test';
import assert from 'node:assert/strict';
import { makeModel, manyModels, oracle, random } from './made/synthetic.mjs';
import { firstDifference, plainStackPicture, shownOf, spans } from './made/plain.mjs';
import { groupSums, groupsPicture, stackPicture } from './made/whole.mjs';
import { bandWork } from '../../../viewer/core/memory/raster.js';
import { atOnce } from '../../../viewer/core/model/slices.js';
import { adjustAt } from '../../../viewer/core/memory/curves.js';

/* Views of a model: ranges, heights, y spans, orders and masks. */
function* views(model, curve) {
  const r = random(model.states + 1);
  const highest = Math.max(1, ...curve);
  const shuffled = Uint32Array.from({ length: model.alloc.rows }, (_, i) => i);
  shuffled.sort((a, b) => model.alloc.cat[a] - model.alloc.cat[b] || a - b);
  const mask = Uint8Array.from({ length: model.alloc.rows }, () => (r() < 0.5 ? 1 : 0));
  for (const [v0, v1, W] of spans(model.states, r)) {
    const shown = shownOf(curve, v0, v1, W);
    yield { shown, y0: 0, y1: highest, H: 37 };
    yield { shown, y0: 0, y1: highest, H: 90, order: shuffled };
    yield { shown, y0: Math.floor(highest / 3), y1: Math.floor(highest / 2) + 1, H: 50 };
    yield { shown, y0: 0, y1: highest, H: 25, mask, bare: true };
    yield { shown, y0: -1000, y1: highest * 2, H: 25, mask, order: shuffled };
  }
}

test('the picture in blocks is the plain one', () => {
  for (const [name, model] of manyModels(6)) {
    for (const view of views(model, oracle(model).curve())) {
      const quick = stackPicture(model, view);
      const plain = plainStackPicture(model, view);
      assert.equal(firstDifference(quick.ids, plain.ids), null, name);
      assert.equal(firstDifference(quick.sums, plain.sums), null, name);
      assert.equal(quick.drawn, plain.drawn, name);
    }
  }
});

test('the sum of a column is the curve at its state', () => {
  for (const [name, model] of manyModels(6)) {
    const curve = oracle(model).curve();
    for (const view of views(model, curve)) {
      if (view.mask) continue;
      const expected = Float64Array.from(view.shown, (p) => curve[p]);
      assert.equal(firstDifference(stackPicture(model, view).sums, expected), null, name);
    }
  }
});

test('a pixel belongs to the allocation over its centre', () => {
  const model = makeModel(5, { events: 400 });
  const replay = oracle(model);
  const curve = replay.curve();
  const H = 83;
  const y1 = Math.max(...curve);
  const shown = shownOf(curve, 0, model.states, 29);
  const { ids } = stackPicture(model, { shown, y0: 0, y1, H });
  shown.forEach((p, c) => {
    const live = replay.live(p);
    for (let y = 0; y < H; y++) {
      const centre = ((H - 1 - y + 0.5) * y1) / H;
      let top = 0;
      const over = live.find((r) => (top += model.alloc.bytes[r]) > centre);
      assert.equal(ids[y * 29 + c], over ?? -1);
    }
  });
});

test('more columns than states, no columns, no height', () => {
  const model = makeModel(3, { events: 4, before: 3 });
  const curve = oracle(model).curve();
  const shown = shownOf(curve, 0, model.states, 40);
  const view = { shown, y0: 0, y1: Math.max(...curve), H: 10 };
  const pictures = [stackPicture(model, view).ids, plainStackPicture(model, view).ids];
  assert.equal(firstDifference(...pictures), null);
  assert.equal(stackPicture(model, { ...view, shown: new Uint32Array(0) }).ids.length, 0);
  assert.ok(stackPicture(model, { ...view, y1: 0 }).ids.every((id) => id === -1));
});

test('groups: sums against the oracle, and they part the curve', () => {
  for (const [name, model] of manyModels(6)) {
    const replay = oracle(model);
    const curve = replay.curve();
    const W = 9;
    const shown = shownOf(curve, 0, model.states, W);
    const sums = groupSums(model, { shown, groupOf: model.alloc.cat, groups: 6 });
    shown.forEach((p, c) => {
      const expected = new Float64Array(6);
      for (const r of replay.live(p)) expected[model.alloc.cat[r]] += model.alloc.bytes[r];
      const got = expected.map((_, g) => sums[g * W + c]);
      assert.deepEqual(got, expected, name);
      assert.equal(got.reduce((a, b) => a + b, model.adjust), curve[p], name);
    });
  }
});

test('bands of groups are as high as the allocations of the group in group order', () => {
  const model = makeModel(11, { events: 900 });
  const curve = oracle(model).curve();
  const shown = shownOf(curve, 0, model.states, 60);
  const bands = [3, 1, 0, 5, 4, 2];
  const order = Uint32Array.from({ length: model.alloc.rows }, (_, i) => i);
  const rank = (r) => bands.indexOf(model.alloc.cat[r]);
  order.sort((a, b) => rank(a) - rank(b) || a - b);
  const odd = Uint8Array.from(order, (_, r) => r % 2);
  for (const mask of [undefined, odd]) {
    const view = { shown, y0: 0, y1: Math.max(...curve), H: 77, mask };
    const groups = groupsPicture(model, { ...view, groupOf: model.alloc.cat, groups: 6, bands });
    const stack = stackPicture(model, { ...view, order });
    const cats = stack.ids.map((id) => (id < 0 ? -1 : model.alloc.cat[id]));
    assert.equal(firstDifference(groups.ids, cats), null);
    assert.equal(firstDifference(groups.sums, stack.sums), null);
  }
});

test('a band lies on what is beneath it in its order, in each column of its life', () => {
  let seen = 0;
  for (const [name, model] of manyModels(4)) {
    const { born, end, bytes, rows } = model.alloc;
    for (const view of views(model, oracle(model).curve())) {
      const order = view.order ?? Uint32Array.from({ length: rows }, (_, i) => i);
      for (const id of [0, rows >> 1, rows - 1].filter((i) => i >= 0 && i < rows)) {
        const band = atOnce(bandWork(model, view, id));
        const columns = [...view.shown.keys()].filter((c) => born[id] <= view.shown[c] &&
          view.shown[c] < end[id] && (!view.mask || view.mask[id]));
        assert.equal(band === null, columns.length === 0, name);
        if (!band) continue;
        seen++;
        assert.deepEqual([band.first, band.past, band.bytes], [columns[0],
          columns[columns.length - 1] + 1, bytes[id]], name);
        for (const c of columns) {
          const p = view.shown[c];
          let low = view.bare ? 0 : adjustAt(model, p);
          for (const row of order.subarray(0, order.indexOf(id))) {
            if ((!view.mask || view.mask[row]) && born[row] <= p && p < end[row]) low += bytes[row];
          }
          assert.equal(band.low[c - band.first], low, name);
        }
      }
    }
  }
  assert.ok(seen > 20);
});
