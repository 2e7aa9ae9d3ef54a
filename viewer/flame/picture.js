// picture.js - draws the frames that are in sight on a canvas.
import { fitCanvas, pixelRatio } from '../ui/draw/dom.js';
import { shown } from '../ui/draw/text.js';
import { depthOf } from './core/layout.js';
import { nameOfAll, nameOfRest } from './core/trees.js';
import { clipped, counted, label } from './core/texts.js';

export const rowHeight = 20;
// No element may be much higher than so many rows in all browsers.
export const rowsMost = 400000;

const classes = {
  python: 'python', op: 'op', runtime: 'call', driver: 'call', kernel: 'kernel', memcpy: 'copy',
  memset: 'copy',
};

/** What a kind of frame is coloured as. */
export function classOf(kind) {
  return Object.hasOwn(classes, kind) ? classes[kind] : 'other';
}

function rgbOf(text) {
  const n = parseInt(text.trim().slice(1, 7), 16);
  return [n >> 16 & 255, n >> 8 & 255, n & 255];
}

function lightOf(rgb) {
  const [r, g, b] = rgb.map((v) => {
    const c = v / 255;
    return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/* A fill and the ink that reads better on it, black or white. */
function paintOf(rgb) {
  const light = lightOf(rgb) + 0.05;
  return [`rgb(${rgb.join(', ')})`, light / 0.05 > 1.05 / light ? '#000000' : '#ffffff'];
}

// How much of the ground is in a fill: neighbours of one kind are told apart.
const tints = [0, 0.09, 0.18, 0.27];

/** The colours of the stylesheet as it stands. */
export function readPalette() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue('--' + name).trim();
  const palette = { ground: of('ground'), text: of('text'), muted: of('muted'), free: of('free'),
    hatch: of('hatch'), focus: of('focus'), font: getComputedStyle(document.body).fontFamily,
    fills: {} };
  const ground = rgbOf(palette.ground);
  for (const name of new Set([...Object.values(classes), 'other'])) {
    const rgb = rgbOf(of(name));
    palette.fills[name] = tints.map((tint) =>
      paintOf(rgb.map((v, i) => Math.round(v + (ground[i] - v) * tint))));
  }
  return palette;
}

function tintOf(text) {
  let hash = 0;
  const most = Math.min(text.length, 200);
  for (let i = 0; i < most; i++) hash = hash * 31 + text.charCodeAt(i) >>> 0;
  return ((hash ^ hash >>> 13) >>> 0) % tints.length;
}

/** What a node is called, whole. */
export function nameOf({ paths, tree }, node) {
  const name = tree.name(node);
  if (name === nameOfAll) return 'all';
  return name === nameOfRest ? '(frames left out)' : paths.names[name];
}

function textOf(view, cell) {
  if (cell.merged) return counted(cell.merged, 'frame');
  const name = nameOf(view, cell.node);
  const isPython = view.paths.kinds[view.tree.kind(cell.node)] === 'python';
  // Of a text of any length what could be seen.
  return shown((isPython ? label(name.slice(0, 2000)) : name).slice(0, 400));
}

/** Whether a search found the frame itself; null: nothing is searched for. */
function isFound({ found, tree, paths }, { node, merged }) {
  if (!found) return null;
  const name = tree.name(node);
  const isThread = !tree.inner && node === tree.top && paths.parent[node - 1] === -1;
  return !merged && name >= 0 && !isThread && found.names[name] === 1;
}

function coloursOf(view, cell) {
  const { palette, paths, tree } = view;
  const kind = tree.kind(cell.node);
  if (cell.merged || kind < 0) return [palette.free, palette.text];
  if (isFound(view, cell) === false) return [palette.free, palette.muted];
  const name = nameOf(view, cell.node);
  return palette.fills[classOf(paths.kinds[kind])][tintOf(name)];
}

function drawText(g, text, x, y, width) {
  const fits = (part) => g.measureText(part).width <= width;
  // No letter is narrower than this.
  const part = clipped(text, Math.ceil(width / 2.5), fits);
  if (part) g.fillText(part, x, y);
}

function drawCell(g, view, cell, y) {
  const { palette } = view;
  const w = Math.max(0.5, cell.w - (cell.w > 3 ? 1 : 0));
  const h = rowHeight - 1;
  const [fill, ink] = coloursOf(view, cell);
  g.fillStyle = fill;
  g.fillRect(cell.x, y, w, h);
  if (cell.merged) {
    g.fillStyle = palette.hatch;
    for (let x = cell.x; x < cell.x + w; x += 4) g.fillRect(x, y, 1, h);
  }
  if (isFound(view, cell)) {
    g.fillStyle = palette.text;
    g.fillRect(cell.x, y + h - 3, w, 3);
  }
  if (cell.merged || cell.w < 22) return;
  g.fillStyle = ink;
  drawText(g, textOf(view, cell), cell.x + 3, y + h / 2, cell.w - 7);
}

/** How many rows are drawn of a layout. */
export function rowsOf(layer) {
  return Math.min(depthOf(layer), rowsMost);
}

/** Where a row stands in the whole picture: the first on top, or at the bottom of a flame. */
export function topOf({ layer, place }, depth) {
  return (place.shape === 'flame' ? rowsOf(layer) - 1 - depth : depth) * rowHeight;
}

function outline(g, view, cell, y) {
  g.strokeStyle = view.palette.text;
  g.lineWidth = 2;
  g.strokeRect(cell.x + 1, y + 1, Math.max(1, cell.w - 3), rowHeight - 3);
}

/** Draws what is in sight of `view`, whose box has scrolled by `scrolled` and is `height` high. */
export function draw(canvas, view, width, height, scrolled) {
  const { layer, palette } = view;
  fitCanvas(canvas, width, height);
  const g = canvas.getContext('2d');
  const ratio = pixelRatio();
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.fillStyle = palette.ground;
  g.fillRect(0, 0, width, height);
  g.font = `12px ${palette.font}`;
  g.textBaseline = 'middle';
  const rows = rowsOf(layer);
  const from = Math.max(0, Math.floor(scrolled / rowHeight));
  const past = Math.min(rows, Math.ceil((scrolled + height) / rowHeight));
  for (let row = from; row < past; row++) {
    const depth = view.place.shape === 'flame' ? rows - 1 - row : row;
    const y = row * rowHeight - scrolled;
    for (let i = layer.rows[depth]; i < layer.rows[depth + 1]; i++) {
      drawCell(g, view, layer.cells[i], y);
    }
  }
  const marked = layer.cells[view.selected];
  if (marked && marked.depth < rows) outline(g, view, marked, topOf(view, marked.depth) - scrolled);
}
