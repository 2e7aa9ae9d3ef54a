// steps.js - what each step did to memory: figures, a curve from its start on, which stands out.
import { firstAbove, peakIn, windowOf } from './curves.js';
import { bornWithin } from './leaks.js';
import { timeSpan } from './columns.js';
import { KIND, marksOf, namesOf, stepMarks } from './summary.js';

// Curves at most, and values that all of them have together at most.
const CURVES = 1024;
const VALUES = 1 << 19;
// What stands out is above the median of the others by so much of it, and so many deviations.
const SHARE = 0.05;
const DEVIATIONS = 3;
const OTHER = 'other';
// So many allocations of no phase are a phase of their own.
const FEW = 4;

function median(list) {
  const sorted = Float64Array.from(list).sort();
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/**
 * The step that stands out by its peak, by its place in `steps` ({ peak, complete }), or null:
 * { step, others, above }, `others` the median peak of the other complete ones, and how far it is
 * above that.  There is one where the highest peak exceeds that median by more than 5 % and by more
 * than three times the median absolute deviation from it.  Two steps beside it are the least that
 * can say what is usual.
 */
export function outlierOf(steps) {
  let top = 0;
  steps.forEach(({ peak }, i) => { if (peak > steps[top].peak) top = i; });
  const others = steps.filter((step, i) => i !== top && step.complete).map(({ peak }) => peak);
  if (others.length < 2) return null;
  const usual = median(others);
  const above = steps[top].peak - usual;
  const deviation = median(others.map((peak) => Math.abs(peak - usual)));
  return above > SHARE * usual && above > DEVIATIONS * deviation ?
    { step: top, others: usual, above } : null;
}

/* Steps of which the page holds all events; how many it does not hold is `left`. */
function spansOf(model) {
  const [from, past] = windowOf(model);
  const all = stepMarks(model);
  const held = all.filter(({ first, last }) => first > from && last < past);
  return { held, left: all.length - held.length };
}

/* The rows [from, to) that a phase counts of those born in its span: fewer than four allocations of
 * no phase end none, and behind its last one belong to none. */
function rowsOf({ alloc, head }, { first, last, name }) {
  const [from, to] = bornWithin({ alloc }, first, last);
  const isOther = (row) => head.phases?.[alloc.phase?.[row]] === OTHER;
  let past = to;
  while (name !== OTHER && past > from && to - past < FEW && isOther(past - 1)) past--;
  return [from, to - past < FEW ? past : to];
}

function phaseRows(model) {
  const list = marksOf(model, KIND.phase).map((one) => ({ ...one, rows: rowsOf(model, one) }));
  return { list, starts: list.map(({ first }) => first) };
}

/* The highest peak of each phase within a step, after one of its allocations there, in the order in
 * which they begin. */
function phasesOf(d, { list, starts }, { first, last }) {
  const { born } = d.model.alloc;
  const curve = d.curve();
  const [from, past] = bornWithin(d.model, first, last);
  const found = new Map();
  let k = Math.max(0, firstAbove(starts, first) - 1);
  for (; k < list.length && list[k].first <= last; k++) {
    const { name, rows } = list[k];
    for (let row = Math.max(from, rows[0]); row < Math.min(past, rows[1]); row++) {
      const at = born[row];
      if (!(found.get(name)?.peak >= curve[at])) found.set(name, { name, peak: curve[at], at });
    }
  }
  return [...found.values()];
}

/* The states [a, b) of a step that a column stands for; null behind its end. */
function spanOf({ model }, { first, last }, timed, length, W, c) {
  const start = first - 1;
  if (!timed) {
    const a = start + Math.floor(length * c / W);
    return a > last ? null :
      [a, Math.min(last + 1, Math.max(a + 1, start + Math.floor(length * (c + 1) / W)))];
  }
  const t0 = model.time[first];
  if (model.time[last] - t0 < length * c / W) return null;
  const [a, b] = timeSpan(model.time, t0, t0 + length, W, c);
  const from = Math.min(last, Math.max(c ? first : start, a));
  return [from, Math.max(from + 1, Math.min(b, last + 1))];
}

/* Requested bytes of a step from just before it on, the most of each column. */
function curveOf(d, step, timed, length, W) {
  const values = new Float64Array(W);
  for (let c = 0; c < W; c++) {
    const span = spanOf(d, step, timed, length, W, c);
    if (!span) return values.slice(0, c);
    values[c] = d.curve()[peakIn(d.pyramid(), ...span)];
  }
  return values;
}

function figuresOf(d, { time, oom }, step, before) {
  const { first, last } = step;
  const curve = d.curve();
  const peakState = peakIn(d.pyramid(), first, last + 1);
  const [start, end] = [curve[first - 1], curve[last]];
  return { ...step, events: last - first + 1, start, end, peak: curve[peakState], peakState,
    growth: end - start, sinceLast: before ? end - curve[before.last] : null,
    duration: time ? time[last] - time[first] : null,
    oom: oom.state.some((state) => state >= first && state <= last) };
}

/* Which steps have a curve, where there are too many: the last ones that failed and what stands
 * out, then others as far apart as leaves room for all of them. */
function hasCurve(rows, outlier) {
  const has = rows.map((_, i) => outlier?.step === i);
  let left = CURVES - has.filter(Boolean).length;
  for (let i = rows.length - 1; i >= 0 && left > CURVES / 2; i--) {
    if (!rows[i].oom || has[i]) continue;
    has[i] = true;
    left--;
  }
  const apart = Math.ceil(rows.length / left);
  return has.map((is, i) => is || i % apart === 0);
}

/**
 * {mode: events | time, W}: the steps of a device side by side: { steps, left, curves, length,
 * columns, timed, outlier }.  Each step: { name, mark (what the program calls it), first, last
 * (states), complete, oom, events, duration, start, end, peak, peakState, growth, sinceLast,
 * phases, curve }.  `left`: how many the page does not hold; `length`: what all `columns` (W, or
 * fewer where steps are many) span, in states or, where `timed`, in microseconds.  Of more than
 * 1,024 steps `curves` have a curve, the others an empty one.
 */
export function* steps(d, { mode = 'events', W = 512 }) {
  const { model } = d;
  d.curve();
  yield;
  d.pyramid();
  yield;
  const calledAt = namesOf(model);
  const { held, left } = spansOf(model);
  const timed = mode === 'time' && Boolean(model.time);
  const phases = phaseRows(model);
  const rows = held.map((step, i) => figuresOf(d, model, step, held[i - 1]));
  const length = rows.reduce((most, { events, duration }) =>
    Math.max(most, (timed ? duration : events) + 1), 1);
  const outlier = outlierOf(rows);
  const drawn = hasCurve(rows, outlier);
  const curves = drawn.filter(Boolean).length;
  const columns = Math.max(1, Math.min(Math.floor(W), Math.floor(VALUES / curves)));
  for (const [i, row] of rows.entries()) {
    row.mark = calledAt(row.first);
    row.phases = phasesOf(d, phases, row);
    row.curve = drawn[i] ? curveOf(d, row, timed, length, columns) : new Float64Array(0);
    yield;
  }
  return { steps: rows, left, curves, length, columns, timed, outlier };
}
