// actions.js - what the keys do, one function per action of the table in keys.js.
import { byId } from '../draw/dom.js';
import { stackText } from './details.js';
import { nextGrouping } from './panels.js';
import { columnOf } from '../draw/picture.js';
import { printPage } from './print.js';
import { panned, revealed, zoomed } from '../state/span.js';

const factor = 1.5;
const places = ['top', 'overview', 'view', 'details', 'who'];

/** The middle of a zoom by key: the cursor when it is in sight, else the middle. */
function zoomPoint(ctx) {
  const { x, at } = ctx.store.get();
  if (x.mode === 'events' && at >= x.from && at < x.to) return at + 0.5;
  return (x.from + x.to) / 2;
}

function zoomBy(ctx, by) {
  const { x } = ctx.store.get();
  ctx.store.jump({ x: zoomed(x, by, zoomPoint(ctx), ctx.store.limits()) });
}

/** One column when several states share one, else one state. */
function moveColumn(ctx, columns) {
  const state = ctx.store.get();
  const picture = ctx.picture();
  if (!picture || picture.span[1] - picture.span[0] <= picture.W) {
    ctx.setCursor(state.at + columns, true);
    return;
  }
  const c = Math.min(picture.W - 1, columnOf(picture.shown, state.at));
  const to = Math.min(Math.max(0, c + columns), picture.W - 1);
  ctx.setCursor(picture.shown[to] === state.at ? state.at + Math.sign(columns) : picture.shown[to],
    true);
}

function cycle(list, at, key) {
  const place = list.findIndex((one) => key(one) === at);
  return list[(place + 1) % list.length];
}

function nextPeak(ctx) {
  const peaks = ctx.cover().peaks;
  if (peaks.length) ctx.goTo(cycle(peaks, ctx.store.get().at, (p) => p));
}

function nextOom(ctx) {
  const { ooms, complete } = ctx.cover();
  if (complete === false) ctx.note('the page is still being read');
  else if (!ooms.length) ctx.note('no allocation failed in this recording');
  else ctx.showOom(cycle(ooms, ctx.store.get().at, (oom) => oom.state));
}

function stepAt(steps, at) {
  let found = -1;
  steps.forEach((step, i) => { if (step.first <= at) found = i; });
  return found;
}

function moveStep(ctx, by, extend) {
  const { steps } = ctx.cover();
  const state = ctx.store.get();
  if (!steps.length) {
    ctx.note('no steps were found');
    return;
  }
  const from = extend && state.range ? (by > 0 ? state.range.b : state.range.a) : state.at;
  const i = stepAt(steps, from) + by;
  const step = steps[Math.min(Math.max(0, i), steps.length - 1)];
  if (!extend) {
    ctx.goTo(step.first);
    return;
  }
  const range = state.range || { a: from, b: from };
  ctx.store.jump({ range: by > 0 ? { a: range.a, b: step.last } : { a: step.first, b: range.b } });
}

function moveBand(ctx, by) {
  const plot = ctx.plot();
  const bands = plot ? plot.bands() : [];
  if (!bands.length) return;
  const at = bands.indexOf(ctx.passing());
  const next = at < 0 ? (by > 0 ? 0 : bands.length - 1) : Math.min(Math.max(0, at + by),
    bands.length - 1);
  ctx.pass(bands[next]);
}

function mark(ctx) {
  const { marks, at } = ctx.store.get();
  const next = marks.length >= 2 ? [at] : [...marks, at];
  const range = next.length === 2 ? { a: next[0], b: next[1] } : ctx.store.get().range;
  ctx.store.jump({ marks: next, range });
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

function escape(ctx) {
  const state = ctx.store.get();
  if (closeDialog()) return;
  if (state.wide) ctx.store.move({ wide: false });
  else if (state.query) ctx.search('', false);
  else if (state.sel) ctx.store.move({ sel: null });
  else if (state.range || state.marks.length) ctx.store.jump({ range: null, marks: [] });
}

function moveFocus() {
  const now = places.findIndex((id) =>
    document.getElementById(id).contains(document.activeElement));
  for (let k = 1; k <= places.length; k++) {
    const node = document.getElementById(places[(now + k) % places.length]);
    const target = node.matches('[tabindex]') ? node :
      node.querySelector('.plot, :is(button, select, input):enabled');
    if (target && target.offsetParent !== null) {
      target.focus();
      return;
    }
  }
}

function copyStack(ctx) {
  const d = ctx.pinned();
  if (!d) ctx.note('pin an allocation first');
  else ctx.copy('stack', stackText(d.stack));
}

/** Does `action`; `event` is the key event. */
export function perform(action, event, ctx) {
  const state = ctx.store.get();
  const limits = ctx.store.limits();
  const far = event.shiftKey ? 10 : 1;
  const pan = (share) => ctx.store.jump({ x: panned(state.x, share, limits) });
  const event1 = (by) => ctx.store.move({ at: state.at + by, x: revealed(state.x, state.at + by,
    limits) });
  const acts = {
    help: () => ctx.help(), find: () => ctx.focusFind(),
    next: () => ctx.visit(1), previous: () => ctx.visit(-1),
    view: () => ctx.viewByKey(event.key),
    group: () => ctx.store.jump({ by: nextGrouping(ctx.cover(), state.by, 1) }),
    'group-back': () => ctx.store.jump({ by: nextGrouping(ctx.cover(), state.by, -1) }),
    left: () => moveColumn(ctx, -far), right: () => moveColumn(ctx, far),
    'event-back': () => event1(-1), 'event-on': () => event1(1),
    'pan-left': () => pan(-0.1), 'pan-right': () => pan(0.1),
    'zoom-in': () => zoomBy(ctx, factor), 'zoom-out': () => zoomBy(ctx, 1 / factor),
    up: () => moveBand(ctx, 1), down: () => moveBand(ctx, -1), pin: () => ctx.pinPassing(),
    'fit-y': () => ctx.store.jump({ y: { from: 0, to: null } }),
    peak: () => nextPeak(ctx), oom: () => nextOom(ctx),
    'step-back': () => moveStep(ctx, -1, false), 'step-on': () => moveStep(ctx, 1, false),
    'step-extend-back': () => moveStep(ctx, -1, true), 'step-extend': () => moveStep(ctx, 1, true),
    mark: () => mark(ctx), unmark: () => ctx.store.jump({ marks: [] }),
    'zoom-selection': () => ctx.zoomToSelection(), home: () => ctx.wholeX(),
    undo: () => ctx.store.undo() || ctx.note('nothing to undo'),
    redo: () => ctx.store.redo() || ctx.note('nothing to redo'),
    axis: () => ctx.setAxis(state.x.mode === 'events' ? 'time' : 'events'),
    'copy-stack': () => copyStack(ctx), 'copy-link': () => ctx.copyLink(),
    export: () => ctx.export(), print: () => printPage(ctx), theme: () => ctx.toggleTheme(),
    patterns: () => ctx.store.move({ patterns: !state.patterns }),
    fold: () => ctx.store.move({ folded: !state.folded }),
    wide: () => ctx.store.move({ wide: !state.wide }),
    escape: () => escape(ctx), focus: () => moveFocus(),
  };
  if (acts[action]) acts[action]();
}
