// axis.js - where the ticks of an axis lie and what they say.  No DOM.
import { bytes, duration } from '../../core/model/human.js';
import { grouped } from './text.js';

/** Decimals of a label at most; where these do not tell neighbours apart, it says how far they are
 * above the lowest. */
const mostDecimals = 3;

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

/** `20 GiB`: what all say of these bytes, without zeros behind the point. */
export function byteLabel(value, decimals = 2) {
  return bytes(value, decimals).replace(/(\.\d*?)0+ /, '$1 ').replace('. ', ' ')
    .replace('-', '\u2212');
}

/** Labels with as many digits as tell them apart; where these are many `1.33 GiB`, `+8 KiB`. */
function byteLabels(values) {
  for (let decimals = 2; decimals <= mostDecimals; decimals++) {
    const labels = values.map((value) => byteLabel(value, decimals));
    if (new Set(labels).size === values.length) return labels;
  }
  return values.map((value, i) =>
    (i === 0 ? byteLabel(value) : `+${byteLabel(value - values[0])}`));
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
  const label = kind === 'time' ? timeLabel : countLabel;
  const labels = kind === 'bytes' ? byteLabels(at) : at.map((value) => label(value, step, high));
  return at.map((value, i) => ({ value, label: labels[i] }));
}
