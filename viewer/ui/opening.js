// opening.js - opens a device of a file: its cover, what stands above the picture, and its views.
import { byId } from './dom.js';
import { closedReason, drawTabs, viewsOf } from './views.js';
import { drawDevices, drawFiles, drawTrust, drawVerdicts, isCut } from './header.js';
import { firstState } from './store.js';
import { noCover } from './context.js';

/** What a file without a device has no use for. */
const ofDevices = ['overview', 'split-overview', 'work', 'status', 'find', 'show-report',
  'show-export'];
const manyAllocations = 5e6;

/** What the store keeps a state within. */
export function limitsOf(cover) {
  return { states: cover.states, peak: cover.peak ? cover.peak.state : 0, time: cover.time };
}

function drawTop(ctx, state) {
  const head = ctx.head();
  drawFiles(head, state, (file) => ctx.store.jump({ file, dev: 0 }));
  drawDevices(head, state, (dev) => ctx.store.jump({ dev }));
  drawTrust(head, state);
  drawVerdicts(head, state, ctx.follow);
}

/** Opens the view with `id`, or the first there is; it is made when it is first wanted. */
function openView(ctx, id) {
  const { now } = ctx;
  const views = viewsOf(now.cover);
  const view = views.find((one) => one.id === id) || views[0];
  if (!view) return;
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
  const view = viewsOf(cover).find((one) => one.key === key);
  if (view && !closedReason(view, cover)) ctx.store.jump({ view: view.id });
  else ctx.note('this recording has no such view');
}

/** The exact picture of the open view is there. */
function setPicture(ctx, picture) {
  const { now } = ctx;
  now.picture = picture;
  if (ctx.store.get().x.mode === 'time') ctx.parts.overview.draw();
  if (now.view && now.view.pictured) now.view.pictured();
  ctx.drawStatus();
}

function firstView(cover, wanted) {
  if (cover.states < 2 && cover.ops.includes('state')) return 'state';
  return cover.allocations > manyAllocations ? 'groups' : wanted;
}

/** Begins at the peak with the whole recording, but for what `given` says. */
function showCover(ctx, cover, state, given) {
  const { now, store } = ctx;
  now.cover = { cut: isCut(ctx.head(), state), ...cover };
  store.setLimits(limitsOf(cover));
  const { x, at } = firstState(limitsOf(cover));
  store.move({ x, at, sel: null, range: null, marks: [], view: firstView(cover, state.view),
    ...(given ? ctx.fitting(given) : null) });
  if (cover.problem) ctx.failed(cover.problem);
  ctx.parts.overview.draw();
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
  for (const args of [{}, { wait: true }]) {
    const cover = await ctx.call('cover', args);
    if (left()) return;
    showCover(ctx, cover, state, given);
    if (cover.complete !== false) break;
  }
  await ctx.askSlots();
  ctx.askHolders();
  ctx.parts.details.update();
  ctx.parts.range.update();
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
export const opening = { openDevice, openView, viewByKey, setPicture };
