// draw.js - what lies over a picture: axes, lines, flags, cursor, selection.  Functions of state.
import { eventTicks, ticks } from './axis.js';
import { fitCanvas, isPrinting, pixelRatio } from './dom.js';
import { hatch } from './paint.js';

export const font = '12px system-ui, "DejaVu Sans", sans-serif';

/** The context of a canvas, made empty and as large as `width` and `height`, in CSS pixels. */
export function prepare(canvas, width, height) {
  const ratio = pixelRatio();
  const g = canvas.getContext('2d');
  // On paper a canvas is what was drawn on it, and clearing would clear what lies beneath, too.
  if (isPrinting()) canvas.width = 0;
  const fresh = fitCanvas(canvas, width, height);
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  if (!fresh) g.clearRect(0, 0, width, height);
  g.font = font;
  return g;
}

/** Places of an x range in `box` { left, top, width, height }, in CSS pixels. */
export function xScale(span, box) {
  const k = box.width / Math.max(1e-9, span.to - span.from);
  return {
    of: (value) => box.left + (value - span.from) * k,
    at: (pixel) => span.from + (pixel - box.left) / k,
    k,
  };
}

export function yScale(y, box) {
  const k = box.height / Math.max(1, y.to - y.from);
  return {
    of: (bytes) => box.top + box.height - (bytes - y.from) * k,
    at: (pixel) => y.from + (box.top + box.height - pixel) / k,
    k,
  };
}

/** Which part of a text lies at the point where it is drawn. */
export function align(g, across, along) {
  g.textAlign = across;
  g.textBaseline = along;
}

export function line(g, x1, y1, x2, y2, colour, dash) {
  g.strokeStyle = colour;
  g.setLineDash(dash || []);
  g.beginPath();
  g.moveTo(x1, y1);
  g.lineTo(x2, y2);
  g.stroke();
  g.setLineDash([]);
}

/** Text with a halo of the background, so that it reads over a picture. */
export function label(g, text, x, y, palette, colour) {
  g.lineWidth = 3;
  g.lineJoin = 'round';
  g.strokeStyle = palette.ground;
  g.strokeText(text, x, y);
  g.lineWidth = 1;
  g.fillStyle = colour || palette.text;
  g.fillText(text, x, y);
}

export function drawYAxis(g, y, box, palette) {
  const scale = yScale(y, box);
  align(g, 'right', 'middle');
  for (const tick of ticks('bytes', y.from, y.to, box.height)) {
    const at = Math.round(scale.of(tick.value)) + 0.5;
    line(g, box.left - 4, at, box.left, at, palette.control);
    g.fillStyle = palette.muted;
    // What is wider than the margin is drawn narrower: its begin tells its sign.
    g.fillText(tick.label, box.left - 6, Math.min(Math.max(at, box.top + 6), box.top + box.height),
      box.left - 7);
  }
  line(g, box.left - 0.5, box.top, box.left - 0.5, box.top + box.height, palette.control);
  if (y.from !== 0) {
    g.textAlign = 'left';
    const words = y.from < 0 ? 'axis goes below zero' : 'axis does not start at 0';
    label(g, words, box.left + 4, box.top + box.height - 8, palette);
  }
}

/** `x`: { mode, from, to }, of states or microseconds. */
export function drawXAxis(g, x, box, palette, top) {
  const scale = xScale(x, box);
  align(g, 'center', 'top');
  const late = box.left + box.width - 60;
  for (const tick of x.mode === 'time' ? ticks('time', x.from, x.to, box.width) :
    eventTicks(x.from, x.to, box.width)) {
    const at = Math.round(scale.of(tick.value)) + 0.5;
    line(g, at, top, at, top + 4, palette.control);
    g.fillStyle = palette.muted;
    if (at < late) g.fillText(tick.label, Math.max(at, box.left + 12), top + 5);
  }
  g.textAlign = 'right';
  g.fillText(x.mode === 'time' ? 'time' : 'events', box.left + box.width, top + 5);
}

/** A level across the picture: capacity, with its name at the end. */
export function drawLevel(g, bytes, y, box, name, palette, dash) {
  if (bytes === null || bytes < y.from || bytes > y.to) return;
  const at = Math.round(yScale(y, box).of(bytes)) + 0.5;
  line(g, box.left, at, box.left + box.width, at, palette.text, dash || [12, 5]);
  align(g, 'right', at < box.top + 16 ? 'top' : 'bottom');
  label(g, name, box.left + box.width - 4, at, palette);
}

export function drawCursor(g, px, box, palette) {
  if (px === null || px < box.left - 1 || px > box.left + box.width + 3) return;
  const at = Math.round(px) + 0.5;
  g.lineWidth = 3;
  line(g, at, box.top, at, box.top + box.height, palette.ground);
  g.lineWidth = 1;
  line(g, at, box.top, at, box.top + box.height, palette.text);
}

/** A selection: its ends, what lies outside a little paler; inside every colour stays its own. */
export function drawSpan(g, x1, x2, box, palette) {
  const a = Math.max(box.left, Math.min(x1, x2));
  const b = Math.min(box.left + box.width, Math.max(x1, x2));
  if (b <= a) return;
  g.save();
  g.fillStyle = palette.ground;
  g.globalAlpha = 0.3;
  g.fillRect(box.left, box.top, a - box.left, box.height);
  g.fillRect(b, box.top, box.left + box.width - b, box.height);
  g.restore();
  line(g, Math.round(a) + 0.5, box.top, Math.round(a) + 0.5, box.top + box.height, palette.focus);
  line(g, Math.round(b) - 0.5, box.top, Math.round(b) - 0.5, box.top + box.height, palette.focus);
}

/** A flag over one state: a triangle and its word. */
export function drawFlag(g, px, top, word, colour, palette, box) {
  if (px < box.left - 1 || px > box.left + box.width + 1) return;
  g.fillStyle = colour;
  g.beginPath();
  g.moveTo(px - 5, top);
  g.lineTo(px + 5, top);
  g.lineTo(px, top + 8);
  g.fill();
  if (!word) return;
  const { width } = g.measureText(word);
  const right = px + 10 + width > box.left + box.width;
  // Lines that pass behind a word would strike it out.
  g.fillStyle = palette.ground;
  g.fillRect(px + (right ? -10 - width : 6), top - 2, width + 4, 12);
  align(g, right ? 'right' : 'left', 'top');
  label(g, word, px + (right ? -8 : 8), top - 2, palette, colour);
}

/** Fields beside a recording that began before it was recorded, or that ends in the middle. */
export function drawField(g, x, box, width, word, palette) {
  hatch(g, x, box.top, width, box.height, palette.hatch);
  g.save();
  g.translate(x + width / 2, box.top + box.height / 2);
  g.rotate(-Math.PI / 2);
  align(g, 'center', 'middle');
  label(g, word, 0, 0, palette);
  g.restore();
}

/** Draws the edge of every pixel run of `id` in a picture, scaled to the box. */
export function drawOutline(g, picture, id, box, colour) {
  const { W, H, ids } = picture;
  const sx = box.width / W;
  const sy = box.height / H;
  g.fillStyle = colour;
  const thick = Math.max(1.5, sy);
  for (let y = 0; y < H; y++) {
    for (let x = 0, i = y * W; x < W; x++, i++) {
      if (ids[i] !== id) continue;
      const left = box.left + x * sx;
      const top = box.top + y * sy;
      if (y === 0 || ids[i - W] !== id) g.fillRect(left, top, sx, thick);
      if (y === H - 1 || ids[i + W] !== id) g.fillRect(left, top + sy - thick, sx, thick);
      if (x === 0 || ids[i - 1] !== id) g.fillRect(left, top, thick, sy);
      if (x === W - 1 || ids[i + 1] !== id) g.fillRect(left + sx - thick, top, thick, sy);
    }
  }
}

/** Draws the edge of a band { first, past, low, bytes } of a picture W columns wide. */
export function drawBandEdge(g, band, W, y, box, colour) {
  const scale = yScale(y, box);
  const w = box.width / W;
  g.save();
  g.beginPath();
  g.rect(box.left, box.top, box.width, box.height);
  g.clip();
  g.beginPath();
  const side = (c, more) => Math.min(box.top + box.height + 2, Math.max(box.top - 2,
    scale.of(band.low[c - band.first] + more)));
  for (let c = band.first; c < band.past; c++) {
    const top = side(c, band.bytes);
    if (c === band.first) g.moveTo(box.left + c * w, top);
    else g.lineTo(box.left + c * w, top);
    g.lineTo(box.left + (c + 1) * w, top);
  }
  for (let c = band.past - 1; c >= band.first; c--) {
    const bottom = side(c, 0);
    g.lineTo(box.left + (c + 1) * w, bottom);
    g.lineTo(box.left + c * w, bottom);
  }
  g.closePath();
  g.strokeStyle = colour;
  g.lineWidth = 1.5;
  g.stroke();
  g.restore();
}
