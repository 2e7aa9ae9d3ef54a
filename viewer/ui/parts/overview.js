// overview.js - the strip above a view that is zoomed: the whole recording, and the brush on it.
import { windowOf } from '../../core/memory/curves.js';
import { el, perFrame } from '../draw/dom.js';
import { prepare } from '../draw/draw.js';
import { boxOf, drawSkyline, eventsWords, scaleOf } from './skyline.js';

const edge = 6;
const slop = 3;
const alone = [1200, 240];
const cursors = { move: 'grab', new: 'crosshair' };

/** The shown state of the column that holds state `p`. */
function shownIn({ at, states }, p) {
  return at[Math.min(at.length - 1, Math.max(0, Math.floor(p * at.length / states)))];
}

/** The states that are in sight; null in time, until the picture says which. */
function brushOf({ store, stage }) {
  const { x } = store.get();
  return x.mode === 'events' ? x : stage.span();
}

/** Whether all of the recording is in sight, so that the strip would say nothing more. */
function isWhole({ store, recording }) {
  const { mode, from, to } = store.get().x;
  const cover = recording.cover();
  const [first, past] = mode === 'time' ? cover.time ?? [0, 0] : windowOf(cover);
  return from <= first && to >= past && past - first >= cover.states - 1;
}

function draw(strip) {
  const { host, canvas, recording, store } = strip;
  host.hidden = isWhole(strip);
  const { clientWidth, clientHeight } = host;
  // Before there is a cover there is nothing to draw an axis for.
  if (!recording.cover().ops.length || !clientWidth) return;
  canvas.setAttribute('aria-label', 'Memory over the whole recording' +
    (store.get().x.mode === 'time' ? `, ${eventsWords}` : ''));
  drawSkyline(prepare(canvas, clientWidth, clientHeight), strip, strip.box(), brushOf(strip));
}

/** What a drag from a pixel does: move the brush, one of its edges, or draw a new one. */
function partAt(strip, px) {
  const brush = brushOf(strip);
  if (!brush) return 'new';
  const x = strip.scale();
  const [a, b] = [x.of(brush.from), x.of(brush.to)];
  if (Math.abs(px - a) <= edge) return 'left';
  if (Math.abs(px - b) <= edge) return 'right';
  const [from, past] = windowOf(strip.recording.cover());
  const whole = brush.to - brush.from >= past - from;
  return px > a && px < b && !whole ? 'move' : 'new';
}

function flagAt({ recording, box, scale }, px, py) {
  if (py > box().top + 14) return null;
  const x = scale();
  return recording.cover().ooms.find((oom) => Math.abs(x.of(oom.state + 0.5) - px) < 9) || null;
}

function down(strip, event) {
  const { canvas, travel } = strip;
  if (event.button !== 0) return;
  const px = event.offsetX;
  const flag = flagAt(strip, px, event.offsetY);
  if (flag) {
    travel.showOom(flag);
    return;
  }
  strip.drag = { what: partAt(strip, px), start: strip.scale().at(px), px,
    brush: { ...(brushOf(strip) || { from: 0, to: 1 }) }, moved: false };
  canvas.setPointerCapture(event.pointerId);
}

/** The brush, dragged to state `at`. */
function dragged({ what, brush, start }, at) {
  if (what === 'move') return { from: brush.from + at - start, to: brush.to + at - start };
  if (what === 'left') return { from: Math.min(at, brush.to - 1), to: brush.to };
  if (what === 'right') return { from: brush.from, to: Math.max(at, brush.from + 1) };
  return { from: Math.min(start, at), to: Math.max(start, at) };
}

function move(strip, event) {
  const { store, canvas, drag } = strip;
  const px = event.offsetX;
  if (!drag) {
    canvas.style.setProperty('cursor', cursors[partAt(strip, px)] || 'ew-resize');
    return;
  }
  if (!drag.moved && Math.abs(px - drag.px) < slop) return;
  const x = { mode: 'events', ...dragged(drag, strip.scale().at(px)) };
  if (drag.moved) store.move({ x });
  else store.jump({ x });
  drag.moved = true;
}

function up(strip) {
  const { recording, travel, drag } = strip;
  strip.drag = null;
  if (!drag || drag.moved) return;
  travel.setCursor(shownIn(recording.cover(), Math.floor(drag.start)));
}

export function createOverview(host, { store, recording, look, stage, travel }) {
  const canvas = el('canvas', { role: 'img', 'aria-label': 'Memory over the whole recording' });
  host.append(canvas);
  const strip = {
    host, canvas, store, recording, look, stage, travel, drag: null,
    box: () => boxOf(host.clientWidth, host.clientHeight, recording.cover().phases.length > 0),
    scale: () => scaleOf(recording.cover(), strip.box()),
  };
  const hear = (type, f) => canvas.addEventListener(type, (event) => f(strip, event));
  hear('pointerdown', down);
  hear('pointermove', move);
  hear('pointerup', up);
  hear('pointercancel', () => { strip.drag = null; });
  hear('dblclick', () => travel.wholeX());
  new ResizeObserver(() => draw(strip)).observe(host);
  const redraw = () => draw(strip);
  // Alone it has room for more than where it is a strip.
  const [width, height] = alone;
  return { draw: perFrame(redraw), redraw, drawing: () => ({ width, height, draw: (g) =>
    drawSkyline(g, strip, boxOf(width, height, recording.cover().phases.length > 0), null) }) };
}
