// pack.mjs - packs numbers and models as the page carries them, written apart from the decoder.
import { deflateSync } from 'node:zlib';

export const WIDTH = { u8: 1, u16: 2, u32: 4, i32: 4, u64: 8, f64: 8 };

/* Numbers of up to 64 bits as unsigned ones of that width. */
function wordOf(value, type) {
  const bits = BigInt(WIDTH[type] * 8);
  if (type === 'f64') return new BigUint64Array(Float64Array.of(value).buffer)[0];
  return BigInt.asUintN(Number(bits), Number.isNaN(value) ? -1n : BigInt(value));
}

function change(words, bits, delta, zigzag) {
  let before = 0n;
  return words.map((word) => {
    let out = word;
    if (delta) out = BigInt.asUintN(bits, word - before);
    if (zigzag) {
      const signed = BigInt.asIntN(bits, out);
      out = BigInt.asUintN(bits, (signed << 1n) ^ (signed < 0n ? -1n : 0n));
    }
    before = word;
    return out;
  });
}

/** {spec, bytes} of a column; `enc` in the order of the contract. */
export function packColumn(values, type, enc = ['shuffle', 'deflate'], extra = {}) {
  const width = WIDTH[type];
  const list = Array.from(values);
  const words = change(list.map((value) => wordOf(value, type)), width * 8,
    enc.includes('delta'), enc.includes('zigzag'));
  const byte = (word, k) => Number((word >> BigInt(8 * k)) & 255n);
  let planes = width;
  while (planes > 1 && words.every((word) => byte(word, planes - 1) === 0)) planes--;
  let bytes = new Uint8Array(words.length * planes);
  const place = enc.includes('shuffle') ? (i, k) => k * words.length + i : (i, k) => i * planes + k;
  words.forEach((w, i) => {
    for (let k = 0; k < planes; k++) bytes[place(i, k)] = byte(w, k);
  });
  if (enc.includes('deflate')) bytes = new Uint8Array(deflateSync(bytes));
  const spec = { type, enc, rows: list.length, len: bytes.length, ...extra };
  if (planes < width) spec.planes = planes;
  return { spec, bytes };
}

class Blocks {
  constructor() {
    this.parts = [[]];
  }

  next() {
    this.parts.push([]);
  }

  add(values, type, enc) {
    const list = Array.from(values);
    const rows = list.length;
    if (rows > 1 && type !== 'f64' && list.every((value) => Object.is(value, list[0]))) {
      const none = Number(wordOf(-1, type));
      return { type, enc: [], rows, const: Number.isNaN(list[0]) ? none : list[0] };
    }
    if (rows === 0) return { type, enc, rows };
    const { spec, bytes } = packColumn(list, type, enc);
    const block = this.parts.length - 1;
    const at = this.parts[block].reduce((n, part) => n + part.length, 0);
    this.parts[block].push(bytes);
    return { ...spec, block, at };
  }

  joined() {
    return this.parts.map((parts) => new Uint8Array(Buffer.concat(parts)));
  }
}

const PLAIN = ['shuffle', 'deflate'];
const DELTA = ['delta', ...PLAIN];
const ZIGZAG = ['delta', 'zigzag', ...PLAIN];

function until(table, states) {
  return Array.from(table.end, (end, i) => (end === states ? 0 : end - table.born[i]));
}

function stringColumns(strings) {
  const encoded = strings.map((text) => new TextEncoder().encode(text));
  return { len: encoded.map((e) => e.length), bytes: Buffer.concat(encoded) };
}

const REST = {
  wait: 'u32', source: 'u8', lane: 'u32', stack: 'u32', free_stack: 'u32', cat: 'u8', rule: 'u8',
  phase: 'u8', stream: 'u8', pool: 'u16', flags: 'u8',
};

/** {head, blocks}: a device of the page; its first block holds what the first picture needs, by line
 * where `lines` are with it. */
export function packModel(model, lines = true) {
  const blocks = new Blocks();
  const { alloc, states } = model;
  const table = (rows, columns) => ({ rows, columns });
  const plain = (from, columns) => table(from.rows, Object.fromEntries(
    Object.entries(columns).map(([name, type]) => [name, blocks.add(from[name], type, PLAIN)])));
  const first = { born: blocks.add(alloc.born, 'u32', DELTA),
    until: blocks.add(until(alloc, states), 'u32', PLAIN),
    bytes: blocks.add(alloc.bytes, 'u64', PLAIN),
    cat: blocks.add(alloc.cat, 'u8', PLAIN), stack: blocks.add(alloc.stack, 'u32', PLAIN) };
  const named = () => {
    const { len, bytes } = stringColumns(model.string);
    return { sure: blocks.add(alloc.sure, 'u8', PLAIN),
      stack: plain(model.stack, { caller: 'u32', frame: 'u32', site: 'u32', culprit: 'u32',
        line: 'u32', owner: 'u32', op: 'u32', module: 'u32' }),
      string: table(model.string.length, { len: blocks.add(len, 'u32', PLAIN),
        bytes: blocks.add(bytes, 'u8', PLAIN) }) };
  };
  const early = lines ? named() : null;
  blocks.next();
  const { sure, stack, string } = early ?? named();
  const rest = plain(alloc, REST).columns;
  const pads = Array.from(alloc.pad, (n) => (Number.isNaN(n) ? 0xffffffff : n));
  const tables = {
    alloc: table(alloc.rows, { ...rest, ...first, sure, pad: blocks.add(pads, 'u32', PLAIN) }),
    range: table(model.range.rows, {
      ...plain(model.range, { lane: 'u32', base: 'u64', bytes: 'u64', segment: 'u32' }).columns,
      born: blocks.add(model.range.born, 'u32', DELTA),
      until: blocks.add(until(model.range, states), 'u32', PLAIN) }),
    segment: plain(model.segment, { stream: 'u8', pool: 'u8', flags: 'u8', stack: 'u32',
      bytes: 'u64' }),
    event: table(model.event.rows, { ...plain(model.event, { kind: 'u8', arg: 'u64' }).columns,
      state: blocks.add(model.event.state, 'u32', DELTA) }),
    oom: plain(model.oom, { state: 'u32', bytes: 'u64', free: 'u64', stack: 'u32' }),
    mark: plain(model.mark, { kind: 'u8', first: 'u32', last: 'u32', depth: 'u8', name: 'u32' }),
    stack,
    string,
    frame: table(model.frame.rows, { ...plain(model.frame, { file: 'u32', line: 'u32',
      kind: 'u8' }).columns, func: blocks.add(model.frame.func, 'u32', ZIGZAG) }),
  };
  if (model.time) {
    const dt = Array.from(model.time.subarray(1), (t, i) => t - model.time[i]);
    tables.time = table(dt.length, { dt: blocks.add(dt, 'u32', PLAIN) });
  }
  return { head: { ...model.head, tables }, blocks: blocks.joined() };
}
