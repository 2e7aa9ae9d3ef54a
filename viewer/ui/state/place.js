// place.js - the address of the page, whose fragment holds the state: written, read, copied.
import { copyText } from '../draw/dom.js';
import { closedReason } from './catalogue.js';
import { reportOf } from './report.js';
import { firstState } from './store.js';

/** Browsers refuse to change an address often; the strictest, a hundred times in 30 seconds. */
const pause = 350;

function put(method, fragment) {
  if (fragment !== null && fragment !== location.hash) history[method](null, '', fragment);
}

/** Writes what waits to be written. */
function flush(place) {
  clearTimeout(place.writing);
  place.writing = 0;
  put('replaceState', place.unwritten);
  place.unwritten = null;
}

/**
 * A jump is an entry of the browser's history, any other `kind` of change is not.  Changes that
 * follow each other closely are written once.
 */
function write(place, kind) {
  const { store, link } = place;
  if (!link) return;
  const fragment = link.write(store.get()).replace(/^#?/, '#');
  if (kind === 'jump' && Date.now() - place.pushed >= pause) {
    flush(place);
    put('pushState', fragment);
    place.pushed = Date.now();
    return;
  }
  place.unwritten = fragment;
  if (!place.writing) place.writing = setTimeout(() => flush(place), pause);
}

/** The part of the state that the address gives, or null. */
function read({ link, recording, note }) {
  if (!link || location.hash.length < 2) return null;
  const { state, notes } = link.read(location.hash);
  const { files } = recording.head;
  for (const [key, list] of [['file', files],
    ['dev', (files[state.file || 0] || files[0]).devices]]) {
    if (state[key] === undefined || state[key] < Math.max(1, list.length)) continue;
    notes.push(`the link has ${key}=${state[key]}, this page has ${list.length}`);
    delete state[key];
  }
  if (notes.length) note(notes.join('; '));
  return state;
}

/** What of a link's state a device has; each other value falls back, with a note. */
function fitting({ recording, note }, { ...given }) {
  const cover = recording.cover();
  if (cover.complete === false) return given;
  const notes = [];
  const drop = (key, why) => {
    if (given[key] === undefined || given[key] === null) return;
    notes.push(why);
    delete given[key];
  };
  const view = recording.views().find((one) => one.id === given.view);
  if (!view || closedReason(view, cover)) drop('view', `no view ${given.view} here`);
  if (!cover.by.includes(given.by)) drop('by', `no groups by ${given.by} here`);
  if (given.without && !cover.by.includes(given.without.by)) {
    drop('without', `no groups by ${given.without.by} here`);
  }
  if (given.sel && given.sel.id >= cover.allocations) {
    drop('sel', `no allocation ${given.sel.id} here`);
  }
  if (given.x && given.x.mode === 'time' && !cover.time) drop('x', 'no times were recorded');
  if (notes.length) note(notes.join('; '));
  return given;
}

/** Goes to a device, which is then opened as `given` says. */
function openAs(place, { file, dev }, given) {
  place.given = given;
  place.store.move({ file, dev });
}

/** Goes to where the address says, which Back and Forward have changed. */
function follow(place) {
  const { store } = place;
  clearTimeout(place.writing);
  place.writing = 0;
  place.unwritten = null;
  const link = read(place);
  if (!link) return;
  // What the address is silent of is as in the beginning, but for what is of the page alone.
  const { x, at, theme, folded, wide, ...first } = firstState(store.limits());
  const { file = 0, dev = 0, ...rest } = { ...first, ...link };
  const before = store.get();
  if (file === before.file && dev === before.dev) {
    store.move(fitting(place, { x, at, ...rest }));
    return;
  }
  openAs(place, { file, dev }, rest);
}

function copy({ note }, what, text) {
  copyText(text).then((done) => note(done ? `${what} copied` : 'the browser refused to copy'));
}

function address(place) {
  write(place);
  flush(place);
  return { fragment: location.hash, whole: location.href };
}

/** Where a page without a link begins: the device where a request failed, else that with the
 * highest peak; with many files on all of them. */
export function firstPlace(head) {
  const all = head.files.flatMap((file, f) => file.devices.map((_, dev) => {
    const { oom_events: ooms, requested } = reportOf(head, f, dev);
    return { file: f, dev, rank: [Boolean(ooms), requested?.peak_bytes ?? -1] };
  }));
  all.sort(({ rank: [a, x] }, { rank: [b, y] }) => b - a || y - x);
  const { file, dev } = all[0] ?? { file: 0, dev: 0 };
  return head.files.length > 1 ? { file, dev, view: 'all' } : { file, dev };
}

/** `link`: { write(state), read(fragment) } of link.js, or null. */
export function createPlace({ store, link, recording, note }) {
  const place = { store, link, recording, note,
    given: null,        // what a link says of the device that is being opened
    writing: 0,         // the timer of the address that is to be written,
    unwritten: null,    // that address, and when one was last added to the history
    pushed: -Infinity };
  return {
    write: (kind) => write(place, kind),
    flush: () => flush(place),
    read: () => read(place),
    fitting: (given) => fitting(place, given),
    openAs: (device, given) => openAs(place, device, given),
    /** What `openAs` was given, once. */
    takeGiven: () => {
      const { given } = place;
      place.given = null;
      return given;
    },
    follow: () => follow(place),
    copy: (what, text) => copy(place, what, text),
    /** Of what is on screen: { fragment, whole }. */
    address: () => address(place),
    copyLink: () => copy(place, 'link', address(place).whole),
  };
}
