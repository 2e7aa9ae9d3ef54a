// many.js - all devices: a table of every file's, and the curves of one file's beneath one another.
import { bytes, delta } from '../../core/model/human.js';
import { unitsOf } from '../../core/memory/many.js';
import { button, el, fill, perFrame } from '../draw/dom.js';
import { drawCurve } from '../draw/spark.js';
import { createTable } from '../draw/table.js';
import { cutMiddle, shown, withEvents } from '../draw/text.js';
import { derived } from '../state/derived.js';
import { answerOf } from '../state/report.js';

const sparkWidth = 120;
const sparkHeight = 22;
const unreadMost = 3;
/** Letters that three lines of the narrowest column hold. */
const nameMost = 44;

const standsOut = 'outlier: of at least four ranks with as many parameters, its peak is above ' +
  'the median by more than 5 % of it, and by more than five times the median distance from it. ' +
  'bounds the job: it has the highest peak of all, so that its memory is the limit of the others.';

/** Pixels of a row, of three lines; on a phone of seven, as `.units td` of style.css has them. */
const rowHigh = () => (matchMedia('(max-width: 700px)').matches ? 134 : 62);

const coverOf = (covers, { file, dev }) => (covers ? covers[file][dev] : null);

/** The largest value of some devices: what their curves share as a scale. */
export function scaleOf(covers, units, names = ['requested']) {
  let top = 1;
  for (const unit of units) {
    const cover = coverOf(covers, unit);
    for (const name of cover ? names : []) for (const v of cover[name] || []) if (v > top) top = v;
  }
  return top;
}

function open(store, { file, dev }) {
  store.jump({ file, dev, view: 'stack' });
}

/** What the capacity leaves of the peak; of a device that ran out, of what it would have needed.
 * One that ran out of what would have been enough has none all the same. */
function headroom(row) {
  if (row.cap === null || row.peak === null || row.cut) return null;
  if (!row.ooms) return row.cap - row.peak;
  if (row.short === null || row.capacity === null) return null;
  return row.cap === row.capacity && row.short < 0 ? null : row.cap - row.capacity - row.short;
}

function headroomCell(row) {
  const left = headroom(row);
  if (left === null && row.ooms) {
    return el('span', { class: 'problem', text: 'ran out', title: row.short < 0 ?
      `With another setting of the allocator ${bytes(-row.short)} would be left: its report ` +
      'says with which.' : null });
  }
  return left === null ? '-' : left < 0 ?
    el('span', { class: 'problem', text: `short by ${bytes(-left)}` }) : bytes(left);
}

/** The answer of the report: all of it, as far as the row has room. */
function answerCell({ answer, detail, wrong }) {
  return el('div', { class: 'told', title: `${answer} ${detail}` },
    el('span', { class: wrong ? 'problem' : null, text: answer }), ' ',
    el('span', { class: 'muted', text: detail }));
}

/* `ticked` is a list of keys, the older first. */
function columnsOf(store, ticked, tick, sparkOf) {
  const signed = (n, tone) => el('span', { class: tone }, n === null ? '-' : delta(n));
  return [
    { id: 'tick', name: 'diff', fixed: true, unsaved: true,
      cell: (row) => el('input', { type: 'checkbox', value: row.key,
        checked: ticked().includes(row.key),
        'aria-label': `${row.name} in a diff`, on: { change: () => tick(row.key) } }) },
    { id: 'unit', name: 'unit', name_: true, value: (row) => row.name,
      cell: (row) => button(cutMiddle(row.name, nameMost), () => open(store, row),
        { class: 'link', title: row.note }) },
    { id: 'peak', name: 'peak', number: true, unit: 'bytes', value: (row) => row.peak,
      cell: (row) => [(row.cut ? '\u2265 ' : '') + (row.peak === null ? '-' : bytes(row.peak)),
        el('div', { class: 'muted', text: row.at })] },
    { id: 'at', name: 'at', folded: true },
    { id: 'answer', name: 'what happened', fixed: true, value: (row) => row.answer || null,
      cell: answerCell },
    { id: 'detail', name: 'detail', folded: true, value: (row) => row.detail || null },
    { id: 'oom', name: 'OOM', folded: true, value: (row) => row.ooms },
    { id: 'headroom', name: 'headroom', number: true, unit: 'bytes', value: headroom,
      cell: headroomCell },
    { id: 'curve', name: 'requested', fixed: true, unsaved: true, cell: sparkOf },
    { id: 'over', name: 'vs median', number: true, unit: 'bytes', value: (row) => row.over,
      cell: (row) => signed(row.over, row.over > 0 ? 'grew' : row.over < 0 ? 'shrank' : null) },
    { id: 'verdict', name: 'stands out', fixed: true, explain: standsOut,
      value: (row) => row.verdict || null,
      cell: (row) => el('div', { class: 'told', text: row.verdict,
        title: row.verdict && `${row.verdict}. ${standsOut}` }) },
    { id: 'grade', name: 'trust', value: (row) => row.grade, text: (row) => row.grade ?? '-' },
  ];
}

/* What could not be read, above what could; of many files the first, as the report has all. */
function unreadNodes({ unread = [] }) {
  const left = unread.length - unreadMost;
  return [...unread.slice(0, unreadMost).map(({ file, why }) => `not read: ${file}: ${why}`),
    ...(left > 0 ? [`not read: ${left} more, which the report names`] : [])]
    .map((text) => el('div', { class: 'bar problem', text }));
}

/** View All: a row for each device of each file; two ticks and Enter compare them. */
export function createAll(host, { store, head, look, covers: askCovers, failed, capacityBox }) {
  const units = unitsOf(head).sort((a, b) => Boolean(b.ooms) - Boolean(a.ooms) ||
    (b.peak ?? -1) - (a.peak ?? -1));
  let [ticked, covers] = [[], null];
  const top = () => scaleOf(covers, units);
  const cap = capacityBox();
  const diff = button('diff the two', () => compare());
  host.append(el('div', { class: 'bar' }, cap.node, diff));
  const body = el('div', { class: 'pane padded whole units', on: { keydown: (event) => {
    if (event.key !== 'Enter' || ticked.length < 2 || event.target.matches('button')) return;
    event.stopPropagation();
    compare();
  } } });
  host.append(...unreadNodes(head), body);
  const table = createTable(body, columnsOf(store, () => ticked, (key) => tick(key), (row) => {
    const canvas = el('canvas', { role: 'img', 'aria-label': `requested bytes of ${row.name}` });
    drawCurve(canvas, sparkWidth, sparkHeight, { requested: coverOf(covers, row)?.requested ?? [] },
      top(), look.palette(), row.cut);
    return canvas;
  }), { caption: 'All devices', key: (row) => row.key, each: rowHigh });

  function tick(key) {
    ticked = ticked.includes(key) ? ticked.filter((one) => one !== key) :
      [...ticked, key].slice(-2);
    for (const box of body.querySelectorAll('input')) box.checked = ticked.includes(box.value);
    diff.disabled = ticked.length < 2;
  }

  function compare() {
    const keys = unitsOf(head).map(({ key }) => key).filter((key) => ticked.includes(key));
    store.jump({ view: 'diff', sides: keys.join('-') });
  }

  function draw() {
    const state = store.get();
    const skew = head.ranks && head.ranks.skew_ratio;
    cap.show(state.cap);
    diff.disabled = ticked.length < 2;
    table.set(units.map((unit) => ({ ...unit, cap: state.cap ?? unit.capacity,
      answer: withEvents(answerOf(head, unit)?.headline ?? ''),
      detail: withEvents(answerOf(head, unit)?.detail ?? ''),
      wrong: answerOf(head, unit)?.wrong })), null,
      `${state.file}.${state.dev}`, `${units.length} devices of ${head.files.length} file` +
        `${head.files.length > 1 ? 's' : ''}, curves on one scale to ${bytes(top())}` +
        (skew ? `; the largest peak is ${skew.toFixed(2)} \u00d7 the median` : ''));
  }

  const update = derived(() => {
    const { cap: limit, file, dev } = store.get();
    return [limit, look.palette().dark, file, dev, covers !== null];
  }, draw);
  askCovers().then((got) => {
    covers = got;
    update();
  }, failed);
  return { update, redraw: draw, table: () => table };
}

/** View All devices: the curves of the open file's devices on one scale, never added up. */
export function createDevices(host, { store, head, look, covers: askCovers, failed }) {
  const lead = el('p', { class: 'bar muted' });
  const list = el('div', { class: 'scroll multiples' });
  host.append(lead, list);
  let covers = null;

  function draw() {
    const { file } = store.get();
    const units = unitsOf(head).filter((unit) => unit.file === file);
    const top = scaleOf(covers, units, ['requested', 'reserved']);
    fill(lead, `Each device by itself, from 0 to ${bytes(top)}: in use (filled), reserved (line).`);
    fill(list, units.map((unit) => {
      const canvas = el('canvas', { role: 'img', 'aria-label': shown(unit.name + ', peak ' +
        (unit.peak === null ? '-' : bytes(unit.peak))) });
      canvas.unit = unit;
      return el('div', null, button([head.files[file].devices[unit.dev].name, ' ',
        el('span', { class: 'muted', text: unit.peak === null ? '' : bytes(unit.peak) }),
        unit.ooms ? el('span', { class: 'problem', text: ' \u25bc OOM' }) : null],
      () => open(store, unit)), canvas);
    }));
    const width = Math.max(120, list.clientWidth - 220);
    for (const canvas of list.querySelectorAll('canvas')) {
      const { unit } = canvas;
      drawCurve(canvas, width, 56, coverOf(covers, unit), top, look.palette(), unit.cut);
    }
  }
  const redraw = perFrame(draw);
  addEventListener('resize', redraw);
  askCovers().then((got) => {
    covers = got;
    draw();
  }, failed);
  return { update: redraw, redraw };
}
