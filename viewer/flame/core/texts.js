// texts.js - what the page says of frames and of what they weigh.
import { bytes, count, ratio, share } from '../../core/model/human.js';

const scales = [[1e3, '\u00b5s'], [1e6, 'ms']];

/* To three digits or more, as src/render/write/human.c has it. */
function scaled(ns, size, unit) {
  const hundredths = Math.floor((ns + size / 200) / (size / 100));
  const digits = hundredths < 1000 ? 2 : 1;
  const part = digits === 2 ? hundredths : Math.floor((ns + size / 20) / (size / 10));
  const base = 10 ** digits;
  return `${Math.floor(part / base)}.${String(part % base).padStart(digits, '0')} ${unit}`;
}

/** `850 ns`, `1.23 µs`, `12.3 ms`, `4.21 s`, `3 min 05 s` */
export function nanoseconds(n) {
  if (n < 1e3) return `${n} ns`;
  for (const [size, unit] of scales) {
    if (n + size / 20 < size * 1000) return scaled(n, size, unit);
  }
  if (n < 1e9) return '999.9 ms';
  const seconds = Math.floor(n / 1e9);
  const two = (part) => String(part).padStart(2, '0');
  if (seconds < 60) return `${seconds}.${two(Math.floor((n % 1e9) / 1e7))} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${two(Math.floor(seconds / 60) % 60)} min`;
}

/** So much of a weight, with its unit. */
export function amount(weight, value) {
  if (weight === 'bytes') return bytes(value);
  if (weight === 'calls') return counted(value, 'call');
  return nanoseconds(value);
}

export function counted(n, one) {
  return `${count(n)} ${one}${n === 1 ? '' : 's'}`;
}

export function shareOf(part, whole) {
  return share(ratio(part, whole));
}

/** A name as it stands in a frame: of Python the function first, then its file without folders. */
export function label(name) {
  const python = /^(.*)\((\d+)\): (.+)$/s.exec(name);
  if (!python) return name;
  return `${python[3]}  ${python[1].split(/[\\/]/).pop()}:${python[2]}`;
}

/** As many characters of a text as `fits` lets pass, the last of them an ellipsis where some are
 * left out; none where not even three fit. */
export function clipped(text, most, fits) {
  if (text.length <= most && fits(text)) return text;
  let [from, past] = [0, Math.min(text.length, most)];
  while (past - from > 1) {
    const middle = (from + past) >> 1;
    if (fits(text.slice(0, middle) + '\u2026')) from = middle;
    else past = middle;
  }
  const whole = from > 0 && /[\ud800-\udbff]/.test(text[from - 1]) ? from - 1 : from;
  return whole < 2 ? '' : text.slice(0, whole).trimEnd() + '\u2026';
}
