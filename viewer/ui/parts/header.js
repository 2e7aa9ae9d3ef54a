// header.js - the line above the picture: file, devices, trust.
import { bytes, count } from '../../core/model/human.js';
import { button, byId, choice, el, fill, setOptions } from '../draw/dom.js';
import { shown, shortened, words } from '../draw/text.js';
import { ofMany } from '../state/catalogue.js';
import { mostTelling } from '../state/place.js';
import { reportOf, trustOf } from '../state/report.js';

const windows = {
  complete: 'complete', late_start: 'starts mid-run', overflowed: 'overwritten at the start',
  overflow_suspected: 'overwritten at the start (suspected)', incomplete: 'cut off',
  state_only: 'state only', one_event: 'one event',
};
const mostChips = 2;

/** The way back where `view --serve` has an index: its pages are numbers behind a token.  The bytes
 * of a page are the same in a file, which has none. */
function drawWayBack({ protocol, pathname }) {
  if (protocol === 'http:' && /^\/[0-9a-f]{32}\/\d+$/.test(pathname)) {
    byId('file').before(el('a', { href: './', text: 'all files' }));
  }
}

function drawFiles(head, state, choose, chooseAll) {
  const select = byId('file');
  const { files } = head;
  const all = files.length > 1 ? [['all', `All ${files.length} files`]] : [];
  setOptions(select, [...all, ...files.map((file, i) => [String(i), shortened(file.name, 80)])],
    all.length && state.view === 'all' ? 'all' : String(state.file));
  select.disabled = files.length < 2;
  select.title = shown(files[state.file].name);
  select.onchange = () => (select.value === 'all' ? chooseAll() : choose(Number(select.value)));
}

/** A chip per device: name, peak, and a flag where an allocation failed; of many a list. */
function drawDevices(head, state, choose, chooseAll) {
  const { devices } = head.files[state.file];
  const peakOf = ({ requested, final }) => (!requested ? '' : final ?
    bytes(requested.end_bytes) + ' at the end' :
    (requested.start_bytes === null ? '\u2265 ' : '') + bytes(requested.peak_bytes));
  const all = state.view === 'devices';
  const list = devices.map((device, i) => ({ name: device.name,
    // Of one event alone the report tells of what it left.
    final: device.traced === false && device.states > 1,
    ...reportOf(head, state.file, i), on: !all && i === state.dev }));
  fill(byId('devices'), devices.length > mostChips ?
    choice('', list.map((one, i) => [String(i), `${one.name} ${peakOf(one)}` +
      (one.oom_events ? ' \u25bc OOM' : '')]), String(state.dev), (i) => choose(Number(i))).node :
    list.map((one, i) => button([one.name, ' ', el('span', { class: 'muted', text: peakOf(one) }),
      one.oom_events ? el('span', { class: 'problem', text: ' \u25bc OOM' }) : null],
    () => choose(i), { 'aria-pressed': one.on ? 'true' : 'false' })),
  devices.length > 1 ? button(`all ${devices.length} devices`, chooseAll,
    { 'aria-pressed': all ? 'true' : 'false' }) : null);
}

/** Checks with their counts, in a dialog. */
function showChecks(trust) {
  const dialog = byId('dialog');
  const rows = trust.items.map((item) => el('tr', null, el('td', null, el('code',
    { text: item.id })),
    el('td', { class: 'number', text: item.count === null ? '-' : count(item.count) }),
    el('td', { class: 'number', text: bytes(item.worst_bytes) }),
    el('td', { class: 'number', text: item.first_event === null ? '-' : count(item.first_event) }),
    el('td', { text: item.text })));
  const seen = windows[trust.window] || words(trust.window);
  fill(dialog, el('h2', { text: `Trust: grade ${trust.grade}, ${seen}` }),
    el('table', null, el('caption', { text: 'Checks' }), el('thead', null, el('tr', null,
      ['check', 'count', 'worst', 'first event', 'what it says'].map((t) => el('th', { scope: 'col',
        text: t })))),
    el('tbody', null, rows)),
    button('close', () => dialog.close()));
  dialog.showModal();
}

/** How far to trust this, in a word; a click shows why. */
function drawTrust(head, state) {
  const host = byId('trust');
  const trust = trustOf(head, state);
  host.hidden = !trust || ofMany.has(state.view);
  if (host.hidden) return;
  const { grade, window } = trust;
  const sound = grade === 'A' && window === 'complete';
  fill(host, button([`trust ${grade}`, window === 'complete' ? '' :
    ` \u00b7 ${windows[window] || words(window)}`, ' \u25b8'], () => showChecks(trust),
  { class: sound ? 'chip' : grade === 'D' ? 'chip problem' : 'chip advice',
    title: sound ? 'every check passes' : shown(trust.items.slice(0, 2).map((item) =>
      item.text).join('; ')) }));
}

/** The view of all files; from a file without a device it is another's. */
function showAll({ store, head }) {
  const { files } = head;
  const { file } = store.get();
  if (!files.some(({ devices }) => devices.length)) return;
  store.jump({ view: 'all', ...(files[file].devices.length ? {} : mostTelling(head)) });
}

/** The page is called by what is open, as C calls it by its first file. */
function titleOf({ files }, { file, view }) {
  const name = view === 'all' && files.length > 1 ? `${files.length} files` : files[file].name;
  return `${shown(name)} - vramscope`;
}

export function createHeader({ store, head }) {
  drawWayBack(location);
  return { draw: (state) => {
    document.title = titleOf(head, state);
    const view = ofMany.has(state.view) ? 'stack' : state.view;
    drawFiles(head, state, (file) => store.jump({ ...mostTelling(head, file), view }),
      () => showAll({ store, head }));
    drawDevices(head, state, (dev) => store.jump({ dev, view }), () =>
      store.jump({ view: 'devices' }));
    drawTrust(head, state);
  } };
}
