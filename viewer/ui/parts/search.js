// search.js - the find box: asks the engine, says what matched, visits the matches in birth order.
import { bytes, count, share } from '../../core/model/human.js';
import { byId, fill } from '../draw/dom.js';
import { isPart } from '../state/span.js';

const keyOf = { category: 'cat', site: 'site', owner: 'owner', module: 'module', phase: 'phase',
  pool: 'pool', stream: 'stream', birth: 'cat' };

/** The search term for one group of a grouping; empty where there is none. */
export function termOf(by, name) {
  const key = keyOf[by];
  if (!key || name === undefined || name === null) return '';
  const plain = /^[\w.:-]+$/.test(name);
  return `${key}:${plain ? name : '"' + String(name).replaceAll('"', ' ') + '"'}`;
}

/** What the engine says of a query: what matched, or what is wrong with it and where. */
function tell(box, said, got, text, cover) {
  box.setAttribute('aria-invalid', got.error ? 'true' : 'false');
  if (got.error) {
    fill(said, `At character ${got.at + 1}: ${got.error}.`);
    box.setSelectionRange(got.at, text.length);
  } else {
    fill(said, `${count(got.count)} allocations, ${bytes(got.ever)} ` +
      `${isPart(cover) ? 'in the events held' : 'ever'}, ` +
      `${bytes(got.now)} at the cursor (${share(got.share)} of all that is alive)`);
  }
}

export function createSearch(ctx) {
  const box = byId('query');
  const said = byId('found');
  let last = null;
  let wanted = 0;

  function ask(step) {
    const { query, at, by } = ctx.store.get();
    const mine = ++wanted;
    if (!query) {
      fill(said);
      box.setAttribute('aria-invalid', 'false');
      last = null;
      return;
    }
    ctx.call('find', { text: query, state: at, by, after: step ? last : null, step: step ||
        1 }).then((got) => {
      if (!got || mine !== wanted) return;
      tell(box, said, got, query, ctx.cover());
      if (step && got.visit) {
        last = got.visit.id;
        ctx.goTo(got.visit.born);
        ctx.pin(got.visit.id);
      } else if (step) ctx.note('no match');
    }, ctx.failed);
  }

  function search(text, only) {
    ctx.store.jump({ query: text, only: only && text !== '' });
  }

  byId('find').addEventListener('submit', (event) => {
    event.preventDefault();
    const event_ = /^#(\d{1,10})$/.exec(box.value.trim());
    if (event_) ctx.goTo(Number(event_[1]) + 1);
    else search(box.value.trim(), ctx.store.get().only);
  });
  box.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    if (box.value === '') box.blur();
    else {
      box.value = '';
      search('', false);
    }
  });
  box.addEventListener('search', () => { if (box.value === '') search('', false); });

  return {
    search, visit: ask,
    focus: () => { box.focus(); box.select(); },
    update(state, before) {
      if (state.query !== before.query && document.activeElement !== box) box.value = state.query;
      if (state.query !== before.query) last = null;
      if (state.query !== before.query || (state.at !== before.at && state.query)) ask(0);
    },
  };
}
