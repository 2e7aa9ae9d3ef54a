// span.js - the x range of a view, which stays inside the recording however it moves.  No DOM.
import { windowOf } from '../../core/memory/curves.js';

const leastStates = 8;
const leastTime = 10;

function limitSpan(from, to, low, high, least) {
  const whole = Math.max(high - low, 1);
  const size = Math.min(Math.max(to - from, Math.min(least, whole)), whole);
  const middle = (from + to) / 2;
  let a = middle - size / 2;
  if (a < low) a = low;
  if (a + size > low + whole) a = low + whole - size;
  return [a, a + size];
}

/** Whether only some of the states can be shown. */
export function isPart(cover) {
  const [from, past] = windowOf(cover);
  return past - from < cover.states;
}

/** An x range inside the recording, and no narrower than the least. */
export function limitX(x, limits) {
  if (x.mode === 'time' && limits.time) {
    const [from, to] = limitSpan(x.from, x.to, limits.time[0], limits.time[1], leastTime);
    return { mode: 'time', from, to };
  }
  const [from, to] = limitSpan(x.from, x.to, ...windowOf(limits), leastStates);
  return { mode: 'events', from: Math.round(from), to: Math.max(Math.round(from) + 1,
    Math.round(to)) };
}

/** Zooms `x` by `factor` (above 1 is in) about `middle`. */
export function zoomed(x, factor, middle, limits) {
  const from = middle - (middle - x.from) / factor;
  const to = middle + (x.to - middle) / factor;
  if (x.mode === 'events' && Math.round(to) - Math.round(from) === x.to - x.from && factor < 1) {
    return limitX({ ...x, from: x.from - 1, to: x.to + 1 }, limits);
  }
  return limitX({ ...x, from, to }, limits);
}

/** The memory axis, zoomed by `factor` about `middle`, no lower than `lowest`. */
export function zoomedY(y, factor, middle, lowest) {
  return { from: Math.max(lowest, middle - (middle - y.from) / factor),
    to: middle + (y.to - middle) / factor };
}

export function panned(x, share, limits) {
  const by = (x.to - x.from) * share;
  const least = x.mode === 'events' ? Math.sign(by) * Math.max(1, Math.abs(by)) : by;
  return limitX({ ...x, from: x.from + least, to: x.to + least }, limits);
}

/** The range of events that brings `p` into view, or the present one when it is there. */
export function revealed(x, p, limits) {
  if (x.mode !== 'events' || (p >= x.from && p < x.to)) return x;
  const half = (x.to - x.from) / 2;
  return limitX({ ...x, from: p - half, to: p + half }, limits);
}
