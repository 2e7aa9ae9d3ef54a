// allocator.js - the allocator at the cursor: a bar per segment, and the events around it.
import { bytes, count } from '../core/human.js';
import { button, el, fill, fitCanvas, perFrame } from './dom.js';
import { hatch, slotColour } from './paint.js';
import { eventName, shown, words } from './text.js';

const leastBar = 40;
const barHeight = 22;

/** Bar widths in proportion to size, with a floor. */
export function barWidth(size, largest, room) {
  return Math.max(leastBar, Math.round(room * size / Math.max(1, largest)));
}

function drawPart(g, part, x, w, ctx, state) {
  const palette = ctx.palette();
  if (part.kind === 'used' || part.kind === 'pending') {
    const given = ctx.slots().get(part.group) || { slot: 9 };
    g.fillStyle = slotColour(palette, given.slot);
    g.fillRect(x, 0, Math.max(0.5, w - (w > 3 ? 1 : 0)), barHeight);
    if (part.kind === 'pending') hatch(g, x, 0, w, barHeight, palette.ground, 5);
    if (state.sel && state.sel.id === part.id) {
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
    for (let dot = 2; dot < w; dot += 5) for (let y = 3; y < barHeight; y += 5) g.fillRect(x + dot, y, 1, 1);
  } else if (part.kind === 'held') {
    g.strokeStyle = palette.hatch;
    g.strokeRect(x + 0.5, 0.5, Math.max(1, w - 1), barHeight - 1);
  }
}

function partName(part) {
  if (part.kind === 'used') return 'in use';
  return { held: 'held for graph', unmapped: 'not mapped' }[part.kind] || words(part.kind);
}

function createBar(segment, width, ctx) {
  const canvas = el('canvas', { class: 'segment', role: 'img',
    'aria-label': `${bytes(segment.bytes)} at ${segment.address}, ${bytes(segment.use)} in use` });
  canvas.style.setProperty('width', width + 'px');
  canvas.style.setProperty('height', barHeight + 'px');
  fitCanvas(canvas, width, barHeight);
  const scale = width / Math.max(1, segment.bytes);
  const ratio = self.devicePixelRatio || 1;
  const g = canvas.getContext('2d');
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  for (const part of segment.parts) drawPart(g, part, part.at * scale, part.bytes * scale, ctx, ctx.store.get());
  const partAt = (event) => segment.parts.find((part) => event.offsetX >= part.at * scale &&
    event.offsetX < (part.at + part.bytes) * scale);
  canvas.addEventListener('pointermove', (event) => {
    const part = partAt(event);
    ctx.say(part ? `${partName(part)} ${bytes(part.bytes)} at +${count(part.at)} of ${shown(segment.address)}` : '');
    if (part && part.id >= 0) ctx.pass(part.id);
  });
  canvas.addEventListener('pointerleave', () => {
    ctx.say('');
    ctx.pass(null);
  });
  canvas.addEventListener('click', (event) => {
    const part = partAt(event);
    if (part && part.id >= 0) ctx.store.move({ sel: { kind: 'alloc', id: part.id } });
  });
  return canvas;
}

function segmentRow(segment, largest, room, ctx) {
  return el('tr', null, el('td', null, createBar(segment, barWidth(segment.bytes, largest, room), ctx)),
    ...[segment.bytes, segment.use, segment.free, segment.largest].map((n) => el('td', { class: 'number', text: bytes(n) })),
    el('td', { class: 'number', text: count(segment.blocks) }),
    el('td', { text: words(segment.kind || '') }));
}

function poolTable(pool, largest, room, ctx) {
  const head = ['segment', 'size', 'use', 'free', 'largest free', 'blocks', 'kind'];
  return el('table', { class: 'segments' },
    el('caption', { text: `pool ${pool.pool} \u00b7 stream ${pool.stream}` }),
    el('thead', null, el('tr', null, head.map((name, i) =>
      el('th', { scope: 'col', class: i > 0 && i < 6 ? 'number' : null, text: name })))),
    el('tbody', null, pool.segments.map((segment) => segmentRow(segment, largest, room, ctx))));
}

function eventRow(event, at, ctx) {
  const text = `${words(event.kind)} ${bytes(event.bytes)}`;
  return el('li', { class: event.state === at ? 'now' : null },
    button(`${eventName(event.state)}  ${text}`, () => {
      ctx.goTo(event.state);
      if (event.id >= 0) ctx.pin(event.id);
    }, { class: 'plain' }));
}

export function createAllocator(host, ctx) {
  const lead = el('div', { class: 'bar' });
  const pools = el('div', { class: 'scroll' });
  const events = el('ol', { class: 'events', 'aria-label': 'Events around the cursor' });
  host.append(lead, pools, events);
  let asked = '';
  let wanted = 0;
  let last = null;

  function draw() {
    if (!last) return;
    const move = (by) => ctx.setCursor(ctx.store.get().at + by, true);
    fill(lead, el('strong', { text: eventName(last.state) }),
      button('\u2039', () => move(-1), { 'aria-label': 'one event back', title: ',' }),
      button('\u203a', () => move(1), { 'aria-label': 'one event on', title: '.' }),
      el('span', { text: last.what || '' }));
    const largest = last.pools.flatMap((p) => p.segments).reduce((n, s) => Math.max(n, s.bytes), 1);
    const room = Math.max(120, pools.clientWidth - 460);
    fill(pools, last.pools.map((pool) => poolTable(pool, largest, room, ctx)),
      last.pools.length ? null : el('p', { text: 'Nothing is mapped at this moment.' }));
    fill(events, last.events.map((event) => eventRow(event, last.state, ctx)));
    const row = events.querySelector('.now');
    if (row) events.scrollTop = row.offsetTop - events.offsetTop - 40;
  }

  function update() {
    const { at, file, dev, sel } = ctx.store.get();
    const key = JSON.stringify([at, file, dev]);
    if (key === asked) {
      if (sel !== (last && last.sel)) soon();
      return;
    }
    asked = key;
    const mine = ++wanted;
    ctx.call('state', { state: at, by: 'category' }).then((got) => {
      if (!got || mine !== wanted) return;
      last = got;
      soon();
    }, ctx.failed);
  }
  const soon = perFrame(draw);
  return { update, redraw: soon, forget: () => { asked = ''; },
    canvases: () => [...pools.querySelectorAll('canvas')].slice(0, 1) };
}
