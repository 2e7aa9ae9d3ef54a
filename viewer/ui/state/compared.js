// compared.js - which two devices and moments are compared: in the table of Diff and in Flame.
import { windowOf } from '../../core/memory/curves.js';

/** Every device of every file as [key, name]; key is `file.dev`. */
export function sidesOf(head) {
  return head.files.flatMap((file, f) => file.devices.map((device, d) =>
    [`${f}.${d}`, `${file.name} ${device.name}`]));
}

/** The state of a moment in a device; the cursor counts in the open one only. */
export function stateOf(moment, cover, cursor) {
  const [from, past] = windowOf(cover);
  if (moment === 'end') return past - 1;
  if (moment === 'cursor') return Math.min(Math.max(from, cursor), past - 1);
  return cover.peak ? cover.peak.state : 0;
}

/** Takes the marks A and B of the open device; false where they are not both set. */
function useMarks(compared) {
  const { marks, file, dev } = compared.store.get();
  if (marks.length < 2) return false;
  of(compared).marks = { file, dev, states: marks };
  return true;
}

/** Marks that were set since they were last looked at are what is compared; gone, they are not. */
function followMarks(compared) {
  const { marks, file, dev } = compared.store.get();
  const now = [file, dev, ...marks].join();
  if (now === compared.marksSeen) return;
  compared.marksSeen = now;
  compared.chosen.marks = marks.length < 2 ? null : { file, dev, states: marks };
}

function of(compared) {
  const { store, head } = compared;
  const sides = sidesOf(head);
  if (!compared.chosen) {
    const several = sides.length > 1;
    compared.chosen = { a: sides[0][0], atA: 'peak', b: sides[several ? 1 : 0][0],
      atB: several ? 'peak' : 'cursor', marks: null };
  }
  followMarks(compared);
  const given = (store.get().sides || '').split('-');
  if (given.length === 2 && given.every((key) => sides.some(([one]) => one === key))) {
    [compared.chosen.a, compared.chosen.b] = given;
  }
  return compared.chosen;
}

function keyOf(compared) {
  const chosen = of(compared);
  const moving = !chosen.marks && (chosen.atA === 'cursor' || chosen.atB === 'cursor');
  return [chosen, moving ? compared.store.get().at : null];
}

async function endsOf(compared) {
  const { store, ask } = compared;
  const { a, atA, b, atB, marks } = of(compared);
  if (marks) return marks.states.map((state) => ({ file: marks.file, dev: marks.dev, state }));
  return Promise.all([[a, atA], [b, atB]].map(async ([key, moment]) => {
    const [file, dev] = key.split('.').map(Number);
    const cover = await ask('cover', { file, dev, wait: true });
    return { file, dev, state: stateOf(moment, cover, store.get().at) };
  }));
}

export function createCompared({ store, head, ask }) {
  const compared = { store, head, ask, chosen: null, marksSeen: null };
  return {
    /** { a, atA, b, atB } and `marks`, which stand for all of them until null; to be written. */
    of: () => of(compared),
    useMarks: () => useMarks(compared),
    /** What the ends follow from. */
    key: () => keyOf(compared),
    /** Both as { file, dev, state }. */
    ends: () => endsOf(compared),
  };
}
