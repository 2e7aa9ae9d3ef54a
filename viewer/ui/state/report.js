// report.js - what the report in the head says of a device: answer, trust, findings.  No DOM.
import { lineTerm } from './terms.js';

const severityOrder = { problem: 0, advice: 1, note: 2 };

/** What the report says of a device: both have them in one order. */
export function reportOf(head, file, dev) {
  const { report } = head.files[file];
  return (report && report.devices && report.devices[dev]) || {};
}

export function trustOf(head, state) {
  return reportOf(head, state.file, state.dev).trust || null;
}

/** Whether the file ends in the middle of the recording. */
export function isCut(head, state) {
  const trust = trustOf(head, state);
  return Boolean(trust) && trust.window === 'incomplete';
}

/** Whether it is not known what was there before the first event, so that sums are lower bounds. */
export function hasNoStart(head, state) {
  const { requested } = reportOf(head, state.file, state.dev);
  return Boolean(requested) && requested.start_bytes === null;
}

export function gradeOf(head, state) {
  const trust = trustOf(head, state);
  return trust ? trust.grade : null;
}

/** The first sentences of the report of a device; null where it has nothing to tell of. */
export function answerOf(head, { file, dev }) {
  return head.files[file].devices[dev]?.answer ?? null;
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
