// export.js - saves what is on screen as files.
import { button, byId, el, fill } from '../draw/dom.js';
import { font } from '../draw/draw.js';
import { createSvg } from '../draw/svg.js';
import { baseName, shown, withoutText } from '../draw/text.js';
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

/** What follows what is taken out. */
const left = new Set(['stack', 'groups', 'flame', 'lines', 'who', 'range']);

/** A word of a file's name, with what it lacks. */
function lacking({ store }, id) {
  return left.has(id) && store.get().without ? `${id}-without` : id;
}

function svgOf({ width, height, draw }, title, ground) {
  const ruler = document.createElement('canvas').getContext('2d');
  ruler.font = font;
  const g = createSvg(width, height, (text) => ruler.measureText(text).width);
  draw(g);
  return g.finish(title, ground);
}

/** What can be saved as a picture: { id, name, drawing }, the open view first. */
function picturesOf({ stage, overview }) {
  const view = stage.current();
  const of = view && (view.drawing || (view.plot && view.plot.drawing));
  return [of && { id: view.id, name: 'Picture of the view', drawing: of },
    { id: 'lines', name: 'Lines of the overview', drawing: overview.drawing }]
    .filter(Boolean);
}

/** `times`: of a PNG; 0 is SVG. */
async function savePicture(exporting, { id, drawing }, times) {
  const { store, recording, look, stage, status } = exporting;
  const plot = times > 1 && stage.plot();
  if (plot) await plot.sharpen(times);
  const made = drawing();
  if (plot) plot.refresh();
  const { ground } = look.palette();
  const name = recording.fileName();
  if (!made) status.note('the picture is still being made');
  else if (times === 0) {
    const title = `vramscope: ${id} of ${name}` +
      (left.has(id) ? withoutText(store.get().without, ', ') : '');
    save(new Blob([svgOf(made, shown(title), ground)], { type: 'image/svg+xml' }),
      fileName(name, lacking(exporting, id), 'svg'));
  } else {
    canvasOf(made, times, ground).toBlob((blob) => save(blob,
      fileName(name, lacking(exporting, id), 'png')), 'image/png');
  }
}

function saveRows(exporting, one, kind) {
  const { recording } = exporting;
  const rows = one.table.rows();
  const text = kind === 'csv' ? toCsv(one.table.columns, rows) : toJson(one.table.columns, rows);
  save(new Blob([text], { type: kind === 'csv' ? 'text/csv' : 'application/json' }),
    fileName(recording.fileName(), lacking(exporting, one.name), kind));
}

/** The tables that are on screen, each with a name for its file. */
function tablesOf({ stage, who, range }) {
  const view = stage.current();
  return [{ name: 'who', table: who.table }, { name: 'range', table: range.table() },
    { name: view && view.id, table: stage.table() }]
    .filter((one) => one.table);
}

function open(exporting) {
  const { status, print } = exporting;
  const dialog = byId('export');
  const picture = (name, one, times) =>
    button(name, () => savePicture(exporting, one, times).catch(status.failed));
  fill(dialog, picturesOf(exporting).map((one) => [el('h2', { text: one.name }),
    el('div', { class: 'buttons' }, picture('PNG', one, 1), picture('PNG, 2 \u00d7', one, 2),
      picture('SVG', one, 0))]),
    tablesOf(exporting).map((one) => [el('h2', { text: 'Rows: ' + one.table.caption() }),
      el('div', { class: 'buttons' }, button('CSV', () => saveRows(exporting, one, 'csv')),
        button('JSON', () => saveRows(exporting, one, 'json')))]),
    el('div', { class: 'buttons' }, button('print', () => {
      dialog.close();
      print();
    }), button('close', () => dialog.close())));
  dialog.showModal();
}

export function createExport({ store, recording, look, stage, overview, who, range, status,
  print }) {
  const exporting = { store, recording, look, stage, overview, who, range, status, print };
  return { open: () => open(exporting) };
}
