// peel.js - a device without some of its groups: the rows that stay, their curve and its peak.
import { adjustAt, peakIn, pyramid, requested, tiesAt, windowOf } from './curves.js';
import { columnsOf, once } from './device.js';
import { textsOf } from './live.js';
import { known } from '../model/unpack.js';
import { peaksOf, shownOf } from './summary.js';

// Devices without groups that are kept: undo and redo go back and forth.
const KEPT = 4;
// Groupings whose names are of stacks, which a request has as well.
const ofStacks = ['line', 'owner', 'module', 'site', 'file', 'function'];

/* The number in the name of a site, `#7 model.py:22 forward`: several sites may bear one line's. */
function siteIn(name) {
  return Number(/^#(\d{1,10}) /.exec(name)?.[1] ?? 0);
}

/** Whether each group is among those that are named, a site by its number: a list of 0 and 1. */
export function areNamed({ names: all, sites }, names) {
  const [texts, numbers] = [new Set(names), new Set(names.map(siteIn))];
  return Uint8Array.from(all, (name, key) =>
    Number(sites?.[key] ? numbers.has(sites[key]) : texts.has(name)));
}

/* The names of which there is no group. */
function missingIn({ names: all, sites }, names) {
  const [texts, numbers] = [new Set(all), new Set(sites)];
  return names.filter((name) => !(sites && siteIn(name) ? numbers.has(siteIn(name)) :
    texts.has(name)));
}

function peeled(d, { by, names }) {
  const { model } = d;
  const groups = d.grouping(by);
  const out = areNamed(groups, names);
  const stays = new Uint8Array(model.alloc.rows);
  for (let i = 0; i < stays.length; i++) stays[i] = 1 - out[groups.of[i]];
  const left = { ...d, stays };
  left.curve = once(() => requested(model, stays));
  left.pyramid = once(() => pyramid(left.curve()));
  left.peak = once(() => peakIn(left.pyramid(), ...windowOf(model)));
  left.columns = (x, W) => columnsOf(left, x, W);
  return left;
}

/** The device without the groups { by, names }, itself where that is null: curve, peak and columns
 * are of the rows that stay (`stays`, a mask), groupings and their order remain.  What no
 * allocation explains is of no group, and stays. */
export function leftOf(d, without) {
  if (!without) return d;
  const key = JSON.stringify(without);
  d.peels ??= new Map();
  if (!d.peels.has(key)) {
    if (d.peels.size >= KEPT) d.peels.delete(d.peels.keys().next().value);
    d.peels.set(key, peeled(d, without));
  }
  return d.peels.get(key);
}

/** One mask of two, each of which may be missing. */
export function both(a, b) {
  if (!a || !b) return a ?? b ?? null;
  return a.map((is, i) => is & b[i]);
}

/* What the groups hold at a state: { bytes, count }. */
function takenAt({ model, stays }, p) {
  const { rows, born, end, bytes } = model.alloc;
  const taken = { bytes: 0, count: 0 };
  for (let i = 0; i < rows && born[i] <= p; i++) {
    if (stays[i] || end[i] <= p) continue;
    taken.bytes += bytes[i];
    taken.count++;
  }
  return taken;
}

/* The names of a stack that --drop looks into. */
function namesOf({ stack, string }, s) {
  return [stack.culprit, stack.owner].map((ids) => (ids && s ? string[ids[s]] : ''));
}

/* Whether `--drop` of these names takes out the very same, and something: it drops the stacks whose
 * line or owner contains one of them. */
function isDropped({ model, stays }, { by, names }) {
  const { rows, stack } = model.alloc;
  if (!['line', 'owner'].includes(by) || !stack) return false;
  const drops = Uint8Array.from({ length: model.stack.rows }, (_, s) =>
    (namesOf(model, s).some((text) => names.some((name) => text.includes(name))) ? 1 : 0));
  let dropped = 0;
  for (let i = 0; i < rows; i++) {
    if (stays[i] === drops[stack[i]]) return false;
    dropped += 1 - stays[i];
  }
  return dropped > 0;
}

/* The requests that failed, with what is held without the groups when they are made, and the peak
 * up to there: { state, bytes, held, peak }; not those that the groups made themselves. */
function failedOf({ model, curve, pyramid: of }, { by, names }) {
  const { oom } = model;
  const texts = ofStacks.includes(by) ? textsOf(model, by === 'site' ? 'line' : by) : null;
  const sites = by === 'site' ? model.stack.site : null;
  const isOf = (s) => (sites?.[s] ? names.some((name) => siteIn(name) === sites[s]) :
    names.includes(texts[s]));
  const [from, past] = windowOf(model);
  const list = [];
  for (let i = 0; i < oom.rows; i++) {
    const s = oom.stack?.[i] ?? 0;
    if (s && texts && isOf(s)) continue;
    const state = oom.state[i];
    // What is held then is known of the states that are here.
    if (state < from || state >= past) continue;
    const top = peakIn(of(), from, state + 1);
    list.push({ state, bytes: known(oom.bytes?.[i]), held: curve()[state],
      peak: { state: top, bytes: curve()[top] } });
  }
  return list;
}

/* The most that was in use or asked for, of all groups. */
function demandOf({ model, curve }, peak) {
  const { oom } = model;
  const [from, past] = windowOf(model);
  let most = peak;
  for (let i = 0; i < oom.rows; i++) {
    const state = oom.state[i];
    const isHere = state >= from && state < past;
    if (isHere) most = Math.max(most, curve()[state] + (known(oom.bytes?.[i]) ?? 0));
  }
  return most;
}

/** {without}: the peak of what is left, how often it is reached (`ties`), what it was `before`, and
 * the `demand` with what failed; what the groups held then (`taken`), and which of them are none
 * here (`missing`); curve and peaks as of a cover; `failed` requests as above; whether
 * `replay --drop` can be asked the same (`dropped`). */
export function peel(d, { without }) {
  const left = leftOf(d, without);
  const curve = left.curve();
  const [state, old] = [left.peak(), d.peak()];
  const [from, past] = windowOf(d.model);
  const part = past - from < d.model.states ? d.cover : null;
  return {
    without, state, bytes: curve[state], ties: tiesAt(curve, state, from, past),
    before: { state: old, bytes: d.curve()[old] },
    demand: demandOf(d, d.curve()[old]),
    taken: takenAt(left, old), missing: missingIn(d.grouping(without.by), without.names),
    unattributed: adjustAt(d.model, state),
    requested: Float64Array.from(part ? part.state : shownOf(left), (p) =>
      (p >= from && p < past ? curve[p] : NaN)),
    peaks: peaksOf(left), failed: failedOf(left, without), dropped: isDropped(left, without),
  };
}
