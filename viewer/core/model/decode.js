// decode.js - the packed tables of a device become the model that all other modules take.
import { poolName } from './human.js';
import { columnError, decodeColumn } from './unpack.js';

const NONE32 = 0xffffffff;
const GRAIN = 512;

// What each table may have beside what it must have. Others are skipped.
const COLUMNS = {
  alloc: { must: ['born', 'until', 'bytes'],
    may: ['wait', 'pad', 'source', 'lane', 'stack', 'free_stack', 'cat', 'rule', 'sure',
      'phase', 'stream', 'pool', 'flags', 'ctx', 'tensor'] },
  time: { must: ['dt'], may: [] },
  range: { must: ['born', 'until', 'base', 'bytes'],
    may: ['lane', 'segment', 'stream', 'pool'] },
  segment: { must: [], may: ['stream', 'pool', 'flags', 'stack', 'bytes'] },
  event: { must: ['state', 'kind'], may: ['arg'] },
  oom: { must: ['state'], may: ['bytes', 'free', 'stack'] },
  mark: { must: ['kind', 'first', 'last'], may: ['depth', 'name'] },
  stack: { must: ['caller', 'frame'], may: ['site', 'culprit', 'line', 'owner', 'op', 'module',
    'runs', 'innermost', 'called_from'] },
  frame: { must: ['func', 'file'], may: ['line', 'kind'] },
  string: { must: ['len', 'bytes'], may: [] },
  // What takes no bytes is there without the rest where a page goes without names.
  tensor: { must: [], may: ['kind', 'name', 'path', 'shape', 'dtype', 'of', 'shared'] },
  tensor_string: { must: [], may: ['len', 'bytes'] },
  adjust: { must: ['state', 'more', 'less'], may: [] },
};
const TENSOR_TEXTS = ['name', 'path', 'shape', 'dtype', 'of', 'shared'];
// As many bytes as the texts have.
const TEXTS = ['string.bytes', 'tensor_string.bytes'];

/** What keeps this page from showing data of that head; null where nothing does. */
export function schemaProblem(head) {
  const schema = String(head?.schema ?? 'none');
  if (/^vramscope\.view\/1(\.\d+)?$/.test(schema)) return null;
  const tool = head?.tool ? ` by vramscope ${head.tool}` : '';
  return `these data are of schema ${schema}, written${tool}; this page reads vramscope.view/1`;
}

/* The column's own bytes; undefined where its block is not here yet. */
function bytesOf(spec, blocks, name) {
  const block = blocks[spec.block];
  if (!block) return undefined;
  if (!(spec.at >= 0 && spec.len >= 0 && spec.at + spec.len <= block.length)) {
    throw columnError(name, 'damaged data; the file was altered');
  }
  return block.subarray(spec.at, spec.at + spec.len);
}

function hasBytes(spec, rows) {
  return spec.const === undefined && rows > 0;
}

/* Decodes the columns of a table that are here and not in `have`, by name; pauses before each. */
async function decodeTable(table, head, blocks, have, pause) {
  const got = {};
  const { must, may } = COLUMNS[table];
  for (const column of [...must, ...may]) {
    const name = `${table}.${column}`;
    const given = Object.hasOwn(head.columns ?? {}, column) ? head.columns[column] : null;
    if (!given && name === 'string.bytes') got.bytes = new Uint8Array(0);
    if (!given) {
      if (must.includes(column) && name !== 'string.bytes') throw columnError(name, 'missing');
      continue;
    }
    const spec = { rows: head.rows, ...given };
    const bytes = have.has(name) || !hasBytes(spec, spec.rows) ? null
      : bytesOf(spec, blocks, name);
    if (have.has(name) || bytes === undefined) continue;
    if (spec.rows !== head.rows && !TEXTS.includes(name)) {
      throw columnError(name, `${spec.rows} rows where the table has ${head.rows}`);
    }
    await pause();
    got[column] = await decodeColumn(spec, bytes, name);
    have.add(name);
  }
  return got;
}

/* Where lives end: `until` counts states, 0 is to the end. */
function endsOf(table, born, until, states) {
  const end = new Uint32Array(born.length);
  for (let i = 0; i < end.length; i++) {
    if (born[i] >= states || born[i] + until[i] > states) {
      throw columnError(`${table}.until`, `row ${i} is outside the recording`);
    }
    if (i > 0 && born[i] < born[i - 1] && table === 'alloc') {
      throw columnError('alloc.born', `row ${i} is born before the row above it`);
    }
    end[i] = until[i] === 0 ? states : born[i] + until[i];
  }
  return end;
}

/* Unknown is NaN; numbers that four bytes hold exactly take four. */
function orNone(column) {
  if (column.BYTES_PER_ELEMENT < 4) return column;
  let most = 0;
  for (let i = 0; i < column.length; i++) {
    if (column[i] > most && column[i] !== NONE32) most = column[i];
  }
  const to = most <= 1 << 24 ? new Float32Array(column) : new Float64Array(column);
  for (let i = 0; i < to.length; i++) if (column[i] === NONE32) to[i] = NaN;
  return to;
}

function timesOf(dt, states, unit) {
  if (dt.length !== states - 1) throw columnError('time.dt', 'not one for each event');
  let last = 0;
  for (let i = 1; i < dt.length; i++) last += dt[i] === NONE32 ? 0 : dt[i] * unit;
  // Half the memory, where numbers are whole and small.
  const time = new (unit === 1 && last <= NONE32 ? Uint32Array : Float64Array)(states);
  for (let p = 2; p < states; p++) {
    time[p] = time[p - 1] + (dt[p - 1] === NONE32 ? 0 : dt[p - 1] * unit);
  }
  return time;
}

function stringsOf(lengths, bytes, name) {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const strings = new Array(lengths.length);
  let at = 0;
  for (let i = 0; i < lengths.length; i++) {
    strings[i] = decoder.decode(bytes.subarray(at, at + lengths[i]));
    at += lengths[i];
  }
  if (at !== bytes.length) throw columnError(name, 'these are not lengths of the text');
  return strings;
}

/* Where each mapped range lies when unmapped gaps between them are removed, in units of 512. */
function packedLanes(range) {
  const order = Array.from(range.base.keys()).sort((a, b) => range.base[a] - range.base[b]);
  const lane = new Uint32Array(range.rows);
  let covered = 0;
  let end = -1;
  for (const i of order) {
    const base = range.base[i];
    const past = base + range.bytes[i];
    if (base > end) end = base;
    lane[i] = Math.floor(Math.max(0, covered - (end - base)) / GRAIN);
    if (past > end) {
      covered += past - end;
      end = past;
    }
  }
  return lane;
}

function checkIds(model, table, column, rows, below) {
  const ids = model[table]?.[column];
  if (!ids || rows === undefined) return;
  for (let i = 0; i < ids.length; i++) {
    if (ids[i] >= rows || (below && i > 0 && ids[i] >= i)) {
      throw columnError(`${table}.${column}`, `row ${i} points at what is not there`);
    }
  }
}

/* No id leads out of its table, and callers come first, so that no walk is endless. */
function checkReferences(model) {
  const strings = model.string.length;
  const stacks = model.stack.rows;
  for (const column of ['stack', 'free_stack']) checkIds(model, 'alloc', column, stacks);
  checkIds(model, 'oom', 'stack', stacks);
  checkIds(model, 'segment', 'stack', stacks);
  checkIds(model, 'stack', 'caller', stacks, true);
  for (const column of ['frame', 'line']) checkIds(model, 'stack', column, model.frame.rows);
  for (const column of ['culprit', 'owner', 'op', 'module', 'runs', 'innermost', 'called_from']) {
    checkIds(model, 'stack', column, strings);
  }
  checkIds(model, 'alloc', 'ctx', strings);
  for (const column of ['func', 'file']) checkIds(model, 'frame', column, strings);
  checkIds(model, 'mark', 'name', strings);
}

/* Of each row that has other names the strings of them, each alone, which `strings` gets. */
function otherNames(shared, strings) {
  const known = new Map();
  const others = new Map();
  const idOf = (name) => {
    if (!known.has(name)) known.set(name, strings.push(name) - 1);
    return known.get(name);
  };
  shared.forEach((id, n) => {
    if (strings[id]) others.set(n, strings[id].split(', ').map(idOf));
  });
  return others;
}

/* Texts of tensors stand behind the others; a page may go without the names. */
function joinTensors(model) {
  const { alloc, tensor, string, tensorString } = model;
  delete model.tensorString;
  if (!alloc.tensor || !tensor?.name || !tensorString) {
    delete alloc.tensor;
    return;
  }
  const shifted = (id) => id + string.length;
  checkIds(model, 'alloc', 'tensor', tensor.rows);
  for (const column of TENSOR_TEXTS) {
    checkIds(model, 'tensor', column, tensorString.length);
    if (tensor[column]) tensor[column] = Uint32Array.from(tensor[column], shifted);
  }
  model.string = string.concat(tensorString);
  if (tensor.shared) tensor.others = otherNames(tensor.shared, model.string);
}

function placeColumns(model, table, head, got) {
  const to = model[table];
  const part = (model.packed[table] ??= {});
  Object.assign(part, got);
  if (got.pad) part.pad = orNone(got.pad);
  const ready = COLUMNS[table].must.every((c) => model.have.has(`${table}.${c}`));
  if (!ready) return;
  to.rows = head.rows;
  if (part.until) {
    to.end = endsOf(table, part.born, part.until, model.states);
    delete part.until;
  }
  Object.assign(to, part);
  if (table === 'range' && !Object.hasOwn(head.columns, 'lane')) to.lane = packedLanes(to);
}

function place(model, table, head, got) {
  if (table === 'time') {
    if (got.dt) model.time = timesOf(got.dt, model.states, model.head.time?.unit_us ?? 1);
  } else if (table === 'string') {
    const { len, bytes } = Object.assign((model.packed.string ??= {}), got);
    if (len && bytes && (got.len || got.bytes)) model.string = stringsOf(len, bytes, 'string.len');
  } else if (table === 'tensor_string') {
    const { len, bytes } = Object.assign((model.packed.tensor_string ??= {}), got);
    const ready = len && bytes && (got.len || got.bytes);
    if (ready) model.tensorString = stringsOf(len, bytes, 'tensor_string.len');
  } else if (table === 'adjust') {
    const { state, more, less } = Object.assign((model.packed.adjust ??= {}), got);
    if (state && more && less && Object.keys(got).length) {
      const value = new Float64Array(state.length + 1);
      value[0] = model.adjust;
      for (let k = 0; k < state.length; k++) value[k + 1] = more[k] - less[k];
      model.adjusts = { state: Uint32Array.from([0, ...state]), value };
    }
  } else {
    model[table] ??= { rows: 0 };
    placeColumns(model, table, head, got);
  }
}

/* The states [from, past) whose allocations are here. */
function readWindow({ states, window }) {
  if (!window) return [0, states];
  const { first, last } = window;
  if (!(Number.isInteger(first) && Number.isInteger(last) && first >= 0 && first <= last
    && last < states)) {
    throw new Error('the events that this page holds are not of this device');
  }
  return [first, last + 1];
}

function emptyModel(head) {
  const states = head.states;
  if (!(Number.isInteger(states) && states > 0 && states < NONE32)) {
    throw new Error('the number of states of this device is not one');
  }
  const none = () => new Uint32Array(0);
  const first = (...columns) => Object.fromEntries([['rows', 1],
    ...columns.map((column) => [column, new Uint32Array(1)])]);
  return {
    name: head.name ?? `${head.kind ?? 'cuda'}:${head.device ?? 0}`, states,
    adjust: head.adjust_bytes ?? 0, time: null, window: readWindow(head),
    head: { ...head, categories: (head.categories ?? []).map((c) => (c.name ? c : { name: c })),
      pools: (head.pools ?? []).map(poolName) },
    alloc: { rows: 0, born: none(), end: none(), bytes: new Float64Array(0) },
    range: { rows: 0, born: none(), end: none(), lane: none(), base: new Float64Array(0),
      bytes: new Float64Array(0) },
    segment: { rows: 0 }, event: { rows: 0, state: none(), kind: new Uint8Array(0) },
    oom: { rows: 0, state: none() },
    mark: { rows: 0, kind: new Uint8Array(0), first: none(), last: none() },
    stack: first('caller', 'frame'), frame: first('func', 'file'), string: [''],
    have: new Set(), packed: {}, whole: false,
  };
}

/** Decodes into `model` what has come since; true when nothing is missing any more.  `pause` lets
 * others work between two columns. */
export async function decodeMore(model, blocks, pause = () => {}) {
  const tables = model.head.tables ?? {};
  let waits = false;
  for (const table of Object.keys(COLUMNS)) {
    const head = Object.hasOwn(tables, table) ? tables[table] : null;
    if (!head || head.rows === 0) continue;
    place(model, table, head, await decodeTable(table, head, blocks, model.have,
      pause));
    for (const column of Object.keys(head.columns)) {
      const known = COLUMNS[table].must.concat(COLUMNS[table].may).includes(column);
      if (known && !model.have.has(`${table}.${column}`)) waits = true;
    }
  }
  model.whole = !waits;
  if (model.whole) {
    await pause();
    checkReferences(model);
    joinTensors(model);
    model.packed = {};
  }
  return model.whole;
}

/** The model of a device, of the blocks that are here; `model.whole` says whether that is all.
 * What a writer left out stays undefined. Fails with an error that names the column. */
export async function decodeDevice(head, blocks, pause = undefined) {
  const model = emptyModel(head);
  await decodeMore(model, blocks, pause);
  return model;
}

/** All columns of a table by their names, with its `rows`; null where it has none, or none here. */
export async function decodeWhole(tables, table, blocks) {
  const head = tables?.[table];
  if (!head || !(head.rows > 0)) return null;
  const columns = Object.entries(head.columns).map(([column, given]) => {
    const spec = { rows: head.rows, ...given };
    const name = `${table}.${column}`;
    return [spec, hasBytes(spec, spec.rows) ? bytesOf(spec, blocks, name) : null, name];
  });
  if (columns.some(([, bytes]) => bytes === undefined)) return null;
  const got = await Promise.all(columns.map((one) => decodeColumn(...one)));
  return Object.assign({ rows: head.rows },
    ...Object.keys(head.columns).map((column, i) => ({ [column]: got[i] })));
}
