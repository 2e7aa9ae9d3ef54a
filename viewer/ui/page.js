// page.js - starts the page: one store, the parts that draw it, what they ask of each other.
import { bytes, count, duration } from '../core/human.js';
import { actionOf, openHelp } from './keys.js';
import { byId, copyText, fill } from './dom.js';
import { closedReason, drawTabs, viewsOf } from './views.js';
import { createDetails } from './details.js';
import { createOverview } from './overview.js';
import { createRange, createWho } from './panels.js';
import { createStore, firstState, limitX } from './store.js';
import { drawDevices, drawFiles, drawTrust, drawVerdicts, gradeOf, isCut, nameOf,
  placeOf } from './header.js';
import { eventName, groupText, shown, words } from './text.js';
import { explainButton, setSplitters } from './furniture.js';
import { openExport } from './export.js';
import { perform } from './actions.js';
import { createSearch, termOf } from './search.js';
import { readPalette, slotsOf } from './paint.js';

/**
 * Starts the page.  `head`: the head JSON; `call(op, args)`: the engine; `link`: { write(state),
 * read(fragment) } of core/link.js, or null.
 */
export async function start(head, call, link) {
  byId('page').hidden = false;
  byId('report').hidden = true;
  byId('report').classList.add('aside');
  const page = createPage(head, call, link);
  await page.open();
  return page;
}

function limitsOf(cover) {
  return { states: cover.states, peak: cover.peak ? cover.peak.state : 0, time: cover.time };
}

function noCover() {
  return { states: 1, at: [0], requested: [0], reserved: null, active: null, peak: null, peaks: [],
    time: null, adjust: 0, ooms: [], steps: [], phases: [], mallocs: [], by: [], ops: [],
      allocations: 0,
    before: 0, has: { stacks: false, events: false } };
}

function createPage(head, engine, link) {
  const store = createStore(firstState({ states: 1, time: null }), { states: 1, time: null });
  const made = new Map();     // the views that were opened, by id
  const settings = { single: true, wheelPans: false };
  const now = { cover: noCover(), palette: null, slots: new Map(), names: new Map(), live: null,
    picture: null, passing: null, selected: null, pending: false, slotsKey: '', view: null,
      spoken: 0 };
  const ctx = {
    store, link,
    device: () => head.files[store.get().file].devices[store.get().dev] || {},
    cover: () => now.cover, palette: () => now.palette, slots: () => now.slots,
    picture: () => now.picture, passing: () => now.passing, pinned: () => now.selected,
    pinnedLife: () => now.selected, plot: () => (now.view && now.view.plot) || null,
    current: () => now.view, head: () => head,
    wheelPans: () => settings.wheelPans, lowest: () => Math.min(0, now.cover.adjust || 0),
    editor: () => (head.options && head.options.editor) || null,
    explain: explainButton, termOf,
  };
  ctx.call = (op, args) => {
    const { file, dev } = store.get();
    return engine(op, { file, dev, ...args });
  };

  ctx.fileName = () => nameOf(head.files[store.get().file]);
  ctx.groupName = (group) => now.names.get(group) || '';
  ctx.span = () => (now.picture ? { from: now.picture.span[0], to: now.picture.span[1] } : null);
  ctx.capacity = () => {
    const { cap } = store.get();
    const c = now.cover;
    if (cap) return { bytes: cap, name: 'capacity ' + bytes(cap) };
    return c.capacityLeast ? { bytes: c.capacityLeast,
      name: `\u2265 ${bytes(c.capacityLeast)}, from the OOM` } : null;
  };
  ctx.pictureName = (op) => {
    const state = store.get();
    const peak = now.cover.peak;
    const what = op === 'raster' ? 'Allocations' : op === 'map' ? 'Addresses' : 'Groups';
    return shown(`${what} of ${ctx.fileName()}, ${now.cover.name || ''}, peak ` +
      `${peak ? bytes(peak.bytes) : '-'}, ${state.x.mode} ${count(state.x.from)} to ` +
      count(state.x.to));
  };

  ctx.note = (text) => {
    byId('status-note').textContent = text;
    byId('live').textContent = text;
  };
  /** What the pointer is over, in views that are no plot. */
  ctx.say = (text) => {
    now.said = text;
    drawStatus();
  };
  ctx.pending = (on) => {
    now.pending = on;
    drawStatus();
  };
  ctx.failed = (error) => {
    now.pending = false;
    const alarm = byId('alarm');
    alarm.hidden = false;
    alarm.textContent = shown(error && error.message ? error.message : error);
  };
  ctx.setPicture = (picture) => {
    now.picture = picture;
    if (store.get().x.mode === 'time') overview.draw();
    if (now.view && now.view.pictured) now.view.pictured();
    drawStatus();
  };

  ctx.setCursor = (p, follow) => {
    const state = store.get();
    const limits = store.limits();
    const at = Math.min(Math.max(0, Math.round(p)), limits.states - 1);
    const part = { at };
    if (follow && state.x.mode === 'events' && (at < state.x.from || at >= state.x.to)) {
      part.x = around(state.x, at, limits);
    }
    store.move(part);
  };
  function around(x, p, limits) {
    const half = (x.to - x.from) / 2;
    return limitX({ mode: 'events', from: p - half, to: p + half }, limits);
  }
  ctx.goTo = (p) => {
    const { x } = store.get();
    const inside = x.mode === 'time' || (p >= x.from && p < x.to);
    store.jump(inside ? { at: p } : { at: p, x: around(x, p, store.limits()) });
  };
  /** The shown state of the overview column that holds state `p`. */
  ctx.shownIn = (p) => {
    const { at, states } = now.cover;
    return at[Math.min(at.length - 1, Math.max(0, Math.floor(p * at.length / states)))];
  };
  ctx.wholeX = () => {
    const { x } = store.get();
    store.jump({ x: x.mode === 'time' ? { mode: 'time', from: now.cover.time[0],
      to: now.cover.time[1] } :
      { mode: 'events', from: 0, to: now.cover.states } });
  };
  ctx.setAxis = async (mode) => {
    const { x } = store.get();
    if (mode === x.mode) return;
    if (mode === 'time' && !now.cover.time) {
      ctx.note('no times were recorded');
      store.move({});
      return;
    }
    if (mode === 'events') {
      const span = ctx.span() || { from: 0, to: now.cover.states };
      store.jump({ x: { mode, from: span.from, to: span.to } });
      return;
    }
    const got = await ctx.call('range', { a: x.from, b: Math.min(x.to, now.cover.states - 1),
      by: 'category' });
    if (got && got.times) store.jump({ x: { mode, from: got.times[0], to: got.times[1] } });
  };

  ctx.hovered = (plot, found) => {
    const id = found && found.id >= 0 ? found.id : null;
    plot.hover(id);
    now.over = found;
    now.pile = null;
    if (plot.op === 'groups') {
      drawStatus();
      return;
    }
    ctx.pass(id);
    if (plot.op === 'raster' && id !== null && !store.get().only &&
        ctx.cover().ops.includes('pile')) {
      askPile(found).catch(ctx.failed);
    }
  };
  /** What shares the pixel under the pointer, when a pixel is more than the allocation shown. */
  async function askPile(found) {
    now.pile = null;
    const { by } = store.get();
    const row = now.picture.H - 1 - found.row;
    const low = now.picture.y0 + row * found.perPixel;
    const pile = await ctx.call('pile', { state: found.state, low, high: low + found.perPixel,
      by });
    if (!pile || now.over !== found || pile.count < 2) return;
    now.pile = pile;
    drawStatus();
  }
  /** Shows an allocation in passing: outline, status line, grey details. */
  ctx.pass = (id) => {
    if (id === now.passing) {
      drawStatus();
      return;
    }
    now.passing = id;
    now.passed = null;
    const plot = ctx.plot();
    if (plot) plot.hover(id);
    if (id === null) {
      details.hover(null);
      drawStatus();
      return;
    }
    ctx.call('row', { id, state: store.get().at }).then((d) => {
      if (!d || now.passing !== id) return;
      now.passed = d;
      details.hover(d);
      drawStatus();
    }, ctx.failed);
  };
  ctx.clicked = (plot, found) => {
    if (!found) return;
    const { sel, by } = store.get();
    if (plot.op === 'groups') {
      if (found.group < 0 || found.id < 0) store.move({ at: found.state });
      else store.jump({ at: found.state, view: 'stack', query: termOf(by,
        ctx.groupName(found.group)), only: true });
      return;
    }
    if (found.id < 0) store.move({ at: found.state, sel: null });
    else if (sel && sel.id === found.id) store.move({ at: found.state, sel: null });
    else store.move({ at: found.state, sel: { kind: 'alloc', id: found.id } });
  };
  ctx.pinPassing = () => {
    const { sel } = store.get();
    if (now.passing !== null) store.move({ sel: sel && sel.id === now.passing ? null :
      { kind: 'alloc', id: now.passing } });
  };
  ctx.pin = (id, at) => store.jump(at === undefined ? { sel: { kind: 'alloc', id } } :
    { sel: { kind: 'alloc', id }, at });
  ctx.selected = (d) => {
    now.selected = d;
    if (now.view && now.view.plot) now.view.plot.update();
  };
  ctx.zoomToLife = async (found) => {
    if (!found || found.id < 0 || found.id === null) return;
    const d = await ctx.call('row', { id: found.id, state: store.get().at });
    if (!d) return;
    const end = d.end === null ? now.cover.states : d.end;
    const room = Math.max(2, (end - d.born) * 0.05);
    store.jump({ x: { mode: 'events', from: d.born - room, to: end + room }, sel: { kind: 'alloc',
      id: d.id } });
  };
  ctx.zoomToSelection = () => {
    const { range, sel } = store.get();
    if (range) store.jump({ x: { mode: 'events', from: range.a, to: range.b + 1 } });
    else if (sel) ctx.zoomToLife(sel);
    else ctx.note('nothing is selected');
  };
  ctx.showOom = (oom) => ctx.goTo(oom.state);
  ctx.follow = (finding) => {
    const place = placeOf(finding, (id) => viewsOf(now.cover).some((view) => view.id === id));
    const part = { ...place };
    const { x } = store.get();
    if (place.at !== undefined && x.mode === 'events' && (place.at < x.from || place.at >= x.to)) {
      part.x = around(x, place.at, store.limits());
    }
    store.jump(part);
  };
  ctx.viewByKey = (key) => {
    const view = viewsOf(now.cover).find((one) => one.key === key);
    if (view && !closedReason(view, now.cover)) store.jump({ view: view.id });
    else ctx.note('this recording has no such view');
  };
  ctx.toggleTheme = () => {
    const dark = document.documentElement.dataset.theme === 'dark';
    store.move({ theme: dark ? 'light' : 'dark' });
  };
  ctx.copyLink = () => {
    writeLink();
    copyText(location.href).then((done) => ctx.note(done ? 'link copied' :
      'the browser refused to copy'));
  };
  ctx.closeDialog = () => {
    const open = document.querySelector('dialog[open]');
    if (open) open.close();
    else if (!byId('report').hidden) {
      byId('report').hidden = true;
      return true;
    }
    return Boolean(open);
  };
  ctx.help = () => openHelp([
    { name: 'keys of one letter', on: settings.single, set: (on) => { settings.single = on; } },
    { name: 'the plain wheel pans', on: settings.wheelPans, set: (on) =>
      { settings.wheelPans = on; } },
    { name: 'patterns as well as colours', on: store.get().patterns, set: (on) =>
      store.move({ patterns: on }) },
  ], viewsOf(now.cover));
  ctx.tables = () => [who && { name: 'who', table: who.table },
    range.table() && { name: 'range', table: range.table() },
    now.view && now.view.table && { name: now.view.id, table: now.view.table() }]
    .filter((one) => one && one.table);
  ctx.export = () => openExport(ctx);

  const overview = createOverview(byId('overview'), ctx);
  const details = createDetails(byId('details'), ctx);
  const who = createWho(byId('who'), ctx);
  const range = createRange(byId('range'), ctx);
  const search = createSearch(ctx);
  ctx.search = search.search;
  ctx.visit = search.visit;
  ctx.focusFind = search.focus;

  function hoverText() {
    if (now.said) return now.said;
    const d = now.passed;
    if (d) {
      return `${words(d.category)} ${bytes(d.bytes)} \u00b7 ${d.owner || 'no stack'} \u00b7 ` +
        `${eventName(d.born)} \u2013 ${d.end === null ? 'the end' : eventName(d.end)}` +
        (now.pile ? ` \u00b7 ${count(now.pile.count)} share this pixel, ${bytes(now.pile.bytes)}` :
          '');
    }
    const found = now.over;
    if (found && found.group >= 0 && found.id >= 0) {
      return groupText(store.get().by, ctx.groupName(found.group));
    }
    return '';
  }

  function statusText() {
    const live = now.live;
    if (!live) return '';
    const grade = gradeOf(head, store.get());
    const parts = [(grade === 'D' ? 'grade D \u00b7 ' : '') + eventName(live.state)];
    if (live.time !== null && live.time !== undefined) parts.push(duration(live.time));
    const least = now.cover.startUnknown ? '\u2265 ' : '';
    parts.push(`${least}${bytes(live.bytes)} requested`);
    if (live.active !== undefined && live.active !== null) {
      parts.push(`${now.cover.activeExact ? '' : '~ '}${bytes(live.active)} active`);
    }
    if (live.reserved !== undefined && live.reserved !== null) {
      parts.push(`${bytes(live.reserved)} reserved`);
    }
    parts.push(`${count(live.count)} live`);
    const peak = now.cover.peak;
    if (peak && peak.state === live.state) {
      parts.push((now.cover.cut ? 'peak of the part read' : 'peak') + (peak.ties > 1 ?
        `, ${peak.ties} times` : ''));
    }
    return parts.join(' \u00b7 ');
  }

  function drawStatus() {
    const hover = hoverText();
    byId('status-text').textContent = shown(statusText() + (hover ? '   |   ' + hover : ''));
    byId('status-note').textContent = now.pending ? '\u2026' : '';
  }

  function speak() {
    clearTimeout(now.spoken);
    now.spoken = setTimeout(() => { byId('live').textContent = shown(statusText()); }, 500);
  }

  let liveWanted = 0;
  function drawLive() {
    const { at, by } = store.get();
    const mine = ++liveWanted;
    ctx.call('live', { state: at, by: by === 'birth' ? 'category' : by }).then((live) => {
      if (!live || mine !== liveWanted) return;
      now.live = live;
      for (const row of live.rows) now.names.set(row.key, row.name);
      who.update(live);
      if (now.view && now.view.live) now.view.live(live);
      drawStatus();
      speak();
    }, ctx.failed);
  }

  async function chooseSlots() {
    const { file, dev, by } = store.get();
    const key = [file, dev, by].join();
    if (key === now.slotsKey || !now.cover.peak) return;
    now.slotsKey = key;
    const kind = by === 'birth' ? 'category' : by;
    const live = await ctx.call('live', { state: now.cover.peak.state, by: kind, all: true });
    if (!live || key !== now.slotsKey) return;
    now.slots = slotsOf(kind, live.rows);
    now.names = new Map(live.rows.map((row) => [row.key, row.name]));
    for (const one of live.names || []) now.names.set(one.key, one.name);
    if (kind === 'category' && live.names) now.slots = slotsOf(kind, live.names);
    if (now.view && now.view.redraw) now.view.redraw();
    drawLive();
  }

  function setTheme() {
    const { theme } = store.get();
    const dark = theme ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    now.palette = readPalette();
  }

  function openView(id) {
    const views = viewsOf(now.cover);
    const view = views.find((one) => one.id === id) || views[0];
    if (!view) return;
    for (const node of byId('view').children) node.hidden = true;
    if (!made.has(view.id)) {
      const host = document.createElement('div');
      host.className = 'pane';
      byId('view').append(host);
      made.set(view.id, { host, id: view.id, ...view.make(host, ctx) });
    }
    now.view = made.get(view.id);
    now.view.host.hidden = false;
    now.picture = now.view.plot ? now.view.plot.exact() : null;
    drawTabs(views, now.cover, view.id, (next) => store.jump({ view: next }));
    if (now.live && now.view.live) now.view.live(now.live);
  }

  function changed(state, before, kind) {
    if (state.file !== before.file || state.dev !== before.dev) {
      openDevice(state).catch(broken);
      return;
    }
    if (state.theme !== before.theme) {
      setTheme();
      if (now.live) who.update(now.live);
    }
    if (state.view !== before.view) openView(state.view);
    if (state.by !== before.by) chooseSlots();
    if (state.at !== before.at || state.by !== before.by) drawLive();
    else if (now.live) {
      if (state.wide !== before.wide) who.update(now.live);
      if (now.view && now.view.live) now.view.live(now.live);
    }
    if ((state.theme !== before.theme || state.patterns !== before.patterns) && now.view &&
        now.view.redraw) {
      now.view.redraw();
    }
    overview.draw();
    details.update();
    range.update();
    search.update(state, before);
    if (now.view) now.view.update(state, before);
    drawStatus();
    if (kind !== 'link') writeLink(kind);
  }

  function writeLink(kind) {
    if (!link) return;
    const fragment = link.write(store.get()).replace(/^#?/, '#');
    if (fragment === location.hash) return;
    if (kind === 'jump') history.pushState(null, '', fragment);
    else history.replaceState(null, '', fragment);
  }

  function readLink() {
    if (!link || location.hash.length < 2) return null;
    const { state, notes } = link.read(location.hash);
    if (notes.length) ctx.note(notes.join('; '));
    return state;
  }

  function drawTop(state) {
    drawFiles(head, state, (file) => store.jump({ file, dev: 0 }));
    drawDevices(head, state, (dev) => store.jump({ dev }));
    drawTrust(head, state);
    drawVerdicts(head, state, ctx.follow);
  }

  /** The report stays when the data cannot be read. */
  function broken(error) {
    ctx.failed(error);
    byId('report').hidden = false;
  }

  async function openDevice(state, given) {
    drawTop(state);
    for (const view of made.values()) if (view.forget) view.forget();
    now.picture = now.live = null;
    now.slotsKey = '';
    const { file, dev } = state;
    const empty = head.files[file].devices.length === 0;
    const parts = ['overview', 'split-overview', 'work', 'status', 'find', 'show-report',
      'show-export'];
    for (const id of parts) byId(id).hidden = empty;
    byId('report').classList.toggle('aside', !empty);
    byId('report').hidden = !empty;
    byId('page').classList.toggle('bare', empty);
    if (empty) {
      now.cover = noCover();
      return;
    }
    let cover = await ctx.call('cover', {});
    if (store.get().file !== file || store.get().dev !== dev) return;
    showCover(cover, state, given);
    if (cover.complete === false) {
      cover = await ctx.call('cover', { wait: true });
      if (store.get().file !== file || store.get().dev !== dev) return;
      showCover(cover, state, given);
    }
    await chooseSlots();
    drawLive();
    details.update();
    range.update();
  }

  function showCover(cover, state, given) {
    now.cover = { cut: isCut(head, state), ...cover };
    store.setLimits(limitsOf(cover));
    const first = firstState(limitsOf(cover));
    const big = cover.allocations > 5e6;
    const view = cover.states < 2 && cover.ops.includes('state') ? 'state' : big ? 'groups' :
      state.view;
    store.move({ x: first.x, at: first.at, sel: null, range: null, marks: [], view, ...given });
    if (cover.problem) ctx.failed(cover.problem);
    overview.draw();
    if (cover.complete !== false) openView(store.get().view);
    if (now.view) now.view.update(store.get(), state);
  }

  function listen() {
    document.addEventListener('keydown', (event) => {
      const node = event.target;
      const dialog = node.closest && node.closest('dialog');
      const action = actionOf(event, { single: settings.single,
        field: node.matches('input, textarea, select') || Boolean(dialog),
        widget: node.matches('button, a, [role="separator"], [role="treeitem"]') });
      if (!action || (dialog && action !== 'escape')) return;
      event.preventDefault();
      perform(action, event, ctx);
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      setTheme();
      changed(store.get(), { ...store.get(), theme: '' }, 'link');
    });
    addEventListener('popstate', () => {
      const state = readLink();
      if (state) store.move(state);
    });
    byId('show-help').addEventListener('click', ctx.help);
    byId('show-export').addEventListener('click', ctx.export);
    byId('show-report').addEventListener('click', () =>
      { byId('report').hidden = !byId('report').hidden; });
    addEventListener('beforeprint', () => fill(byId('print-link'), location.hash));
  }

  async function open() {
    const given = readLink() || {};
    setSplitters(() => overview.draw());
    store.listen(changed);
    listen();
    const { theme = null, file = 0, dev = 0, ...rest } = given;
    if (theme) store.move({ theme });
    setTheme();
    if (file || dev) store.move({ file, dev });
    await openDevice(store.get(), rest).catch(broken);
  }

  return { open, ctx };
}
