// panels.js - beside the picture: who holds the memory, which is its legend, and the range.
import { GROUPINGS } from '../../core/memory/live.js';
import { bytes, count, delta, duration, ratio, share } from '../../core/model/human.js';
import { button, choice, el, fill, setOptions } from '../draw/dom.js';
import { paintMatch, paintSwatch } from '../draw/paint.js';
import { bytesColumn, createTable, deltaColumn, eventColumn, rowHeight,
  toneOf } from '../draw/table.js';
import { eventName, groupText, momentName, withoutText, words } from '../draw/text.js';
import { derived } from '../state/derived.js';
import { plainBy } from '../state/holders.js';
import { termOf } from '../state/terms.js';
import { explainButton } from './explain.js';
import { createListing } from './listing.js';

/** The height of a row of Who where it is narrow. */
const twoLines = 38;

const groupings = [...GROUPINGS.map((by) => [by, by]), ['birth', 'time of birth']];

/** The groupings that a recording can be split by, as options of a list box. */
export function groupingsOf(cover) {
  return groupings.filter(([id]) => cover.by.includes(id));
}

export function nextGrouping(cover, by, step) {
  const ids = groupingsOf(cover).map(([id]) => id);
  return ids[(ids.indexOf(by) + step + ids.length) % ids.length];
}

/** Whether the open picture tells matches of the search from the rest. */
export function tellsMatches({ view, query, only }) {
  return query !== '' && (view === 'map' || (view === 'stack' && !only));
}

/** The share of a row that the search of a state finds: 0, a half for some of it, 1; null where
 * matches are not told apart. */
export function foundOf({ bytes: held, matched }, state) {
  return !tellsMatches(state) || matched === undefined ? null :
    matched === held ? 1 : Math.min(0.5, matched);
}

/** The colour of a group, as pictures have it. */
function swatchOf(look, row, state) {
  const swatch = el('canvas', { class: 'swatch', 'aria-hidden': 'true' });
  paintSwatch(swatch, look.slotOf(row.key), look.palette(), state.patterns, foundOf(row, state));
  return swatch;
}

/** The name of a group, which finds its allocations; `source`: the text of a line. */
function groupButton(find, by, group, source = '') {
  return button(groupText(by, group.name), () => find(termOf(by, group), false),
    { class: 'plain', title: [group.name, source].filter(Boolean).join(' \u2013 ') });
}

/** Beneath a name: its share, where that has no column, and what all of it is. */
function kindNode({ part, category }, by) {
  const kind = category && by !== 'category' ? words(category) : '';
  return el('span', { class: 'kind' }, el('i', { text: part < 0 ? '' :
    share(part) + (kind && ' \u00b7 ') }), kind);
}

function whoColumns({ store, recording, look, find, peel }) {
  return [
    { id: 'name', name: 'held by', name_: true,
      cell: (row) => el('div', { class: 'holder' },
        row.key < 0 ? null : swatchOf(look, row, store.get()),
        groupButton(find, store.get().by, row,
          store.get().by === 'line' ? recording.sourceOf(row.name) : ''), meter(row.part),
        kindNode(row, plainBy(store.get().by))) },
    bytesColumn('bytes', 'bytes'),
    { id: 'share', name: 'share', number: true, value: (row) => row.part,
      text: (row) => share(row.part), sum: (total) => share(total.alive ? 1 : -1),
      explain: 'share of the bytes of all allocations alive at the cursor' },
    { id: 'count', name: 'count', number: true,
      text: (row) => count(row.count), sum: (total) => count(total.count) },
    bytesColumn('largest', 'largest', false),
    eventColumn('since', 'since'),
    { id: 'category', name: 'category', folded: true },
    { ...peel.column, unsaved: true },
  ];
}

function meter(part) {
  const node = el('span', { class: 'meter', 'aria-hidden': 'true' });
  node.style.setProperty('width', Math.max(0, Math.min(100, part * 100)) + '%');
  return node;
}

/** Who holds the memory at the cursor; the rows sum to the curve. */
export function createWho(host, { store, newAsker, recording, look, find, peel, place, goTo,
  pin }) {
  const by = choice('', [], '', (value) => store.jump({ by: value }));
  by.select.setAttribute('aria-label', 'by');
  const found = el('p', { class: 'matches', hidden: true }, el('canvas', { class: 'swatch' }),
    'what the search found; the rest is faded');
  const wide = button('\u2922', () => store.move({ wide: !store.get().wide }),
    { title: 'over the whole page (Shift+W)', 'aria-label': 'wide' });
  host.append(el('h2', null, 'Who holds the memory', explainButton('The live allocations of the ' +
    'state under the cursor, split by what is chosen, in the words of vramscope peak --by; phase ' +
    'is of this page alone. The total is the requested curve.'), by.node, wide), found);
  const table = createTable(host, whoColumns({ store, recording, look, find, peel }), {
    caption: 'Who holds the memory at the cursor',
    sort: { id: 'bytes', descending: true }, key: (row) => row.key,
    each: () => (store.get().wide ? rowHeight : twoLines),
    pick: (row) => find(termOf(store.get().by, row), false) });
  table.node.classList.add('groups');
  const listing = createListing(host, { store, newAsker, recording, place, goTo, pin });

  function update(live) {
    const state = store.get();
    setOptions(by.select, groupingsOf(recording.cover()), state.by);
    found.hidden = !tellsMatches(state);
    listing.update();
    if (!found.hidden) paintMatch(found.firstChild, look.palette());
    host.classList.toggle('wide', state.wide);
    wide.setAttribute('aria-pressed', String(state.wide));
    // Until the answer to the question of now is there, the rows of before stay as they are.
    if (live.of.by === plainBy(state.by)) list(live);
  }

  function list(live) {
    const rows = [...live.rows, ...live.out];
    if (live.adjust) {
      rows.push({ key: -1, name: 'unattributed', bytes: live.adjust, count: 0, largest: null,
        since: 0 });
    }
    // Of what no allocation explains there is no share: they are of the allocations, as peak's.
    table.set(rows.map((row) => ({ ...row,
      part: row.key < 0 || row.out ? -1 : ratio(row.bytes, live.alive) })),
    { label: 'requested', bytes: live.bytes, alive: live.alive, count: live.count }, null,
    `requested at ${momentName(live.state, recording.cover())}, by ${live.of.by}` +
      withoutText(live.of.without, ', '));
  }
  return { update, table, listing };
}

/** Categories say little of a change: its table begins with lines. */
function rangeBy({ by }, cover) {
  if (by !== 'category' && by !== 'birth') return by;
  return cover.by.includes('line') ? 'line' : 'category';
}

function rangeColumns(by, find) {
  return [
    { id: 'name', name: 'by ' + by, name_: true, cell: (row) => groupButton(find, by, row) },
    deltaColumn('delta', 'change', (row) =>
      el('span', { class: toneOf(row), text: delta(row.delta) })),
    bytesColumn('a', 'at A'),
    bytesColumn('b', 'at B'),
    { id: 'count', name: 'count', number: true, value: (row) => row.countB - row.countA,
      text: (row) => `${count(row.countA)} \u2192 ${count(row.countB)}` },
  ];
}

/** Facts and the signed table of a selected range. */
export function createRange(host, { store, newAsker, recording, find, zoomToSelection }) {
  let table = null;
  const asker = newAsker();
  const by = () => rangeBy(store.get(), recording.cover());

  function facts(f, a, b) {
    const pairs = [['smallest', bytes(f.min)], ['largest', bytes(f.max)],
      ['start', bytes(f.start)], ['end', bytes(f.end)], ['change', delta(f.end - f.start)],
      ['churn', bytes(f.churn)], ['born and survived', bytes(f.bornSurvived)], ['freed',
        bytes(f.freed)],
      ['allocations born', count(f.born)]];
    if (f.times) pairs.push(['time', duration(f.times[1] - f.times[0])]);
    return [el('h2', null, `Range: ${eventName(a)} \u2013 ${eventName(b)}` +
      withoutText(store.get().without, ', '),
      explainButton('A is the state at ' +
      'the left edge, B at the right. What was born and survived less what was freed is the ' +
      'change.'), button('zoom', zoomToSelection),
    button('clear', () => store.jump({ range: null }))),
    el('p', { class: 'muted', text: pairs.map(([name, value]) =>
      `${name} ${value}`).join(' \u00b7 ') })];
  }

  function show(got, a, b) {
    host.hidden = false;
    fill(host, facts(got, a, b));
    table = createTable(host, rangeColumns(by(), find), { caption: 'What changed',
      sort: { id: 'delta', descending: true }, key: (row) => row.key });
    const total = { label: 'net', a: got.start, b: got.end, delta: got.end - got.start };
    table.set(got.rows.slice().sort((x, y) => Math.abs(y.delta) - Math.abs(x.delta)), total);
  }

  function ask() {
    const state = store.get();
    if (!state.range) {
      host.hidden = true;
      fill(host);
      return;
    }
    const { a, b } = state.range;
    asker.ask('range', { a, b, by: by(), without: state.without }, (got) => {
      if (store.get().range) show(got, a, b);
    });
  }
  const update = derived(() => {
    const { range, by: grouping, without, file, dev } = store.get();
    return [range, grouping, without, file, dev];
  }, ask);
  return { update, table: () => table };
}
