// export.js - saves what is on screen as files.
import { count, duration } from '../../core/model/human.js';
import { button, byId, el, fill } from '../draw/dom.js';
import { font } from '../draw/draw.js';
import { framed } from '../draw/frame.js';
import { createSvg } from '../draw/svg.js';
import { baseName, groupText, momentName, shown, withoutText } from '../draw/text.js';
import { plainBy } from '../state/holders.js';
import { answerOf } from '../state/report.js';
import { foundOf } from './who.js';
import { toCsv, toJson } from './rows.js';

/** Groups that the legend of a picture names. */
const mostNamed = 10;
/** The pictures whose colours are those of groups, and those that are over time. */
const painted = new Set(['stack', 'groups', 'map', 'state']);
const timed = new Set(['stack', 'groups', 'map', 'lines']);

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
  const g = createSvg(width, height, (text, own) => {
    ruler.font = own || font;
    return ruler.measureText(text).width;
  });
  draw(g);
  return g.finish(title, ground);
}

/** What can be saved as a picture: { id, name, title, drawing }, the open view first. */
function picturesOf({ recording, stage, overview }) {
  const view = stage.current();
  const title = view && recording.views().find(({ id }) => id === view.id)?.title;
  const of = view && (view.drawing || (view.plot && view.plot.drawing));
  return [of && { id: view.id, name: 'Picture of the view', title, drawing: of },
    { id: 'lines', name: 'Lines of the overview', title: 'Overview', drawing: overview.drawing }]
    .filter(Boolean);
}

/** `cuda:0, event 3 to event 90, cursor at event 12`: what of a recording a picture is of. */
function placeText({ store, recording }, id) {
  const { x, at, view } = store.get();
  const cover = recording.cover();
  const ends = id === 'lines' ? [0, cover.states].map((p, i) => momentName(p - i, cover)) :
    x.mode === 'time' ? [duration(x.from), duration(x.to)] :
      [momentName(x.from, cover), momentName(x.to - 1, cover)];
  const moment = `cursor at ${momentName(at, cover)}`;
  return [recording.device().name, timed.has(id === 'lines' ? id : view) && ends.join(' to '),
    moment].filter(Boolean).join(' \u00b7 ');
}

/** The groups of the picture in the order of the table of who holds the memory, the first of them
 * with their bytes at the cursor: of what is drawn, where that is what a search found alone. */
function legendOf({ store, look, who }, id) {
  if (!painted.has(id)) return [];
  const state = store.get();
  const alone = state.query !== '' && state.only;
  const rows = who.table.rows()
    .filter((row) => !(row.out && left.has(id)) && (!alone || row.matched > 0))
    .map((row) => (alone ? { ...row, bytes: row.matched } : row));
  const groups = rows.slice(0, mostNamed).map((row) => ({ bytes: row.bytes,
    name: row.key < 0 ? row.name : groupText(state.by, row.name), found: foundOf(row, state),
    given: row.key < 0 ? null : look.slotOf(row.key) }));
  const others = rows.slice(mostNamed);
  return [state.query && { name: shown(`matches of ${state.query}`), found: alone ? 0 : 1 },
    ...groups, others.length && { name: `${count(others.length)} more`,
      bytes: others.reduce((sum, row) => sum + row.bytes, 0) }].filter(Boolean);
}

/** What stands around a picture: the answer of the report, what it is of, the legend. */
function frameOf(exporting, { id, title }) {
  const { store, recording } = exporting;
  const { by, without } = store.get();
  const answer = answerOf(recording.head, store.get());
  const legend = legendOf(exporting, id);
  return { title: shown(answer?.headline ?? `Memory of ${recording.fileName()}`),
    facts: [shown(recording.fileName()), shown(`${title} \u00b7 ` + placeText(exporting, id)) +
      (legend.length ? ` \u00b7 bytes there, by ${plainBy(by)}` : '') +
      (left.has(id) ? withoutText(without, ' \u00b7 ') : '')], legend };
}

/** `times`: of a PNG; 0 is SVG. */
async function savePicture(exporting, one, times) {
  const { store, recording, look, stage, status } = exporting;
  const { id, drawing } = one;
  const plot = times > 1 && stage.plot();
  if (plot) await plot.sharpen(times);
  const drawn = drawing();
  const picture = drawn && framed(drawn, frameOf(exporting, one),
    { palette: look.palette(), patterns: store.get().patterns });
  if (plot) plot.refresh();
  const { ground } = look.palette();
  const name = recording.fileName();
  if (!picture) status.note('the picture is still being made');
  else if (times === 0) {
    const title = `vramscope: ${id} of ${name}` +
      (left.has(id) ? withoutText(store.get().without, ', ') : '');
    save(new Blob([svgOf(picture, shown(title), ground)], { type: 'image/svg+xml' }),
      fileName(name, lacking(exporting, id), 'svg'));
  } else {
    canvasOf(picture, times, ground).toBlob((blob) => save(blob,
      fileName(name, lacking(exporting, id), 'png')), 'image/png');
  }
}

function saveRows(exporting, one, kind) {
  const { recording } = exporting;
  // What is taken out is named by the file's name.
  const rows = one.table.rows().filter(({ out }) => !out);
  const text = kind === 'csv' ? toCsv(one.table.columns, rows) : toJson(one.table.columns, rows);
  save(new Blob([text], { type: kind === 'csv' ? 'text/csv' : 'application/json' }),
    fileName(recording.fileName(), lacking(exporting, one.name), kind));
}

/** The tables that are on screen, each with a name for its file. */
function tablesOf({ stage, who, range }) {
  const view = stage.current();
  const listed = who.listing.table();
  return [{ name: listed ? who.listing.name() : 'who', table: listed ?? who.table },
    { name: 'range', table: range.table() },
    { name: view && view.id, table: stage.table() }]
    .filter((one) => one.table);
}

function open(exporting) {
  // What is under the pointer is no part of it.
  exporting.atRest();
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
  print, atRest }) {
  const exporting = { store, recording, look, stage, overview, who, range, status, print, atRest };
  return { open: () => open(exporting) };
}
