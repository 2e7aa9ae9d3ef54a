// print.js - the page on paper: light, with patterns, and with the beginning of each table.
import { byId, fill } from '../draw/dom.js';

/** Prints the page once its picture is as fine as paper; that of the browser's own menu is not. */
async function printPage({ stage, failed }) {
  const plot = stage.plot();
  if (plot) await plot.sharpen(2).catch(failed);
  print();
}

/** Before the page is printed, and after it (`on` is false). */
function set(printing, on) {
  const { place, settings, stage, holders, overview, who, range, card, details } = printing;
  place.flush();
  fill(byId('print-link'), location.hash);
  settings.printing = on;
  card.showAll(on);
  if (on) printing.whyOpen = byId('why').open;
  byId('why').open = on || printing.whyOpen;
  document.documentElement.toggleAttribute('data-printing', on);
  settings.setTheme();
  if (holders.live()) who.update(holders.live());
  overview.redraw();
  stage.redraw();
  details.redraw();
  const shown = stage.table();
  if (!on && stage.plot()) stage.plot().refresh();
  for (const table of [who.table, who.listing.table(), range.table(), shown]) {
    if (table) table.draw();
  }
}

export function createPrinting({ place, settings, stage, holders, overview, who, range, card,
  details, failed }) {
  const printing = { place, settings, stage, holders, overview, who, range, card, details, failed,
    whyOpen: false };
  addEventListener('beforeprint', () => set(printing, true));
  addEventListener('afterprint', () => set(printing, false));
  return { print: () => printPage(printing) };
}
