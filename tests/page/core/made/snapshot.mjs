// snapshot.mjs - writes a decoded model as the pickle that PyTorch would have written, as it goes.
//
//   node tests/page/core/made/snapshot.mjs SHAPE FILE
import { closeSync, openSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { makeShape, SHAPES } from './shapes.mjs';

const UNIT = 512;
const BASE = 0x7f0000000000;
const START_US = 1762000000000000;
const OP = { mark: 0x28, stop: 0x2e, dict: 0x7d, list: 0x5d, items: 0x75, appends: 0x65,
  memoize: 0x94, get: 0x68, longGet: 0x6a, text: 0x8c, longText: 0x58, u8: 0x4b, u16: 0x4d,
  i32: 0x4a, long: 0x8a, pair: 0x86, no: 0x89 };
const ROOM = 1 << 20;

/* Opcodes of protocol 4 into a file, a megabyte at a time. */
class Pickle {
  constructor(path) {
    this.file = openSync(path, 'w');
    this.bytes = Buffer.alloc(ROOM + 65536);
    this.at = 0;
    this.memo = new Map();
    this.count = 0;
    this.ops(0x80, 4);
  }

  ops(...codes) {
    for (const code of codes) this.bytes[this.at++] = code;
    if (this.at >= ROOM) this.flush();
  }

  raw(bytes) {
    if (this.at + bytes.length > this.bytes.length) this.flush();
    this.at += bytes.copy(this.bytes, this.at);
    if (this.at >= ROOM) this.flush();
  }

  flush() {
    writeSync(this.file, this.bytes, 0, this.at);
    this.at = 0;
  }

  begin(op) {
    this.ops(op, OP.memoize, OP.mark);
    this.count++;
  }

  /* What stands on the stack is got by this key from now on. */
  keep(key) {
    this.ops(OP.memoize);
    this.memo.set(key, this.count++);
  }

  got(key) {
    const place = this.memo.get(key);
    if (place === undefined) return false;
    if (place < 256) {
      this.ops(OP.get, place);
    } else {
      this.ops(OP.longGet);
      this.at = this.bytes.writeUInt32LE(place, this.at);
    }
    return true;
  }

  text(text) {
    if (this.got(text)) return;
    const bytes = Buffer.from(text);
    if (bytes.length < 256) {
      this.ops(OP.text, bytes.length);
    } else {
      this.ops(OP.longText);
      this.at = this.bytes.writeUInt32LE(bytes.length, this.at);
    }
    this.raw(bytes);
    this.keep(text);
  }

  number(n) {
    if (n < 256) {
      this.ops(OP.u8, n);
    } else if (n < 65536) {
      this.ops(OP.u16, n & 255, n >> 8);
    } else if (n < 2 ** 31) {
      this.ops(OP.i32);
      this.at = this.bytes.writeInt32LE(n, this.at);
    } else {
      this.ops(OP.long, 8);
      this.at = this.bytes.writeBigInt64LE(BigInt(n), this.at);
    }
  }

  /* A dict of numbers, texts and what functions write. */
  record(fields) {
    this.begin(OP.dict);
    for (const [key, value] of fields) {
      this.text(key);
      if (typeof value === 'function') value();
      else if (typeof value === 'string') this.text(value);
      else this.number(value);
    }
    this.ops(OP.items);
  }

  list(items, put) {
    this.begin(OP.list);
    for (const item of items) put(item);
    this.ops(OP.appends);
  }

  end() {
    this.ops(OP.stop);
    this.flush();
    closeSync(this.file);
  }
}

/* Writes the frames of a stack, the innermost first; after its first time as the same bytes. */
function framesOf(model, pickle) {
  const { stack, frame, string } = model;
  const known = new Map();
  const putFrame = (f) => {
    if (pickle.got(f)) return;
    pickle.ops(OP.dict);
    pickle.keep(f);
    pickle.ops(OP.mark);
    for (const [key, value] of [['filename', string[frame.file[f]]], ['line', frame.line[f]],
      ['name', string[frame.func[f]]]]) {
      pickle.text(key);
      if (typeof value === 'string') pickle.text(value);
      else pickle.number(value);
    }
    pickle.ops(OP.items);
  };
  return (s) => {
    const again = known.get(s);
    if (again) {
      pickle.raw(again);
      pickle.count++;
      return;
    }
    const frames = [];
    for (let at = s; at !== 0; at = stack.caller[at]) frames.push(stack.frame[at]);
    const had = frames.every((f) => pickle.memo.has(f));
    if (had) pickle.flush();
    pickle.list(frames, putFrame);
    if (had) known.set(s, Buffer.from(pickle.bytes.subarray(0, pickle.at)));
  };
}

/* What happens after each state: the row, and which of its events; of segments the range. */
const [ALLOC, ASKED, FREED, SEGMENT] = [1, 2, 3, 4];
function eventsOf({ alloc, range, states }) {
  const kind = new Uint8Array(states);
  const row = new Uint32Array(states);
  const put = (p, what, r) => {
    kind[p] = what;
    row[p] = r;
  };
  for (let r = 0; r < alloc.rows; r++) {
    put(alloc.born[r], ALLOC, r);
    if (alloc.end[r] === states) continue;
    put(alloc.end[r] - alloc.wait[r], ASKED, r);
    put(alloc.end[r], FREED, r);
  }
  for (let r = 0; r < range.rows; r++) put(range.born[r], SEGMENT, r);
  return { kind, row };
}

const ACTIONS = [null, 'alloc', 'free_requested', 'free_completed', 'segment_alloc'];

function putTrace(model, pickle, frames) {
  const { alloc, range, time } = model;
  const { kind, row } = eventsOf(model);
  pickle.begin(OP.list);
  for (let p = 1; p < model.states; p++) {
    const [what, r] = [kind[p], row[p]];
    const table = what === SEGMENT ? range : alloc;
    const stack = what === SEGMENT ? 0 : what === ALLOC ? alloc.stack[r] : alloc.free_stack[r];
    pickle.record([['action', ACTIONS[what]], ['addr', BASE + table.lane[r] * UNIT],
      ['size', table.bytes[r]], ['stream', 0], ['time_us', START_US + time[p]],
      ['frames', () => frames(stack)]]);
  }
  pickle.ops(OP.appends);
}

const rounded = (bytes) => Math.max(1, Math.ceil(bytes / UNIT)) * UNIT;

/* The blocks of a range at the end: what is alive, and gaps. */
function blocksOf({ alloc }, first, bytes, live) {
  const blocks = [];
  let at = first;
  const gap = (to) => {
    if (to > at) blocks.push({ at, size: (to - at) * UNIT, state: 'inactive', stack: 0 });
  };
  for (const r of live) {
    gap(alloc.lane[r]);
    const size = rounded(alloc.bytes[r]);
    blocks.push({ at: alloc.lane[r], size, asked: alloc.bytes[r], state: 'active_allocated',
      stack: alloc.stack[r] });
    at = alloc.lane[r] + size / UNIT;
  }
  gap(first + bytes / UNIT);
  return blocks;
}

function putSegments(model, pickle, frames) {
  const { alloc, range, states } = model;
  const live = [];
  for (let r = 0; r < alloc.rows; r++) if (alloc.end[r] === states) live.push(r);
  live.sort((a, b) => alloc.lane[a] - alloc.lane[b]);
  let next = 0;
  pickle.list(Array.from(range.lane.keys()), (g) => {
    const from = next;
    const end = range.lane[g] + range.bytes[g] / UNIT;
    while (next < live.length && alloc.lane[live[next]] < end) next++;
    const blocks = blocksOf(model, range.lane[g], range.bytes[g], live.slice(from, next));
    const sum = (of) => blocks.reduce((n, b) => n + (b.asked === undefined ? 0 : of(b)), 0);
    pickle.record([['device', 0], ['address', BASE + range.lane[g] * UNIT],
      ['total_size', range.bytes[g]], ['allocated_size', sum((b) => b.size)],
      ['active_size', sum((b) => b.size)], ['requested_size', sum((b) => b.asked)],
      ['stream', 0], ['segment_type', 'large'],
      ['segment_pool_id', () => pickle.ops(OP.u8, 0, OP.u8, 0, OP.pair)],
      ['is_expandable', () => pickle.ops(OP.no)], ['frames', () => frames(0)],
      ['blocks', () => pickle.list(blocks, (b) => pickle.record([['address', BASE + b.at * UNIT],
        ['size', b.size], ['requested_size', b.asked ?? 0], ['state', b.state],
        ['frames', () => frames(b.stack)]]))]]);
  });
}

/** Writes `model`, whose every event is a state of its own, as a snapshot at `path`. */
export function writeSnapshot(model, path) {
  const pickle = new Pickle(path);
  const frames = framesOf(model, pickle);
  pickle.record([['segments', () => putSegments(model, pickle, frames)],
    ['device_traces', () => pickle.list([0], () => putTrace(model, pickle, frames))],
    ['allocator_settings', () => pickle.record([['PYTORCH_CUDA_ALLOC_CONF', ''],
      ['expandable_segments', () => pickle.ops(OP.no)]])],
    ['external_annotations', () => pickle.list([], null)]]);
  pickle.end();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name, path, ...rest] = process.argv.slice(2);
  if (!SHAPES[name] || !path || rest.length) {
    console.error(`usage: snapshot.mjs SHAPE FILE, a shape of ${Object.keys(SHAPES).join(', ')}`);
    process.exit(2);
  }
  writeSnapshot(makeShape(name), path);
}
