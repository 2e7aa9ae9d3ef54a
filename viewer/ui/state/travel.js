// travel.js - the ways to another place of the recording: cursor, zoom, axis, finding.
import { windowOf } from '../../core/memory/curves.js';
import { eventName } from '../draw/text.js';
import { revealed } from './span.js';
import { placeOf } from './report.js';

/** The nearest state that can be shown; says so where it is another. */
function heldAt({ store, note }, p) {
  const limits = store.limits();
  const [from, past] = windowOf(limits);
  const at = Math.min(Math.max(from, Math.round(p)), past - 1);
  if (at !== Math.round(p) && past - from < limits.states) {
    note(`this page holds ${eventName(from)} to ${eventName(past - 1)} only`);
  }
  return at;
}

function setCursor(travel, p, follow) {
  const { store } = travel;
  const { x } = store.get();
  const limits = store.limits();
  const at = heldAt(travel, p);
  store.move({ at, x: follow ? revealed(x, at, limits) : x });
}

function goTo(travel, p) {
  const { store } = travel;
  const at = heldAt(travel, p);
  store.jump({ at, x: revealed(store.get().x, at, store.limits()) });
}

function wholeX({ store, recording }) {
  const cover = recording.cover();
  const { mode } = store.get().x;
  const [from, to] = mode === 'time' ? cover.time : windowOf(cover);
  store.jump({ x: { mode, from, to } });
}

/** Events or time, over what is in sight. */
async function setAxis({ store, ask, recording, stage, note }, mode) {
  const { x } = store.get();
  const { time, states } = recording.cover();
  if (mode === x.mode) return;
  if (mode === 'time' && !time) {
    note('no times were recorded');
    store.move({});
  } else if (mode === 'events') {
    const { from, to } = stage.span() || { from: 0, to: states };
    store.jump({ x: { mode, from, to } });
  } else {
    const got = await ask('range', { a: x.from, b: Math.min(x.to, states - 1), by: 'category' });
    if (got && got.times) store.jump({ x: { mode, from: got.times[0], to: got.times[1] } });
  }
}

/** The cursor in the middle of what is in sight, which keeps its width. */
async function showCursor({ store, ask }) {
  const { x, at } = store.get();
  let middle = at;
  if (x.mode === 'time') {
    const got = await ask('range', { a: at, b: at, by: 'category' });
    if (!got || !got.times) return;
    [middle] = got.times;
  }
  const half = (x.to - x.from) / 2;
  store.jump({ x: { mode: x.mode, from: middle - half, to: middle + half } });
}

/** `found`: { id } of an allocation; it is pinned as well. */
async function zoomToLife({ store, ask, recording }, found) {
  if (!found || found.id < 0 || found.id === null) return;
  const d = await ask('row', { id: found.id, state: store.get().at });
  if (!d) return;
  const end = d.end === null ? recording.cover().states : d.end;
  const room = Math.max(2, (end - d.born) * 0.05);
  store.jump({ x: { mode: 'events', from: d.born - room, to: end + room },
    sel: { kind: 'alloc', id: d.id } });
}

function zoomToSelection(travel) {
  const { store, note } = travel;
  const { range, sel } = store.get();
  if (range) store.jump({ x: { mode: 'events', from: range.a, to: range.b + 1 } });
  else if (sel) zoomToLife(travel, sel);
  else note('nothing is selected');
}

/** To where a finding of the report can be seen. */
function follow(travel, finding) {
  const { store, recording } = travel;
  const views = recording.views();
  const place = placeOf(finding, (id) => views.some((view) => view.id === id),
    recording.cover().peak?.state);
  if (place.at !== undefined) {
    place.at = heldAt(travel, place.at);
    place.x = revealed(store.get().x, place.at, store.limits());
  }
  store.jump(place);
}

export function createTravel({ store, ask, recording, stage, note }) {
  const travel = { store, ask, recording, stage, note };
  return {
    setCursor: (p, following) => setCursor(travel, p, following),
    goTo: (p) => goTo(travel, p),
    wholeX: () => wholeX(travel),
    showCursor: () => showCursor(travel),
    setAxis: (mode) => setAxis(travel, mode),
    zoomToLife: (found) => zoomToLife(travel, found),
    zoomToSelection: () => zoomToSelection(travel),
    showOom: (oom) => goTo(travel, oom.state),
    follow: (finding) => follow(travel, finding),
  };
}
