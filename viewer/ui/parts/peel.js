// peel.js - takes groups out of the picture: buttons in Who, and under it what the peak would be.
import { bytes, count } from '../../core/model/human.js';
import { button, el, fill } from '../draw/dom.js';
import { quoted, quotedFile } from '../draw/shell.js';
import { eventName, groupText, withoutText } from '../draw/text.js';
import { derived } from '../state/derived.js';
import { plainBy } from '../state/holders.js';
import { gradeOf } from '../state/report.js';
import { isPart } from '../state/span.js';
import { ownName } from '../state/terms.js';

const named = 3;

/** What is taken out when a group is, or no longer is; of two groupings the newer one counts. */
export function toggled(without, by, name) {
  const names = without && without.by === by ? without.names : [];
  const next = names.includes(name) ? names.filter((one) => one !== name) : [...names, name];
  return next.length ? { by, names: next } : null;
}

/** The command that gives the same peak, or null: it knows no page of some events.  Of its lines
 * the first that matches a stack counts: a name goes before those that are a part of it. */
function commandOf({ dropped, without }, { store, recording }) {
  const { head, device, fileName } = recording;
  // What is cut, or contradicts itself, is not replayed.
  const refused = isPart(recording.cover()) || recording.cover().cut ||
    gradeOf(head, store.get()) === 'D';
  if (!dropped || refused) return null;
  const several = head.files.some(({ devices }) => devices.length > 1);
  const drops = [...without.names].sort((a, b) => b.length - a.length)
    .map((name) => ` --drop ${quoted(name)}`);
  return `vramscope replay ${quotedFile(fileName())}${drops.join('')}` +
    (several ? ` --device ${device().device}` : '');
}

/** Of the requests that failed the one that needs most where it is made, { state, bytes, held,
 * sum }; null where none has a size. */
function largestOf(failed) {
  return failed.filter((one) => one.bytes !== null)
    .map((one) => ({ ...one, sum: one.held + one.bytes }))
    .reduce((most, one) => (most && most.sum >= one.sum ? most : one), null);
}

/** `Without A, B and 2 more (by category) the peak would be 10.20 GiB at event 1 889 …`, that with
 * a request that failed where it is the most: a replay serves it. */
function peakText({ without, bytes: left, state, before, demand, failed }, { recording }) {
  const { by, names } = without;
  const most = largestOf(failed);
  const isHigher = most !== null && most.sum > left;
  const least = recording.cover().startUnknown ? 'at least ' : '';
  if (left < 0) {
    return `${withoutText(without)} less than nothing is left: the file contradicts itself`;
  }
  const here = isPart(recording.cover()) ? ' of the events here' : '';
  const first = names.slice(0, named).map((name) => groupText(by, name));
  const more = names.length - first.length;
  return `Without ${first.join(', ')}${more ? ` and ${count(more)} more` : ''}` +
    `${by === 'line' ? '' : ` (by ${by})`} the peak${here} would be ${least}` + (isHigher ?
    `${bytes(most.sum)} at ${eventName(most.state)}, with the ${bytes(most.bytes)} that failed ` +
    `there (${bytes(demand - most.sum)} less)` :
    `${bytes(left)} at ${eventName(state)} (${bytes(before.bytes - left)} less)`);
}

/** What the largest request that failed would take, against what there is.  Requested bytes alone
 * do not tell that it fits. */
function failedText({ failed }, { recording }) {
  const capacity = recording.capacity();
  const most = largestOf(failed);
  if (!capacity || !recording.cover().ooms.length) return '';
  if (!failed.length) {
    return 'The request that failed would not be made: its line is taken out.';
  }
  if (!most) return '';
  const over = most.sum - capacity.bytes;
  const of = recording.cover().capacityLeast === capacity.bytes ?
    `the ${bytes(capacity.bytes)} that the failure shows` : `a ${capacity.name}`;
  return `The ${bytes(most.bytes)} that failed would make ${bytes(most.sum)} then, ` + (over > 0 ?
    `still ${bytes(over)} more than ${of}.` :
    `within ${of}: it may fit, but for rounding and fragmentation, which a replay knows.`);
}

function buttons(peel, command) {
  const { store, place } = peel;
  const { by, names } = store.get().without;
  const put = (left) => store.jump({ without: left.length ? { by, names: left } : null });
  return el('div', { class: 'buttons' },
    button('undo', () => put(names.slice(0, -1)), { title: 'put back what was taken out last' }),
    button('put all back', () => put([])),
    command ? button('copy command', () => place.copy('command', command)) : null);
}

function show(peel, got) {
  const { host, node, recording } = peel;
  const command = commandOf(got, peel);
  const failed = failedText(got, peel);
  const whatIf = recording.device().oom?.what_if;
  host.append(node);
  fill(node, el('p', null, el('strong', { text: peakText(got, peel) })), buttons(peel, command),
    el('p', { class: 'muted', text: `held at the old peak: ${bytes(got.taken.bytes)} in ` +
      `${count(got.taken.count)} allocation${got.taken.count === 1 ? '' : 's'}` }),
    failed && el('p', { text: failed }),
    whatIf && el('p', { class: 'muted', text: `with nothing taken out: ${whatIf}` }),
    command && el('p', null, el('span', { class: 'muted', text: 'in a terminal: ' }),
      el('code', { text: command })));
  node.hidden = false;
}

/** Takes out only what this recording has. */
function answer(peel, got, aloud) {
  const { store, recording, status, redraw } = peel;
  const { without, missing } = got;
  if (missing.length) {
    const names = without.names.filter((name) => !missing.includes(name));
    status.note(`no ${missing.map((name) => groupText(without.by, name)).join(', ')} here to ` +
      'take out');
    store.move({ without: names.length ? { by: without.by, names } : null });
    return;
  }
  recording.peel(got);
  show(peel, got);
  if (aloud) status.speak(() => peakText(got, peel));
  redraw();
}

/** Asks for the peak of what is left, or shows that nothing is taken out. */
function ask(peel) {
  const { store, node, asker, status, redraw, aloud } = peel;
  const { without } = store.get();
  if (without) {
    asker.ask('peel', { without }, (got) => {
      if (store.get().without) answer(peel, got, aloud);
    });
    return;
  }
  if (node.hidden) return;
  node.hidden = true;
  if (aloud) status.note('all is put back');
  redraw();
}

/** Takes the group out, or puts it back. */
function toggle({ store, status }, name) {
  const { by, without } = store.get();
  const plain = plainBy(by);
  if (without && without.by !== plain) status.note(`what was taken out by ${without.by} is back`);
  store.jump({ without: toggled(without, plain, name) });
}

/** The same by key: the row that has the focus, or else the largest that is left. */
function toggleAt(peel, focus) {
  const { host, store, status, holding } = peel;
  const row = focus.closest('tr[data-row]');
  const own = row && host.contains(row) && row.querySelector('[data-peel]');
  const live = holding();
  // Of a device that has just been opened it is not known yet; held() is told.
  peel.waits = !live;
  if (!live) return;
  const largest = live?.of.by === plainBy(store.get().by) ? live.rows[0] : null;
  if (own) own.click();
  else if (!largest || store.get().by === 'age') status.note('nothing here can be taken out');
  else toggle(peel, ownName(largest));
}

/** The column of Who: a button for each group.  Ages are counted to the cursor, and thus none. */
function columnOf(peel) {
  return { id: 'peel', name: '', fixed: true, value: (row) => (row.out ? 'out' : ''),
    explain: 'take a row out of the picture, to see what the peak would be without it',
    cell: ({ key, name, site, out }) => {
      const { by } = peel.store.get();
      const act = out ? 'put back' : 'take out';
      return key < 0 || by === 'age' ? null : button(out ? '+' : '\u2212',
        () => toggle(peel, ownName({ name, site })), { class: 'plain',
          'aria-pressed': String(Boolean(out)), 'data-peel': '',
          title: `${act}: Delete`, 'aria-label': `${act} ${groupText(by, name)}` });
    } };
}

/** `holding()`: who holds the memory at the cursor, or null; `redraw()` draws what is of all. */
export function createPeel(host, { store, newAsker, recording, place, status, holding, redraw }) {
  const peel = { host, store, recording, place, status, holding, redraw, asker: newAsker(),
    aloud: false,     // whether a person has done it just now,
    waits: false,     // and whether the largest row is to be taken out once it is known
    node: el('div', { class: 'peel', hidden: true }) };
  const left = derived(() => {
    const { without, file, dev, cap } = store.get();
    return [without, file, dev, cap, recording.cover().complete];
  }, () => ask(peel));
  return { column: columnOf(peel), update: (aloud) => {
    peel.aloud = aloud;
    left();
  },
  forget: () => {
    peel.waits = false;
    left.forget();
  },
  /** It is known who holds the memory. */
  held: () => { if (peel.waits) toggleAt(peel, host); },
  toggle: (focus) => toggleAt(peel, focus) };
}
