// told.js - what the report in the head tells of a device: answer, trust, findings.  No DOM.
import { count } from '../../core/model/human.js';
import { lineTerm } from './terms.js';

const severityOrder = { problem: 0, advice: 1, note: 2 };

/** What the report says of a device: both have them in one order. */
export function toldOf(head, file, dev) {
  const { report } = head.files[file];
  return (report && report.devices && report.devices[dev]) || {};
}

export function trustOf(head, state) {
  return toldOf(head, state.file, state.dev).trust || null;
}

/** Whether the file ends in the middle of the recording. */
export function isCut(head, state) {
  const trust = trustOf(head, state);
  return Boolean(trust) && trust.window === 'incomplete';
}

/** Whether it is not known what was there before the first event, so that sums are lower bounds. */
export function hasNoStart(head, state) {
  const { requested } = toldOf(head, state.file, state.dev);
  return Boolean(requested) && requested.start_bytes === null;
}

export function gradeOf(head, state) {
  const trust = trustOf(head, state);
  return trust ? trust.grade : null;
}

/** Where a page without a link begins: the device where a request failed, else that with the
 * highest peak; with many files on all of them. */
export function firstPlace(head) {
  const all = head.files.flatMap((file, f) => file.devices.map((_, dev) => {
    const { oom_events: ooms, requested } = toldOf(head, f, dev);
    return { file: f, dev, rank: [Boolean(ooms), requested?.peak_bytes ?? -1] };
  }));
  all.sort(({ rank: [a, x] }, { rank: [b, y] }) => b - a || y - x);
  const { file, dev } = all[0] ?? { file: 0, dev: 0 };
  return head.files.length > 1 ? { file, dev, view: 'all' } : { file, dev };
}

/** The first sentences of the report of a device; null where it has nothing to tell of. */
export function answerOf(head, { file, dev }) {
  return head.files[file].devices[dev]?.answer ?? null;
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

/** What of the recording the page is without; '' where it has all. */
export function lacksOf(head, { file, dev }) {
  const device = head.files[file].devices[dev];
  const missing = (head.left_out ?? []).join(', ');
  return heldText(device) + clippedText(device) +
    (missing && `To stay small the page goes without ${missing}.`);
}

/** Findings of the report that belong to this device, worst first, in the order of the report. */
export function findingsOf(head, state) {
  const file = head.files[state.file];
  const device = file.devices[state.dev];
  const all = (file.report && file.report.findings) || [];
  return all.filter((f) => f.device === null || f.device === undefined || !device ||
    f.device === device.device).map((f, i) => ({ f, i })).sort((a, b) =>
    (severityOrder[a.f.severity] ?? 2) - (severityOrder[b.f.severity] ?? 2) ||
      a.i - b.i).map((one) => one.f);
}

/** What a click on a finding changes: a part of the state.  What is told of the peak is seen at the
 * state `peak`, not where the first of its allocations was made. */
export function placeOf(finding, has, peak) {
  const evidence = finding.evidence || {};
  const place = {};
  const list = Array.isArray(evidence.at_events);
  const event = typeof evidence.event === 'number' ? evidence.event :
    list ? evidence.at_events[0] : undefined;
  if (typeof event === 'number' && event >= 0) place.at = event + 1;
  if (list && peak !== undefined && /\bpeak\b/.test(finding.text)) place.at = peak;
  if ((finding.id === 'leak' || finding.id === 'suspect') && has('leaks')) place.view = 'leaks';
  else if (finding.id === 'stranded' && has('map')) place.view = 'map';
  else if (has('stack')) place.view = 'stack';
  if (evidence.culprit) place.query = lineTerm(evidence.culprit);
  return place;
}
