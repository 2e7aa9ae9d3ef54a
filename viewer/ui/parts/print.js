// print.js - the page on paper: light, with patterns, and with the beginning of each table.
import { byId, fill } from '../draw/dom.js';

/** Prints the page once its picture is as fine as paper; that of the browser's own menu is not. */
export async function printPage(ctx) {
  const plot = ctx.plot();
  if (plot) await plot.sharpen(2).catch(ctx.failed);
  print();
}

/** Before the page is printed, and after it (`on` is false). */
export function setPrinting(ctx, on) {
  const { now, parts } = ctx;
  ctx.flushLink();
  fill(byId('print-link'), location.hash);
  now.printing = on;
  document.documentElement.toggleAttribute('data-printing', on);
  ctx.setTheme();
  ctx.drawHolders();
  parts.overview.redraw();
  if (now.view && now.view.redraw) now.view.redraw();
  const shown = now.view && now.view.table && now.view.table();
  if (!on && ctx.plot()) ctx.plot().refresh();
  for (const table of [parts.who.table, parts.range.table(), shown]) if (table) table.draw();
}
