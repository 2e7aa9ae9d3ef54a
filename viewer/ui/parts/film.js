// film.js - the last moments: a strip of the events that led to a failed request, which plays.
import { windowOf } from '../../core/memory/curves.js';
import { button, el, fill } from '../draw/dom.js';
import { cellTexts, sentenceOf, sizeOf } from '../draw/events.js';
import { grouped } from '../draw/text.js';
import { ofMany } from '../state/catalogue.js';
import { derived } from '../state/derived.js';
import { widgets } from '../state/keys.js';

const length = 20;
/** Milliseconds from one event to the next. */
const pace = 300;

/** The states of the failed requests that the page holds; the head tells of the last one before all
 * is there. */
function refusedStates(recording) {
  const cover = recording.cover();
  const { oom } = recording.device();
  const last = oom ? [oom.event + 1] : [];
  const [from, past] = windowOf(cover);
  return (cover.complete === false ? last : cover.ooms.map(({ state }) => state))
    .filter((p) => p >= from && p < past);
}

/** The failure whose strip has the cursor: of several that which was shown before, or else the
 * first.  Where none has it, that which is near; far from all it is that which was shown before, at
 * first the last. */
export function refusedAt(states, at, before) {
  const having = states.filter((p) => p - length < at && at <= p);
  if (having.length) return having.includes(before) ? before : having[0];
  const next = states.reduce((best, p) => (Math.abs(p - at) < Math.abs(best - at) ? p : best));
  if (Math.abs(next - at) <= length) return next;
  return states.includes(before) ? before : states[states.length - 1];
}

function cellOf(event, go) {
  return el('li', null, button([el('span', { class: 'size' }, el('strong', { text: sizeOf(event) }),
    el('small', { text: grouped(event.state - 1) })),
  cellTexts(event).map((text) => el('span', { text }))], () => go(event.state),
  { class: event.kind === 'oom' ? 'problem' : null, 'data-state': event.state,
    'aria-label': sentenceOf(event), title: sentenceOf(event) }));
}

/** Whether it played. */
function stop(film) {
  if (!film.timer) return false;
  clearInterval(film.timer);
  film.timer = 0;
  fill(film.play, 'play');
  return true;
}

function step({ store, travel }, by) {
  travel.setCursor(store.get().at + by, true);
}

function playOn(film) {
  const { store, end } = film;
  if (store.get().at < end) step(film, 1);
  if (store.get().at >= end) stop(film);
}

/** From the cursor on; from the first event where there is no more than one step from it. */
function toggle(film) {
  const { store, travel, rows, end, play } = film;
  if (stop(film) || !rows.length) return;
  const { at } = store.get();
  if (at < rows[0].state || at >= end - 1) travel.goTo(rows[0].state);
  fill(play, 'pause');
  film.timer = setInterval(() => playOn(film), pace);
}

/** Brings a cell into sight, at once where it is drawn anew; what is around the cells stays where
 * it is. */
function reveal(cells, cell, isAnew) {
  const [box, one] = [cells.getBoundingClientRect(), cell.getBoundingClientRect()];
  const by = Math.max(0, one.right - box.right) || Math.min(0, one.left - box.left);
  const calm = isAnew || matchMedia('(prefers-reduced-motion: reduce)').matches;
  if (by) cells.scrollBy({ left: by, behavior: calm ? 'instant' : 'smooth' });
}

/** The cell of the cursor is marked, and in sight when the cursor has come to it. */
function mark(film) {
  const { at } = film.store.get();
  for (const cell of film.cells.querySelectorAll('button')) {
    const now = Number(cell.dataset.state) === at;
    if (now) cell.setAttribute('aria-current', 'true');
    else cell.removeAttribute('aria-current');
    if (now && film.marked !== at) reveal(film.cells, cell, film.marked < 0);
  }
  film.marked = at;
}

/** An event may have several rows: what was there goes where an address is given again. */
function take(film, rows) {
  const { cells, end, travel, list } = film;
  film.rows = rows.filter(({ state }, i) => state <= end && rows[i + 1]?.state !== state);
  fill(cells, film.rows.map((event) => cellOf(event, travel.goTo)));
  cells.scrollLeft = cells.scrollWidth;
  list(film.rows);
  film.marked = -1;
  mark(film);
}

/** Asks for the events of another failure. */
function clear(film) {
  stop(film);
  film.rows = [];
  fill(film.cells);
  film.list([]);
}

function ask(film) {
  clear(film);
  film.asker.ask('moments', { state: film.end - length / 2, n: length },
    ({ rows }) => take(film, rows));
}

function update(film) {
  const { host, store, recording } = film;
  const { at, view } = store.get();
  const states = refusedStates(recording);
  film.device();
  const wasHidden = host.hidden;
  host.hidden = states.length === 0 || ofMany.has(view);
  if (host.hidden) {
    stop(film);
    return;
  }
  film.end = refusedAt(states, at, film.end);
  if (recording.cover().complete !== false) film.events();
  // What was hidden has forgotten how far it was scrolled.
  if (wasHidden) film.marked = -1;
  mark(film);
}

/** A click ends it, and any key but those of its button, and Space and Escape, of which actions.js
 * hears. */
function listen(film) {
  const { play } = film;
  document.addEventListener('pointerdown', ({ target }) => {
    if (target !== play) stop(film);
  }, true);
  document.addEventListener('keydown', ({ key, target }) => {
    const own = target === play ? [' ', 'Enter'] : target.matches(widgets) ? [] : [' '];
    if (key !== 'Escape' && !own.includes(key)) stop(film);
  }, true);
}

/** What happened where the cursor stands, to be said. */
function sentenceAtCursor({ rows, store }) {
  const event = rows.find(({ state }) => state === store.get().at);
  return event ? sentenceOf(event) : '';
}

/** `list(rows)` shows the events elsewhere too. */
export function createFilm(host, { store, newAsker, recording, travel, list }) {
  const film = { host, store, recording, travel, list, asker: newAsker(),
    cells: el('ol', { class: 'cells' }),
    play: button('play', () => toggle(film), { title: 'Space' }),
    end: 0,             // the state of the failure,
    rows: [],           // the events up to it,
    marked: -1,         // and the state whose cell is marked
    timer: 0 };         // while it plays
  const source = () => [store.get().file, store.get().dev];
  film.events = derived(() => [source(), film.end], () => ask(film));
  film.device = derived(source, () => {
    clear(film);
    film.events.forget();
  });
  fill(host, el('div', null, el('h2', { text: 'The last moments' }),
    button('\u25c2', () => step(film, -1), { 'aria-label': 'one event back', title: ',' }),
    button('\u25b8', () => step(film, 1), { 'aria-label': 'one event on', title: '.' }),
    film.play), film.cells);
  listen(film);
  return { update: () => update(film), toggle: () => toggle(film), stop: () => stop(film),
    sentenceAtCursor: () => sentenceAtCursor(film), isShown: () => !host.hidden };
}
