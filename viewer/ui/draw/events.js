// events.js - the words for one event, as core/memory/moments.js tells of it.  No DOM.
import { bytes, delta } from '../../core/model/human.js';
import { eventName, shortened, words } from './text.js';

const gives = ['alloc', 'segment_alloc', 'segment_map'];
const takes = ['free', 'free_completed', 'segment_free', 'segment_unmap'];
const longest = 80;

function hex(base) {
  return base === null ? 'unknown' : '0x' + base.toString(16);
}

/** `+2.00 GiB`, `2.00 GiB refused`; without a sign what changes neither requested nor reserved. */
export function sizeOf({ kind, bytes: size }) {
  if (kind === 'oom') return `${bytes(size)} refused`;
  if (gives.includes(kind)) return delta(size);
  if (takes.includes(kind)) return delta(-size);
  return size ? bytes(size) : words(kind);
}

/** The line that asked; of what no line asked for, the event's name in the trace. */
export function lineOf({ kind, row, line }) {
  return row >= 0 || kind === 'oom' ? shortened(line || '(no stack)', longest) : kind;
}

/** What it is, and that it is only asked to be freed. */
function notesOf({ kind, category }) {
  return [category && words(category), kind === 'free_requested' && 'free requested']
    .filter(Boolean);
}

/** What stands under the size: line, category, segment and what is free in it. Of an address the
 * zeros at its end are left out. */
export function cellTexts(event) {
  const { kind, free, segment } = event;
  const gone = segment && !segment.bytes;
  const where = segment && 'seg ' + hex(segment.base).replace(/0+$/, '\u2026');
  if (kind === 'oom') return [lineOf(event), 'out of memory', `${bytes(free)} free`, 'on the card'];
  return [lineOf(event), notesOf(event)[0] ?? '',
    segment ? where + (gone ? '' : ' ' + bytes(segment.bytes)) : '',
    kind === 'free_requested' ? 'free requested' :
      gone ? 'returned' : segment ? `${bytes(segment.free)} free after` : ''];
}

function segmentText({ base, bytes: size, free }) {
  return `segment ${hex(base)} ` + (size ? `of ${bytes(size)}, ${bytes(free)} free after` :
    'returned');
}

/** All of it: `event 3 158, +2.00 GiB, model.py:22 forward, activation, segment …`. */
export function sentenceOf(event) {
  return [eventName(event.state), sizeOf(event), lineOf(event), ...notesOf(event),
    event.segment && segmentText(event.segment)].filter(Boolean).join(', ');
}

/** A line of a list of events: `event 3 158  alloc 2.00 GiB  model.py:22 forward · activation`. */
export function rowOf({ state, kind, bytes: size, name, line, category }) {
  const who = [line && shortened(line, longest), category && words(category)];
  return [eventName(state), words(kind) + (size === null ? '' : ' ' + bytes(size)),
    name && shortened(name, longest), who.filter(Boolean).join(' \u00b7 ')]
    .filter(Boolean).join('  ');
}
