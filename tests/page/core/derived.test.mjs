// derived.test.mjs - when what follows from values is made again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { derived, following } from '../../../viewer/ui/state/derived.js';

test('a value is made once for equal values, again for others, and after it was forgotten', () => {
  let [read, made] = [[1, { a: 2 }], 0];
  const value = derived(() => read, () => ++made);
  assert.deepEqual([value(), value()], [1, 1]);
  read = [1, { a: 2 }];
  assert.equal(value(), 1);
  read = [1, { a: 3 }];
  assert.deepEqual([value(), value()], [2, 2]);
  value.forget();
  assert.equal(value(), 3);
});

test('what is made may ask for itself', () => {
  let n = 0;
  const value = derived(() => [7], () => {
    n++;
    value();
  });
  value();
  assert.equal(n, 1);
});

test('what stands is not done until something differs, and then once', () => {
  let [read, n] = [[1], 0];
  const look = following(() => read, () => n++);
  look();
  assert.equal(n, 0);
  read = [2];
  look();
  look();
  assert.equal(n, 1);
});
