// flame.js - an icicle of bytes by stack: controls, cells, zoom, and its twin, a tree of rows.
import { bytes, count, share } from '../core/human.js';
import { button, choice, el, fill, fitCanvas, perFrame } from './dom.js';
import { font } from './draw.js';
import { hatch, inkOn, slotColour } from './paint.js';
import { shortened } from './text.js';

const rowHeight = 20;
const sets = [['cursor', 'live at the cursor'], ['peak', 'live at the peak'],
  ['survivors', 'born in the range, alive after it'], ['churn', 'churn of the range']];
const weights = [['bytes', 'bytes'], ['count', 'count'], ['byte_time', 'bytes \u00d7 time']];
const roots = [['caller', 'caller'], ['callee', 'callee']];

/** The same name has the same colour everywhere; grey is left to what is merged. */
export function slotOfName(name) {
  let hash = 0;
  for (const c of name) hash = hash * 31 + c.codePointAt(0) >>> 0;
  return [4, 1, 3, 4, 1][hash % 5];
}

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

export function cellName(cell) {
  if (cell.merged) return `${count(cell.merged)} narrower than a pixel`;
  return cell.file && cell.file !== '??' ? `${cell.file}:${cell.line} ${cell.name}` : cell.name;
}

export function createFlame(host, ctx) {
  const canvas = el('canvas', { role: 'img' });
  const crumbs = el('div', { class: 'bar', 'aria-label': 'Zoomed to' });
  const total = el('span', { class: 'note' });
  const twin = el('ul', { role: 'tree', class: 'tree', 'aria-label': 'Stacks by weight' });
  const chosen = { of: 'cursor', weight: 'bytes', root: 'caller', library: false };
  const pick = (name, options, key) => choice(name, options, chosen[key], (value) => {
    chosen[key] = value;
    top = 0;
    update();
  }).node;
  const hide = el('input', { type: 'checkbox', checked: true, on: { change: () => {
    chosen.library = !hide.checked;
    top = 0;
    update();
  } } });
  const box = el('div', { class: 'plot flame', tabindex: 0, role: 'group',
    'aria-label': 'Flame graph' }, canvas);
  const scroll = el('div', { class: 'scroll' }, box, el('details', { class: 'twin' },
    el('summary', { text: 'as a list' }), twin));
  host.append(el('div', { class: 'bar' }, pick('of', sets, 'of'), pick('weight', weights, 'weight'),
    pick('root', roots, 'root'), el('label', null, hide, ' hide library'), total), crumbs, scroll);
  let tree = null;
  let cells = [];
  let top = 0;
  const names = new Map();
  let asked = '';
  let wanted = 0;

  const said = (value) => (chosen.weight === 'bytes' ? bytes(value) : chosen.weight === 'count' ?
    count(value) :
    count(value / 1048576) + ' MiB \u00b7 \u00b5s');

  function update() {
    const { at, range, query, file, dev } = ctx.store.get();
    const span = range || { a: 0, b: ctx.cover().states - 1 };
    const width = Math.max(100, box.clientWidth - 16);
    const args = { ...chosen, state: at, a: span.a, b: span.b, query, only: query !== '', width,
      top };
    const key = JSON.stringify([args, file, dev]);
    if (key === asked) {
      soon();
      return;
    }
    asked = key;
    const mine = ++wanted;
    ctx.call('tree', args).then((got) => {
      if (!got || mine !== wanted) return;
      tree = got;
      if (got.of !== undefined && top >= got.parent.length) top = 0;
      for (const cell of got.cells) if (!cell.merged) names.set(cell.node, cellName(cell));
      drawTwin();
      soon();
    }, ctx.failed);
  }

  function draw() {
    if (!tree || !box.clientWidth) return;
    cells = tree.cells;
    const depth = cells.reduce((most, cell) => Math.max(most, cell.depth), 0) + 1;
    box.style.setProperty('height', depth * rowHeight + 4 + 'px');
    fitCanvas(canvas, box.clientWidth, depth * rowHeight + 4);
    const ratio = self.devicePixelRatio || 1;
    const g = canvas.getContext('2d');
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, box.clientWidth, depth * rowHeight + 4);
    g.font = font;
    g.textBaseline = 'middle';
    g.textAlign = 'left';
    for (const cell of cells) drawCell(g, cell, ctx.palette());
    canvas.setAttribute('aria-label', `Flame graph, ${said(tree.total[0])} is all of it`);
    fill(total, `${said(tree.total[0])} = 100 %` + (ctx.store.get().query ?
      ' of what the filter matches' : ''));
    drawCrumbs();
  }

  function drawCell(g, cell, palette) {
    const y = cell.depth * rowHeight;
    const w = Math.max(0.5, cell.w - 1);
    if (cell.merged) {
      g.fillStyle = palette.free;
      g.fillRect(cell.x, y, w, rowHeight - 1);
      hatch(g, cell.x, y, w, rowHeight - 1, palette.hatch, 4);
      return;
    }
    const name = cellName(cell);
    const grey = !cell.own;
    const slot = grey ? 9 : slotOfName(name);
    g.fillStyle = grey ? palette.free : slotColour(palette, slot);
    g.fillRect(cell.x, y, w, rowHeight - 1);
    if (cell.w < 30) return;
    g.fillStyle = grey ? palette.text : inkOn(palette, slot);
    const amount = cell.w > 190 ? '  ' + said(cell.total) : '';
    g.fillText(shortened(name, Math.max(1, Math.floor((cell.w - 8) / 7) - amount.length)) + amount,
      cell.x + 4, y + rowHeight / 2);
  }

  function drawCrumbs() {
    const path = [];
    for (let n = top; n; n = tree.parent[n]) path.unshift(n);
    fill(crumbs, path.length ? [0, ...path].map((n) => button(shortened(names.get(n) || 'all', 40),
        () => {
      top = n;
      update();
    }, { class: 'link' })) : null);
    crumbs.hidden = path.length === 0;
  }

  function cellAt(event) {
    const rect = canvas.getBoundingClientRect();
    const depth = Math.floor((event.clientY - rect.top) / rowHeight);
    const x = event.clientX - rect.left;
    return cells.find((cell) => cell.depth === depth && x >= cell.x && x < cell.x + Math.max(1,
      cell.w)) || null;
  }

  function textOf(cell) {
    return `${cellName(cell)}: ${said(cell.total)}, ${share(cell.total / tree.total[0])} of ` +
      said(tree.total[0]);
  }

  canvas.addEventListener('pointermove', (event) => {
    const cell = tree && cellAt(event);
    ctx.say(cell ? textOf(cell) : '');
  });
  canvas.addEventListener('pointerleave', () => ctx.say(''));
  canvas.addEventListener('dblclick', (event) => {
    const cell = tree && cellAt(event);
    if (!cell || cell.merged) return;
    top = cell.node === top ? tree.parent[cell.node] : cell.node;
    update();
  });

  function item(cell, lists, level) {
    const kids = (!cell.merged && lists.get(cell.node)) || [];
    const node = el('li', { role: 'treeitem', tabindex: level === 1 ? 0 : -1, 'aria-level': level,
      'aria-expanded': kids.length ? 'false' : null }, el('span', null,
        `${said(cell.total)}  ${cellName(cell)}`));
    node.open = (on) => {
      if (!kids.length || (node.getAttribute('aria-expanded') === 'true') === on) return;
      node.setAttribute('aria-expanded', on ? 'true' : 'false');
      if (!on) node.querySelector('ul').remove();
      else node.append(el('ul', { role: 'group' }, kids.slice(0, 200).map((kid) => item(kid, lists,
        level + 1))));
    };
    node.firstChild.addEventListener('click', () =>
      node.open(node.getAttribute('aria-expanded') !== 'true'));
    return node;
  }

  function drawTwin() {
    fill(twin, item(tree.cells[0], childCells(tree), 1));
  }

  twin.addEventListener('keydown', (event) => {
    const node = event.target.closest('[role="treeitem"]');
    const all = [...twin.querySelectorAll('[role="treeitem"]')];
    const moves = { ArrowDown: 1, ArrowUp: -1 };
    if (!node || !/^Arrow(Up|Down|Left|Right)$/.test(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === 'ArrowRight') node.open(true);
    else if (event.key === 'ArrowLeft') node.open(false);
    else {
      const next = all[all.indexOf(node) + moves[event.key]];
      if (next) next.focus();
    }
  });

  const soon = perFrame(draw);
  new ResizeObserver(update).observe(scroll);
  return { update, redraw: soon, forget: () => { asked = ''; }, canvases: () => [canvas] };
}
