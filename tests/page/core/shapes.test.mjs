// shapes.test.mjs - the shapes of the bench are sound recordings, the same from the same seed.
import test from 'node:test';
import assert from 'node:assert/strict';
import { makeShape, SHAPES } from './made/shapes.mjs';
import { firstDifference, plainStackPicture } from './made/plain.mjs';
import { pyramid, requested } from '../../../viewer/core/memory/curves.js';
import { shownStates } from '../../../viewer/core/memory/columns.js';
import { stackPicture } from './made/whole.mjs';
import { segmentsAt } from '../../../viewer/core/memory/address.js';

const SMALL = { allocs: 9000, live: 700, stacks: 300, strings: 200 };

test('every shape is a recording: in order, each with room of its own', () => {
  for (const name of Object.keys(SHAPES)) {
    const model = makeShape(name, SMALL);
    const { born, end, wait, rows } = model.alloc;
    assert.ok(rows >= SMALL.allocs);
    for (let r = 0; r < rows; r++) {
      assert.ok(r === 0 || born[r] > born[r - 1]);
      assert.ok(end[r] > born[r] + wait[r] && end[r] <= model.states);
    }
    for (const p of [0, model.states >> 1, model.states - 1]) {
      for (const bar of segmentsAt(model, p)) {
        let at = 0;
        for (const block of bar.blocks) {
          assert.ok(block.at >= at && block.at + block.size <= bar.bytes);
          at = block.at + block.size;
        }
      }
    }
  }
});

test('in every shape the picture in blocks is the plain one', () => {
  for (const name of Object.keys(SHAPES)) {
    const model = makeShape(name, SMALL, 3);
    const curve = requested(model);
    const pyr = pyramid(curve);
    for (const [v0, v1] of [[0, model.states], [model.states >> 1, (model.states >> 1) + 900]]) {
      const shown = shownStates(pyr, v0, v1, 400);
      const view = { shown, y0: 0, y1: shown.reduce((n, p) => Math.max(n, curve[p]), 1), H: 225 };
      const [quick, plain] = [stackPicture(model, view), plainStackPicture(model, view)];
      assert.equal(firstDifference(quick.ids, plain.ids), null, name);
      assert.equal(firstDifference(quick.sums, plain.sums), null, name);
    }
  }
});

test('the same seed gives the same recording, another does not', () => {
  const [a, b, c] = [1, 1, 2].map((seed) => makeShape('training', SMALL, seed));
  assert.deepEqual(a.alloc, b.alloc);
  assert.deepEqual(a.stack, b.stack);
  assert.notDeepEqual(a.alloc, c.alloc);
});
