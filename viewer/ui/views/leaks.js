// leaks.js - what grows from step to step: rows of the report with a bar for each step's survivors.
import { bytes, delta } from '../../core/model/human.js';
import { button, el, fill } from '../draw/dom.js';
import { bytesColumn, createTable } from '../draw/table.js';
import { words } from '../draw/text.js';
import { derived } from '../state/derived.js';
import { isPart } from '../state/span.js';
import { lineTerm } from '../state/terms.js';
import { findingsOf } from '../state/told.js';

/** One bar per step, as high as what is left of it. */
function bars(list, palette) {
  const canvas = el('canvas', { class: 'bars', role: 'img',
    'aria-label': 'alive at the end, by step: ' +
    Array.from(list, (v) => bytes(v)).join(', ') });
  const w = 7;
  canvas.width = Math.max(1, list.length) * w;
  canvas.height = 18;
  const g = canvas.getContext('2d');
  const most = list.reduce((a, v) => Math.max(a, v), 1);
  list.forEach((v, i) => {
    const h = v > 0 ? Math.max(2, v / most * 18) : 1;
    g.fillStyle = v > 0 ? palette.grew : palette.hatch;
    g.fillRect(i * w, 18 - h, w - 2, h);
  });
  return canvas;
}

/** What the report says of leaks and suspects at sites. */
export function leaksOf(findings) {
  return findings.filter(({ id, evidence }) => (id === 'leak' || id === 'suspect') &&
    evidence?.culprit);
}

/** "+16 MiB", "+32 MiB in one of 2 steps" */
function rate({ slope, every }) {
  if (slope === null) return '-';
  return every > 1 ? `${delta(slope * every)} in one of ${every} steps` : delta(slope);
}

const partly = 'This page holds only some of the events, so it does not know what is alive ' +
  'at the end. The report names what grows; `vramscope leaks FILE` shows all else.';

function columnsOf(store, look) {
  return [
    { id: 'name', name: 'line', name_: true,
      cell: (row) => el('span', { title: row.name, text: row.name }) },
    { id: 'slope', name: 'per step', number: true, unit: 'bytes',
      text: rate },
    { id: 'class', name: 'class', text: (row) => row.class || '-' },
    { id: 'kind', name: 'kind', text: (row) => words(row.kind || '-') },
    { id: 'survivors', name: 'alive at the end, by step', cell: (row) =>
      bars(Array.from(row.bytes).slice(-24), look.palette()), explain: 'of the last 24 steps',
      text: () => '', value: (row) => Array.from(row.bytes).join(' '), fixed: true },
    { id: 'first', name: 'first seen' },
    bytesColumn('total', 'so far'),
    { id: 'show', name: '', fixed: true, value: () => null, text: () => '',
      cell: (row) => button('show', () => store.jump({ view: 'stack', by: 'line',
        query: lineTerm(row.name), only: false })) },
  ];
}

/**
 * Sites with survivors, each with the growth that the report found there, or null.  Growth without
 * a row of its own (its allocations are folded elsewhere) is a row as well.
 */
export function joined(rows, steps, findings) {
  const list = rows.map((row) => ({ ...row, slope: null, every: 1, class: null, kind: null,
    first: steps[row.first] ? steps[row.first].name || `step ${steps[row.first].number}` : '-' }));
  for (const { id, evidence } of leaksOf(findings)) {
    const { culprit, slope_bytes: slope, every_steps: every, kind } = evidence;
    let row = list.find((one) => one.name === culprit && one.slope === null);
    if (!row) {
      row = { name: culprit, bytes: [], total: null, first: '-' };
      list.push(row);
    }
    Object.assign(row, { slope, every, class: id, kind: kind || null });
  }
  return list;
}

export function createLeaks(host, { store, recording, look, newAsker, showFlame }) {
  const lead = el('div', { class: 'bar' });
  const asFlame = button('as flame graph', () => showFlame('leaks'));
  const growing = el('div', { class: 'pane padded' });
  const summary = el('summary');
  const expected = el('details', { class: 'padded tall', open: true }, summary);
  host.append(lead, growing, expected);
  const table = createTable(growing, columnsOf(store, look), {
    caption: 'What grows from step to step', sort: { id: 'slope', descending: true } });
  const others = createTable(expected, columnsOf(store, look)
    .filter((c) => !['slope', 'class', 'kind'].includes(c.id)),
    { caption: 'Born in a step and alive at the end', sort: { id: 'total', descending: true } });
  const asker = newAsker();

  function show(got) {
    // Who is alive at the end is not among the events held.
    const part = isPart(recording.cover());
    const all = joined(part ? [] : got.rows, got.steps, findingsOf(recording.head, store.get()));
    const grows = all.filter((row) => row.slope !== null);
    const stays = all.filter((row) => row.slope === null);
    fill(lead, part ? partly : grows.length ? asFlame : got.steps.length < 2 ?
      'Fewer than two steps were found, so nothing can be said about growth.' :
      'Nothing that matters grows from step to step.');
    lead.hidden = !part && grows.length > 0 && !recording.cover().has.stacks;
    growing.hidden = grows.length === 0;
    table.set(grows, grows.length && !part ? { label: 'sum', total: grows.reduce((n, row) => n +
      (row.total || 0), 0) } : null);
    expected.hidden = stays.length === 0;
    others.set(stays, stays.length ? { label: 'sum',
      total: stays.reduce((n, row) => n + row.total, 0) } : null);
    fill(summary, `born in a step and alive at the end, no leak (${stays.length})`);
  }

  const update = derived(() => [store.get().file, store.get().dev],
    () => asker.ask('leaks', { by: 'line' }, show));
  return { update, redraw: () => { update.forget(); update(); }, forget: update.forget,
    table: () => table };
}
