// terms.js - search terms for what is shown: one group of a grouping, one culprit.  No DOM.

const keyOf = { category: 'cat', site: 'site', owner: 'owner', module: 'module', phase: 'phase',
  pool: 'pool', stream: 'stream', birth: 'cat' };

/** The search term for one group of a grouping; empty where there is none. */
export function termOf(by, name) {
  const key = keyOf[by];
  if (!key || name === undefined || name === null) return '';
  const plain = /^[\w.:-]+$/.test(name);
  return `${key}:${plain ? name : '"' + String(name).replaceAll('"', ' ') + '"'}`;
}

/** A search term for a culprit: quoted, as it holds blanks. */
export function siteTerm(name) {
  return 'site:"' + String(name).replaceAll('"', ' ') + '"';
}
