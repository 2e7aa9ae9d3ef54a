// link.test.mjs - links come back as they were written; hostile ones do no harm.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { read, write } from '../../../../viewer/ui/state/link.js';
import { random } from '../made/synthetic.mjs';

const FULL = { file: 0, dev: 3, view: 'stack', x: { mode: 'events', from: 12000, to: 34000 },
  y: { from: 0, to: null }, at: 48120, by: 'category', sel: { kind: 'a', id: 812 },
  q: 'cat:gradient', only: true, without: { by: 'site', names: ['a.py:1 f', '"[,]&#\n\u202e'] },
  range: { a: 5, b: 900 }, marks: [5, 90], cap: 85899345920,
  theme: 'dark', patterns: true };

test('the form that people see', () => {
  const { file, dev, view, x, y, at, by, sel, q } = FULL;
  assert.equal(write({ file, dev: 0, view, x, y, at, by, sel, q }),
    'v=1&file=0&dev=0&view=stack&x=e12000-34000&y=0-&at=48120&by=category&sel=a812'
    + '&q=cat%3Agradient');
});

test('a state comes back whole', () => {
  assert.deepEqual(read(`#${write(FULL)}`), { state: FULL, notes: [] });
  const r = random(3);
  for (let i = 0; i < 300; i++) {
    const from = Math.floor(r() * 1e6);
    const state = { ...FULL, at: Math.floor(r() * 2 ** 32), theme: undefined,
      x: { mode: r() < 0.5 ? 'events' : 'time', from, to: from + 1 + Math.floor(r() * 1e6) },
      y: { from: Math.floor((r() - 0.5) * 1e9), to: 2e9 + Math.floor(r() * 1e12) },
      q: Array.from({ length: 20 }, () => String.fromCodePoint(1 + Math.floor(r() * 0xd000)))
        .join('') };
    delete state.theme;
    assert.deepEqual(read(write(state)), { state, notes: [] });
  }
});

test('links name groups by the words of peak, a line also as culprit', () => {
  for (const by of ['line', 'site', 'file', 'function', 'name', 'path', 'birth']) {
    assert.deepEqual(read(`by=${by}`), { state: { by }, notes: [] });
  }
  assert.deepEqual(read('by=culprit'), { state: { by: 'line' }, notes: [] });
});

test('nothing set, nothing written', () => {
  assert.equal(write({}), 'v=1');
  assert.equal(write({ q: '', sel: null, only: false, marks: [], theme: null }), 'v=1');
  assert.deepEqual(read(''), { state: {}, notes: [] });
  assert.deepEqual(read('#'), { state: {}, notes: [] });
});

test('unknown keys are ignored, wrong values fall back one by one with a note', () => {
  const { state, notes } = read('#v=1&view=stack&new=7&at=-5&x=e9-3&by=colour&theme=pink&dev=2');
  assert.deepEqual(state, { view: 'stack', dev: 2 });
  assert.equal(notes.length, 4);
  assert.match(notes[0], /at="-5"/);
  assert.match(read('v=2&at=4').notes[0], /version "2"/);
  assert.equal(read('v=2&at=4').state.at, 4);
});

test('hostile values', () => {
  const bad = ['at=1e9', 'at=NaN', 'at=', 'at=99999999999999999', 'file=0x1', 'x=e1-', 'x=e-1-5',
    'x=q1-5', 'x=e1.5-9', 'x=t1.2.3-9', 'x=t..-9', 'y=5-2', 'y=a-b', 'y=--1-', 'sel=812', 'sel=a',
    'sel=a99999999999', 'q=%', 'q=%ff', `q=${'x'.repeat(2001)}`, 'only=yes', 'range=9-1',
    'marks=1,2,3', 'without=', 'without=site', 'without={}', 'without=["site"]',
    'without=["site",1]', 'without=["age","a"]', 'without=["birth","a"]',
    'without=["__proto__","a"]', 'without=null', `without=["site","${'x'.repeat(20000)}"]`,
    'cap=-1', 'cap=80GiB', 'view=constructor', 'by=__proto__', 'theme=%00'];
  for (const text of bad) {
    const { state, notes } = read(text);
    assert.deepEqual(state, {}, text);
    assert.equal(notes.length, 1, text);
    assert.doesNotMatch(notes[0], /[^\x20-\x7e…]/);
    assert.ok(notes[0].length < 100);
  }
  const odd = ['__proto__=1', 'constructor=1', 'toString=1', '=', '&&&', 'v', 'at', '%=%',
    '\u0000'];
  for (const text of odd) {
    assert.deepEqual(read(text), { state: {}, notes: [] }, text);
    assert.equal({}.at, undefined);
  }
});

test('a group is taken out once', () => {
  assert.deepEqual(read('without=["site","a","b","a"]').state.without,
    { by: 'site', names: ['a', 'b'] });
  assert.equal(write({ without: null }), 'v=1');
});

test('what a reader would refuse is not written', () => {
  assert.equal(write({ at: NaN, view: 'other', x: { mode: 'events', from: 5, to: 5 } }), 'v=1');
  assert.equal(write({ q: 'x'.repeat(3000), cap: 1.5 }), 'v=1');
  assert.equal(read(write({ q: 'a\ud800b' })).state.q, 'a\ufffdb');
});

test('random text never throws', () => {
  const r = random(6);
  const letters = 'v=1&file dev%view#x=e-123at,by\u202esel+q<>"\'';
  for (let i = 0; i < 2000; i++) {
    const text = Array.from({ length: Math.floor(r() * 40) },
      () => letters[Math.floor(r() * letters.length)]).join('');
    const { state, notes } = read(text);
    assert.ok(Array.isArray(notes));
    if (state.q === '') delete state.q;
    assert.deepEqual(read(write(state)).state, state);
  }
});
