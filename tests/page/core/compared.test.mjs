// compared.test.mjs - which devices and moments are compared before a person chooses.
import test from 'node:test';
import assert from 'node:assert/strict';
import { besides, momentOf } from '../../../viewer/ui/state/compared.js';

const peak = { state: 50, bytes: 9 };

test('before the peak is where its step begins', () => {
  const cover = { states: 100, peak, steps: [{ first: 10, last: 20, name: 'step 1' },
    { first: 30, last: 60, name: 'step 2' }, { first: 61, last: 70, name: 'step 3' }] };
  const before = (change) => Object.values(momentOf('before', { ...cover, ...change }, 0)).join();
  assert.equal(before({}), '30,the start of step 2');
  assert.equal(before({ steps: cover.steps.slice(0, 1) }), '20,the end of step 1');
  assert.equal(before({ steps: [] }), '0,the start');
  assert.equal(before({ window: [40, 60] }), '40,the first event held');
  assert.equal(before({ peak: null }), '0,the start');
  assert.deepEqual(momentOf('cursor', { ...cover, window: [40, 60] }, 99),
    { state: 59, words: 'the cursor' });
});

test('a device that failed stands beside the middle one of the others', () => {
  const unit = (key, gib, ooms = 0, cut = false) => ({ key, peak: gib, ooms, cut });
  const units = [unit('0.0', 10), unit('1.0', 30, 1), unit('2.0', 14), unit('3.0', 12),
    unit('4.0', 99, 0, true)];
  assert.deepEqual(besides(units, '1.0'), ['1.0', '3.0']);
  assert.deepEqual(besides(units, '0.0'), ['0.0', '1.0'], 'another beside the one that failed');
  assert.deepEqual(besides([units[0], units[2], units[3]], '0.0'), ['0.0', '2.0']);
  assert.deepEqual(besides([unit('0.0', 1, 1), unit('1.0', 2, 1)], '0.0'), ['0.0', '1.0']);
});
