// axis.js - where the ticks of an axis lie and what they say.  No DOM.
import { duration } from '../../core/model/human.js';
import { grouped } from './text.js';

const suffixes = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

function stepUp(least, steps, base) {
  let scale = 1;
  while (scale * base <= least) scale *= base;
  for (const step of steps) if (step * scale >= least) return step * scale;
  return base * scale;
}

/** Multiples of a power of two times 1 or 2 or 5 of its unit, at most `most` of them. */
function byteTicks(low, high, most) {
  const span = Math.max(1, high - low);
  const step = stepUp(span / Math.max(1, most), [1, 2, 4, 8, 16, 32, 64, 128, 256, 512], 1024);
  return between(low, high, step);
}

/** 1-2-5 steps of whole numbers. */
function countTicks(low, high, most) {
  const step = Math.max(1, stepUp((high - low) / Math.max(1, most), [1, 2, 5], 10));
  return between(low, high, step);
}

function between(low, high, step) {
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high && ticks.length < 1000; i++) {
    ticks.push(i * step);
  }
  return ticks;
}

/** `20 GiB`; ticks are multiples of their unit, so few digits suffice. */
export function byteLabel(bytes) {
  let unit = 0;
  let value = Math.abs(bytes);
  while (value >= 1024 && unit < suffixes.length - 1) {
    value /= 1024;
    unit++;
  }
  const digits = Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(3)));
  return (bytes < 0 ? '\u2212' : '') + digits + ' ' + suffixes[unit];
}

/** `1.2 M`, `48 120`; `step`: how fine the neighbours are, `high`: which unit all are told in. */
function countLabel(n, step, high) {
  if (high >= 1e6 && step >= 1e5) return Number((n / 1e6).toFixed(1)) + ' M';
  if (high >= 1e4 && step >= 1e3) return n / 1e3 + ' k';
  return grouped(n);
}

function timeLabel(us, step) {
  if (step >= 1e6) return us >= 6e7 ? duration(us) : Number((us / 1e6).toFixed(1)) + ' s';
  if (us >= 1e6) return Number((us / 1e6).toFixed(step >= 1e3 ? 3 : 6)) + ' s';
  if (step >= 1e3) return us / 1e3 + ' ms';
  return grouped(us) + ' \u00b5s';
}

/** Ticks of states [from, to), each in the middle of a state and called as `eventName` does: the
 * event that leads to it, or `start`, for which event 0 gives way. */
export function eventTicks(from, to, pixels) {
  const list = ticks('count', Math.max(0, from - 1), Math.max(0, to - 2), pixels)
    .map(({ value, label }) => ({ value: value + 1.5, label })).filter(({ value }) => value < to);
  if (from > 0) return list;
  const near = list.length && (list[0].value - 0.5) * pixels / (to - from) < 60;
  return [{ value: 0.5, label: 'start' }, ...list.slice(near ? 1 : 0)];
}

/** Ticks with labels for one axis of `pixels` length. */
export function ticks(kind, low, high, pixels) {
  const most = Math.max(2, Math.floor(pixels / (kind === 'bytes' ? 56 : 90)));
  const at = kind === 'bytes' ? byteTicks(low, high, most) : countTicks(low, high, most);
  const step = at.length > 1 ? at[1] - at[0] : high - low;
  const label = kind === 'bytes' ? byteLabel : kind === 'time' ? timeLabel : countLabel;
  return at.map((value) => ({ value, label: label(value, step, high) }));
}
