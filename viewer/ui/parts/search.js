// search.js - the find box: asks the engine, says what matched, visits the matches in birth order.
import { bytes, count, share } from '../../core/model/human.js';
import { button, byId, fill } from '../draw/dom.js';
import { eventName } from '../draw/text.js';
import { derived } from '../state/derived.js';
import { isPart } from '../state/span.js';
import { matchesButton } from './listing.js';

/** What the engine says of a query: what matched, or what is wrong with it and where. */
function tell({ box, said, store, recording }, got, text) {
  box.setAttribute('aria-invalid', got.error ? 'true' : 'false');
  if (got.error) {
    fill(said, `At character ${got.at + 1}: ${got.error}.`);
    box.setSelectionRange(got.at, text.length);
  } else {
    const left = store.get().without;
    fill(said, `${count(got.count)} allocation${got.count === 1 ? '' : 's'}` +
      `${left ? ' of what is left' : ''}, ${bytes(got.ever)} ` +
      `${isPart(recording.cover()) ? 'in the events held' : 'ever'}, ${bytes(got.now)} at the ` +
      `cursor (${share(got.share)} of all that is ${left ? 'left' : 'alive'}) `,
    matchesButton(store, got.count));
  }
}

/** Enter where nothing was typed since goes to the next match, with Shift to the previous. */
function visitAgain(search, event) {
  const { box, store } = search;
  if (!box.value.trim() || box.value.trim() !== store.get().query) return;
  event.preventDefault();
  visit(search, event.shiftKey ? -1 : 1);
}

/** Goes to a state by the number of its event; what was found before is no longer asked for. */
function seek(search, state) {
  const { goTo, recording } = search;
  const { states } = recording.cover();
  find(search, '', false);
  refuse(search, state < states ? '' : `There is no ${eventName(state)}: the last one is ` +
    `${eventName(states - 1)}.`);
  if (state < states) goTo(state);
}

/** What is typed into the box. */
function hear(search) {
  const { box, store } = search;
  byId('find').addEventListener('submit', (event) => {
    event.preventDefault();
    const named = /^#(\d{1,10})$/.exec(box.value.trim());
    if (named) seek(search, Number(named[1]) + 1);
    else find(search, box.value.trim(), store.get().only);
  });
  box.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') visitAgain(search, event);
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    if (box.value === '') box.blur();
    else {
      box.value = '';
      find(search, '', false);
    }
  });
  box.addEventListener('search', () => { if (box.value === '') find(search, '', false); });
}

/** Says what is wrong with what was typed, or takes back what was said. */
function refuse({ box, said }, why) {
  fill(said, why);
  box.setAttribute('aria-invalid', String(why !== ''));
}

/** Asks what matches, and goes to the next (1) or previous (-1) match; 0 stays. */
function visit(search, step) {
  const { store, ask, goTo, pin, status, said, alone } = search;
  const { query, at, by, without } = store.get();
  const serial = ++search.wanted;
  if (!query) {
    refuse(search, '');
    search.last = null;
    return;
  }
  ask('find', { text: query, state: at, by, without, after: step ? search.last : null,
    step: step || 1 }).then((got) => {
    if (!got || serial !== search.wanted) return;
    tell(search, got, query);
    if (!got.error) said.append(' ', alone);
    if (step && got.visit) {
      search.last = got.visit.id;
      goTo(got.visit.born);
      pin(got.visit.id);
    } else if (step) status.note('no match');
  }, status.failed);
}

function find({ store }, text, only) {
  const { list } = store.get();
  store.jump({ query: text, only: only && text !== '',
    list: list === 'matches' && text === '' ? null : list });
}

/** What the search shows, each with what it follows from. */
function followersOf(search) {
  const { store, box, alone } = search;
  const typed = derived(() => [store.get().query, store.get().file, store.get().dev], () => {
    if (document.activeElement !== box) box.value = store.get().query;
    search.last = null;
  });
  const found = derived(() => {
    const { query, at, without, file, dev } = store.get();
    return query ? [query, at, without, file, dev] : [];
  }, () => visit(search, 0));
  const toggled = derived(() => [store.get().only, store.get().view], () => {
    alone.hidden = store.get().view !== 'stack';
    alone.setAttribute('aria-pressed', String(store.get().only));
  });
  return { typed, found, toggled };
}

export function createSearch({ store, ask, recording, goTo, pin, status }) {
  const search = { store, ask, recording, goTo, pin, status, box: byId('query'),
    said: byId('found'),
    alone: button('only', () => store.jump({ only: !store.get().only }),
      { title: 'stack the matches alone' }),
    last: null,         // the match that was visited last
    wanted: 0 };        // counts the questions
  const { typed, found, toggled } = followersOf(search);
  hear(search);
  return {
    find: (text, only) => find(search, text, only),
    visit: (step) => visit(search, step),
    focus: () => { search.box.focus(); search.box.select(); },
    update: () => {
      typed();
      found();
      toggled();
    },
    forget: found.forget,
  };
}
