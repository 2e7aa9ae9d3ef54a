// pictures.js - the operations that draw: stacks, groups, maps, trees, and searches.  What they
// make once of a device (map, the last searches) they keep on it.
import { adjustAt, at, heldState, leastAdjust, requestedOf, windowOf } from './curves.js';
import { answers } from './answers.js';
import { eventsAround, mapExtent, mapRowsWork, mapWork, segmentsAt } from './address.js';
import { changedBar, momentsWork, eventsWithLines } from './moments.js';
import { churnColumns, bornIn, survivors } from './range.js';
import { diffRows, matched } from './diff.js';
import { expressionsOf, parse, run, talliedBy } from './query.js';
import { SPECIAL, flame, layout, pathOf } from './tree.js';
import { treeDiff } from './treediff.js';
import { bandWork, groupSumsWork, groupsWork, stackWork } from './raster.js';
import { strides } from '../model/slices.js';
import { FRAME_CLASSES } from './row.js';
import { both, leftOf } from './peel.js';
import { isBefore, liveAt } from './live.js';
import { ratio } from '../model/human.js';
import { leftUnder, stepsOf, survivorsBy } from './leaks.js';
import { listWork } from './list.js';
import { tensorName } from './tensors.js';

// Bits of a pixel's mark.
const EXCLUDED = 1;
const BEFORE = 2;
/** Milliseconds that expressions may take. */
export const SLOW = 200;
export const TOO_SLOW = 'expression too slow: take out a repeat within a repeat, as in (a+)+, or ' +
  'look for plain text';
const EXPRESSIONS = 8;
// Bands of the picture of groups.
const BANDS = 1000;

/* The grouping of a picture; ages are counted to the cursor, as in the list beside it. */
function groupingOf({ by, state }) {
  return by === 'age' && state !== undefined ? `age@${state}` : named(by);
}

function named(by) {
  return !by || by === 'birth' ? 'category' : by;
}

/* ---- searches ---- */

/** Which strings match each expression: a Map of bitmaps. Gives up when all of them together take
 * too long, but for one that is slow in one string. */
export function matchStrings(sources, strings) {
  const began = Date.now();
  const found = new Map();
  for (const source of sources) {
    const expression = new RegExp(source, 'i');
    const bitmap = new Uint8Array(strings.length);
    for (let i = 0; i < strings.length; i++) {
      bitmap[i] = expression.test(strings[i]) ? 1 : 0;
      if (Date.now() - began > SLOW) throw new Error(TOO_SLOW);
    }
    found.set(source, bitmap);
  }
  return found;
}

/* Has the expressions of a query matched, by `match`; a bitmap or an error is kept for each. */
async function matchQuery(d, text, match) {
  const ast = text ? parse(text) : { error: 'none' };
  const sources = ast.error ? [] : expressionsOf(ast);
  if (!d.matched || d.matched.size > EXPRESSIONS) d.matched = new Map();
  const missing = sources.filter((source) => !d.matched.has(source));
  if (missing.length === 0) return;
  try {
    for (const [source, bitmap] of await match(missing, d.model.string)) {
      d.matched.set(source, bitmap);
    }
  } catch (e) {
    for (const source of missing) d.matched.set(source, e);
  }
}

function expressionsFor(d, ast) {
  const found = new Map();
  for (const source of expressionsOf(ast)) {
    const got = d.matched.get(source);
    if (got instanceof Error) throw got;
    found.set(source, got);
  }
  return found;
}

/* {mask, count, ever, atCursor} of a query, or {error, at}. The last few are kept. */
function searched(d, text, cursor) {
  d.searches ??= new Map();
  const key = `${text} ${/alive:|survives:/.test(text) ? cursor : ''}`;
  if (d.searches.has(key)) return d.searches.get(key);
  const ast = parse(text);
  let found = ast;
  try {
    if (!ast.error) {
      found = run(d.model, ast, { cursor, peak: d.peak(), grouping: d.grouping,
        expressions: expressionsFor(d, ast) });
    }
  } catch (e) {
    found = { error: e.message, at: 0 };
  }
  if (d.searches.size >= 4) d.searches.delete(d.searches.keys().next().value);
  d.searches.set(key, found);
  return found;
}

/* The rows a filter leaves; null where there is none, or none that can be read. */
function maskOf(d, { query, state }) {
  if (!query) return null;
  return searched(d, query, state ?? d.peak()).mask ?? null;
}

/* The next matching row in birth order after `after` (null: the first), or before it. */
function visit(model, mask, after, step) {
  const { rows, bytes, born } = model.alloc;
  const from = after ?? (step > 0 ? -1 : rows);
  for (let k = 1; k <= rows; k++) {
    const id = (((from + step * k) % rows) + rows) % rows;
    if (mask[id]) return { id, bytes: bytes[id], born: born[id] };
  }
  return null;
}

/* {text, state, without, after, step}: what of all that is not taken out a query matches, and the
 * next of it to visit. */
function find(d, { text, state, without, after = null, step = 1 }) {
  const p = heldState(d.model, state ?? 0);
  const whole = searched(d, text, p);
  if (whole.error) return { error: whole.error, at: whole.at };
  const left = leftOf(d, without);
  const found = left.stays ? talliedBy(d.model, both(whole.mask, left.stays)) : whole;
  const now = found.atCursor(p);
  return { count: found.count, ever: found.ever, now,
    share: ratio(now, left.curve()[p] - adjustAt(d.model, p)),
    visit: d.model.alloc.rows ? visit(d.model, found.mask, after, step) : null };
}

/* {of, state, text, sort, most}: single allocations; of: alive or matches. */
function list(d, args) {
  if (args.of === 'alive') return listWork(d, args, null);
  const found = searched(d, args.text, heldState(d.model, args.state ?? 0));
  return found.error ? { error: found.error, at: found.at } : listWork(d, args, found);
}

/* ---- stack and groups ---- */

const headroom = 1.02;
const farthest = 1.5;

/* The top of a picture: the most that is drawn, and what of `reach` (reserved bytes, a capacity) is
 * not so far above that it would press the picture down. */
function topOf(top, reach) {
  const near = (reach ?? []).filter((v) => v <= top * farthest);
  return reach ? Math.max(top, ...near) * headroom : top;
}

/* The bytes a picture must hold: given, or from zero to the most that is drawn; `mask`: of its rows
 * alone, else of the curve. */
function* heightOf(d, args, shown, mask) {
  const { model } = d;
  if (args.y1 !== null && args.y1 !== undefined) return { y0: args.y0 ?? 0, y1: args.y1 };
  let top = 1;
  let low = 0;
  const sums = mask ? yield* groupSumsWork(model, { shown, mask, groups: 1,
    groupOf: new Uint8Array(model.alloc.rows) }) : null;
  for (let c = 0; c < shown.length; c++) {
    const value = sums ? sums[c] : d.curve()[shown[c]];
    top = Math.max(top, value);
    low = Math.min(low, value);
  }
  return { y0: Math.min(low, mask ? 0 : leastAdjust(model)), y1: topOf(top, args.reach) };
}

/* What paints each pixel: the group of its allocation, and its marks. */
function* painted(d, ids, of, excluded, W) {
  const group = new (of.BYTES_PER_ELEMENT > 2 ? Uint32Array : Uint16Array)(ids.length);
  const mark = new Uint8Array(ids.length);
  yield* strides(ids.length, (from, to) => {
    for (let i = from; i < to; i++) {
      const id = ids[i];
      if (id < 0) continue;
      // Bands are high: the pixel above is mostly of the same one, and at hand.
      if (i >= W && id === ids[i - W]) {
        group[i] = group[i - W];
        mark[i] = mark[i - W];
        continue;
      }
      group[i] = of[id];
      mark[i] = (isBefore(d.model, id) ? BEFORE : 0) | (excluded && !excluded[id] ? EXCLUDED : 0);
    }
  });
  return { group, mark };
}

/* The shown states; what they rest on is made once, each in a step of its own. */
function* columnsWork(d, { x, W }) {
  d.curve();
  yield;
  d.pyramid();
  yield;
  return d.columns(x, W);
}

/* `mask` has what a filter leaves, `stacked` the rows that are stacked, where those are not all. */
function* view(d, args) {
  const left = leftOf(d, args.without);
  yield;
  const { shown, edges, span } = yield* columnsWork(left, args);
  yield;
  const mask = maskOf(d, args);
  const bare = Boolean(args.only && mask);
  const stacked = both(left.stays, bare ? mask : null) ?? undefined;
  yield;
  return { shown, edges, span, mask, bare, stacked, W: args.W, H: args.H,
    churn: churnColumns(d.model, edges, left.stays),
    ...(yield* heightOf(left, args, shown, bare ? stacked : undefined)) };
}

/* Reserved bytes at the shown states; null where no segment is known. */
function reservedIn(d, shown) {
  return d.model.range.rows ? Float64Array.from(shown, (p) => at(d.reserved(), p)) : null;
}

/* {state, bytes} where what of a search is drawn alone is most; the last one is kept. */
function peakOfMatches(d, { query, state, without }, stacked) {
  const key = JSON.stringify([query, state, without]);
  if (d.matchPeak?.key !== key) {
    const curve = requestedOf(d.model, stacked);
    const [from, past] = windowOf(d.model);
    let most = from;
    for (let p = from; p < past; p++) if (curve[p] > curve[most]) most = p;
    d.matchPeak = { key, state: most, bytes: curve[most] };
  }
  return d.matchPeak;
}

/* {x, W, H, y0, y1, by, query, only, without}: ids of allocations, and what paints them; `peak` is
 * that of the matches where they alone are drawn. */
function* raster(d, args) {
  const v = yield* view(d, args);
  const { of, names } = d.grouping(groupingOf(args));
  yield;
  d.bands(groupingOf(args));
  yield;
  const order = args.by && args.by !== 'birth' ? d.order(groupingOf(args)) : undefined;
  const { shown, bare, stacked: mask, H, W, y0, y1 } = v;
  yield;
  const { ids, sums, drawn } = yield* stackWork(d.model, { shown, order, mask, bare, y0, y1, H });
  return { W, H, y0, y1, shown, span: v.span, ids, sums, drawn, groups: names.length,
    bandsGrouped: order !== undefined, churn: v.churn,
    reserved: args.without ? null : reservedIn(d, shown), matching: Boolean(v.mask && !bare),
    peak: bare ? peakOfMatches(d, args, mask) : null,
    ...(yield* painted(d, ids, of, bare ? null : v.mask, W)) };
}

/* {id, and the arguments of a raster}: where an allocation lies in it, or null. */
function* band(d, args) {
  const left = leftOf(d, args.without);
  const { shown } = yield* columnsWork(left, args);
  const mask = args.only ? maskOf(d, args) : null;
  const order = args.by && args.by !== 'birth' ? d.order(groupingOf(args)) : undefined;
  return yield* bandWork(d.model, { shown, order, mask: both(left.stays, mask) ?? undefined,
    bare: Boolean(mask) }, args.id);
}

/* Of more groups than a picture can tell apart the least at the peak are one, which is none of
 * them. */
function folded({ of, names }, bands) {
  if (names.length <= BANDS) return { groupOf: of, groups: names.length, bands, keyOf: (id) => id };
  const place = new Uint16Array(names.length).fill(BANDS);
  bands.subarray(0, BANDS).forEach((key, i) => { place[key] = i; });
  return { groupOf: Uint16Array.from(of, (key) => place[key]), groups: BANDS + 1,
    keyOf: (id) => (id < 0 ? id : id < BANDS ? bands[id] : names.length) };
}

/* The same with one band for each group; ids are groups. */
function* groups(d, args) {
  const v = yield* view(d, args);
  const by = groupingOf(args);
  const grouping = d.grouping(by);
  yield;
  const { keyOf, ...fold } = folded(grouping, d.bands(by));
  const { shown, bare, stacked: mask, H, W, y0, y1 } = v;
  yield;
  const picture = yield* groupsWork(d.model, { shown, ...fold, mask, bare, y0, y1, H });
  const { sums, parts } = picture;
  const ids = picture.ids.map(keyOf);
  return { W, H, y0, y1, shown, span: v.span, ids, sums, parts, groups: grouping.names.length + 1,
    group: Uint32Array.from(ids, (id) => Math.max(0, id)), mark: new Uint8Array(ids.length),
    churn: v.churn, reserved: args.without ? null : reservedIn(d, shown), bandsGrouped: true,
    peak: v.bare ? peakOfMatches(d, args, v.stacked) : null };
}

/* ---- addresses ---- */

function* mapOf(d) {
  d.map ??= yield* mapRowsWork(d.model);
  return d.map;
}

/* {x, W, H, y0, y1, by, query, chosen}: the address map; y in bytes of its rows end to end. */
function* map(d, args) {
  const { shown, span } = yield* columnsWork(d, args);
  yield;
  const rows = yield* mapOf(d);
  const extent = mapExtent(rows, args.chosen ?? null);
  const [y0, y1] = [args.y0 ?? 0, args.y1 ?? Math.max(1, extent.bytes)];
  const picture = yield* mapWork(d.model, rows,
    { shown, chosen: args.chosen ?? null, y0, y1, H: args.H });
  yield;
  const { of, names } = d.grouping(groupingOf(args));
  yield;
  const mask = maskOf(d, args);
  return { W: args.W, H: args.H, y0, y1, shown, span, ...picture, groups: names.length,
    matching: Boolean(mask), ...(yield* painted(d, picture.ids, of, mask, args.W)),
    tops: extent.tops,
    bytes: extent.bytes, rows: rows.rows.map(({ lane, bytes, base }) => ({ lane, bytes, base })),
    unplaced: rows.unplaced };
}

/* ---- trees ---- */

function rowsOf(d, { of = 'cursor', state, a, b, sites, without }) {
  const { model } = d;
  switch (of) {
    case 'cursor': return liveAt(model, heldState(model, state ?? 0));
    case 'peak': return liveAt(model, leftOf(d, without).peak());
    case 'leaks': return leftUnder(model, d.grouping('line'), sites);
    case 'survivors': return survivors(model, heldState(model, a), heldState(model, b));
    case 'churn': return bornIn(model, heldState(model, a), heldState(model, b));
    default: throw new Error(`no tree is of ${of}`);
  }
}

function isOwn({ frame }, f) {
  return frame.kind !== undefined && FRAME_CLASSES[frame.kind[f]] === 'user';
}

/* Frames that `hide` leaves out: all but the user's own. */
function hiddenFrames(model) {
  return Uint8Array.from({ length: model.frame.rows }, (_, f) => (isOwn(model, f) ? 0 : 1));
}

const SPECIAL_NAMES = { [SPECIAL.before]: 'before recording', [SPECIAL.unknown]: '(no stack)' };

/* The words that a node shows. */
function wordsOf(model, made, n) {
  const { frame, string } = model;
  const f = made.frame[n];
  const name = n === 0 ? 'all' : SPECIAL_NAMES[made.special[n]];
  return name ? { name, file: '', line: 0, own: false } : { name: string[frame.func[f]],
    file: string[frame.file[f]], line: frame.line ? frame.line[f] : 0, own: isOwn(model, f) };
}

/* {of, state, a, b, sites, weight, root, library, query, only, without, width, top, row}: the
 * tree and its cells, with what of each a query matches, unless `only` leaves just that; `path`
 * is that of allocation `row`; of: cursor, peak, leaks (what steps left at those sites),
 * survivors or churn of the states a to b, or diff, then a and b are {file, dev, state}: cells
 * have `a` and `b` too. */
function treeOptions({ model }, { weight, root, library }) {
  return { weight, root, hide: library === false ? hiddenFrames(model) : null };
}

function treeOf(d, rows, args) {
  const { model } = d;
  const found = maskOf(d, args);
  const mask = both(leftOf(d, args.without).stays, args.only ? found : null);
  return flame(model, mask ? rows.filter((row) => mask[row]) : rows,
    { ...treeOptions(d, args), mask: args.only ? null : found });
}

function cellsOf(made, { width = 1000, top = 0 }) {
  return layout(made, width, top < made.nodes ? top : 0);
}

function tree(d, args) {
  const made = treeOf(d, rowsOf(d, args), args);
  const { row = null } = args;
  return { ...made, path: row === null ? [] : pathOf(d.model, made, row, treeOptions(d, args)),
    cells: cellsOf(made, args).map((cell) =>
      ({ ...cell, ...wordsOf(d.model, made, cell.node) })) };
}

function treeOfDiff(devices, args) {
  const sides = devices.map((d, i) => ({ model: d.model,
    tree: treeOf(d, liveAt(d.model, heldState(d.model, [args.a, args.b][i].state)), args) }));
  const { refs, ...made } = treeDiff(...sides);
  return { ...made, cells: cellsOf(made, args).map((cell) => {
    const side = refs[cell.node][1] < 0 ? 0 : 1;
    return { a: made.a[cell.node], b: made.b[cell.node], ...cell,
      ...wordsOf(sides[side].model, sides[side].tree, refs[cell.node][side]) };
  }) };
}

/* ---- leaks and differences ---- */

/* {state, by}: what each step left alive, by group. */
function leaks(d, { state, by }) {
  const p = heldState(d.model, state ?? Infinity);
  const rows = survivorsBy(d.model, d.grouping(named(by)), p);
  return { state: p, steps: stepsOf(d.model), rows };
}

/* {a, b: {file, dev, state}, by, pair}: two live sets side by side; `pair` is one of the head's
 * diff, where the core has matched the stacks of a and b, or null: then equal names are one. */
async function diff(d, { a, b, by, pair = null }, other, tables) {
  const one = await other(a.file, a.dev);
  const two = await other(b.file, b.dev);
  const side = ({ model, grouping }, state) => {
    const p = heldState(model, state);
    return { model, rows: liveAt(model, p), adjust: adjustAt(model, p),
      grouping: grouping(named(by ?? 'line')) };
  };
  const sides = [side(one, a.state), side(two, b.state)];
  return diffRows(...(pair ? await matched(sides, pair, [a, b], tables) : sides));
}

/* {state, by}: the segments at a state; each block says its group, which paints it, and `pin` of a
 * segment is the largest of them, with the name of its tensor, else its line. `changed` are those
 * that the event before it has changed. */
function segments(d, { state, by }) {
  const { of } = d.grouping(groupingOf({ by, state }));
  const lines = d.grouping('line');
  const bars = segmentsAt(d.model, state);
  for (const bar of bars) {
    for (const block of bar.blocks) {
      block.group = of[block.row];
      if (block.size > (bar.pin?.size ?? 0)) bar.pin = block;
    }
    if (bar.pin) {
      const { row } = bar.pin;
      bar.pin = { ...bar.pin, name: tensorName(d.model, row) || lines.names[lines.of[row]] };
    }
  }
  for (const event of eventsAround(d.model, state, 2)) {
    const bar = event.state === state ? changedBar(d.model, event, bars) : null;
    if (bar) bar.changed = true;
  }
  return { state, bars };
}

/* {state, n}: the events about a state, with the segments that they changed. */
function* moments(d, { state, n }) {
  return { state, rows: yield* momentsWork(d, state, n) };
}

/** Operations by name, for createEngine. `match` is as matchStrings, or a promise of that. */
export function createPictureOps(match = matchStrings) {
  const searching = (op) => async (d, args) => {
    await matchQuery(d, args.text ?? args.query, match);
    return op(d, args);
  };
  const treeDiffed = async (args, other) => {
    const devices = [];
    for (const { file, dev } of [args.a, args.b]) {
      devices.push(await other(file, dev));
      await matchQuery(devices[devices.length - 1], args.query, match);
    }
    return treeOfDiff(devices, args);
  };
  return {
    raster: searching(raster),
    band: searching(band),
    live: searching((d, args) => answers.live(d, { ...args, mask: maskOf(d, args) })),
    groups: searching(groups),
    map: searching(map),
    state: segments,
    events: (d, { state, n }) => ({ state, rows: eventsWithLines(d, state, n) }),
    moments,
    tree: (d, args, other) => (args.of === 'diff' ? treeDiffed(args, other) :
      searching(tree)(d, args)),
    leaks,
    find: searching(find),
    list: searching(list),
    diff,
  };
}
