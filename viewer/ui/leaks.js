// leaks.js - what grows from step to step: rows of the report with a bar for each step's survivors.
import { bytes, delta } from '../core/human.js';
import { button, el, fill } from './dom.js';
import { createTable } from './table.js';

/** One bar per step, as high as what is left of it. */
function bars(list, ctx) {
  const canvas = el('canvas', { class: 'bars', role: 'img', 'aria-label': 'alive at the end, by step: ' +
    Array.from(list, (v) => bytes(v)).join(', ') });
  const w = 7;
  canvas.width = Math.max(1, list.length) * w;
  canvas.height = 18;
  const g = canvas.getContext('2d');
  const most = list.reduce((a, v) => Math.max(a, v), 1);
  list.forEach((v, i) => {
    const h = v > 0 ? Math.max(2, v / most * 18) : 1;
    g.fillStyle = v > 0 ? ctx.palette().grew : ctx.palette().hatch;
    g.fillRect(i * w, 18 - h, w - 2, h);
  });
  return canvas;
}

function columnsOf(ctx) {
  return [
    { id: 'name', name: 'site', name_: true, value: (row) => row.name, text: (row) => row.name,
      cell: (row) => el('span', { title: row.name, text: row.name }) },
    { id: 'slope', name: 'per step', number: true, unit: 'bytes', value: (row) => row.slope,
      text: (row) => (row.slope === null ? '-' : delta(row.slope)) },
    { id: 'steps', name: 'steps', value: (row) => row.from,
      text: (row) => (row.from === null ? '-' : `${row.from}\u2013${row.to}`) },
    { id: 'survivors', name: 'alive at the end, by step', cell: (row) => bars(Array.from(row.bytes).slice(-48), ctx),
      text: () => '', value: (row) => Array.from(row.bytes).join(' '), fixed: true },
    { id: 'first', name: 'first seen', value: (row) => row.first, text: (row) => row.first },
    { id: 'total', name: 'so far', number: true, unit: 'bytes', value: (row) => row.total,
      text: (row) => bytes(row.total), sum: (all) => bytes(all.total) },
    { id: 'show', name: '', fixed: true, value: (row) => row.expected, text: () => '',
      cell: (row) => button('show', () => ctx.store.jump({ view: 'stack', query: row.query, only: false })) },
  ];
}

export function createLeaks(host, ctx) {
  const lead = el('p', { class: 'bar' });
  const growing = el('div', { class: 'pane padded' });
  const expected = el('details', { class: 'padded' });
  host.append(lead, growing, expected);
  const table = createTable(growing, columnsOf(ctx), { caption: 'What grows from step to step',
    sort: { id: 'slope', descending: true } });
  let asked = '';

  function show(got) {
    const grows = got.rows.filter((row) => !row.expected);
    const stays = got.rows.filter((row) => row.expected);
    fill(lead, grows.length ? '' : got.steps.length < 2 ? 'Fewer than two steps were found, so nothing can be said about growth.' :
      'Nothing grows from step to step.');
    lead.hidden = grows.length > 0;
    growing.hidden = grows.length === 0;
    table.set(grows, grows.length ? { label: 'sum', total: grows.reduce((n, row) => n + row.total, 0) } : null);
    expected.hidden = stays.length === 0;
    fill(expected, el('summary', { text: `expected to stay (${stays.length})` }),
      el('table', null, el('caption', { text: 'Expected to stay' }), el('tbody', null, stays.map((row) => el('tr', null,
        el('td', { text: row.name }), el('td', { class: 'number', text: bytes(row.total) }),
        el('td', { text: row.expected }))))));
  }

  function update() {
    const { file, dev } = ctx.store.get();
    const key = `${file} ${dev}`;
    if (key === asked) return;
    asked = key;
    ctx.call('leaks', {}).then((got) => { if (got && key === asked) show(got); }, ctx.failed);
  }
  return { update, redraw: () => { asked = ''; update(); }, forget: () => { asked = ''; }, table: () => table };
}
