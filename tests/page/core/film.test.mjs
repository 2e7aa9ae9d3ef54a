// film.test.mjs - which of several failures the strip of the last moments is about.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusedAt } from '../../../viewer/ui/parts/film.js';

test('a failure keeps its strip while the cursor is in it, whatever else lies near', () => {
  const failures = [100, 110, 400];
  for (let at = 91; at <= 110; at++) assert.equal(refusedAt(failures, at, 110), 110, String(at));
  for (let at = 81; at <= 100; at++) assert.equal(refusedAt(failures, at, 100), 100, String(at));
  for (let at = 101; at <= 110; at++) assert.equal(refusedAt(failures, at, 100), 110, String(at));
  assert.equal(refusedAt(failures, 85, 110), 100);
  assert.equal(refusedAt(failures, 390, 100), 400);
});

test('where no strip has the cursor it is the one that is near', () => {
  assert.equal(refusedAt([100, 400], 101, 400), 100);
  assert.equal(refusedAt([100, 400], 120, 400), 100);
  assert.equal(refusedAt([100, 400], 121, 400), 400);
});

test('far from all it stays, and begins with the last', () => {
  assert.equal(refusedAt([100, 400], 250, 100), 100);
  assert.equal(refusedAt([100, 400], 250, 0), 400);
});
