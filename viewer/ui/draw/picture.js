// picture.js - what the columns of a picture hold: states, runs of groups, allocations.  No DOM.

/** First column whose shown state is `p` or later. */
export function columnOf(shown, p) {
  let low = 0;
  let high = shown.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (shown[middle] < p) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Column of a state: the first one also of the state that is carried into it, the last one of what
 * comes after the state that it shows; an infinite one of what lies before or behind all. */
export function placeIn(picture, p) {
  const { shown, span } = picture;
  if (p < span[0] - 1) return -Infinity;
  const column = columnOf(shown, p);
  if (column < shown.length) return column;
  return p < span[1] ? shown.length - 1 : Infinity;
}

/** Runs of equal group in one column, from the top: [group, first row, past row]. */
export function runsOf(picture, column) {
  const { W, H, ids, group } = picture;
  const runs = [];
  for (let y = 0; y < H;) {
    const i = y * W + column;
    const from = y;
    const g = ids[i] < 0 ? -1 : group[i];
    for (y++; y < H && (ids[y * W + column] < 0 ? -1 : group[y * W + column]) === g;) y++;
    if (g >= 0) runs.push([g, from, y]);
  }
  return runs;
}

/** The ids of one column from the bottom, each once. */
export function bandsOf(picture, column) {
  const { W, H, ids } = picture;
  const list = [];
  for (let y = H - 1; y >= 0; y--) {
    const id = ids[y * W + column];
    if (id >= 0 && id !== list[list.length - 1]) list.push(id);
  }
  return list;
}
