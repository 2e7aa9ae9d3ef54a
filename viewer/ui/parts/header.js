// header.js - the lines above the picture: file, devices, trust, findings.
import { bytes, count } from '../../core/model/human.js';
import { button, byId, choice, el, fill, setOptions } from '../draw/dom.js';
import { shown, shortened, words } from '../draw/text.js';
import { ofMany } from '../state/catalogue.js';
import { findingsOf, toldOf, trustOf } from '../state/told.js';

const windows = {
  complete: 'complete', late_start: 'starts mid-run', overflowed: 'overwritten at the start',
  overflow_suspected: 'overwritten at the start (suspected)', incomplete: 'cut off',
  state_only: 'state only', one_event: 'one event',
};
const severityWords = { problem: 'problem', advice: 'advice', note: 'note' };
const firstFindings = 3;
const mostChips = 6;

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
    ...toldOf(head, state.file, i), on: !all && i === state.dev }));
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

/** Which events of a device the page has, where that is not all. */
function heldText(device) {
  const { window, states, tables } = device ?? {};
  if (!window) return '';
  const from = window.first ? `events ${count(window.first - 1)}` : 'events from the start';
  const all = count(states - 1);
  const held = window.last ? `${from} to ${count(window.last - 1)} of ${all} only` :
    `the start alone, and none of ${all} events`;
  return `The page holds ${held}: the ` +
    `${count(tables.alloc?.rows ?? 0)} of ${count(window.of_allocations)} allocations that live ` +
    'then. The curves of the overview are of all events. ';
}

/** What becomes of numbers that are larger than this page can count. */
function clippedText(device) {
  return device?.clipped ? `Sizes and addresses above 2^53 \u2212 1 (${count(device.clipped)} in ` +
    'the columns of this page) are too large for it: such a size is shown and added as 2^53 ' +
    '\u2212 1, and such an address is not shown. The report has the true sums. ' : '';
}

/** One line while there is anything to say; none for a complete file of grade A, of which the
 * page has all. */
function drawTrust(head, state) {
  const host = byId('trust');
  const trust = trustOf(head, state);
  const missing = (head.left_out ?? []).join(', ');
  const device = head.files[state.file].devices[state.dev];
  const less = heldText(device) + clippedText(device) +
    (missing && `To stay small the page goes without ${missing}.`);
  const lacks = less && el('span', { text: less });
  const sound = !trust || (trust.grade === 'A' && trust.window === 'complete');
  host.hidden = sound && !lacks;
  if (sound) {
    fill(host, lacks);
    return;
  }
  const worst = trust.items.slice(0, 2).map((item) => `${item.text} (${item.id})`).join('; ');
  const window = windows[trust.window] || words(trust.window);
  const grade = `! ${trust.grade}, ${window}:`;
  fill(host, el('span', { class: 'grade advice', text: grade }),
    el('span', { text: worst || 'no check found a fault' }),
    lacks, button('why', () => showChecks(trust), { class: 'link' }));
}

function findingNode(finding, go) {
  const severity = severityWords[finding.severity] || 'note';
  const tone = severity === 'note' ? 'muted' : severity;
  const mark = severity === 'problem' ? '\u25bc' : severity === 'advice' ? '\u25b8' : '\u00b7';
  return button([el('span', { class: 'tag ' + tone, text: `${mark} ${words(finding.id)}` }),
    el('span', { class: 'what', text: finding.text })], () => go(finding),
  { class: 'plain finding', title: shown(finding.text) });
}

function drawVerdicts(head, state, go) {
  const host = byId('verdicts');
  const list = findingsOf(head, state);
  host.hidden = list.length === 0;
  const open = host.dataset.open === 'true';
  const seen = open ? list : list.slice(0, firstFindings);
  const more = list.length - firstFindings;
  fill(host, seen.map((finding) => findingNode(finding, go)), more > 0 ? button(open ? 'fewer' :
    `${more} more`, () => {
    host.dataset.open = open ? 'false' : 'true';
    drawVerdicts(head, state, go);
  }, { class: 'link', 'aria-expanded': open ? 'true' : 'false' }) : null);
}

/** The view of all files; from a file without a device it is another's. */
function showAll({ store, head: { files } }) {
  const { file } = store.get();
  const from = files[file].devices.length ? {} : { dev: 0, file: files.findIndex((one) =>
    one.devices.length) };
  if (from.file !== -1) store.jump({ view: 'all', ...from });
}

/** `follow(finding)` goes to where a finding can be seen. */
export function createHeader({ store, head, follow }) {
  drawWayBack(location);
  return { draw: (state) => {
    const view = ofMany.has(state.view) ? 'stack' : state.view;
    drawFiles(head, state, (file) => store.jump({ file, dev: 0, view }),
      () => showAll({ store, head }));
    drawDevices(head, state, (dev) => store.jump({ dev, view }), () =>
      store.jump({ view: 'devices' }));
    drawTrust(head, state);
    drawVerdicts(head, state, follow);
  } };
}
