// range.js - what a selected range did to memory.
import { bytes, count, delta, duration } from '../../core/model/human.js';
import { button, el, fill } from '../draw/dom.js';
import { bytesColumn, createTable, deltaColumn, toneOf } from '../draw/table.js';
import { eventName, withoutText } from '../draw/text.js';
import { derived } from '../state/derived.js';
import { explainButton } from './explain.js';
import { groupButton } from './group.js';

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

  function facts(f, { a, b, without }) {
    const pairs = [['smallest', bytes(f.min)], ['largest', bytes(f.max)],
      ['start', bytes(f.start)], ['end', bytes(f.end)], ['change', delta(f.end - f.start)],
      ['churn', bytes(f.churn)], ['born and survived', bytes(f.bornSurvived)], ['freed',
        bytes(f.freed)],
      ['allocations born', count(f.born)]];
    if (f.times) pairs.push(['time', duration(f.times[1] - f.times[0])]);
    return [el('h2', null, `Range: ${eventName(a)} \u2013 ${eventName(b)}` +
      withoutText(without, ', '),
      explainButton('A is the state at ' +
      'the left edge, B at the right. What was born and survived less what was freed is the ' +
      'change.'), button('zoom', zoomToSelection),
    button('clear', () => store.jump({ range: null }))),
    el('p', { class: 'muted', text: pairs.map(([name, value]) =>
      `${name} ${value}`).join(' \u00b7 ') })];
  }

  /** `asked`: { a, b, by, without } of the question. */
  function show(got, asked) {
    host.hidden = false;
    fill(host, facts(got, asked));
    table = createTable(host, rangeColumns(asked.by, find), { caption: 'What changed',
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
    const args = { a, b, by: by(), without: state.without };
    asker.ask('range', args, (got) => {
      if (store.get().range) show(got, args);
    });
  }
  const update = derived(() => {
    const { range, without, file, dev } = store.get();
    return [range, by(), without, file, dev, recording.cover().complete];
  }, ask);
  return { update, forget: update.forget, table: () => table };
}
