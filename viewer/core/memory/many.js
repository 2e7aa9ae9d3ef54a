// many.js - the devices of all files, one row each, as the core compared them.

/** The pair of the head's diff of two devices ({ file, dev }), in either order; null: none. */
export function pairOf(head, a, b) {
  const is = (one, side) => side.file === one.file && side.device === one.dev;
  return (head.diff ?? []).find((pair) => (is(a, pair.a) && is(b, pair.b)) ||
    (is(a, pair.b) && is(b, pair.a))) ?? null;
}

function placeOf(told, unit, cut) {
  if (cut) return 'cut file';
  if (told.trust?.window === 'state_only') return 'end';
  const words = [unit?.peak_step && `step ${unit.peak_step}`, unit?.peak_phase].filter(Boolean);
  const { peak_event: event } = told.requested ?? {};
  return words.join(' ') || (event >= 0 ? `event ${event}` : 'start');
}

/* Whether all are of one job: devices of one file, or files that are named by their ranks. */
function areOfOneJob({ files, ranks }) {
  return files.length === 1 || ranks.units.every((unit) => unit.rank_named);
}

/* What the comparison says of a unit, in words.  Files that have nothing to do with each other have
 * a highest peak, and no more. */
function verdictOf(head, i) {
  const { ranks } = head;
  const isHighest = i === ranks.straggler && ranks.units.length > 1;
  if (!areOfOneJob(head)) return isHighest ? 'highest peak' : '';
  const words = ranks.outliers.includes(i) ? ['outlier'] : [];
  if (isHighest) words.push('bounds the job' + (ranks.verdict ? `: ${ranks.verdict}` : ''));
  return words.join(', ');
}

/**
 * A row for each device of each file: { key, file, dev, name, note, grade, peak, at, capacity,
 * ooms, short (bytes that the last request lacked; null: none did), over (bytes above the median;
 * null: not in it), verdict, cut }.
 */
export function unitsOf(head) {
  const { ranks } = head;
  return head.files.flatMap(({ report, devices, name }, file) => devices.map((device, dev) => {
    const told = report?.devices?.[dev] ?? {};
    const i = ranks ? ranks.units.findIndex((u) => u.file === file && u.device === dev) : -1;
    const unit = i >= 0 ? ranks.units[i] : null;
    const cut = told.trust?.window === 'incomplete';
    const ranked = unit?.rank_named && head.files.length > 1;
    return {
      key: `${file}.${dev}`, file, dev, cut,
      name: [ranked ? `rank ${unit.rank}` : head.files.length > 1 && name, device.name]
        .filter(Boolean).join(' '),
      note: `${name} ${device.name}` + (ranked ?
        ': the rank is that in the name of the file' : ''),
      grade: told.trust?.grade ?? null, peak: told.requested?.peak_bytes ?? null,
      at: placeOf(told, unit, cut), capacity: device.capacity_bytes ?? null,
      ooms: told.oom_events ?? 0, short: device.oom?.short_by_bytes ?? null,
      over: cut ? null : unit?.over_median_bytes ?? null,
      verdict: unit ? [cut || !unit.whole ? 'not in the median' : '', verdictOf(head, i)]
        .filter(Boolean).join(', ') : ranks ? 'holds nothing' : '',
    };
  }));
}

/** Of columns of a cover the largest value in each of `width` parts, for a small curve. */
export function spark(values, width) {
  const n = Math.min(width, values.length);
  const to = new Float64Array(n);
  for (let i = 0; i < values.length; i++) {
    const c = Math.floor(i * n / values.length);
    if (values[i] > to[c]) to[c] = values[i];
  }
  return to;
}
