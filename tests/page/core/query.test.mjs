// query.test.mjs - queries and the allocations they name, faults and where they are.
import test from 'node:test';
import assert from 'node:assert/strict';
import { makeModel, manyModels, oracle, random } from './made/synthetic.mjs';
import { expressionsOf, parse, run } from '../../../viewer/core/memory/query.js';

const SEED = 12;
const model = makeModel(SEED, { events: 600, before: 10, neverFreed: 0.1 });
// As decode.js calls them.
model.head.pools = ['default', 'pool 1'];
const { alloc } = model;
const replay = oracle(model);
const PEAK = 312;

function rowsOf(text, options = {}) {
  const ast = parse(text);
  assert.equal(ast.error, undefined, `${text}: ${ast.error}`);
  const { mask } = run(model, ast, { cursor: 77, peak: PEAK, ...options });
  return [...mask.keys()].filter((r) => mask[r]);
}

const all = [...Array(alloc.rows).keys()];

function framesOf(stack) {
  const frames = [];
  for (let s = stack; s > 0; s = model.stack.caller[s]) frames.push(model.stack.frame[s]);
  return frames;
}

const someFrame = (stack, test_) => framesOf(stack).some((f) => test_({
  func: model.string[model.frame.func[f]].toLowerCase(),
  file: model.string[model.frame.file[f]].toLowerCase(), line: model.frame.line[f] }));
const textOf = (key) => (r) => model.string[model.stack[key][alloc.stack[r]]];
const lives = (r) => alloc.end[r] - alloc.born[r];
const closed = (r) => alloc.born[r] > 0 && alloc.end[r] < model.states;
const liveAt = (p) => (r) => alloc.born[r] <= p && p < alloc.end[r];
const word = (text) => (r) => someFrame(alloc.stack[r],
  (f) => f.func.includes(text) || f.file.includes(text)) ||
  textOf('culprit')(r).toLowerCase().includes(text);
const categories = model.head.categories.map((c) => c.name);
const micro = (r) => model.time[alloc.end[r]] - model.time[alloc.born[r]];
const stepOf = (r) => (alloc.born[r] === 0 ? 0 : 1 + Math.floor(alloc.born[r] / 50));

/* Each query and what it means, said in another way. */
const TABLE = [
  ['', () => true],
  ['layer_3', word('layer_3')],
  ['LAYER_3', word('layer_3')],
  ['nn/mod', word('nn/mod')],
  ['"layer 3"', () => false],
  ['"via 4"', (r) => textOf('culprit')(r).endsWith('via 4')],
  ['fn:forward_1', (r) => someFrame(alloc.stack[r], (f) => f.func.includes('forward_1'))],
  ['file:train.py', (r) => someFrame(alloc.stack[r], (f) => f.file.includes('train.py'))],
  ['line:11', (r) => someFrame(alloc.stack[r], (f) => f.line === 11)],
  ['free:layer_2', (r) => someFrame(alloc.free_stack[r], (f) => f.func.includes('layer_2'))],
  ['free:forward', (r) => alloc.free_stack[r] > 0],
  ['line:"via 4"', (r) => textOf('culprit')(r).endsWith('via 4')],
  ['culprit:"via 4"', (r) => textOf('culprit')(r).endsWith('via 4')],
  ['site:"via 4"', (r) => textOf('culprit')(r).endsWith('via 4')],
  ['line="train.py:11 via 4"', (r) => textOf('culprit')(r) === 'train.py:11 via 4'],
  ['line="via 4"', () => false],
  ['site="#4 train.py:11 via 4"', (r) => model.stack.site[alloc.stack[r]] === 4],
  ['site="#4 whatever it is called"', (r) => model.stack.site[alloc.stack[r]] === 4],
  ['site="train.py:11 via 4"', (r) => model.stack.site[alloc.stack[r]] === 4],
  ['file=train.py', (r) => alloc.stack[r] > 0],
  ['file=train', () => false],
  ['function=forward_1', (r) => alloc.stack[r] / 2 % 3 === 1],
  ['function:forward', (r) => alloc.stack[r] > 0],
  ['owner:layer_4', (r) => textOf('owner')(r) === 'layer_4'],
  ['op:mm', (r) => textOf('op')(r) === 'aten::mm'],
  ['op:aten::mm', (r) => textOf('op')(r) === 'aten::mm'],
  ['module:model.2', (r) => textOf('module')(r) === 'model.2'],
  ['cat:gradient', (r) => categories[alloc.cat[r]] === 'gradient'],
  ['cat:opt', (r) => categories[alloc.cat[r]] === 'optimizer_state'],
  ['phase:backward', (r) => alloc.phase[r] === 2],
  ['sure:low', (r) => alloc.sure[r] === 1],
  ['rule:w2', (r) => alloc.rule[r] === 1],
  ['stream:1', (r) => alloc.stream[r] === 1],
  ['stream:7', (r) => alloc.stream[r] === 1],
  ['pool:0', (r) => alloc.pool[r] === 0],
  ['pool:default', (r) => alloc.pool[r] === 0],
  ['pool:1', (r) => alloc.pool[r] === 1],
  ['pool:"pool 1"', (r) => alloc.pool[r] === 1],
  ['pool:2', () => false],
  ['stream:9', () => false],
  ['flag:before', (r) => alloc.born[r] === 0],
  ['flag:traced', (r) => alloc.born[r] > 0],
  ['flag:pre_live', (r) => alloc.born[r] === 0 && (alloc.flags[r] & 2) > 0],
  ['flag:reopened', (r) => r % 41 === 40],
  ['flag:not_final', (r) => r % 37 === 36],
  ['flag:end', liveAt(model.states - 1)],
  ['size>=16KiB', (r) => alloc.bytes[r] >= 16384],
  ['size>16k', (r) => alloc.bytes[r] > 16384],
  ['size<512', (r) => alloc.bytes[r] < 512],
  ['size<=0.5KiB', (r) => alloc.bytes[r] <= 512],
  ['size=1..4KiB', (r) => alloc.bytes[r] >= 1024 && alloc.bytes[r] <= 4096],
  ['size=512B..4KiB', (r) => alloc.bytes[r] >= 512 && alloc.bytes[r] <= 4096],
  [`size=${alloc.bytes[7]}`, (r) => alloc.bytes[r] === alloc.bytes[7]],
  ['life<20', (r) => closed(r) && lives(r) < 20],
  ['life>100', (r) => lives(r) > 100],
  ['life>=3 life<=9', (r) => closed(r) && lives(r) >= 3 && lives(r) <= 9],
  ['life=5..8', (r) => closed(r) && lives(r) >= 5 && lives(r) <= 8],
  ['life<0.2ms', (r) => closed(r) && micro(r) < 200],
  ['life=100..400us', (r) => closed(r) && micro(r) >= 100 && micro(r) <= 400],
  ['step:3', (r) => stepOf(r) === 3],
  ['step:99', () => false],
  ['in:100..120', (r) => alloc.born[r] >= 101 && alloc.born[r] <= 121],
  ['alive:peak', liveAt(PEAK)],
  ['alive:cursor', liveAt(77)],
  ['alive:end', liveAt(model.states - 1)],
  ['alive:start', liveAt(0)],
  ['alive:#200', liveAt(201)],
  ['id:12', (r) => r === 12],
  ['survives:step', (r) => alloc.born[r] > 0 &&
    alloc.end[r] > Math.min(50 * stepOf(r), model.states) - 1],
  ['-cat:gradient', (r) => categories[alloc.cat[r]] !== 'gradient'],
  ['--cat:gradient', (r) => categories[alloc.cat[r]] === 'gradient'],
  ['cat:gradient size<1k', (r) => categories[alloc.cat[r]] === 'gradient' && alloc.bytes[r] < 1024],
  ['cat:gradient|cat:activation -phase:backward', (r) => alloc.cat[r] === 1 ||
    (alloc.cat[r] === 3 && alloc.phase[r] !== 2)],
  ['  id:1 | id:2 |id:3', (r) => r > 0 && r < 4],
  ['at::add', () => false],
  ['"-x"', () => false],
  ['"size>3"', () => false],
  ['/usr/lib', word('/usr/lib')],
  ['"/usr/g"', word('/usr/g')],
];

test('a query names these allocations', () => {
  for (const [text, of] of TABLE) assert.deepEqual(rowsOf(text), all.filter(of), text);
});

test('queries of the table are not all empty', () => {
  const empty = TABLE.filter(([text]) => rowsOf(text).length === 0).map(([text]) => text);
  assert.deepEqual(empty.sort(),
    ['"-x"', '"/usr/g"', '"layer 3"', '"size>3"', 'at::add', 'file=train', 'line="via 4"', 'pool:2', 'step:99', 'stream:9']);
});

test('count, bytes ever, bytes at a state', () => {
  const got = run(model, parse('cat:gradient | size>4k'));
  const rows = all.filter((r) => got.mask[r]);
  assert.equal(got.count, rows.length);
  assert.equal(got.ever, rows.reduce((n, r) => n + alloc.bytes[r], 0));
  for (const p of [0, 99, PEAK, model.states - 1]) {
    const live = replay.live(p).filter((r) => got.mask[r]);
    assert.equal(got.atCursor(p), live.reduce((n, r) => n + alloc.bytes[r], 0));
  }
});

test('an event names what was born, asked back or freed there', () => {
  model.log.events.forEach((entry, event) => {
    const expected = entry.row ? [entry.row.id] : [];
    assert.deepEqual(rowsOf(`#${event}`), expected);
  });
  assert.equal(parse('#600123').goto, 600123);
  assert.equal(parse('#600123 cat:x').goto, null);
  assert.equal(parse('-#600123').goto, null);
});

test('an address names what lay over it', () => {
  const base = model.range.base;
  for (let r = 0; r < alloc.rows; r += 7) {
    if (alloc.lane[r] === 0xffffffff) continue;
    const segment = [...base.keys()].find((i) => alloc.lane[r] >= model.range.lane[i] &&
      alloc.lane[r] < model.range.lane[i] + model.range.bytes[i] / 512);
    const at = (alloc.lane[r] - model.range.lane[segment]) * 512 + Math.floor(alloc.bytes[r] / 2);
    const got = rowsOf(`addr:0x${(base[segment] + at).toString(16)}`);
    assert.ok(got.includes(r));
    for (const other of got) {
      const from = (alloc.lane[other] - model.range.lane[segment]) * 512;
      assert.ok(from <= at && at < from + Math.max(1, alloc.bytes[other]));
    }
  }
  assert.deepEqual(rowsOf('addr:0x1234'), []);
});

test('annotations are found by words', () => {
  const named = makeModel(SEED, { events: 600 });
  named.string.push('Optimizer.step#Adam');
  named.mark.kind[1] = 2;
  named.mark.name[1] = named.string.length - 1;
  const { mask } = run(named, parse('optimizer.step'));
  const [first, last] = [named.mark.first[1], named.mark.last[1]];
  const expected = Array.from(named.alloc.born, (born) => (born >= first && born <= last ? 1 : 0));
  assert.deepEqual([...mask], expected);
});

test('expressions are left to the caller', () => {
  const ast = parse('fn:/forward_[12]/ -/add|mm/ | /forward_[12]/ | site:/a b/');
  assert.deepEqual(expressionsOf(ast), ['forward_[12]', 'add|mm', 'a b']);
  assert.deepEqual(expressionsOf(parse('name:/Model/i | /mm/i|/usr/lib')), ['Model', 'mm']);
  const bitmap = Uint8Array.from(model.string, (s) => (/forward_[12]/.test(s) ? 1 : 0));
  const rows = rowsOf('fn:/forward_[12]/', { expressions: new Map([['forward_[12]', bitmap]]) });
  assert.deepEqual(rows, all.filter((r) => someFrame(alloc.stack[r],
    (f) => /forward_[12]/.test(f.func))));
  assert.ok(rows.length > 0 && rows.length < all.length);
});

const FAULTS = [
  ['sise>3', 0, /^"sise" is no word of the search; did you mean site: or size:\? In quotes/],
  ['qu:x', 0, /^"qu" is no word of the search\. In quotes it is looked for as text$/],
  ['cat:x sise>3', 6, /no word of the search/],
  ['size>3x', 0, /a size is a number/],
  ['-size>', 1, /a size/],
  ['size>1..2', 0, /goes with =/],
  ['size=4k..1k', 0, /ends before it begins/],
  ['life<abc', 0, /number of events/],
  ['line:', 0, /nothing after the colon/],
  ['line=', 0, /nothing after the equals sign/],
  ['line:', 0, /nothing after the colon/],
  ['line>3', 0, /only : goes/],
  ['sure:very', 0, /low, medium, high/],
  ['flag:odd', 0, /one of before/],
  ['in:5', 0, /two event numbers/],
  ['in:9..5', 0, /ends before/],
  ['addr:zz', 0, /hexadecimal/],
  ['alive:never', 0, /takes peak/],
  ['survives:lunch', 0, /step, phase/],
  ['fn:', 0, /nothing after the colon/],
  ['a | ', 2, /nothing after this \|/],
  ['| a', 0, /nothing before this/],
  ['a || b', 3, /nothing before this/],
  ['a -', 2, /nothing after the minus/],
  ['a "b', 2, /no " ends/],
  ['a ""', 2, /empty text/],
  ['id:99999999999999999999', 0, /whole number/],
  ['name:/model/g', 12, /no flag but i, not "g"\. In quotes, "\/model\/g" is looked for as text/],
  ['a | /mm|add/gi b', 12, /no flag but i, not "gi"/],
  ['x'.repeat(5000), 4096, /longer than/],
];

test('a fault says what and where', () => {
  for (const [text, at, message] of FAULTS) {
    const got = parse(text);
    assert.match(got.error ?? 'none', message, text);
    assert.equal(got.at, at, text);
  }
});

test('no text makes it throw or slow', () => {
  const r = random(99);
  const parts = ['size', 'life', 'fn', 'in', 'alive', 'addr', ':', '>=', '<', '=', '..', '#', '-',
    '|', '"', '/', '\\', ' ', '1', '64MiB', '5ms', 'peak',
    'a', '\u202e', '\u0000', '😀', 'µs', '(', '*'];
  const began = performance.now();
  let good = 0;
  for (let i = 0; i < 20000; i++) {
    let text = '';
    for (let n = Math.floor(r() * 12); n >= 0; n--) text += parts[Math.floor(r() * parts.length)];
    const ast = parse(text);
    if (ast.error) assert.ok(ast.at >= 0 && ast.at <= text.length);
    else if (i % 20 === 0) run(model, ast);
    good += ast.error ? 0 : 1;
  }
  for (const text of ['-'.repeat(4000), '/'.repeat(4000), '"'.repeat(4000), '|'.repeat(4000),
    'size=' + '1'.repeat(4000), 'a '.repeat(2000), '\\/'.repeat(2000), '/\\'.repeat(2000),
    '/a'.repeat(2000), ' /x'.repeat(1300)]) {
    const started = performance.now();
    parse(text);
    assert.ok(performance.now() - started < 500, text.slice(0, 10));
  }
  assert.ok(good > 500);
  assert.ok(performance.now() - began < 20000);
});

test('tables that are not there match nothing', () => {
  for (const [, other] of manyModels(2)) {
    for (const key of ['op', 'module']) delete other.stack[key];
    for (const key of ['lane', 'rule', 'sure', 'phase', 'wait', 'flags', 'free_stack', 'stream',
      'pool']) {
      delete other.alloc[key];
    }
    delete other.head;
    for (const [text] of TABLE) run(other, parse(text));
    assert.equal(run(other, parse('op:mm')).count, 0);
    assert.equal(run(other, parse('addr:0x7f0000000000')).count, 0);
  }
});
