// place.js - the address of the page, whose fragment holds the state: written, read, copied.
import { windowOf } from '../../core/memory/curves.js';
import { copyText } from '../draw/dom.js';
import { closedReason } from './catalogue.js';
import { reportOf } from './report.js';
import { firstState } from './store.js';

/** What a link may say of a page that shows all its files. */
const ofAnyView = new Set(['theme', 'patterns', 'cap']);
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

/** What belongs to a device, and not to that which is being opened. */
const ofDevice = { view: null, x: null, y: null, at: null, by: null, sel: null, without: null,
  range: null, marks: [] };

/**
 * A jump is an entry of the browser's history, and so is one that is undone; any other `kind` of
 * change is not.  Changes that follow each other closely are written once.
 */
function write(place, kind) {
  const { store, link } = place;
  // The address may say where to begin in what is being opened.
  if (!link || (place.leaving && kind !== 'jump')) return;
  const fragment = link.write(place.leaving ? { ...store.get(), ...ofDevice } : store.get())
    .replace(/^#?/, '#');
  if (['jump', 'undo'].includes(kind) && Date.now() - place.pushed >= pause) {
    flush(place);
    put('pushState', fragment);
    place.pushed = Date.now();
    return;
  }
  place.unwritten = fragment;
  if (!place.writing) place.writing = setTimeout(() => flush(place), pause);
}

/** A link with the file and the device that it means, and what it asks for in vain: where it names
 * none that is here, they are those that a page without a link begins with. */
export function placed(head, { file, dev, ...rest }) {
  const { files } = head;
  const notes = [];
  const isThere = (key, value, n) => {
    if (value === undefined || value < Math.max(1, n)) return value !== undefined;
    notes.push(`the link has ${key}=${value}, this page has ${n}`);
    return false;
  };
  const first = firstPlace(head);
  const hasFile = isThere('file', file, files.length);
  const one = hasFile ? file : first.file;
  // A device of a file that is not here is none of another's.
  const hasDevice = (hasFile || file === undefined) &&
    isThere('dev', dev, files[one]?.devices.length ?? 0);
  const { view } = hasFile || hasDevice || Object.keys(rest).some((key) => !ofAnyView.has(key)) ?
    {} : first;
  return { notes, state: { ...(view && { view }), ...rest, file: one,
    dev: hasDevice ? dev : mostTelling(head, one).dev } };
}

/** The state that the address gives, of the page without a link where it gives none. */
function read({ link, recording, note }) {
  if (!link) return firstPlace(recording.head);
  const given = link.read(location.hash);
  const { state, notes } = placed(recording.head, given.state);
  if (given.notes.length + notes.length) note([...given.notes, ...notes].join('; '));
  return state;
}

/** Of what a link has in sight that which is here; no zoom that only leaves the recording. */
function clip(given, cover, drop, notes) {
  const { mode, from, to } = given.x;
  const [least, past] = mode === 'time' ? cover.time : windowOf(cover);
  if (from >= past || to <= least) {
    drop('x', `the link has ${mode === 'time' ? 'times' : 'events'} that are not here`);
  } else if (from < least || to > past) {
    // What was rounded for an address is no more than a link may have.
    if (from < least - 1 || to > past + 1) notes.push('of what the link shows a part is not here');
    given.x = { mode, from: Math.max(from, least), to: Math.min(to, past) };
  }
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
  if (given.x) clip(given, cover, drop, notes);
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
  if (!place.link) return;
  // What the address is silent of is as in the beginning, but for what is of the page alone.
  const { x, at, theme, folded, wide, ...first } = firstState(store.limits());
  const { file, dev, ...rest } = { ...first, ...read(place) };
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

/** The device where a request failed, else that with the highest peak, of one file or of all:
 * { file, dev }. */
export function mostTelling(head, only = null) {
  const all = head.files.flatMap((file, f) => file.devices.map((_, dev) => {
    const { oom_events: ooms, requested } = reportOf(head, f, dev);
    return { file: f, dev, rank: [Boolean(ooms), requested?.peak_bytes ?? -1] };
  })).filter(({ file }) => only === null || file === only);
  all.sort(({ rank: [a, x] }, { rank: [b, y] }) => b - a || y - x);
  const { file, dev } = all[0] ?? { file: only ?? 0, dev: 0 };
  return { file, dev };
}

/** Where a page without a link begins: with many files on all of them. */
export function firstPlace(head) {
  const place = mostTelling(head);
  return head.files.length > 1 ? { ...place, view: 'all' } : place;
}

/** `link`: { write(state), read(fragment) } of link.js, or null. */
export function createPlace({ store, link, recording, note }) {
  const place = { store, link, recording, note,
    given: null,        // what a link says of the device that is being opened
    leaving: false,     // whether the state is still that of another device
    writing: 0,         // the timer of the address that is to be written,
    unwritten: null,    // that address, and when one was last added to the history
    pushed: -Infinity };
  return {
    write: (kind) => write(place, kind),
    /** Another device is opened; until it has arrived, the state is no place of it. */
    leave: () => { place.leaving = true; },
    arrive: () => { place.leaving = false; },
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
