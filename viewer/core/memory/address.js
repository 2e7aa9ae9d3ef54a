// address.js - where allocations lie: the map over time, segments and events at one moment.
//
// A lane is a compressed address: unmapped gaps are taken out, the unit is 512 bytes.  A map row is
// a stretch of lanes that belong together; offsets in it are bytes.

import { windowOf } from './curves.js';
import { strides } from '../model/slices.js';
import { columnsOf } from '../model/intervals.js';
import { known } from '../model/unpack.js';

const NONE = 0xffffffff;
const UNIT = 512;
const EVENT_KINDS = ['segment_alloc', 'segment_free', 'segment_map', 'segment_unmap', 'oom',
  'snapshot', 'retry'];

export const SEGMENT_FLAGS = { expandable: 1, graph: 2 };

/** What the centre of a map pixel is.  `held` is free memory of a graph's private pool, `slack`
 * what a block has beyond its request. */
export const PLACE = { unmapped: 0, used: 1, pending: 2, returnable: 3, stranded: 4, held: 5,
  slack: 6 };

/** Bytes of the block an allocation lies in; where unknown, its request rounded up. */
export function blockBytes(model, row) {
  const bytes = model.alloc.bytes[row];
  const pad = model.alloc.pad ? model.alloc.pad[row] : NaN;
  return Number.isNaN(pad) ? Math.max(UNIT, Math.ceil(bytes / UNIT) * UNIT) : bytes + pad;
}

function segmentOf(model, range) {
  return model.range.segment ? model.range.segment[range] : range;
}

/* Only expandable segments are mapped and unmapped in parts. */
function isExpandable(model, range) {
  const { event: { state, kind }, range: { born, end } } = model;
  model.kindAt ??= new Map(Array.from(state, (p, i) => [p, kind[i]]));
  return EVENT_KINDS[model.kindAt.get(born[range])] === 'segment_map'
    || EVENT_KINDS[model.kindAt.get(end[range])] === 'segment_unmap';
}

/* Whether a range goes on where the bar or map row `to` ends, in one expandable segment. Of what
 * was there before the recording it is not known. */
function isNext(model, to, range) {
  const { base, born, stream, pool, segment } = model.range;
  const [first] = to.ranges;
  if (segment || base[range] !== to.base + to.bytes || stream?.[range] !== stream?.[first]
    || pool?.[range] !== pool?.[first]) return false;
  const [one, other] = [isExpandable(model, range), isExpandable(model, first)];
  return one ? other || born[first] === 0 : other && born[range] === 0;
}

/* Where no table tells of segments, each range is one, and private pools are those of graphs. */
function segmentFlags(model, segment) {
  const { segment: table, range, head } = model;
  if (table?.flags && segment < table.rows) return table.flags[segment];
  const pool = head?.pools?.[range.pool?.[segment]] ?? 'unknown';
  return (isExpandable(model, segment) ? SEGMENT_FLAGS.expandable : 0)
    | (pool === 'unknown' || pool === 'default' ? 0 : SEGMENT_FLAGS.graph);
}

function laneCount(model, range) {
  return Math.ceil(model.range.bytes[range] / UNIT);
}

/* Ranges with a known lane, by lane and then birth. */
function sortedRanges(model) {
  const { range } = model;
  const list = [];
  for (let i = 0; range && range.lane && i < range.rows; i++) {
    if (range.lane[i] !== NONE && range.bytes[i] > 0) list.push(i);
  }
  const order = (a, b) => range.lane[a] - range.lane[b] || range.born[a] - range.born[b] || a - b;
  return list.sort(order);
}

/** A function from a lane and a state to the range that maps it then, or -1. */
export function rangeFinder(model) {
  const list = sortedRanges(model);
  const lane = Float64Array.from(list, (i) => model.range.lane[i]);
  const past = Float64Array.from(list, (i, at) => lane[at] + laneCount(model, i));
  const furthest = past.slice();
  for (let i = 1; i < list.length; i++) furthest[i] = Math.max(furthest[i - 1], past[i]);
  const { born, end } = model.range || {};
  return (x, state) => {
    let low = 0;
    let high = list.length;
    while (low < high) {
      const mid = (low + high) >>> 1;
      if (lane[mid] < x || (lane[mid] === x && born[list[mid]] <= state)) low = mid + 1;
      else high = mid;
    }
    for (let i = low - 1; i >= 0 && furthest[i] > x; i--) {
      if (past[i] > x && born[list[i]] <= state && end[list[i]] > state) return list[i];
    }
    return -1;
  };
}

/** Rows of the map in order of address: { lane, lanes, bytes, base, ranges, segments }; rowOf, of
 * each range, and rangeOf, of each allocation, are -1 where unknown; unplaced sums the latter. */
export function* mapRowsWork(model) {
  const rows = [];
  const rowOf = new Int32Array(model.range ? model.range.rows : 0).fill(-1);
  let row = null;
  for (const range of sortedRanges(model)) {
    const segment = segmentOf(model, range);
    const lane = model.range.lane[range];
    if (!row || (lane >= row.lane + row.lanes && !row.segments.has(segment)
      && !isNext(model, row, range))) {
      row = { lane, lanes: 0, bytes: 0, base: model.range.base[range], ranges: [],
        segments: new Set() };
      rows.push(row);
    }
    row.lanes = Math.max(row.lanes, lane + laneCount(model, range) - row.lane);
    row.bytes = row.lanes * UNIT;
    row.ranges.push(range);
    row.segments.add(segment);
    rowOf[range] = rows.length - 1;
  }
  return { rows, rowOf, ...(yield* placeRows(model)) };
}

function* placeRows(model) {
  const { lane, born, bytes, rows } = model.alloc;
  const find = rangeFinder(model);
  const rangeOf = new Int32Array(rows).fill(-1);
  const unplaced = { count: 0, bytes: 0 };
  yield* strides(rows, (from, to) => {
    for (let r = from; r < to; r++) {
      if (lane && lane[r] !== NONE) rangeOf[r] = find(lane[r], born[r]);
      if (rangeOf[r] >= 0) continue;
      unplaced.count++;
      unplaced.bytes += bytes[r];
    }
  });
  return { rangeOf, unplaced };
}

/* Pixel rows of a map: bounds[p] is the first byte of row p, so a pixel covers whole bytes. */
function pixelRows({ y0, y1, H }) {
  const bounds = Float64Array.from({ length: H + 1 }, (_, p) =>
    Math.floor(y0 + ((y1 - y0) * p) / H));
  const rows = H / (y1 - y0);
  const at = (y) => {
    let p = Math.min(H - 1, Math.max(0, Math.floor((y - y0) * rows)));
    while (p > 0 && bounds[p] > y) p--;
    while (p < H - 1 && bounds[p + 1] <= y) p++;
    return p;
  };
  return { bounds, at, H };
}

/* Adds bytes [y, past) in columns [c1, c2): the id to the pixels whose centre they are over; and
 * to coverage, as differences, partial pixels in `part`, whole ones in `full`. */
function cover(to, pixels, y, past, c1, c2, id) {
  const { W, part, full, ids } = to;
  const { bounds } = pixels;
  const from = Math.max(y, bounds[0]);
  const until = Math.min(past, bounds[pixels.H]);
  if (from >= until) return;
  const a = pixels.at(from);
  const b = until <= bounds[a + 1] ? a : pixels.at(until - 1);
  for (let p = a; p <= b; p++) {
    const centre = (bounds[p] + bounds[p + 1]) / 2;
    if (centre < from || centre >= until) continue;
    for (let i = p * W + c1; i < p * W + c2; i++) ids[i] = id;
  }
  if (!part) return;
  const top = a * (W + 1);
  const first = Math.min(until, bounds[a + 1]) - from;
  part[top + c1] += first;
  part[top + c2] -= first;
  if (a === b) return;
  const low = b * (W + 1);
  part[low + c1] += until - bounds[b];
  part[low + c2] -= until - bounds[b];
  if (b === a + 1) return;
  full[top + W + 1 + c1]++;
  full[top + W + 1 + c2]--;
  full[low + c1]--;
  full[low + c2]++;
}

function layer(W, H, covered) {
  const cells = covered ? H * (W + 1) : 0;
  return { W, part: covered ? new Float64Array(cells) : null, full: new Int32Array(cells),
    ids: new Int32Array(W * H).fill(-1) };
}

/* Fractions of each pixel's bytes, out of the differences. */
function fractions({ W, part, full }, pixels) {
  const { bounds, H } = pixels;
  const out = new Float32Array(W * H);
  const whole = new Int32Array(W + 1);
  for (let p = 0; p < H; p++) {
    const size = bounds[p + 1] - bounds[p];
    let bytes = 0;
    let count = 0;
    for (let c = 0; c < W; c++) {
      bytes += part[p * (W + 1) + c];
      whole[c] += full[p * (W + 1) + c];
      count += whole[c];
      const got = count * size + bytes;
      out[p * W + c] = size > 0 ? Math.min(1, got / size) : 0;
    }
  }
  return out;
}

/* First byte of each chosen row in the picture, -1 for the others. */
function rowTops(map, chosen) {
  const tops = new Float64Array(map.rows.length).fill(-1);
  let at = 0;
  for (const i of chosen ?? map.rows.keys()) {
    tops[i] = at;
    at += map.rows[i].bytes;
  }
  return tops;
}

/** Where each row of the picture begins, in bytes, and where the last one ends. */
export function mapExtent(map, chosen = null) {
  const tops = rowTops(map, chosen);
  let bytes = 0;
  for (const i of chosen ?? map.rows.keys()) bytes += map.rows[i].bytes;
  return { tops, bytes };
}

function paintRanges(model, map, view, pixels, tops, firstOf) {
  const to = layer(view.shown.length, view.H, view.mapped !== false);
  const { lane, born, end, bytes } = model.range;
  for (let i = 0; i < map.rowOf.length; i++) {
    const row = map.rowOf[i];
    if (row < 0 || tops[row] < 0) continue;
    const c1 = firstOf(born[i]);
    const c2 = firstOf(end[i]);
    if (c1 >= c2) continue;
    const y = tops[row] + (lane[i] - map.rows[row].lane) * UNIT;
    cover(to, pixels, y, y + bytes[i], c1, c2, i);
  }
  return to;
}

/* How many allocations each segment with a visible range holds in each column: differences. */
function makeTally(model, ranges, W) {
  const slots = new Map();
  const slotOf = new Int32Array(model.range ? model.range.rows : 0).fill(-1);
  let last = -1;
  for (let i = 0; i < ranges.length; i++) {
    if (ranges[i] === last || ranges[i] < 0) continue;
    last = ranges[i];
    const segment = segmentOf(model, last);
    if (!slots.has(segment)) slots.set(segment, slots.size);
  }
  for (let i = 0; i < slotOf.length; i++) slotOf[i] = slots.get(segmentOf(model, i)) ?? -1;
  const held = slotOf.map((_, i) =>
    (segmentFlags(model, segmentOf(model, i)) & SEGMENT_FLAGS.graph ? 1 : 0));
  return { slotOf, held, live: new Int32Array(slots.size * (W + 1)) };
}

/* Differences to values, in rows of `width`. */
function sumAlong(list, width) {
  for (let from = 0; from < list.length; from += width) {
    for (let i = from + 1; i < from + width; i++) list[i] += list[i - 1];
  }
}

function* paintAllocs(model, map, view, pixels, tops, firstOf, tally) {
  const { shown, mask } = view;
  const W = shown.length;
  const to = layer(W, view.H, true);
  const { born, end, lane, rows } = model.alloc;
  const { slotOf, live } = tally;
  const last = W ? shown[W - 1] : 0;
  let c1 = 0;
  yield* strides(W ? rows : 0, (from, past) => {
    for (let r = from; r < past && born[r] <= last; r++) {
      while (shown[c1] < born[r]) c1++;
      const range = map.rangeOf[r];
      if (end[r] <= shown[c1] || range < 0) continue;
      const row = map.rowOf[range];
      if (tops[row] < 0) continue;
      const c2 = firstOf(end[r]);
      if (slotOf[range] >= 0) {
        const at = slotOf[range] * (W + 1);
        live[at + c1]++;
        live[at + c2]--;
      }
      if (mask && !mask[r]) continue;
      const y = tops[row] + (lane[r] - map.rows[row].lane) * UNIT;
      cover(to, pixels, y, y + blockBytes(model, r), c1, c2, r);
    }
  });
  sumAlong(live, W + 1);
  return to;
}

/* Whether the centre of pixel row y lies beyond the request of the allocation over it. */
function slackTest({ alloc }, map, { bounds }, tops) {
  const { pad, bytes, lane } = alloc;
  if (!pad) return () => false;
  return (r, y) => {
    if (!(pad[r] > 0)) return false;
    const row = map.rowOf[map.rangeOf[r]];
    const at = tops[row] + (lane[r] - map.rows[row].lane) * UNIT;
    return (bounds[y] + bounds[y + 1]) / 2 >= at + bytes[r];
  };
}

function placesOf(model, { shown, H }, ids, ranges, tally, isSlack) {
  const W = shown.length;
  const { end, wait } = model.alloc;
  const { slotOf, held, live } = tally;
  const kinds = new Uint8Array(ids.length);
  for (let y = 0, i = 0; y < H; y++) {
    for (let c = 0; c < W; c++, i++) {
      const r = ids[i];
      const range = ranges[i];
      if (r >= 0) {
        const pending = wait !== undefined && wait[r] > 0 && shown[c] >= end[r] - wait[r];
        kinds[i] = pending ? PLACE.pending : isSlack(r, y) ? PLACE.slack : PLACE.used;
      } else if (range >= 0) {
        const stranded = live[slotOf[range] * (W + 1) + c] > 0 ? PLACE.stranded : PLACE.returnable;
        kinds[i] = held[range] ? PLACE.held : stranded;
      }
    }
  }
  return kinds;
}

/** view: shown, chosen (map rows from the top, default all by address), y0 and y1 in bytes of the
 * rows laid end to end, H, mask.  Pixel row 0 is on top.  Returns for each pixel the allocation
 * over its centre (`ids`, -1 none), the range there, what that place is (`kinds`, PLACE), and the
 * fraction of its bytes in use (`used`) and mapped (`mapped`, unless view.mapped is false). */
export function* mapWork(model, map, view) {
  const firstOf = columnsOf(view.shown);
  const pixels = pixelRows(view);
  const tops = rowTops(map, view.chosen);
  const under = paintRanges(model, map, view, pixels, tops, firstOf);
  yield;
  const tally = makeTally(model, under.ids, view.shown.length);
  const over = yield* paintAllocs(model, map, view, pixels, tops, firstOf, tally);
  const kinds = placesOf(model, view, over.ids, under.ids, tally,
    slackTest(model, map, pixels, tops));
  yield;
  const used = fractions(over, pixels);
  yield;
  return { ids: over.ids, ranges: under.ids, kinds, used,
    mapped: view.mapped === false ? null : fractions(under, pixels) };
}

function column(table, name, row, none) {
  return table && table[name] && row < table.rows ? table[name][row] : none;
}

/** One bar for each segment mapped at p, without what lies in it; mappings of one segment lie end
 * to end.  `places` are of ranges: the bar, and where in it. */
export function barsAt(model, p) {
  const { range } = model;
  const bars = new Map();
  const places = new Map();
  let last = null;
  for (const i of sortedRanges(model)) {
    if (range.born[i] > p || range.end[i] <= p) continue;
    const segment = segmentOf(model, i);
    let bar = last && isNext(model, last, i) ? last : bars.get(segment);
    if (!bar) {
      bar = { segment, base: range.base[i], bytes: 0, ranges: [], gaps: [],
        stream: column(model.segment, 'stream', segment, range.stream?.[i] ?? 0),
        pool: column(model.segment, 'pool', segment, range.pool?.[i] ?? 0),
        flags: 0, stack: column(model.segment, 'stack', segment, 0), empty: [],
        used: 0, requested: 0, pending: 0, free: 0, largest: 0, estimate: false, blocks: [] };
      bars.set(segment, bar);
    }
    last = bar;
    bar.flags |= segmentFlags(model, segment);
    const before = bar.ranges[bar.ranges.length - 1];
    if (before !== undefined && range.base[before] + range.bytes[before] !== range.base[i]) {
      bar.gaps.push(bar.bytes);
    }
    places.set(i, { bar, at: bar.bytes });
    bar.empty.push({ at: bar.bytes, size: range.bytes[i] });
    bar.ranges.push(i);
    bar.bytes += range.bytes[i];
  }
  return { bars: [...bars.values()], places };
}

/* Largest stretch of a bar without blocks; a gap between mappings ends it. */
function measureBar(bar) {
  bar.blocks.sort((a, b) => a.at - b.at || a.row - b.row);
  let [next, past] = [0, 0];
  bar.empty = bar.empty.filter((one) => {
    for (; next < bar.blocks.length && bar.blocks[next].at < one.at + one.size; next++) {
      past = Math.max(past, bar.blocks[next].at + bar.blocks[next].size);
    }
    return past <= one.at;
  });
  const stops = bar.gaps.map((at) => ({ at, size: 0 }));
  const all = [...bar.blocks, ...stops, { at: bar.bytes, size: 0 }].sort((a, b) => a.at - b.at);
  let at = 0;
  for (const stop of all) {
    bar.largest = Math.max(bar.largest, stop.at - at);
    at = Math.max(at, stop.at + stop.size);
  }
  bar.free = Math.max(0, bar.bytes - bar.used);
}

/** The bars of view State at state p, by pool, stream, address.  A block is { row, at, size,
 * pending }, offsets in the bar; `empty` are its mappings { at, size } without one.  estimate: some
 * size is only bounded. */
export function segmentsAt(model, p, find = rangeFinder(model)) {
  const { bars, places } = barsAt(model, p);
  const { born, end, wait, lane, bytes, pad, rows } = model.alloc;
  for (let r = 0; r < rows && born[r] <= p; r++) {
    if (end[r] <= p || !lane || lane[r] === NONE) continue;
    const range = find(lane[r], p);
    const place = places.get(range);
    if (!place) continue;
    const at = place.at + (lane[r] - model.range.lane[range]) * UNIT;
    const size = blockBytes(model, r);
    const pending = Boolean(wait && wait[r] > 0 && p >= end[r] - wait[r]);
    const { bar } = place;
    bar.blocks.push({ row: r, at, size, pending });
    bar.used += size;
    bar.requested += bytes[r];
    if (pending) bar.pending += size;
    if (!pad || Number.isNaN(pad[r])) bar.estimate = true;
  }
  bars.forEach(measureBar);
  return bars.sort((a, b) => a.pool - b.pool || a.stream - b.stream || a.base - b.base);
}

function eventsOfRows(model, first, last) {
  const { born, end, wait, bytes, rows } = model.alloc;
  const found = [];
  const put = (state, kind, row) => {
    if (state >= first && state <= last) found.push({ state, kind, row, bytes: bytes[row] });
  };
  for (let r = 0; r < rows && born[r] <= last; r++) {
    if (end[r] < first) continue;
    if (born[r] > 0) put(born[r], 'alloc', r);
    const waits = wait ? wait[r] : 0;
    if (waits > 0) put(end[r] - waits, 'free_requested', r);
    put(end[r], waits > 0 ? 'free_completed' : 'free', r);
  }
  return found;
}

function eventsOfTable({ event }, first, last) {
  const found = [];
  for (let i = 0; event && i < event.rows; i++) {
    const state = event.state[i];
    if (state < first || state > last) continue;
    found.push({ state, kind: EVENT_KINDS[event.kind[i]] ?? 'other', row: -1,
      bytes: known(event.arg?.[i]) });
  }
  return found;
}

/** About n events, those that lead to the states around p: { state, kind, row (-1: none), bytes },
 * in order; the event's number is state - 1.  One that changes nothing here, as a free of unknown
 * memory, has the kind other.  Where an address is given again, the older one's end comes first. */
export function eventsAround(model, p, n = 200) {
  const [from, past] = windowOf(model);
  const most = past - 1;
  // What led to the first state of a window is not here.
  const first = Math.max(from + 1, Math.min(p - Math.floor(n / 2) + 1, most - n + 1));
  const last = Math.min(most, first + n - 1);
  const found = [...eventsOfRows(model, first, last), ...eventsOfTable(model, first, last)];
  const told = new Uint8Array(Math.max(0, last - first + 1));
  for (const event of found) told[event.state - first] = 1;
  told.forEach((known, i) => {
    if (!known) found.push({ state: first + i, kind: 'other', row: -1, bytes: 0 });
  });
  return found.sort((a, b) => a.state - b.state || a.row - b.row);
}
