// terms.js - search terms for what is shown: one group of a grouping, one line.  No DOM.

const keyOf = { line: 'line', category: 'cat', owner: 'owner', module: 'module', site: 'site',
  file: 'file', function: 'function', phase: 'phase', pool: 'pool', stream: 'stream', size: 'size',
  name: 'name', path: 'path', birth: 'cat' };
const lists = ['cat', 'phase', 'pool', 'stream'];

/** The search term for one group of a grouping, { name, site } or its name alone; empty where there
 * is none.  Several sites may bear one name, and are told apart by their numbers. */
export function termOf(by, group) {
  const key = keyOf[by];
  const { name, site } = typeof group === 'object' && group ? group : { name: group };
  if (!key || name === undefined || name === null) return '';
  const text = (site ? `#${site} ` : '') + String(name).replaceAll('"', ' ');
  const plain = /^[\w.:-]+$/.test(text);
  return `${key}${lists.includes(key) ? ':' : '='}${plain ? text : `"${text}"`}`;
}

/** The search term for the line of a program, or the size of what has none. */
export function lineTerm(name) {
  return termOf(/^size:\d+$/.test(name) ? 'site' : 'line', name);
}
