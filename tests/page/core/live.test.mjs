// live.test.mjs - live sets, groups, piles and ranges against the oracle.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requested } from '../../../viewer/core/memory/curves.js';
import * as live from '../../../viewer/core/memory/live.js';
import * as range from '../../../viewer/core/memory/range.js';
import { makeModel, manyModels, oracle, random } from './made/synthetic.mjs';

const someStates = (model, parts = 13) => {
  const step = Math.max(1, Math.floor(model.states / parts));
  const list = [];
  for (let p = 0; p < model.states; p += step) list.push(p);
  return [...list, model.states - 1];
};

test('the live set is that of the oracle, oldest first', () => {
  for (const [name, model] of manyModels(12)) {
    for (const p of someStates(model)) {
      assert.deepEqual(Array.from(live.liveAt(model, p)), oracle(model).live(p), `${name} ${p}`);
    }
  }
});

test('every grouping parts the curve, in every state', () => {
  for (const [name, model] of manyModels(6)) {
    const curve = oracle(model).curve();
    for (const by of live.GROUPINGS) {
      for (const p of someStates(model, 5)) {
        const groups = live.groupRows(model, live.liveAt(model, p), by, p);
        const above = curve[p] - model.adjust;
        assert.equal(groups.reduce((n, g) => n + g.bytes, 0), above, `${name} ${by}`);
        assert.equal(groups.total.bytes, above);
        assert.equal(groups.reduce((n, g) => n + g.count, 0), oracle(model).live(p).length);
        for (const group of groups) assert.equal(typeof group.name, 'string', `${name} ${by}`);
        // Two sites may lie on one line.
        const told = groups.map((g) => (g.site ? `${g.site} ${g.name}` : g.name));
        assert.equal(new Set(told).size, groups.length, `${name} ${by}`);
      }
    }
  }
});

test('groups stand by bytes, then by age, then by name, and know their largest and oldest', () => {
  const model = makeModel(9, { events: 900 });
  const rows = live.liveAt(model, 700);
  const groups = live.groupRows(model, rows, 'line');
  assert.ok(groups.length > 3);
  const { of } = live.grouping(model, 'line');
  for (let i = 1; i < groups.length; i++) {
    const [a, b] = [groups[i - 1], groups[i]];
    assert.ok(a.bytes > b.bytes || (a.bytes === b.bytes && (a.since < b.since || a.name < b.name)));
  }
  for (const group of groups) {
    const mine = Array.from(rows).filter((row) => of[row] === group.key);
    assert.equal(group.count, mine.length);
    assert.equal(group.largest, Math.max(...mine.map((row) => model.alloc.bytes[row])));
    assert.equal(group.since, Math.min(...mine.map((row) => model.alloc.born[row])));
  }
});

test('groups are called by what they are', () => {
  const none = makeModel(2, { nasty: 'no-stacks' });
  for (const by of ['line', 'owner', 'file', 'function', 'module']) {
    const { of, names, bare } = live.grouping(none, by);
    none.alloc.sure.forEach((sure, i) => {
      const category = none.head.categories[none.alloc.cat[i]].name;
      const told = sure >= 2 && category !== 'unknown' && category !== 'persistent';
      assert.equal(names[of[i]], told ? `(no stack) ${category}` : '(no stack)');
      assert.equal(bare[of[i]], told ? category : 'persistent');
    });
    assert.ok(names.length > 2 && names.includes('(no stack)'));
  }
  const sites = live.grouping(none, 'site');
  none.alloc.bytes.forEach((bytes, i) => assert.equal(sites.names[sites.of[i]], `size:${bytes}`));
  assert.ok(sites.bare.every((purpose) => purpose === 'persistent'));
  assert.ok(live.grouping(makeModel(2), 'line').bare.includes(undefined), 'some have a line');
  const model = makeModel(2, { size: () => 600 });
  assert.deepEqual(live.grouping(model, 'size').names, ['600']);
  const ages = live.grouping(model, 'age', 200);
  model.alloc.born.forEach((born, i) => {
    const name = ages.names[ages.of[i]];
    const age = 200 - born;
    if (born === 0) assert.equal(name, 'older than the recording');
    else if (age < 0) assert.equal(name, 'not yet');
    else if (age < 2) assert.equal(name, age === 0 ? '0 events' : '1 event');
    else {
      const [first, last] = name.match(/^(\d+)-(\d+) events$/).slice(1).map(Number);
      assert.ok(first <= age && age <= last && last === 2 * first - 1);
      assert.ok(Number.isInteger(Math.log2(first)));
    }
  });
  assert.throws(() => live.grouping(model, 'colour'), /no grouping is called colour/);
});

test('a model without optional columns still has all groupings', () => {
  const model = makeModel(2);
  const { rows, born, end, bytes } = model.alloc;
  const bare = { ...model, alloc: { rows, born, end, bytes }, head: {},
    stack: { rows: 1, caller: Uint32Array.of(0), frame: Uint32Array.of(0) } };
  for (const by of live.GROUPINGS) {
    assert.equal(live.groupRows(bare, live.liveAt(bare, 100), by, 100).total.bytes,
      oracle(model).requested(100) - model.adjust);
  }
});

test('a pile is all that a span of bytes touches', () => {
  const r = random(3);
  for (const [, model] of manyModels(4)) {
    for (const p of someStates(model, 4)) {
      const rows = live.liveAt(model, p);
      const top = requested(model)[p];
      for (let round = 0; round < 20; round++) {
        const low = model.adjust + r() * (top - model.adjust);
        const high = low + r() * (top - low);
        let sum = model.adjust;
        const plain = Array.from(rows).filter((row) => {
          const from = sum;
          sum += model.alloc.bytes[row];
          return from < high && sum > low && sum > from;
        });
        const pile = live.pileBetween(model, rows, low, high);
        assert.deepEqual(Array.from(pile.rows), plain);
        assert.equal(pile.count, plain.length);
        assert.equal(pile.bytes, plain.reduce((n, row) => n + model.alloc.bytes[row], 0));
      }
    }
  }
});

test('same site: ever and live', () => {
  const model = makeModel(5, { sites: 3 });
  const site = (row) => model.stack.site[model.alloc.stack[row]];
  const all = Array.from(model.alloc.born.keys()).filter((row) => site(row) === site(4));
  const now = oracle(model).live(150).filter((row) => site(row) === site(4));
  assert.deepEqual(live.sameSite(model, 4, 150), { ever: all.length, live: now.length });
});

test('the curve of a site has the most bytes of each part, and none where rows are missing', () => {
  for (const [name, model] of manyModels(7)) {
    const { alloc, stack } = model;
    if (!alloc.stack || !stack.site) continue;
    const site = (row) => stack.site[alloc.stack[row]];
    for (const row of [0, 1, Math.floor(alloc.rows / 2)]) {
      const curve = live.siteCurve(model, row, 7);
      if (!site(row)) {
        assert.equal(curve, null);
        continue;
      }
      const most = new Array(Math.min(7, model.states)).fill(0);
      for (let p = 0; p < model.states; p++) {
        const held = oracle(model).live(p).filter((one) => site(one) === site(row))
          .reduce((sum, one) => sum + alloc.bytes[one], 0);
        const c = Math.floor(p * most.length / model.states);
        most[c] = Math.max(most[c], held);
      }
      assert.deepEqual(curve, most, `${name} ${row}`);
      assert.deepEqual(live.siteCurve({ ...model, window: [0, model.states] }, row, 7), most);
      if (model.states === 1) continue;
      assert.equal(live.siteCurve({ ...model, window: [1, model.states] }, row, 7), null);
    }
  }
});

test('ranges: end less start is born and survived less freed', () => {
  const r = random(8);
  for (const [name, model] of manyModels(8)) {
    const curve = oracle(model).curve();
    for (let round = 0; round < 12; round++) {
      const a = Math.floor(r() * model.states);
      const b = a + Math.floor(r() * (model.states - a));
      const facts = range.rangeFacts(model, curve, a, b);
      const span = curve.slice(a, b + 1);
      assert.equal(facts.end - facts.start, facts.bornSurvived - facts.freed, name);
      assert.equal(facts.churn, facts.bornSurvived + facts.bornFreed);
      assert.equal(facts.max, Math.max(...span));
      assert.equal(facts.min, Math.min(...span));
      assert.equal(facts.maxState, a + span.indexOf(facts.max));
      assert.equal(facts.minState, a + span.indexOf(facts.min));
      sameAsOracle(model, facts);
    }
  }
});

function sameAsOracle(model, facts) {
  const [first, last] = [facts.a, facts.b].map((p) => new Set(oracle(model).live(p)));
  const born = model.log.events.slice(facts.a, facts.b).filter((e) => e.op === 'alloc')
    .map((e) => e.row);
  const sum = (rows) => rows.reduce((n, row) => n + row.bytes, 0);
  assert.equal(facts.churn, sum(born));
  assert.equal(facts.counts.churn, born.length);
  assert.deepEqual(Array.from(range.bornIn(model, facts.a, facts.b)), born.map((row) => row.id));
  assert.deepEqual(Array.from(range.survivors(model, facts.a, facts.b)),
    born.filter((row) => last.has(row.id)).map((row) => row.id));
  assert.equal(facts.counts.freed, [...first].filter((id) => !last.has(id)).length);
}

test('the churn of columns adds up to that of the range', () => {
  for (const [name, model] of manyModels(6)) {
    for (const W of [1, 7, 100]) {
      const edges = Array.from({ length: W + 1 }, (_, c) => Math.floor((model.states * c) / W));
      const churn = range.churnColumns(model, edges);
      for (let c = 0; c < W; c++) {
        const [from, to] = [edges[c], edges[c + 1]].map((p) => Math.max(0, p - 1));
        const born = model.log.events.slice(from, to)
          .filter((e) => e.op === 'alloc');
        assert.equal(churn[c], born.reduce((n, e) => n + e.row.bytes, 0), name);
      }
    }
  }
});
