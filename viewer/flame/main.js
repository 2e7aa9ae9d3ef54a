// main.js - the flame graph of a call tree: unpacks it, draws it, and does what is asked of it.
import { byId, button, el, fill, perFrame, setOptions } from '../ui/draw/dom.js';
import { shortened, shown } from '../ui/draw/text.js';
import { cellAt, layout, stepFrom } from './core/layout.js';
import { readLink, writeLink } from './core/link.js';
import { readPaths } from './core/paths.js';
import { search } from './core/search.js';
import { amount, counted, shareOf } from './core/texts.js';
import { calleeTree, callerTree } from './core/trees.js';
import { fillHeaviest } from './heaviest.js';
import { classOf, draw, nameOf, readPalette, rowHeight, rowsMost, rowsOf, topOf }
  from './picture.js';

const kindWords = { python: 'Python', op: 'operators', call: 'runtime and driver',
  kernel: 'kernels', copy: 'copies', other: 'other' };
const nameMost = 20000;
const crumbsMost = 10;
const host = Object.fromEntries(['screen', 'file', 'cut', 'alarm', 'controls', 'weight', 'first',
  'shape', 'find', 'query', 'found', 'crumbs', 'box', 'tall', 'canvas', 'detail', 'name', 'figures',
  'more', 'legend', 'rows', 'tool', 'live'].map((id) => [id, byId(id)]));

/* The tree is JSON, packed by gzip, in base64. */
async function unpack(element) {
  const text = atob(element.textContent);
  element.remove();
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const { readable, writable } = new DecompressionStream('gzip');
  const writer = writable.getWriter();
  for (const part of [writer.write(bytes), writer.close()]) part.catch(() => {});
  return JSON.parse(await new Response(readable).text());
}

function weightName(data, weight) {
  return { host: 'host time', device: 'device time', calls: 'calls',
    bytes: data.device_bytes ? 'bytes on devices' : 'bytes on the host' }[weight];
}

/* The tree that is asked for, made once. */
function treeOf(view) {
  const { weight, first } = view.place;
  const key = `${weight} ${first}`;
  if (!view.trees.has(key)) {
    const make = first === 'innermost' ? calleeTree : callerTree;
    view.trees.set(key, make(view.paths, weight));
  }
  return view.trees.get(key);
}

/* The same tree as it was called has the sums of every other. */
function sums(view) {
  const { weight } = view.place;
  if (!view.sums.has(weight)) {
    const tree = treeOf({ ...view, place: { ...view.place, first: 'outermost' } });
    const total = Float64Array.from({ length: view.paths.count }, (_, p) => tree.total(p + 1));
    view.sums.set(weight, { total, self: view.paths.self[weight], all: tree.total(tree.top) });
  }
  return view.sums.get(weight);
}

function sayFound(view) {
  const { found, place } = view;
  const { all } = sums(view);
  if (!found) fill(host.found);
  else if (!found.frames) fill(host.found, 'no frame matches');
  else {
    const one = found.frames === 1;
    const frames = `${counted(found.frames, 'frame')} ${one ? 'matches' : 'match'}`;
    const part = `${shareOf(found.value, all)} of ${amount(place.weight, all)}`;
    const where = one ? 'it and what it called' : 'them and what they called';
    fill(host.found, `${frames}: ${part} is in ${where}`);
  }
}

/* What is said of a cell: its name, and what it weighs. */
function tell(view, cell) {
  const { tree, place } = view;
  const { all } = sums(view);
  const text = (value) => `${amount(place.weight, value)} (${shareOf(value, all)})`;
  if (cell.merged) {
    return [`${counted(cell.merged, 'frame')} narrower than half a pixel`, text(cell.total)];
  }
  const name = shortened(nameOf(view, cell.node), nameMost);
  const calls = tree.calls(cell.node);
  const tail = calls > 0 && place.weight !== 'calls' ? `, ${counted(calls, 'call')}` : '';
  if (!tree.inner || cell.node === tree.top) {
    const own = tree.inner ? '' : `, self ${text(tree.self(cell.node))}`;
    return [name, `total ${text(cell.total)}${own}${tail}`];
  }
  const innermost = cell.depth + view.depth > 1 ? ' of the innermost frames that it leads to' : '';
  return [name, `self ${text(cell.total)}${innermost}${tail}`];
}

function sayCell(view) {
  if (!view.layer) return;
  const { cells } = view.layer;
  const [name, figures] = tell(view, cells[view.hovered] ?? cells[view.selected] ?? cells[0]);
  host.name.textContent = name;
  host.figures.textContent = figures;
}

function wayTo({ tree }, node) {
  const way = [];
  for (let n = node; n >= 0; n = tree.parent(n)) way.push(n);
  return way.reverse();
}

function sayCrumbs(view) {
  const way = wayTo(view, view.top);
  view.depth = way.length - 1;
  host.crumbs.hidden = way.length < 2;
  if (way.length < 2) return;
  const left = Math.max(0, way.length - crumbsMost - 1);
  const crumb = (n) => el('span', null, n === view.top ?
    el('span', { 'aria-current': 'true' }, shortened(nameOf(view, n), 60)) :
    button(shortened(nameOf(view, n), 40), () => zoom(view, n), { class: 'link' }));
  const gap = left ? el('span', null, `\u2026 ${counted(left, 'frame')}`) : null;
  fill(host.crumbs, crumb(way[0]), gap, way.slice(1 + left).map(crumb));
}

function paint(view) {
  const { clientWidth: width } = host.box;
  if (!width) return;
  if (view.width !== width) {
    view.width = width;
    view.layer = layout(view.tree, view.top, width);
    view.hovered = view.pointer ? placeOf(view, view.pointer) : -1;
    view.selected = view.layer.cells.findIndex((c) => c.node === view.kept && !c.merged);
  }
  host.tall.style.setProperty('height', `${rowsOf(view.layer) * rowHeight}px`);
  if (view.fresh) {
    view.fresh = false;
    host.box.scrollTop = view.place.shape === 'flame' ? host.tall.clientHeight : 0;
  }
  draw(host.canvas, view, width, host.box.clientHeight, host.box.scrollTop);
  sayCell(view);
}

/* Whatever follows from where the page stands. */
function update(view) {
  const { place, data, paths } = view;
  view.tree = treeOf(view);
  view.top = view.tree.find(place.at);
  view.kept = -1;
  view.width = 0;
  view.layer = null; /* of another tree: what is pointed at means nothing until the next frame */
  view.fresh = true;
  const { self, total, all } = sums(view);
  view.found = search(paths, self, total, place.q);
  for (const key of ['weight', 'first', 'shape']) host[key].value = place[key];
  if (document.activeElement !== host.query) host.query.value = place.q;
  host.box.setAttribute('aria-label', `Flame graph by ${weightName(data, place.weight)}`);
  host.canvas.setAttribute('aria-label', `${shown(nameOf(view, view.top).slice(0, 200))}: ` +
    amount(place.weight, view.tree.total(view.top)));
  sayFound(view);
  sayCrumbs(view);
  if (view.listed !== place.weight) {
    view.listed = place.weight;
    sayLegend(view, total);
    fillHeaviest(host.rows, { paths, weight: place.weight, self, total, all,
      find: (name) => find(view, name) });
  }
  view.soon();
}

function addressOf(view) {
  return writeLink(view.place, view.usual) || location.pathname + location.search;
}

/* A place that Back leads away from. */
function go(view, change) {
  view.place = { ...view.place, ...change };
  clearTimeout(view.later);
  history.pushState(null, '', addressOf(view));
  update(view);
}

function zoom(view, node) {
  go(view, { at: view.tree.key(node) });
}

function zoomOut(view) {
  const parent = view.tree.parent(view.top);
  if (parent >= 0) zoom(view, parent);
}

/* What is searched for changes with every letter, the address when there is time. */
function find(view, text) {
  host.query.value = text;
  view.place = { ...view.place, q: text };
  const { self, total } = sums(view);
  view.found = search(view.paths, self, total, text);
  clearTimeout(view.later);
  view.later = setTimeout(() => history.replaceState(null, '', addressOf(view)), 300);
  sayFound(view);
  view.soon();
}

/* Of an ordinary cell. */
function open(view, i) {
  const cell = view.layer?.cells[i];
  if (!cell || cell.merged) return;
  if (cell.node === view.top) zoomOut(view);
  else zoom(view, cell.node);
}

function placeOf(view, event) {
  const box = host.canvas.getBoundingClientRect();
  const row = Math.floor((event.clientY - box.top + host.box.scrollTop) / rowHeight);
  if (!view.layer) return -1;
  const depth = view.place.shape === 'flame' ? rowsOf(view.layer) - 1 - row : row;
  return cellAt(view.layer, depth, event.clientX - box.left);
}

function select(view, i) {
  const { layer } = view;
  if (layer.cells[i].depth >= rowsMost) return;
  view.selected = i;
  view.hovered = -1;
  view.kept = layer.cells[i].node;
  const y = topOf(view, layer.cells[i].depth);
  const { scrollTop, clientHeight } = host.box;
  if (y < scrollTop) host.box.scrollTop = y;
  else host.box.scrollTop = Math.max(scrollTop, y + rowHeight - clientHeight);
  host.live.textContent = tell(view, layer.cells[i]).join(': ').slice(0, 400);
  view.soon();
}

const steps = { ArrowLeft: 'before', ArrowRight: 'after', ArrowUp: 'out', ArrowDown: 'in' };

function boxKey(view, event) {
  const { key } = event;
  if (!view.layer || event.ctrlKey || event.metaKey || event.altKey) return;
  if (Object.hasOwn(steps, key)) {
    const turned = { out: 'in', in: 'out' };
    const step = view.place.shape === 'flame' ? turned[steps[key]] ?? steps[key] : steps[key];
    select(view, view.selected < 0 ? 0 : stepFrom(view.layer, view.selected, step));
  } else if (key === 'Home') select(view, 0);
  else if (key === 'Enter' || key === ' ') open(view, Math.max(view.selected, 0));
  else return;
  event.preventDefault();
}

function pageKey(view, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const isTyping = event.target === host.query;
  if (event.key === 'Escape') {
    if (isTyping && view.place.q) find(view, '');
    else if (view.place.at) go(view, { at: '' });
    else if (view.selected >= 0) {
      view.selected = view.kept = -1;
      view.soon();
    }
  } else if (isTyping) return;
  else if (event.key === '/') host.query.focus();
  else if (event.key === 'Backspace') zoomOut(view);
  else return;
  event.preventDefault();
}

function listen(view) {
  const { box, query } = host;
  box.addEventListener('pointermove', (event) => {
    view.pointer = event;
    view.hovered = placeOf(view, event);
    sayCell(view);
  });
  box.addEventListener('pointerleave', () => {
    view.pointer = null;
    view.hovered = -1;
    sayCell(view);
  });
  box.addEventListener('click', (event) => open(view, placeOf(view, event)));
  box.addEventListener('keydown', (event) => boxKey(view, event));
  box.addEventListener('scroll', view.soon);
  document.addEventListener('keydown', (event) => pageKey(view, event));
  query.addEventListener('input', () => find(view, query.value));
  host.find.addEventListener('submit', (event) => event.preventDefault());
  for (const key of ['weight', 'first', 'shape']) {
    host[key].addEventListener('change', () => go(view, { [key]: host[key].value,
      ...(key === 'first' || key === 'weight' ? { at: keptKey(view, key) } : null) }));
  }
  addEventListener('popstate', () => {
    view.place = readLink(location.hash, view.usual);
    if (!view.weights.includes(view.place.weight)) view.place.weight = view.usual.weight;
    host.query.value = view.place.q;
    update(view);
  });
  new ResizeObserver(view.soon).observe(box);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    view.palette = readPalette();
    view.soon();
  });
}

/* Of another weight the same paths are there, where they have any of it; turned round, others. */
function keptKey(view, changed) {
  return changed === 'weight' && view.place.first === 'outermost' ? view.place.at : '';
}

function sayLegend({ paths }, total) {
  const present = new Set();
  for (let p = 0; p < paths.count; p++) {
    if (paths.parent[p] >= 0 && total[p] > 0) present.add(classOf(paths.kinds[paths.kind[p]]));
  }
  fill(host.legend, Object.keys(kindWords).filter((one) => present.has(one)).map((one) =>
    el('span', null, el('span', { class: `swatch ${one}` }), kindWords[one])));
}

function show(data) {
  const paths = readPaths(data);
  const weights = Object.keys(paths.self).filter((weight) => weightName(data, weight));
  host.file.textContent = shown(data.file).slice(0, 2000);
  host.tool.textContent = `vramscope ${data.tool}`;
  host.cut.hidden = !data.incomplete;
  host.cut.textContent = shown(data.incomplete ?? '');
  if (!weights.length) {
    warn('No call of this trace has any time, bytes or calls.');
    return;
  }
  const usual = { weight: weights.includes(data.weight) ? data.weight : weights[0],
    first: data.inverse ? 'innermost' : 'outermost', shape: 'icicle' };
  const view = { data, paths, weights, usual, place: readLink(location.hash, usual),
    trees: new Map(), sums: new Map(), palette: readPalette(), selected: -1, hovered: -1,
    pointer: null, listed: null, layer: null };
  if (!weights.includes(view.place.weight)) view.place.weight = usual.weight;
  view.soon = perFrame(() => paint(view));
  setOptions(host.weight, weights.map((one) => [one, weightName(data, one)]), view.place.weight);
  setOptions(host.first, [['outermost', 'outermost frame'], ['innermost', 'innermost frame']],
    view.place.first);
  setOptions(host.shape, [['icicle', 'icicle'], ['flame', 'flame']], view.place.shape);
  for (const part of ['controls', 'box', 'detail', 'more']) host[part].hidden = false;
  listen(view);
  update(view);
}

function warn(text) {
  host.alarm.hidden = false;
  host.alarm.textContent = text;
}

unpack(byId('tree')).then(show).catch((error) =>
  warn(`No picture: the tree could not be unpacked (${error.message}).`));
