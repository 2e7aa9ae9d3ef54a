// terms.js - search terms for what is shown: one group of a grouping, one line.  No DOM.

const keyOf = { line: 'line', category: 'cat', owner: 'owner', module: 'module', site: 'site',
  file: 'file', function: 'function', phase: 'phase', pool: 'pool', stream: 'stream', size: 'size',
  name: 'name', path: 'path', birth: 'cat' };
const lists = ['cat', 'phase', 'pool', 'stream'];

function quoted(text) {
  return /^[\w.:-]+$/.test(text) ? text : '"' + text.replaceAll('"', ' ') + '"';
}

/** The name of a group that no other has: several sites may bear one name, and have numbers. */
export function ownName({ name, site }) {
  return (site ? `#${site} ` : '') + name;
}

/** The search term for one group of a grouping, { name, site } or its name alone; empty where there
 * is none. */
export function termOf(by, group) {
  const key = keyOf[by];
  const one = typeof group === 'object' && group ? group : { name: group };
  if (!key || one.name === undefined || one.name === null) return '';
  return `${key}${lists.includes(key) ? ':' : '='}${quoted(ownName(one))}`;
}

/** The search term for the line of a program, or the size of what has none. */
export function lineTerm(name) {
  return termOf(/^size:\d+$/.test(name) ? 'site' : 'line', name);
}

/** The search terms for a frame { name, file, line }; empty for what is none. */
export function frameTerms({ name, file, line, merged }) {
  if (merged || !line && !file) return '';
  const base = file.slice(file.lastIndexOf('/') + 1);
  return [`fn:${quoted(name)}`, base && base !== '??' && `file:${quoted(base)}`,
    line > 0 && `line:${line}`].filter(Boolean).join(' ');
}
