// views.js - which views a recording has, with a tab for each.
import { button, byId, el, fill, setOptions } from '../draw/dom.js';
import { createAll, createDevices } from './many.js';
import { createDiff } from './diff.js';
import { createFlame } from './flame.js';
import { createLeaks } from './leaks.js';
import { createMap } from './map.js';
import { createAllocator } from './allocator.js';
import { createTimeline } from './timeline.js';

/** id, key, title, the operation a view needs, its maker. */
const catalogue = [
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
