// catalogue.js - which views there are, and which of them a recording has.  No DOM.

/** id, key, title, the operation a view needs. */
const catalogue = [
  { id: 'stack', key: '1', title: 'Stack', op: 'raster' },
  { id: 'groups', key: '2', title: 'Groups', op: 'groups' },
  { id: 'map', key: '3', title: 'Address map', op: 'map' },
  { id: 'state', key: '4', title: 'State', op: 'state' },
  { id: 'flame', key: '5', title: 'Flame', op: 'tree' },
  { id: 'leaks', key: '6', title: 'Leaks', op: 'leaks' },
  { id: 'diff', key: '7', title: 'Diff', op: 'diff' },
  { id: 'steps', key: '8', title: 'Steps', op: 'steps' },
  { id: 'all', key: '0', title: 'All', op: 'covers' },
  { id: 'devices', key: '', title: 'All devices', op: 'covers' },
];

const timelines = new Set(['stack', 'groups', 'map', 'leaks', 'steps']);

/** The views that are of no single device. */
export const ofMany = new Set(['all', 'devices']);

/** Views that show memory also where it is taken out of the picture. */
export const ofAll = new Set(['map', 'state', 'leaks', 'diff', ...ofMany]);

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
