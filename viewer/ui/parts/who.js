// who.js - who holds the memory at the cursor, which is the legend of the picture.
import { bytes, count, ratio, share } from '../../core/model/human.js';
import { button, choice, el, fill, setOptions } from '../draw/dom.js';
import { paintMatch, paintSwatch } from '../draw/paint.js';
import { bytesColumn, createTable, eventColumn, rowHeight } from '../draw/table.js';
import { momentName, withoutText, words } from '../draw/text.js';
import { groupingsOf } from '../state/groupings.js';
import { plainBy } from '../state/holders.js';
import { termOf } from '../state/terms.js';
import { explainButton } from './explain.js';
import { groupButton } from './group.js';
import { createListing } from './listing.js';

/** The height of a row of Who where it is narrow. */
const twoLines = 38;

/** Whether the open picture tells matches of the search from the rest. */
function tellsMatches({ view, query, only }) {
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
  const moment = el('span', { class: 'muted last' });
  listing.bar.append(moment);

  function update(live) {
    const state = store.get();
    setOptions(by.select, groupingsOf(recording.cover()), state.by);
    // Of a search that cannot be read nothing is told apart.
    found.hidden = !tellsMatches(state) || live.rows.every((row) => row.matched === undefined);
    listing.update();
    // Lists are of the cursor, as the status line is.
    moment.hidden = host.classList.contains('listing');
    if (!found.hidden) paintMatch(found.firstChild, look.palette());
    host.classList.toggle('wide', state.wide);
    wide.setAttribute('aria-pressed', String(state.wide));
    // Until the answer to the question of now is there, the rows of before stay as they are.
    if (live.of.by === plainBy(state.by)) list(live);
  }

  /** Says of which moment it is: the status line tells of the cursor's alone. */
  function tellMoment({ state }) {
    fill(moment, `at ${momentName(state, recording.cover())}`);
    moment.title = state === store.get().at ? 'at the cursor' : 'under the pointer';
  }

  function list(live) {
    tellMoment(live);
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
