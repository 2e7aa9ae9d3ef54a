// columns.js - which state a column of pixels shows: of those it stands for, the one with most.
import { peakIn } from './curves.js';

/** The span [a, b) of states of column `c`, when W columns stand for the states [v0, v1). */
export function columnSpan(v0, v1, W, c, states) {
  const a = Math.min(Math.max(0, Math.floor(v0 + ((v1 - v0) * c) / W)), states - 1);
  const b = Math.min(Math.floor(v0 + ((v1 - v0) * (c + 1)) / W), states);
  return [a, Math.max(a + 1, b)];
}

/** The shown state of each of W columns; ascending, and with every maximum of [v0, v1). */
export function shownStates(pyr, v0, v1, W) {
  const states = pyr.curve.length;
  const shown = new Uint32Array(W);
  for (let c = 0; c < W; c++) {
    const [a, b] = columnSpan(v0, v1, W, c, states);
    shown[c] = peakIn(pyr, a, b);
  }
  return shown;
}

/* The first state whose time is `t` or later. */
function firstFrom(time, t) {
  let low = 0;
  let high = time.length;
  while (low < high) {
    const mid = (low + high) >>> 1;
    if (time[mid] < t) low = mid + 1;
    else high = mid;
  }
  return low;
}

/** The span [a, b) of states in force during the time of column `c`, in microseconds since the
 * first event: the state carried in, unless another begins with the column, and those that begin
 * before it ends. Events of one microsecond fall into one column; the last column of the recording
 * holds its last state. */
export function timeSpan(time, t0, t1, W, c) {
  const from = t0 + ((t1 - t0) * c) / W;
  const to = t0 + ((t1 - t0) * (c + 1)) / W;
  const first = firstFrom(time, from);
  const a = first < time.length && time[first] === from ? first : Math.max(0, first - 1);
  const closed = c === W - 1 && to >= time[time.length - 1];
  const b = closed ? time.length : firstFrom(time, to);
  return [a, Math.max(a + 1, b)];
}

/** The same as shownStates over the time [t0, t1]. */
export function timeColumns(model, pyr, t0, t1, W) {
  const shown = new Uint32Array(W);
  for (let c = 0; c < W; c++) {
    const [a, b] = timeSpan(model.time, t0, t1, W, c);
    shown[c] = peakIn(pyr, a, b);
  }
  return shown;
}

/** The W + 1 states between columns: column c has those from its edge to the next. */
export function columnEdges(v0, v1, W, states) {
  return Uint32Array.from({ length: W + 1 },
    (_, c) => Math.min(Math.max(0, Math.floor(v0 + ((v1 - v0) * c) / W)), states));
}

/** The same over the time [t0, t1]. */
export function timeEdges(time, t0, t1, W) {
  return Uint32Array.from({ length: W + 1 }, (_, c) => {
    const t = t0 + ((t1 - t0) * c) / W;
    return c === W && t >= time[time.length - 1] ? time.length : firstFrom(time, t);
  });
}
