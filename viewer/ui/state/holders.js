// holders.js - asks who holds the memory: at the cursor to list them, at the peak to colour them.
import { slotsOf } from '../draw/colours.js';

/** A grouping as the engine knows it: time of birth is one of colours only. */
export function plainBy(by) {
  return by === 'birth' ? 'category' : by;
}

function askHolders(ctx) {
  const { now } = ctx;
  const { at, by } = ctx.store.get();
  const mine = ++now.holdersAsked;
  ctx.call('live', { state: at, by: plainBy(by) }).then((live) => {
    if (!live || mine !== now.holdersAsked) return;
    now.live = live;
    for (const row of live.rows) now.names.set(row.key, row.name);
    drawHolders(ctx);
    ctx.parts.who.update(live);
    ctx.drawStatus();
    ctx.speak();
  }, ctx.failed);
}

/** The legend of the open view, from what is known. */
function drawHolders(ctx) {
  const { live, view } = ctx.now;
  if (live && view && view.live) view.live(live);
}

/** Colours by the order at the peak, so that they stay when the cursor moves. */
async function askSlots(ctx) {
  const { now } = ctx;
  const { file, dev, by } = ctx.store.get();
  const key = [file, dev, by].join();
  if (key === now.slotsKey || !now.cover.peak) return;
  now.slotsKey = key;
  const kind = plainBy(by);
  const live = await ctx.call('live', { state: now.cover.peak.state, by: kind, all: true });
  if (!live || key !== now.slotsKey) return;
  const names = live.names || [];
  now.slots = slotsOf(kind, kind === 'category' && live.names ? names : live.rows);
  now.names = new Map([...live.rows, ...names].map((row) => [row.key, row.name]));
  if (now.view && now.view.redraw) now.view.redraw();
  askHolders(ctx);
}

function forgetHolders(ctx) {
  ctx.now.live = null;
  ctx.now.slotsKey = '';
}

/** Methods of the context. */
export const holders = { askHolders, drawHolders, askSlots, forgetHolders };
