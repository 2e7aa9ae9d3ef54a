// place.test.mjs - where a page begins, with a link and without one, and with which view.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { marked, unmarked } from '../../../../viewer/ui/state/marks.js';
import { firstView } from '../../../../viewer/ui/state/opening.js';
import { firstPlace, mostTelling, placed } from '../../../../viewer/ui/state/place.js';

/* A head of files, each a list of devices [peak, failures]. */
const headOf = (...files) => ({ files: files.map((devices) => ({ devices: devices.map(() => ({})),
  report: { devices: devices.map(([peak, ooms]) =>
    ({ requested: { peak_bytes: peak }, oom_events: ooms })) } })) });
const one = headOf([[9, 0], [5, 2], [7, 0]]);
const several = headOf([[9, 0], [10, 0]], [[1, 0], [2, 1]], []);

test('a page begins where a request failed, else where the peak is highest', () => {
  assert.deepEqual(firstPlace(one), { file: 0, dev: 1 });
  assert.deepEqual(firstPlace(several), { file: 1, dev: 1, view: 'all' });
  assert.deepEqual([0, 1, 2].map((file) => mostTelling(several, file)),
    [{ file: 0, dev: 1 }, { file: 1, dev: 1 }, { file: 2, dev: 0 }]);
});

test('a link that names no device, or none that is here, means that of a page without a link', () => {
  const said = (head, link) => placed(head, link).state;
  for (const link of [{ view: 'flame' }, { query: 'foo' }, { theme: 'dark' }, {}]) {
    assert.deepEqual(said(one, link), { ...link, file: 0, dev: 1 });
  }
  assert.deepEqual(placed(one, { dev: 7 }),
    { notes: ['the link has dev=7, this page has 3'], state: { file: 0, dev: 1 } });
  assert.deepEqual(placed(one, { dev: 0 }), { notes: [], state: { file: 0, dev: 0 } });
});

test('a link that names no file opens all of them, but for what it says of one', () => {
  const said = (link) => placed(several, link).state;
  assert.deepEqual(said({ theme: 'dark' }), { theme: 'dark', view: 'all', file: 1, dev: 1 });
  assert.deepEqual(said({ view: 'flame' }), { view: 'flame', file: 1, dev: 1 });
  assert.deepEqual(said({ query: 'foo' }), { query: 'foo', file: 1, dev: 1 });
  assert.deepEqual(said({ file: 0 }), { file: 0, dev: 1 });
  assert.deepEqual(said({ file: 0, dev: 0 }), { file: 0, dev: 0 });
  assert.deepEqual(said({ file: 2, dev: 0 }), { file: 2, dev: 0 });
  assert.deepEqual(placed(several, { file: 9, dev: 0, at: 3 }),
    { notes: ['the link has file=9, this page has 3'], state: { at: 3, file: 1, dev: 1 } });
});

test('a view that is closed in a recording is none to begin with', () => {
  const views = ['stack', 'groups', 'state', 'flame', 'leaks'].map((id) => ({ id }));
  const whole = { complete: true, traced: true, states: 900, has: { stacks: true }, ops: ['state'],
    allocations: 10 };
  const moment = { ...whole, traced: false, states: 1, has: { stacks: false } };
  assert.equal(firstView(whole, 'flame', views), 'flame');
  assert.equal(firstView(whole, 'map', views), 'stack');
  assert.equal(firstView({ ...whole, has: { stacks: false } }, 'flame', views), 'stack');
  assert.deepEqual(['stack', 'flame', 'leaks'].map((id) => firstView(moment, id, views)),
    ['state', 'state', 'state']);
  assert.equal(firstView({ ...moment, has: { stacks: true } }, 'leaks', views), 'flame');
  assert.equal(firstView(moment, 'all', views), 'all');
});

test('marks that are cleared take the range that they made with them, and no other', () => {
  const two = marked({ marks: [900], range: null }, 40);
  assert.deepEqual(two, { marks: [40, 900], range: { a: 40, b: 900 } });
  assert.deepEqual(unmarked(two), { marks: [], range: null });
  const other = { a: 1, b: 2 };
  assert.deepEqual(unmarked({ ...two, range: other }), { marks: [], range: other });
  assert.deepEqual(unmarked({ marks: [40], range: other }), { marks: [], range: other });
});
