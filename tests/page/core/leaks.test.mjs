// leaks.test.mjs - survivors of steps against the replay.
import test from 'node:test';
import assert from 'node:assert/strict';
import { makeModel, manyModels, oracle } from './made/synthetic.mjs';
import { bornWithin, stepsOf, survivorsBy } from '../../../viewer/core/memory/leaks.js';

function bornIn(model, step) {
  return (r) => model.alloc.born[r] > 0 && model.alloc.born[r] >= step.first &&
    model.alloc.born[r] <= step.last;
}

const bytesOf = (model, rows) => rows.reduce((n, r) => n + model.alloc.bytes[r], 0);

test('survivors by group add up to what each step left alive', () => {
  for (const [, model] of manyModels(6)) checkSurvivors(model);
  assert.ok(checkSurvivors(makeModel(3, { events: 1500, neverFreed: 0.3 })) > 1);
});

/* How many groups there are. */
function checkSurvivors(model) {
  const of = model.alloc.cat;
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const rows = survivorsBy(model, { of, names });
  const alive = oracle(model).live(model.states - 1);
  stepsOf(model).forEach((step, k) => {
    const left = alive.filter(bornIn(model, step));
    assert.equal(rows.reduce((n, row) => n + row.bytes[k], 0), bytesOf(model, left));
    assert.equal(rows.reduce((n, row) => n + row.count[k], 0), left.length);
  });
  for (const row of rows) {
    assert.equal(row.bytes.reduce((a, b) => a + b, 0), row.total);
    assert.ok(row.count[row.first] > 0 && row.count.slice(0, row.first).every((n) => n === 0));
  }
  const totals = rows.map((row) => row.total);
  assert.deepEqual(totals, totals.slice().sort((a, b) => b - a));
  return rows.length;
}

test('steps have the numbers of their names, or are counted', () => {
  const model = makeModel(3, { events: 200 });
  assert.deepEqual(stepsOf(model).map((step) => step.number), [1, 2, 3, 4, 5]);
  model.string = model.string.map((text) => text.replace(/^step (\d)/, 'ProfilerStep#$017'));
  assert.deepEqual(stepsOf(model).map((step) => step.number), [17, 27, 37, 47, 57]);
  model.mark.name.fill(0);
  assert.deepEqual(stepsOf(model).map((step) => step.number), [1, 2, 3, 4, 5]);
});

test('what was before recording is born in no step', () => {
  const model = makeModel(3, { events: 50, before: 9 });
  assert.equal(bornWithin(model, 0, 10)[0], 9);
  assert.deepEqual(bornWithin(model, 0, 0), [9, 9]);
});
