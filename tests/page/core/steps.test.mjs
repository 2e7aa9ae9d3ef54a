// steps.test.mjs - steps side by side: which stands out, curves that keep every peak, phases, names.
import assert from 'node:assert/strict';
import test from 'node:test';
import { atOnce } from '../../../viewer/core/model/slices.js';
import { createDevice } from '../../../viewer/core/memory/device.js';
import { outlierOf, steps } from '../../../viewer/core/memory/steps.js';
import { makeModel, oracle } from './made/synthetic.mjs';

const peaks = (...list) => list.map((peak) => ({ peak, complete: true }));

test('a step stands out above the median of the others and what they differ by', () => {
  assert.deepEqual(outlierOf(peaks(100, 101, 99, 130, 100)), { step: 3, others: 100, above: 30 });
  assert.equal(outlierOf(peaks(100, 101, 99, 104, 100)), null, 'by less than 5 %');
  assert.equal(outlierOf(peaks(100, 120, 140, 160, 180)), null, 'they differ as much themselves');
  assert.deepEqual(outlierOf(peaks(100, 100, 100, 106)), { step: 3, others: 100, above: 6 });
  assert.equal(outlierOf(peaks(100, 100, 100, 105)), null, 'by 5 %, no more');
  assert.deepEqual(outlierOf(peaks(150, 100, 100)).step, 0, 'the first may be it');
});

test('nothing stands out of two steps, or of those that did not end', () => {
  assert.equal(outlierOf([]), null);
  assert.equal(outlierOf(peaks(100)), null);
  assert.equal(outlierOf(peaks(100, 300)), null);
  assert.equal(outlierOf([{ peak: 100, complete: false }, ...peaks(100, 300)]), null);
  const failed = [...peaks(100, 101), { peak: 300, complete: false }];
  assert.equal(outlierOf(failed).step, 2, 'what did not end may be it');
  assert.equal(outlierOf(failed).others, 100.5);
});

/* A made model with `list` as its marks: [kind, first, last, name]. */
function marked(list, more = {}) {
  const model = makeModel(5, { events: 900 });
  const string = [...model.string];
  const mark = { rows: list.length, kind: [], first: [], last: [], name: [], depth: [] };
  for (const [kind, first, last, name = ''] of list) {
    mark.kind.push(kind);
    mark.first.push(first);
    mark.last.push(last);
    mark.depth.push(0);
    mark.name.push(name ? string.push(name) - 1 : string.indexOf(''));
  }
  return { ...model, mark, string, oom: { rows: 0, state: new Uint32Array(0) }, ...more };
}

const ask = (model, args = {}) => atOnce(steps(createDevice(model), args));
const top = (list) => list.reduce((a, b) => Math.max(a, b), -Infinity);

test('figures are those of the replay, and every column has the most of its states', () => {
  const model = marked([[0, 11, 300], [0, 301, 640], [0, 700, 820]]);
  const curve = Array.from({ length: model.states }, (_, p) => oracle(model).requested(p));
  for (const mode of ['events', 'time']) {
    for (const W of [32, 97, 340, 1000]) {
      const got = ask(model, { mode, W });
      assert.equal(got.timed, mode === 'time');
      assert.deepEqual(got.steps.map(({ name }) => name), ['step 1', 'step 2', 'step 3']);
      got.steps.forEach((step, i) => {
        const own = curve.slice(step.first, step.last + 1);
        assert.equal(step.peak, top(own));
        assert.equal(step.peakState, step.first + own.indexOf(top(own)), 'the earliest');
        assert.deepEqual([step.start, step.end], [curve[step.first - 1], curve[step.last]]);
        assert.equal(step.growth, step.end - step.start);
        assert.equal(step.sinceLast, i ? step.end - got.steps[i - 1].end : null);
        assert.equal(top(step.curve), Math.max(step.peak, step.start), `${mode} ${W}`);
        assert.ok(step.curve.length <= W && step.curve.length > 0);
        if (mode === 'events' && W >= got.length) {
          const part = curve.slice(step.first - 1, step.last + 1);
          assert.ok(part.every((v) => step.curve.includes(v)), 'no state is left out');
        }
      });
    }
  }
});

test('the longest step takes all columns, the others their share', () => {
  const got = ask(marked([[0, 11, 210], [0, 211, 310]]), { W: 201 });
  assert.equal(got.length, 201);
  assert.deepEqual(got.steps.map(({ curve }) => curve.length), [201, 101]);
});

test('a step behind the last that did not end is one of them', () => {
  const oom = { rows: 1, state: Uint32Array.of(700) };
  const list = [[0, 11, 300], [0, 301, 640], [3, 641, 900]];
  const [, , unended] = ask(marked(list, { oom })).steps;
  assert.deepEqual([unended.first, unended.last, unended.complete, unended.oom, unended.name],
    [641, 900, false, true, 'step 3']);
  const called = [[2, 11, 300, 'batch 7'], [2, 301, 640, 'batch 8'], [2, 641, 700, 'batch 9']];
  const named = ask(marked([...list, ...called], { oom })).steps;
  assert.deepEqual(named.map(({ name, mark }) => [name, mark]),
    [['step 1', 'batch 7'], ['step 2', 'batch 8'], ['step 3', 'batch 9']]);
  const inside = ask(marked(list.slice(0, 2), { oom: { rows: 1, state: Uint32Array.of(320) } }))
    .steps;
  assert.deepEqual(inside.map((step) => [step.complete, step.oom]), [[true, false], [true, true]]);
});

test('steps that the page does not hold as a whole are counted, not shown', () => {
  const got = ask(marked([[0, 11, 300], [0, 301, 640], [0, 700, 820]], { window: [290, 701] }));
  assert.deepEqual([got.steps.map(({ name }) => name), got.left], [['step 2'], 2]);
});

for (const n of [1025, 2048, 3000, 3072, 10240]) {
  test(`of ${n} steps some have a curve, among them what failed and what stands out`, () => {
    const list = Array.from({ length: n }, (_, i) => {
      const first = 1 + i % 890;
      return [0, first, first + 1];
    });
    list[n - 1] = [0, 893, 900];
    const oom = { rows: 1, state: Uint32Array.of(899) };
    const got = ask(marked(list, { oom }), { W: 900 });
    const drawn = got.steps.filter(({ curve }) => curve.length > 0);
    assert.equal(drawn.length, got.curves);
    assert.ok(got.curves > 500 && got.curves <= 1024, String(got.curves));
    assert.ok(got.columns * got.curves <= 2 ** 19);
    assert.ok(got.steps[n - 1].oom && got.steps[n - 1].curve.length > 0);
    if (got.outlier) assert.ok(got.steps[got.outlier.step].curve.length > 0);
    assert.equal(got.steps.length, n);
  });
}

test('a recording without steps has none', () => {
  const got = ask(marked([]));
  assert.deepEqual([got.steps, got.left, got.outlier], [[], 0, null]);
});
