// twin.js - a tree of rows that says what the flame graph shows, for keys and screen readers.
import { el, fill } from '../draw/dom.js';

const mostChildren = 200;
const treeItem = '[role="treeitem"]';

/** Cells by the node they lie in, the heaviest first; those merged into one are one. */
export function childCells(tree) {
  const lists = new Map();
  for (const cell of tree.cells) {
    if (cell.depth === 0) continue;
    const parent = tree.parent[cell.node];
    if (!lists.has(parent)) lists.set(parent, []);
    lists.get(parent).push(cell);
  }
  for (const list of lists.values()) list.sort((a, b) => b.total - a.total || a.node - b.node);
  return lists;
}

function isOpen(node) {
  return node.getAttribute('aria-expanded') === 'true';
}

/** A row; those below it are made when it is opened.  `textOf(cell)`: what a row says; `node.cell`
 * is what it is of. */
function item(cell, lists, level, textOf) {
  const below = (!cell.merged && lists.get(cell.node)) || [];
  const node = el('li', { role: 'treeitem', tabindex: level === 1 ? 0 : -1, 'aria-level': level,
    'aria-expanded': below.length ? 'false' : null }, el('span', null, textOf(cell)));
  node.open = (on) => {
    if (!below.length || isOpen(node) === on) return;
    node.setAttribute('aria-expanded', on ? 'true' : 'false');
    if (!on) node.querySelector('ul').remove();
    else {
      node.append(el('ul', { role: 'group' }, below.slice(0, mostChildren).map((one) =>
        item(one, lists, level + 1, textOf))));
    }
  };
  node.cell = cell;
  node.firstChild.addEventListener('click', () => node.open(!isOpen(node)));
  return node;
}

function hearKey(root, event, zoom, out) {
  const node = event.target.closest(treeItem);
  if (!node || !/^(Arrow(Up|Down|Left|Right)|Enter|Backspace)$/.test(event.key)) return;
  event.preventDefault();
  event.stopPropagation();
  if (event.key === 'Enter') zoom(node.cell);
  else if (event.key === 'Backspace') out();
  else if (event.key === 'ArrowRight') node.open(true);
  else if (event.key === 'ArrowLeft') node.open(false);
  else {
    const all = [...root.querySelectorAll(treeItem)];
    const next = all[all.indexOf(node) + (event.key === 'ArrowDown' ? 1 : -1)];
    if (next) next.focus();
  }
}

/** `zoom(cell)`: to the cell of a row; `out()`: back to its caller. */
export function createTwin(zoom, out) {
  const node = el('ul', { role: 'tree', class: 'tree', 'aria-label': 'Stacks by weight',
    on: { keydown: (event) => hearKey(node, event, zoom, out),
      dblclick: ({ target }) => zoom(target.closest(treeItem).cell) } });
  return { node, draw: (tree, textOf) => {
    const inside = node.contains(document.activeElement);
    fill(node, item(tree.cells[0], childCells(tree), 1, textOf));
    if (inside) node.firstChild.focus();
  } };
}
