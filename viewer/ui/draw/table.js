// table.js - a sortable table, of whose rows only those in sight are made, above a total.
import { bytes, delta } from '../../core/model/human.js';
import { button, el, fill, isPrinting, perFrame } from './dom.js';
import { eventName } from './text.js';

export const rowHeight = 26;
const spare = 12;
const onPaper = 40;

/** A column of bytes by the name of a member; `sum` says whether the total row has it. */
export function bytesColumn(id, name, sum = true) {
  return { id, name, number: true, unit: 'bytes',
    text: (row) => bytes(row[id]), sum: sum ? (total) => bytes(total[id]) : null };
}

/** A column of events by the state that each leads to; `none` stands for what has no state. */
export function eventColumn(id, name, none = '-') {
  return { id, name, value: (row) => (row[id] > 0 ? row[id] - 1 : null), order: (row) => row[id],
    text: (row) => (row[id] > 0 ? eventName(row[id]) : row[id] === 0 ? 'before recording' :
      none) };
}

/** A column of signed bytes, ordered by how much they are: what did not change is last. */
export function deltaColumn(id, name, cell) {
  return { ...bytesColumn(id, name), cell, text: (row) => delta(row[id]),
    sum: (total) => delta(total[id]), order: (row) => Math.abs(row[id]) };
}

/** Whether a row of a difference grew or shrank. */
export function toneOf(row) {
  return row.delta > 0 ? 'grew' : row.delta < 0 ? 'shrank' : 'same';
}

/** Rows in the order of a column: numbers by size, text by code units, unknown last. */
export function sortRows(rows, column, descending) {
  const value = column.order || column.value;
  const sign = descending ? -1 : 1;
  return rows.map((row, i) => ({ row, i, v: value(row) })).sort((a, b) => {
    const none = (a.v === null || a.v === undefined) - (b.v === null || b.v === undefined);
    if (none !== 0) return none;
    if (a.v < b.v) return -sign;
    if (a.v > b.v) return sign;
    return a.i - b.i;
  }).map((one) => one.row);
}

/** Which rows [from, to) a box shows, with a few to spare. */
export function visibleRows(scrollTop, height, rows, each = rowHeight) {
  const from = Math.max(0, Math.floor(scrollTop / each) - spare);
  const to = Math.min(rows, Math.ceil((scrollTop + height) / each) + spare);
  return [Math.min(from, rows), to];
}

function headCell(column, sort, onSort) {
  const isSorted = sort && sort.id === column.id;
  const name = column.name + (isSorted ? (sort.descending ? ' \u25be' : ' \u25b4') : '');
  return el('th', { scope: 'col', class: column.number ? 'number' : null,
    'aria-sort': isSorted ? (sort.descending ? 'descending' : 'ascending') : null,
      title: column.explain },
  column.value && !column.fixed ? button(name, () => onSort(column)) : name);
}

function bodyCell(column, row) {
  const content = column.cell ? column.cell(row) : column.text(row);
  return el('td', { class: column.number ? 'number' : column.name_ ? 'name' : null }, content);
}

/** What of a box is in sight: from where in it on, and how high, whichever of it and of the boxes
 * around it scrolls. */
function inSight(box) {
  const { top, bottom } = box.getBoundingClientRect();
  let [from, to] = [Math.max(top, 0), Math.min(bottom, innerHeight)];
  for (let around = box.parentElement; around; around = around.parentElement) {
    if (getComputedStyle(around).overflowY === 'visible') continue;
    const clip = around.getBoundingClientRect();
    [from, to] = [Math.max(from, clip.top), Math.min(to, clip.bottom)];
  }
  return [box.scrollTop + Math.max(0, from - top), Math.max(0, to - from) || 400];
}

/** Which of the `length` rows of a box are made; on paper the first ones. */
function madeRows(box, length, each) {
  return isPrinting() ? [0, Math.min(onPaper, length)] : visibleRows(...inSight(box), length, each);
}

/** The `length` rows of a box, `each` so high: those in sight are made by `one(i)`, the others are
 * empty space. */
export function rowsInSight(box, length, columns, one, each = rowHeight) {
  const [from, to] = madeRows(box, length, each);
  return [spacer(from * each, columns), Array.from({ length: to - from }, (_, i) => one(from + i)),
    isPrinting() ? null : spacer((length - to) * each, columns)];
}

/** Stands for rows that are out of sight. */
function spacer(height, columns) {
  const cell = el('td', { colspan: columns });
  cell.style.setProperty('height', height + 'px');
  cell.style.setProperty('padding', '0');
  return height > 0 ? el('tr', { 'aria-hidden': 'true' }, cell) : null;
}

/** What draws the rows of each box anew. */
const drawn = new WeakMap();

let follows = false;

/** Calls `draw` before the next frame when other rows of the box come into sight: it scrolls, what
 * is around it does, or it becomes larger. */
export function followSight(box, draw) {
  const soon = perFrame(draw);
  drawn.set(box, soon);
  box.dataset.follows = '';
  new ResizeObserver(soon).observe(box);
  if (follows) return;
  follows = true;
  document.addEventListener('scroll', ({ target }) => {
    for (const one of [target, ...target.querySelectorAll('[data-follows]')]) {
      if (drawn.has(one) && one.getClientRects().length) drawn.get(one)();
    }
  }, { capture: true, passive: true });
}

/** A column with its defaults: its value is the member of its name, its text the value. */
function completed(column) {
  const { id, value = (row) => row[id] } = column;
  return { value, text: value, ...column };
}

function rowNode(row, columns, { key: keyOf, pick }, chosen) {
  const key = keyOf ? keyOf(row) : null;
  const click = (event) => { if (!event.target.closest('button, a')) pick(row); };
  return el('tr', { 'data-row': '', 'data-key': key, class: row.out ? 'out' : null,
    'aria-selected': key !== null && key === chosen ? 'true' : null,
    on: pick ? { click } : null }, columns.map((column) => bodyCell(column, row)));
}

function totalRow(columns, total) {
  return el('tr', null, columns.map((c, i) => (i === 0 ? el('th', { scope: 'row' }, total.label) :
    el('td', { class: c.number ? 'number' : null }, c.sum ? c.sum(total) : ''))));
}

/** Makes rows again; what has the focus keeps it: the same button of the same row. */
function keepingFocus(body, make) {
  const keysOf = (row) => [...row.querySelectorAll('button, a')];
  const { activeElement: focus } = document;
  const row = body.contains(focus) && focus.closest('tr[data-key]');
  const place = row && keysOf(row).indexOf(focus);
  make();
  const again = row && [...body.rows].find(({ dataset }) => dataset.key === row.dataset.key);
  if (again) keysOf(again)[place]?.focus({ preventScroll: true });
}

/**
 * A table in `host`.  columns: { id, name, number, unit, value(row), text(row), cell(row),
 * sum(total) }, of which id and name must be; what is `folded` stands in the cell of another, and
 * has a column of its own only where rows are saved, where what is `unsaved` has none; options:
 * caption, sort { id, descending }, key(row), pick(row), each(): how high a row is,
 * sorted(sort): who gives the rows gives them in this order.
 */
export function createTable(host, given, options) {
  const every = given.map(completed);
  const columns = every.filter(({ folded }) => !folded);
  const head = el('tr');
  const body = el('tbody');
  const foot = el('tfoot');
  const caption = el('caption');
  const box = el('div', { class: 'rows', tabindex: 0, role: 'group',
    'aria-label': options.caption },
    el('table', null, caption, el('thead', null, head), body, foot));
  const all = { rows: [], order: [], total: null, sort: options.sort || null, chosen: null,
    rowsMade: '' };
  const each = options.each ?? (() => rowHeight);
  const inPlace = () => madeRows(box, all.order.length, each()).join();
  host.append(box);

  function draw() {
    all.rowsMade = inPlace();
    keepingFocus(body, () => fill(body, rowsInSight(box, all.order.length, columns.length,
      (i) => rowNode(all.order[i], columns, options, all.chosen), each())));
  }

  function arrange() {
    const column = all.sort && !options.sorted && columns.find((c) => c.id === all.sort.id);
    all.order = column ? sortRows(all.rows, column, all.sort.descending) : all.rows;
    fill(head, columns.map((c) => headCell(c, all.sort, sortBy)));
    draw();
  }

  function sortBy(column) {
    const again = all.sort && all.sort.id === column.id;
    all.sort = { id: column.id, descending: again ? !all.sort.descending : Boolean(column.number) };
    arrange();
    if (options.sorted) options.sorted(all.sort);
    const place = columns.indexOf(column);
    const target = head.children[place] && head.children[place].querySelector('button');
    if (target) target.focus();
  }

  function set(rows, total, chosen, title) {
    all.rows = rows;
    all.total = total;
    all.chosen = chosen === undefined ? null : chosen;
    fill(caption, title || options.caption);
    fill(foot, total ? totalRow(columns, total) : null);
    arrange();
  }

  /** Another row is the chosen one. */
  function choose(key) {
    if (key === all.chosen) return;
    all.chosen = key;
    draw();
  }

  // What has the focus in a row is lost when the row is made again.
  followSight(box, () => { if (inPlace() !== all.rowsMade) draw(); });
  return { set, draw, choose, node: box, rows: () => all.order,
    columns: every.filter(({ unsaved }) => !unsaved), caption: () => caption.textContent };
}
