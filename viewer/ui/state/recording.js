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

/** `learn(cover)` is for who asks for covers: opening.js. */
export function createRecording(head, store) {
  let cover = noCover;
  const file = () => head.files[store.get().file];
  return {
    head,
    learn: (next) => { cover = next; },
    cover: () => cover,
    device: () => file().devices[store.get().dev] || {},
    fileName: () => file().name,
    capacity: () => capacityOf(store.get(), cover),
    lowest: () => Math.min(0, cover.adjust || 0),
    views: () => viewsOf(cover, head),
  };
}
