// export.js - saves what is on screen as files.
import { button, byId, el, fill } from '../draw/dom.js';
import { baseName } from './header.js';
import { font } from '../draw/draw.js';
import { printPage } from './print.js';
import { shown } from '../draw/text.js';
import { createSvg } from '../draw/svg.js';
import { toCsv, toJson } from './rows.js';

/** A file name made of a recording's name and what is saved. */
export function fileName(recording, what, kind) {
  const base = baseName(recording).replace(/\.(pickle|pkl|json|gz|zst)$/i, '').replace(/[^\w.-]+/g,
    '_');
  return `${base.slice(0, 80) || 'recording'}-${what}.${kind}`;
}

function save(blob, name) {
  const url = URL.createObjectURL(blob);
  const anchor = el('a', { href: url, download: name });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** A drawing on a canvas, `times` as large. */
function canvasOf({ width, height, draw }, times, ground) {
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(width * times);
  canvas.height = Math.round(height * times);
  const g = canvas.getContext('2d');
  g.fillStyle = ground;
  g.fillRect(0, 0, canvas.width, canvas.height);
  g.scale(times, times);
  g.font = font;
  draw(g);
  return canvas;
}

function svgOf({ width, height, draw }, title, ground) {
  const ruler = document.createElement('canvas').getContext('2d');
  ruler.font = font;
  const g = createSvg(width, height, (text) => ruler.measureText(text).width);
  draw(g);
  return g.finish(title, ground);
}

/** What can be saved as a picture: { id, name, drawing }, the open view first. */
function picturesOf(ctx) {
  const view = ctx.current();
  const of = view && (view.drawing || (view.plot && view.plot.drawing));
  return [of && { id: view.id, name: 'Picture of the view', drawing: of },
    { id: 'lines', name: 'Lines of the overview', drawing: ctx.parts.overview.drawing }]
    .filter(Boolean);
}

/** `times`: of a PNG; 0 is SVG. */
async function savePicture(ctx, { id, drawing }, times) {
  const plot = times > 1 && ctx.plot();
  if (plot) await plot.sharpen(times);
  const made = drawing();
  if (plot) plot.refresh();
  const { ground } = ctx.palette();
  if (!made) ctx.note('the picture is still being made');
  else if (times === 0) {
    const title = `vramscope: ${id} of ${ctx.fileName()}`;
    save(new Blob([svgOf(made, shown(title), ground)], { type: 'image/svg+xml' }),
      fileName(ctx.fileName(), id, 'svg'));
  } else {
    canvasOf(made, times, ground).toBlob((blob) => save(blob, fileName(ctx.fileName(), id, 'png')),
      'image/png');
  }
}

function saveRows(ctx, one, kind) {
  const rows = one.table.rows();
  const text = kind === 'csv' ? toCsv(one.table.columns, rows) : toJson(one.table.columns, rows);
  save(new Blob([text], { type: kind === 'csv' ? 'text/csv' : 'application/json' }),
    fileName(ctx.fileName(), one.name, kind));
}

/** The tables that are on screen, each with a name for its file. */
function tablesOf(ctx) {
  const { who, range } = ctx.parts;
  const view = ctx.current();
  return [{ name: 'who', table: who.table }, { name: 'range', table: range.table() },
    { name: view && view.id, table: view && view.table && view.table() }]
    .filter((one) => one.table);
}

export function openExport(ctx) {
  const dialog = byId('export');
  const picture = (name, one, times) =>
    button(name, () => savePicture(ctx, one, times).catch(ctx.failed));
  fill(dialog, picturesOf(ctx).map((one) => [el('h2', { text: one.name }),
    el('div', { class: 'buttons' }, picture('PNG', one, 1), picture('PNG, 2 \u00d7', one, 2),
      picture('SVG', one, 0))]),
    tablesOf(ctx).map((one) => [el('h2', { text: 'Rows: ' + one.table.caption() }),
      el('div', { class: 'buttons' }, button('CSV', () => saveRows(ctx, one, 'csv')),
        button('JSON', () => saveRows(ctx, one, 'json')))]),
    el('div', { class: 'buttons' }, button('print', () => {
      dialog.close();
      printPage(ctx);
    }), button('close', () => dialog.close())));
  dialog.showModal();
}
