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
export function useMarks(ctx) {
  const { marks, file, dev } = ctx.store.get();
  if (marks.length < 2) return false;
  comparedOf(ctx).marks = { file, dev, states: marks };
  return true;
}

/** { a, atA, b, atB } and `marks`, which stand for all of them until null; to be written. */
export function comparedOf(ctx) {
  const { now, store } = ctx;
  const sides = sidesOf(ctx.head());
  if (!now.compared) {
    const several = sides.length > 1;
    now.compared = { a: sides[0][0], atA: 'peak', b: sides[several ? 1 : 0][0],
      atB: several ? 'peak' : 'cursor', marks: null };
    useMarks(ctx);
  }
  const given = (store.get().sides || '').split('-');
  if (given.length === 2 && given.every((key) => sides.some(([one]) => one === key))) {
    [now.compared.a, now.compared.b] = given;
  }
  return now.compared;
}

/** What the ends follow from. */
export function comparedKey(ctx) {
  const of = comparedOf(ctx);
  const moving = !of.marks && (of.atA === 'cursor' || of.atB === 'cursor');
  return [of, moving ? ctx.store.get().at : null];
}

/** Both as { file, dev, state }. */
export async function endsOf(ctx) {
  const { a, atA, b, atB, marks } = comparedOf(ctx);
  if (marks) return marks.states.map((state) => ({ file: marks.file, dev: marks.dev, state }));
  return Promise.all([[a, atA], [b, atB]].map(async ([key, moment]) => {
    const [file, dev] = key.split('.').map(Number);
    const cover = await ctx.call('cover', { file, dev, wait: true });
    return { file, dev, state: stateOf(moment, cover, ctx.store.get().at) };
  }));
}
