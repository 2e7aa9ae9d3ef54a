// raster.js - the stack of allocations as pixels: which one a pixel shows, exactly; group sums.
//
// A picture has W columns, each showing one state (`shown`, ascending), and H pixel rows, row 0 on
// top as in ImageData.  Sums are integers below 2^53, so taking several rows together changes
// nothing: the picture in blocks equals the plain one in every pixel.

import { adjustAt } from './curves.js';
import { strides } from '../model/slices.js';
import { columnsOf } from '../model/intervals.js';

// Neighbours in stack order that are laid together; 8 and 32 were within 1.4 times.
const BLOCK = 16;
// Rows laid from one standstill to the next: whole blocks.
const TOGETHER = 64 * BLOCK;

function scaleOf({ y0, y1, H }) {
  return { y0, k: y1 > y0 ? H / (y1 - y0) : 0, H };
}

/* Pixel rows from the bottom that lie below a sum: floor(sum * k + 1/2), within the picture. */
function edgeAt(sum, scale) {
  const y = (sum - scale.y0) * scale.k + 0.5;
  return y <= 0 ? 0 : y >= scale.H ? scale.H : Math.floor(y);
}

/* A sum below which the edge is surely not above `edge`: less than the exact one by more than what
 * rounding can do, so that most sums need only be compared. */
function boundAbove(edge, scale) {
  if (edge >= scale.H || scale.k === 0) return Infinity;
  const bytes = (edge + 0.5) / scale.k;
  return scale.y0 + bytes - 1 - (Math.abs(scale.y0) + bytes) * 4e-15;
}

/* The visible rows in stack order, with the columns [first, past) in which each is live. */
function* visible(model, { shown, order, mask }) {
  const { born, end, rows } = model.alloc;
  const W = shown.length;
  const firstOf = columnsOf(shown);
  const v0 = W ? shown[0] : 0;
  const v1 = W ? shown[W - 1] : 0;
  const total = order ? order.length : W ? rows : 0;
  const id = new Uint32Array(total);
  const first = new Uint16Array(total);
  const past = new Uint16Array(total);
  let n = 0;
  let c1 = 0;
  yield* strides(total, (from, to) => {
    for (let i = from; i < to; i++) {
      const r = order ? order[i] : i;
      if (end[r] <= v0) continue;
      if (born[r] > v1) {
        if (order) continue;
        break;
      }
      if (mask && !mask[r]) continue;
      if (order) c1 = firstOf(born[r]);
      else while (shown[c1] < born[r]) c1++;
      if (end[r] <= shown[c1]) continue;
      id[n] = r;
      first[n] = c1;
      past[n++] = firstOf(end[r]);
    }
  });
  return { id, first, past, n };
}

function startSums(model, { shown, bare }) {
  return Float64Array.from(shown, (p) => (bare ? 0 : adjustAt(model, p)));
}

function fillColumn(ids, W, H, c, from, to, id) {
  for (let y = from; y < to; y++) ids[(H - 1 - y) * W + c] = id;
}

/* A block of rows in stack order, close together: first and last column, bytes, row. */
function makeBlock() {
  return { n: 0, first: new Int32Array(BLOCK), past: new Int32Array(BLOCK),
    bytes: new Float64Array(BLOCK), id: new Int32Array(BLOCK) };
}

/* Takes the next rows of `seen` and adds their changes to `change`; the columns they reach. */
function takeBlock(block, seen, from, bytes, change) {
  block.n = Math.min(BLOCK, seen.n - from);
  let low = seen.first[from];
  let high = seen.past[from];
  for (let i = 0; i < block.n; i++) {
    const c1 = seen.first[from + i];
    const c2 = seen.past[from + i];
    const id = seen.id[from + i];
    if (c1 < low) low = c1;
    if (c2 > high) high = c2;
    change[c1] += bytes[id];
    change[c2] -= bytes[id];
    block.first[i] = c1;
    block.past[i] = c2;
    block.bytes[i] = bytes[id];
    block.id[i] = id;
  }
  return [low, high];
}

/* Lays the rows of a block one by one in column `c`, whose sum before them is `sum`. */
function resolve(picture, block, c, sum, scale) {
  const { ids, W, edges, bounds } = picture;
  const { n, first, past, bytes, id } = block;
  let edge = edges[c];
  let bound = bounds[c];
  for (let i = 0; i < n; i++) {
    if (c < first[i] || c >= past[i]) continue;
    sum += bytes[i];
    if (sum < bound) continue;
    const next = edgeAt(sum, scale);
    if (next > edge) fillColumn(ids, W, scale.H, c, edge, next, id[i]);
    edge = next;
    bound = boundAbove(edge, scale);
  }
  edges[c] = edge;
  bounds[c] = bound;
}

/* Adds a block to the sums; only where they may pass a pixel is it resolved. */
function layBlock(picture, block, low, high, scale) {
  const { sums, bounds, change } = picture;
  let run = 0;
  for (let c = low; c < high; c++) {
    run += change[c];
    change[c] = 0;
    if (run === 0) continue;
    const before = sums[c];
    const sum = before + run;
    sums[c] = sum;
    if (sum >= bounds[c]) resolve(picture, block, c, before, scale);
  }
  change[high] = 0;
}

/** view: shown Uint32Array(W) of states, order (rows in stack order, default as they are), mask (1
 * for the rows that take part), bare (nothing unattributed lies beneath), y0 and y1 in bytes, H.
 * Returns ids (W * H rows of alloc, -1 none), the sum of each column, and how many rows are live
 * in a drawn state. */
export function* stackWork(model, view) {
  const W = view.shown.length;
  const scale = scaleOf(view);
  const seen = yield* visible(model, view);
  const sums = startSums(model, view);
  const edges = Int32Array.from(sums, (sum) => edgeAt(sum, scale));
  const picture = {
    ids: new Int32Array(W * view.H).fill(-1),
    sums,
    edges,
    bounds: Float64Array.from(edges, (edge) => boundAbove(edge, scale)),
    change: new Float64Array(W + 1),
    W,
  };
  const block = makeBlock();
  yield* strides(seen.n, (first, past) => {
    for (let from = first; from < past; from += BLOCK) {
      const [low, high] = takeBlock(block, seen, from, model.alloc.bytes, picture.change);
      layBlock(picture, block, low, high, scale);
    }
  }, TOGETHER);
  return { ids: picture.ids, sums, drawn: seen.n };
}

/**
 * Where a row lies in the picture of `view`: its columns [first, past) and what lies beneath it in
 * each, `low`, so that it can be outlined where it has no pixel; null where it is not in sight.
 */
export function* bandWork(model, view, id) {
  const seen = yield* visible(model, view);
  const { bytes } = model.alloc;
  let at = 0;
  while (at < seen.n && seen.id[at] !== id) at++;
  if (at === seen.n) return null;
  const [first, past] = [seen.first[at], seen.past[at]];
  const low = startSums(model, view).subarray(first, past);
  const change = new Float64Array(past - first + 1);
  yield* strides(at, (from, to) => {
    for (let i = from; i < to; i++) {
      const a = Math.max(seen.first[i], first);
      const b = Math.min(seen.past[i], past);
      if (a >= b) continue;
      change[a - first] += bytes[seen.id[i]];
      change[b - first] -= bytes[seen.id[i]];
    }
  });
  for (let c = 0, sum = 0; c < low.length; c++) {
    sum += change[c];
    low[c] += sum;
  }
  return { id, first, past, low, bytes: bytes[id] };
}

/** Bytes of each group in each column, Float64Array(groups * W), group by group. */
export function* groupSumsWork(model, { shown, groupOf, groups, mask }) {
  const { bytes } = model.alloc;
  const W = shown.length;
  const sums = new Float64Array(groups * W);
  const seen = yield* visible(model, { shown, mask });
  yield* strides(seen.n, (from, to) => {
    for (let i = from; i < to; i++) {
      const r = seen.id[i];
      const at = groupOf[r] * W;
      sums[at + seen.first[i]] += bytes[r];
      if (seen.past[i] < W) sums[at + seen.past[i]] -= bytes[r];
    }
  });
  for (let g = 0; g < groups; g++) {
    let run = 0;
    for (let at = g * W; at < (g + 1) * W; at++) {
      run += sums[at];
      sums[at] = run;
    }
  }
  return sums;
}

/** One band per group: ids are groups.  `bands` orders them from the bottom, default 0, 1, … */
export function* groupsWork(model, view) {
  const { shown, groups, bands, H } = view;
  const W = shown.length;
  const scale = scaleOf(view);
  const parts = yield* groupSumsWork(model, view);
  const sums = startSums(model, view);
  const ids = new Int32Array(W * H).fill(-1);
  for (let i = 0; i < groups; i++) {
    const g = bands ? bands[i] : i;
    yield;
    for (let c = 0; c < W; c++) {
      const part = parts[g * W + c];
      if (part === 0) continue;
      const from = edgeAt(sums[c], scale);
      sums[c] += part;
      fillColumn(ids, W, H, c, from, edgeAt(sums[c], scale), g);
    }
  }
  return { ids, sums, parts };
}
