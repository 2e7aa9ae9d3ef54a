// diff.test.mjs - whatever the pairs, rows sum to the difference of the curves.
import test from 'node:test';
import assert from 'node:assert/strict';
import { makeModel, oracle, random } from './synthetic.mjs';
import { sum } from './plain.mjs';
import { diffRows, foldSmall } from '../../viewer/core/diff.js';

function side(model, p) {
  const replay = oracle(model);
  return { model, rows: replay.live(p), requested: replay.requested(p) };
}

function check({ rows, total }, a, b) {
  const difference = b.requested - a.requested;
  assert.equal(sum(rows.map((row) => row.delta)), difference);
  assert.equal(total.delta, difference);
  assert.deepEqual([total.a, total.b], [a.requested, b.requested]);
  assert.deepEqual([total.aCount, total.bCount], [a.rows.length, b.rows.length]);
  for (const row of rows) assert.equal(row.delta, row.b - row.a);
}

test('two states of one recording', () => {
  for (let seed = 1; seed < 9; seed++) {
    const model = makeModel(seed, { events: 600, adjust: seed % 2 ? 0 : 5000 });
    const a = side(model, seed * 31);
    const b = side(model, seed * 67);
    check(diffRows(a, b), a, b);
    const back = diffRows(b, a).rows.map((row) => [row.name, 0 - row.delta]).sort();
    assert.deepEqual(diffRows(a, b).rows.map((row) => [row.name, row.delta]).sort(), back);
    assert.ok(diffRows(a, a).rows.every((row) => row.delta === 0 && row.status === 'same'));
  }
});

test('two recordings, by name, by given pairs, by group', () => {
  const r = random(5);
  for (let seed = 1; seed < 9; seed++) {
    const a = side(makeModel(seed, { events: 500, adjust: 77 }), 400);
    const b = side(makeModel(seed + 50, { events: 700, sites: 14 }), 600);
    check(diffRows(a, b), a, b);
    const siteOf = ({ stack, alloc }, row) => stack.site[alloc.stack[row]];
    const sites = (m) => [...new Set(m.rows.map((row) => siteOf(m.model, row)))];
    const bs = sites(b);
    const pairs = sites(a).slice(0, bs.length - 2).filter(() => r() < 0.8)
      .map((key, i) => ({ a: key, b: bs[i], stage: i % 2 ? 'M1' : 'M3', score: 0.9 }));
    const got = diffRows(a, b, pairs);
    check(got, a, b);
    assert.equal(got.rows.filter((row) => row.stage === 'M3').length,
      got.rows.filter((row) => row.status === 'moved').length);
    const names = ['p', 'g', 'o', 'a', 't', 'u'];
    const grouped = [a, b].map((s) => ({ ...s, grouping: { of: s.model.alloc.cat, names } }));
    const byGroup = diffRows(...grouped);
    check(byGroup, a, b);
    assert.ok(byGroup.rows.length <= names.length + 1);
  }
});

test('statuses are told by what both sides have', () => {
  const model = makeModel(4, { events: 800 });
  const [a, b] = [side(model, 200), side(model, 640)];
  const { rows } = diffRows(a, b, null, { curve: false });
  const expected = (row) => (row.aCount === 0 ? 'new' : row.bCount === 0 ? 'gone'
    : row.delta > 0 ? 'grown' : row.delta < 0 ? 'shrunk' : row.deltaCount > 0 ? 'grown'
      : row.deltaCount < 0 ? 'shrunk' : 'same');
  for (const row of rows) assert.equal(row.status, expected(row));
  for (const row of rows) {
    const at = row.bRow >= 0 ? [b, row.bRow, row.bKey] : [a, row.aRow, row.aKey];
    assert.ok(at[0].rows.includes(at[1]));
    assert.equal(model.stack.site[model.alloc.stack[at[1]]], at[2]);
  }
  assert.deepEqual(rows.map((row) => Math.abs(row.delta)),
    rows.map((row) => Math.abs(row.delta)).sort((x, y) => y - x));
});

test('small rows fold into one and the sum stays', () => {
  const model = makeModel(4, { events: 800, sites: 30 });
  const [a, b] = [side(model, 200), side(model, 640)];
  const { rows, total } = diffRows(a, b);
  const folded = foldSmall(rows, 4);
  assert.equal(folded.length, 5);
  assert.equal(folded[4].name, `small (${rows.length - 4})`);
  assert.equal(sum(folded.map((row) => row.delta)), total.delta);
  assert.equal(foldSmall(rows, rows.length), rows);
});
