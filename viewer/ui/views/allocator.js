// allocator.js - the allocator at the cursor: a bar per segment, and the events around it.
import { bytes, count, poolName } from '../../core/model/human.js';
import { known } from '../../core/model/unpack.js';
import { cssOf, rgbFor } from '../draw/colours.js';
import { button, el, fill, perFrame } from '../draw/dom.js';
import { prepare } from '../draw/draw.js';
import { hatch } from '../draw/paint.js';
import { followSight, rowHeight, rowsInSight } from '../draw/table.js';
import { rowOf } from '../draw/events.js';
import { momentName, words } from '../draw/text.js';
import { derived } from '../state/derived.js';
import { plainBy } from '../state/holders.js';

const leastBar = 40;
const barHeight = 22;
const mostDrawn = 500;
const largerText = 'Low bars are longer than their scale.';

/** How wide a bar is, in proportion to size; what would be too narrow is larger than its scale. */
function widthOf(size, largest, room) {
  const width = Math.round(room * size / Math.max(1, largest));
  return { width: Math.max(leastBar, width), isLarger: width < leastBar };
}

function drawPart(g, part, x, w, look, sel) {
  const palette = look.palette();
  if (part.kind === 'used' || part.kind === 'pending') {
    g.fillStyle = cssOf(rgbFor(palette, look.slotOf(part.group)));
    g.fillRect(x, 0, Math.max(0.5, w - (w > 3 ? 1 : 0)), barHeight);
    if (part.kind === 'pending') hatch(g, x, 0, w, barHeight, palette.ground, 5);
    if (sel && sel.id === part.id) {
      g.strokeStyle = palette.focus;
      g.lineWidth = 3;
      g.strokeRect(x + 1.5, 1.5, Math.max(1, w - 3), barHeight - 3);
      g.lineWidth = 1;
    }
    return;
  }
  g.fillStyle = palette.free;
  g.fillRect(x, 0, w, barHeight);
  if (part.kind === 'stranded') hatch(g, x, 0, w, barHeight, palette.hatch, 5);
  else if (part.kind === 'returnable') {
    g.fillStyle = palette.hatch;
    for (let dot = 2; dot < w; dot += 5) for (let y = 3; y < barHeight; y += 5) g.fillRect(x + dot,
      y, 1, 1);
  } else if (part.kind === 'held') {
    g.strokeStyle = palette.hatch;
    g.strokeRect(x + 0.5, 0.5, Math.max(1, w - 1), barHeight - 1);
  }
}

/** A bar from its start to its end, framed where the last event changed it; one that is larger than
 * its scale is lower. */
function drawSegment(g, { parts, bytes: size, changed }, { width, isLarger }, look, sel) {
  const scale = width / Math.max(1, size);
  if (isLarger) {
    g.translate(0, barHeight / 4);
    g.scale(1, 0.5);
  }
  for (const part of parts) drawPart(g, part, part.at * scale, part.bytes * scale, look, sel);
  if (!changed) return;
  g.strokeStyle = look.palette().text;
  g.lineWidth = 2;
  g.strokeRect(1, 1, width - 2, barHeight - 2);
  g.lineWidth = 1;
}

/** A bar of core/memory/address.js as parts from its start to its end, gaps as free memory. */
function partsOf(bar) {
  const held = bar.flags & 2 ? 'held' : null;
  const parts = [];
  let [at, next] = [0, 0];
  const free = (end, kind) => {
    if (end > at) parts.push({ at, bytes: end - at, id: -1, kind: held ?? kind });
    at = Math.max(at, end);
  };
  const upTo = (end) => {
    for (; next < bar.empty.length && bar.empty[next].at < end; next++) {
      free(bar.empty[next].at, 'stranded');
      free(bar.empty[next].at + bar.empty[next].size, 'returnable');
    }
    free(end, 'stranded');
  };
  for (const block of bar.blocks) {
    upTo(block.at);
    parts.push({ at: block.at, bytes: block.size, id: block.row, group: block.group,
      kind: block.pending ? 'pending' : 'used' });
    at = Math.max(at, block.at + block.size);
  }
  upTo(bar.bytes);
  return parts;
}

/** What the tables of State and of the map show of a bar; `device` names pools and streams. */
export function segmentOf(bar, device) {
  const empty = bar.flags & 2 ? bar.free : bar.empty.reduce((n, { size }) => n + size, 0);
  const kinds = [bar.flags & 1 ? 'expandable' : '', bar.flags & 2 ? 'graph' : ''].filter(Boolean);
  const base = known(bar.base);
  return { address: base === null ? 'unknown' : '0x' + base.toString(16), base: bar.base,
    bytes: bar.bytes, use: bar.used,
    free: bar.free, largest: bar.largest, blocks: bar.blocks.length, kind: kinds.join(', '),
    pool: bar.pool ? poolName((device.pools || [])[bar.pool]) : 'default',
    stream: (device.streams || [])[bar.stream] || '-',
    stranded: Math.max(0, bar.free - empty), returnable: bar.flags & 2 ? 0 : empty,
    estimate: bar.estimate, changed: Boolean(bar.changed), parts: partsOf(bar), pin: bar.pin };
}

/** Segments in groups of one pool and stream, in the order of the bars. */
export function poolsOf(bars, device) {
  const pools = new Map();
  for (const bar of bars) {
    const segment = segmentOf(bar, device);
    const key = (/\d/.test(segment.pool) ? '' : 'pool ') +
      `${segment.pool} \u00b7 stream ${segment.stream}`;
    if (!pools.has(key)) pools.set(key, []);
    pools.get(key).push(segment);
  }
  return [...pools].map(([name, segments]) => ({ name, segments }));
}

function partName(part) {
  if (part.kind === 'used') return 'in use';
  return { held: 'held for graph', unmapped: 'not mapped' }[part.kind] || words(part.kind);
}

function createBar(segment, wide, { store, look, pointer, say }) {
  const { width } = wide;
  const canvas = el('canvas', { class: 'segment', role: 'img',
    'aria-label': `${bytes(segment.bytes)} at ${segment.address}, ${bytes(segment.use)} in use` +
      (segment.changed ? ', changed by this event' : '') });
  canvas.style.setProperty('width', width + 'px');
  canvas.style.setProperty('height', barHeight + 'px');
  const g = prepare(canvas, width, barHeight);
  const scale = width / Math.max(1, segment.bytes);
  drawSegment(g, segment, wide, look, store.get().sel);
  const partAt = (event) => segment.parts.find((part) => event.offsetX >= part.at * scale &&
    event.offsetX < (part.at + part.bytes) * scale);
  canvas.addEventListener('pointermove', (event) => {
    const part = partAt(event);
    say(part ? `${partName(part)} ${bytes(part.bytes)} at +${count(part.at)} of ` +
      segment.address : '');
    if (part && part.id >= 0) pointer.pass(part.id);
  });
  canvas.addEventListener('pointerleave', () => {
    say('');
    pointer.pass(null);
  });
  canvas.addEventListener('click', (event) => {
    const part = partAt(event);
    if (part && part.id >= 0) store.move({ sel: { kind: 'alloc', id: part.id } });
  });
  return canvas;
}

function segmentRow(segment, largest, room, kinds, page) {
  const wide = widthOf(segment.bytes, largest, room);
  return el('tr', { class: segment.changed ? 'changed' : null },
    el('td', { title: wide.isLarger ? largerText : null }, createBar(segment, wide, page)),
    ...[segment.bytes, segment.use, segment.free, segment.largest].map((n) => el('td',
      { class: 'number', text: bytes(n) })),
    el('td', { class: 'number', text: count(segment.blocks) }),
    kinds ? el('td', { text: words(segment.kind) }) : null);
}

/** One row for each pool, with those of its segments after it. */
function rowsOf(pools) {
  return pools.flatMap((pool) => [pool.name, ...pool.segments]);
}

/** The table of all segments, of which `show(rows, largest)` makes the rows that are in sight. */
function createSegments(box, page) {
  const names = ['segment', 'size', 'use', 'free', 'largest free', 'blocks', 'kind'];
  const cells = names.map((name, i) =>
    el('th', { scope: 'col', class: i > 0 && i < 6 ? 'number' : null, text: name }));
  const head = el('tr');
  const body = el('tbody');
  const table = el('table', { class: 'segments' }, el('thead', null, head), body);
  const shown = { rows: [], largest: 1, kinds: false };
  const roomOf = () => Math.max(120, box.clientWidth - (shown.kinds ? 590 : 500));
  const draw = () => {
    const { rows, largest, kinds } = shown;
    const columns = kinds ? 7 : 6;
    const room = roomOf();
    fill(head, cells.slice(0, columns));
    cells[0].style.setProperty('min-width', room + 'px');
    fill(body, rowsInSight(box, rows.length, columns, (i) => (typeof rows[i] === 'string' ?
      el('tr', null, el('th', { scope: 'rowgroup', colspan: columns, text: rows[i] })) :
      segmentRow(rows[i], largest, room, kinds, page))));
  };
  followSight(box, draw);
  /** So that the segment that changed is in sight. */
  const reveal = () => {
    const at = shown.rows.findIndex(({ changed }) => changed) * rowHeight;
    const room = box.clientHeight - 3 * rowHeight;
    if (at >= 0) box.scrollTop = Math.min(Math.max(box.scrollTop, at - room), at);
  };
  return (rows, largest, isNew) => {
    Object.assign(shown, { rows, largest, kinds: rows.some(({ kind }) => kind) });
    fill(box, rows.length ? table : el('p', { text: 'Nothing is mapped at this moment.' }));
    draw();
    if (isNew) reveal();
    return rows.some((row) => row.bytes && widthOf(row.bytes, largest, roomOf()).isLarger);
  };
}

function eventRow(event, at, { travel, pointer }) {
  return el('li', { class: event.state === at ? 'now' : null },
    button(rowOf(event), () => {
      travel.goTo(event.state);
      if (event.row >= 0) pointer.pin(event.row);
    }, { class: 'plain' }));
}

function largestOf(rows) {
  return rows.reduce((n, { bytes: size = 0 }) => Math.max(n, size), 1);
}

/** The bars of the first segments for another surface, each with its figures. */
function drawingOf(pools, { store, look }) {
  const room = 640;
  const all = rowsOf(pools);
  const largest = largestOf(all);
  const rows = all.slice(0, mostDrawn);
  if (all.length > mostDrawn) rows.push(`and ${count(all.length - mostDrawn)} more rows`);
  return { width: room + 400, height: rows.length * (barHeight + 4) + 8, draw: (g) => {
    g.textAlign = 'left';
    g.textBaseline = 'middle';
    rows.forEach((row, i) => {
      const name = typeof row === 'string' ? row : null;
      const wide = widthOf(row.bytes, largest, room);
      g.save();
      g.translate(8, 4 + i * (barHeight + 4));
      g.save();
      if (!name) drawSegment(g, row, wide, look, store.get().sel);
      g.restore();
      g.fillStyle = look.palette().text;
      g.fillText(name || `${bytes(row.bytes)}, ${bytes(row.use)} in use, largest free ` +
        bytes(row.largest), name ? 0 : wide.width + 8, barHeight / 2);
      g.restore();
    });
  } };
}

export function createAllocator(host, { store, recording, look, pointer, travel, say, newAsker }) {
  const lead = el('div', { class: 'bar' });
  const pools = el('div', { class: 'scroll', tabindex: 0, role: 'group',
    'aria-label': 'Segments at the cursor' });
  const events = el('ol', { class: 'events', 'aria-label': 'Events around the cursor' });
  host.append(lead, pools, events);
  const asker = newAsker();
  const eventsAsker = newAsker();
  const show = createSegments(pools, { store, look, pointer, say });
  let last = null;
  let rows = [];
  let drawnFrom = null;

  /** Rows are made once for each answer. */
  function take(got) {
    last = got;
    rows = rowsOf(poolsOf(got.bars, recording.device()));
    soon();
  }

  function draw() {
    if (!last) return;
    const move = (by) => travel.setCursor(store.get().at + by, true);
    const isLarger = show(rows, largestOf(rows), drawnFrom !== last);
    fill(lead, el('strong', { text: momentName(last.state, recording.cover()) }),
      button('\u2039', () => move(-1), { 'aria-label': 'one event back', title: ',' }),
      button('\u203a', () => move(1), { 'aria-label': 'one event on', title: '.' }),
      el('span', { class: 'muted', text: `${count(last.bars.length)} segments` +
        (recording.cover().states < 2 ? '. Recording was not enabled; this is one moment, ' +
        'not a history.' : '') + (isLarger ? `. ${largerText}` : '') }));
    drawnFrom = last;
  }

  function drawEvents(list, at) {
    fill(events, list.map((event) => eventRow(event, at, { travel, pointer })));
    const row = events.querySelector('.now');
    if (row) events.scrollTop = row.offsetTop - events.offsetTop - 40;
  }

  function ask() {
    const { at, by } = store.get();
    asker.ask('state', { state: at, by: plainBy(by) }, take);
    eventsAsker.ask('events', { state: at, n: 200 }, (got) => drawEvents(got.rows, at));
  }

  const soon = perFrame(draw);
  const segments = derived(() => {
    const { at, file, dev, by } = store.get();
    return [at, file, dev, by];
  }, ask);
  const selected = derived(() => [store.get().sel], soon);
  return { update: () => {
    segments();
    selected();
  }, redraw: draw, forget: segments.forget,
    drawing: () => last && drawingOf(poolsOf(last.bars, recording.device()), { store, look }) };
}
