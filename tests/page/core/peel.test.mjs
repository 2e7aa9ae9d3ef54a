// peel.test.mjs - a recording without some of its groups, against a slow sum of what is left.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEngine } from '../../../viewer/core/engine.js';
import { createPictureOps } from '../../../viewer/core/memory/pictures.js';
import { GROUPINGS, grouping } from '../../../viewer/core/memory/live.js';
import { ownName } from '../../../viewer/ui/state/terms.js';
import { packModel } from './made/pack.mjs';
import { makeModel, manyModels, oracle, random } from './made/synthetic.mjs';

const size = { W: 60, H: 40, y0: null, y1: null };
const wholeX = (model) => ({ mode: 'events', from: 0, to: model.states });

async function engineOf(model) {
  const { head, blocks } = packModel(model);
  const call = createEngine([{ devices: [head] }], createPictureOps());
  for (const [n, bytes] of blocks.entries()) await call('block', { n, bytes });
  return call;
}

/* Which rows are in none of the groups; `all`: how a page calls them. */
function left(model, { by, names }, all = grouping(model, by).names) {
  const { of } = grouping(model, by);
  return (row) => !names.includes(all[of[row]]);
}

/* The curve without them, state by state: what is live in the oracle and stays. */
function slowCurve(model, stays) {
  return Array.from({ length: model.states }, (_, p) => oracle(model).live(p).filter(stays)
    .reduce((sum, row) => sum + model.alloc.bytes[row], model.adjust));
}

/* Some groups of each grouping, one or several, and which rows stay. */
async function somePeels(model, call) {
  const r = random(model.states + 7);
  const { by: groupings } = await call('cover', { wait: true });
  return Promise.all(GROUPINGS.filter((by) => by !== 'age' && groupings.includes(by))
    .map(async (by) => {
      const all = (await call('live', { by, state: 0 })).names.map(ownName);
      const without = { by, names: all.filter((_, i) => i === 0 || r() < 0.3) };
      return { without, stays: left(model, without, all) };
    }));
}

test('the peak of what is left is that of a slow sum, the earliest of several', async () => {
  for (const [name, model] of manyModels(4)) {
    const call = await engineOf(model);
    const whole = oracle(model).curve();
    for (const { without, stays } of await somePeels(model, call)) {
      const curve = slowCurve(model, stays);
      const got = await call('peel', { without });
      const top = Math.max(...curve);
      assert.equal(got.bytes, top, `${name} ${without.by}`);
      assert.equal(got.state, curve.indexOf(top), `${name} ${without.by}`);
      assert.equal(got.ties, curve.filter((v, p) => v === top && curve[p - 1] !== top).length);
      const old = Math.max(...whole);
      assert.deepEqual(got.before, { bytes: old, state: whole.indexOf(old) });
      const taken = oracle(model).live(got.before.state).filter((row) => !stays(row));
      assert.deepEqual(got.taken, { count: taken.length,
        bytes: taken.reduce((sum, row) => sum + model.alloc.bytes[row], 0) });
      assert.deepEqual(got.missing, []);
      assert.equal(Math.max(...got.requested), top);
      assert.equal(got.peaks[0], got.state);
    }
  }
});

test('pictures stack what is left, on what no allocation explains', async () => {
  for (const [name, model] of manyModels(2)) {
    const call = await engineOf(model);
    for (const { without, stays } of await somePeels(model, call)) {
      const curve = slowCurve(model, stays);
      for (const op of ['raster', 'groups']) {
        const got = await call(op, { ...size, x: wholeX(model), by: 'category', without });
        assert.deepEqual(Array.from(got.sums), Array.from(got.shown, (p) => curve[p]), name);
        assert.equal(got.y1, Math.max(1, ...curve), `${name} ${op}`);
        if (op === 'raster') assert.ok(got.ids.every((id) => id < 0 || stays(id)));
        const born = model.alloc.born.reduce((sum, state, row) =>
          sum + (state > 0 && stays(row) ? model.alloc.bytes[row] : 0), 0);
        assert.equal(got.churn.reduce((sum, one) => sum + one, 0), born);
      }
    }
  }
});

test('a filter and what is taken out are combined', async () => {
  const model = makeModel(5, { events: 800, adjust: 4096 });
  const call = await engineOf(model);
  const without = { by: 'line', names: [grouping(model, 'line').names[1]] };
  const stays = left(model, without);
  const args = { ...size, x: wholeX(model), by: 'category', query: 'cat:gradient', without };
  const only = await call('raster', { ...args, only: true });
  const curve = slowCurve(model, (row) => stays(row) && model.alloc.cat[row] === 1);
  assert.deepEqual(Array.from(only.sums), Array.from(only.shown, (p) => curve[p] - 4096));
  const marked = await call('raster', args);
  assert.ok(marked.ids.some((id) => id >= 0 && model.alloc.cat[id] !== 1));
  assert.ok(marked.ids.every((id) => id < 0 || stays(id)));
});

test('a search counts and visits what is left', async () => {
  for (const [name, model] of manyModels(4)) {
    const call = await engineOf(model);
    const { bytes } = model.alloc;
    const sum = (rows) => rows.reduce((n, row) => n + bytes[row], 0);
    for (const { without, stays } of await somePeels(model, call)) {
      const state = model.states >> 1;
      const matches = Array.from(bytes.keys()).filter((row) => stays(row) && bytes[row] >= 1024);
      const live = oracle(model).live(state).filter(stays);
      const args = { text: 'size>=1KiB', state, without };
      const got = await call('find', args);
      assert.equal(got.count, matches.length, `${name} ${without.by}`);
      assert.equal(got.ever, sum(matches));
      assert.equal(got.now, sum(live.filter((row) => bytes[row] >= 1024)));
      assert.equal(got.share, sum(live) ? got.now / sum(live) : got.share);
      assert.equal(got.visit?.id, matches[0]);
      const last = await call('find', { ...args, step: -1 });
      assert.equal(last.visit?.id, matches.at(-1));
    }
  }
});

test('who is alive, a range, a pile and a tree are of what is left', async () => {
  const model = makeModel(5, { events: 800, adjust: 4096 });
  const call = await engineOf(model);
  const names = grouping(model, 'line').names.slice(1, 3);
  const without = { by: 'line', names };
  const stays = left(model, without);
  const curve = slowCurve(model, stays);
  const p = 500;
  const whole = await call('live', { state: p, by: 'line' });
  const live = await call('live', { state: p, by: 'line', without });
  assert.equal(live.bytes, curve[p]);
  assert.equal(live.requested, curve[p]);
  assert.equal(live.reserved, null);
  assert.deepEqual(live.rows, whole.rows.filter(({ name }) => !names.includes(name)));
  const held = new Map(whole.rows.map((row) => [row.name, row.bytes]));
  assert.deepEqual(new Map(live.out.map((row) => [row.name, row.bytes])),
    new Map(names.map((name) => [name, held.get(name) ?? 0])));
  assert.deepEqual((await call('live', { state: p, by: 'category', without })).out, []);
  const range = await call('range', { a: 100, b: p, by: 'category', without });
  assert.equal(range.max, Math.max(...curve.slice(100, p + 1)));
  assert.equal(range.rows.reduce((sum, row) => sum + row.delta, 0), curve[p] - curve[100]);
  assert.equal(range.end - range.start, range.bornSurvived - range.freed);
  const pile = await call('pile', { state: p, low: 4096, high: 2 ** 40, by: 'category', without });
  assert.equal(pile.bytes, curve[p] - 4096);
  const tree = await call('tree', { of: 'cursor', state: p, without });
  assert.equal(tree.total[0], curve[p] - 4096);
});

test('names that a recording lacks are told, and take nothing out', async () => {
  const model = makeModel(5);
  const call = await engineOf(model);
  const got = await call('peel', { without: { by: 'line', names: ['nowhere', '__proto__'] } });
  assert.deepEqual(got.missing, ['nowhere', '__proto__']);
  assert.deepEqual(got.taken, { bytes: 0, count: 0 });
  assert.equal(got.bytes, got.before.bytes);
  assert.equal(got.dropped, false);
});

test('of several sites of one name only those that are chosen are taken out', async () => {
  const model = makeModel(5, { events: 600, sites: 6 });
  const { stack, string } = model;
  // All of them get the name of one line, as calls from several places have.
  const line = string.push('model.py:22 forward') - 1;
  for (let s = 1; s < stack.rows; s++) if (stack.culprit[s]) stack.culprit[s] = line;
  const call = await engineOf(model);
  const [first, second] = (await call('live', { state: 300, by: 'site' })).rows;
  assert.equal(first.name, second.name);
  const without = { by: 'site', names: [ownName(second)] };
  const stays = (row) => stack.site[model.alloc.stack[row]] !== second.site;
  const live = await call('live', { state: 300, by: 'site', without });
  assert.equal(live.bytes, slowCurve(model, stays)[300]);
  assert.ok(live.rows.some(({ site }) => site === first.site));
  assert.deepEqual(live.out.map(({ site, bytes }) => [site, bytes]), [[second.site, second.bytes]]);
  const { bytes, missing } = await call('peel', { without });
  assert.deepEqual([bytes, missing], [Math.max(...slowCurve(model, stays)), []]);
  const nowhere = { by: 'site', names: ['#999 model.py:22 forward'] };
  assert.deepEqual((await call('peel', { without: nowhere })).missing, nowhere.names);
});
