// decode.test.mjs - packed columns come back exactly; damage is named.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeDevice, decodeMore, decodeWhole, schemaProblem } from '../../../viewer/core/model/decode.js';
import { decodeColumn, fromBase64 } from '../../../viewer/core/model/unpack.js';
import { packColumn, packModel, WIDTH } from './made/pack.mjs';
import { makeModel, manyModels, random } from './made/synthetic.mjs';

const ENCODINGS = [[], ['shuffle'], ['deflate'], ['shuffle', 'deflate'], ['delta'],
  ['delta', 'zigzag'], ['zigzag', 'shuffle'], ['delta', 'shuffle', 'deflate'],
  ['delta', 'zigzag', 'shuffle', 'deflate'], ['delta', 'zigzag', 'deflate']];

const LIMITS = { u8: 255, u16: 65535, u32: 4294967295, i32: 2147483647, u64: 2 ** 53 - 1 };

function valuesOf(type, seed, rows) {
  const r = random(seed);
  const edge = type === 'f64'
    ? [0, -0.5, 1e300, -1e-300, Math.PI] : [0, 1, LIMITS[type], LIMITS[type] - 1, 0, LIMITS[type]];
  if (type === 'i32') edge.push(-1, -2147483648);
  if (type === 'u64') edge.push(NaN, 2 ** 32, 2 ** 32 - 1, NaN, 5);
  const rest = Array.from({ length: Math.max(0, rows - edge.length) }, () => {
    if (type === 'f64') return (r() - 0.5) * 1e9;
    if (type === 'i32') return Math.floor((r() - 0.5) * 2 ** (r() * 32));
    return Math.floor(r() * 2 ** (r() * Math.log2(LIMITS[type])));
  });
  return edge.slice(0, rows).concat(rest);
}

test('every type with every encoding', async () => {
  for (const type of Object.keys(WIDTH)) {
    for (const enc of ENCODINGS) {
      if (type === 'f64' && (enc.includes('delta') || enc.includes('zigzag'))) continue;
      for (const rows of [1, 2, 5, 300]) {
        const values = valuesOf(type, rows, rows);
        const { spec, bytes } = packColumn(values, type, enc);
        const got = await decodeColumn(spec, bytes, 'a.b');
        assert.deepEqual(Array.from(got), values, `${type} ${enc} ${rows}`);
      }
    }
  }
});

test('planes of zeros are left out, and small numbers need one', async () => {
  for (const type of ['u16', 'u32', 'u64']) {
    for (const most of [200, 60000, 16000000]) {
      if (most > LIMITS[type]) continue;
      const values = [1, most, 3, 0, most - 1];
      for (const enc of [['shuffle', 'deflate'], ['deflate'], ['delta', 'zigzag']]) {
        const { spec, bytes } = packColumn(values, type, enc);
        if (most < 2 ** (8 * (WIDTH[type] - 1) - 1)) assert.ok(spec.planes < WIDTH[type]);
        assert.deepEqual(Array.from(await decodeColumn(spec, bytes)), values);
      }
    }
  }
});

test('numbers are kept in no more bytes than were packed', async () => {
  const got = async (most, type, enc) => {
    const { spec, bytes } = packColumn([1, most, 0], type, enc);
    const list = await decodeColumn(spec, bytes);
    assert.deepEqual(Array.from(list), [1, most, 0]);
    return list.constructor;
  };
  for (const enc of [['shuffle', 'deflate'], ['deflate'], ['shuffle']]) {
    assert.equal(await got(200, 'u32', enc), Uint8Array);
    assert.equal(await got(256, 'u64', enc), Uint16Array);
    assert.equal(await got(65536, 'u32', enc), Uint32Array);
    assert.equal(await got(2 ** 32 - 1, 'u64', enc), Uint32Array);
    assert.equal(await got(2 ** 32, 'u64', enc), Float64Array);
  }
  assert.equal(await got(200, 'u32', ['delta', 'deflate']), Uint32Array);
  const constant = async (spec) => (await decodeColumn({ rows: 3, ...spec }, null)).constructor;
  assert.equal(await constant({ type: 'u64', const: 255 }), Uint8Array);
  assert.equal(await constant({ type: 'u32', const: 65535 }), Uint16Array);
  assert.equal(await constant({ type: 'u32', const: 65536 }), Uint32Array);
});

test('constants, none, scales and empty columns', async () => {
  const got = async (spec) => Array.from(await decodeColumn(spec, null, 'a.b'));
  assert.deepEqual(await got({ type: 'u32', rows: 3, const: 7 }), [7, 7, 7]);
  assert.deepEqual(await got({ type: 'u64', rows: 2, const: 2 ** 52 }), [2 ** 52, 2 ** 52]);
  assert.deepEqual(await got({ type: 'u64', rows: 1, const: 18446744073709551615 }), [NaN]);
  assert.deepEqual(await got({ type: 'u8', rows: 0, enc: ['deflate'] }), []);
  assert.deepEqual(await got({ type: 'u8', rows: 2, const: 3, scale: 0.5 }), [1.5, 1.5]);
});

async function rejects(spec, bytes, pattern) {
  await assert.rejects(decodeColumn(spec, bytes, 'alloc.bytes'), (e) => {
    assert.match(e.message, /^column alloc\.bytes: /);
    assert.match(e.message, pattern);
    assert.equal(e.column, 'alloc.bytes');
    return true;
  });
}

const DAMAGED = /^column alloc\.bytes: damaged data; the file was altered$/;

test('every truncation and every flipped byte of a stream is damage', async () => {
  const values = Array.from({ length: 60 }, (_, i) => (i * i * 2654435761) % 100000);
  const { spec, bytes } = packColumn(values, 'u32', ['delta', 'zigzag', 'shuffle', 'deflate']);
  let harmless = 0;
  for (let n = 0; n < bytes.length; n++) {
    await rejects({ ...spec, len: n }, bytes.slice(0, n), DAMAGED);
    await rejects(spec, bytes.slice(0, n), DAMAGED);
    const flipped = bytes.slice();
    flipped[n] ^= 1 << (n % 8);
    // A few bits of header and padding say nothing of the data.
    const got = await decodeColumn(spec, flipped, 'alloc.bytes').catch((e) => e);
    if (got instanceof Error) {
      assert.match(got.message, DAMAGED);
    } else {
      assert.deepEqual(Array.from(got), values, `byte ${n}`);
      harmless++;
    }
  }
  assert.ok(harmless < 4);
});

test('streams that are too short or too long for their rows are damage', async () => {
  const { spec, bytes } = packColumn([1, 2, 3, 400], 'u32');
  await rejects({ ...spec, rows: 3 }, bytes, DAMAGED);
  await rejects({ ...spec, rows: 5 }, bytes, DAMAGED);
  await rejects({ ...spec, rows: 4e9 }, bytes, DAMAGED);
  const plain = packColumn([1, 2, 3, 400], 'u32', []);
  await rejects({ ...plain.spec, rows: 5 }, plain.bytes, DAMAGED);
});

test('heads that no writer writes', async () => {
  const { spec, bytes } = packColumn([1, 2, 3], 'u32');
  await rejects({ ...spec, type: 'u128' }, bytes, /type u128 is not known/);
  await rejects({ ...spec, type: 'constructor' }, bytes, /not known/);
  await rejects({ ...spec, rows: -1 }, bytes, /number of rows/);
  await rejects({ ...spec, rows: 1.5 }, bytes, /number of rows/);
  await rejects({ ...spec, enc: ['deflate', 'shuffle'] }, bytes, /does not know/);
  await rejects({ ...spec, enc: ['lz4'] }, bytes, /does not know/);
  await rejects({ ...spec, planes: 9 }, bytes, DAMAGED);
  await rejects({ type: 'u32', rows: 2, const: 'x' }, null, /no number/);
  await rejects({ type: 'u64', rows: 2 ** 32 - 1, const: 1 }, null, /too large/);
  await rejects({ type: 'u8', rows: 2 ** 32 - 1, const: 0 }, null, /too large/);
  const empty = { type: 'u32', rows: 2 ** 32 - 1, planes: 0, enc: [] };
  await rejects(empty, new Uint8Array(0), /too large/);
  await rejects({ type: 'u64', rows: 1, enc: [] }, Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 1), /2\^53/);
});

test('base64 with and without the new call', () => {
  const bytes = Uint8Array.from({ length: 257 }, (_, i) => i & 255);
  const text = Buffer.from(bytes).toString('base64');
  assert.deepEqual(fromBase64(`\n${text}\n`), bytes);
  assert.throws(() => fromBase64('a*', 'block 3'), /^Error: block 3: damaged data/);
});

test('a device comes back whole, also block by block', async () => {
  for (const [name, model] of manyModels(4)) {
    const { head, blocks } = packModel(model);
    const got = await decodeDevice(head, blocks);
    assert.ok(got.whole, name);
    sameModel(model, got, name);
    const slow = await decodeDevice(head, [blocks[0]]);
    assert.equal(slow.alloc.rows, model.alloc.rows);
    assert.deepEqual(slow.alloc.end, model.alloc.end);
    assert.equal(await decodeMore(slow, blocks), true);
    sameModel(model, slow, name);
  }
});

const PARTS = ['alloc', 'range', 'segment', 'event', 'oom', 'mark', 'stack', 'frame'];

function sameModel(model, got, name) {
  assert.equal(got.states, model.states);
  assert.deepEqual(got.string, model.string);
  const numbers = (time) => time && Array.from(time);
  if (model.states > 1) assert.deepEqual(numbers(got.time), numbers(model.time), name);
  for (const part of PARTS) {
    assert.equal(got[part].rows, model[part].rows, `${name} ${part}`);
    if (model[part].rows === 0) continue;
    for (const [column, values] of Object.entries(model[part])) {
      if (column === 'rows') continue;
      assert.deepEqual(Array.from(got[part][column]), Array.from(values),
        `${name} ${part}.${column}`);
    }
  }
}

test('lanes of ranges are found where the writer has none', async () => {
  const model = makeModel(5, { events: 2000 });
  const { head, blocks } = packModel(model);
  delete head.tables.range.columns.lane;
  const got = await decodeDevice(head, blocks);
  assert.deepEqual(got.range.lane, model.range.lane);
});

async function refuses(change, pattern) {
  const { head, blocks } = packModel(makeModel(3));
  const copy = structuredClone(head);
  change(copy, blocks);
  await assert.rejects(decodeDevice(copy, blocks), pattern);
}

test('what does not fit together is refused by name', async () => {
  const put = (table, column, value) => (head) => {
    const spec = head.tables[table].columns[column];
    head.tables[table].columns[column] = { type: spec.type, const: value };
  };
  await refuses((head) => delete head.tables.alloc.columns.bytes, /column alloc\.bytes: missing/);
  await refuses((head) => { head.tables.alloc.rows++; }, /column alloc\.born: /);
  await refuses((head) => { head.states = 5; }, /column alloc\.until: row \d+ is outside/);
  await refuses((head) => { head.states = 0; }, /number of states/);
  await refuses(put('alloc', 'stack', 1e6), /column alloc\.stack: row 0 points at/);
  await refuses(put('stack', 'caller', 1), /column stack\.caller: row 1 points at/);
  await refuses(put('frame', 'func', 1e6), /column frame\.func: row 0 points at/);
  await refuses(put('string', 'len', 1), /column string\.len: /);
  await refuses((head) => { head.tables.alloc.columns.until.at = 1e9; }, /alloc\.until: dam/);
  await refuses((head, blocks) => blocks.fill(new Uint8Array(0)), /damaged data/);
});

test('unknown tables and columns are skipped, optional ones may be missing', async () => {
  const { head, blocks } = packModel(makeModel(3));
  head.tables.span = { rows: 4, columns: {} };
  head.tables.alloc.columns.new_one = { type: 'what', block: 77 };
  for (const column of ['pad', 'lane', 'phase']) delete head.tables.alloc.columns[column];
  const got = await decodeDevice(head, blocks);
  assert.equal(got.alloc.pad, undefined);
  assert.equal(got.alloc.new_one, undefined);
  assert.ok(got.whole);
});

test('another major schema is refused and names its writer', () => {
  assert.equal(schemaProblem({ schema: 'vramscope.view/1' }), null);
  assert.match(schemaProblem({ schema: 'vramscope.view/2', tool: '9.1' }), /by vramscope 9\.1/);
  assert.match(schemaProblem({ schema: 'vramscope.view/10' }), /view\/10/);
  assert.match(schemaProblem(null), /none/);
});

test('the cover is its own table', async () => {
  const state = packColumn([0, 4, 9], 'u32');
  const head = { tables: { cover: { rows: 3, columns: {
    state: { ...state.spec, block: 0, at: 0 }, requested: { type: 'u64', const: 5 } } } } };
  const cover = await decodeWhole(head.tables, 'cover', [state.bytes]);
  assert.deepEqual(Array.from(cover.state), [0, 4, 9]);
  assert.deepEqual(Array.from(cover.requested), [5, 5, 5]);
  assert.equal(await decodeWhole(head.tables, 'cover', []), null);
  assert.equal(await decodeWhole({}, 'cover', []), null);
});

test('categories may be plain names', async () => {
  const { head, blocks } = packModel(makeModel(3));
  const named = head.categories;
  const got = await decodeDevice({ ...head, categories: named.map((c) => c.name) }, blocks);
  assert.deepEqual(got.head.categories.map((c) => c.name), named.map((c) => c.name));
});

test('random changes of the head and the blocks end in a model or in an error', async () => {
  const { head, blocks } = packModel(makeModel(11, { events: 60 }));
  const r = random(5);
  const pick = (list) => list[Math.floor(r() * list.length)];
  const odd = [0, 1, -1, 2 ** 31, 2 ** 32, 1e300, NaN, null, 'x', [], {}, undefined, true, 0.5];
  let refused = 0;
  for (let round = 0; round < 300; round++) {
    const copy = structuredClone(head);
    const table = pick(Object.values(copy.tables).filter((t) => Object.keys(t.columns).length));
    const column = pick(Object.values(table.columns));
    column[pick(['rows', 'at', 'len', 'block', 'const', 'planes', 'type', 'enc'])] = pick(odd);
    const bytes = blocks.map((block) => block.slice());
    if (r() < 0.3) pick(bytes)[Math.floor(r() * 900)] ^= 255;
    await decodeDevice(copy, bytes).catch((e) => {
      assert.ok(e instanceof Error && !(e instanceof TypeError), e.stack);
      refused++;
    });
  }
  assert.ok(refused > 100);
});
