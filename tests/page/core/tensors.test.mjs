// tensors.test.mjs - names of allocations: decoded, told of a row, found by a search.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeDevice } from '../../../viewer/core/model/decode.js';
import { createDevice } from '../../../viewer/core/memory/device.js';
import { createPictureOps, matchStrings } from '../../../viewer/core/memory/pictures.js';
import { parse, run } from '../../../viewer/core/memory/query.js';
import { tensorName, tensorOf } from '../../../viewer/core/memory/tensors.js';
import { tensorText } from '../../../viewer/ui/draw/text.js';
import { packColumn, packModel } from './made/pack.mjs';
import { makeModel } from './made/synthetic.mjs';

const TEXTS = ['', 'model.0.weight', 'model.0.bias', 'exp_avg of model.0.weight', '4096 x 11008',
  'torch.bfloat16', 'constructor', 'Llama', 'lm_head.weight, tied', 'scalar'];
const COLUMNS = { kind: [0, 1, 2, 4], name: [0, 1, 2, 3], shape: [0, 4, 9, 0],
  dtype: [0, 5, 6, 0], of: [0, 7, 0, 0], shared: [0, 8, 0, 0] };
const NAMED = { 3: 1, 7: 2, 12: 3 };

/* A page of a model with names; `without` has tables and columns that are not there. */
function packed({ model = makeModel(4), columns = COLUMNS, texts = TEXTS, without = [],
  of = (r) => NAMED[r] ?? 0 } = {}) {
  const { head, blocks } = packModel(model);
  const put = (name, values, type) => {
    const [table, column] = name.split('.');
    if (without.includes(name) || without.includes(table)) return;
    const { spec, bytes } = packColumn(values, type);
    head.tables[table] ??= { rows: values.length, columns: {} };
    head.tables[table].columns[column] = { ...spec, block: blocks.push(bytes) - 1, at: 0 };
  };
  const encoded = texts.map((text) => new TextEncoder().encode(text));
  for (const [column, values] of Object.entries(columns)) {
    put(`tensor.${column}`, values, column === 'kind' ? 'u8' : 'u32');
  }
  put('tensor_string.len', encoded.map((one) => one.length), 'u32');
  put('tensor_string.bytes', Buffer.concat(encoded), 'u8');
  put('alloc.tensor', Array.from({ length: model.alloc.rows }, (_, r) => of(r)), 'u32');
  return decodeDevice(head, blocks);
}

function rowsOf(model, text, expressions = new Map()) {
  const ast = parse(text);
  assert.equal(ast.error, undefined, text);
  const { mask, count } = run(model, ast, { expressions });
  const rows = [...mask.keys()].filter((r) => mask[r]);
  assert.equal(count, rows.length);
  return rows;
}

test('what the program said of an allocation is told', async () => {
  const model = await packed();
  assert.deepEqual(tensorOf(model, 3), { name: 'model.0.weight', kind: 'parameter',
    type: 'bf16 4096 x 11008', of: 'Llama', shared: 'lm_head.weight, tied' });
  // No name of a type is one of every object's members.
  assert.deepEqual(tensorOf(model, 7), { name: 'model.0.bias', kind: 'buffer',
    type: 'constructor scalar', of: '', shared: '' });
  assert.deepEqual(tensorOf(model, 12), { name: 'exp_avg of model.0.weight',
    kind: 'optimizer_state', type: '', of: '', shared: '' });
  assert.equal(tensorOf(model, 4), null);
  assert.equal(tensorName(model, 4), '');
  assert.equal(tensorText(tensorOf(model, 3)), 'model.0.weight  bf16 4096 x 11008');
  assert.equal(tensorText(tensorOf(model, 12)), 'exp_avg of model.0.weight');
  assert.ok(tensorText({ name: 'n'.repeat(5000), type: 't'.repeat(5000) }).length <= 162);
});

test('a search finds names and what shares their storage, and nothing that has none', async () => {
  const model = await packed();
  for (const [text, rows] of [['name:weight', [3, 12]], ['name:MODEL.0.bias', [7]],
    ['name:tied', [3]], ['name:Llama', []], ['name:4096', []], ['name:absent', []],
    ['name:"exp_avg of"', [12]], ['exp_avg', [12]], ['lm_head', [3]],
    ['name:weight -name:exp_avg', [3]], ['name:bias | name:tied', [3, 7]]]) {
    assert.deepEqual(rowsOf(model, text), rows, text);
  }
  assert.equal(rowsOf(model, '-name:0').length, model.alloc.rows - 3);
  // An expression that the empty text matches as well.
  const all = new Map([['.*', new Uint8Array(model.string.length).fill(1)]]);
  assert.deepEqual(rowsOf(model, 'name:/.*/', all), [3, 7, 12]);
});

test('each of the names of shared storage is matched alone, and no name by nothing', async () => {
  const model = await packed();
  for (const [source, rows] of [['^lm_head', [3]], ['^tied$', [3]], ['weight$', [3, 12]],
    ['weight, tied', []], ['^$', []], ['^(?!model|lm|tied)', [12]]]) {
    const matched = matchStrings([source], model.string);
    assert.deepEqual(rowsOf(model, `name:/${source}/`, matched), rows, source);
  }
  assert.equal(tensorOf(model, 3).shared, 'lm_head.weight, tied');
});

test('a word finds what it found before, and names besides', async () => {
  const plain = makeModel(4);
  const model = await packed();
  for (const text of ['forward', 'layer_3', 'train.py', 'no such']) {
    assert.deepEqual(rowsOf(model, text), rowsOf(plain, text), text);
  }
  const both = new Set([...rowsOf(plain, 'model'), 3, 7, 12]);
  assert.deepEqual(rowsOf(model, 'model'), [...both].sort((a, b) => a - b));
  assert.deepEqual(rowsOf(plain, 'name:weight'), []);
});

test('a page that goes without names is whole without them, whatever took no bytes', async () => {
  const plain = makeModel(4);
  for (const without of [['alloc.tensor'], ['tensor'], ['tensor_string'], ['tensor.name'],
    ['tensor_string.bytes'], ['tensor_string.len'], ['alloc.tensor', 'tensor', 'tensor_string']]) {
    const model = await packed({ without });
    assert.ok(model.whole, without.join());
    assert.deepEqual(model.string, plain.string);
    assert.equal(tensorOf(model, 3), null);
    assert.deepEqual(rowsOf(model, 'name:weight'), []);
  }
  const model = await packed({ without: ['tensor.kind', 'tensor.shape', 'tensor.shared'] });
  assert.deepEqual(tensorOf(model, 3), { name: 'model.0.weight', kind: null, type: 'bf16',
    of: 'Llama', shared: '' });
});

test('damage is named', async () => {
  const change = (column, values) => packed({ columns: { ...COLUMNS, [column]: values } });
  await assert.rejects(change('name', [0, 1, 2, TEXTS.length]), /tensor\.name: row 3 points at/);
  await assert.rejects(change('shared', [0, 99, 0, 0]), /tensor\.shared: row 1 points at/);
  const few = Object.fromEntries(Object.entries(COLUMNS).map(([k, v]) => [k, v.slice(0, 3)]));
  await assert.rejects(packed({ columns: few }), /alloc\.tensor: row 12 points at/);
  await assert.rejects(change('dtype', [0, 1, 2]), /tensor\.dtype: 3 rows where the table has 4/);
});

test('lines about a block have its name: events, and what pins free memory', async () => {
  const model = await packed({ of: (r) => (r % 3 ? 1 + r % 2 : 0) });
  const ops = createPictureOps();
  const d = createDevice(model);
  const events = ops.events(d, { state: 1, n: 2 * model.states }).rows;
  for (const { row, name } of events) assert.equal(name, row < 0 ? '' : tensorName(model, row));
  assert.ok(events.some(({ name }) => name === 'model.0.weight'));
  let named = 0;
  for (let state = 0; state < model.states; state++) {
    for (const { pin } of ops.state(d, { state }).bars) {
      const line = pin && model.string[model.stack.culprit[model.alloc.stack[pin.row]]];
      if (pin) assert.equal(pin.name, tensorName(model, pin.row) || line);
      named += pin && tensorName(model, pin.row) ? 1 : 0;
    }
  }
  assert.ok(named > 0);
});
