// recording.js - what is known of the open device: its cover, and what the head says of it.
import { bytes } from '../../core/model/human.js';
import { viewsOf } from './catalogue.js';

/** What stands for the cover of a device until there is one, or where there is no device. */
export const noCover = { states: 1, at: [0], requested: [0], reserved: null, active: null,
  peak: null, peaks: [], time: null, adjust: 0, ooms: [], steps: [], phases: [], mallocs: [],
  by: [], ops: [], allocations: 0, before: 0, has: { stacks: false, events: false } };

/** The capacity that a person set, or the device's, with a name; null where neither is known. */
function capacityOf({ cap }, { capacityLeast: least }) {
  if (cap) return { bytes: cap, name: 'capacity ' + bytes(cap) };
  return least ? { bytes: least, name: `\u2265 ${bytes(least)}, from the OOM` } : null;
}

/** The cover without what is taken out; until that is known, nothing of its curve. */
function leftOf(cover, without, peel) {
  if (!without) return cover;
  const known = peel && JSON.stringify(peel.without) === JSON.stringify(without);
  const { requested, peaks, state, bytes, ties } = known ? peel : { requested: [], peaks: [] };
  // What would have been reserved is not known.
  return { ...cover, whole: cover.requested, requested, reserved: null, active: null, peaks,
    peak: known ? { state, bytes, ties } : null };
}

/** The text of lines in their files, by their names; none where files differ about it. */
export function sourcesOf({ source = [] }) {
  const texts = new Map();
  for (const { site, text } of source) {
    texts.set(site, (texts.get(site) ?? text) === text ? text : '');
  }
  return texts;
}

/** `learn(cover)` is for who asks for covers: opening.js; `peel(answer)` for peel.js. */
export function createRecording(head, store) {
  let cover = noCover;
  let peel = null;
  const sources = sourcesOf(head);
  const file = () => head.files[store.get().file];
  return {
    head,
    learn: (next) => { cover = next; },
    cover: () => cover,
    peel: (answer) => { peel = answer; },
    /** The cover of what is left. */
    left: () => leftOf(cover, store.get().without, peel),
    device: () => file().devices[store.get().dev] || {},
    /** The text of a line, where the page has it. */
    sourceOf: (site) => sources.get(site) ?? '',
    fileName: () => file().name,
    capacity: () => capacityOf(store.get(), cover),
    lowest: () => Math.min(0, cover.adjust || 0),
    views: () => viewsOf(cover, head),
  };
}
