// unpack.js - one packed column of the page becomes a typed array (spec of the columns: docs).

const TYPES = {
  u8: { width: 1, array: Uint8Array },
  u16: { width: 2, array: Uint16Array },
  u32: { width: 4, array: Uint32Array },
  i32: { width: 4, array: Int32Array },
  u64: { width: 8, array: Float64Array },
  f64: { width: 8, array: Float64Array },
};
// What holds whole numbers of that many bytes, where they are as the writer gave them.
const NARROWEST = [Uint8Array, Uint8Array, Uint16Array, Uint32Array, Uint32Array];
const STEPS = ['delta', 'zigzag', 'shuffle', 'deflate'];
const TWO32 = 4294967296;
const UNKNOWN = Number.MAX_SAFE_INTEGER;
const NONE32 = 0xffffffff;
const ALTERED = 'damaged data; the file was altered';
// No deflate stream is shorter than this part of what it holds.
const RATIO_MOST = 1040;
// Of a column without bytes, which could claim any number.
const ROWS_MOST = 2 ** 29;

/** A number of a u64 column; null where the writer knew none. */
export function known(number) {
  return number === undefined || number === UNKNOWN ? null : number;
}

/** An error that names its column, as the page shows it. */
export function columnError(name, text) {
  const error = new Error(`column ${name}: ${text}`);
  error.column = name;
  return error;
}

/** Bytes of base64 text; blanks around it are allowed. */
export function fromBase64(text, what = 'block') {
  try {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const chars = atob(text);
    const bytes = new Uint8Array(chars.length);
    for (let i = 0; i < chars.length; i++) bytes[i] = chars.charCodeAt(i);
    return bytes;
  } catch {
    throw new Error(`${what}: ${ALTERED}`);
  }
}

async function drain(reader, into) {
  let at = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return at === into.length;
    if (at + value.length > into.length) {
      await reader.cancel();
      return false;
    }
    into.set(value, at);
    at += value.length;
  }
}

/** The `size` bytes of a zlib stream. The stream is written whole and drained as it goes: twice as
 * fast as through a Response. */
async function inflate(bytes, size) {
  if (size > bytes.length * RATIO_MOST) throw new Error(ALTERED);
  if (typeof DecompressionStream === 'undefined') {
    throw new Error('this browser cannot unpack it (no DecompressionStream)');
  }
  const stream = new DecompressionStream('deflate');
  const into = new Uint8Array(size);
  const writer = stream.writable.getWriter();
  // What fails in the writer fails in the reader too, which is the one that is waited for.
  writer.write(bytes).catch(() => {});
  writer.close().catch(() => {});
  let whole = false;
  try {
    whole = await drain(stream.readable.getReader(), into);
  } catch {
    whole = false;
  }
  if (!whole) throw new Error(ALTERED);
  return into;
}

function zeros(array, rows) {
  if (rows > ROWS_MOST) throw new RangeError('too many rows');
  return new array(rows);
}

/* Byte planes, lowest first, into whole numbers of at most four bytes. */
function joinPlanes(array, rows, bytes, from, planes) {
  const to = zeros(array, rows);
  if (planes <= 0) return to;
  const plane = (k) => bytes.subarray((from + k) * rows, (from + k + 1) * rows);
  const [a, b, c, d] = [0, 1, 2, 3].map((k) => (k < planes ? plane(k) : null));
  if (planes === 1) to.set(a);
  else if (planes === 2) for (let i = 0; i < rows; i++) to[i] = a[i] | (b[i] << 8);
  else if (planes === 3) for (let i = 0; i < rows; i++) to[i] = a[i] | (b[i] << 8) | (c[i] << 16);
  else for (let i = 0; i < rows; i++) to[i] = a[i] | (b[i] << 8) | (c[i] << 16) | (d[i] << 24);
  return to;
}

/* The same of numbers that stand one after the other, `step` bytes each. */
function joinBytes(array, rows, bytes, from, planes, step) {
  const to = zeros(array, rows);
  const end = rows * step;
  if (planes === 1) for (let i = 0, at = from; at < end; at += step) to[i++] = bytes[at];
  if (planes === 2) {
    for (let i = 0, at = from; at < end; at += step) to[i++] = bytes[at] | (bytes[at + 1] << 8);
  } else if (planes === 3) {
    for (let i = 0, at = from; at < end; at += step) {
      to[i++] = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16);
    }
  } else if (planes > 3) {
    for (let i = 0, at = from; at < end; at += step) {
      to[i++] = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
    }
  }
  return to;
}

/* Bytes of numbers that are wider than `planes`, in either layout, as they stand in memory. */
function spread(bytes, { rows, planes }, width, shuffled) {
  const to = new Uint8Array(rows * width);
  const [step, plane] = shuffled ? [1, rows] : [planes, 1];
  for (let k = 0; k < planes; k++) {
    for (let i = 0, from = k * plane; i < rows; i++, from += step) to[i * width + k] = bytes[from];
  }
  return to;
}

function unzigzag(to) {
  for (let i = 0; i < to.length; i++) to[i] = (to[i] >>> 1) ^ -(to[i] & 1);
}

function undelta(to) {
  let sum = 0;
  for (let i = 0; i < to.length; i++) {
    sum = (sum + to[i]) | 0;
    to[i] = sum;
  }
}

/* Numbers of 64 bits as two halves, since no JavaScript number is as wide. */
function unzigzagHalves(low, high) {
  for (let i = 0; i < low.length; i++) {
    const sign = -(low[i] & 1);
    low[i] = ((low[i] >>> 1) | (high[i] << 31)) ^ sign;
    high[i] = (high[i] >>> 1) ^ sign;
  }
}

function undeltaHalves(low, high) {
  let a = 0;
  let b = 0;
  for (let i = 0; i < low.length; i++) {
    a += low[i];
    b = (b + high[i] + (a >= TWO32 ? 1 : 0)) | 0;
    a %= TWO32;
    low[i] = a;
    high[i] = b;
  }
}

/* All ones are none: NaN. Larger numbers than a double counts exactly are the writer's fault. */
function fromHalves(low, high, name) {
  const to = new Float64Array(low.length);
  for (let i = 0; i < to.length; i++) {
    if (high[i] < 0x200000) to[i] = high[i] * TWO32 + low[i];
    else if (high[i] === NONE32 && low[i] === NONE32) to[i] = NaN;
    else throw columnError(name, `row ${i} is 2^53 or more`);
  }
  return to;
}

function wide(steps, spec, bytes, name) {
  const { rows, planes } = spec;
  const join = steps.has('shuffle') ? joinPlanes : joinBytes;
  const half = (k) => join(Uint32Array, rows, bytes, 4 * k, planes - 4 * k, planes);
  const low = half(0);
  const high = half(1);
  if (steps.has('zigzag')) unzigzagHalves(low, high);
  if (steps.has('delta')) undeltaHalves(low, high);
  return fromHalves(low, high, name);
}

function floats(steps, spec, bytes, name) {
  if (steps.has('delta') || steps.has('zigzag')) {
    throw columnError(name, 'f64 has no differences');
  }
  return new Float64Array(spread(bytes, spec, 8, steps.has('shuffle')).buffer);
}

function narrow(steps, spec, bytes, array) {
  const join = steps.has('shuffle') ? joinPlanes : joinBytes;
  const to = join(array, spec.rows, bytes, 0, spec.planes, spec.planes);
  if (steps.has('zigzag')) unzigzag(to);
  if (steps.has('delta')) undelta(to);
  return to;
}

/* The steps of a column, which have one order only. */
function stepsOf(spec, name) {
  const steps = spec.enc ?? [];
  if (!Array.isArray(steps)) throw columnError(name, 'its encodings are no list');
  let last = -1;
  for (const step of steps) {
    const at = STEPS.indexOf(step);
    if (at <= last) throw columnError(name, `packed in a way that this page does not know`);
    last = at;
  }
  return new Set(steps);
}

function constant(spec, type, name) {
  if (typeof spec.const !== 'number' || !Number.isFinite(spec.const)) {
    throw columnError(name, 'its value is no number');
  }
  const [value] = type.array.of(spec.type === 'u64' && spec.const >= 2 ** 53 ? NaN : spec.const);
  const array = [Uint8Array, Uint16Array].find((small) => small.of(value)[0] === value);
  const to = zeros(array ?? type.array, spec.rows);
  // Zeros that nobody writes take no memory.
  return value === 0 ? to : to.fill(value);
}

function scaled(to, scale = 1) {
  return scale === 1 ? to : Float64Array.from(to, (n) => n * scale);
}

/* What the numbers of a column are kept in: the narrowest that the bytes given of each fill. */
function arrayOf(spec, type, planes, steps) {
  const plain = spec.type[0] === 'u' && !steps.has('delta') && !steps.has('zigzag');
  return (plain && NARROWEST[planes]) || type.array;
}

/** The numbers of one column, in as narrow an array as its packing shows to be enough; `bytes` are
 * its own, of the length the head gives. */
export async function decodeColumn(spec, bytes, name = spec.name ?? '?') {
  try {
    return await decodeKnown(spec, bytes, name);
  } catch (e) {
    throw e instanceof RangeError ? columnError(name, 'too large for this browser') : e;
  }
}

async function decodeKnown(spec, bytes, name) {
  const type = Object.hasOwn(TYPES, spec.type) ? TYPES[spec.type] : null;
  if (!type) throw columnError(name, `type ${spec.type} is not known to this page`);
  const rows = spec.rows;
  if (!Number.isInteger(rows) || rows < 0 || rows > NONE32) {
    throw columnError(name, 'its number of rows is not one');
  }
  const steps = stepsOf(spec, name);
  if (rows === 0) return new type.array(0);
  if (spec.const !== undefined) return scaled(constant(spec, type, name), spec.scale);
  const planes = spec.planes ?? type.width;
  if (!Number.isInteger(planes) || planes < 0 || planes > type.width) {
    throw columnError(name, ALTERED);
  }
  if (!bytes || (spec.len !== undefined && bytes.length !== spec.len)) {
    throw columnError(name, ALTERED);
  }
  let plain = bytes;
  if (steps.has('deflate')) {
    plain = await inflate(bytes, rows * planes).catch((e) => {
      throw columnError(name, e.message);
    });
  }
  if (plain.length !== rows * planes) throw columnError(name, ALTERED);
  const whole = { rows, planes };
  if (spec.type === 'f64') return scaled(floats(steps, whole, plain, name), spec.scale);
  const array = arrayOf(spec, type, planes, steps);
  if (array === Float64Array) return scaled(wide(steps, whole, plain, name), spec.scale);
  return scaled(narrow(steps, whole, plain, array), spec.scale);
}
