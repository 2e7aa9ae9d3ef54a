// backdrop.js - what a picture of memory is drawn upon: grid, steps, reserved, sum.
import { ticks } from '../draw/axis.js';
import { drawBandRow } from '../draw/bands.js';
import { align, label, line, yScale } from '../draw/draw.js';

const bandHeight = 14;
const labelHeight = 16;
const leastBand = 4;        // pixels of a step from which on it has an edge and a name

/** The rows of bands below a plot, those of steps and phases: lists of { first, last, name }. */
function bandRows({ steps, phases, annotations }) {
  return [steps.length ? steps : annotations ?? [], phases].filter((row) => row.length);
}

export function bandsHeight(cover) {
  return bandRows(cover).length * bandHeight;
}

/** The pixels of a span of states, within the box; null where it has none. */
function pixelsOf({ box: b, pixelOf }, { first, last }) {
  const [x1, x2] = [pixelOf(first - 0.5), pixelOf(last + 0.5)];
  if (x1 === null || x2 === null) return null;
  const from = Math.max(b.left, Math.min(x1, b.left + b.width));
  const to = Math.max(b.left, Math.min(x2, b.left + b.width));
  return to > from ? [from, to] : null;
}

/** Lines at the ticks of the memory axis. */
function drawGrid({ g, y, box: b, palette }) {
  const scale = yScale(y, b);
  for (const { value } of ticks('bytes', y.from, y.to, b.height)) {
    const at = Math.round(scale.of(value)) + 0.5;
    line(g, b.left, at, b.left + b.width, at, palette.line);
  }
}

/** Every second step is shaded, and each begins at a line. */
function drawSteps(scene) {
  const { g, box: b, cover, palette } = scene;
  const [steps = []] = bandRows(cover);
  const seen = steps.map((step, i) => ({ i, at: pixelsOf(scene, step) })).filter(({ at }) => at);
  if (b.width / Math.max(1, seen.length) < leastBand) return;
  seen.forEach(({ i, at }) => {
    if (i % 2 === 0) {
      g.fillStyle = palette.raised;
      g.fillRect(at[0], b.top, at[1] - at[0], b.height);
    }
    const x = Math.round(at[0]) + 0.5;
    line(g, x, b.top, x, b.top + b.height, palette.line);
  });
}

/** The curve that was computed beforehand, until there is a picture. */
function drawFirst({ g, y, box: b, cover, palette, pixelOf }) {
  const scale = yScale(y, b);
  g.fillStyle = palette.free;
  g.beginPath();
  g.moveTo(b.left, scale.of(0));
  cover.requested.forEach((v, c) => {
    const x = pixelOf(cover.at[c]);
    if (x !== null) g.lineTo(x, scale.of(v));
  });
  g.lineTo(b.left + b.width, scale.of(0));
  g.fill();
}

/** `scene`: { g, y, box, cover, palette, state, pixelOf(state), picture or null }. */
export function drawBackdrop(scene) {
  drawSteps(scene);
  drawGrid(scene);
  if (!scene.picture && scene.state.x.mode === 'events') drawFirst(scene);
}

/** A line through the values of columns, stepped; none where a value is not a number. */
function trace(g, values, box, scale) {
  const w = box.width / values.length;
  g.beginPath();
  values.forEach((v, c) => {
    if (Number.isNaN(v)) return;
    const at = Math.max(box.top, scale.of(v));
    if (c === 0 || Number.isNaN(values[c - 1])) g.moveTo(box.left + c * w, at);
    else g.lineTo(box.left + c * w, at);
    g.lineTo(box.left + (c + 1) * w, at);
  });
  g.stroke();
}

/** Reserved bytes by column: the picture's, or those of the cover where all of it is in sight. */
function reservedOf({ picture, cover, state }) {
  if (picture.reserved) return picture.reserved;
  const { mode, from, to } = state.x;
  return mode === 'events' && from <= 0 && to >= cover.states ? cover.reserved : null;
}

/** Above the line, or below it where the plot has no room above. */
function nameReserved({ g, y, box: b, palette }, values, scale) {
  const c = Math.floor(values.length * 0.62);
  if (!(values[c] > 0)) return;
  const x = b.left + c * b.width / values.length;
  const at = Math.max(b.top, scale.of(values[c]));
  const isBelow = at < b.top + labelHeight;
  align(g, 'center', isBelow ? 'top' : 'bottom');
  label(g, values[c] > y.to ? 'reserved \u2191' : 'reserved', x, at + (isBelow ? 2 : -2), palette,
    palette.muted);
}

/** The reserved bytes, dotted, and the edge of what is in use. */
export function drawEdges(scene) {
  const { g, y, box: b, picture, state, palette } = scene;
  const scale = yScale(y, b);
  const reserved = state.only ? null : reservedOf(scene);
  g.save();
  g.beginPath();
  g.rect(b.left, b.top - 1, b.width, b.height + 1);
  g.clip();
  g.strokeStyle = palette.text;
  g.globalAlpha = 0.55;
  if (picture.sums) trace(g, Array.from(picture.sums), b, scale);
  g.globalAlpha = 1;
  if (reserved) {
    g.strokeStyle = palette.muted;
    g.setLineDash([1.5, 2.5]);
    trace(g, Array.from(reserved), b, scale);
    g.setLineDash([]);
  }
  g.restore();
  if (reserved) nameReserved(scene, reserved, scale);
}

/** The step or phase whose name lies at a point, below `top`; undefined: none. */
export function bandAt(scene, top, px, py) {
  const row = bandRows(scene.cover)[Math.floor((py - top) / bandHeight)] ?? [];
  return row.find((mark) => {
    const at = pixelsOf(scene, mark);
    return at && px >= at[0] && px < at[1];
  });
}

/** Where the device was asked for memory and given some back, a failed request was tried again, and
 * a snapshot was taken, below the axis. */
export function drawTicks({ g, box: b, cover, palette, pixelOf }) {
  const tick = (state, width, height, colour) => {
    const x = pixelOf(state);
    if (x === null || x < b.left || x > b.left + b.width) return;
    g.fillStyle = colour;
    g.fillRect(x - width / 2, b.top + b.height + 1, width, height);
  };
  for (const [state, kind] of cover.mallocs) {
    tick(state, 1, 4, kind === 1 ? palette.shrank : palette.grew);
  }
  for (const state of cover.snapshots ?? []) tick(state, 3, 6, palette.focus);
  for (const state of cover.retries ?? []) tick(state, 3, 6, palette.problem);
}

/** Steps and phases by name in rows below `top`. */
export function drawBands(scene, top) {
  const { g, box, cover, palette } = scene;
  bandRows(cover).forEach((row, k) => {
    const bands = row.flatMap(({ name, ...mark }, i) => {
      const [a, b] = pixelsOf(scene, mark) ?? [0, 0];
      // Phases that are too narrow for a pixel would only blacken the row.
      return b > a && (row === cover.steps || b - a >= 1) ? [{ name, i, a, b }] : [];
    });
    drawBandRow(g, bands, top + k * bandHeight, box, palette);
  });
}
