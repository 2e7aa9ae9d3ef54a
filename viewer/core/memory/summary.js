// summary.js - what the page shows of a whole device: its curves in columns, marks, flags, lists.
import { at, leastAdjust, peakIn, sumsIn, tiesAt, windowOf } from './curves.js';
import { groupRows, isBefore, liveAt } from './live.js';
import { refusedAt } from './moments.js';
import { shownStates } from './columns.js';

const COLUMNS = 2048;
const PEAKS = 10;
/** Kinds of marks, as the page has them. */
export const KIND = { step: 0, phase: 1, annotation: 2, unended: 3 };
const EVENT = { unmap: 3, snapshot: 5, retry: 6 };

/** Marks of a kind: {first, last, name}. Steps without a name are numbered. */
export function marksOf(model, kind) {
  const { mark, string } = model;
  const list = [];
  for (let i = 0; i < mark.rows; i++) {
    // What lies in another folds into it.
    if (mark.kind[i] !== kind || (kind === KIND.annotation && mark.depth?.[i])) continue;
    const name = mark.name ? string[mark.name[i]] : '';
    list.push({ first: mark.first[i], last: mark.last[i],
      name: name || (kind === KIND.step ? `step ${list.length + 1}` : '') });
  }
  return list;
}

/** What the program calls what begins in a state: its annotation. */
export function namesOf(model) {
  const list = marksOf(model, KIND.annotation).reverse();
  const names = new Map(list.map(({ first, name }) => [first, name]));
  return (first) => names.get(first) ?? '';
}

/** The steps, then one behind them that did not end and is not `complete`. */
export function stepMarks(model) {
  const all = marksOf(model, KIND.step).map((step) => ({ ...step, complete: true }));
  return [...all, ...marksOf(model, KIND.unended).map((step) => ({ ...step,
    name: step.name || `step ${all.length + 1}`, complete: false }))];
}

/** The name of the step that holds state `p`; '' where none does. */
export function stepAt(model, p) {
  return stepMarks(model).find((s) => s.first <= p && p <= s.last)?.name ?? '';
}

/** The peak, then those of the other steps, highest first. */
export function peaksOf(d) {
  const curve = d.curve();
  const found = new Set([d.peak()]);
  const [from, past] = windowOf(d.model);
  for (const { first, last } of marksOf(d.model, KIND.step)) {
    if (first >= past || last < from) continue;
    found.add(peakIn(d.pyramid(), Math.max(first, from), Math.min(last + 1, past)));
  }
  return [...found].sort((a, b) => curve[b] - curve[a] || a - b).slice(0, PEAKS);
}

/** The groupings that the columns of a model allow. */
function groupingsOf(model) {
  const { alloc, stack, tensor } = model;
  const stacks = stack.rows > 1;
  const can = { line: stacks && stack.culprit, category: alloc.cat,
    owner: stacks && stack.owner, module: stacks && stack.module?.some((id) => id > 0),
    site: stacks && stack.site, file: stacks && stack.line, function: stacks && stack.line,
    phase: alloc.phase, pool: alloc.pool, stream: alloc.stream, size: true, age: true,
    name: alloc.tensor && tensor?.name, path: alloc.tensor && tensor?.path, birth: true };
  return Object.keys(can).filter((by) => can[by]);
}

function eventsOf({ event }, test) {
  const states = [];
  for (let i = 0; i < event.rows; i++) if (test(event.kind[i])) states.push(event.state[i]);
  return states;
}

/* A page that was to be small may go without them. */
function hasAddresses({ tables }) {
  return !tables?.alloc?.rows || Boolean(tables.alloc.columns?.lane);
}

/** Is there what allocations are grouped by line with? */
export function hasLines({ alloc, stack, string }) {
  return Boolean(alloc.rows && alloc.sure && alloc.stack && stack.culprit && string.length > 1);
}

/* Before the columns are here: what was computed beforehand. With allocations there are `names`,
 * of categories, and `lines`, at the peak, where stacks are here too, and so a picture to paint. */
function early(d) {
  const { cover, model: { head, alloc } } = d;
  const has = cover && cover.rows > 0;
  const [from, past] = windowOf(d.model);
  let top = -1;
  for (let c = 0; has && c < cover.rows; c++) {
    const inside = cover.state[c] >= from && cover.state[c] < past;
    if (inside && !(cover.requested[c] <= cover.requested[top])) top = c;
  }
  return {
    at: has ? cover.state : Uint32Array.of(0),
    requested: has ? cover.requested : Float64Array.of(0),
    reserved: has ? cover.reserved ?? null : null, active: null, activeExact: false,
    peak: top >= 0 ? { state: cover.state[top], bytes: cover.requested[top], ties: 1 } : null,
    peaks: top >= 0 ? [cover.state[top]] : [], time: null, ooms: [], steps: [], phases: [],
    annotations: [], mallocs: [], snapshots: [], retries: [], by: ['category'],
    before: 0, has: { stacks: false, events: head.states > 1,
      addresses: hasAddresses(head) },
    names: alloc.rows ? d.grouping('category').names.map((name, key) => ({ key, name })) : null,
    lines: hasLines(d.model) ? groupRows(d.model, liveAt(d.model, d.peak()), d.grouping('line'))
      : null,
  };
}

/** The states that the curves of a cover are given in, when the page has all of them. */
export function shownOf(d) {
  return shownStates(d.pyramid(), 0, d.model.states, Math.min(COLUMNS, d.model.states));
}

function whole(d) {
  const { model } = d;
  const curve = d.curve();
  const [from, past] = windowOf(model);
  // Outside of what is here the curves are those of the C core.
  const part = past - from < model.states ? d.cover : null;
  const shown = part ? part.state : shownOf(d);
  const { active, exact } = sumsIn(model, shown);
  const isHere = (p) => p >= from && p < past;
  for (let c = 0; part && c < part.rows; c++) if (!isHere(shown[c])) active[c] = NaN;
  const peak = d.peak();
  let before = 0;
  for (let i = 0; i < model.alloc.rows; i++) if (isBefore(model, i)) before++;
  const { oom } = model;
  return {
    at: shown, requested: Float64Array.from(shown, (p, c) =>
      (isHere(p) ? curve[p] : part.requested[c])),
    reserved: model.range.rows ? Float64Array.from(shown, (p) => at(d.reserved(), p)) : null,
    active: model.alloc.pad ? active.subarray(0, shown.length) : null,
    activeExact: exact,
    peak: { state: peak, bytes: curve[peak], ties: tiesAt(curve, peak, from, past) },
    peaks: peaksOf(d),
    time: model.time && past - from > 1
      ? [model.time[from], Math.max(model.time[from] + 1, model.time[past - 1])] : null,
    ooms: Array.from({ length: oom.rows }, (_, i) => refusedAt(model, i)),
    steps: stepMarks(model), phases: marksOf(model, KIND.phase),
    annotations: marksOf(model, KIND.annotation),
    // Every second kind gives back: segment_free, segment_unmap.
    mallocs: Array.from({ length: model.event.rows }, (_, i) => i)
      .filter((i) => model.event.kind[i] <= EVENT.unmap)
      .map((i) => [model.event.state[i], model.event.kind[i] % 2]),
    snapshots: eventsOf(model, (kind) => kind === EVENT.snapshot),
    retries: eventsOf(model, (kind) => kind === EVENT.retry),
    by: groupingsOf(model), before,
    has: { stacks: model.stack.rows > 1, events: model.states > 1,
      addresses: hasAddresses(model.head) },
  };
}

/** What the page keeps of a device; `complete` is false while columns are still coming. */
export function summary(d, ops) {
  const { model } = d;
  const { head } = model;
  const found = model.whole ? d.differences()[0] : undefined;
  return {
    name: model.name, states: model.states, traced: head.traced !== false,
    window: windowOf(model), adjust: leastAdjust(model), ops,
    capacityLeast: head.capacity_bytes ?? null, allocations: head.tables?.alloc?.rows ?? 0,
    mostLive: Math.max(0, ...(head.check ?? []).map(({ live }) => live ?? 0)),
    complete: model.whole, ...(model.whole ? whole(d) : early(d)),
    problem: found ? `state ${found.state}: ${found.what} is ${found.page} on this page, `
      + `${found.core} in the analysis${head.clipped ? ', which counts above 2^53 bytes' : ''}`
      : null,
  };
}
