// live.js - who is alive in a state, and what they add up to by the words of `vramscope peak --by`.
import { firstAbove, requested, windowOf } from './curves.js';
import { spark } from './many.js';

// Bits of flags: freed here but never allocated, and only in the final state.
const UNTRACED = 3;
const MEDIUM = 2;

/** The groupings, in the order in which the page goes through them: words of `peak --by`, whose
 * rows and names they have, and the page's own, phase. */
export const GROUPINGS = ['line', 'category', 'owner', 'module', 'site', 'file', 'function',
  'phase', 'pool', 'stream', 'size', 'age', 'name', 'path'];

/** Rows live in state `p`, in stack order: oldest first. */
export function liveAt(model, p) {
  const { born, end } = model.alloc;
  const past = firstAbove(born, p);
  let n = 0;
  for (let i = 0; i < past; i++) if (end[i] > p) n++;
  const rows = new Uint32Array(n);
  for (let i = 0, at = 0; i < past; i++) if (end[i] > p) rows[at++] = i;
  return rows;
}

/** Was it there before the recording began? */
export function isBefore(model, row) {
  const { born, flags } = model.alloc;
  return born[row] === 0 || (flags !== undefined && (flags[row] & UNTRACED) !== 0);
}

/* Groups in the order in which they come up; rows of equal keys are one. `bareOf(row)`: what memory
 * without a line, which has the colour of a category, is for. */
function keyed(rows, keyOf, nameOf, bareOf = () => undefined) {
  const of = new Uint32Array(rows);
  const names = [];
  const bare = [];
  const ids = new Map();
  for (let i = 0; i < rows; i++) {
    const key = keyOf(i);
    let id = ids.get(key);
    if (id === undefined) {
      id = names.push(nameOf(i)) - 1;
      bare.push(bareOf(i));
      ids.set(key, id);
    }
    of[i] = id;
  }
  return { of: names.length <= 0xffff ? new Uint16Array(of) : of, names, bare };
}

/* Groups that the rows number already. */
function listed(column, rows, names) {
  if (!column) return { of: new Uint8Array(rows), names: ['unknown'] };
  const of = column;
  let most = -1;
  for (let i = 0; i < rows; i++) if (of[i] > most) most = of[i];
  const all = names.slice();
  for (let id = all.length; id <= most; id++) all.push(`(${id})`);
  return { of, names: all.map((name) => name || 'unknown') };
}

const NO_STACK = '(no stack)';
const NO_MODULE = '(no module)';

/* Where nothing tells what memory without a line is for, it is as what stays. */
const STAYS = 'persistent';

/* What memory without a stack is for, where more than a guess tells. */
function purposeOf({ alloc: { cat, sure }, head = {} }) {
  const names = (head.categories ?? []).map(({ name }) => (name === 'unknown' ? STAYS : name));
  return (i) => (cat && sure && sure[i] >= MEDIUM ? names[cat[i]] : STAYS);
}

function unstacked(purpose) {
  return purpose === STAYS ? NO_STACK : `${NO_STACK} ${purpose}`;
}

/** The text of each stack under a word; '' where it is told apart by what it is for. */
export function textsOf({ stack, frame, string }, by) {
  const { culprit, line, rows } = stack;
  const lineOf = (s) => (culprit ? string[culprit[s]] : '');
  const text = {
    owner: (s) => (stack.owner ? string[stack.owner[s]] : ''),
    module: (s) => (stack.module && string[stack.module[s]]) || NO_MODULE,
    file: (s) => (line?.[s] ? string[frame.file[line[s]]] : lineOf(s)),
    function: (s) => (line?.[s] ? string[frame.func[line[s]]] : lineOf(s)),
  }[by] ?? lineOf;
  return Array.from({ length: rows }, (_, s) =>
    (s === 0 || (by !== 'module' && lineOf(s) === NO_STACK) ? '' : text(s)));
}

function byStack(model, by) {
  const { rows, stack } = model.alloc;
  const texts = textsOf(model, by);
  const purpose = purposeOf(model);
  const textAt = (i) => (stack && texts[stack[i]]) || '';
  const name = (i) => textAt(i) || unstacked(purpose(i));
  const blank = by === 'module' ? NO_MODULE : '';
  return keyed(rows, name, name, (i) => (textAt(i) === '' ? purpose(i)
    : textAt(i) === blank ? STAYS : undefined));
}

/* By stacks that are one place in the program, which bear the name of their line and have a number;
 * without a stack by size. */
function bySite(model) {
  const { alloc: { rows, stack, bytes }, stack: { site } } = model;
  const texts = textsOf(model, 'line');
  const keyOf = (i) => site?.[stack[i]] || texts[stack[i]] || NO_STACK;
  const nameOf = (i) => (stack?.[i] ? texts[stack[i]] || NO_STACK : `size:${bytes[i]}`);
  const groups = keyed(rows, (i) => (stack?.[i] ? keyOf(i) : -1 - bytes[i]), nameOf,
    (i) => (stack?.[i] && texts[stack[i]] ? undefined : STAYS));
  const sites = new Uint32Array(groups.names.length);
  for (let i = 0; i < rows; i++) sites[groups.of[i]] = site?.[stack?.[i]] ?? 0;
  return { ...groups, nameOf, sites };
}

/* Of ages 0, 1, 2 to 3, 4 to 7, …: how many binary digits they have. */
function ageName(digits) {
  if (digits < 2) return digits === 0 ? '0 events' : '1 event';
  return `${2 ** (digits - 1)}-${2 ** digits - 1} events`;
}

const AGES = ['older than the recording', ...Array.from({ length: 33 }, (_, n) => ageName(n)),
  'not yet'];

/* The classes are the same at every cursor, and so are their colours. */
function byAge({ alloc: { rows, born } }, p) {
  const of = Uint8Array.from({ length: rows }, (_, i) => (born[i] === 0 ? 0
    : born[i] > p ? AGES.length - 1 : 33 - Math.clz32(p - born[i])));
  return { of, names: AGES, bare: [STAYS] };
}

const NAMELESS = ['(no name)', NO_MODULE];

/* By what the program called its memory, or by the module in that name; keys of what has none are
 * numbers, so that they are no name. */
function byName({ alloc, tensor, string }, by) {
  const textOf = (i) => (tensor?.[by] ? string[tensor[by][alloc.tensor[i]]] : '');
  const isNamed = (i) => Boolean(tensor?.name && alloc.tensor?.[i]);
  const isBlank = (i) => /^ *$/.test(textOf(i));
  const keyOf = (i) => (!isNamed(i) ? 0 : !isBlank(i) ? textOf(i) : by === 'path' ? 1 : 0);
  const isNameless = (i) => typeof keyOf(i) === 'number';
  return keyed(alloc.rows, keyOf, (i) => (isNameless(i) ? NAMELESS[keyOf(i)] : textOf(i)),
    (i) => (isNameless(i) ? STAYS : undefined));
}

/** The group of every row: {of, names}, and `bare`, where some groups may have no line: the
 * category that each of those is for. `p` is the state ages are counted to. */
export function grouping(model, by, p = model.states - 1) {
  const { alloc, head } = model;
  const { rows, bytes } = alloc;
  switch (by) {
    case 'category':
      return listed(alloc.cat, rows, (head.categories ?? []).map((c) => c.name ?? c));
    case 'phase': return listed(alloc.phase, rows, head.phases ?? []);
    case 'pool': return listed(alloc.pool, rows, head.pools ?? []);
    case 'stream': return listed(alloc.stream, rows, head.streams ?? []);
    case 'line':
    case 'owner':
    case 'module':
    case 'file':
    case 'function': return byStack(model, by);
    case 'site': return bySite(model);
    case 'size': return keyed(rows, (i) => bytes[i], (i) => String(bytes[i]));
    case 'age': return byAge(model, p);
    case 'name':
    case 'path': return byName(model, by);
    default: throw new Error(`no grouping is called ${by}`);
  }
}

/* As `peak` has them: larger first, then older; then names, by code units so that no locale changes
 * the order. */
function byBytes(a, b) {
  if (a.bytes !== b.bytes) return b.bytes - a.bytes;
  if (a.since !== b.since) return a.since - b.since;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : a.key - b.key;
}

/**
 * What rows add up to in each group: a list of {key, name, bytes, count, largest, since} with most
 * bytes first; `since` is the state in which the oldest was born, `site` the number of a site,
 * `bare` as `grouping` has it. The list has `total`, which is their sum: {bytes, count}. `by` is a
 * name or what `grouping` gave.
 */
export function groupRows(model, rows, by, p = model.states - 1) {
  const { of, names, bare, nameOf, sites } = typeof by === 'string' ? grouping(model, by, p) : by;
  const groups = new Map();
  const total = { bytes: 0, count: rows.length };
  for (const row of rows) {
    const bytes = model.alloc.bytes[row];
    const key = of[row];
    let group = groups.get(key);
    if (!group) {
      group = { key, name: names[key], bytes: 0, count: 0, largest: -1, since: Infinity };
      if (sites) group.site = sites[key];
      if (bare?.[key]) group.bare = bare[key];
      groups.set(key, group);
    }
    group.bytes += bytes;
    group.count++;
    if (bytes > group.largest) {
      group.largest = bytes;
      // Stacks of one site may differ in what the recording does not count as its frames.
      if (nameOf) group.name = nameOf(row);
    }
    if (model.alloc.born[row] < group.since) group.since = model.alloc.born[row];
    total.bytes += bytes;
  }
  return Object.assign([...groups.values()].sort(byBytes), { total });
}

/** The rows of a stack (in stack order, on `base` bytes) that touch bytes [low, high) of it: what a
 * pixel stands for. {rows, bytes, count} */
export function pileBetween(model, rows, low, high, base = model.adjust) {
  const { bytes } = model.alloc;
  const found = [];
  let sum = base;
  let held = 0;
  for (const row of rows) {
    const next = sum + bytes[row];
    if (sum >= high) break;
    if (next > low && next > sum) {
      found.push(row);
      held += bytes[row];
    }
    sum = next;
  }
  return { rows: Uint32Array.from(found), bytes: held, count: found.length };
}

/* A mask of the rows of the same site as `row`; null where that has none. */
function siteOf(model, row) {
  const { stack, rows } = model.alloc;
  const sites = model.stack.site;
  const site = sites && stack ? sites[stack[row]] : 0;
  if (!site) return null;
  const same = new Uint8Array(rows);
  for (let i = 0; i < rows; i++) same[i] = sites[stack[i]] === site ? 1 : 0;
  return same;
}

/** Rows of the same site as `row`: how many ever, and live in state `p`. */
export function sameSite(model, row, p) {
  const { born, end, rows } = model.alloc;
  const same = siteOf(model, row);
  let ever = 0;
  let live = 0;
  for (let i = 0; same && i < rows; i++) {
    if (!same[i]) continue;
    ever++;
    if (born[i] <= p && p < end[i]) live++;
  }
  return { ever, live };
}

/** The most bytes that the site of `row` holds in each of `columns` parts of the recording; null
 * where it has none, and where the page has only some allocations. */
export function siteCurve(model, row, columns) {
  const [from, past] = windowOf(model);
  const same = past - from < model.states ? null : siteOf(model, row);
  if (!same) return null;
  const held = requested({ ...model, adjust: 0, adjusts: null }, same);
  return Array.from(spark(held, columns));
}
