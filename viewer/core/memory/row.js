// row.js - all there is to say of one allocation.
import { sameSite, siteCurve } from './live.js';
import { known } from '../model/unpack.js';
import { stepAt } from './summary.js';
import { tensorName, tensorOf } from './tensors.js';

const NONE = 0xffffffff;
const GRAIN = 512;
const SOURCES = ['block', 'replayed', 'rounded'];
const SURE = [null, 'low', 'medium', 'high'];

/** The classes of frames, by frame.kind. */
export const FRAME_CLASSES = ['native', 'torch', 'generated', 'library', 'std', 'user'];

/** The frames of a stack, innermost first: {func, file, line, class, kind (1: the user's own)}. */
function framesOf(model, stack) {
  const { frame, string } = model;
  const list = [];
  for (let s = stack; s > 0; s = model.stack.caller[s]) {
    const f = model.stack.frame[s];
    const name = frame.kind ? FRAME_CLASSES[frame.kind[f]] ?? 'unknown' : 'unknown';
    const line = frame.line && frame.line[f] !== NONE ? frame.line[f] : 0;
    list.push({ func: string[frame.func[f]], file: string[frame.file[f]], line, class: name,
      kind: name === 'user' ? 1 : 0 });
  }
  return list;
}

/* The line shown for a stack: the innermost of the user's own, else of a library. */
function culpritOf(frames) {
  const own = frames.findIndex((f) => f.class === 'user');
  return own >= 0 ? own : frames.findIndex((f) => f.class === 'library');
}

/** The address of a row, or null: the range that was mapped there when it was born. */
function addressOf(model, row) {
  const { lane, born } = model.alloc;
  const { range } = model;
  if (!lane || lane[row] === NONE) return null;
  for (let i = 0; i < range.rows; i++) {
    const offset = (lane[row] - range.lane[i]) * GRAIN;
    if (offset < 0 || offset >= range.bytes[i]) continue;
    if (range.born[i] > born[row] || range.end[i] <= born[row]) continue;
    const base = known(range.base[i]);
    return base === null ? null : base + offset;
  }
  return null;
}

const hex = (address) => (address === null ? null : `0x${address.toString(16)}`);

function originOf(model, row) {
  const flags = model.alloc.flags ? model.alloc.flags[row] : 0;
  if (flags & 2) return 'pre_live';
  return flags & 1 ? 'pre_freed' : 'traced';
}

/* What lies right before and after it in address, in state `p`. */
function neighbours(model, row, p, nameOf) {
  const { alloc } = model;
  if (!alloc.lane || alloc.lane[row] === NONE) return [];
  let before = -1;
  let after = -1;
  for (let i = 0; i < alloc.rows && alloc.born[i] <= p; i++) {
    if (alloc.end[i] <= p || i === row || alloc.lane[i] === NONE) continue;
    const lane = alloc.lane[i];
    if (lane < alloc.lane[row] && (before < 0 || lane > alloc.lane[before])) before = i;
    if (lane > alloc.lane[row] && (after < 0 || lane < alloc.lane[after])) after = i;
  }
  return [[before, 'before'], [after, 'after']].filter(([i]) => i >= 0)
    .map(([i, side]) => ({ side, id: i, bytes: alloc.bytes[i], name: nameOf(i) }));
}

/* What the stack of a row has in a column; 0 where it has no stack. */
function numberOf({ stack, alloc }, key, row) {
  const s = alloc.stack ? alloc.stack[row] : 0;
  return stack[key] && s ? stack[key][s] : 0;
}

function textOf(model, key, row) {
  return model.string[numberOf(model, key, row)] ?? '';
}

const pick = (list, column, row) => (column && list ? list[column[row]] ?? null : null);

/** Row `id` in state `p`, as the details show it; null where there is no such row.  `columns`: of
 * how many the curve of its site is, which is not wanted in passing. */
export function rowFacts(d, id, p, columns = 0) {
  const { model } = d;
  const { alloc, head } = model;
  if (!(id >= 0 && id < alloc.rows)) return null;
  const end = alloc.end[id] < model.states ? alloc.end[id] : null;
  const { time } = model;
  const pad = alloc.pad ? alloc.pad[id] : NaN;
  const stack = framesOf(model, alloc.stack ? alloc.stack[id] : 0);
  const category = (row) => pick(d.grouping('category').names, alloc.cat, row) ?? 'unknown';
  return {
    id, bytes: alloc.bytes[id], block: Number.isNaN(pad) ? null : alloc.bytes[id] + pad,
    source: pick(SOURCES, alloc.source, id), born: alloc.born[id], end,
    wait: alloc.wait ? alloc.wait[id] : 0,
    times: time ? [time[alloc.born[id]], time[end ?? model.states - 1]] : null,
    step: stepAt(model, alloc.born[id]), category: category(id),
    rule: pick(head.rules, alloc.rule, id), sure: pick(SURE, alloc.sure, id),
    phase: pick(head.phases, alloc.phase, id), stream: pick(head.streams, alloc.stream, id) ?? '-',
    pool: pick(head.pools, alloc.pool, id) ?? '-', origin: originOf(model, id),
    openedLive: Boolean(alloc.flags && alloc.flags[id] & 4),
    notFinal: Boolean(alloc.flags && alloc.flags[id] & 8),
    address: hex(addressOf(model, id)), stack, culprit: culpritOf(stack),
    freeStack: framesOf(model, alloc.free_stack ? alloc.free_stack[id] : 0),
    line: textOf(model, 'culprit', id), site: numberOf(model, 'site', id),
    context: pick(model.string, alloc.ctx, id), owner: textOf(model, 'owner', id),
    op: textOf(model, 'op', id), module: textOf(model, 'module', id), tensor: tensorOf(model, id),
    same: alloc.stack && alloc.stack[id] ? sameSite(model, id, p) : null,
    curve: columns ? siteCurve(model, id, columns) : null,
    neighbours: alloc.born[id] <= p && p < alloc.end[id]
      ? neighbours(model, id, p, (i) => tensorName(model, i) || textOf(model, 'culprit', i)
        || category(i)) : [],
  };
}
