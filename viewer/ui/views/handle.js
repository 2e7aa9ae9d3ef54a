// handle.js - the handle at the right edge of a plot, which sets the range of the memory axis.
import { bytes } from '../../core/model/human.js';
import { el } from '../draw/dom.js';

const grip = 7;          // pixels of an end, by which it is dragged
const leastThumb = 18;
const keyShare = 0.1;

/** All that the axis can show. */
function wholeOf({ recording, yNow }) {
  const { peak } = recording.cover();
  return { from: recording.lowest(), to: Math.max((peak?.bytes ?? 1) * 1.02, yNow().to) };
}

/** Where the thumb lies in the track: { top, height, perPixel }. */
function thumbOf(plot) {
  const b = plot.box();
  const whole = wholeOf(plot);
  const y = plot.yNow();
  const perPixel = Math.max(1, whole.to - whole.from) / b.height;
  const height = Math.min(b.height, Math.max(leastThumb, (y.to - y.from) / perPixel));
  const top = b.top + Math.max(0, Math.min(b.height - height, (whole.to - y.to) / perPixel));
  return { top, height, perPixel };
}

/** An axis that stays in the whole, as wide as it is where it is moved. */
export function limited({ from, to }, whole) {
  const size = Math.min(to - from, whole.to - whole.from);
  const low = Math.min(Math.max(from, whole.from), whole.to - size);
  return { from: low, to: low + size };
}

/** The axis `y` after a drag of `by` bytes of a part of the thumb. */
function dragged(part, y, by, whole) {
  const { from, to } = y;
  if (part === 'top') return { from, to: Math.min(whole.to, Math.max(from + 1, to + by)) };
  if (part === 'bottom') return { from: Math.max(whole.from, Math.min(to - 1, from + by)), to };
  return limited({ from: from + by, to: to + by }, whole);
}

function partAt(plot, py) {
  const { top, height } = thumbOf(plot);
  if (py < top + grip) return 'top';
  return py > top + height - grip ? 'bottom' : 'middle';
}

function listen(handle, plot) {
  const { node } = handle;
  const { store } = plot;
  let drag = null;
  const place = (event) => event.clientY - plot.node.getBoundingClientRect().top;
  node.addEventListener('pointerdown', (event) => {
    const py = place(event);
    drag = { py, part: partAt(plot, py), y: plot.yNow(), whole: wholeOf(plot),
      perPixel: thumbOf(plot).perPixel, moved: false };
    node.setPointerCapture(event.pointerId);
  });
  node.addEventListener('pointermove', (event) => {
    if (!drag) return;
    const by = (drag.py - place(event)) * drag.perPixel;
    const y = dragged(drag.part, drag.y, by, drag.whole);
    if (drag.moved) store.move({ y });
    else store.jump({ y });
    drag.moved = true;
  });
  for (const type of ['pointerup', 'pointercancel']) {
    node.addEventListener(type, () => { drag = null; });
  }
  node.addEventListener('dblclick', () => store.jump({ y: { from: 0, to: null } }));
  node.addEventListener('keydown', (event) => {
    const way = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!way || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    const y = plot.yNow();
    const by = way * keyShare * (y.to - y.from);
    store.jump({ y: dragged('middle', y, by, wholeOf(plot)) });
  });
}

export function createHandle(plot) {
  const thumb = el('div');
  const node = el('div', { class: 'reach', role: 'slider', tabindex: 0,
    'aria-orientation': 'vertical', 'aria-label': 'Memory axis',
    title: 'drag an end to zoom the memory axis, double-click to fit it' }, thumb);
  const handle = { node };
  plot.node.append(node);
  listen(handle, plot);
  return { draw: () => {
    const { top, height } = thumbOf(plot);
    const y = plot.yNow();
    const whole = wholeOf(plot);
    thumb.style.setProperty('top', top + 'px');
    thumb.style.setProperty('height', height + 'px');
    for (const [name, value] of [['min', whole.from], ['max', whole.to], ['now', y.to]]) {
      node.setAttribute('aria-value' + name, String(Math.round(value)));
    }
    const [from, to] = [y.from, y.to].map((value) => bytes(Math.round(value)));
    node.setAttribute('aria-valuetext', `${from} to ${to}`);
  } };
}
