// gesture.js - mouse, pen, wheel and fingers on a plot, turned into actions of the store.
import { xScale, yScale } from './draw.js';
import { panned, zoomed } from './store.js';

const slop = 4;
const longPress = 500;

/** Pixels of a wheel event, whatever unit it came in. */
export function wheelPixels(delta, mode) {
  return delta * (mode === 1 ? 16 : mode === 2 ? 400 : 1);
}

/** The zoom of one wheel event: `exp(-pixels * 0.0015)`, at most 1.5 either way. */
export function wheelFactor(pixels) {
  return Math.min(1.5, Math.max(1 / 1.5, Math.exp(-pixels * 0.0015)));
}

export function gestures(target, plot, ctx) {
  const fingers = new Map();
  let drag = null;
  let timer = 0;
  let jumped = 0;

  const place = (event) => {
    const rect = target.getBoundingClientRect();
    return [event.clientX - rect.left, event.clientY - rect.top];
  };

  // A run of wheel events or one drag is one entry of the history.
  function change(part) {
    const now = Date.now();
    if (now - jumped > 600) ctx.store.jump(part);
    else ctx.store.move(part);
    jumped = now;
  }

  function pan(dx, dy, start) {
    const b = plot.box();
    const { x } = ctx.store.get();
    const share = -dx / b.width;
    const size = start.x.to - start.x.from;
    const next = { x: { ...x, from: start.x.from + share * size, to: start.x.to + share * size } };
    if (start.y && Math.abs(dy) > slop) {
      const by = dy / b.height * (start.y.to - start.y.from);
      next.y = { from: start.y.from + by, to: start.y.to + by };
    }
    change(next);
  }

  function zoomX(factor, px) {
    const { x } = ctx.store.get();
    change({ x: zoomed(x, factor, xScale(x, plot.box()).at(px), ctx.store.limits()) });
  }

  function zoomY(factor, py) {
    const y = plot.yNow();
    const middle = yScale(y, plot.box()).at(py);
    change({ y: { from: Math.max(ctx.lowest(), middle - (middle - y.from) / factor),
      to: middle + (y.to - middle) / factor } });
  }

  function wheel(event) {
    event.preventDefault();
    const [px, py] = place(event);
    const across = wheelPixels(event.deltaX, event.deltaMode);
    const along = wheelPixels(event.deltaY, event.deltaMode);
    const pans = event.shiftKey || (ctx.wheelPans() && !event.ctrlKey && !event.metaKey &&
      !event.altKey);
    if (event.altKey) zoomY(wheelFactor(along), py);
    else if (pans || Math.abs(across) > Math.abs(along)) {
      const by = (Math.abs(across) > Math.abs(along) ? across : along) / plot.box().width;
      change({ x: panned(ctx.store.get().x, by, ctx.store.limits()) });
    } else zoomX(wheelFactor(along), px);
  }

  function down(event) {
    const at = place(event);
    fingers.set(event.pointerId, at);
    target.setPointerCapture(event.pointerId);
    if (event.button === 1) event.preventDefault();
    clearTimeout(timer);
    const { x, y } = ctx.store.get();
    const touch = event.pointerType === 'touch';
    drag = { at, what: event.button === 1 || event.shiftKey || touch ? 'pan' : 'select',
      moved: false,
      start: { x, y: y.to === null ? null : y }, button: event.button };
    if (fingers.size === 2) drag = { what: 'pinch', pair: [...fingers.values()], moved: true,
      start: { x } };
    else if (touch) timer = setTimeout(() => { if (drag && !drag.moved) drag.what = 'select'; },
      longPress);
  }

  function pinch() {
    const [a, b] = [...fingers.values()];
    const [c, d] = drag.pair;
    const before = Math.max(20, Math.abs(c[0] - d[0]));
    const now = Math.max(20, Math.abs(a[0] - b[0]));
    const middle = xScale(drag.start.x, plot.box()).at((c[0] + d[0]) / 2);
    change({ x: zoomed(drag.start.x, now / before, middle, ctx.store.limits()) });
  }

  function move(event) {
    const at = place(event);
    if (fingers.has(event.pointerId)) fingers.set(event.pointerId, at);
    if (!drag) {
      ctx.hovered(plot, plot.at(at[0], at[1]));
      return;
    }
    if (drag.what === 'pinch') {
      if (fingers.size === 2) pinch();
      return;
    }
    const [dx, dy] = [at[0] - drag.at[0], at[1] - drag.at[1]];
    if (!drag.moved && Math.abs(dx) + Math.abs(dy) < slop) return;
    drag.moved = true;
    if (drag.what === 'pan') pan(dx, dy, drag.start);
    else plot.selecting([drag.at[0], at[0]]);
  }

  function stateAt(px) {
    const b = plot.box();
    const inside = Math.min(Math.max(px, b.left), b.left + b.width - 1);
    const { x } = ctx.store.get();
    if (x.mode === 'events') return Math.floor(xScale(x, b).at(inside));
    const found = plot.at(inside, b.top);
    return found ? found.state : ctx.store.get().at;
  }

  function up(event) {
    clearTimeout(timer);
    fingers.delete(event.pointerId);
    const done = drag;
    drag = fingers.size ? drag : null;
    if (!done || done.what === 'pinch') return;
    const at = place(event);
    plot.selecting(null);
    if (done.what === 'select' && done.moved) {
      ctx.store.jump({ range: { a: stateAt(done.at[0]), b: stateAt(at[0]) } });
    } else if (!done.moved && done.button === 0) ctx.clicked(plot, plot.at(at[0], at[1]));
  }

  function double(event) {
    const [px, py] = place(event);
    const b = plot.box();
    if (px < b.left) ctx.store.jump({ y: { from: 0, to: null } });
    else if (py > b.top + b.height) ctx.wholeX();
    else ctx.zoomToLife(plot.at(px, py));
  }

  target.addEventListener('wheel', wheel, { passive: false });
  target.addEventListener('pointerdown', down);
  target.addEventListener('pointermove', move);
  target.addEventListener('pointerup', up);
  target.addEventListener('pointercancel', (event) => {
    clearTimeout(timer);
    fingers.delete(event.pointerId);
    drag = null;
    plot.selecting(null);
  });
  target.addEventListener('pointerleave', () => { if (!drag) ctx.hovered(plot, null); });
  target.addEventListener('dblclick', double);
}
