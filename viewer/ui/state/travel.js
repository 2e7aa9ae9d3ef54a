// travel.js - the ways to another place of the recording: cursor, zoom, axis, finding.
import { windowOf } from '../../core/memory/curves.js';
import { placeOf } from '../parts/header.js';
import { revealed } from './span.js';
import { eventName } from '../draw/text.js';
import { viewsOf } from '../views/views.js';

/** The nearest state that can be shown; says so where it is another. */
function heldAt(ctx, p) {
  const limits = ctx.store.limits();
  const [from, past] = windowOf(limits);
  const at = Math.min(Math.max(from, Math.round(p)), past - 1);
  if (at !== Math.round(p) && past - from < limits.states) {
    ctx.note(`this page holds ${eventName(from)} to ${eventName(past - 1)} only`);
  }
  return at;
}

function setCursor(ctx, p, follow) {
  const { x } = ctx.store.get();
  const limits = ctx.store.limits();
  const at = heldAt(ctx, p);
  ctx.store.move({ at, x: follow ? revealed(x, at, limits) : x });
}

function goTo(ctx, p) {
  const at = heldAt(ctx, p);
  ctx.store.jump({ at, x: revealed(ctx.store.get().x, at, ctx.store.limits()) });
}

function wholeX(ctx) {
  const { mode } = ctx.store.get().x;
  const { time } = ctx.now.cover;
  const [from, to] = mode === 'time' ? time : windowOf(ctx.now.cover);
  ctx.store.jump({ x: { mode, from, to } });
}

/** Events or time, over what is in sight. */
async function setAxis(ctx, mode) {
  const { x } = ctx.store.get();
  const { time, states } = ctx.now.cover;
  if (mode === x.mode) return;
  if (mode === 'time' && !time) {
    ctx.note('no times were recorded');
    ctx.store.move({});
  } else if (mode === 'events') {
    const { from, to } = ctx.span() || { from: 0, to: states };
    ctx.store.jump({ x: { mode, from, to } });
  } else {
    const got = await ctx.call('range', { a: x.from, b: Math.min(x.to, states - 1),
      by: 'category' });
    if (got && got.times) ctx.store.jump({ x: { mode, from: got.times[0], to: got.times[1] } });
  }
}

/** `found`: { id } of an allocation; it is pinned as well. */
async function zoomToLife(ctx, found) {
  if (!found || found.id < 0 || found.id === null) return;
  const d = await ctx.call('row', { id: found.id, state: ctx.store.get().at });
  if (!d) return;
  const end = d.end === null ? ctx.now.cover.states : d.end;
  const room = Math.max(2, (end - d.born) * 0.05);
  ctx.store.jump({ x: { mode: 'events', from: d.born - room, to: end + room },
    sel: { kind: 'alloc', id: d.id } });
}

function zoomToSelection(ctx) {
  const { range, sel } = ctx.store.get();
  if (range) ctx.store.jump({ x: { mode: 'events', from: range.a, to: range.b + 1 } });
  else if (sel) zoomToLife(ctx, sel);
  else ctx.note('nothing is selected');
}

function showOom(ctx, oom) {
  goTo(ctx, oom.state);
}

/** To where a finding of the report can be seen. */
function follow(ctx, finding) {
  const views = viewsOf(ctx.now.cover, ctx.head());
  const place = placeOf(finding, (id) => views.some((view) => view.id === id),
    ctx.now.cover.peak?.state);
  if (place.at !== undefined) {
    place.at = heldAt(ctx, place.at);
    place.x = revealed(ctx.store.get().x, place.at, ctx.store.limits());
  }
  ctx.store.jump(place);
}

/** Methods of the context. */
export const travel = { setCursor, goTo, wholeX, setAxis, zoomToLife, zoomToSelection, showOom,
  follow };
