// plain.mjs - plain forms of what the page's core does cleverly, for tests to compare with.

/* Shown states by the words of the rule: the largest of each span, the earliest on ties. */
export function shownOf(curve, v0, v1, W) {
  const shown = new Uint32Array(W);
  for (let c = 0; c < W; c++) {
    const from = Math.floor(v0 + ((v1 - v0) * c) / W);
    const to = Math.max(from + 1, Math.floor(v0 + ((v1 - v0) * (c + 1)) / W));
    let best = from;
    for (let p = from; p < to; p++) if (curve[p] > curve[best]) best = p;
    shown[c] = best;
  }
  return shown;
}

/* A few ranges of a recording at a few widths. */
export function* spans(states, random) {
  for (const W of [1, 7, 64]) yield [0, states, W];
  for (let i = 0; i < 3; i++) {
    const v0 = Math.floor(random() * states);
    yield [v0, v0 + 1 + Math.floor(random() * (states - v0)), 5 + Math.floor(random() * 90)];
  }
}

export function sum(list) {
  let n = 0;
  for (const x of list) n += x;
  return n;
}

/* The same numbers, without a message of a million lines where they differ. */
export function firstDifference(a, b) {
  if (a.length !== b.length) return `length ${a.length}, ${b.length}`;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return `[${i}] ${a[i]}, ${b[i]}`;
  return null;
}

/* The stack as the words of the rule have it, column by column: ids, sums and how many are drawn. */
export function plainStackPicture(model, { shown, order, mask, bare, y0, y1, H }) {
  const { born, end, bytes, rows } = model.alloc;
  const W = shown.length;
  const k = y1 > y0 ? H / (y1 - y0) : 0;
  const edge = (sum) => Math.min(H, Math.max(0, Math.floor((sum - y0) * k + 0.5)));
  const sums = new Float64Array(W).fill(bare ? 0 : model.adjust || 0);
  const ids = new Int32Array(W * H).fill(-1);
  const drawn = new Set();
  for (let c = 0; c < W; c++) {
    for (const r of order ?? Array(rows).keys()) {
      if (born[r] > shown[c] || end[r] <= shown[c] || (mask && !mask[r])) continue;
      const from = edge(sums[c]);
      sums[c] += bytes[r];
      for (let y = from; y < edge(sums[c]); y++) ids[(H - 1 - y) * W + c] = r;
      drawn.add(r);
    }
  }
  return { ids, sums, drawn: drawn.size };
}
