// columns.test.mjs - what a column shows: a maximum of its span, the earliest, never one less.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { columnSpan, shownStates, timeColumns, timeSpan }
  from '../../../viewer/core/memory/columns.js';
import { pyramid, requested } from '../../../viewer/core/memory/curves.js';
import { manyModels, random } from './made/synthetic.mjs';

const WIDTHS = [1, 3, 64, 333, 1600];

function plainPeak(curve, a, b) {
  let best = a;
  for (let p = a; p < b; p++) if (curve[p] > curve[best]) best = p;
  return best;
}

function* views(model, seed) {
  const r = random(seed);
  yield [0, model.states];
  for (let i = 0; i < 4; i++) {
    const v0 = Math.floor(r() * model.states);
    yield [v0, v0 + 1 + Math.floor(r() * (model.states - v0))];
    yield [v0 * r(), v0 + 0.5 + r() * (model.states - v0)];
  }
}

test('a shown state is the earliest maximum of its span, and they ascend', () => {
  for (const [name, model] of manyModels(6)) {
    const curve = requested(model);
    const pyr = pyramid(curve);
    for (const [v0, v1] of views(model, 2)) {
      for (const W of WIDTHS) {
        const shown = shownStates(pyr, v0, v1, W);
        for (let c = 0; c < W; c++) {
          const [a, b] = columnSpan(v0, v1, W, c, model.states);
          assert.ok(a < b && b <= model.states, name);
          assert.equal(shown[c], plainPeak(curve, a, b), name);
          assert.ok(c === 0 || shown[c] >= shown[c - 1], name);
        }
      }
    }
  }
});

test('spans cover every state of the view once where columns are fewer than states', () => {
  for (const W of WIDTHS) {
    let next = 0;
    for (let c = 0; c < W; c++) {
      const [a, b] = columnSpan(0, 2001, W, c, 2001);
      assert.equal(a, next);
      next = b;
    }
    assert.equal(next, 2001);
  }
});

test('the peak of the range is drawn at any width', () => {
  for (const [name, model] of manyModels(6)) {
    const curve = requested(model);
    const pyr = pyramid(curve);
    for (const [v0, v1] of views(model, 3)) {
      const a = Math.floor(v0);
      const peak = curve[plainPeak(curve, a, Math.max(a + 1, Math.floor(v1)))];
      for (const W of WIDTHS) {
        const shown = shownStates(pyr, v0, v1, W);
        const drawn = Math.max(...Array.from(shown, (p) => curve[p]));
        // A state of which the view has only a part may be drawn as well.
        assert.ok(Number.isInteger(v1) ? drawn === peak : drawn >= peak, name);
      }
    }
  }
});

test('zooming in never lowers a maximum', () => {
  for (const [name, model] of manyModels(6)) {
    const curve = requested(model);
    const pyr = pyramid(curve);
    const W = 40;
    const shown = shownStates(pyr, 0, model.states, W);
    for (let c = 0; c < W; c++) {
      const [a, b] = columnSpan(0, model.states, W, c, model.states);
      const inside = shownStates(pyr, a, b, W);
      assert.ok(Math.max(...Array.from(inside, (p) => curve[p])) >= curve[shown[c]], name);
    }
  }
});

test('time columns hold every state in force, and the peak', () => {
  for (const [name, model] of manyModels(6)) {
    if (!model.time || model.states < 2) continue;
    const curve = requested(model);
    const pyr = pyramid(curve);
    const total = Math.max(1, model.time[model.states - 1]);
    for (const W of WIDTHS) {
      const shown = timeColumns(model, pyr, 0, total, W);
      const seen = new Set();
      for (let c = 0; c < W; c++) {
        const [a, b] = timeSpan(model.time, 0, total, W, c);
        const from = (total * c) / W;
        const to = (total * (c + 1)) / W;
        for (let p = a; p < b; p++) seen.add(p);
        assert.equal(shown[c], plainPeak(curve, a, b), name);
        assert.ok(c === 0 || shown[c] >= shown[c - 1], name);
        for (let p = 0; p < model.states; p += 7) {
          const ends = p + 1 < model.states ? model.time[p + 1] : Infinity;
          const inForce = model.time[p] < to && ends > from;
          assert.ok(!inForce || (a <= p && p < b), `${name}: ${p} in column ${c} of ${W}`);
        }
      }
      assert.equal(seen.size, model.states, name);
    }
  }
});

test('events of one microsecond share a column', () => {
  const time = Float64Array.of(0, 0, 5, 5, 5, 9);
  for (let W = 1; W < 30; W++) {
    const owners = Array.from({ length: W }, (_, c) => timeSpan(time, 0, 9, W, c))
      .filter(([a, b]) => a <= 2 && 3 < b);
    assert.ok(owners.length >= 1);
  }
});
