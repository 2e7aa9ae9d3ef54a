// engine.js - the one face of the core: blocks go in, operations are answered.
import { answers } from './memory/answers.js';
import { decodeDevice, decodeMore, decodeWhole } from './model/decode.js';
import { createDevice } from './memory/device.js';
import { atOnce, isWork } from './model/slices.js';
import { hasLines, summary } from './memory/summary.js';

// Answered as soon as allocations are here; all else waits for every column.
const EARLY = ['raster', 'groups'];
const EARLY_BY = ['category', 'birth'];
// The open device, and two that are compared.
const KEPT = 3;

function isEarly(op, { by, query, without }, device) {
  return EARLY.includes(op) && !query && !without
    && (EARLY_BY.includes(by ?? 'category') || (by === 'line' && hasLines(device.model)));
}

/* A promise with its ends outside. */
function signal() {
  const s = {};
  s.promise = new Promise((resolve, reject) => Object.assign(s, { resolve, reject }));
  s.promise.catch(() => {});
  return s;
}

/* The blocks of the first picture alone: what else has come waits for them to be decoded. */
function firstOf(head, blocks) {
  return blocks.slice(0, (head.tables?.alloc?.columns?.bytes?.block ?? 0) + 1);
}

/* Decodes what has come, in turn; `first` is when allocations are here, `whole` when all is. */
function createLoad(head, blocks, only, pause) {
  const load = { device: null, first: signal(), whole: signal(), busy: Promise.resolve() };
  const fail = (error) => {
    load.first.reject(error);
    load.whole.reject(error);
  };
  const step = async () => {
    load.device ??= createDevice(await decodeDevice(head, [], pause));
    const { device } = load;
    const { model } = device;
    device.cover ??= await decodeWhole(head.tables, 'cover', blocks);
    if (!model.whole) await decodeMore(model, firstOf(head, blocks), pause);
    if (model.alloc.rows > 0 || model.whole) load.first.resolve();
    if (!model.whole) await decodeMore(model, blocks, pause);
    if (model.whole) load.first.resolve();
    if (!model.whole) return;
    load.whole.resolve();
    // Nobody else will ask for them, but for the curves in the first.
    if (only) blocks.fill(undefined, 1);
  };
  load.more = () => (load.busy = load.busy.then(step).catch(fail));
  load.cut = (why) => load.busy.then(() => {
    if (!load.device?.model.whole) fail(why);
  });
  load.more();
  return load;
}

/* Of each device of each file what was computed beforehand. */
function coversOf(files, blocks) {
  return Promise.all(files.map((file) => Promise.all((file.devices ?? [])
    .map((head) => decodeWhole(head.tables, 'cover', blocks)))));
}

/* Waits for the columns that an operation needs. */
async function enough(load, op, args) {
  await load.first.promise;
  if (!isEarly(op, args, load.device)) await load.whole.promise;
}

/* What a cover rests on, step by step. */
function* warm({ model, curve, pyramid, reserved, differences }) {
  for (const step of model.whole ? [curve, pyramid, reserved, differences] : []) {
    step();
    yield;
  }
}

function finished(made, run) {
  return isWork(made) ? run(made) : made;
}

/* The device of a cover, as far as it is waited for. */
async function loaded(load, wait, run) {
  if (wait) await (wait === 'first' ? load.first : load.whole).promise;
  else await load.busy;
  if (!load.device) await load.first.promise;
  await run(warm(load.device));
  return load.device;
}

/**
 * `files` as in the head of the page. Returns call(op, args) -> promise of an answer; args.file and
 * args.dev say which device (0 and 0). Beside the operations of answers.js and those in `more`:
 * block {n, bytes or error}: a block is here; end: no more will come; cover {wait}: the summary of
 * a device, now, when its allocations are here ('first') or when all is (true); covers: of each
 * device of each file what was computed beforehand, or null; decodes no device.  `run` does long
 * work, which operations give as generators (slices.js); `pause` lets others work while columns are
 * decoded.
 */
export function createEngine(files, more = {}, run = atOnce, pause = undefined) {
  const ops = { ...answers, ...more };
  const names = Object.keys(ops).concat('cover', 'covers');
  const blocks = [];
  const loads = new Map();
  const only = files.reduce((n, file) => n + (file.devices?.length ?? 0), 0) === 1;
  let ended = false;
  let missing = null;

  function loadOf(file, dev) {
    const key = `${file}.${dev}`;
    const head = files[file]?.devices?.[dev];
    if (!head) throw new Error(`there is no device ${dev} in file ${file}`);
    let load = loads.get(key);
    if (!load) {
      // A page keeps the columns of few devices: those that were asked for last.
      if (loads.size >= KEPT) loads.delete(loads.keys().next().value);
      load = createLoad(head, blocks, only, pause);
      if (ended) load.cut(missing);
    }
    loads.delete(key);
    loads.set(key, load);
    return load;
  }

  async function block({ n, bytes, error }) {
    if (error) {
      missing = error;
      throw error;
    }
    blocks[n] = bytes;
    await Promise.all([...loads.values()].map((load) => load.more()));
    return { n };
  }

  async function end() {
    ended = true;
    // Made where it is needed: with a debugger, an error makes the browser parse all scripts again.
    missing ??= new Error('the file ends before its data; it was cut');
    await Promise.all([...loads.values()].map((load) => load.cut(missing)));
    return {};
  }

  return async function call(op, args = {}) {
    if (op === 'block') return block(args);
    if (op === 'end') return end();
    if (op === 'covers') return coversOf(files, blocks);
    if (op !== 'cover' && !Object.hasOwn(ops, op)) throw new Error(`no operation is called ${op}`);
    const load = loadOf(args.file ?? 0, args.dev ?? 0);
    if (op === 'cover') return summary(await loaded(load, args.wait, run), names);
    await enough(load, op, args);
    const other = async (file, dev) => {
      const second = loadOf(file, dev);
      await second.whole.promise;
      return second.device;
    };
    const tables = (of, name) => decodeWhole(of, name, blocks);
    return finished(await ops[op](load.device, args, other, tables), run);
  };
}
