// flame.js - an icicle of bytes by stack: controls, cells, zoom, and the frame that is searched.
import { bytes, count, ratio, share } from '../../core/model/human.js';
import { button, choice, el, fill, perFrame } from '../draw/dom.js';
import { align, prepare } from '../draw/draw.js';
import { hatch } from '../draw/paint.js';
import { baseName, eventName, shortened, withoutText } from '../draw/text.js';
import { derived } from '../state/derived.js';
import { findingsOf } from '../state/report.js';
import { isPart } from '../state/span.js';
import { frameTerms } from '../state/terms.js';
import { nextCell } from './cells.js';
import { leaksOf } from './leaks.js';
import { createStrip } from './strip.js';
import { createTwin } from './twin.js';

const rowHeight = 20;
const markHeight = 4;
const sets = [['cursor', 'live at the cursor'], ['peak', 'live at the peak'],
  ['leaks', 'leaks'],
  ['survivors', 'survivors of the range'], ['churn', 'churn of the range'],
  ['diff', 'difference A to B']];
const weights = [['bytes', 'bytes'], ['count', 'count'], ['byte_time', 'bytes \u00d7 time']];
const roots = [['caller', 'caller'], ['callee', 'callee']];

/** One of two tints, the same for the same name everywhere: they mean nothing but own code. */
function tintOf(palette, name) {
  let hash = 0;
  for (const c of name) hash = hash * 31 + c.codePointAt(0) >>> 0;
  return palette[hash % 2 ? 'frame' : 'frame-next'];
}

/** `fileOf`: what of a file is named. */
export function cellName(cell, fileOf = (file) => file) {
  if (cell.merged) return `${count(cell.merged)} narrower than a pixel`;
  return cell.file && cell.file !== '??' ? `${fileOf(cell.file)}:${cell.line} ${cell.name}` :
    cell.name;
}

/** An amount in the weight that is chosen. */
function amount({ chosen }, value) {
  if (chosen.weight === 'bytes') return bytes(value);
  return chosen.weight === 'count' ? count(value) : count(value / 1048576) + ' MiB \u00b7 \u00b5s';
}

/** What a cell weighs; of a difference the change, with its sign. */
function weightText(flame, { a, b, total }) {
  if (a === undefined) return amount(flame, total);
  return (b > a ? '+' : b < a ? '\u2212' : '') + amount(flame, Math.abs(b - a));
}

/** The fill of a cell and the ink on it: own code, libraries, or the sign of a difference. */
function coloursOf(palette, cell) {
  if (cell.a !== undefined && cell.a !== cell.b) {
    return [palette[cell.b > cell.a ? 'grew' : 'shrank'], palette.ground];
  }
  if (cell.a !== undefined || cell.merged || !cell.own) return [palette.free, palette.text];
  return [tintOf(palette, cellName(cell)), palette.text];
}

/** What of a cell a search matches. */
function matchedOf({ tree }, cell) {
  return tree.matched ? cell.matched ?? tree.matched[cell.node] : 0;
}

/** What a search matches of a cell, as a share of its lower edge. */
function drawMatched(g, flame, cell, y, w) {
  const matched = matchedOf(flame, cell);
  if (!(matched > 0)) return;
  g.fillStyle = flame.look.palette().match;
  g.fillRect(cell.x, y + rowHeight - 1 - markHeight, w * Math.min(1, matched / cell.total),
    markHeight);
}

function outline(g, cell, colour) {
  g.lineWidth = 2;
  g.strokeStyle = colour;
  g.strokeRect(cell.x + 1, cell.depth * rowHeight + 1, Math.max(1, cell.w - 3), rowHeight - 3);
  g.lineWidth = 1;
}

function drawCell(g, flame, cell) {
  const palette = flame.look.palette();
  const y = cell.depth * rowHeight;
  const w = Math.max(0.5, cell.w - 1);
  const [fillStyle, ink] = coloursOf(palette, cell);
  g.fillStyle = fillStyle;
  g.fillRect(cell.x, y, w, rowHeight - 1);
  drawMatched(g, flame, cell, y, w);
  if (cell.merged) hatch(g, cell.x, y, w, rowHeight - 1, palette.hatch, 4);
  if (cell.merged || cell.w < 30) return;
  g.fillStyle = ink;
  const sign = cell.b > cell.a ? '+ ' : cell.b < cell.a ? '\u2212 ' : '';
  const tail = cell.w > 190 ? '  ' + weightText(flame, cell) : '';
  const most = Math.floor((cell.w - 8) / 8) - tail.length;
  // Less than this of a name is none.
  if (most < 4) return;
  g.fillText(shortened(sign + cellName(cell, baseName), most) + tail, cell.x + 4,
    y + rowHeight / 2);
}

function drawCanvas(flame) {
  const { box, canvas, tree } = flame;
  const width = box.clientWidth;
  const depth = tree.cells.reduce((most, cell) => Math.max(most, cell.depth), 0) + 1;
  const height = depth * rowHeight + 4;
  box.style.setProperty('height', height + 'px');
  drawCells(prepare(canvas, width, height), flame);
}

function drawCells(g, flame) {
  align(g, 'left', 'middle');
  const { cells, path } = flame.tree;
  const palette = flame.look.palette();
  const pinned = new Set(path);
  for (const cell of cells) drawCell(g, flame, cell);
  for (const cell of cells) if (pinned.has(cell.node)) outline(g, cell, palette.focus);
  if (cells[flame.walked]) outline(g, cells[flame.walked], palette.text);
}

/** The way from the root to what is zoomed to. */
function drawCrumbs(flame) {
  const { crumbs, names, tree, top } = flame;
  const path = [];
  for (let n = top; n; n = tree.parent[n]) path.unshift(n);
  crumbs.hidden = path.length === 0;
  fill(crumbs, path.length ? [0, ...path].map((n) =>
    button(shortened(names.has(n) ? cellName(names.get(n), baseName) : 'all', 40), () =>
      choose(flame, names.get(n) ?? { node: n }), { class: 'link' })) :
    null);
}

/** What a search matches of all, once: what lies under several matches is counted in one. */
function matchText({ tree, store, ...flame }) {
  const { query, only } = store.get();
  if (!query) return '';
  if (!tree.matched) return only || tree.a ? ' of what the filter matches' : '';
  const [found] = tree.matched;
  return `, matched ${amount(flame, found)}, ${share(ratio(found, tree.total[0]))}`;
}

function draw(flame) {
  const { box, canvas, tree, total, store, recording } = flame;
  if (!tree || !box.clientWidth) return;
  const all = tree.a ? changeText(flame, tree.cells[0]) :
    tree.total[0] ? amount(flame, tree.total[0]) + ' = 100 %' : 'none';
  drawCanvas(flame);
  canvas.setAttribute('aria-label', `Flame graph, ${all}`);
  const { without } = store.get();
  fill(total, all + matchText(flame) +
    (flame.chosen.of === 'diff' ? '' : withoutText(without, ' ')) +
    (flame.chosen.of === 'leaks' && isPart(recording.cover()) ? ' at the last event held' : ''));
  drawCrumbs(flame);
}

/** What the tree is of. */
function treeOf({ store, recording, chosen }) {
  const { at, range, without } = store.get();
  const { a, b } = range || { a: 0, b: recording.cover().states - 1 };
  if (chosen.of === 'diff') return { ...chosen, without: null };
  const sites = chosen.of === 'leaks' ? leaksOf(findingsOf(recording.head, store.get()))
    .map(({ evidence }) => evidence.culprit) : undefined;
  return { ...chosen, state: at, a, b, sites, without };
}

/** What the engine is asked for the cells that are wide enough to be seen. */
function argsOf(flame) {
  const { query, only, sel } = flame.store.get();
  const differs = flame.chosen.of === 'diff';
  return { ...treeOf(flame), query, only: query !== '' && (only || differs),
    width: Math.max(100, flame.box.clientWidth - 16), top: flame.top,
    row: differs ? null : sel?.id ?? flame.passing() };
}

/** The device, or what is compared. */
function sourceOf({ store, compared, chosen }) {
  const { file, dev } = store.get();
  return [file, dev, chosen.of === 'diff' && compared.key()];
}

/** What the view shows, each with what it follows from. */
function follow(flame) {
  const { store } = flame;
  // Nodes are of one tree: the zoom and the cell are left with it.
  flame.nodes = derived(() => {
    const { query, only } = store.get();
    return [treeOf(flame), sourceOf(flame), only && query];
  }, () => {
    Object.assign(flame, { top: 0, walked: -1 });
    flame.names.clear();
  });
  flame.cells = derived(() => [argsOf(flame), sourceOf(flame)], () => ask(flame));
}

function ask(flame) {
  const args = argsOf(flame);
  flame.wanted++;
  if (args.of === 'diff') askDiff(flame, args).catch(flame.status.failed);
  else flame.asker.ask('tree', args, (got) => show(flame, got, null));
}

function update(flame) {
  const { chosen, of, subject, nodes, strip, cells, soon } = flame;
  chosen.of = of.select.value = subject.of;
  nodes();
  strip.update();
  cells();
  soon();
}

async function askDiff(flame, args) {
  const serial = flame.wanted;
  const ends = await flame.compared.ends();
  if (serial !== flame.wanted) return;
  const [a, b] = ends;
  flame.asker.ask('tree', { ...args, a, b, file: a.file, dev: a.dev }, (got) =>
    show(flame, got, ends));
}

function show(flame, tree, ends) {
  Object.assign(flame, { tree, ends });
  for (const cell of tree.cells) if (!cell.merged) flame.names.set(cell.node, cell);
  if (flame.walked >= tree.cells.length) flame.walked = -1;
  flame.twin.draw(tree, (cell) => `${weightText(flame, cell)}  ${cellName(cell)}`);
  flame.soon();
}

function zoomTo(flame, node) {
  flame.top = node;
  flame.walked = flame.walked < 0 ? -1 : 0;
  update(flame);
}

/** A frame is zoomed to, and searched wherever allocations are shown. */
function choose(flame, cell) {
  if (cell.merged) return;
  zoomTo(flame, cell.node);
  const query = cell.name ? frameTerms(cell) : '';
  if (query !== flame.store.get().query && (query || !cell.node)) flame.find(query, false);
}

/** Back to the caller of what is zoomed to; false where that is all. */
function zoomOut(flame) {
  const { tree, top, names } = flame;
  if (!tree || !top) return false;
  const above = tree.parent[top];
  choose(flame, names.get(above) ?? { node: above });
  return true;
}

/** Says a cell in passing, and lights up what it holds. */
function pass(flame, cell) {
  flame.status.say(cell ? textOf(flame, cell) : '');
  flame.strip.pass(cell ? frameTerms(cell) : '');
}

/** The cell with the focus of the keys. */
function walk(flame, key) {
  const { tree, status } = flame;
  flame.walked = nextCell(tree, flame.walked, key);
  const cell = tree.cells[flame.walked];
  pass(flame, cell);
  status.speak(() => textOf(flame, cell));
  flame.soon();
  flame.box.parentNode.scrollTop = Math.max(0, (cell.depth - 3) * rowHeight);
}

/** Does what a key means to the picture; false where that is nothing. */
function actedOn(flame, key) {
  if (key.startsWith('Arrow')) walk(flame, key);
  else if (key === 'Backspace' || key === 'Escape') return zoomOut(flame);
  else if (key === 'Enter' && flame.walked >= 0) choose(flame, flame.tree.cells[flame.walked]);
  else return false;
  return true;
}

function hearKey(flame, event) {
  if (!flame.tree || event.ctrlKey || event.altKey || event.metaKey) return;
  if (!actedOn(flame, event.key)) return;
  event.preventDefault();
  event.stopPropagation();
}

function cellAt({ canvas, tree }, event) {
  if (!tree) return null;
  const rect = canvas.getBoundingClientRect();
  const depth = Math.floor((event.clientY - rect.top) / rowHeight);
  const x = event.clientX - rect.left;
  return tree.cells.find((cell) => cell.depth === depth && x >= cell.x &&
    x < cell.x + Math.max(1, cell.w)) || null;
}

/** `58.90 GiB → 62.31 GiB: +3.41 GiB`, the moments before the sum of all. */
function changeText(flame, cell) {
  const [from, to] = flame.ends.map(({ state }) =>
    (cell.node === 0 ? eventName(state) + ' ' : ''));
  return `${from}${amount(flame, cell.a)} \u2192 ${to}${amount(flame, cell.b)}: ` +
    weightText(flame, cell);
}

/** What is said of a cell; of its file the name alone, so that a long path leaves room. */
function textOf(flame, cell) {
  const name = cellName(cell, baseName);
  if (cell.a !== undefined) return `${name}: ${changeText(flame, cell)}`;
  const all = flame.tree.total[0];
  return `${name}: ${amount(flame, cell.total)}, ${share(cell.total / all)} of ` +
    amount(flame, all);
}

function listen(flame) {
  const { canvas, box } = flame;
  let clicked = null;   // by the first click of a pair, and what was zoomed to before it
  canvas.addEventListener('pointermove', (event) => pass(flame, cellAt(flame, event)));
  canvas.addEventListener('pointerleave', () => pass(flame, null));
  canvas.addEventListener('click', (event) => {
    if (event.detail > 1) return;
    clicked = { cell: cellAt(flame, event), top: flame.top };
    if (clicked.cell) choose(flame, clicked.cell);
  });
  canvas.addEventListener('dblclick', () => {
    const { cell, top } = clicked;
    if (cell && !cell.merged && cell.node === top) zoomOut(flame);
  });
  box.addEventListener('keydown', (event) => hearKey(flame, event));
}

/** The controls above: what is weighed, how, from which end, and with which frames. */
function controls(flame) {
  const { chosen } = flame;
  const set = (key, value) => {
    chosen[key] = value;
    zoomTo(flame, 0);
  };
  const pick = (name, options, key) =>
    choice(name, options, chosen[key], (value) => set(key, value)).node;
  const hide = el('input', { type: 'checkbox', checked: true,
    on: { change: () => set('library', !hide.checked) } });
  flame.of = choice('of', sets, chosen.of, (value) => {
    flame.subject.of = value;
    zoomTo(flame, 0);
  });
  return el('div', { class: 'bar' }, flame.of.node, pick('weight', weights, 'weight'),
    pick('root', roots, 'root'), el('label', null, hide, ' hide library'), flame.total);
}

/** `subject`: { of } what the graph is of, which other views choose too; `find(query, only)`;
 * `passing()`: the allocation that is pointed at, or null. */
export function createFlame(host, { store, recording, look, compared, status, newAsker,
  subject, find, passing }) {
  const canvas = el('canvas', { role: 'img' });
  const box = el('div', { class: 'plot flame', tabindex: 0, role: 'group',
    'aria-label': 'Flame graph: arrow keys walk the cells, Enter zooms, Backspace leads back' },
  canvas);
  const flame = {
    store, recording, look, compared, status, subject, find, passing, canvas, box,
    twin: createTwin((cell) => choose(flame, cell), () => zoomOut(flame)),
    strip: createStrip({ store, recording, look, newAsker }),
    crumbs: el('div', { class: 'bar', 'aria-label': 'Zoomed to' }),
    total: el('span', { class: 'note' }),
    chosen: { of: 'cursor', weight: 'bytes', root: 'caller', library: false },
    tree: null,         // what the engine answered
    ends: null,         // of a difference, what is compared
    top: 0,             // the node that is zoomed to
    walked: -1,         // the cell with the focus of the keys
    names: new Map(),   // the cells of nodes that were shown once
    asker: newAsker(),
    wanted: 0,          // counts the questions, as what is compared is not known at once
    soon: perFrame(() => draw(flame)),
  };
  const scroll = el('div', { class: 'scroll' }, box, el('details', { class: 'twin' },
    el('summary', { text: 'as a list' }), flame.twin.node));
  follow(flame);
  host.append(controls(flame), flame.crumbs, flame.strip.node, scroll);
  listen(flame);
  new ResizeObserver(() => update(flame)).observe(scroll);
  return { update: () => update(flame), redraw: () => {
    flame.strip.redraw();
    draw(flame);
  }, forget: () => {
    flame.cells.forget();
    flame.strip.forget();
  },
    drawing: () => flame.tree && { width: box.clientWidth, height: box.clientHeight,
      draw: (g) => drawCells(g, flame) } };
}
