// layout.js - where the frames of a tree lie: a row for each depth, the heaviest first.

// Of a frame, in pixels; what is narrower is merged with those beside it.
const widthLeast = 0.5;

/** { cells, rows }: cells are { node, depth, x, w, merged, total }, by depth and then x; those of
 * depth d begin at rows[d]. Frames below one caller that are narrower than half a pixel are one
 * cell: `merged` is how many there are (0 in an ordinary cell), `node` the first of them. */
export function layout(tree, top, width) {
  const scale = tree.total(top) > 0 ? width / tree.total(top) : 0;
  const cells = [{ node: top, depth: 0, x: 0, w: width, merged: 0, total: tree.total(top) }];
  const rows = [0];
  for (let i = 0; i < cells.length; i++) {
    const { node, depth, x, merged } = cells[i];
    if (!merged && scale > 0) place(tree, node, depth + 1, x, scale, cells);
    if (cells.length > i + 1 && cells[i + 1].depth > depth) rows.push(i + 1);
  }
  return { cells, rows: [...rows, cells.length] };
}

function place(tree, node, depth, from, scale, cells) {
  const children = tree.children(node);
  let x = from;
  let at = 0;
  for (; at < children.length; at++) {
    const total = tree.total(children[at]);
    if (total * scale < widthLeast) break;
    cells.push({ node: children[at], depth, x, w: total * scale, merged: 0, total });
    x += total * scale;
  }
  if (at === children.length) return;
  let rest = 0;
  for (let i = at; i < children.length; i++) rest += tree.total(children[i]);
  const merged = children.length - at;
  cells.push({ node: children[at], depth, x, w: rest * scale, merged, total: rest });
}

/** How many rows there are. */
export function depthOf({ rows }) {
  return rows.length - 1;
}

/** The place of the cell at `x` of a row; -1: there is none. What is narrower than a pixel is as
 * wide as one. */
export function cellAt({ cells, rows }, depth, x) {
  if (!(depth >= 0 && depth < rows.length - 1)) return -1;
  let from = rows[depth];
  let past = rows[depth + 1];
  while (past - from > 1) {
    const middle = (from + past) >>> 1;
    if (cells[middle].x <= x) from = middle;
    else past = middle;
  }
  const { x: left, w } = cells[from];
  return x >= left && x < left + Math.max(w, 1) ? from : -1;
}

/** The place of the cell that a key leads to from the one at `i`: inwards (to the widest below) or
 * outwards, or beside it in its row; `i` where there is none. */
export function stepFrom({ cells, rows }, i, step) {
  const { depth, x, w } = cells[i];
  if (step === 'before' || step === 'after') {
    const next = i + (step === 'after' ? 1 : -1);
    return next >= rows[depth] && next < rows[depth + 1] ? next : i;
  }
  const layer = { cells, rows };
  if (step === 'out') return depth === 0 ? i : Math.max(0, cellAt(layer, depth - 1, x + w / 4));
  if (depth + 1 >= rows.length - 1) return i;
  for (let k = rows[depth + 1]; k < rows[depth + 2]; k++) {
    if (cells[k].x >= x + w - 1e-6) break;
    if (cells[k].x >= x - 1e-6) return k;
  }
  return i;
}
