// map.js - where allocations lie in address over time, and the segments at the cursor as a table.
import { bytes, count, ratio, share } from '../../core/model/human.js';
import { byteLabel } from '../draw/axis.js';
import { button, choice, el, fill, setOptions } from '../draw/dom.js';
import { align, line } from '../draw/draw.js';
import { bytesColumn, createTable } from '../draw/table.js';
import { shown } from '../draw/text.js';
import { derived } from '../state/derived.js';
import { groupingsOf } from '../state/groupings.js';
import { plainBy } from '../state/holders.js';
import { segmentOf } from './allocator.js';

/** What the centre of a pixel is; PLACE of core/memory/address.js. */
const PENDING = 2;
const RETURNABLE = 3;
const STRANDED = 4;
const HELD = 5;
const SLACK = 6;
/** How much of its colour a block has beyond its request. */
const slackPart = 0.45;

function mixed(colour, under, part) {
  let out = 255 << 24;
  for (const shift of [0, 8, 16]) {
    const a = colour >> shift & 255;
    const b = under >> shift & 255;
    out |= Math.round(b + (a - b) * part) << shift;
  }
  return out >>> 0;
}

function packed(text) {
  const n = parseInt(text.slice(1, 7), 16);
  return (255 << 24 | (n & 255) << 16 | (n >> 8 & 255) << 8 | n >> 16 & 255) >>> 0;
}

function freePixel(kind, x, y, free, hatch) {
  if (kind === STRANDED) return (x + y) % 6 === 0 ? hatch : free;
  if (kind === RETURNABLE) return x % 4 === 0 && y % 4 === 0 ? hatch : free;
  if (kind === HELD) return x % 8 === 0 ? hatch : free;
  return free;
}

/** Each pixel is shaded by the fraction of its bytes in use, never by a majority. */
export function paintMap(picture, inks, palette) {
  const { W, H, ids, kinds, group, mark, used, mapped } = picture;
  const pixels = new Uint32Array(W * H);
  const free = packed(palette.free);
  const hatch = packed(palette.hatch);
  const ground = packed(palette.ground);
  for (let y = 0, i = 0; y < H; y++) {
    for (let x = 0; x < W; x++, i++) {
      if (!(mapped[i] > 0) && ids[i] < 0) continue;
      const kind = kinds[i];
      const under = mixed(freePixel(kind, x, y, free, hatch), ground, Math.min(1, mapped[i]));
      if (ids[i] < 0) {
        pixels[i] = under;
        continue;
      }
      const colour = inks.colour[group[i] * 2 + (mark[i] & 1)];
      const part = Math.min(1, Math.max(0.15, used[i])) * (kind === SLACK ? slackPart : 1);
      pixels[i] = kind === PENDING && ((x + y) % 5 === 0 || (x - y) % 5 === 0) ? ground :
        mixed(colour, under, part);
    }
  }
  return new ImageData(new Uint8ClampedArray(pixels.buffer), W, H);
}

/** A boundary under each row, and its name where there is room. */
export function drawRows(g, y, b, palette, picture) {
  if (!picture) return;
  const k = b.height / Math.max(1, picture.y1 - picture.y0);
  align(g, 'right', 'top');
  g.fillStyle = palette.muted;
  let free = b.top - 1;
  picture.rows.forEach((row, i) => {
    const top = b.top + (picture.tops[i] - picture.y0) * k;
    if (picture.tops[i] < 0 || top < b.top - 1 || top > b.top + b.height) return;
    if (row.bytes * k >= 2) line(g, b.left, Math.round(top) + 0.5, b.left + b.width,
      Math.round(top) + 0.5, palette.line);
    if (top < free || row.bytes * k < 4) return;
    g.fillText(byteLabel(row.bytes), b.left - 6, top, b.left - 7);
    free = top + 14;
  });
}

/** `show` restricts the map to a segment. */
function segmentColumns(show) {
  return [
    { id: 'name', name: 'segment', name_: true, value: (row) => row.address,
      cell: (row) => button(row.address, () => show(row), { class: 'plain' }) },
    { id: 'pool', name: 'pool \u00b7 stream',
      value: (row) => `${row.pool} \u00b7 stream ${row.stream}` },
    bytesColumn('bytes', 'size'), bytesColumn('use', 'use'),
    { id: 'share', name: 'of size', number: true, value: (row) => ratio(row.use, row.bytes),
      text: (row) => share(ratio(row.use, row.bytes)) },
    bytesColumn('stranded', 'stranded'), bytesColumn('returnable', 'returnable'),
    bytesColumn('largest', 'largest free'),
    { id: 'blocks', name: 'blocks', number: true, text: (row) => count(row.blocks) },
  ];
}

/** Segments of which something is stranded, by their largest block. */
export function pinsOf(segments) {
  return segments.filter(({ stranded, pin }) => stranded > 0 && pin)
    .map(({ pin, ...segment }) => ({ ...segment, name: pin.name, id: pin.row, size: pin.size }));
}

function pinColumns(store) {
  return [
    { id: 'name', name: 'largest block', name_: true, cell: (row) => button(shown(row.name), () =>
      store.jump({ sel: { kind: 'alloc', id: row.id } }), { class: 'plain' }) },
    bytesColumn('size', 'its size', false),
    bytesColumn('stranded', 'pinned'), bytesColumn('use', 'by blocks of'),
    { id: 'blocks', name: 'blocks', number: true, text: (row) => count(row.blocks) },
    { id: 'address', name: 'segment' }, bytesColumn('bytes', 'of size'),
  ];
}

function summed(rows) {
  const total = {};
  for (const id of ['bytes', 'use', 'stranded', 'returnable']) {
    total[id] = rows.reduce((n, row) => n + (row[id] || 0), 0);
  }
  total.largest = rows.reduce((n, row) => Math.max(n, row.largest || 0), 0);
  return total;
}

/** Rows of the map to show, in order; null is all by address.  `segments`: those at the cursor;
 * `only`: an address in the one that is shown alone. */
export function chosenRows(rows, segments, { which, sort, only = null }) {
  if (only !== null) {
    const one = rows.findIndex((row) => only >= row.base && only < row.base + row.bytes);
    return one < 0 ? null : [one];
  }
  if (which === 'history' && sort === 'address') return null;
  const stranded = rows.map(() => 0);
  const mapped = rows.map(() => false);
  for (const segment of segments) {
    const i = rows.findIndex((row) => segment.base >= row.base && segment.base < row.base +
      row.bytes);
    if (i < 0) continue;
    mapped[i] = true;
    stranded[i] += segment.stranded;
  }
  const list = [...rows.keys()].filter((i) => which === 'history' || mapped[i]);
  return sort === 'stranded' ? list.sort((a, b) => stranded[b] - stranded[a] || a - b) : list;
}

function createList(host, columns, caption) {
  const node = el('div', { class: 'pane' });
  host.append(node);
  return { node, table: createTable(node, columns, { caption,
    sort: { id: 'stranded', descending: true } }) };
}

/** The segment at the cursor that holds the pinned allocation. */
function segmentInHand({ store, found }) {
  const { sel } = store.get();
  return sel && found.find(({ parts }) => parts.some(({ id }) => id === sel.id));
}

/** That segment alone; null: all again. */
function show(map, segment) {
  map.chosen.only = segment ? segment.base : null;
  drawOnly(map);
  map.plot.update();
}

function drawOnly(map) {
  const { only, chosen } = map;
  only.disabled = chosen.only === null && !segmentInHand(map);
  only.setAttribute('aria-pressed', String(chosen.only !== null));
}

/** Of the rows of the picture those to show; a segment that has none is no longer shown alone. */
export function shownRows(map, rows) {
  const { found, chosen } = map;
  const list = chosenRows(rows, found, chosen);
  if (list || chosen.only === null) return list;
  chosen.only = null;
  drawOnly(map);
  return chosenRows(rows, found, chosen);
}

function drawList({ lists, chosen, found }) {
  for (const [id, list] of Object.entries(lists)) list.node.hidden = id !== chosen.list;
  const pins = chosen.list === 'pins';
  const rows = pins ? pinsOf(found) : found;
  const total = { ...summed(rows), label: pins ? 'all pins' : 'reserved' };
  lists[chosen.list].table.set(rows, total, null, pins ?
    `Blocks that pin free memory, in ${count(rows.length)} segments at the cursor` :
    `${count(rows.length)} segments at the cursor`);
}

function askSegments(map) {
  const { store, recording, asker } = map;
  asker.ask('state', { state: store.get().at, by: 'category', what: 'map' }, (got) => {
    map.found = got.bars.map((bar) => segmentOf(bar, recording.device()));
    const total = summed(map.found);
    drawList(map);
    drawOnly(map);
    fill(map.said, `stranded ${bytes(total.stranded)}, returnable ${bytes(total.returnable)}`);
    map.plot.update();
  });
}

/** The controls above: what is shown, in which order, and what is listed beneath. */
function controls(map) {
  const { store, chosen } = map;
  const pick = (name, options, key, act) => choice(name, options, chosen[key], (value) => {
    chosen[key] = value;
    act();
  }).node;
  map.by = choice('by', [], 'category', (value) => store.jump({ by: value }));
  map.said = el('span', { class: 'note' });
  map.only = button('only this segment', () => show(map, map.chosen.only === null &&
    segmentInHand(map)), { title: 'the one of the pinned allocation' });
  const redraw = () => map.plot.update();
  return el('div', { class: 'bar' }, map.by.node,
    pick('rows', [['history', 'segments with history'], ['now', 'mapped at the cursor']], 'which',
      redraw),
    pick('sort', [['address', 'address'], ['stranded', 'stranded bytes']], 'sort', redraw),
    pick('list', [['segments', 'segments'], ['pins', 'pins']], 'list', () => drawList(map)),
    map.only, map.said);
}

export function createMap(host, { store, recording, stage, newAsker, makePlot }) {
  const map = { store, recording,
    chosen: { which: 'history', sort: 'address', list: 'segments', only: null },
    found: [],        // the segments at the cursor
    asker: newAsker() };
  const segments = derived(() => {
    const { at, file, dev } = store.get();
    return [at, file, dev];
  }, () => askSegments(map));
  host.append(controls(map));
  const plot = makePlot(host, { op: 'map', paint: paintMap, drawY: drawRows, args: () => {
    const picture = stage.picture();
    return { chosen: picture && picture.tops ? shownRows(map, picture.rows) : null };
  } });
  const under = el('div', { class: 'pane third padded' });
  host.append(under);
  map.plot = plot;
  map.lists = { segments: createList(under, segmentColumns((row) => show(map, row)),
    'Segments at the cursor'), pins: createList(under, pinColumns(store), 'Pins') };

  function update() {
    setOptions(map.by.select, groupingsOf(recording.cover()).filter(([id]) => id !== 'birth'),
      plainBy(store.get().by));
    plot.update();
    drawOnly(map);
    segments();
  }
  return { plot, update, redraw: plot.redraw,
    table: () => map.lists[map.chosen.list].table,
    forget: () => {
      segments.forget();
      plot.forget();
      map.chosen.only = null;
    } };
}
