// actions.js - what the keys do, one function per action of the table in keys.js.
import { byId } from '../draw/dom.js';
import { columnOf } from '../draw/picture.js';
import { ofMany } from '../state/catalogue.js';
import { nextGrouping } from '../state/groupings.js';
import { actionOf, widgets } from '../state/keys.js';
import { marked, unmarked } from '../state/marks.js';
import { panned, revealed, zoomed, zoomedY } from '../state/span.js';
import { stackText } from './details.js';
import { nextList } from './listing.js';

const factor = 1.5;
const places = ['top', 'overview', 'view', 'card', 'details', 'who', 'film'];

/** The middle of a zoom by key: the cursor when it is in sight, else the middle. */
function zoomPoint({ x, at }) {
  if (x.mode === 'events' && at >= x.from && at < x.to) return at + 0.5;
  return (x.from + x.to) / 2;
}

function zoomBy({ store }, by) {
  const state = store.get();
  store.jump({ x: zoomed(state.x, by, zoomPoint(state), store.limits()) });
}

/** The memory axis about its middle. */
function zoomYBy({ store, stage, recording, status }, by) {
  const plot = stage.plot();
  if (!plot || plot.own) {
    status.note('this view has no memory axis');
    return;
  }
  const y = plot.yNow();
  store.jump({ y: zoomedY(y, by, (y.from + y.to) / 2, recording.lowest()) });
}

/** One column when several states share one, else one state. */
function moveColumn({ store, stage, travel }, columns) {
  const state = store.get();
  const picture = stage.picture();
  if (!picture || picture.span[1] - picture.span[0] <= picture.W) {
    travel.setCursor(state.at + columns, true);
    return;
  }
  const c = Math.min(picture.W - 1, columnOf(picture.shown, state.at));
  const to = Math.min(Math.max(0, c + columns), picture.W - 1);
  travel.setCursor(picture.shown[to] === state.at ? state.at + Math.sign(columns) :
    picture.shown[to], true);
}

function cycle(list, at, key) {
  const place = list.findIndex((one) => key(one) === at);
  return list[(place + 1) % list.length];
}

function nextPeak({ store, recording, travel }) {
  const { peaks } = recording.left();
  if (peaks.length) travel.goTo(cycle(peaks, store.get().at, (p) => p));
}

/** Why there is no failure to be shown. */
function noneFailed({ complete }) {
  return complete === false ? 'the page is still being read' :
    'no allocation failed in this recording';
}

function nextOom({ store, recording, travel, status }) {
  const { ooms, complete } = recording.cover();
  if (complete === false || !ooms.length) status.note(noneFailed({ complete }));
  else {
    travel.showOom(cycle(ooms, store.get().at, (oom) => oom.state));
    byId('why').open = true;
  }
}

function stepAt(steps, at) {
  let found = -1;
  steps.forEach((step, i) => { if (step.first <= at) found = i; });
  return found;
}

/** The step at the cursor, or else next to it, as a range; a range reaches on to the end of the
 * next step, or back to the beginning of the one before; null where there is none. */
function extended(steps, { range, at }, by) {
  const { a, b } = range ?? { a: at, b: at };
  const here = range ? null : steps.find(({ first, last }) => first <= at && at <= last);
  const next = by > 0 ? steps.find(({ last }) => last > b) :
    steps.findLast(({ first }) => first < a);
  if (range) return next ? { a: Math.min(a, next.first), b: Math.max(b, next.last) } : null;
  const { first, last } = here ?? next ?? steps[by > 0 ? steps.length - 1 : 0];
  return { a: first, b: last };
}

function moveStep({ store, recording, travel, status }, by, extend) {
  const { steps } = recording.cover();
  const state = store.get();
  if (!steps.length) {
    status.note('no steps were found');
    return;
  }
  if (extend) {
    const range = extended(steps, state, by);
    if (range) store.jump({ range });
    else status.note('there are no more steps');
    return;
  }
  const i = stepAt(steps, state.at) + by;
  travel.goTo(steps[Math.min(Math.max(0, i), steps.length - 1)].first);
}

function moveBand({ stage, pointer }, by) {
  const plot = stage.plot();
  const bands = plot ? plot.bands() : [];
  if (!bands.length) return;
  const at = bands.indexOf(pointer.passing());
  const next = at < 0 ? (by > 0 ? 0 : bands.length - 1) : Math.min(Math.max(0, at + by),
    bands.length - 1);
  pointer.pass(bands[next], true);
}

/** Closes what lies over the page; false when nothing does. */
function closeDialog() {
  const open = document.querySelector('dialog[open]');
  const report = byId('report');
  if (open) open.close();
  else if (report.hidden) return false;
  else report.hidden = true;
  return true;
}

function escape({ store, search, film }) {
  const state = store.get();
  if (film.stop()) return;
  if (closeDialog()) return;
  if (state.wide) store.move({ wide: false });
  else if (state.query) search.find('', false);
  else if (state.sel) store.move({ sel: null });
  else if (state.range || state.marks.length) store.jump({ range: null, marks: [] });
}

function moveFocus() {
  const now = places.findIndex((id) =>
    document.getElementById(id).contains(document.activeElement));
  for (let k = 1; k <= places.length; k++) {
    const node = document.getElementById(places[(now + k) % places.length]);
    const target = [node.matches('[tabindex]') ? node : [],
      ...node.querySelectorAll('.plot, :is(button, select, input):enabled')].find((one) =>
      one.offsetParent);
    if (target) {
      target.focus();
      return;
    }
  }
}

function copyStack({ pointer, place, status }) {
  const d = pointer.pinned();
  if (!d) status.note('pin an allocation first');
  else place.copy('stack', stackText(d.stack));
}

/** Does `action`; `event` is the key event. */
function perform(on, action, event) {
  const { store, recording, stage, travel, pointer, search, place, settings, status } = on;
  const state = store.get();
  const limits = store.limits();
  const far = event.shiftKey ? 10 : 1;
  const group = (step) => store.jump({ by: nextGrouping(recording.cover(), state.by, step) });
  const pan = (share) => store.jump({ x: panned(state.x, share, limits) });
  const event1 = (by) => store.move({ at: state.at + by, x: revealed(state.x, state.at + by,
    limits) });
  const acts = {
    help: () => on.help.open(), find: () => search.focus(),
    next: () => search.visit(1), previous: () => search.visit(-1),
    view: () => stage.openByKey(event.key), group: () => group(1), 'group-back': () => group(-1),
    left: () => moveColumn(on, -far), right: () => moveColumn(on, far),
    'event-back': () => event1(-1), 'event-on': () => event1(1),
    play: () => on.film.toggle(),
    'pan-left': () => pan(-0.1), 'pan-right': () => pan(0.1),
    'zoom-in': () => zoomBy(on, factor), 'zoom-out': () => zoomBy(on, 1 / factor),
    'zoom-y-in': () => zoomYBy(on, factor), 'zoom-y-out': () => zoomYBy(on, 1 / factor),
    peel: () => on.peel.toggle(event.target),
    up: () => moveBand(on, 1), down: () => moveBand(on, -1), pin: () => pointer.pinPassing(),
    'fit-y': () => store.jump({ y: { from: 0, to: null } }),
    peak: () => nextPeak(on), oom: () => nextOom(on),
    'step-back': () => moveStep(on, -1, false), 'step-on': () => moveStep(on, 1, false),
    'step-extend-back': () => moveStep(on, -1, true), 'step-extend': () => moveStep(on, 1, true),
    mark: () => store.jump(marked(state, state.at)), unmark: () => store.jump(unmarked(state)),
    'zoom-selection': () => travel.zoomToSelection(), home: () => travel.wholeX(),
    undo: () => store.undo() || status.note('nothing to undo'),
    redo: () => store.redo() || status.note('nothing to redo'),
    axis: () => travel.setAxis(state.x.mode === 'events' ? 'time' : 'events'),
    'copy-stack': () => copyStack(on), 'copy-link': () => place.copyLink(),
    export: () => on.exporting.open(), print: () => on.print(), theme: () => settings.toggleTheme(),
    patterns: () => store.move({ patterns: !state.patterns }),
    fold: () => store.move({ folded: !state.folded }),
    wide: () => store.move({ wide: !state.wide }),
    list: () => store.jump({ list: nextList(state) }),
    escape: () => escape(on), focus: () => moveFocus(),
  };
  if (acts[action]) acts[action]();
}

function hearKey(on, event) {
  const node = event.target;
  // One that has just been closed still holds the focus for a moment.
  const dialog = node.closest && node.closest('dialog[open]');
  const action = actionOf(event, { single: on.settings.single,
    field: node.matches('input, textarea, select') || Boolean(dialog),
    widget: node.matches(widgets) });
  if (!action || (dialog && action !== 'escape')) return;
  if (action === 'play' && !on.film.isShown()) {
    if (!ofMany.has(on.store.get().view)) on.status.note(noneFailed(on.recording.cover()));
    return;
  }
  event.preventDefault();
  perform(on, action, event);
}

/** Hears the keys of the page; there is one for most of what can be done. */
export function hearKeys({ store, recording, stage, travel, pointer, search, place, settings,
  status, help, exporting, peel, print, film }) {
  const on = { store, recording, stage, travel, pointer, search, place, settings, status, help,
    exporting, peel, print, film };
  document.addEventListener('keydown', (event) => hearKey(on, event));
}
