// leaks.js - what stays from step to step, as `vramscope leaks` lists it, and what each step left.
import { bytes, count, delta } from '../../core/model/human.js';
import { button, el, fill } from '../draw/dom.js';
import { bytesColumn, createTable } from '../draw/table.js';
import { groupText, words } from '../draw/text.js';
import { derived } from '../state/derived.js';
import { findingsOf } from '../state/report.js';
import { isPart } from '../state/span.js';
import { lineTerm } from '../state/terms.js';

// So many bars can be told apart; the head has no more of them.
const barsMost = 24;

/** One bar per step, as high as what there is of it. */
function bars(list, label, palette) {
  const canvas = el('canvas', { class: 'bars', role: 'img',
    'aria-label': `${label}: ${list.map((v) => bytes(v)).join(', ')}` });
  const w = 7;
  canvas.width = Math.max(1, list.length) * w;
  canvas.height = 18;
  const g = canvas.getContext('2d');
  const most = Math.max(1, ...list);
  list.forEach((v, i) => {
    const h = v > 0 ? Math.max(2, v / most * 18) : 1;
    g.fillStyle = v > 0 ? palette.grew : palette.hatch;
    g.fillRect(i * w, 18 - h, w - 2, h);
  });
  return canvas;
}

/** A column of bars, one for each member of a list, of which the last ones are shown. */
function barsColumn(id, label, look) {
  return { id, name: label, text: () => '', value: (row) => row[id].join(' '), fixed: true,
    cell: (row) => bars(row[id].slice(-barsMost), label, look.palette()) };
}

/** Says over the bars of a table that they are not all there are. */
function nameBars({ columns }, id, all) {
  const column = columns.find((one) => one.id === id);
  const [label] = column.name.split(': the last');
  column.name = all > barsMost ? `${label}: the last ${barsMost} of ${count(all)}` : label;
}

/** What the report says of leaks and suspects at sites. */
export function leaksOf(findings) {
  return findings.filter(({ id, evidence }) => (id === 'leak' || id === 'suspect') &&
    evidence?.culprit);
}

/** "+16 MiB", "+32 MiB in one of 2 steps" */
function rate({ slope_bytes: slope, every_steps: every }) {
  if (slope === null) return '-';
  return every > 1 ? `${delta(slope * every)} in one of ${every} steps` : delta(slope);
}

const partly = 'This page holds only some of the events, so it does not know what each step left ' +
  'alive at the end. The list is of all of the recording.';
const tooFew = 'Fewer than two steps were found, so nothing can be said about growth.';

/** `moreOf(row)`: what tells it from others of its line, which is not cut. */
function nameColumn(textOf, moreOf = () => '') {
  return { id: 'line', name: 'line', name_: true, value: (row) => textOf(row) + moreOf(row),
    cell: (row) => el('span', { class: 'parted', title: textOf(row) + moreOf(row) },
      el('span', { text: textOf(row) }), el('span', { text: moreOf(row) })) };
}

function showColumn(store) {
  return { id: 'show', name: '', fixed: true, value: () => null, text: () => '',
    cell: ({ line }) => button('show', () => store.jump({ view: 'stack', by: 'line',
      query: lineTerm(line), only: false })) };
}

/** The columns of `vramscope leaks`, and what was there between the steps. */
function listedColumns(store, look) {
  return [
    nameColumn(({ line }) => groupText('site', line), ({ more }) => (more ? ` (${more})` : '')),
    { id: 'class', name: 'class', text: ({ class: is, kind }) =>
      words(is + (kind ? ` (${kind})` : '')) },
    { id: 'slope_bytes', name: 'per step', number: true, unit: 'bytes', text: rate },
    bytesColumn('bytes', 'alive at end'),
    { id: 'count', name: 'count', number: true, text: (row) => count(row.count) },
    { id: 'category', name: 'category', text: (row) => words(row.category) },
    barsColumn('between', 'between steps', look), showColumn(store),
  ];
}

function leftColumns(store, look) {
  return [nameColumn(({ line }) => line),
    barsColumn('left', 'alive at the end, by step', look), { id: 'first', name: 'oldest from' },
    bytesColumn('total', 'alive at end'), showColumn(store)];
}

/** What steps left at the lines that are no leak; each with the step that the oldest
 * is from. */
export function leftByStep({ rows, steps }, growing) {
  return rows.filter(({ name }) => !growing.has(name)).map(({ name, bytes: left, total, first }) =>
    ({ line: name, left: Array.from(left), total,
      first: steps[first].name || `step ${steps[first].number}` }));
}

function sumOf(rows, id) {
  return rows.length ? { label: 'sum', [id]: rows.reduce((n, row) => n + row[id], 0) } : null;
}

export function createLeaks(host, { store, recording, look, newAsker, showFlame }) {
  const lead = el('div', { class: 'bar' });
  const asFlame = button('as flame graph', () => showFlame('leaks'));
  const listed = el('div', { class: 'pane padded' });
  const summary = el('summary');
  const left = el('details', { class: 'padded tall', open: true }, summary);
  host.append(lead, listed, left);
  const table = createTable(listed, listedColumns(store, look), {
    caption: 'What stays from step to step' });
  const note = el('div', { class: 'note' });
  listed.append(el('div', { class: 'bar' }, note));
  const others = createTable(left, leftColumns(store, look), {
    caption: 'Born in a step and alive at the end', sort: { id: 'total', descending: true } });
  const asker = newAsker();
  let last = null;

  /** The list of the command, and its words. */
  function list(told, part) {
    const { none, rows = [], legend, stable, left_out: out } = told ?? {};
    listed.hidden = rows.length === 0;
    if (told) nameBars(table, 'between', told.moments);
    table.set(rows, sumOf(rows, 'bytes'));
    fill(note, [legend, stable, out && `${count(out)} more rows: vramscope leaks FILE --rows ` +
      (rows.length + out)].filter(Boolean).join('. '));
    const flame = told && !none && recording.cover().has.stacks;
    fill(lead, part ? partly : !told ? tooFew : flame ? asFlame : '',
      none ? [el('b', { text: 'leak' }), ' ' + none] : '');
    lead.hidden = !lead.textContent;
  }

  function show(got) {
    last = got;
    const state = store.get();
    // Who is alive at the end is not among the events held.
    const part = isPart(recording.cover());
    list(recording.head.files[state.file].devices[state.dev].leaks, part);
    const growing = new Set(leaksOf(findingsOf(recording.head, state))
      .map(({ evidence }) => evidence.culprit));
    const rows = part ? [] : leftByStep(got, growing);
    left.hidden = rows.length === 0;
    nameBars(others, 'left', got.steps.length);
    others.set(rows, sumOf(rows, 'total'));
    fill(summary, `born in a step and alive at the end, no leak (${rows.length})`);
  }

  const update = derived(() => [store.get().file, store.get().dev],
    () => asker.ask('leaks', { by: 'line' }, show));
  return { update, redraw: () => { if (last) show(last); }, forget: update.forget,
    table: () => table };
}
