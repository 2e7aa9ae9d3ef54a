// page.js - starts the page: makes its parts, and redraws them when the state changes.
import { byId } from './draw/dom.js';
import { createContext, noCover } from './state/context.js';
import { createDetails } from './parts/details.js';
import { createOom } from './parts/oom.js';
import { createOverview } from './parts/overview.js';
import { createRange, createWho } from './parts/panels.js';
import { createSearch } from './parts/search.js';
import { createStore, firstState } from './state/store.js';
import { actionOf } from './state/keys.js';
import { choices } from './state/settings.js';
import { holders } from './state/holders.js';
import { limitsOf, opening } from './state/opening.js';
import { openExport } from './parts/export.js';
import { perform } from './parts/actions.js';
import { place } from './state/place.js';
import { pointer } from './state/pointer.js';
import { setPrinting } from './parts/print.js';
import { setSplitters } from './parts/splitters.js';
import { status } from './state/status.js';
import { drawWayBack, toldOf } from './parts/header.js';
import { travel } from './state/travel.js';

/** Makes functions of (ctx, …) methods of the context: `goTo(ctx, p)` is ctx.goTo(p). */
function bind(ctx, methods) {
  for (const [name, f] of Object.entries(methods)) {
    ctx[name] = (...rest) => f(ctx, ...rest);
  }
}

function createParts(ctx) {
  const search = createSearch(ctx);
  ctx.search = search.search;
  ctx.visit = search.visit;
  ctx.focusFind = search.focus;
  ctx.export = () => openExport(ctx);
  return {
    search,
    overview: createOverview(byId('overview'), ctx),
    details: createDetails(byId('details'), ctx),
    who: createWho(byId('who'), ctx),
    range: createRange(byId('range'), ctx),
    oom: createOom(byId('oom'), ctx),
  };
}

/** What follows from the theme, the groups and the cursor. */
function redrawHolders(ctx, differs) {
  const { now, parts } = ctx;
  if (differs('theme')) ctx.setTheme();
  if (differs('view')) {
    ctx.drawTop(ctx.store.get());
    ctx.openView(ctx.store.get().view);
  }
  if (differs('by')) ctx.askSlots();
  if (differs('at', 'by')) ctx.askHolders();
  else ctx.drawHolders();
  if (now.live && differs('wide', 'theme')) parts.who.update(now.live);
  if (differs('theme', 'patterns') && now.view && now.view.redraw) now.view.redraw();
}

/** Hears every change of the state; `kind` is move, jump or undo, or link where none is made. */
function changed(ctx, state, before, kind) {
  const differs = (...names) => names.some((name) => state[name] !== before[name]);
  if (differs('file', 'dev')) {
    const { given } = ctx.now;
    ctx.now.given = null;
    ctx.writeLink(kind);
    ctx.openDevice(state, kind === 'undo' ? state : given);
    return;
  }
  redrawHolders(ctx, differs);
  const { overview, details, range, oom, search } = ctx.parts;
  overview.draw();
  details.update();
  range.update();
  oom.update();
  search.update(state, before);
  if (ctx.now.view) ctx.now.view.update(state, before);
  ctx.drawStatus();
  if (kind !== 'link') ctx.writeLink(kind);
}

function hearKey(ctx, event) {
  const node = event.target;
  // One that has just been closed still holds the focus for a moment.
  const dialog = node.closest && node.closest('dialog[open]');
  const action = actionOf(event, { single: ctx.settings.single,
    field: node.matches('input, textarea, select') || Boolean(dialog),
    widget: node.matches('button, a, [role="separator"], [role="treeitem"]') });
  if (!action || (dialog && action !== 'escape')) return;
  event.preventDefault();
  perform(action, event, ctx);
}

function listen(ctx) {
  const { store } = ctx;
  const report = byId('report');
  store.listen((state, before, kind) => changed(ctx, state, before, kind));
  document.addEventListener('keydown', (event) => hearKey(ctx, event));
  for (const media of ['(prefers-color-scheme: dark)', '(forced-colors: active)']) {
    matchMedia(media).addEventListener('change', () =>
      changed(ctx, store.get(), { ...store.get(), theme: '' }, 'link'));
  }
  addEventListener('popstate', ctx.followLink);
  addEventListener('pagehide', ctx.flushLink);
  byId('show-help').addEventListener('click', ctx.help);
  byId('show-export').addEventListener('click', ctx.export);
  byId('show-report').addEventListener('click', () => {
    report.hidden = !report.hidden;
    if (!report.hidden) report.focus();
  });
  addEventListener('beforeprint', () => setPrinting(ctx, true));
  addEventListener('afterprint', () => setPrinting(ctx, false));
}

/**
 * Starts the page.  `head`: the head JSON; `call(op, args)`: the engine; `link`: { write(state),
 * read(fragment) } of state/link.js, or null.  Without a link it begins where a request failed.
 */
export async function start(head, call, link) {
  byId('page').hidden = false;
  byId('report').hidden = true;
  byId('report').classList.add('aside');
  byId('report').tabIndex = 0;
  drawWayBack(location);
  const limits = limitsOf(noCover);
  const store = createStore(firstState(limits), limits);
  const ctx = createContext(head, call, link, store);
  for (const methods of [travel, pointer, status, holders, opening, place, choices]) {
    bind(ctx, methods);
  }
  ctx.parts = createParts(ctx);
  const { theme = null, file = 0, dev = 0, ...rest } = ctx.readLink() ||
    { dev: Math.max(0, head.files[0].devices.findIndex((_, i) => toldOf(head, 0, i).oom_events)) };
  setSplitters(ctx.parts.overview.draw);
  listen(ctx);
  if (theme) store.move({ theme });
  ctx.setTheme();
  if (file || dev) {
    ctx.now.given = rest;
    store.move({ file, dev });
  } else await ctx.openDevice(store.get(), rest);
}
