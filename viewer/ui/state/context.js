// context.js - what the parts of the page share: its state, the engine, and what is known by now.
import { bytes, duration } from '../../core/model/human.js';
import { eventName, shown } from '../draw/text.js';
import { termOf } from '../parts/search.js';

/** What stands for the cover of a device until there is one, or where there is no device. */
export const noCover = { states: 1, at: [0], requested: [0], reserved: null, active: null,
  peak: null, peaks: [], time: null, adjust: 0, ooms: [], steps: [], phases: [], mallocs: [],
  by: [], ops: [], allocations: 0, before: 0, has: { stacks: false, events: false } };

const pictureWords = { raster: 'Allocations', map: 'Addresses' };

/** What is known of the state before anything is. */
function nothingKnown() {
  return {
    cover: noCover,
    covers: null,       // the promise of those of all devices
    palette: null,
    slots: new Map(),   // the colour of each group
    names: new Map(),   // of groups
    live: null,         // who holds the memory at the cursor
    picture: null,      // the exact one of the open view
    over: null,         // what a plot says of the point under the pointer
    pile: null,         // what shares that pixel
    passing: null,      // the allocation under the pointer,
    passed: null,       // and what the engine says of it
    said: '',           // what a view that is no plot says of the point under the pointer
    selected: null,     // what the engine says of the pinned allocation
    pending: false,     // a picture is being made
    view: null,         // the open view
    views: new Map(),   // those that were opened, by id
    note: '', noting: 0, // what the page has to say, and the timer of its end
    speaking: 0,        // the timer of what is to be said,
    spoken: -Infinity,  // when something was said last,
    unspoken: [],       // and what is to be said
    given: null,        // what a link says of the device that is being opened,
    openings: 0,        // and how many were
    compared: null,     // what compared.js keeps
    flameOf: 'cursor',  // what the flame graph is of
    printing: false,
    writing: 0,         // the timer of the address that is to be written,
    unwritten: null,    // that address, and when one was last added to the history
    pushed: -Infinity,
    holdersAsked: 0,    // how often it was asked who holds the memory
    slotsKey: '',       // what the colours were asked for
  };
}

/** The capacity that a person set, or the device's, with a name; null where neither is known. */
function capacityOf(ctx) {
  const { cap } = ctx.store.get();
  if (cap) return { bytes: cap, name: 'capacity ' + bytes(cap) };
  const least = ctx.now.cover.capacityLeast;
  return least ? { bytes: least, name: `\u2265 ${bytes(least)}, from the OOM` } : null;
}

function pictureName(ctx, op) {
  const { x } = ctx.store.get();
  const { peak, name } = ctx.now.cover;
  const named = x.mode === 'time' ? [duration(x.from), duration(x.to)] :
    [eventName(x.from), eventName(x.to - 1)];
  return shown(`${pictureWords[op] || 'Groups'} of ${ctx.fileName()}, ${name || ''}, peak ` +
    `${peak ? bytes(peak.bytes) : '-'}, ${named.join(' to ')}`);
}

/**
 * The context that every part of the page is given.  `now` is written by the modules that
 * page.js binds to it (travel.js, pointer.js and others); the parts of the page read it by the
 * functions here.
 */
export function createContext(head, engine, link, store) {
  const now = nothingKnown();
  const { editor = null, editor_path: editorPath = null } = head.options || {};
  const settings = { single: true, wheelPans: false, editor, editorPath };
  const file = () => head.files[store.get().file];
  const ctx = {
    store, link, now, settings, termOf,
    call: (op, args) => {
      const { file, dev } = store.get();
      return engine(op, { file, dev, ...args });
    },
    head: () => head,
    covers: () => (now.covers ??= engine('covers', {})),
    device: () => file().devices[store.get().dev] || {},
    fileName: () => file().name,
    cover: () => now.cover,
    palette: () => now.palette,
    slots: () => now.slots,
    groupName: (group) => now.names.get(group) || '',
    capacity: () => capacityOf(ctx),
    lowest: () => Math.min(0, now.cover.adjust || 0),
    current: () => now.view,
    plot: () => (now.view && now.view.plot) || null,
    picture: () => now.picture,
    pictureName: (op) => pictureName(ctx, op),
    span: () => (now.picture ? { from: now.picture.span[0], to: now.picture.span[1] } : null),
    passing: () => now.passing,
    pinned: () => now.selected,
    wheelPans: () => settings.wheelPans,
  };
  return ctx;
}
