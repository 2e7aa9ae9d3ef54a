// moments.js - what single events did: who asked, what for, and the segment that they changed.
import { barsAt, blockBytes, eventsAround, rangeFinder } from './address.js';
import { known } from '../model/unpack.js';
import { tensorName } from './tensors.js';

const NONE = 0xffffffff;
const MAPS = ['segment_alloc', 'segment_map'];
const UNMAPS = ['segment_free', 'segment_unmap'];

/** A failed request, row `i`: its bytes, what was free on the card, the line that asked; '' where
 * it is not known. */
export function refusedAt({ oom, stack, string }, i) {
  const ids = stack.culprit;
  const asked = oom.stack?.[i];
  return { state: oom.state[i], bytes: known(oom.bytes?.[i]), free: known(oom.free?.[i]),
    line: (ids && asked && string[ids[asked]]) || '' };
}

/** eventsAround, where rows say `name` of the tensor, `line` and `category` too: of a free those of
 * what was freed; '' where there is none.  Of a failed request also what was `free`. */
export function eventsWithLines(d, p, n) {
  const { model } = d;
  const lines = d.grouping('line');
  const categories = d.grouping('category');
  return eventsAround(model, p, n).map((event) => {
    const { row, kind, state } = event;
    if (row >= 0) {
      return { ...event, name: tensorName(model, row), line: lines.names[lines.of[row]],
        category: categories.names[categories.of[row]] };
    }
    const refused = kind === 'oom' ? model.oom.state.indexOf(state) : -1;
    const { bytes, free = null, line = '' } = refused < 0 ? {} : refusedAt(model, refused);
    return { ...event, name: '', category: '', line, free, bytes: bytes ?? event.bytes };
  });
}

/* The range that an event is about: where its allocation lay, or what it mapped or unmapped. Where
 * nobody knows what lies in segments, none. */
function rangeOf({ alloc: { born, lane }, range }, { row, kind, state }, find) {
  if (!lane) return -1;
  if (row >= 0) return lane[row] === NONE ? -1 : find(lane[row], born[row]);
  if (MAPS.includes(kind)) return range.born.indexOf(state);
  return UNMAPS.includes(kind) ? range.end.indexOf(state) : -1;
}

/** Which of `bars`, those of the state that an event leads to, it changed: of one that loses a part
 * what is left, else as it was, `gone`.  null where no segment is known. */
export function changedBar(model, event, bars, find = rangeFinder(model)) {
  const range = rangeOf(model, event, find);
  if (range < 0) return null;
  const holds = (some) => ({ ranges }) => ranges.some((one) => some.includes(one));
  const here = bars.find(holds([range]));
  if (here) return here;
  const before = barsAt(model, event.state - 1).bars.find(holds([range]));
  return before ? bars.find(holds(before.ranges)) ?? { ...before, gone: true } : null;
}

/* Rows with a place that live in some state of [first, last]. */
function placedRows({ alloc: { rows, born, end, lane } }, first, last) {
  const found = [];
  for (let r = 0; r < rows && born[r] <= last; r++) {
    if (end[r] > first && lane[r] !== NONE) found.push(r);
  }
  return found;
}

/* Bytes of the blocks, of `placed`, that lie in a bar in state `p`. */
function usedIn(model, { ranges }, placed, p, find) {
  const { born, end, lane } = model.alloc;
  const own = new Set(ranges);
  // Most lie elsewhere, which is seen without a search.
  const from = Math.min(...ranges.map((i) => model.range.lane[i]));
  let used = 0;
  for (const r of placed) {
    if (lane[r] < from || born[r] > p || end[r] <= p || !own.has(find(lane[r], p))) continue;
    used += blockBytes(model, r);
  }
  return used;
}

/** Events with their lines, each with `segment`: { base, bytes, free } after it, null where none is
 * known, bytes 0 where it is gone. */
export function* momentsWork(d, p, n) {
  const { model } = d;
  const find = rangeFinder(model);
  const told = eventsWithLines(d, p, n);
  yield;
  const placed = told.length && model.alloc.lane ?
    placedRows(model, told[0].state, told.at(-1).state) : [];
  for (const event of told) {
    const bar = changedBar(model, event, barsAt(model, event.state).bars, find);
    const size = bar && !bar.gone ? bar.bytes : 0;
    event.segment = bar && { base: known(bar.base), bytes: size,
      free: Math.max(0, size && size - usedIn(model, bar, placed, event.state, find)) };
    yield;
  }
  return told;
}
