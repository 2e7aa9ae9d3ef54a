// oom.js - why a request failed, where the cursor stands on one: verdict, numbers, what lay free.
import { bytes, count, poolName } from '../../core/model/human.js';
import { button, el, fill } from '../draw/dom.js';
import { rowOf } from '../draw/events.js';
import { createTable } from '../draw/table.js';
import { eventName, words } from '../draw/text.js';
import { derived } from '../state/derived.js';
import { lineTerm } from '../state/terms.js';
import { explainButton } from './explain.js';

const listed = 10;
const figures = [['request', 'requested'], ['device_free', 'free on the card'],
  ['reserved', 'reserved'], ['active', 'active'], ['pending', 'pending'],
  ['internal_free', 'free in its pool and stream'], ['largest_usable', 'largest usable piece'],
  ['short_by', 'short by']];

/** Rows of both lists of the head; what is free in a private pool is held for its graphs. */
function placesOf({ groups, private_pools: pools }) {
  return [...groups.map((g) => ({ name: `${poolName(String(g.pool))} \u00b7 stream ` +
    `${g.stream} \u00b7 ${g.class}`, free: g.free_bytes, stranded: g.stranded_bytes,
  servable: g.servable_bytes })),
  ...pools.map((p) => ({ name: poolName(String(p.pool)) + ', held for graph',
    free: p.held_for_graph_bytes, stranded: null, servable: null }))];
}

function columnsOf(about) {
  const column = (id, explain) => ({ id, name: id, number: true, unit: 'bytes', explain,
    text: (row) => (row[id] === null ? '-' : about + bytes(row[id])),
    sum: (total) => (id in total ? about + bytes(total[id]) : '') });
  return [{ id: 'name', name: 'pool \u00b7 stream', name_: true }, column('free'),
    column('stranded', 'free, but neither usable for this nor returnable'),
    column('servable', 'the largest request that needs no new memory')];
}

function placesTable(last) {
  const rows = placesOf(last);
  if (!rows.length) return null;
  const node = el('div');
  const sum = (id) => rows.reduce((n, row) => n + (row[id] || 0), 0);
  createTable(node, columnsOf(last.exact ? '' : '~'), { caption: 'Free memory, by pool and stream',
    sort: { id: 'stranded', descending: true } })
    .set(rows, { label: 'all', free: sum('free'), stranded: sum('stranded') });
  return node;
}

/** The nine tests, which the verdict is the first to pass of. */
function testsOf({ tests }, about) {
  const holds = (test) => (test.holds === null ? 'unknown' : test.holds ? 'YES' : 'no');
  return el('details', null, el('summary', { text: 'tests' }), el('table', null, el('tbody', null,
    tests.map((test) => el('tr', null, el('td', { text: words(test.id) }),
      el('td', { text: holds(test) }), el('td', { class: 'number',
        text: test.bytes === null ? '-' : about + bytes(test.bytes) }))))));
}

function numbersOf(last, about) {
  return figures.map(([id, name]) => [name, last[id + '_bytes'], id])
    .filter(([, value, id]) => value !== null && (value > 0 || id === 'device_free'))
    .map(([name, value, id]) => `${name} ${['request', 'device_free'].includes(id) ? '' : about}` +
      bytes(value)).join(' \u00b7 ');
}

/** Who holds what had to go, each with what finds it. */
function holdersOf({ must_go: must }, find) {
  if (!must) return null;
  const more = must.count - must.sites.length;
  return el('p', null, `must go: ${bytes(must.need_bytes)}; `,
    must.sites.map(({ site, bytes: held, count: n }, i) => [i ? ', ' : '', button(site, () =>
      find(lineTerm(site), false), { class: 'link' }),
    ` holds ${bytes(held)} (${count(n)} allocation${n > 1 ? 's' : ''})`]),
    more > 0 && `, and ${count(more)} more lines`);
}

/** What was asked for; of a known line with its name first. */
function askedBy({ line, bytes: size }) {
  return el('p', null, line ? [el('strong', { text: line }), ` asked for ${bytes(size)}`] :
    `${bytes(size)} was asked for; no stack was recorded`);
}

/** The last failure, of which all is known. */
function wholeOf(last, find) {
  const about = last.exact ? '' : '~';
  return [el('p', null, el('strong', { text: last.text })), holdersOf(last, find),
    placesTable(last),
    el('p', { text: numbersOf(last, about) }),
    el('p', { class: 'muted', text: `sure: ${last.sure}` }),
    last.what_if && el('p', { class: 'muted', text: `what if: ${last.what_if}` }),
    testsOf(last, about)];
}

/** An earlier failure: what the recording itself says of it. */
function partOf(oom, last, { recording, goTo }) {
  const found = last && last.earlier.find(({ event }) => event === oom.state - 1);
  return [el('p', { text: `${oom.bytes === null ? '-' : bytes(oom.bytes)} requested, ` +
    `${oom.free === null ? '-' : bytes(oom.free)} free on the card` +
    (found && found.verdict ? `: ${words(found.verdict)}` : '') }),
  last && button(`the last of ${count(recording.cover().ooms.length)}: ` +
    eventName(last.event + 1), () => goTo(last.event + 1))];
}

function show(host, panel, oom) {
  const { store, recording, find } = panel;
  const last = recording.device().oom;
  const isLast = last && last.event + 1 === oom.state;
  const map = recording.views().some(({ id }) => id === 'map');
  fill(host, el('h2', null, `Out of memory: ${eventName(oom.state)}`, explainButton('What ' +
    '`vramscope oom` says of it. Who held the memory stands below. Stranded is free memory that ' +
    'its neighbours keep from being returned; servable the largest request that needs no new ' +
    'memory.'), map && button('map', () => store.jump({ view: 'map' }))),
  askedBy(oom), isLast ? wholeOf(last, find) : partOf(oom, last, panel),
  el('h3', { text: 'The last events' }), panel.events);
}

/** The panel beside the picture; a selected range takes its place. */
export function createOom(host, { store, recording, find, goTo }) {
  const events = el('ol', { class: 'events', 'aria-label': 'The last events' });
  const failure = () => recording.cover().ooms.find(({ state }) => state === store.get().at);
  const shownFailure = derived(() => {
    const { at, file, dev } = store.get();
    return [file, dev, at];
  }, () => show(host, { store, recording, find, goTo, events }, failure()));

  function update() {
    host.parentNode.hidden = !failure() || Boolean(store.get().range);
    if (!host.parentNode.hidden) shownFailure();
  }
  return { update,
    /** Events up to a failure: the last ones stand in its panel. */
    list: (rows) => fill(events, rows.slice(-listed).map((event) => el('li', null,
      button(rowOf(event), () => goTo(event.state), { class: 'plain' })))) };
}
