// diff.js - two devices, files or moments side by side: a signed table that sums to the difference.
import { bytes, count, delta } from '../../core/model/human.js';
import { pairOf } from '../../core/memory/many.js';
import { button, choice, el, fill, setOptions } from '../draw/dom.js';
import { align, line } from '../draw/draw.js';
import { drawCurve } from '../draw/spark.js';
import { bytesColumn, createTable, deltaColumn, rowHeight, toneOf } from '../draw/table.js';
import { cutTo, eventName, shortened, shown, words } from '../draw/text.js';
import { sidesOf } from '../state/compared.js';
import { derived } from '../state/derived.js';
import { scaleOf } from './many.js';

const mostDrawn = 60;
const twoLines = 38;
const headHeight = 64;
const moments = [['before', 'before its peak'], ['peak', 'its peak'], ['end', 'its end'],
  ['cursor', 'the cursor']];

const oneMoment = 'A and B are one moment, so there is nothing to compare. ';
const another = 'Choose another moment or device for one of them: the cursor is that of the ' +
  'other views, M sets marks A and B there.';
const noOther = 'This file has no other: vramscope view A B compares two.';

const noChange = 'Nothing differs: each line has the same bytes and count on both sides.';

const isSame = (row) => row.a === row.b && row.aCount === row.bCount;

const stageWords = { M1: 'outer frames moved', M2: 'moved line', small: 'too small to match' };

function statusOf(row) {
  const how = row.stage === 'M3' ? `score ${row.score.toFixed(2)}` : stageWords[row.stage];
  return words(row.status) + (how && (row.stage !== 'M3' || row.status === 'moved') ? ` (${how})` :
    '');
}

/** Rows told apart by how they were matched: key, words, test. */
const kinds = [
  ['all', 'all rows', () => true],
  ['a', 'only in A', (row) => row.aCount > 0 && row.bCount === 0],
  ['b', 'only in B', (row) => row.bCount > 0 && row.aCount === 0],
  ['line', 'matched by moved line', (row) => row.stage === 'M2' && row.aCount > 0 &&
    row.bCount > 0],
  ['like', 'matched by likeness', (row) => row.status === 'moved'],
];

const columns = [
  { id: 'name', name: 'line', name_: true,
    cell: (row) => el('span', { class: 'lines', text: row.name, title: row.aName === row.name ?
      shown(row.name) : `${shown(row.name)}, in A ${shown(row.aName)}` }) },
  bytesColumn('a', 'A'),
  bytesColumn('b', 'B'),
  deltaColumn('delta', 'change', (row) =>
    el('span', { class: toneOf(row), text: delta(row.delta) })),
  { id: 'count', name: 'count', number: true, value: (row) => row.bCount - row.aCount,
    text: (row) => `${count(row.aCount)} \u2192 ${count(row.bCount)}` },
  { id: 'status', name: 'how matched', text: statusOf },
];

/** Both curves side by side, on one scale, each with its moment. */
async function drawCurves(node, { head, covers: asked, palette }, ends) {
  const covers = await asked();
  if (!covers) return;
  const top = scaleOf(covers, ends, ['requested', 'reserved']);
  const width = Math.max(120, (node.parentNode.clientWidth - 40) / 2);
  fill(node, ends.map(({ file, dev, state }, i) => {
    const canvas = el('canvas', { role: 'img', 'aria-label': `${'AB'[i]}, on one scale` });
    drawCurve(canvas, width, 48, covers[file][dev], top, palette());
    const { states } = head.files[file].devices[dev];
    const g = canvas.getContext('2d');
    g.fillStyle = palette().focus;
    g.fillRect(Math.min(width - 2, Math.round((state + 0.5) / states * width)), 0, 2, 48);
    return canvas;
  }));
}

/** Shows the rows of one kind and how many there are of each; gives their sum. */
function drawRows(table, select, { rows: all }, kind) {
  setOptions(select, kinds.map(([key, name, test]) =>
    [key, `${name} (${count(all.filter(test).length)})`]), kind);
  const rows = all.filter(kinds.find(([key]) => key === kind)[2]);
  const total = { label: kind === 'all' ? `${count(rows.length)} rows, sum` :
    `${count(rows.length)} of ${count(all.length)} rows, their sum` };
  for (const key of ['a', 'b', 'delta']) total[key] = rows.reduce((n, row) => n + row[key], 0);
  table.set(rows, total, null, 'What differs, by line');
  return total;
}

/** What is compared (while marks are, no list box says it), and what is said of it; `act`: { sides,
 * moments, marks, kind, flame }. */
function createBar(host, { head, chosen }, act) {
  const pick = (name, options, key, then) => choice(name, options, chosen[key], (value) => {
    chosen[key] = value;
    chosen.marks = null;
    then();
  });
  const sides = sidesOf(head);
  const [a, b] = [pick('A', sides, 'a', act.sides), pick('B', sides, 'b', act.sides)];
  const [atA, atB] = [pick('at', moments, 'atA', act.moments), pick('at', moments, 'atB',
    act.moments)];
  const bar = { a, b, sides, chosen: [a, atA, b, atB],
    kind: choice('rows', [], 'all', act.kind), net: el('span', { class: 'note' }),
    marks: button('', act.marks), flame: button('as flame graph', act.flame),
    curves: el('div', { class: 'bar' }), how: el('p', { class: 'bar muted' }) };
  host.append(el('div', { class: 'bar' }, bar.chosen.map((one) => one.node), bar.marks, bar.flame,
    bar.kind.node, bar.net), bar.curves, bar.how);
  return bar;
}

/** What stands above the columns of a picture: both sides by name, then what each column is. */
function drawHeads(g, names, palette) {
  g.fillStyle = palette.text;
  align(g, 'left', 'middle');
  names.forEach((name, i) => g.fillText(`${'AB'[i]}: ${shortened(name, 120)}`, 8, 14 + i * 20));
  g.fillStyle = palette.muted;
  g.fillText('line', 8, 54);
  g.textAlign = 'right';
  ['A', 'B', 'change'].forEach((name, k) => g.fillText(name, 480 + k * 100, 54));
  line(g, 8, 64.5, 980, 64.5, palette.line);
}

/** The rows and their sum as a picture: what is compared, names, both sides, and a bar for the
 * change. */
function drawingOf(rows, total, names, palette) {
  const list = [...rows.slice(0, mostDrawn), { name: rows.length > mostDrawn ?
    `sum of ${count(rows.length)} rows` : 'sum', ...total }];
  const most = Math.max(1, ...list.map((row) => Math.abs(row.delta)));
  return { width: 1000, height: headHeight + list.length * 20 + 8, draw: (g) => {
    drawHeads(g, names, palette);
    list.forEach((row, i) => {
      const y = headHeight + 14 + i * 20;
      g.fillStyle = palette.text;
      g.textAlign = 'left';
      g.fillText(cutTo(g, row.name, 395), 8, y);
      g.textAlign = 'right';
      [bytes(row.a), bytes(row.b), delta(row.delta)].forEach((text, k) =>
        g.fillText(text, 480 + k * 100, y));
      g.fillStyle = palette[row.delta > 0 ? 'grew' : 'shrank'];
      const w = Math.abs(row.delta) / most * 140;
      if (row.delta) g.fillRect(row.delta > 0 ? 840 : 840 - w, y - 6, w, 12);
    });
    line(g, 840.5, headHeight + 4, 840.5, headHeight + list.length * 20 + 4, palette.control);
  } };
}

/** `rank2.pickle cuda:0 at the peak` */
function placeText(head, { file, dev, words: when }) {
  const [, name] = sidesOf(head).find(([key]) => key === `${file}.${dev}`);
  return `${shown(name)} at ${when}`;
}

/** The same with its event, for a picture, which has no cursor. */
function endText(head, end) {
  return `${placeText(head, end)}, ${eventName(end.state)}`;
}

/** What is compared, in words. */
function comparedText(head, [a, b]) {
  if (a.own && b.own) return `From ${a.words} to ${b.words}.`;
  return a.file === b.file && a.dev === b.dev ? `From ${a.words} (A) to ${b.words} (B).` :
    `${placeText(head, a)} (A) beside ${placeText(head, b)} (B).`;
}

/** `event 3 18.00 GiB → event 9 22.20 GiB: +4.20 GiB` */
function netText(total, a, b) {
  return `${eventName(a.state)} ${bytes(total.a)} \u2192 ${eventName(b.state)} ` +
    `${bytes(total.b)}: ${delta(total.delta)}`;
}

/** What is to be said above the rows; `matched` as C matches them. */
function howOf(rows, matched, compared) {
  return [compared, rows.every(isSame) ? noChange : '', matched ? '' :
    'Matched by name alone: only pairs with the first device are matched by their stacks.']
    .filter(Boolean).join(' ');
}

function turnMarks(compared, note) {
  const of = compared.of();
  if (of.marks) of.marks = null;
  else if (!compared.useMarks()) note('set two marks with M first');
}

/** What the list boxes and buttons show of what is compared. */
function setBar(bar, { a, b, atA, atB, marks }, cover) {
  const device = marks && `${marks.file}.${marks.dev}`;
  setOptions(bar.a.select, bar.sides, device ?? a);
  setOptions(bar.b.select, bar.sides, device ?? b);
  [atA, atB].forEach((at, i) => setOptions(bar.chosen[2 * i + 1].select,
    marks ? [['mark', `mark ${'AB'[i]}`]] : moments, marks ? 'mark' : at));
  fill(bar.marks, marks ? 'leave the marks A and B' : 'marks A and B');
  for (const one of bar.chosen) one.select.disabled = Boolean(marks);
  bar.flame.hidden = !cover.has.stacks;
}

export function createDiff(host, { store, ask, covers, recording, look, compared, status,
  showFlame }) {
  const { head } = recording;
  let wanted = 0;
  let kind = 'all';
  let got = null;
  let sum = null;
  const draw = () => { if (got) sum = drawRows(table, bar.kind.select, got, kind); };
  const bar = createBar(host, { head, chosen: compared.of() }, {
    moments: () => update(),
    kind: (value) => {
      kind = value;
      draw();
    },
    flame: () => showFlame('diff'),
    marks: () => {
      turnMarks(compared, status.note);
      update();
    },
    sides: () => {
      const { a, b } = compared.of();
      store.jump({ sides: `${a}-${b}` });
    } });
  const body = el('div', { class: 'pane padded whole' });
  host.append(body);
  const table = createTable(body, columns, { caption: 'What differs',
    each: () => (matchMedia('(max-width: 700px)').matches ? twoLines : rowHeight) });

  async function compare(serial) {
    const [a, b] = await compared.ends();
    const one = a.file === b.file && a.dev === b.dev;
    const same = one && a.state === b.state;
    const pair = one ? null : pairOf(head, a, b);
    const answer = await ask('diff', { file: a.file, dev: a.dev, a, b, by: 'line', pair });
    if (!answer || serial !== wanted) return;
    got = { ...answer, names: [a, b].map((end) => endText(head, end)) };
    for (const node of [body, bar.curves, bar.kind.node, bar.net]) node.hidden = same;
    fill(bar.net, netText(got.total, a, b));
    bar.how.classList.toggle('muted', !same);
    fill(bar.how, same ? oneMoment + (bar.sides.length > 1 || recording.cover().states > 2 ?
      another : noOther) : howOf(got.rows, one || pair,
      comparedText(head, [a, b])));
    draw();
    await drawCurves(bar.curves, { head, covers, palette: look.palette }, [a, b]);
  }

  const difference = derived(() => [compared.key(), look.palette().dark],
    () => compare(++wanted).catch((error) => {
      difference.forget();
      status.failed(error);
    }));

  function update() {
    setBar(bar, compared.of(), recording.cover());
    difference();
  }
  return { update, forget: difference.forget, table: () => table,
    drawing: () => sum && drawingOf(table.rows(), sum, got.names, look.palette()) };
}
