// editor.js - the addresses that open a frame in an editor on this machine.  No DOM.

const file = '://file{path}:{line}';
const open = '://open?file={path}&line={line}';
const addresses = new Map([['vscode', file], ['vscode-insiders', file], ['cursor', file],
  ['zed', file], ['idea', open], ['pycharm', open]]);

/** The editors that a page may call; any other name is none. */
export const editors = [...addresses.keys()];

/** `path` with its beginning replaced as `FROM=TO` says. */
function moved(path, rule) {
  const [, from, to] = /^([^=]+)=(.*)$/s.exec(rule || '') || [];
  return from !== undefined && path.startsWith(from) ? to + path.slice(from.length) : path;
}

/** The address of a frame, or null: an editor needs a whole path. */
export function editorLink(editor, rule, path, line) {
  if (!addresses.has(editor) || !path) return null;
  const whole = moved(path, rule).replaceAll('\\', '/').replace(/^[a-z]:\//i, '/$&');
  if (!whole.startsWith('/')) return null;
  const parts = { path: whole.split('/').map(encodeURIComponent).join('/'),
    line: String(Math.max(1, line | 0)) };
  return editor + addresses.get(editor).replace(/\{(path|line)\}/g, (_, name) => parts[name]);
}
