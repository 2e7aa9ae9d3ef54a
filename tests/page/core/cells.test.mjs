// cells.test.mjs - what the keys do in a flame graph, the terms of a frame, the axis handle, the way
// to the cursor.
import assert from 'node:assert/strict';
import test from 'node:test';
import { actionOf, keyNames } from '../../../viewer/ui/state/keys.js';
import { zoomedY } from '../../../viewer/ui/state/span.js';
import { frameTerms, termOf } from '../../../viewer/ui/state/terms.js';
import { sideOf } from '../../../viewer/ui/views/away.js';
import { nextCell } from '../../../viewer/ui/views/cells.js';
import { limited } from '../../../viewer/ui/views/handle.js';
import { parse } from '../../../viewer/core/memory/query.js';

/* all > (a > (c, merged), b > d), in the order of a layout. */
const tree = { parent: [0, 0, 0, 1, 1, 1, 2], cells: [
  { node: 0, depth: 0, merged: 0 }, { node: 1, depth: 1, merged: 0 },
  { node: 2, depth: 1, merged: 0 }, { node: 3, depth: 2, merged: 0 },
  { node: 4, depth: 2, merged: 2 }, { node: 6, depth: 2, merged: 0 }] };

test('arrows walk from cell to cell, and stay where there is none', () => {
  const walked = [];
  let at = -1;
  for (const key of ['Down', 'Up', 'Down', 'Right', 'Right', 'Down', 'Right', 'Left', 'Down', 'Up',
    'Left', 'Down', 'Right', 'Right', 'Down', 'Up', 'Up', 'Left', 'Right']) {
    at = nextCell(tree, at, 'Arrow' + key);
    walked.push(at);
  }
  assert.deepEqual(walked, [0, 0, 1, 2, 2, 5, 5, 5, 5, 2, 1, 3, 4, 4, 4, 1, 0, 0, 0]);
});

test('the terms of a frame can be read, whatever it is called', () => {
  assert.equal(frameTerms({ name: 'forward', file: '/home/me/model.py', line: 22 }),
    'fn:forward file:model.py line:22');
  assert.equal(frameTerms({ name: '<module>', file: 'my file.py', line: 0 }),
    'fn:"<module>" file:"my file.py"');
  assert.equal(frameTerms({ name: 'at::empty("x")', file: '??', line: 0 }),
    'fn:"at::empty( x )"');
  assert.equal(frameTerms({ name: 'before recording', file: '', line: 0 }), '');
  assert.equal(frameTerms({ name: 'f', file: 'a.py', line: 1, merged: 3 }), '');
  for (const frame of [{ name: 'a b', file: 'c/d e.py', line: 7 }, { name: '"', file: '/', line: 0 },
    { name: 'operator/', file: 'x.py', line: 1 }]) {
    assert.equal(parse(frameTerms(frame)).error, undefined, frameTerms(frame));
  }
  assert.equal(termOf('site', 'a b'), 'site="a b"');
});

test('the cursor is to the left, to the right, or in sight', () => {
  assert.deepEqual([4, 5, 9, 10].map((p) => sideOf(p, [5, 10])), [-1, 0, 0, 1]);
});

test('the memory axis stays in the whole', () => {
  const whole = { from: -10, to: 100 };
  assert.deepEqual(limited({ from: 90, to: 130 }, whole), { from: 60, to: 100 });
  assert.deepEqual(limited({ from: -40, to: 0 }, whole), { from: -10, to: 30 });
  assert.deepEqual(limited({ from: -400, to: 400 }, whole), whole);
  assert.deepEqual(zoomedY({ from: 0, to: 100 }, 2, 50, 0), { from: 25, to: 75 });
  assert.deepEqual(zoomedY({ from: 0, to: 100 }, 0.5, 50, 0), { from: 0, to: 150 });
});

test('Alt with an arrow is the memory axis, and nothing in a field', () => {
  const free = { field: false, widget: false, single: true };
  assert.equal(actionOf({ key: 'ArrowUp', altKey: true }, free), 'zoom-y-in');
  assert.equal(actionOf({ key: 'ArrowDown', altKey: true }, { ...free, widget: true }),
    'zoom-y-out');
  assert.equal(actionOf({ key: 'ArrowUp', altKey: true }, { ...free, field: true }), null);
  assert.equal(actionOf({ key: 'ArrowUp', altKey: true, ctrlKey: true }, free), null);
  assert.equal(actionOf({ key: 'p', altKey: true }, free), null);
  assert.deepEqual(keyNames(['Alt+ArrowUp']), ['Alt+\u2191']);
});
