// curves.test.mjs - curves against the oracle, pyramids against a plain scan.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as curves from '../../../viewer/core/memory/curves.js';
import { makeModel, manyModels, oracle, random } from './made/synthetic.mjs';

const someStates = (model) => {
  const step = Math.max(1, Math.floor(model.states / 23));
  const list = [];
  for (let p = 0; p < model.states; p += step) list.push(p);
  return [...list, model.states - 1];
};

test('requested bytes are those of the oracle in every state', () => {
  for (const [name, model] of manyModels(12)) {
    assert.deepEqual(curves.requested(model), oracle(model).curve(), name);
  }
});

test('reserved bytes are those of the oracle', () => {
  for (const [name, model] of manyModels(12)) {
    const reserved = curves.reserved(model);
    for (const p of someStates(model)) {
      assert.equal(curves.at(reserved, p), oracle(model).reserved(p), `${name} reserved ${p}`);
    }
  }
});

test('a step list begins at 0, ascends and never repeats a value, made either way', () => {
  const r = random(4);
  for (let round = 0; round < 60; round++) {
    const states = 1 + Math.floor(r() * 40);
    const spans = Array.from({ length: Math.floor(r() * 30) }, () => {
      const from = Math.floor(r() * states);
      return [from, from + Math.floor(r() * (states + 1 - from)), Math.floor(r() * 5)];
    });
    const each = (step) => spans.forEach((s) => step(...s));
    const few = curves.stepList(states, true, each);
    assert.deepEqual(few, curves.stepList(states, false, each));
    assert.equal(few.state[0], 0);
    for (let i = 1; i < few.state.length; i++) {
      assert.ok(few.state[i] > few.state[i - 1] && few.value[i] !== few.value[i - 1]);
    }
    for (let p = 0; p < states; p++) {
      const sum = spans.reduce((n, [a, b, v]) => n + (a <= p && p < b ? v : 0), 0);
      assert.equal(curves.at(few, p), sum);
    }
  }
});

test('sums of some states are those of the oracle, for many at once and for one', () => {
  for (const [name, model] of manyModels(12)) {
    const replay = oracle(model);
    const states = someStates(model);
    const sums = curves.sumsIn(model, states);
    const loose = (i) => Number.isNaN(model.alloc.pad[i]) || model.alloc.source[i] === 2;
    assert.equal(sums.exact, !Array.from(model.alloc.born.keys()).some(loose), name);
    states.forEach((p, i) => {
      const live = replay.live(p);
      const one = curves.sumsOf(model, live, p);
      assert.equal(sums.live[i], live.length, name);
      assert.equal(sums.pending[i], replay.pending(p), name);
      assert.equal(one.pending, replay.pending(p), name);
      assert.equal(one.active, sums.active[i], name);
      if (name !== 'unknown-pads') assert.equal(one.active, replay.active(p), name);
      assert.ok(one.active <= replay.active(p), name);
    });
  }
});

test('sums of no states, and without pads or waits', () => {
  const model = makeModel(3);
  assert.equal(curves.sumsIn(model, []).exact, curves.sumsIn(model, [0]).exact);
  const { pad, wait, ...alloc } = model.alloc;
  const bare = { ...model, alloc };
  const p = model.states >> 1;
  const sums = curves.sumsIn(bare, [p]);
  assert.equal(sums.active[0], curves.requested(model)[p]);
  assert.deepEqual([sums.pending[0], sums.exact], [0, false]);
  assert.deepEqual(curves.sumsOf(bare, oracle(model).live(p), p),
    { active: sums.active[0], pending: 0 });
});

function plainPeak(curve, a, b) {
  let best = a;
  for (let p = a; p < b; p++) if (curve[p] > curve[best]) best = p;
  return best;
}

test('a pyramid finds the earliest maximum of any span', () => {
  const r = random(11);
  for (const n of [1, 2, 63, 64, 65, 4096, 4097, 30000]) {
    const flat = n % 2;
    const curve = Float64Array.from({ length: n }, () => Math.floor(r() * (flat ? 5 : 1e9)) - 2);
    const pyr = curves.pyramid(curve);
    for (let round = 0; round < 300; round++) {
      const a = Math.floor(r() * n);
      const b = a + 1 + Math.floor(r() ** 3 * (n - a));
      assert.equal(curves.peakIn(pyr, a, b), plainPeak(curve, a, b), `${n} [${a}, ${b})`);
    }
    assert.equal(curves.peakIn(pyr, 0, n), plainPeak(curve, 0, n));
  }
});

test('spans beyond the recording are cut to it', () => {
  const pyr = curves.pyramid(Float64Array.of(3, 1, 4));
  assert.equal(curves.peakIn(pyr, -5, 99), 2);
  assert.equal(curves.peakIn(pyr, 1, 1), 1);
  assert.equal(curves.peakIn(pyr, 99, 100), 2);
});

test('ties count how often the curve comes to stand at a value', () => {
  const curve = Float64Array.of(5, 5, 1, 5, 2, 5, 5);
  assert.equal(curves.tiesAt(curve, 0), 3);
  assert.equal(curves.tiesAt(curve, 0, 1, 4), 2);
  assert.equal(curves.tiesAt(curve, 2), 1);
});
