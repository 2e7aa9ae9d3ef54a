// opening.js - opens a device of a file: its cover, what stands above the picture, and its views.
import { byId } from '../draw/dom.js';
import { closedReason, drawTabs, viewsOf } from '../views/views.js';
import { drawDevices, drawFiles, drawTrust, drawVerdicts, hasNoStart,
  isCut } from '../parts/header.js';
import { firstState } from './store.js';
import { isPart } from './span.js';
import { noCover } from './context.js';
import { slotsOf } from '../draw/colours.js';

/** What a file without a device has no use for. */
const ofDevices = ['overview', 'split-overview', 'work', 'status', 'find', 'show-report',
  'show-export'];
/** The views that are of no single device. */
const many = new Set(['all', 'devices']);
const manyAllocations = 5e6;

/** What the store keeps a state within, and where it begins: without a trace worth the name at the
 * end, of which the report tells. */
export function limitsOf(cover) {
  return { states: cover.states, window: cover.window, time: cover.time,
    peak: cover.traced === false ? cover.states - 1 : cover.peak?.state ?? 0 };
}

/** The view of all files; from a file without a device it is another's. */
function showAll(ctx) {
  const { files } = ctx.head();
  const { file } = ctx.store.get();
  const from = files[file].devices.length ? {} : { dev: 0, file: files.findIndex((one) =>
    one.devices.length) };
  if (from.file !== -1) ctx.store.jump({ view: 'all', ...from });
}

function drawTop(ctx, state) {
  const head = ctx.head();
  const view = many.has(state.view) ? 'stack' : state.view;
  drawFiles(head, state, (file) => ctx.store.jump({ file, dev: 0, view }), () => showAll(ctx));
  drawDevices(head, state, (dev) => ctx.store.jump({ dev, view }), () =>
    ctx.store.jump({ view: 'devices' }));
  drawTrust(head, state);
  drawVerdicts(head, state, ctx.follow);
}

/** Opens the view with `id`, or the first there is; it is made when it is first wanted. */
function openView(ctx, id) {
  const { now } = ctx;
  const views = viewsOf(now.cover, ctx.head());
  const view = views.find((one) => one.id === id) || views[0];
  if (!view) return;
  byId('work').classList.toggle('many', many.has(view.id));
  for (const node of byId('view').children) node.hidden = true;
  if (!now.views.has(view.id)) {
    const host = document.createElement('div');
    host.className = 'pane';
    byId('view').append(host);
    now.views.set(view.id, { host, id: view.id, ...view.make(host, ctx) });
  }
  now.view = now.views.get(view.id);
  now.view.host.hidden = false;
  now.picture = now.view.plot ? now.view.plot.exact() : null;
  drawTabs(views, now.cover, view.id, (next) => ctx.store.jump({ view: next }));
  ctx.drawHolders();
}

function viewByKey(ctx, key) {
  const { cover } = ctx.now;
  const view = viewsOf(cover, ctx.head()).find((one) => one.key === key);
  if (view && !closedReason(view, cover)) ctx.store.jump({ view: view.id });
  else ctx.note('this recording has no such view');
}

/** The exact picture of the open view is there. */
function setPicture(ctx, picture) {
  const { now } = ctx;
  now.picture = picture;
  if (ctx.store.get().x.mode === 'time') ctx.parts.overview.draw();
  if (now.view && now.view.pictured) now.view.pictured();
  ctx.drawHolders();
  ctx.drawStatus();
}

function firstView(cover, wanted) {
  if (many.has(wanted)) return wanted;
  if (cover.states < 2 && cover.ops.includes('state')) return 'state';
  return cover.allocations > manyAllocations ? 'groups' : wanted;
}

/** The picture may be there before all else is: its colours need no more than names. */
function openFirst(ctx, cover) {
  const { now } = ctx;
  now.cover = { ...now.cover, ...cover };
  now.slots = slotsOf('category', cover.names);
  now.names = new Map(cover.names.map((one) => [one.key, one.name]));
  openView(ctx, ctx.store.get().view);
  now.view.update(ctx.store.get(), ctx.store.get());
}

/** All is known of a device whose picture is open: nothing moves. */
function completeCover(ctx, cover) {
  const { now, store } = ctx;
  // Of some events only the peak is known with all of them.
  const guessed = firstState(limitsOf(now.cover)).at;
  if (isPart(cover) && store.get().at === guessed) {
    store.move({ at: firstState(limitsOf(cover)).at });
  }
  now.cover = { ...now.cover, ...cover };
  store.setLimits(limitsOf(cover));
  if (!cover.has.stacks) store.move({ by: 'size' });
  if (cover.problem) ctx.failed(cover.problem);
  ctx.parts.overview.draw();
  openView(ctx, store.get().view);
  now.view.update(store.get(), store.get());
}

function changesSince(before, state) {
  return Object.fromEntries(Object.entries(state).filter(([key, one]) => one !== before[key]));
}

/** Begins at the peak with the whole recording, but for what `given` says, and what a person has
 * `done` since it was shown before. */
function showCover(ctx, cover, state, given, done) {
  const { now, store } = ctx;
  const head = ctx.head();
  now.cover = { cut: isCut(head, state), cutAt: head.files[state.file].cut_at_byte,
    startUnknown: hasNoStart(head, state), ...cover };
  store.setLimits(limitsOf(cover));
  const { x, at } = firstState(limitsOf(cover));
  store.move({ x, at, sel: null, range: null, marks: [], view: firstView(cover, state.view),
    ...(cover.complete !== false && !cover.has.stacks ? { by: 'size' } : {}),
    ...(given ? ctx.fitting(given) : null), ...done });
  if (cover.problem) ctx.failed(cover.problem);
  // At once: the next frame may come after the parser's next part of the page.
  ctx.parts.overview.redraw();
  if (cover.complete !== false) openView(ctx, store.get().view);
  if (now.view) now.view.update(store.get(), state);
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

function forgetDevice(ctx) {
  for (const view of ctx.now.views.values()) if (view.forget) view.forget();
  ctx.now.picture = null;
  ctx.forgetHolders();
}

/** Resolves when all of the device is there; its cover is drawn before. */
async function showDevice(ctx, state, given) {
  drawTop(ctx, state);
  forgetDevice(ctx);
  const { file, dev } = state;
  const empty = ctx.head().files[file].devices.length === 0;
  showEmpty(empty);
  if (empty) {
    ctx.now.cover = noCover;
    return;
  }
  const mine = ++ctx.now.openings;
  const left = () => mine !== ctx.now.openings;
  // A link says where to begin, which may need all of it.
  const plain = !given || Object.keys(given).length === 0;
  let opened = false;
  let shown = null;
  for (const wait of plain ? [false, 'first', true] : [false, true]) {
    const cover = await ctx.call('cover', { wait });
    if (left()) return;
    if (opened) completeCover(ctx, cover);
    else showCover(ctx, cover, state, given, shown && changesSince(shown, ctx.store.get()));
    shown = ctx.store.get();
    if (cover.complete !== false) break;
    opened = wait === 'first' && Boolean(cover.names && cover.peak) &&
      ctx.store.get().view !== 'state';
    if (opened) openFirst(ctx, cover);
  }
  await ctx.askSlots();
  ctx.askHolders();
  ctx.parts.details.update();
  ctx.parts.range.update();
  ctx.parts.oom.update();
}

/** The report stays when the data cannot be read. */
async function openDevice(ctx, state, given) {
  try {
    await showDevice(ctx, state, given);
  } catch (error) {
    ctx.failed(error);
    byId('report').hidden = false;
  }
}

/** Methods of the context. */
export const opening = { openDevice, openView, drawTop, viewByKey, setPicture };
