// export.js - the picture and the rows that are on screen, saved as files.
import { button, byId, el, fill } from './dom.js';
import { baseName } from './header.js';
import { toCsv, toJson } from './table.js';

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

/** The layers of the present view on one canvas, `times` as large. */
function composed(canvases, times, ground) {
  const [first] = canvases;
  const canvas = document.createElement('canvas');
  const scale = times / (self.devicePixelRatio || 1);
  canvas.width = Math.round(first.width * scale);
  canvas.height = Math.round(first.height * scale);
  const g = canvas.getContext('2d');
  g.fillStyle = ground;
  g.fillRect(0, 0, canvas.width, canvas.height);
  g.imageSmoothingEnabled = false;
  for (const layer of canvases) g.drawImage(layer, 0, 0, canvas.width, canvas.height);
  return canvas;
}

function savePicture(ctx, times) {
  const view = ctx.current();
  const layers = view.plot ? [view.plot.canvas, view.plot.over] : view.canvases ? view.canvases() :
    [];
  if (!layers.length) {
    ctx.note('this view has no picture; save its rows');
    return;
  }
  composed(layers, times, ctx.palette().ground).toBlob((blob) =>
    save(blob, fileName(ctx.fileName(), view.id, 'png')), 'image/png');
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
  fill(dialog, el('h2', { text: 'Picture of the view' }),
    el('div', { class: 'buttons' }, button('PNG', () => savePicture(ctx, 1)),
      button('PNG, 2 \u00d7', () => savePicture(ctx, 2))),
    tablesOf(ctx).map((one) => [el('h2', { text: 'Rows: ' + one.table.caption() }),
      el('div', { class: 'buttons' }, button('CSV', () => saveRows(ctx, one, 'csv')),
        button('JSON', () => saveRows(ctx, one, 'json')))]),
    button('close', () => dialog.close()));
  dialog.showModal();
}
