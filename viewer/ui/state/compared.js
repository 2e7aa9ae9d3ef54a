// compared.js - which two devices and moments are compared: in the table of Diff and in Flame.
import { windowOf } from '../../core/memory/curves.js';
import { unitsOf } from '../../core/memory/many.js';
import { shown } from '../draw/text.js';

/** Every device of every file as [key, name]; key is `file.dev`. */
export function sidesOf(head) {
  return head.files.flatMap((file, f) => file.devices.map((device, d) =>
    [`${f}.${d}`, `${file.name} ${device.name}`]));
}

/** Where the step begins that has the peak, or what follows the last step; else where the
 * recording begins: { state, words }. */
function beforePeak({ steps, peak, ...cover }) {
  const [from] = windowOf(cover);
  const start = { state: from, words: from > 0 ? 'the first event held' : 'the start' };
  for (const { first, last, name } of peak ? steps : []) {
    if (first >= from && first < peak.state) {
      Object.assign(start, { state: first, words: `the start of ${shown(name)}` });
    }
    if (last >= from && last < peak.state) {
      Object.assign(start, { state: last, words: `the end of ${shown(name)}` });
    }
  }
  return start;
}

/** The state of a moment in a device, and what it is called; the cursor counts in the open one
 * only. */
export function momentOf(moment, cover, cursor) {
  const [from, past] = windowOf(cover);
  if (moment === 'before') return beforePeak(cover);
  if (moment === 'end') return { state: past - 1, words: 'the end' };
  if (moment === 'cursor') {
    return { state: Math.min(Math.max(from, cursor), past - 1), words: 'the cursor' };
  }
  return { state: cover.peak ? cover.peak.state : 0, words: 'the peak' };
}

/** The unit whose peak is in the middle. */
function median(units) {
  return [...units].sort((x, y) => x.peak - y.peak)[units.length - 1 >> 1];
}

/** With which the open device is compared to begin with: one that failed with what is usual of
 * those that did not; another with the one that differs most from it.  Keys. */
export function besides(units, key) {
  const open = units.find((unit) => unit.key === key) ?? units[0];
  const others = units.filter((unit) => unit !== open);
  const sound = others.filter(({ ooms, cut }) => !ooms && !cut);
  if (open.ooms && sound.length) return [open.key, median(sound).key];
  const apart = ({ ooms, peak }) => (ooms ? Infinity : Math.abs(peak - open.peak));
  return [open.key, others.reduce((far, one) => (apart(one) > apart(far) ? one : far)).key];
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

/** Until a person chooses, the open device is one of both sides. */
function followOpen({ store, head, chosen }, several) {
  const { file, dev, sides } = store.get();
  if (!several || sides || chosen.open === `${file}.${dev}`) return;
  chosen.open = `${file}.${dev}`;
  [chosen.a, chosen.b] = besides(unitsOf(head), chosen.open);
}

function of(compared) {
  const { store, head } = compared;
  const sides = sidesOf(head);
  const several = sides.length > 1;
  compared.chosen ??= { a: sides[0][0], atA: several ? 'peak' : 'before', b: sides[0][0],
    atB: 'peak', marks: null };
  followOpen(compared, several);
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

/** The ends that marks are: `mark A in step 2`, `own` words that tell which is which. */
async function markedEnds({ ask }, { file, dev, states }) {
  const { steps } = await ask('cover', { file, dev, wait: true });
  return states.map((state, i) => {
    const step = steps.find(({ first, last }) => first <= state && state <= last);
    return { file, dev, state, own: true,
      words: `mark ${'AB'[i]}${step ? ` in ${shown(step.name)}` : ''}` };
  });
}

async function endsOf(compared) {
  const { store, ask } = compared;
  const { a, atA, b, atB, marks } = of(compared);
  if (marks) return markedEnds(compared, marks);
  return Promise.all([[a, atA], [b, atB]].map(async ([key, moment]) => {
    const [file, dev] = key.split('.').map(Number);
    const cover = await ask('cover', { file, dev, wait: true });
    return { file, dev, ...momentOf(moment, cover, store.get().at) };
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
    /** Both as { file, dev, state, words }. */
    ends: () => endsOf(compared),
  };
}
