// opening.js - opens a device of a file: its cover, what stands above the picture, and its views.
import { slotsOf } from '../draw/colours.js';
import { byId } from '../draw/dom.js';
import { closedReason, ofMany } from './catalogue.js';
import { noCover } from './recording.js';
import { plainBy, subjectOf } from './holders.js';
import { isPart } from './span.js';
import { firstState } from './store.js';
import { answerOf, hasNoStart, isCut } from './report.js';

/** What a file without a device has no use for. */
const ofDevices = ['work', 'status', 'find', 'show-report', 'show-export'];
const manyAllocations = 5e6;

/** The largest of what the memory axis shows of a device; undefined: not known. */
function bytesOf({ peak, reserved, capacityLeast, adjust }) {
  if (!peak) return undefined;
  return (reserved ?? []).reduce((most, v) => (v > most ? v : most),
    Math.max(peak.bytes, capacityLeast ?? 0, Math.abs(adjust ?? 0)));
}

/** What the store keeps a state within, and where it begins: where a request failed, else at the
 * peak; without a trace worth the name at the end, of which the report tells. */
export function limitsOf(cover, { oom } = {}) {
  return { states: cover.states, window: cover.window, time: cover.time,
    bytes: bytesOf(cover), first: oom ? oom.event + 1 :
      cover.traced === false ? cover.states - 1 : cover.peak?.state ?? 0 };
}

/** The view to begin with: that which is wanted, where the device has it and another would not say
 * more. */
export function firstView(cover, wanted, views) {
  if (ofMany.has(wanted)) return wanted;
  const view = views.find(({ id }) => id === wanted);
  const isClosed = cover.complete !== false && (!view || closedReason(view, cover) !== null);
  if (cover.traced === false && (wanted === 'stack' || isClosed)) {
    return cover.complete !== false && cover.has.stacks ? 'flame' :
      cover.ops.includes('state') ? 'state' : wanted;
  }
  if (isClosed) return 'stack';
  return cover.allocations > manyAllocations ? 'groups' : wanted;
}

/** The open view of the state, drawn now. */
function showView({ store, stage }) {
  stage.open(store.get().view);
  stage.update(store.get(), store.get());
}

/** The picture may be there before all else is: its colours need no more than names. */
function openFirst(opening, cover) {
  const { store, recording, look } = opening;
  const by = plainBy(store.get().by);
  const groups = by === 'line' ? cover.lines : cover.names;
  recording.learn({ ...recording.cover(), ...cover });
  look.setGroups(slotsOf(by, groups, subjectOf(recording.head, store.get())), groups);
  showView(opening);
}

/** All is known of a device whose picture is open: nothing moves. */
async function completeCover(opening, cover, isOpen) {
  const { store, recording, status, overview, holders } = opening;
  // Of some events only the peak is known with all of them.
  const device = recording.device();
  const guessed = firstState(limitsOf(recording.cover(), device)).at;
  if (isPart(cover) && store.get().at === guessed) {
    store.move({ at: firstState(limitsOf(cover, device)).at });
  }
  recording.learn({ ...recording.cover(), ...cover });
  store.setLimits(limitsOf(cover, device));
  const { by } = store.get();
  if (!cover.by.includes(by)) {
    opening.by = by;
    store.move({ by: firstGrouping(opening, cover) });
  }
  if (cover.problem) status.failed(cover.problem);
  overview.draw();
  await holders.askSlots();
  if (isOpen()) showView(opening);
}

function changesSince(before, state) {
  return Object.fromEntries(Object.entries(state).filter(([key, one]) => one !== before[key]));
}

/** The grouping to begin with: that of the report, unless a person has chosen another. */
function firstGrouping(opening, cover) {
  const { store, recording } = opening;
  const { by } = store.get();
  if (by !== opening.by) return by;
  const wanted = answerOf(recording.head, store.get())?.by ?? 'line';
  opening.by = cover.complete === false || cover.by.includes(wanted) ? wanted : 'size';
  return opening.by;
}

/** The view that a device opens with; what was wanted stays known where it is another. */
function openingView(opening, cover, wanted, given) {
  const view = given?.view ?? firstView(cover, wanted, opening.recording.views());
  const usual = firstView(cover, 'stack', opening.recording.views());
  opening.wanted = !given?.view ? wanted : view === usual ? 'stack' : view;
  opening.view = view;
  return view;
}

/** Begins where something failed or at the peak, with the whole recording, but for what `given`
 * says and what a person has done since it was shown before. */
async function showCover(opening, cover, { state, wanted }, given, isOpen) {
  const { store, recording, status, stage, place, overview, holders } = opening;
  const { head } = recording;
  recording.learn({ cut: isCut(head, state), cutAt: head.files[state.file].cut_at_byte,
    startUnknown: hasNoStart(head, state), ...cover });
  const done = opening.shown && changesSince(opening.shown, store.get());
  const limits = limitsOf(cover, recording.device());
  store.setLimits(limits);
  const { x, at } = firstState(limits);
  const fitting = given ? place.fitting(given) : null;
  place.arrive();
  store.move({ x, at, sel: null, without: null, range: null, marks: [],
    by: firstGrouping(opening, cover), ...fitting,
    view: openingView(opening, cover, wanted, fitting), ...done });
  place.write('move');
  opening.shown = store.get();
  if (cover.problem) status.failed(cover.problem);
  // What it takes of the picture's room it has from now on.
  opening.updateFilm();
  // At once: the next frame may come after the parser's next part of the page.
  overview.redraw();
  // A picture that is painted before its colours are known would be painted twice.
  if (cover.complete !== false) await holders.askSlots();
  if (!isOpen()) return;
  stage.open(store.get().view);
  stage.update(store.get(), state);
}

/** A file without a device has its report only, which is then what the page is about. */
function showEmpty(empty) {
  const report = byId('report');
  for (const id of ofDevices) byId(id).hidden = empty;
  report.classList.toggle('aside', !empty);
  report.hidden = !empty;
  report.setAttribute('role', empty ? 'main' : 'region');
  byId('page').classList.toggle('bare', empty);
}

/** Resolves when all of the device is there; its cover is drawn before. */
async function showDevice(opening, state, given) {
  const { store, ask, recording, stage, holders } = opening;
  opening.drawTop(state);
  stage.forget();
  holders.forget();
  recording.peel(null);
  opening.forgetParts();
  const wanted = state.view === opening.view ? opening.wanted : state.view;
  const serial = ++opening.count;
  const isOpen = () => serial === opening.count;
  const empty = recording.head.files[state.file].devices.length === 0;
  showEmpty(empty);
  if (empty) {
    recording.learn(noCover);
    opening.place.arrive();
    opening.updateFilm();
    return;
  }
  opening.shown = null;
  // A link says where to begin, which may need all of it.
  const plain = !given || Object.keys(given).length === 0;
  let opened = false;
  for (const wait of plain ? [false, 'first', true] : [false, true]) {
    const cover = await ask('cover', { wait });
    if (!isOpen()) return;
    if (opened) await completeCover(opening, cover, isOpen);
    else await showCover(opening, cover, { state, wanted }, given, isOpen);
    if (!isOpen()) return;
    if (cover.complete !== false) break;
    const early = { line: cover.lines, category: cover.names }[plainBy(store.get().by)];
    opened = wait === 'first' && Boolean(early && cover.peak) && store.get().view !== 'state';
    if (opened) openFirst(opening, cover);
  }
  holders.ask();
  opening.updateSide();
}

/** `drawTop(state)` draws what stands above the picture, `updateSide()` what stands beside it,
 * `updateFilm()` the strip below it; `forgetParts()`: what stands
 * around the picture asks again. */
export function createOpening({ store, ask, recording, look, status, stage, holders, place,
  overview, drawTop, updateSide, updateFilm, forgetParts }) {
  const opening = { store, ask, recording, look, status, stage, holders, place, overview, drawTop,
    updateSide, updateFilm, forgetParts,
    count: 0,             // how often a device was opened
    by: store.get().by,   // the grouping that nobody chose
    view: null,           // the view that nobody chose,
    wanted: 'stack',      // and that in whose place it is
    shown: null };        // the state with which the open one was shown
  /** `chose()`: a person has chosen a view.  The report stays when the data cannot be read. */
  return { chose: () => { opening.view = null; }, openDevice: async (state, given) => {
    try {
      await showDevice(opening, state, given);
    } catch (error) {
      status.failed(error);
      byId('report').hidden = false;
    }
  } };
}
