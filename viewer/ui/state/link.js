// link.js - the state of the page as a fragment of its address, and back.
//
// `#v=1&file=0&dev=0&view=stack&x=e12000-34000&y=0-&at=48120&by=line&sel=a812&q=…`
// States are counted as everywhere in the core; x is [from, to) in states (e) or microseconds (t).

import { GROUPINGS } from '../../core/memory/live.js';

const VERSION = '1';
const TEXT_MOST = 2000;
const VIEWS = ['stack', 'groups', 'map', 'state', 'flame', 'leaks', 'diff', 'steps', 'all',
  'devices'];
const BYS = [...GROUPINGS, 'birth'];
const PEEL_MOST = 20000;

/* Readers give undefined for what is no value of theirs. */
function whole(text) {
  return /^\d{1,16}$/.test(text) && Number(text) < 2 ** 53 ? Number(text) : undefined;
}

function oneOf(list) {
  return (text) => (list.includes(text) ? text : undefined);
}

function number(text) {
  return /^\d{1,16}(\.\d{1,6})?$/.test(text) && Number(text) < 2 ** 53 ? Number(text) : undefined;
}

function readSpan(text) {
  const [, mode, a, b] = /^([et])([\d.]+)-([\d.]+)$/.exec(text) ?? [];
  const read = mode === 'e' ? whole : number;
  const from = a === undefined ? undefined : read(a);
  const to = b === undefined ? undefined : read(b);
  if (from === undefined || to === undefined || !(from < to)) return undefined;
  return { mode: mode === 'e' ? 'events' : 'time', from, to };
}

function writeSpan({ mode, from, to }) {
  const text = (n) => (mode === 'time' ? String(Number(n.toFixed(3))) : String(Math.round(n)));
  return `${mode === 'time' ? 't' : 'e'}${text(Math.max(0, from))}-${text(to)}`;
}

function readHeight(text) {
  const [, a, b] = /^(-?\d{1,16})-(\d{0,16})$/.exec(text) ?? [];
  if (a === undefined) return undefined;
  const from = Number(a);
  const to = b === '' ? null : Number(b);
  return Math.abs(from) < 2 ** 53 && (to === null || (from < to && to < 2 ** 53))
    ? { from, to } : undefined;
}

function writeHeight({ from, to }) {
  return `${Math.round(from)}-${to === null || to === undefined ? '' : Math.round(to)}`;
}

function readSelection(text) {
  const [, kind, id] = /^(a)(\d{1,10})$/.exec(text) ?? [];
  return id !== undefined && Number(id) < 2 ** 32 ? { kind, id: Number(id) } : undefined;
}

function readPair(text) {
  const [, a, b] = /^(\d{1,10})-(\d{1,10})$/.exec(text) ?? [];
  return b !== undefined && Number(a) <= Number(b) ? { a: Number(a), b: Number(b) } : undefined;
}

function readMarks(text) {
  if (!/^\d{1,10}(,\d{1,10})?$/.test(text)) return undefined;
  return text.split(',').map(Number).sort((a, b) => a - b);
}

/* [grouping, name, …] as JSON: names hold any text. */
function readWithout(text) {
  try {
    const [by, ...names] = text.length <= PEEL_MOST ? JSON.parse(text) : [];
    const good = GROUPINGS.includes(by) && by !== 'age' && names.length > 0
      && names.every((name) => typeof name === 'string');
    return good ? { by, names: [...new Set(names)] } : undefined;
  } catch {
    return undefined;
  }
}

const plain = (value) => String(value);
const flag = {
  read: (text) => (text === '1' ? true : undefined),
  write: (on) => (on ? '1' : null),
};

// In the order in which they are written.
const KEYS = {
  file: { read: whole, write: plain },
  dev: { read: whole, write: plain },
  view: { read: oneOf(VIEWS), write: plain },
  x: { read: readSpan, write: writeSpan },
  y: { read: readHeight, write: writeHeight },
  at: { read: whole, write: plain },
  by: { read: (text) => oneOf(BYS)(text === 'culprit' ? 'line' : text), write: plain },
  sel: { read: readSelection, write: ({ kind = 'a', id }) => `${kind}${id}` },
  q: { read: (text) => (text.length <= TEXT_MOST ? text : undefined), write: (q) => q || null },
  only: flag,
  without: { read: readWithout, write: ({ by, names }) => JSON.stringify([by, ...names]) },
  range: { read: readPair, write: ({ a, b }) => `${a}-${b}` },
  sides: { read: (text) => (/^\d{1,4}\.\d{1,4}-\d{1,4}\.\d{1,4}$/.test(text) ? text : undefined),
    write: plain },
  marks: { read: readMarks, write: (marks) => marks.join(',') || null },
  cap: { read: whole, write: plain },
  theme: { read: oneOf(['light', 'dark']), write: plain },
  patterns: flag,
  list: { read: oneOf(['alive', 'matches']), write: plain },
};

/* Halves of a pair that stand alone cannot be written in an address. */
function encoded(text) {
  const lone = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
  return encodeURIComponent(text.replace(lone, '\ufffd')).replaceAll('%2C', ',');
}

/** The fragment of a state, without `#`. What is null or undefined is left out. */
export function write(state) {
  const parts = [`v=${VERSION}`];
  for (const [key, { write: textOf }] of Object.entries(KEYS)) {
    const value = state[key];
    const text = value === null || value === undefined ? null : textOf(value);
    // What a reader would refuse is not written.
    if (text === null || KEYS[key].read(text) === undefined) continue;
    parts.push(`${key}=${encoded(text)}`);
  }
  return parts.join('&');
}

function decoded(text) {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/* What a note may repeat of a link: short, and nothing that turns text around. */
function quoted(text) {
  const short = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  return `"${short.replace(/[^\x20-\x7e…]/g, '?')}"`;
}

/** {state, notes} of a fragment: only what it says and a page can take; unknown keys are ignored,
 * each wrong value is a note. */
export function read(fragment) {
  const state = {};
  const notes = [];
  for (const part of fragment.replace(/^#/, '').split('&')) {
    const [, key, raw] = /^([a-z]+)=(.*)$/s.exec(part) ?? [];
    if (key === 'v' && raw !== VERSION) {
      notes.push(`the link is of version ${quoted(raw)}, this page of ${VERSION}`);
    }
    if (key === undefined || !Object.hasOwn(KEYS, key)) continue;
    const text = decoded(raw);
    const value = text === undefined ? undefined : KEYS[key].read(text);
    if (value === undefined) notes.push(`the link has ${key}=${quoted(raw)}, which is ignored`);
    else state[key] = value;
  }
  return { state, notes };
}
