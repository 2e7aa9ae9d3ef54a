// place.js - the address of the page, whose fragment holds the state: written, read, copied.
import { closedReason, viewsOf } from '../views/views.js';
import { copyText } from '../draw/dom.js';
import { firstState } from './store.js';

/** Browsers refuse to change an address often; the strictest, a hundred times in 30 seconds. */
const pause = 350;

function put(method, fragment) {
  if (fragment !== null && fragment !== location.hash) history[method](null, '', fragment);
}

/** Writes what waits to be written. */
function flushLink({ now }) {
  clearTimeout(now.writing);
  now.writing = 0;
  put('replaceState', now.unwritten);
  now.unwritten = null;
}

/**
 * A jump is an entry of the browser's history, any other `kind` of change is not.  Changes that
 * follow each other closely are written once.
 */
function writeLink(ctx, kind) {
  if (!ctx.link) return;
  const { now } = ctx;
  const fragment = ctx.link.write(ctx.store.get()).replace(/^#?/, '#');
  if (kind === 'jump' && Date.now() - now.pushed >= pause) {
    flushLink(ctx);
    put('pushState', fragment);
    now.pushed = Date.now();
    return;
  }
  now.unwritten = fragment;
  if (!now.writing) now.writing = setTimeout(() => flushLink(ctx), pause);
}

/** The part of the state that the address gives, or null. */
function readLink(ctx) {
  if (!ctx.link || location.hash.length < 2) return null;
  const { state, notes } = ctx.link.read(location.hash);
  const { files } = ctx.head();
  for (const [key, list] of [['file', files],
    ['dev', (files[state.file || 0] || files[0]).devices]]) {
    if (state[key] === undefined || state[key] < Math.max(1, list.length)) continue;
    notes.push(`the link has ${key}=${state[key]}, this page has ${list.length}`);
    delete state[key];
  }
  if (notes.length) ctx.note(notes.join('; '));
  return state;
}

/** What of a link's state a device has; each other value falls back, with a note. */
function fitting(ctx, { ...given }) {
  const cover = ctx.cover();
  if (cover.complete === false) return given;
  const notes = [];
  const drop = (key, why) => {
    if (given[key] === undefined || given[key] === null) return;
    notes.push(why);
    delete given[key];
  };
  const view = viewsOf(cover, ctx.head()).find((one) => one.id === given.view);
  if (!view || closedReason(view, cover)) drop('view', `no view ${given.view} here`);
  if (!cover.by.includes(given.by)) drop('by', `no groups by ${given.by} here`);
  if (given.sel && given.sel.id >= cover.allocations) {
    drop('sel', `no allocation ${given.sel.id} here`);
  }
  if (given.x && given.x.mode === 'time' && !cover.time) drop('x', 'no times were recorded');
  if (notes.length) ctx.note(notes.join('; '));
  return given;
}

/** Goes to where the address says, which Back and Forward have changed. */
function followLink(ctx) {
  const { now, store } = ctx;
  clearTimeout(now.writing);
  now.writing = 0;
  now.unwritten = null;
  const link = ctx.readLink();
  if (!link) return;
  // What the address is silent of is as in the beginning, but for what is of the page alone.
  const { x, at, theme, folded, wide, ...first } = firstState(store.limits());
  const { file = 0, dev = 0, ...rest } = { ...first, ...link };
  const before = store.get();
  if (file === before.file && dev === before.dev) {
    store.move(fitting(ctx, { x, at, ...rest }));
    return;
  }
  now.given = rest;
  store.move({ file, dev });
}

function copy(ctx, what, text) {
  copyText(text).then((done) =>
    ctx.note(done ? `${what} copied` : 'the browser refused to copy'));
}

function copyLink(ctx) {
  writeLink(ctx);
  flushLink(ctx);
  copy(ctx, 'link', location.href);
}

/** Methods of the context. */
export const place = { writeLink, flushLink, readLink, fitting, followLink, copy, copyLink };
