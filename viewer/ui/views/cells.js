// cells.js - from one cell of a flame graph to the next: what the arrow keys do.  No DOM.

/** The cell that `key` leads to from cell `from` of `tree.cells`; `from` where there is none. */
export function nextCell(tree, from, key) {
  const { cells, parent } = tree;
  const here = cells[from];
  const first = (test) => {
    const at = cells.findIndex(test);
    return at < 0 ? from : at;
  };
  if (!here) return 0;
  if (key === 'ArrowUp') {
    return here.depth === 0 ? from : first((cell) => !cell.merged &&
      cell.node === parent[here.node]);
  }
  if (key === 'ArrowDown') {
    return here.merged ? from : first((cell) => cell.depth === here.depth + 1 &&
      parent[cell.node] === here.node);
  }
  // Cells of one depth stand from left to right.
  const next = from + (key === 'ArrowRight' ? 1 : -1);
  const beside = cells[next];
  return beside && beside.depth === here.depth && here.depth > 0 &&
    parent[beside.node] === parent[here.node] ? next : from;
}
