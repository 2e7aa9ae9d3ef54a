// text.js - what the page shows of a text, or reads from one that a person typed.  No DOM.
import { bytes } from '../../core/model/human.js';

// What src/render/write/escape.c escapes, and lone halves of surrogate pairs.
const unsafe = new RegExp('[\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200b-\\u200f\\u2028-\\u202e' +
  '\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}\\ud800-\\udfff]', 'gu');

/** Text from a recording, what is not seen or turns its direction escaped as there: `\x1b`,
 * `\u{202e}`.  A sentence of the report, which is escaped already, stays as it is. */
export function shown(text) {
  return String(text).replace(unsafe, (c) => {
    const code = c.codePointAt(0);
    const hex = code.toString(16);
    return code < 0x80 ? '\\x' + hex.padStart(2, '0') : `\\u{${hex}}`;
  });
}

/** As `shown`, and cut at the end when longer than `most` characters. */
export function shortened(text, most) {
  const whole = shown(text);
  return whole.length <= most ? whole : whole.slice(0, most - 1).trimEnd() + '\u2026';
}

/** Letters of a name below which it says nothing. */
const leastLetters = 4;

/** A name cut at its end to be no wider than `width` pixels of `g`; '' where too little is left. */
export function cutTo(g, name, width) {
  const whole = shown(name);
  if (g.measureText(whole).width <= width) return whole;
  let [low, high] = [0, Math.min(whole.length, Math.floor(width / 3))];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (g.measureText(whole.slice(0, middle) + '\u2026').width <= width) low = middle;
    else high = middle - 1;
  }
  return low < leastLetters ? '' : whole.slice(0, low) + '\u2026';
}

/** What a name is called where it has less and less room, longest first: its end is cut, but not
 * the line in `model.py:22 forward`, which tells it from others of its file. */
export function callings(g, name, widths) {
  const whole = shown(name);
  const [line] = /^\S+:\d+(?= |$)/.exec(whole) ?? [];
  const texts = widths.map((width) => cutTo(g, name, width)).filter((text) => text && (!line ||
    text === whole || (text.startsWith(line + ' ') && text.length > line.length + 3)));
  return [...new Set(line ? [...texts, line] : texts)];
}

/** A name cut in its middle when longer than `most` characters: both ends tell it from others. */
export function cutMiddle(text, most) {
  const whole = shown(text);
  const half = most - 1 >> 1;
  return whole.length <= most ? whole :
    `${whole.slice(0, most - 1 - half)}\u2026${whole.slice(whole.length - half)}`;
}

const units = { '': 1, b: 1, k: 1024, kib: 1024, kb: 1024, m: 1048576, mib: 1048576, mb: 1048576,
  g: 1073741824, gib: 1073741824, gb: 1073741824, t: 1099511627776, tib: 1099511627776,
  tb: 1099511627776 };

/** Bytes that a person typed (`80GiB`, `1.5 g`), a bare number of `bare`; null: no size. */
export function parseBytes(text, bare = '') {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i.exec(text);
  if (!match) return null;
  const unit = units[match[2].toLowerCase() || bare];
  const value = unit === undefined ? NaN : Math.round(Number(match[1]) * unit);
  return value > 0 && value < 2 ** 53 ? value : null;
}

/** The name of a file without its folders. */
export function baseName(path) {
  return String(path).split(/[\\/]/).pop();
}

/** `optimizer_state` as people read it. */
export function words(id) {
  return shown(id).replaceAll('_', ' ');
}

/** A tensor as reports have it: `model.layers.3.mlp.down_proj.weight  bf16 4096 x 11008`. */
export function tensorText({ name, type }) {
  const most = 80;
  return shortened(name, most) + (type ? `  ${shortened(type, most)}` : '');
}

/** The name of a group as `vramscope peak` prints it: ids of ours are read as words, sizes of bytes
 * as people write them, code is left as it is. */
export function groupText(by, name) {
  if (by === 'category' || by === 'phase' || by === 'birth') return words(name);
  if (by === 'size' && /^\d+$/.test(name)) return `${bytes(Number(name))} (${name})`;
  const [, category, size] = /^(?:\(no stack\) (\w+)|size:(\d+))$/.exec(name) ?? [];
  if (by === 'name' || by === 'path' || !(category || size)) return shown(name);
  return category ? `(no stack) ${words(category)}` : `(no stack, ${bytes(Number(size))} each)`;
}

const many = { category: 'categories', birth: 'categories' };

/** `without model.py:22 forward`, `without 3 lines`: what is taken out, after `before`; empty where
 * nothing is. */
export function withoutText(without, before = '') {
  if (!without) return '';
  const { by, names } = without;
  return `${before}without ` + (names.length === 1 ? shortened(groupText(by, names[0]), 40) :
    `${names.length} ${many[by] ?? by + 's'}`);
}

/** The event after which the recording is in state `p`, as the reports number it. */
export function eventName(p) {
  return p === 0 ? 'start' : 'event ' + grouped(p - 1);
}

/** The same of a recording, of which only the end is known where it has no trace to speak of. */
export function momentName(p, { traced, states }) {
  return traced === false && p === states - 1 ? 'end' : eventName(p);
}

/** From when to when an allocation lives. */
export function lifeName({ born, end }) {
  return `${born === 0 ? 'before recording' : eventName(born)} \u2013 ` +
    (end === null ? 'alive at the end' : eventName(end));
}

/** A sentence of the report, its events as `eventName` has them. */
export function withEvents(text) {
  return text.replace(/\bevent (\d{4,})\b/g, (_, n) => 'event ' + grouped(n));
}

/** Digits in groups of three, U+202F between them. */
export function grouped(n) {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
}
