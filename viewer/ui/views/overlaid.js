// overlaid.js - draws the curves of steps over one another, each from its start on.
import { bytes } from '../../core/model/human.js';
import { ticks } from '../draw/axis.js';
import { align, drawLevel, drawYAxis, label, line, yScale } from '../draw/draw.js';
import { shortened } from '../draw/text.js';

const near = 14;
const labelHeight = 14;

/** Where the curves lie in a canvas. */
export function boxOf(width, height) {
  return { left: 66, top: 12, width: Math.max(40, width - 80), height: Math.max(20, height - 36) };
}

/** The colour of a step: of what failed, of what stands out, of all others. */
export function colourOf({ steps, outlier }, i, palette) {
  if (steps[i].oom) return palette.problem;
  return outlier?.step === i ? palette.match : palette.muted;
}

/** The memory axis: all curves, and the capacity where it is not far above them. */
export function axisOf({ steps }, capacity) {
  let [from, to] = [0, 1];
  for (const { curve } of steps) {
    for (const v of curve) {
      if (v > to) to = v;
      if (v < from) from = v;
    }
  }
  return { from, to: (capacity && capacity.bytes < to * 1.5 ? Math.max(to, capacity.bytes) : to) *
    1.1 };
}

/** The step whose curve passes nearest to a point, and near enough; -1: none. */
export function stepNear({ steps, columns }, y, box, px, py) {
  const scale = yScale(y, box);
  const c = Math.floor((px - box.left) / box.width * columns);
  let [found, least] = [-1, near];
  steps.forEach(({ curve }, i) => {
    if (!curve.length) return;
    const part = curve.subarray(Math.max(0, c - 1), c + 2);
    if (c < 0 || c >= columns || part.length === 0) return;
    const [low, high] = [Math.min(...part), Math.max(...part)].map(scale.of);
    const far = Math.max(0, high - py, py - low);
    // Of several that pass through the point, the one whose own column is nearest.
    const exact = far + Math.abs(scale.of(part[part.length >> 1]) - py) / 1e4;
    if (exact < least) [found, least] = [i, exact];
  });
  return found;
}

function drawAxes(g, { length, timed }, y, box, palette) {
  const scale = yScale(y, box);
  for (const { value } of ticks('bytes', y.from, y.to, box.height)) {
    const at = Math.round(scale.of(value)) + 0.5;
    line(g, box.left, at, box.left + box.width, at, palette.line);
  }
  drawYAxis(g, y, box, palette);
  const bottom = box.top + box.height;
  align(g, 'center', 'top');
  for (const { value, label: text } of ticks(timed ? 'time' : 'count', 0, length, box.width)) {
    const at = Math.round(box.left + value * box.width / length) + 0.5;
    line(g, at, box.top, at, bottom, palette.line);
    g.fillStyle = palette.muted;
    if (at < box.left + box.width - 70) g.fillText(text, at, bottom + 5);
  }
  g.textAlign = 'right';
  g.fillText(timed ? 'time' : 'events', box.left + box.width, bottom + 5);
}

function drawCurve(g, curve, columns, scale, box, colour, width) {
  g.strokeStyle = colour;
  g.lineWidth = width;
  g.beginPath();
  for (let c = 0; c < curve.length; c++) {
    const y = scale.of(curve[c]);
    if (c === 0) g.moveTo(box.left, y);
    else g.lineTo(box.left + c * box.width / columns, y);
    g.lineTo(box.left + (c + 1) * box.width / columns, y);
  }
  g.stroke();
  g.lineWidth = 1;
}

/* Names of steps at their peaks, moved down where they would touch. */
function drawLabels(g, { steps, columns }, named, scale, box, palette) {
  const list = named.map(({ i, name, colour }) => {
    const { curve, peak } = steps[i];
    const c = Math.max(0, curve.indexOf(peak));
    return { text: `${name} ${bytes(peak)}`, colour, y: scale.of(peak) - 9,
      x: box.left + (c + 0.5) * box.width / columns };
  }).sort((a, b) => a.y - b.y);
  let free = box.top + 2;
  for (const { text, colour, x, y } of list) {
    const at = Math.max(free, y);
    free = at + labelHeight;
    const right = x + g.measureText(text).width + 8 > box.left + box.width;
    align(g, right ? 'right' : 'left', 'middle');
    label(g, text, x + (right ? -6 : 6), at, palette, colour);
  }
}

/** Axes, capacity, and all curves, thin and faint. */
export function drawAll(g, answer, { y, box, palette, capacity }) {
  drawAxes(g, answer, y, box, palette);
  if (capacity) drawLevel(g, capacity.bytes, y, box, capacity.name, palette);
  const scale = yScale(y, box);
  g.globalAlpha = 0.55;
  for (const { curve } of answer.steps) {
    if (curve.length) drawCurve(g, curve, answer.columns, scale, box, palette.muted, 1);
  }
  g.globalAlpha = 1;
}

/**
 * Over them, with their names, what failed, what stands out, those with `tags`, a Map of words (A,
 * B) by step, and last the step `current` that is looked at, or -1.
 */
export function drawLoud(g, answer, { y, box, palette, current, tags }) {
  const { steps, columns, outlier } = answer;
  const scale = yScale(y, box);
  const isNamed = (i) => steps[i].oom || outlier?.step === i;
  const loud = [...steps.keys()].filter((i) => i !== current && (tags.has(i) || isNamed(i)));
  if (current >= 0) loud.push(current);
  const named = loud.map((i) => ({ i, name: [tags.get(i), shortened(steps[i].name, 24)]
    .filter(Boolean).join(' '),
  colour: isNamed(i) ? colourOf(answer, i, palette) : palette.text }));
  for (const { i, colour } of named) {
    drawCurve(g, steps[i].curve, columns, scale, box, colour, i === current ? 2.5 : 2);
  }
  drawLabels(g, answer, named, scale, box, palette);
}
