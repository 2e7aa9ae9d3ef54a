// keys.js - the table of keys, which the look-up of a key and the `?` dialog follow.  No DOM.

/** [action, keys, shifted keys, what it does]; the order is that of the dialog. */
export const table = [
  ['help', ['?'], 'this table, settings'],
  ['find', ['/'], 'find'],
  ['next', ['n'], 'next match'],
  ['previous', ['N'], 'previous match'],
  ['view', ['1', '2', '3', '4', '5', '6', '7', '8', '0'], 'views'],
  ['group', ['g'], 'next grouping'],
  ['group-back', ['G'], 'previous grouping'],
  ['left', ['ArrowLeft'], 'cursor one column to the left, Shift ten'],
  ['right', ['ArrowRight'], 'cursor one column to the right, Shift ten'],
  ['event-back', [','], 'one event back'],
  ['event-on', ['.'], 'one event on'],
  ['play', [' '], 'play or pause the last moments before a failed allocation'],
  ['pan-left', ['a', 'j'], 'pan 10 % to the left'],
  ['pan-right', ['d', 'l'], 'pan 10 % to the right'],
  ['zoom-in', ['w', 'i', '+', '='], 'zoom in at the cursor'],
  ['zoom-out', ['s', 'k', '-'], 'zoom out at the cursor'],
  ['up', ['ArrowUp'], 'band above at the cursor'],
  ['down', ['ArrowDown'], 'band below at the cursor'],
  ['pin', ['Enter'], 'pin the band at the cursor'],
  ['peel', ['Delete'], 'take out the row of Who in focus, or its largest; put it back'],
  ['zoom-y-in', ['Alt+ArrowUp'], 'zoom in on the memory axis'],
  ['zoom-y-out', ['Alt+ArrowDown'], 'zoom out on the memory axis'],
  ['fit-y', ['y'], 'fit the memory axis'],
  ['peak', ['p'], 'peak, then the next peaks'],
  ['oom', ['o'], 'next failed allocation'],
  ['step-back', ['['], 'previous step'],
  ['step-on', [']'], 'next step'],
  ['step-extend-back', ['{'], 'select the step at the cursor, then back by a step'],
  ['step-extend', ['}'], 'select the step at the cursor, then on by a step'],
  ['mark', ['m'], 'mark A, then B'],
  ['unmark', ['M'], 'clear the marks'],
  ['zoom-selection', ['f'], 'zoom to the selection'],
  ['home', ['Home'], 'whole recording'],
  ['undo', ['u', 'Backspace'], 'undo zoom and jumps'],
  ['redo', ['U'], 'redo'],
  ['axis', ['x'], 'events or time'],
  ['copy-stack', ['c'], 'copy the stack'],
  ['copy-link', ['C'], 'copy a link'],
  ['export', ['e'], 'export'],
  ['print', ['Ctrl+P'], 'print'],
  ['theme', ['t'], 'light or dark'],
  ['patterns', ['K'], 'patterns'],
  ['fold', ['h'], 'fold or unfold library frames'],
  ['wide', ['W'], 'who table over the whole page'],
  ['list', ['b'], 'groups, the largest allocations, the matches'],
  ['escape', ['Escape'], 'close, clear the find box, unpin, clear the range'],
  ['focus', ['r', 'F6'], 'move the focus through the page'],
];

const byKey = new Map(table.flatMap(([action, keys]) => keys.map((key) => [key, action])));
/** What has keys of its own. */
export const widgets = 'button, a, summary, [role="separator"], [role="treeitem"]';

const inField = new Set(['Escape', 'F6']);
const ownKeys = new Set(['Enter', 'ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Home',
  'Backspace', ' ']);

/**
 * The action of a key, or null.  `event`: key, shiftKey, ctrlKey, altKey, metaKey;
 * `place`: { field, widget, single } - focus in a field, in something with keys of its own,
 * and whether single keys are on.
 */
export function actionOf(event, place) {
  if (event.altKey && !event.ctrlKey && !event.metaKey && !place.field) {
    return byKey.get('Alt+' + event.key) || null;
  }
  if (event.ctrlKey || event.altKey || event.metaKey) {
    return event.key === 'p' && !event.altKey ? 'print' : null;
  }
  if (place.field && !inField.has(event.key)) return null;
  if (place.widget && ownKeys.has(event.key)) return null;
  if (!place.single && event.key.length === 1) return null;
  const key = event.key.length === 1 && !event.shiftKey ? event.key.toLowerCase() : event.key;
  return byKey.get(key) || null;
}

/** Keys as they are printed: `Shift+G`, `\u2190`. */
export function keyNames(keys) {
  const arrows = { ArrowLeft: '\u2190', ArrowRight: '\u2192', ArrowUp: '\u2191',
    ArrowDown: '\u2193', 'Alt+ArrowUp': 'Alt+\u2191', 'Alt+ArrowDown': 'Alt+\u2193',
    Escape: 'Esc', ' ': 'Space' };
  return keys.map((key) => arrows[key] ||
    (/^[A-Z]$/.test(key) ? 'Shift+' + key : /^[a-z]$/.test(key) ? key.toUpperCase() : key));
}
