// gesture.js - mouse, pen, wheel and fingers on a plot, turned into actions of the store.
import { xScale, yScale } from '../draw/draw.js';
import { panned, zoomed, zoomedY } from '../state/span.js';

const slop = 4;
const longPress = 500;
const oneGesture = 600;

/** Pixels of a wheel event, whatever unit it came in. */
export function wheelPixels(delta, mode) {
  return delta * (mode === 1 ? 16 : mode === 2 ? 400 : 1);
}

/** The zoom of one wheel event: `exp(-pixels * 0.0015)`, at most 1.5 either way. */
export function wheelFactor(pixels) {
  return Math.min(1.5, Math.max(1 / 1.5, Math.exp(-pixels * 0.0015)));
}

/** The hand on one plot: fingers down, the drag they make, and when the history last grew. */
function createHand(target, plot, { store, recording, pointer, travel, settings }) {
  return { target, plot, store, recording, pointer, travel, settings, fingers: new Map(),
    drag: null, timer: 0, jumped: 0 };
}

function placeOf({ target }, event) {
  const rect = target.getBoundingClientRect();
  return [event.clientX - rect.left, event.clientY - rect.top];
}

/** A run of wheel events or one drag is one entry of the history. */
function change(hand, part) {
  const { store } = hand;
  const now = Date.now();
  if (now - hand.jumped > oneGesture) store.jump(part);
  else store.move(part);
  hand.jumped = now;
}

function pan(hand, dx, dy, start) {
  const b = hand.plot.box();
  const { x } = hand.store.get();
  const share = -dx / b.width;
  const size = start.x.to - start.x.from;
  const next = { x: { ...x, from: start.x.from + share * size, to: start.x.to + share * size } };
  if (start.y && Math.abs(dy) > slop) {
    const by = dy / b.height * (start.y.to - start.y.from);
    next.y = { from: start.y.from + by, to: start.y.to + by };
  }
  change(hand, next);
}

/** Zooms the events `x` by a factor about a pixel. */
function zoomX(hand, x, factor, px) {
  const middle = xScale(x, hand.plot.box()).at(px);
  change(hand, { x: zoomed(x, factor, middle, hand.store.limits()) });
}

function zoomY(hand, factor, py) {
  const y = hand.plot.yNow();
  const middle = yScale(y, hand.plot.box()).at(py);
  change(hand, { y: zoomedY(y, factor, middle, hand.recording.lowest()) });
}

function wheel(hand, event) {
  event.preventDefault();
  const { store, plot, settings } = hand;
  const [px, py] = placeOf(hand, event);
  const across = wheelPixels(event.deltaX, event.deltaMode);
  const along = wheelPixels(event.deltaY, event.deltaMode);
  const sideways = Math.abs(across) > Math.abs(along);
  const { x } = store.get();
  if (event.altKey) zoomY(hand, wheelFactor(along), py);
  else if (event.shiftKey || sideways || (settings.wheelPans && !event.ctrlKey && !event.metaKey)) {
    const by = (sideways ? across : along) / plot.box().width;
    change(hand, { x: panned(x, by, store.limits()) });
  } else zoomX(hand, x, wheelFactor(along), px);
}

function down(hand, event) {
  const { target, fingers } = hand;
  const { x, y } = hand.store.get();
  const { button } = event;
  const at = placeOf(hand, event);
  fingers.set(event.pointerId, at);
  target.setPointerCapture(event.pointerId);
  if (button === 1) event.preventDefault();
  clearTimeout(hand.timer);
  if (fingers.size === 2) {
    hand.drag = { what: 'pinch', pair: [...fingers.values()], moved: true, start: { x } };
    return;
  }
  const touch = event.pointerType === 'touch';
  const drag = { at, what: button === 1 || event.shiftKey || touch ? 'pan' : 'select',
    moved: false, start: { x, y: y.to === null ? null : y }, button };
  hand.drag = drag;
  if (touch) {
    hand.timer = setTimeout(() => { if (!drag.moved) drag.what = 'select'; }, longPress);
  }
}

function pinch(hand) {
  const [a, b] = [...hand.fingers.values()];
  const [c, d] = hand.drag.pair;
  const before = Math.max(20, Math.abs(c[0] - d[0]));
  const now = Math.max(20, Math.abs(a[0] - b[0]));
  zoomX(hand, hand.drag.start.x, now / before, (c[0] + d[0]) / 2);
}

function move(hand, event) {
  const { pointer, plot, drag, fingers } = hand;
  const at = placeOf(hand, event);
  if (fingers.has(event.pointerId)) fingers.set(event.pointerId, at);
  if (!drag) {
    pointer.hovered(plot, plot.at(at[0], at[1]));
    return;
  }
  if (drag.what === 'pinch') {
    if (fingers.size === 2) pinch(hand);
    return;
  }
  const [dx, dy] = [at[0] - drag.at[0], at[1] - drag.at[1]];
  if (!drag.moved && Math.abs(dx) + Math.abs(dy) < slop) return;
  drag.moved = true;
  if (drag.what === 'pan') pan(hand, dx, dy, drag.start);
  else plot.selecting([drag.at[0], at[0]]);
}

function stateAt({ store, plot }, px) {
  const b = plot.box();
  const inside = Math.min(Math.max(px, b.left), b.left + b.width - 1);
  const { x, at } = store.get();
  if (x.mode === 'events') return Math.floor(xScale(x, b).at(inside));
  const found = plot.at(inside, b.top);
  return found ? found.state : at;
}

function up(hand, event) {
  const { store, pointer, plot, drag, fingers } = hand;
  clearTimeout(hand.timer);
  fingers.delete(event.pointerId);
  if (!fingers.size) hand.drag = null;
  if (!drag || drag.what === 'pinch') return;
  const at = placeOf(hand, event);
  plot.selecting(null);
  if (drag.what === 'select' && drag.moved) {
    store.jump({ range: { a: stateAt(hand, drag.at[0]), b: stateAt(hand, at[0]) } });
  } else if (!drag.moved && drag.button === 0) {
    const mark = plot.markAt(at[0], at[1]);
    if (mark) chooseMark(hand, mark, event.shiftKey);
    else pointer.clicked(plot, plot.at(at[0], at[1]));
  }
  // A drag ends over another moment than it began; a finger is not over any.
  if (drag.moved && event.pointerType !== 'touch') pointer.hovered(plot, plot.at(at[0], at[1]));
}

/** A click on a step is its start; with Shift, what changed from the cursor to it. */
function chooseMark({ store }, { first }, shift) {
  store.jump(shift ? { range: { a: store.get().at, b: first } } : { at: first, range: null });
}

function cancel(hand, event) {
  clearTimeout(hand.timer);
  hand.fingers.delete(event.pointerId);
  hand.drag = null;
  hand.plot.selecting(null);
}

function double(hand, event) {
  const { store, travel, plot } = hand;
  const [px, py] = placeOf(hand, event);
  const b = plot.box();
  const mark = plot.markAt(px, py);
  if (mark) store.jump({ x: { mode: 'events', from: mark.first, to: mark.last + 1 } });
  else if (px < b.left) store.jump({ y: { from: 0, to: null } });
  else if (py > b.top + b.height) travel.wholeX();
  else travel.zoomToLife(plot.at(px, py));
}

/** `page`: { store, recording, pointer, travel, settings }. */
export function gestures(target, plot, page) {
  const hand = createHand(target, plot, page);
  const hear = (type, f) => target.addEventListener(type, (event) => f(hand, event));
  target.addEventListener('wheel', (event) => wheel(hand, event), { passive: false });
  hear('pointerdown', down);
  hear('pointermove', move);
  hear('pointerup', up);
  hear('pointercancel', cancel);
  hear('pointerleave', () => { if (!hand.drag) page.pointer.hovered(plot, null); });
  hear('dblclick', double);
}
