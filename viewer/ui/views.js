// views.js - the views a recording has, their tabs, and Stack and Groups.
import { bytes, count } from '../core/human.js';
import { button, byId, choice, el, fill, setOptions } from './dom.js';
import { createCapacity } from './capacity.js';
import { createAll, createDevices } from './many.js';
import { createDiff } from './diff.js';
import { createFlame } from './flame.js';
import { createLeaks } from './leaks.js';
import { createLegend, groupingsOf } from './panels.js';
import { createMap } from './map.js';
import { createPlot } from './plot.js';
import { createAllocator } from './allocator.js';

/** id, key, title, the operation a view needs, its maker. */
export const catalogue = [
  { id: 'stack', key: '1', title: 'Stack', op: 'raster', make: (h, c) => createTimeline(h, c,
    'raster') },
  { id: 'groups', key: '2', title: 'Groups', op: 'groups', make: (h, c) => createTimeline(h, c,
    'groups') },
  { id: 'map', key: '3', title: 'Address map', op: 'map', make: createMap },
  { id: 'state', key: '4', title: 'State', op: 'state', make: createAllocator },
  { id: 'flame', key: '5', title: 'Flame', op: 'tree', make: createFlame },
  { id: 'leaks', key: '6', title: 'Leaks', op: 'leaks', make: createLeaks },
  { id: 'diff', key: '7', title: 'Diff', op: 'diff', make: createDiff },
  { id: 'all', key: '0', title: 'All', op: 'covers', make: createAll },
  { id: 'devices', key: '', title: 'All devices', op: 'covers', make: createDevices },
];

const timelines = new Set(['stack', 'groups', 'map', 'leaks']);

/** The views that the engine can answer; the others are not there at all. */
export function viewsOf(cover, head) {
  const { files } = head;
  const has = { all: files.length > 1 || files[0].devices.length > 1,
    devices: files.some((file) => file.devices.length > 1),
    map: cover.has.addresses, state: cover.has.addresses };
  return catalogue.filter((view) => cover.ops.includes(view.op) && has[view.id] !== false);
}

/** Why a view is closed for this recording, or null. */
export function closedReason(view, cover) {
  if (cover.states < 2 && timelines.has(view.id)) {
    return 'Recording was not enabled; this is one moment, not a history.';
  }
  if (view.id === 'flame' && !cover.has.stacks) return 'No stacks were recorded.';
  return null;
}

export function drawTabs(views, cover, current, choose) {
  const closed = views.map((view) => closedReason(view, cover));
  fill(byId('tabs'), views.map((view, i) => button([el('kbd', { text: view.key }), view.title],
    () => choose(view.id), { role: 'tab', 'aria-selected': view.id === current ? 'true' : 'false',
      tabindex: view.id === current ? '0' : '-1', disabled: closed[i] !== null,
        title: closed[i] })));
  const list = byId('tab-list');
  setOptions(list, views.map((view, i) => [view.id, view.title, closed[i] !== null]), current);
  list.onchange = () => choose(list.value);
  byId('tabs').onkeydown = (event) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const open = views.filter((_, i) => closed[i] === null);
    const at = open.findIndex((view) => view.id === current);
    choose(open[(at + step + open.length) % open.length].id);
    byId('tabs').querySelector('[aria-selected="true"]').focus();
  };
}

function controls(ctx) {
  const by = choice('by', [], 'category', (value) => ctx.store.jump({ by: value }));
  const axis = choice('x', [['events', 'events'], ['time', 'time']], 'events', (mode) =>
    ctx.setAxis(mode));
  const cap = createCapacity(ctx);
  const told = el('span', { class: 'muted' });
  const only = button('only', () => ctx.store.jump({ only: !ctx.store.get().only }),
    { title: 'stack the matches alone' });
  const note = el('span', { class: 'note' });
  const node = el('div', { class: 'bar' }, by.node, axis.node,
    cap.node, told, only, note);
  return { node, by, axis, cap, told, only, note };
}

function headroom(cover, cap) {
  if (!cap) return '';
  const room = cap - cover.peak.bytes;
  return room >= 0 ? `${bytes(room)} free at the peak` : `${bytes(-room)} too little at the peak`;
}

/** Stack or groups: controls, legend, plot. */
function createTimeline(host, ctx, op) {
  const bar = controls(ctx);
  host.append(bar.node);
  const legend = createLegend(host, ctx);
  const plot = createPlot(host, ctx, { op, churn: op === 'raster' });

  function drawBar() {
    const state = ctx.store.get();
    const cover = ctx.cover();
    setOptions(bar.by.select, groupingsOf(cover).filter(([id]) => op === 'raster' ||
      id !== 'birth'), state.by);
    setOptions(bar.axis.select, [['events', 'events'], ['time', 'time', !cover.time]],
      state.x.mode);
    bar.axis.node.title = cover.time ? '' : 'no times were recorded';
    bar.cap.show(state.cap);
    fill(bar.told, headroom(cover, state.cap));
    bar.only.hidden = state.query === '' || op !== 'raster';
    bar.only.setAttribute('aria-pressed', state.only ? 'true' : 'false');
    const seen = plot.exact();
    const drawn = seen && op === 'raster' ?
      `${count(seen.drawn)} of ${count(cover.allocations)} allocations ` +
      'are live in a drawn state' + (seen.drawn < cover.allocations ? '; zoom for the rest' : '') :
        '';
    fill(bar.note, state.only ? 'matches only \u00b7 ' + drawn : drawn);
  }

  return { plot, legend, update: () => { drawBar(); plot.update(); }, live: legend.update,
    pictured: drawBar, redraw: plot.redraw, forget: plot.forget };
}
