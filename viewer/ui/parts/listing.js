// listing.js - in place of who holds the memory: single allocations, alive at the cursor or found.
import { count, share } from '../../core/model/human.js';
import { button, el } from '../draw/dom.js';
import { bytesColumn, createTable, eventColumn } from '../draw/table.js';
import { momentName, shown, withoutText, words } from '../draw/text.js';
import { derived } from '../state/derived.js';
import { toTabbed } from './rows.js';

const lists = [[null, 'groups'], ['alive', 'allocations'], ['matches', 'matches']];

/** The list that a key shows after `list`: matches where something is looked for. */
export function nextList({ list, query }) {
  const ids = lists.map(([id]) => id).filter((id) => id !== 'matches' || query);
  return ids[(ids.indexOf(list) + 1) % ids.length];
}

const nameOf = (row) => row.tensor || row.line;

function columnsOf(pick) {
  const text = (id, name) => ({ id, name, text: (row) => words(row[id]) });
  return [
    { id: 'line', name: 'line', name_: true,
      cell: (row) => button(shown(nameOf(row)), () => pick(row), { class: 'plain',
        title: shown(row.line), 'aria-label': `${nameOf(row)}, allocation ${row.id}` }) },
    bytesColumn('bytes', 'bytes'),
    { id: 'share', name: 'share', number: true, value: (row) => (row.here ? row.part : null),
      order: (row) => row.bytes, text: (row) => (row.here ? share(row.part) : '-'),
      explain: 'share of the bytes of all allocations alive at the cursor' },
    text('category', 'category'),
    eventColumn('born', 'born'),
    { ...eventColumn('end', 'freed', 'alive at the end'), id: 'freed' },
    { id: 'life', name: 'life', number: true, value: (row) => (row.open ? null : row.life),
      order: (row) => row.life, explain: 'events from its birth until it is freed',
      text: (row) => (row.open ? '\u2265 ' : '') + count(row.life) },
    { id: 'stream', name: 'stream' },
    { id: 'pool', name: 'pool' },
    { id: 'tensor', name: 'tensor', fixed: true },
    { id: 'id', name: 'allocation', number: true },
  ];
}

/** What the list is of, and how much of it there is. */
function captionOf({ of, state, count: n, rows }, { query, without }, cover) {
  const what = of === 'alive' ? `allocations alive at ${momentName(state, cover)}` :
    `allocations that match ${query}`;
  return `${count(n)} ${what}${withoutText(without, ', ')}` +
    (rows.length < n ? `; these are the first ${count(rows.length)}` : '');
}

/** Pins a row, and goes to its birth where it is not alive at the cursor. */
function pick({ store, recording, goTo, pin }, row) {
  if (!row.here) goTo(Math.min(row.born, recording.cover().states - 1));
  pin(row.id);
}

/** A button for each list, and one to copy what is listed; they keep the focus. */
function createBar({ store, place }, tableOf) {
  const buttons = lists.map(([id, name]) => button(name, () => store.jump({ list: id })));
  const copy = button('copy', () => {
    const { columns, rows } = tableOf();
    place.copy(`${count(rows().length)} rows`, toTabbed(columns, rows()));
  }, { class: 'last', title: 'copy the rows, with tabs' });
  return { node: el('div', { class: 'buttons lists', role: 'group', 'aria-label': 'list' },
    buttons, copy),
  draw: (list, query) => {
    buttons.forEach((one, i) => one.setAttribute('aria-pressed', String(lists[i][0] === list)));
    buttons[lists.length - 1].hidden = !query;
    copy.hidden = !list;
  } };
}

function show({ store, recording, table }, got) {
  const state = store.get();
  if (!state.list) return;
  const rows = got.error ? [] : got.rows.map((row) => ({ ...row,
    here: row.born <= got.state && (row.end === null || row.end > got.state) }));
  table.set(rows, { label: 'all', bytes: got.error ? 0 : got.bytes }, state.sel?.id,
    got.error ? `The search cannot be read: ${got.error}` : captionOf(got, state,
      recording.cover()));
}

/** The list that is shown; of matches there is none without a search. */
function shownList({ list, query }) {
  return list === 'matches' && !query ? null : list;
}

/** What the engine is asked for the rows. */
function argsOf({ store, sort }) {
  const { at, query, without } = store.get();
  return { of: shownList(store.get()), state: at, text: query, sort, without };
}

function update(listing) {
  const { store, host, bar, table, rows } = listing;
  const { query, sel } = store.get();
  const list = shownList(store.get());
  host.classList.toggle('listing', list !== null);
  bar.draw(list, query);
  if (!list) {
    rows.forget();
    return;
  }
  rows();
  if (table.rows().length) table.choose(sel?.id ?? null);
}

/** Above and beside the rows of `host`, which it then hides. */
export function createListing(host, { store, newAsker, recording, place, goTo, pin }) {
  const bar = createBar({ store, place }, () => listing.table);
  host.querySelector('.rows').before(bar.node);
  const listing = { store, asker: newAsker(), recording, place, goTo, pin, host, bar,
    sort: { id: 'bytes', descending: true } };
  listing.rows = derived(() => [store.get().file, store.get().dev, argsOf(listing)],
    () => listing.asker.ask('list', argsOf(listing), (got) => show(listing, got)));
  listing.table = createTable(host, columnsOf((row) => pick(listing, row)), {
    caption: 'Single allocations', sort: listing.sort, key: (row) => row.id,
    pick: (row) => pick(listing, row), sorted: ({ id, descending }) => {
      // Of one state, shares are in the order of bytes.
      listing.sort = { id: id === 'freed' ? 'end' : id === 'share' ? 'bytes' : id, descending };
      update(listing);
    } });
  listing.table.node.classList.add('allocations');
  return { bar: bar.node, update: () => update(listing),
    name: () => (store.get().list === 'alive' ? 'allocations' : 'matches'),
    table: () => (host.classList.contains('listing') ? listing.table : null) };
}

/** `show the 12 matches`, beside what the search says. */
export function matchesButton(store, n) {
  return n > 0 && button(`show the ${count(n)} match${n === 1 ? '' : 'es'}`,
    () => store.jump({ list: 'matches' }), { class: 'link' });
}
