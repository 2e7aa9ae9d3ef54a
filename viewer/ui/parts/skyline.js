// skyline.js - draws the whole recording: curves, capacity, bands, ticks, flags, and the brush.
import { windowOf } from '../../core/memory/curves.js';
import { drawBandRow } from '../draw/bands.js';
import { align, drawFlag, drawYAxis, label, line, xScale, yScale } from '../draw/draw.js';
import { hatch } from '../draw/paint.js';
import { withoutText } from '../draw/text.js';

const margin = { left: 66, right: 118, top: 8, bottom: 34, phases: 12 };
const wide = 700;
/** What the strip says of its axis, where the plot is in time. */
export const eventsWords = 'in events';

/** Where the curves lie in a canvas; `phases`: a row of them is below. */
export function boxOf(width, height, phases) {
  const small = height < 80;
  return { left: margin.left, top: small ? 4 : margin.top, small,
    named: !small && width >= wide,
    width: Math.max(40, width - margin.left - (width < wide ? 16 : margin.right)),
    height: Math.max(20, height - (small ? 8 :
      margin.top + margin.bottom + (phases ? margin.phases : 0))) };
}

/** Pixels of states. */
export function scaleOf(cover, box) {
  return xScale({ from: 0, to: Math.max(1, cover.states) }, box);
}

function path(g, values, scale, box, stepped) {
  const n = values.length;
  g.beginPath();
  for (let c = 0; c < n; c++) {
    if (Number.isNaN(values[c])) continue;
    const x = box.left + c * box.width / n;
    const y = scale.of(values[c]);
    if (c === 0 || Number.isNaN(values[c - 1])) g.moveTo(x, y);
    else g.lineTo(x, y);
    if (stepped || c === n - 1) g.lineTo(box.left + (c + 1) * box.width / n, y);
  }
}

function drawCurves(g, cover, scale, box, palette) {
  const known = cover.requested.findIndex((v) => !Number.isNaN(v));
  const last = cover.requested.findLastIndex((v) => !Number.isNaN(v));
  const w = box.width / cover.requested.length;
  g.fillStyle = palette.free;
  path(g, cover.requested, scale, box);
  g.lineTo(box.left + (last + 1) * w, scale.of(0));
  g.lineTo(box.left + known * w, scale.of(0));
  g.fill();
  g.strokeStyle = palette.muted;
  if (cover.reserved) {
    g.setLineDash([1.5, 3]);
    path(g, cover.reserved, scale, box, true);
    g.stroke();
  }
  if (cover.active) {
    g.setLineDash([6, 3]);
    path(g, cover.active, scale, box);
    g.stroke();
  }
  g.setLineDash([1, 2]);
  if (cover.whole) {
    path(g, cover.whole, scale, box);
    g.stroke();
  }
  g.setLineDash([]);
  g.lineWidth = 1.5;
  g.strokeStyle = palette.text;
  path(g, cover.requested, scale, box);
  g.stroke();
  g.lineWidth = 1;
}

/** Names at the ends of the lines, moved apart where they would touch. */
function drawNames(g, cover, scale, box, palette) {
  const last = (list) => (list ? list[list.length - 1] : NaN);
  const names = [
    ['requested', last(cover.requested)],
    [(cover.activeExact ? '' : '~ ') + 'active', last(cover.active)],
    ['reserved', last(cover.reserved)],
    ['recorded', last(cover.whole)],
  ].filter(([, value]) => !Number.isNaN(value) && value !== undefined)
    .map(([name, value]) => ({ name, y: scale.of(value) })).sort((a, b) => a.y - b.y);
  let free = box.top + 5;
  for (const one of names) {
    one.y = Math.max(one.y, free);
    free = one.y + 13;
  }
  let under = box.top + box.height + 6;
  align(g, 'left', 'middle');
  g.fillStyle = palette.muted;
  for (const one of names.reverse()) {
    one.y = Math.min(one.y, under);
    under = one.y - 13;
    g.fillText(one.name, box.left + box.width + 9, one.y);
  }
}

/** Marks in a row, those that are in sight. */
function drawBands(g, marks, top, scale, box, palette) {
  const bands = marks.map(({ name, first, last }, i) => ({ name, i,
    a: Math.max(box.left, scale.of(first)),
    b: Math.min(box.left + box.width, scale.of(last + 1)) })).filter(({ a, b }) => b > a);
  drawBandRow(g, bands, top, box, palette);
}

function drawMarks(g, cover, scale, box, palette) {
  const top = box.top + box.height + 2;
  const outer = cover.steps.length ? cover.steps : cover.annotations ?? [];
  drawBands(g, outer, top, scale, box, palette);
  const phases = cover.phases.filter((mark) => scale.k * (mark.last - mark.first) >= 1);
  drawBands(g, phases, top + 14, scale, box, palette);
  const at = phases.length ? top + 28 : top + 16;
  for (const [state, kind] of cover.mallocs) {
    const x = Math.round(scale.of(state)) + 0.5;
    line(g, x, at, x, at + 6, kind === 1 ? palette.shrank : palette.grew);
  }
  for (const state of cover.snapshots || []) drawTick(g, scale.of(state), at, palette.focus);
  for (const state of cover.retries || []) drawTick(g, scale.of(state), at, palette.problem);
}

function drawTick(g, x, y, colour) {
  g.fillStyle = colour;
  g.fillRect(x - 1.5, y, 3, 8);
}

/** The largest value that the memory axis of the overview must hold. */
function topOf(cover, capacity) {
  let top = 1;
  for (const list of [cover.requested, cover.reserved, cover.active, cover.whole]) {
    if (list) for (const v of list) if (v > top) top = v;
  }
  return (capacity && capacity.bytes < top * 3 ? Math.max(top, capacity.bytes) : top) * 1.04;
}

function lowOf(cover) {
  let low = 0;
  for (const v of cover.requested) if (v < low) low = v;
  return low;
}

function drawBrush(g, from, to, box, palette) {
  g.fillStyle = palette.ground;
  g.globalAlpha = 0.55;
  g.fillRect(box.left, box.top, Math.max(0, from - box.left), box.height);
  g.fillRect(to, box.top, Math.max(0, box.left + box.width - to), box.height);
  g.globalAlpha = 1;
  g.strokeStyle = palette.focus;
  g.strokeRect(Math.round(from) + 0.5, box.top + 0.5, Math.max(2, Math.round(to - from) - 1),
    box.height - 1);
  g.fillStyle = palette.focus;
  for (const x of [from, to]) g.fillRect(x - 2, box.top + box.height / 2 - 9, 4, 18);
}

function drawFields(g, cover, x, box, palette) {
  const [from, past] = windowOf(cover);
  for (const [a, b] of [[0, from], [past, Math.max(1, cover.states)]]) {
    if (a < b) hatch(g, x.of(a), box.top, x.of(b) - x.of(a), box.height, palette.hatch, 8);
  }
  if (cover.startUnknown) hatch(g, box.left, box.top, 8, box.height, palette.hatch, 4);
  if (cover.cut) hatch(g, box.left + box.width - 8, box.top, 8, box.height, palette.hatch, 4);
}

function drawCapacity(g, { bytes, name }, y, b, palette) {
  const at = Math.max(b.top, Math.round(yScale(y, b).of(bytes))) + 0.5;
  const beyond = bytes > y.to;
  if (!beyond) line(g, b.left, at, b.left + b.width, at, palette.text, [12, 5]);
  align(g, 'left', 'top');
  label(g, name + (beyond ? ' \u2191' : ''), b.left + 6, at + 2, palette);
}

function drawFlags(g, cover, x, b, palette, at) {
  const flag = (p, word, colour) =>
    drawFlag(g, x.of(p + 0.5), b.top, word, colour, palette, b);
  if (cover.peak) flag(cover.peak.state, '', palette.text);
  cover.ooms.slice(0, 64).forEach((oom, i) => flag(oom.state, i ? '' : 'OOM', palette.problem));
  const px = Math.round(x.of(at + 0.5)) + 0.5;
  line(g, px, b.top, px, b.top + b.height, palette.text, [2, 2]);
}

/** Draws all of it on `g`, an empty canvas; `brush` { from, to } in states, or null. */
export function drawSkyline(g, { store, recording, look }, b, brush) {
  const cover = recording.left();
  const { without, at, x: axis } = store.get();
  const palette = look.palette();
  const capacity = recording.capacity();
  const y = { from: lowOf(cover), to: topOf(cover, capacity) };
  const x = scaleOf(cover, b);
  const scale = yScale(y, b);
  drawYAxis(g, y, b, palette);
  drawCurves(g, cover, scale, b, palette);
  if (b.named) drawNames(g, cover, scale, b, palette);
  drawFields(g, cover, x, b, palette);
  if (brush) drawBrush(g, x.of(brush.from), x.of(brush.to), b, palette);
  if (capacity) drawCapacity(g, capacity, y, b, palette);
  if (!b.small) drawMarks(g, cover, x, b, palette);
  drawFlags(g, cover, x, b, palette, at);
  if (axis.mode === 'time') {
    align(g, 'right', 'top');
    label(g, eventsWords, b.left + b.width - 4, b.top + 2, palette);
  }
  if (!without) return;
  align(g, 'left', 'top');
  label(g, withoutText(without), b.left + 6, b.top + 18, palette);
}
