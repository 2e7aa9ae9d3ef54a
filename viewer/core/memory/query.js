// query.js - the search language: words to a tree of terms, and terms to a mask over allocations.
//
// Patterns run once over the strings; their bitmap goes to frames, to stacks (a stack has what its
// caller has) and then to rows in one pass.  /re/ is only parsed here: the caller runs it over the
// strings, in a worker that can be ended, and hands the bitmaps in.

import { bornWithin, stepsOf } from './leaks.js';
import { grouping } from './live.js';
import { known } from '../model/unpack.js';
import { stepMarks } from './summary.js';
import { tensorsNamed } from './tensors.js';

const LONGEST = 4096;
const NONE = 0xffffffff;

const UNITS = { '': 1, b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };
const TIMES = { us: 1, 'µs': 1, ms: 1e3, s: 1e6, min: 6e7 };
const SURE = ['low', 'medium', 'high'];
const FLAGS = ['before', 'traced', 'pre_freed', 'pre_live', 'reopened', 'not_final', 'pending',
  'end'];

/* ---- values: each gives what a term holds, or throws { error } ---- */

function wrong(error) {
  return { error };
}

function textValue(text, regex, op = ':') {
  if (!text) throw wrong(`nothing after the ${op === '=' ? 'equals sign' : 'colon'}`);
  return regex ? { regex: text } : { text: text.toLowerCase() };
}

function wholeNumber(text, what) {
  if (!/^\d{1,15}$/.test(text)) throw wrong(`${what} is a whole number`);
  return Number(text);
}

function bytesValue(text, unit) {
  const m = /^(\d{1,15}(?:\.\d{1,6})?)\s*(?:([kmgt]?)(i?b)?)$/i.exec(text);
  if (!m) throw wrong('a size is a number with B, KiB, MiB, GiB or TiB');
  const named = m[2] || m[3];
  return Number(m[1]) * UNITS[(named ? m[2] || '' : unit).toLowerCase()];
}

function unitOf(text) {
  return (/([kmgt])i?b?$/i.exec(text) || [])[1] || '';
}

function lifeValue(text, unit) {
  const m = /^(\d{1,15}(?:\.\d{1,6})?)(us|µs|ms|s|min)?$/.exec(text);
  if (!m) throw wrong('a life is a number of events, or a time with us, ms, s or min');
  const named = m[2] || unit;
  return { value: Number(m[1]) * (named ? TIMES[named] : 1), time: Boolean(named) };
}

/* Comparisons as an interval: [low, high], each end open or not. */
function interval(op, text, value) {
  const range = /^(.*?)\.\.(.*)$/.exec(text);
  if (range) {
    if (op !== '=' && op !== ':') throw wrong('a span a..b goes with =');
    const low = value(range[1], range[2]);
    const high = value(range[2], range[2]);
    if (low > high) throw wrong('the span ends before it begins');
    return { low, high, lowOpen: false, highOpen: false };
  }
  const v = value(text, text);
  return { low: op[0] === '<' ? -Infinity : v, high: op[0] === '>' ? Infinity : v,
    lowOpen: op === '>', highOpen: op === '<' };
}

function sizeTerm(op, text) {
  return interval(op, text, (one, last) => bytesValue(one, unitOf(last)));
}

function lifeTerm(op, text) {
  let time = false;
  const got = interval(op, text, (one, last) => {
    const unit = (/(us|µs|ms|s|min)$/.exec(last) || [])[1];
    const life = lifeValue(one, unit);
    time = time || life.time;
    return life.value;
  });
  return { ...got, time };
}

function spanTerm(text) {
  const m = /^#?(\d{1,10})\.\.#?(\d{1,10})$/.exec(text);
  if (!m) throw wrong('in: takes two event numbers, in:48000..49000');
  if (Number(m[1]) > Number(m[2])) throw wrong('the span ends before it begins');
  return { first: Number(m[1]), last: Number(m[2]) };
}

function addressTerm(text) {
  if (!/^(0x)?[0-9a-f]{1,13}$/i.test(text)) throw wrong('an address is hexadecimal, 0x7f2a4000');
  return { address: parseInt(text, 16) };
}

function aliveTerm(text) {
  if (['peak', 'end', 'start', 'cursor'].includes(text)) return { when: text };
  if (/^#\d{1,10}$/.test(text)) return { when: 'event', event: Number(text.slice(1)) };
  throw wrong('alive: takes peak, end, start, cursor or an event, alive:#48120');
}

function oneOf(text, list) {
  const at = list.indexOf(text.toLowerCase());
  if (at < 0) throw wrong(`one of ${list.join(', ')}`);
  return { value: at, name: list[at] };
}

const plain = (take) => (op, text, regex) => {
  if (op !== ':' && op !== '=') throw wrong(`only : goes with this word, not ${op}`);
  return take(text, regex, op);
};

/* Words that group: with = the one group of that name, with : all that have the text in theirs. */
const GROUPED = { line: 'line', culprit: 'line', owner: 'owner', module: 'module', site: 'site',
  file: 'file', function: 'function', name: 'name', path: 'path' };

function groupTerm(key) {
  const take = (op) => (text, regex) => {
    if (key === 'line' && /^\d+$/.test(text)) return { value: wholeNumber(text, 'a line') };
    return op === '=' && text && !regex ? { group: text } : textValue(text, regex, op);
  };
  return (op, text, regex) => plain(take(op))(op, text, regex);
}

/* Texts of the recording, which may be given as /re/, and names of short lists. */
const TEXT_KEYS = ['fn', 'free', 'op', ...Object.keys(GROUPED)];
const LIST_KEYS = ['cat', 'phase', 'rule', 'stream', 'pool'];

const VALUES = {
  sure: plain((text) => oneOf(text, SURE)),
  flag: plain((text) => oneOf(text, FLAGS)),
  step: plain((text) => ({ value: wholeNumber(text, 'a step') })),
  in: plain(spanTerm),
  addr: plain(addressTerm),
  alive: plain(aliveTerm),
  id: plain((text) => ({ value: wholeNumber(text, 'an allocation') })),
  survives: plain((text) => oneOf(text, ['step', 'phase'])),
  size: sizeTerm,
  life: lifeTerm,
};

for (const key of Object.keys(GROUPED)) VALUES[key] = groupTerm(key);

const KEYS = [...new Set([...TEXT_KEYS, ...LIST_KEYS, ...Object.keys(VALUES)])];

/* ---- parsing ---- */

/* The /re/ at `i`, or null: a path such as /usr/lib is none.  Case is never looked at, so /re/i is
 * the same; other flags are a fault. */
function regexAt(text, i) {
  let close = i + 1;
  while (close < text.length && text[close] !== '/') close += text[close] === '\\' ? 2 : 1;
  if (close >= text.length) return null;
  const flags = /^([gimsuy]{0,2})(?:[\s|]|$)/.exec(text.slice(close + 1, close + 4));
  if (!flags) return null;
  const end = close + 1 + flags[1].length;
  if (flags[1] && flags[1] !== 'i') {
    return { error: `an expression takes no flag but i, not "${flags[1]}". In quotes, ` +
      `"${text.slice(i, end)}" is looked for as text`, at: close + 1 };
  }
  return { text: text.slice(i + 1, close), regex: true, end };
}

/* The word at `i`, without its quotes, and where it ends. */
function wordAt(text, i, regexAllowed) {
  const regex = regexAllowed && text[i] === '/' ? regexAt(text, i) : null;
  if (regex) return regex;
  let word = '';
  while (i < text.length && !/[\s|]/.test(text[i])) {
    if (text[i] !== '"') {
      word += text[i++];
      continue;
    }
    const close = text.indexOf('"', i + 1);
    if (close < 0) return { error: 'no " ends this text', at: i };
    word += text.slice(i + 1, close);
    i = close + 1;
  }
  return { text: word, regex: false, end: i };
}

function nearest(key) {
  const close = KEYS.filter((k) => k.startsWith(key.slice(0, 2)));
  return close.length ? `; did you mean ${close.map((k) => `${k}:`).join(' or ')}?` : '.';
}

/* One term that begins at `at`, without its minus. */
function termAt(text, at) {
  const event = /^#(\d{1,10})(?=[\s|]|$)/.exec(text.slice(at, at + 16));
  if (event) {
    return { term: { key: 'event', event: Number(event[1]), at, end: at + event[0].length } };
  }
  const head = /^([a-z]{2,12})(:(?!:)|>=|<=|>|<|=)/.exec(text.slice(at, at + 16));
  if (!head) {
    const word = wordAt(text, at, true);
    if (word.error) return word;
    if (!word.text) return { error: 'an empty text matches everything', at };
    return { term: { key: 'word', ...textValue(word.text, word.regex), at, end: word.end } };
  }
  const [lead, key, op] = head;
  if (!KEYS.includes(key)) {
    return { error: `"${key}" is no word of the search${nearest(key)} In quotes it is looked for ` +
      'as text', at };
  }
  const word = wordAt(text, at + lead.length, TEXT_KEYS.includes(key));
  if (word.error) return word;
  try {
    const value = (VALUES[key] ?? plain(textValue))(op, word.text, word.regex);
    return { term: { key, ...value, at, end: word.end } };
  } catch (fault) {
    if (!fault.error) throw fault;
    return { error: `${key}: ${fault.error}`, at };
  }
}

function notTerm(text, at) {
  let start = at;
  while (text[start] === '-') start++;
  if (start > at && (start === text.length || /[\s|]/.test(text[start]))) {
    return { error: 'nothing after the minus', at };
  }
  const got = termAt(text, start);
  if (got.error) return got;
  return (start - at) % 2 ? { term: { ...got.term, not: true, at } } : got;
}

/** { any: [[term, …], …] }: one of the lists, all terms of it; empty matches all.  A fault is
 * { error, at }, the position in the text.  goto: the event of a query that is `#n` alone. */
export function parse(text) {
  if (text.length > LONGEST) return { error: `longer than ${LONGEST} characters`, at: LONGEST };
  const any = [[]];
  let bar = -1;
  let i = 0;
  while (i < text.length) {
    if (/\s/.test(text[i])) {
      i++;
    } else if (text[i] === '|') {
      if (any[any.length - 1].length === 0) return { error: 'nothing before this |', at: i };
      any.push([]);
      bar = i++;
    } else {
      const got = notTerm(text, i);
      if (got.error) return { error: got.error, at: got.at };
      any[any.length - 1].push(got.term);
      i = got.term.end;
    }
  }
  if (bar >= 0 && any[any.length - 1].length === 0) {
    return { error: 'nothing after this |', at: bar };
  }
  const all = any.flat();
  const only = all.length === 1 && all[0].key === 'event' && !all[0].not ? all[0].event : null;
  return { any: all.length ? any : [], goto: only };
}

/** The expressions of a query that somebody has to run: sources, each once. */
export function expressionsOf(ast) {
  return [...new Set(ast.any.flat().filter((t) => t.regex !== undefined).map((t) => t.regex))];
}

/* ---- running ---- */

/* Which strings a text term matches: Uint8Array(strings). */
function stringsOf(run, term) {
  const { model, expressions } = run;
  if (term.regex !== undefined) {
    return expressions.get(term.regex) ?? new Uint8Array(model.string.length);
  }
  if (!run.lower) run.lower = model.string.map((s) => s.toLowerCase());
  return Uint8Array.from(run.lower, (s) => (s.includes(term.text) ? 1 : 0));
}

/* Stacks of which some frame matches; callers come first, and what they have is inherited. */
function stacksWith({ model }, frames) {
  const { caller, frame, rows } = model.stack;
  const stacks = new Uint8Array(Math.max(rows, 1));
  for (let s = 1; s < rows; s++) stacks[s] = stacks[caller[s]] | frames[frame[s]];
  return stacks;
}

function framesWith({ model }, of) {
  const frames = new Uint8Array(Math.max(model.frame.rows, 1));
  for (let f = 1; f < frames.length; f++) frames[f] = of(f) ? 1 : 0;
  return frames;
}

function byTable(column, table) {
  return (r) => (column ? table[column[r]] : 0);
}

/* Rows born within marks whose name matches: annotations and the user's own. */
function annotated(run, strings) {
  const { model } = run;
  const { mark } = model;
  const change = new Int32Array(model.states + 1);
  for (let m = 0; mark && m < mark.rows; m++) {
    if (mark.kind[m] < 2 || !strings[mark.name[m]]) continue;
    change[Math.min(model.states, Math.max(1, mark.first[m]))]++;
    change[Math.min(model.states, mark.last[m] + 1)]--;
  }
  let any = 0;
  for (let p = 1; p <= model.states; p++) {
    change[p] += change[p - 1];
    any |= change[p];
  }
  return any ? change : null;
}

/* Rows whose tensor the program called so. */
function tensorTest({ model }, strings) {
  const { alloc, tensor } = model;
  return byTable(alloc.tensor, alloc.tensor ? tensorsNamed(model, strings) : null);
}

/* `marks`: of allocations, which have a line, the annotations they were made in, and names. */
function wordTest(run, term, column, marks) {
  const strings = stringsOf(run, term);
  const { frame: { func, file }, stack: { culprit } } = run.model;
  const stacks = stacksWith(run, framesWith(run, (f) => strings[func[f]] | strings[file[f]]));
  // As tables print it: `model.py:22 forward`.
  if (culprit && marks) for (let s = 1; s < stacks.length; s++) stacks[s] |= strings[culprit[s]];
  const inMark = marks ? annotated(run, strings) : null;
  const { born, tensor } = run.model.alloc;
  const ofStack = byTable(column, stacks);
  const named = marks && tensor ? tensorTest(run, strings) : null;
  if (!inMark && !named) return ofStack;
  return (r) => ofStack(r) || (named && named(r)) || (inMark && inMark[born[r]] > 0);
}

/* A column of string ids by stack. */
function stackText(run, term) {
  const strings = stringsOf(run, term);
  const ids = run.model.stack[term.key];
  const { stack } = run.model.alloc;
  return ids ? (r) => strings[ids[stack[r]]] : () => 0;
}

/* Which names match a term; of names that are strings of the recording, an expression did. */
function namesWith({ model, expressions }, { regex, text }, names) {
  if (regex === undefined) return names.map((name) => name.toLowerCase().includes(text));
  const found = new Set(model.string.filter((_, i) => expressions.get(regex)?.[i]));
  return names.map((name) => found.has(name));
}

/* Rows of the groups of a word: one group, a site by its number where it says one, or all whose
 * names match. */
function groupTest(run, term) {
  const { of, names, sites } = run.grouping(GROUPED[term.key]);
  const site = sites && /^#(\d{1,10})\b/.exec(term.group ?? '');
  if (site) return (r) => sites[of[r]] === Number(site[1]);
  // Quotes cannot be written in a term.
  const is = term.group === undefined ? namesWith(run, term, names)
    : names.map((name) => name.replaceAll('"', ' ') === term.group);
  return (r) => is[of[r]];
}

/* A column of indices in a list of the head: the one name that is the text, else, where `numbers`
 * says so, the index, else all that have the text in them. */
function listTest(run, term, column, names, numbers) {
  const exact = names.some((name) => String(name ?? '').toLowerCase() === term.text);
  const number = !exact && numbers && /^\d{1,6}$/.test(term.text) ? Number(term.text) : -1;
  const match = (name, i) => (number >= 0 ? i === number
    : exact ? name === term.text : name.includes(term.text));
  const table = new Uint8Array(Math.max(names.length, number + 1));
  for (let i = 0; i < table.length; i++) {
    table[i] = match(String(names[i] ?? '').toLowerCase(), i) ? 1 : 0;
  }
  return byTable(column, table);
}

/* A pool by what it is called, `default`, `graph 3` or `pool 1, 2`, or by the number in that, 0 for
 * the default one. */
function poolTest({ text }, column, names) {
  const number = /^\d+$/.test(text) ? [text === '0' ? 'default' : '', `graph ${text}`,
    `pool ${text}`] : null;
  const exact = names.includes(text);
  return byTable(column, Uint8Array.from(names, (name) =>
    Number(number ? number.includes(name) : exact ? name === text : name.includes(text))));
}

function intervalTest({ low, high, lowOpen, highOpen }, value, open = () => false) {
  return (r) => {
    const v = value(r);
    if (open(r)) return lowOpen ? v > low && high === Infinity : v >= low && high === Infinity;
    return (lowOpen ? v > low : v >= low) && (highOpen ? v < high : v <= high);
  };
}

/* Life in events or microseconds.  One that began before recording or has not ended is known from
 * below only, so it is never shorter than anything. */
function lifeTest({ model }, term) {
  const { born, end } = model.alloc;
  const { time, states } = model;
  const open = (r) => born[r] === 0 || end[r] >= states;
  if (!term.time) return intervalTest(term, (r) => end[r] - born[r], open);
  if (!time) return () => false;
  return intervalTest(term, (r) => time[Math.min(end[r], states - 1)] - time[born[r]], open);
}

function stepTest(run, term) {
  const step = stepsOf(run.model).find((s) => s.number === term.value) ??
    stepMarks(run.model).find((s) => !s.complete && s.name === `step ${term.value}`);
  if (!step) return () => false;
  const [from, to] = bornWithin(run.model, step.first, step.last);
  return (r) => r >= from && r < to;
}

function survivesTest({ model }, term) {
  const last = new Uint32Array(model.alloc.rows).fill(NONE);
  const { mark } = model;
  for (let m = 0; mark && m < mark.rows; m++) {
    if (mark.kind[m] !== term.value) continue;
    const [from, to] = bornWithin(model, mark.first[m], mark.last[m]);
    last.fill(mark.last[m], from, to);
  }
  const { end } = model.alloc;
  return (r) => last[r] !== NONE && end[r] > last[r];
}

function flagTest({ model }, { name }) {
  const { born, end, wait, flags } = model.alloc;
  const bit = (n) => (r) => (flags ? flags[r] & n : 0);
  return {
    before: (r) => born[r] === 0,
    traced: (r) => (flags ? (flags[r] & 3) === 0 : born[r] > 0),
    pre_freed: bit(1),
    pre_live: bit(2),
    reopened: bit(4),
    not_final: bit(8),
    pending: (r) => wait && wait[r] > 0,
    end: (r) => end[r] >= model.states,
  }[name];
}

/* An address in ranges is one lane at a time; an allocation has it that lies over the lane while
 * the range is mapped. */
function addressTest({ model }, { address }) {
  const { range, alloc } = model;
  const { lane, bytes, born, end } = alloc;
  const spots = [];
  for (let i = 0; range && lane && range.lane && i < range.rows; i++) {
    const offset = address - range.base[i];
    if (known(range.base[i]) === null || range.lane[i] === NONE) continue;
    if (offset < 0 || offset >= range.bytes[i]) continue;
    spots.push({ at: range.lane[i] * 512 + offset, born: range.born[i], end: range.end[i] });
  }
  return (r) => {
    if (!spots.length || lane[r] === NONE) return false;
    const from = lane[r] * 512;
    return spots.some((s) => s.at >= from && s.at < from + Math.max(bytes[r], 1) &&
      born[r] < s.end && end[r] > s.born);
  };
}

function aliveTest(run, term) {
  const { model } = run;
  const { born, end } = model.alloc;
  const p = { peak: run.peak, cursor: run.cursor, end: model.states - 1, start: 0 }[term.when]
    ?? term.event + 1;
  return (r) => born[r] <= p && p < end[r];
}

function eventTest({ model }, { event }) {
  const { born, end, wait } = model.alloc;
  const p = event + 1;
  return (r) => born[r] === p || (end[r] === p && end[r] < model.states) ||
    (wait && wait[r] > 0 && end[r] - wait[r] === p);
}

/* A function from a row to whether the term holds of it. */
function testOf(run, term) {
  const { model } = run;
  const { alloc, frame, head = {} } = model;
  const within = (ids) => {
    const strings = stringsOf(run, term);
    return byTable(alloc.stack, stacksWith(run, framesWith(run, (f) => strings[ids[f]])));
  };
  if (term.group !== undefined) return groupTest(run, term);
  switch (term.key) {
    case 'word': return wordTest(run, term, alloc.stack, true);
    case 'free': return wordTest(run, term, alloc.free_stack, false);
    case 'fn': return within(frame.func);
    case 'file': return within(frame.file);
    case 'line': return term.value === undefined ? groupTest(run, term) : byTable(alloc.stack,
      stacksWith(run, framesWith(run, (f) => frame.line[f] === term.value)));
    case 'cat': return listTest(run, term, alloc.cat, (head.categories ?? []).map((c) => c.name));
    case 'phase': return listTest(run, term, alloc.phase, head.phases ?? []);
    case 'rule': return listTest(run, term, alloc.rule, head.rules ?? []);
    case 'stream': return listTest(run, term, alloc.stream, head.streams ?? [], true);
    case 'pool': return poolTest(term, alloc.pool, head.pools ?? []);
    case 'sure': return (r) => alloc.sure && alloc.sure[r] === term.value + 1;
    case 'size': return intervalTest(term, (r) => alloc.bytes[r]);
    case 'life': return lifeTest(run, term);
    case 'step': return stepTest(run, term);
    case 'in': return (r) => alloc.born[r] > term.first && alloc.born[r] <= term.last + 1;
    case 'addr': return addressTest(run, term);
    case 'alive': return aliveTest(run, term);
    case 'flag': return flagTest(run, term);
    case 'id': return (r) => r === term.value;
    case 'event': return eventTest(run, term);
    case 'name': return tensorTest(run, stringsOf(run, term));
    case 'survives': return survivesTest(run, term);
    case 'op': return stackText(run, term);
    default: return groupTest(run, term);
  }
}

/** What a mask leaves of a model: how many rows, their bytes ever, and at a state. */
export function talliedBy({ alloc: { rows, bytes, born, end } }, mask) {
  let count = 0;
  let ever = 0;
  for (let r = 0; r < rows; r++) {
    if (!mask[r]) continue;
    count++;
    ever += bytes[r];
  }
  const atCursor = (p) => {
    let sum = 0;
    for (let r = 0; r < rows && born[r] <= p; r++) if (mask[r] && end[r] > p) sum += bytes[r];
    return sum;
  };
  return { mask, count, ever, atCursor };
}

/** The mask of a parsed query over the rows of alloc.  options: cursor and peak, states that
 * `alive:` may name; expressions, a Map from the source of each /re/ to its bitmap of strings;
 * grouping, as live.js makes them. */
export function run(model, ast, { cursor = 0, peak = 0, expressions = new Map(),
  grouping: groupingOf = (by) => grouping(model, by) } = {}) {
  const { rows } = model.alloc;
  const mask = new Uint8Array(rows).fill(ast.any.length ? 0 : 1);
  const running = { model, cursor, peak, expressions, grouping: groupingOf, lower: null };
  for (const terms of ast.any) {
    const all = new Uint8Array(rows).fill(1);
    for (const term of terms) {
      const test = testOf(running, term);
      const want = !term.not;
      for (let r = 0; r < rows; r++) if (all[r] && Boolean(test(r)) !== want) all[r] = 0;
    }
    for (let r = 0; r < rows; r++) mask[r] |= all[r];
  }
  return talliedBy(model, mask);
}
