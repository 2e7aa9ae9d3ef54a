// marks.js - the marks A and B: A is the earlier of two, wherever the two are named.  No DOM.

/** What clearing the marks changes: the range that they made goes with them. */
export function unmarked({ marks, range }) {
  const isOfMarks = marks.length === 2 && range?.a === marks[0] && range.b === marks[1];
  return { marks: [], range: isOfMarks ? null : range };
}

/** What a mark at a state changes of `state`: the third mark begins anew. */
export function marked({ marks, range }, at) {
  const next = marks.length >= 2 ? [at] : [...marks, at].sort((a, b) => a - b);
  return { marks: next, range: next.length === 2 ? { a: next[0], b: next[1] } : range };
}
