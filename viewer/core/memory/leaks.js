// leaks.js - what each step leaves behind: born in it and alive after later ones.

import { firstAbove, windowOf } from './curves.js';

const STEP = 0;

/** The steps of a recording in order: { mark, number, name, first, last }, states inclusive. */
export function stepsOf(model) {
  const { mark, string } = model;
  const steps = [];
  for (let m = 0; mark && m < mark.rows; m++) {
    if (mark.kind[m] !== STEP) continue;
    steps.push({ mark: m, name: string[mark.name[m]], first: mark.first[m], last: mark.last[m] });
  }
  steps.sort((a, b) => a.first - b.first || a.mark - b.mark);
  const numbers = steps.map((step) => /(\d+)\D*$/.exec(step.name || ''));
  const named = numbers.every((n) => n !== null);
  return steps.map((step, i) => ({ ...step, number: named ? Number(numbers[i][1]) : i + 1 }));
}

/** Rows [from, to) born in the states first to last; what was before recording never is. */
export function bornWithin(model, first, last) {
  const { born } = model.alloc;
  const from = firstAbove(born, Math.max(first, 1) - 1);
  return [from, Math.max(from, firstAbove(born, last))];
}

/* The step a row was born in, or -1, by two ascending lists. */
function stepOfRows(model, steps) {
  const of = new Int32Array(model.alloc.rows).fill(-1);
  steps.forEach((step, k) => {
    const [from, to] = bornWithin(model, step.first, step.last);
    of.fill(k, from, to);
  });
  return of;
}

/** Rows that steps leave at the end, of the groups that bear one of those names. */
export function leftUnder(model, { of, names }, wanted) {
  const stepOf = stepOfRows(model, stepsOf(model));
  const counts = names.map((name) => wanted.includes(name));
  const { end, rows } = model.alloc;
  const [, past] = windowOf(model);
  const left = new Uint32Array(rows).map((_, r) => r);
  return left.filter((r) => stepOf[r] >= 0 && end[r] >= past && counts[of[r]]);
}

/** Survivors at state p (default the end) by group and step of birth: rows { group, name, bytes[K],
 * count[K], total, first (step first seen) }, most bytes first.  of: group of each alloc row. */
export function survivorsBy(model, { of, names }, p = model.states - 1, steps = stepsOf(model)) {
  const K = steps.length;
  const stepOf = stepOfRows(model, steps);
  const { end, born, bytes, rows } = model.alloc;
  const groups = new Map();
  for (let r = 0; r < rows && born[r] <= p; r++) {
    const k = stepOf[r];
    if (k < 0 || end[r] <= p) continue;
    let group = groups.get(of[r]);
    if (!group) {
      group = { group: of[r], name: names[of[r]], bytes: new Float64Array(K),
        count: new Float64Array(K), total: 0, first: K };
      groups.set(of[r], group);
    }
    group.bytes[k] += bytes[r];
    group.count[k]++;
    group.total += bytes[r];
    if (k < group.first) group.first = k;
  }
  return [...groups.values()].sort((a, b) => b.total - a.total || a.group - b.group);
}
