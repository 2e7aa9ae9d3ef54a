// diff.js - two devices, files or moments side by side: a signed table that sums to the difference.
import { bytes, count, delta } from '../core/human.js';
import { button, choice, el, fill } from './dom.js';
import { line } from './draw.js';
import { nameOf } from './header.js';
import { bytesColumn, createTable, deltaColumn, toneOf } from './table.js';
import { eventName, shortened, shown, words } from './text.js';

const mostDrawn = 60;
const moments = [['peak', 'its peak'], ['end', 'its end'], ['cursor', 'the cursor']];

/** Every device of every file as [key, name]; key is `file.dev`. */
export function sidesOf(head) {
  return head.files.flatMap((file, f) => file.devices.map((device, d) =>
    [`${f}.${d}`, `${nameOf(file)} ${device.name}`]));
}

/** The state of a moment in a device; the cursor counts in the open one only. */
export function stateOf(moment, cover, cursor) {
  if (moment === 'end') return Math.max(0, cover.states - 1);
  if (moment === 'cursor') return Math.min(cursor, Math.max(0, cover.states - 1));
  return cover.peak ? cover.peak.state : 0;
}

function statusOf(row) {
  const score = row.score === null || row.score === undefined || row.score >= 1 ? '' :
    ` (score ${row.score.toFixed(2)})`;
  return words(row.status || toneOf(row)) + score;
}

const columns = [
  { id: 'name', name: 'site', name_: true,
    cell: (row) => el('span', { title: shown(row.name), text: row.name }) },
  bytesColumn('a', 'A'),
  bytesColumn('b', 'B'),
  deltaColumn('delta', 'change', (row) =>
    el('span', { class: toneOf(row), text: delta(row.delta) })),
  { id: 'count', name: 'count', number: true, value: (row) => row.bCount - row.aCount,
    text: (row) => `${count(row.aCount)} \u2192 ${count(row.bCount)}` },
  { id: 'status', name: 'how matched', text: statusOf },
];

/** A device as `file.dev` and a moment of it as { file, dev, state }. */
async function sideOf(ctx, key, moment) {
  const [file, dev] = key.split('.').map(Number);
  const cover = await ctx.call('cover', { file, dev, wait: true });
  return { file, dev, state: stateOf(moment, cover, ctx.store.get().at) };
}

/** Which sites the writer found to be one, or null. */
function pairsOf(head, a, b) {
  const found = (head.pairs || []).find((one) => one.a === `${a.file}.${a.dev}` &&
    one.b === `${b.file}.${b.dev}`);
  return found ? found.pairs : null;
}

/** The rows and their sum as a picture: names, both sides, and a bar for the change. */
function drawingOf(rows, total, palette) {
  const list = [...rows.slice(0, mostDrawn), { name: rows.length > mostDrawn ?
    `sum of ${count(rows.length)} rows` : 'sum', ...total }];
  const most = Math.max(1, ...list.map((row) => Math.abs(row.delta)));
  return { width: 1000, height: list.length * 20 + 8, draw: (g) => {
    g.textBaseline = 'middle';
    list.forEach((row, i) => {
      const y = 14 + i * 20;
      g.fillStyle = palette.text;
      g.textAlign = 'left';
      g.fillText(shortened(row.name, 50), 8, y);
      g.textAlign = 'right';
      [bytes(row.a), bytes(row.b), delta(row.delta)].forEach((text, k) =>
        g.fillText(text, 480 + k * 100, y));
      g.fillStyle = palette[row.delta > 0 ? 'grew' : 'shrank'];
      const w = Math.abs(row.delta) / most * 140;
      if (row.delta) g.fillRect(row.delta > 0 ? 840 : 840 - w, y - 6, w, 12);
    });
    line(g, 840.5, 4, 840.5, list.length * 20 + 4, palette.control);
  } };
}

export function createDiff(host, ctx) {
  const sides = sidesOf(ctx.head());
  const last = sides.length > 1 ? sides[1][0] : sides[0][0];
  const chosen = { a: sides[0][0], atA: 'peak', b: last, atB: sides.length > 1 ? 'peak' :
    'cursor' };
  const pick = (name, options, key) => choice(name, options, chosen[key], (value) => {
    chosen[key] = value;
    update();
  }).node;
  const net = el('span', { class: 'note' });
  host.append(el('div', { class: 'bar' }, pick('A', sides, 'a'), pick('at', moments, 'atA'),
    pick('B', sides, 'b'), pick('at', moments, 'atB'), button('marks A and B', useMarks), net));
  const body = el('div', { class: 'pane padded whole' });
  host.append(body);
  const table = createTable(body, columns, { caption: 'What differs' });
  let asked = '';
  let wanted = 0;
  let marked = null;
  let sum = null;

  /** The two marks of the open device, when both are set. */
  function useMarks() {
    const { marks, file, dev } = ctx.store.get();
    if (marks.length < 2) {
      ctx.note('set two marks with M first');
      return;
    }
    marked = { file, dev, states: marks };
    update();
    marked = null;
  }

  async function compare(mine, marks) {
    const a = marks ? { file: marks.file, dev: marks.dev, state: marks.states[0] } :
      await sideOf(ctx, chosen.a, chosen.atA);
    const b = marks ? { file: marks.file, dev: marks.dev, state: marks.states[1] } :
      await sideOf(ctx, chosen.b, chosen.atB);
    const got = await ctx.call('diff', { a, b, by: 'site', pairs: pairsOf(ctx.head(), a, b) });
    if (!got || mine !== wanted) return;
    fill(net, `${eventName(a.state)} ${bytes(got.total.a)} \u2192 ${eventName(b.state)} ` +
      `${bytes(got.total.b)}: ${delta(got.total.delta)}`);
    sum = got.total;
    table.set(got.rows, { label: 'sum', ...got.total }, null, 'What differs, by site');
  }

  function update() {
    const { at } = ctx.store.get();
    const moving = chosen.atA === 'cursor' || chosen.atB === 'cursor';
    const key = JSON.stringify([chosen, moving ? at : null, marked]);
    if (key === asked) return;
    asked = key;
    compare(++wanted, marked).catch(ctx.failed);
  }
  return { update, forget: () => { asked = ''; }, table: () => table,
    drawing: () => sum && drawingOf(table.rows(), sum, ctx.palette()) };
}
