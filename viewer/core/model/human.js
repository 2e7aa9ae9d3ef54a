// human.js - numbers as people read them: the same text as src/render/write/human.c, where it has
// them.

const NARROW = '\u202f';
const MINUS = '\u2212';
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

/** a / b to the nearest whole number, half to even. */
function divide(a, b) {
  const n = Math.floor(a / b);
  const rest = a % b;
  return rest > b - rest || (rest === b - rest && n % 2 === 1) ? n + 1 : n;
}

/** A whole, not negative number with blanks between groups of three digits. */
function grouped(n) {
  return String(n).replace(/\B(?=(\d{3})+$)/g, NARROW);
}

function known(n) {
  return typeof n === 'number' && Number.isFinite(n);
}

function sizeText(n, digits) {
  if (n < 1024) return `${n} B`;
  const parts = 10 ** digits;
  for (let unit = 1; ; unit++) {
    const size = 1024 ** unit;
    const rest = divide((n % size) * parts, size);
    const whole = Math.floor(n / size) + Math.floor(rest / parts);
    if (whole >= 1024 && unit < UNITS.length - 1) continue;
    return `${whole}.${String(rest % parts).padStart(digits, '0')} ${UNITS[unit]}`;
  }
}

/** `62.31 GiB`; `-` for what is not known. */
export function bytes(n, digits = 2) {
  if (!known(n)) return '-';
  const whole = Math.round(n);
  return whole < 0 ? `-${sizeText(-whole, digits)}` : sizeText(whole, digits);
}

/** `25 276 510 208 B` */
export function exactBytes(n) {
  return known(n) ? `${count(n)} B` : '-';
}

/** `+1.20 GiB`, `−40.00 MiB`, `0 B` */
export function delta(n) {
  if (!known(n)) return '-';
  const whole = Math.round(n);
  if (whole === 0) return '0 B';
  return (whole < 0 ? MINUS : '+') + sizeText(Math.abs(whole), 2);
}

/** `50.1 %` of a ratio; `-` where it is negative or none. */
export function share(ratio) {
  if (!known(ratio) || ratio < 0 || ratio > 1e6) return '-';
  const scaled = ratio * 1000;
  let n = Math.floor(scaled);
  const rest = scaled - n;
  if (rest > 0.5 || (rest === 0.5 && n % 2 === 1)) n++;
  return `${Math.floor(n / 10)}.${n % 10} %`;
}

/** The ratio that `share` takes of a part and its whole; -1, none, where that is not its whole. */
export function ratio(part, whole) {
  return whole > 0 && part <= whole ? part / whole : -1;
}

/** `48 120` */
export function count(n) {
  if (!known(n)) return '-';
  const whole = Math.round(n);
  return whole < 0 ? MINUS + grouped(-whole) : grouped(whole);
}

const padded = (n, digits) => String(n).padStart(digits, '0');

/** Microseconds since the first event: `850 µs`, `12.345 ms`, `1.234 s`, `2 min 05.3 s`. What is
 * left out is cut, not rounded, so that a later moment never reads as an earlier one. */
export function duration(us) {
  if (!known(us)) return '-';
  if (us < 0) return MINUS + duration(-us);
  const n = Math.floor(us);
  const seconds = Math.floor(n / 1e6);
  if (n < 1e3) return `${n} µs`;
  if (n < 1e6) return `${Math.floor(n / 1e3)}.${padded(n % 1e3, 3)} ms`;
  if (seconds < 60) return `${seconds}.${padded(Math.floor((n % 1e6) / 1e3), 3)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) {
    const tenths = Math.floor((n % 1e6) / 1e5);
    return `${minutes} min ${padded(seconds % 60, 2)}.${tenths} s`;
  }
  const hours = Math.floor(minutes / 60);
  return `${hours} h ${padded(minutes % 60, 2)} min ${padded(seconds % 60, 2)} s`;
}

/** A pool that the head writes by its two numbers, as `vramscope peak --by pool` calls it. */
export function poolName(text) {
  const [a, b] = String(text).match(/\d+/g) ?? [];
  if (b === undefined || a === '18446744073709551615') return 'unknown';
  if (a === '0') return b === '0' ? 'default' : `pool ${b}`;
  return b === '0' ? `graph ${a}` : `pool ${a}, ${b}`;
}
