// diff.test.mjs - whatever the pairs, rows sum to the difference of the curves.
import test from 'node:test';
import assert from 'node:assert/strict';
import { makeModel, oracle, random } from './made/synthetic.mjs';
import { grouping } from '../../../viewer/core/memory/live.js';
import { pairOf, spark, unitsOf } from '../../../viewer/core/memory/many.js';
import { sum } from './made/plain.mjs';
import { diffRows, matched } from '../../../viewer/core/memory/diff.js';
import { besides, momentOf } from '../../../viewer/ui/state/compared.js';

function side(model, p) {
  const replay = oracle(model);
  return { model, rows: replay.live(p), requested: replay.requested(p),
    grouping: model.grouping ??= grouping(model, 'line') };
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

test('two recordings, by name, by group', () => {
  for (let seed = 1; seed < 9; seed++) {
    const a = side(makeModel(seed, { events: 500, adjust: 77 }), 400);
    const b = side(makeModel(seed + 50, { events: 700, sites: 14 }), 600);
    check(diffRows(a, b), a, b);
    const names = ['p', 'g', 'o', 'a', 't', 'u'];
    const grouped = [a, b].map((s) => ({ ...s, grouping: { of: s.model.alloc.cat, names } }));
    const byGroup = diffRows(...grouped);
    check(byGroup, a, b);
    assert.ok(byGroup.rows.length <= names.length + 1);
  }
});

/* A pair as the core would match it: stacks of equal sites at random, some of them by likeness. */
function pairing(a, b, r, keyless) {
  const most = Math.max(...[a, b].map((s) => s.model.stack.rows));
  const of = (s) => Uint32Array.from({ length: s.model.stack.rows },
    (_, i) => (i > 0 && i % 5 ? i : 0));
  const tables = { a: { peak: of(a), ever: of(a) }, b: { peak: of(b), ever: of(b) } };
  tables.peak = { stage: Uint8Array.from({ length: most }, () => Math.floor(r() * 6)),
    score: new Uint32Array(most).fill(860000) };
  tables.ever = { ...tables.peak, stage: new Uint8Array(most).fill(2) };
  const end = (file, state) => ({ file, device: 0, peak_state: state });
  return { a: end(0, 400), b: end(1, 600), keyless, first: 0, tables };
}

test('two recordings as the core matched them', async () => {
  const r = random(5);
  for (let seed = 1; seed < 9; seed++) {
    const a = side(makeModel(seed, { events: 500, adjust: 77 }), 400);
    const b = side(makeModel(seed + 50, { events: 700, sites: 14 }), 600);
    for (const keyless of ['category', 'size', 'one']) {
      const pair = pairing(a, b, r, keyless);
      const tables = async (all, name) => all[name];
      const ends = [{ file: 0, dev: 0, state: 400 }, { file: 1, dev: 0, state: 600 }];
      const got = diffRows(...await matched([a, b], pair, ends, tables));
      check(got, a, b);
      for (const row of got.rows) {
        assert.equal(row.status === 'moved', row.stage === 'M3' && row.aCount > 0 && row.bCount > 0);
        assert.equal(row.score, row.stage === 'M3' ? 0.86 : null);
        assert.equal(row.name === 'small', row.stage === 'small');
      }
      const turned = diffRows(...await matched([b, a], pair, [ends[1], ends[0]], tables));
      check(turned, b, a);
      assert.deepEqual(turned.rows.map((row) => [row.stage, 0 - row.delta]).sort(),
        got.rows.map((row) => [row.stage, row.delta]).sort());
      ends[0].state = 399;
      const moved = diffRows(...await matched([a, b], pair, ends, tables));
      assert.ok(moved.rows.every((row) => ['M0', 'M2', 'M4', null].includes(row.stage)));
      check(moved, a, b);
    }
  }
});

test('units are told as the head has them', () => {
  const told = (peak, window = 'complete') => ({ requested: { peak_bytes: peak, peak_event: 7 },
    oom_events: 0, trust: { grade: 'A', window } });
  const unit = (file, over, rank) => ({ file, device: 0, rank, rank_named: true, whole: over !== null,
    peak_step: 3, peak_phase: 'forward', over_median_bytes: over });
  const head = {
    files: [told(10), told(9, 'incomplete'), told(0)].map((one, i) => ({
      report: { devices: [one] }, devices: [{ name: 'cuda:0' }],
      name: ['x_5.pickle', 'x_4.pickle', 'c.pickle'][i] })),
    diff: [{ a: { file: 0, device: 0 }, b: { file: 1, device: 0 } }],
    ranks: { units: [unit(1, null, 4), unit(0, 5, 5)], outliers: [1], straggler: 1,
      verdict: 'different code' },
  };
  const units = unitsOf(head);
  assert.deepEqual(units.map((u) => u.name), ['rank 5 cuda:0', 'rank 4 cuda:0', 'c.pickle cuda:0']);
  assert.deepEqual(units.map((u) => u.at), ['step 3 forward', 'cut file', 'event 7']);
  assert.deepEqual(units.map((u) => u.over), [5, null, null]);
  assert.deepEqual(units.map((u) => u.verdict),
    ['outlier, bounds the job: different code', 'not in the median', 'holds nothing']);
  const [one, two, three] = units;
  assert.equal(pairOf(head, one, two), head.diff[0]);
  assert.equal(pairOf(head, two, one), head.diff[0]);
  assert.equal(pairOf(head, one, three), null);
  assert.deepEqual([...spark([1, 5, 2, 7], 2)], [5, 7]);
  assert.deepEqual([...spark([4], 120)], [4]);
});

test('files that are no ranks have a highest peak, and no part in a job', () => {
  const told = (peak, window) => ({ requested: { peak_bytes: peak, peak_event: -1 }, oom_events: 0,
    trust: { grade: 'A', window } });
  const head = {
    files: [told(10, 'complete'), told(9, 'state_only')].map((one, i) => ({ name: `${i}.pickle`,
      report: { devices: [one] }, devices: [{ name: 'cuda:0' }] })),
    ranks: { units: [0, 1].map((file) => ({ file, device: 0, rank: file, rank_named: false,
      whole: true, over_median_bytes: 0 })), outliers: [1], straggler: 0, verdict: 'mixed' },
  };
  assert.deepEqual(unitsOf(head).map((u) => u.verdict), ['highest peak', '']);
  assert.deepEqual(unitsOf(head).map((u) => u.at), ['start', 'end']);
  const devices = { ...head, files: [{ name: 'x.pickle', report: { devices: [told(10), told(9)] },
    devices: [{ name: 'cuda:0' }, { name: 'cuda:1' }] }] };
  devices.ranks.units.forEach((unit, i) => Object.assign(unit, { file: 0, device: i }));
  assert.deepEqual(unitsOf(devices).map((u) => u.verdict), ['bounds the job: mixed', 'outlier']);
});

test('statuses are told by what both sides have', () => {
  const model = makeModel(4, { events: 800 });
  const [a, b] = [side(model, 200), side(model, 640)];
  const { rows } = diffRows(a, b);
  const expected = (row) => (row.aCount === 0 ? 'new' : row.bCount === 0 ? 'gone'
    : row.delta > 0 ? 'grown' : row.delta < 0 ? 'shrunk' : row.deltaCount > 0 ? 'grown'
      : row.deltaCount < 0 ? 'shrunk' : 'same');
  for (const row of rows) assert.equal(row.status, expected(row));
  for (const row of rows) {
    const at = row.bRow >= 0 ? [b, row.bRow, row.bKey] : [a, row.aRow, row.aKey];
    assert.ok(at[0].rows.includes(at[1]));
    assert.equal(model.grouping.of[at[1]], at[2]);
  }
  assert.deepEqual(rows.map((row) => Math.abs(row.delta)),
    rows.map((row) => Math.abs(row.delta)).sort((x, y) => y - x));
});

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
