// range.js - what happened between two states.

/**
 * From state `a` to state `b`, both part of it. Bytes: start, end, min, max (and the states
 * minState, maxState, the earliest of each); churn: all that was allocated; bornSurvived: of it,
 * what lives at the end; bornFreed: the rest; freed: what lived at the start and not at the end.
 * end - start = bornSurvived - freed. Each sum has its count under counts. Of the rows of `mask`
 * where one is given, whose curve it is.
 */
export function rangeFacts(model, curve, a, b, mask = null) {
  const { rows, born, end, bytes } = model.alloc;
  const facts = { a, b, start: curve[a], end: curve[b], churn: 0, bornSurvived: 0, bornFreed: 0,
    freed: 0, ...extremes(curve, a, b),
    counts: { churn: 0, bornSurvived: 0, bornFreed: 0, freed: 0 } };
  const put = (name, row) => {
    facts[name] += bytes[row];
    facts.counts[name]++;
  };
  for (let i = 0; i < rows && born[i] <= b; i++) {
    if (mask && !mask[i]) continue;
    if (born[i] > a) {
      put('churn', i);
      put(end[i] > b ? 'bornSurvived' : 'bornFreed', i);
    } else if (end[i] > a && end[i] <= b) {
      put('freed', i);
    }
  }
  return facts;
}

function extremes(curve, a, b) {
  let low = a;
  let high = a;
  for (let p = a + 1; p <= b; p++) {
    if (curve[p] < curve[low]) low = p;
    if (curve[p] > curve[high]) high = p;
  }
  return { min: curve[low], minState: low, max: curve[high], maxState: high };
}

function select(model, b, test) {
  const { rows, born } = model.alloc;
  const list = [];
  for (let i = 0; i < rows && born[i] <= b; i++) if (test(i)) list.push(i);
  return Uint32Array.from(list);
}

/** Rows born after state `a` and live in state `b`. */
export function survivors(model, a, b) {
  const { born, end } = model.alloc;
  return select(model, b, (i) => born[i] > a && end[i] > b);
}

/** Rows born after state `a`, up to state `b`. */
export function bornIn(model, a, b) {
  const { born } = model.alloc;
  return select(model, b, (i) => born[i] > a);
}

/** Bytes allocated in the states that each column stands for: the strip under the stack. `edges`
 * are the W + 1 ascending states between columns; column c has what was born in
 * [edges[c], edges[c + 1]), of the rows of `mask` where one is given. */
export function churnColumns(model, edges, mask = null) {
  const { rows, born, bytes } = model.alloc;
  const W = edges.length - 1;
  const churn = new Float64Array(W);
  for (let i = 0, c = 0; i < rows && c < W; i++) {
    while (c < W && born[i] >= edges[c + 1]) c++;
    if (mask && !mask[i]) continue;
    if (c < W && born[i] >= edges[c] && born[i] > 0) churn[c] += bytes[i];
  }
  return churn;
}
