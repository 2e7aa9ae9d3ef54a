// flame.js - an icicle of bytes by stack: controls, cells and zoom.
import { bytes, count, share } from '../../core/model/human.js';
import { button, choice, el, fill, perFrame } from '../draw/dom.js';
import { align, prepare } from '../draw/draw.js';
import { hatch } from '../draw/paint.js';
import { baseName, eventName, shortened, withoutText } from '../draw/text.js';
import { isPart } from '../state/span.js';
import { findingsOf } from '../state/told.js';
import { leaksOf } from './leaks.js';
import { createTwin } from './twin.js';

const rowHeight = 20;
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

function drawCell(g, flame, cell) {
  const palette = flame.look.palette();
  const y = cell.depth * rowHeight;
  const w = Math.max(0.5, cell.w - 1);
  const [fillStyle, ink] = coloursOf(palette, cell);
  g.fillStyle = fillStyle;
  g.fillRect(cell.x, y, w, rowHeight - 1);
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
  for (const cell of flame.tree.cells) drawCell(g, flame, cell);
}

/** The way from the root to what is zoomed to. */
function drawCrumbs(flame) {
  const { crumbs, names, tree, top } = flame;
  const path = [];
  for (let n = top; n; n = tree.parent[n]) path.unshift(n);
  crumbs.hidden = path.length === 0;
  fill(crumbs, path.length ? [0, ...path].map((n) =>
    button(shortened(names.get(n) || 'all', 40), () => zoomTo(flame, n), { class: 'link' })) :
    null);
}

function draw(flame) {
  const { box, canvas, tree, total, store, recording } = flame;
  if (!tree || !box.clientWidth) return;
  const all = tree.a ? changeText(flame, tree.cells[0]) :
    tree.total[0] ? amount(flame, tree.total[0]) + ' = 100 %' : 'none';
  drawCanvas(flame);
  canvas.setAttribute('aria-label', `Flame graph, ${all}`);
  const { query, without } = store.get();
  fill(total, all + (query ? ' of what the filter matches' : '') +
    (flame.chosen.of === 'diff' ? '' : withoutText(without, ' ')) +
    (flame.chosen.of === 'leaks' && isPart(recording.cover()) ? ' at the last event held' : ''));
  drawCrumbs(flame);
}

function update(flame) {
  const { store, recording, compared, chosen, top, asker } = flame;
  const { at, range, query, without, file, dev } = store.get();
  const { a, b } = range || { a: 0, b: recording.cover().states - 1 };
  const width = Math.max(100, flame.box.clientWidth - 16);
  chosen.of = flame.of.select.value = flame.subject.of;
  const differs = chosen.of === 'diff';
  const sites = chosen.of === 'leaks' ? leaksOf(findingsOf(recording.head, store.get()))
    .map(({ evidence }) => evidence.culprit) : undefined;
  const args = { ...chosen, ...(differs ? null : { state: at, a, b }), sites, query,
    only: query !== '', without: differs ? null : without, width, top };
  if (!asker.isNew([args, file, dev, differs && compared.key()])) {
    flame.soon();
    return;
  }
  flame.wanted++;
  if (differs) askDiff(flame, args).catch(flame.status.failed);
  else asker.ask('tree', args, (got) => show(flame, got, null));
}

async function askDiff(flame, args) {
  const mine = flame.wanted;
  const ends = await flame.compared.ends();
  if (mine !== flame.wanted) return;
  const [a, b] = ends;
  flame.asker.ask('tree', { ...args, a, b, file: a.file, dev: a.dev }, (got) =>
    show(flame, got, ends));
}

function show(flame, tree, ends) {
  Object.assign(flame, { tree, ends });
  if (flame.top >= tree.parent.length) flame.top = 0;
  for (const cell of tree.cells) if (!cell.merged) flame.names.set(cell.node, cellName(cell));
  flame.twin.draw(tree, (cell) => `${weightText(flame, cell)}  ${cellName(cell)}`);
  flame.soon();
}

function zoomTo(flame, node) {
  flame.top = node;
  update(flame);
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

function textOf(flame, cell) {
  if (cell.a !== undefined) return `${cellName(cell)}: ${changeText(flame, cell)}`;
  const all = flame.tree.total[0];
  return `${cellName(cell)}: ${amount(flame, cell.total)}, ${share(cell.total / all)} of ` +
    amount(flame, all);
}

function listen(flame) {
  const { canvas, status } = flame;
  canvas.addEventListener('pointermove', (event) => {
    const cell = cellAt(flame, event);
    status.say(cell ? textOf(flame, cell) : '');
  });
  canvas.addEventListener('pointerleave', () => status.say(''));
  canvas.addEventListener('dblclick', (event) => {
    const cell = cellAt(flame, event);
    if (!cell || cell.merged) return;
    zoomTo(flame, cell.node === flame.top ? flame.tree.parent[cell.node] : cell.node);
  });
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

/** `subject`: { of } what the graph is of, which other views choose too. */
export function createFlame(host, { store, recording, look, compared, status, newAsker,
  subject }) {
  const canvas = el('canvas', { role: 'img' });
  const box = el('div', { class: 'plot flame', tabindex: 0, role: 'group',
    'aria-label': 'Flame graph' }, canvas);
  const flame = {
    store, recording, look, compared, status, subject, canvas, box, twin: createTwin(),
    crumbs: el('div', { class: 'bar', 'aria-label': 'Zoomed to' }),
    total: el('span', { class: 'note' }),
    chosen: { of: 'cursor', weight: 'bytes', root: 'caller', library: false },
    tree: null,         // what the engine answered
    ends: null,         // of a difference, what is compared
    top: 0,             // the node that is zoomed to
    names: new Map(),   // of nodes, those that were cells once
    asker: newAsker(),
    wanted: 0,          // counts the questions, as what is compared is not known at once
    soon: perFrame(() => draw(flame)),
  };
  const scroll = el('div', { class: 'scroll' }, box, el('details', { class: 'twin' },
    el('summary', { text: 'as a list' }), flame.twin.node));
  host.append(controls(flame), flame.crumbs, scroll);
  listen(flame);
  new ResizeObserver(() => update(flame)).observe(scroll);
  return { update: () => update(flame), redraw: () => draw(flame), forget: flame.asker.forget,
    drawing: () => flame.tree && { width: box.clientWidth, height: box.clientHeight,
      draw: (g) => drawCells(g, flame) } };
}
