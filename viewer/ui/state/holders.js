// holders.js - asks who holds the memory: at the cursor to list them, at the peak to colour them.
import { slotsOf } from '../draw/colours.js';
import { derived } from './derived.js';
import { answerOf } from './report.js';

/** A grouping as the engine knows it: time of birth is one of colours only. */
export function plainBy(by) {
  return by === 'birth' ? 'category' : by;
}

/** What is asked of who holds the memory at a state; of a search, how much of each it finds. */
function argsAt({ by, without, query }, state) {
  return { state, by: plainBy(by), without, query };
}

/** What a list in passing follows from, as a key. */
function peekedBy(state, p) {
  return JSON.stringify([state.file, state.dev, argsAt(state, p)]);
}

/** Lists who holds the memory at a state in passing; null: at the cursor again.  Of states that
 * follow each other faster than they are answered only the last is asked for. */
function peek(holders, p) {
  const { store, ask, list, status } = holders;
  if (p === holders.peeked) return;
  holders.peeked = p;
  if (p === null) {
    if (holders.live) list(holders.live);
    return;
  }
  if (holders.peeking) return;
  holders.peeking = true;
  const asked = peekedBy(store.get(), p);
  const args = argsAt(store.get(), p);
  ask('live', { ...args, what: 'pointer' }).then((live) => {
    holders.peeking = false;
    const next = holders.peeked;
    if (next === null) return;
    if (live && asked === peekedBy(store.get(), p)) list({ ...live, of: args });
    if (next !== p) {
      holders.peeked = p;
      peek(holders, next);
    }
  }, (error) => {
    holders.peeking = false;
    status.failed(error);
  });
}

function askLive(holders) {
  const { store, ask, look, status } = holders;
  const args = argsAt(store.get(), store.get().at);
  const serial = ++holders.asked;
  ask('live', args).then((live) => {
    if (!live || serial !== holders.asked) return;
    holders.live = { ...live, of: args };
    look.addNames(live.rows);
    holders.list(holders.live);
    status.draw();
    status.speak();
  }, status.failed);
}

/** The line that stands out: what is wrong is told of it. */
export function subjectOf(head, state) {
  const answer = answerOf(head, state);
  return answer && answer.wrong ? answer.line : null;
}

/** Colours by the order at the peak, so that they stay when the cursor moves. */
async function askSlots(holders) {
  const { store, ask, recording, look, stage } = holders;
  const { peak } = recording.cover();
  if (!peak) return;
  const kind = plainBy(store.get().by);
  const live = await ask('live', { state: peak.state, by: kind, what: 'colours' });
  if (!live || kind !== plainBy(store.get().by)) return;
  const names = live.names || [];
  const here = new Set(live.rows.map((row) => row.key));
  look.setGroups(slotsOf(kind, [...live.rows, ...names.filter(({ key: one }) => !here.has(one))],
    subjectOf(recording.head, store.get())), [...live.rows, ...names]);
  stage.redraw();
  askLive(holders);
}

/** `list(live)` shows them beside the picture. */
export function createHolders({ store, ask, recording, look, status, stage, list }) {
  const holders = { store, ask, recording, look, status, stage, list,
    live: null,         // at the cursor
    asked: 0,           // how often it was asked
    peeked: null,       // the state that is listed in passing,
    peeking: false };   // and whether it is being asked for
  const slots = derived(() => {
    const { file, dev, by } = store.get();
    return [file, dev, by, recording.cover().peak?.state];
  }, () => askSlots(holders).catch((error) => {
    slots.forget();
    throw error;
  }));
  return {
    live: () => holders.live,
    ask: () => askLive(holders),
    peek: (p) => peek(holders, p),
    /** Resolves when the groups have colours. */
    askSlots: slots,
    forget: () => {
      holders.live = null;
      holders.peeked = null;
      slots.forget();
    },
  };
}
