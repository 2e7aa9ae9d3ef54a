// pointer.js - how the page answers the pointer over a picture.

/** Shows an allocation in passing: outline, status line, grey details. */
function pass(ctx, id) {
  const { now } = ctx;
  if (id === now.passing) {
    ctx.drawStatus();
    return;
  }
  now.passing = id;
  now.passed = null;
  const plot = ctx.plot();
  if (plot) plot.hover(id);
  if (id === null) {
    passed(ctx, null);
    return;
  }
  ctx.call('row', { id, state: ctx.store.get().at }).then((d) => {
    if (d && now.passing === id) passed(ctx, d);
  }, ctx.failed);
}

function passed(ctx, d) {
  ctx.now.passed = d;
  ctx.parts.details.hover(d);
  ctx.drawStatus();
}

/** What shares the pixel under the pointer, when a pixel is more than the allocation shown. */
async function askPile(ctx, found) {
  const { now } = ctx;
  const row = now.picture.H - 1 - found.row;
  const low = now.picture.y0 + row * found.perPixel;
  const pile = await ctx.call('pile', { state: found.state, low, high: low + found.perPixel,
    by: ctx.store.get().by });
  if (!pile || now.over !== found || pile.count < 2) return;
  now.pile = pile;
  ctx.drawStatus();
}

/** `found`: what `plot.at` says of the point under the pointer, or null. */
function hovered(ctx, plot, found) {
  const id = found && found.id >= 0 ? found.id : null;
  plot.hover(id);
  ctx.now.over = found;
  ctx.now.pile = null;
  if (plot.op === 'groups') {
    ctx.drawStatus();
    return;
  }
  pass(ctx, id);
  if (plot.op === 'raster' && id !== null && !ctx.store.get().only &&
      ctx.cover().ops.includes('pile')) {
    askPile(ctx, found).catch(ctx.failed);
  }
}

/** The cursor goes to the point; an allocation is pinned, a group stacked alone. */
function clicked(ctx, plot, found) {
  if (!found) return;
  const { sel, by } = ctx.store.get();
  const { state: at, id, group } = found;
  if (plot.op !== 'groups') {
    ctx.store.move({ at, sel: id < 0 || (sel && sel.id === id) ? null : { kind: 'alloc', id } });
  } else if (group < 0 || id < 0) ctx.store.move({ at });
  else {
    ctx.store.jump({ at, view: 'stack', query: ctx.termOf(by, ctx.groupName(group)), only: true });
  }
}

function pinPassing(ctx) {
  const { sel } = ctx.store.get();
  const id = ctx.now.passing;
  if (id !== null) ctx.store.move({ sel: sel && sel.id === id ? null : { kind: 'alloc', id } });
}

/** Pins an allocation, and goes to a state where one is given. */
function pin(ctx, id, at) {
  const sel = { kind: 'alloc', id };
  ctx.store.jump(at === undefined ? { sel } : { sel, at });
}

/** What the engine said of the pinned allocation. */
function selected(ctx, d) {
  ctx.now.selected = d;
  const plot = ctx.plot();
  if (plot) plot.update();
}

/** Methods of the context. */
export const pointer = { pass, hovered, clicked, pinPassing, pin, selected };
