// status.js - what the page tells of itself: on the status line, aloud, as an alarm.
import { bytes, count, duration } from '../../core/model/human.js';
import { byId } from '../draw/dom.js';
import { groupText, lifeName, momentName, shown, tensorText, withoutText,
  words } from '../draw/text.js';
import { gradeOf } from './report.js';

/** Milliseconds from one saying to the next. */
const between = 500;
/** Milliseconds that a note stays. */
const noted = 8000;

function hoverText({ said, hovering, store, look }) {
  const { passed: d, pile, over } = hovering();
  if (said) return said;
  if (d) {
    return `${words(d.category)} ${bytes(d.bytes)} \u00b7 ` +
      (d.tensor ? `${tensorText(d.tensor)} \u00b7 ` : '') + `${d.owner || 'no stack'} \u00b7 ` +
      lifeName(d) +
      (pile ? ` \u00b7 ${count(pile.count)} share this pixel, ${bytes(pile.bytes)}` : '');
  }
  return over && over.group >= 0 && over.id >= 0 ?
    groupText(store.get().by, look.groupName(over.group)) : '';
}

function peakText({ cut, peak, requested }) {
  const higher = requested.some((bytes) => bytes > peak.bytes);
  return (cut ? 'peak of the part read' : higher ? 'peak of the events here' : 'peak') +
    (peak.ties > 1 ? `, ${peak.ties} times` : '');
}

/** The state at the cursor: `event 12 · 1.2 s · 3.4 GiB requested · …`. */
function statusText({ holding, store, recording }) {
  const live = holding();
  const cover = recording.left();
  if (!live) return '';
  const known = (value) => value !== null && value !== undefined;
  const grade = gradeOf(recording.head, store.get());
  return [
    (grade === 'D' ? 'grade D \u00b7 ' : '') + momentName(live.state, cover),
    known(live.time) && duration(live.time),
    `${cover.startUnknown ? '\u2265 ' : ''}${bytes(live.bytes)} requested` +
      withoutText(live.of.without, ' '),
    known(live.active) && `${cover.activeExact ? '' : '~ '}${bytes(live.active)} active`,
    known(live.reserved) && `${bytes(live.reserved)} reserved`,
    `${count(live.count)} live`,
    cover.peak && cover.traced && cover.peak.state === live.state && peakText(cover),
  ].filter(Boolean).join(' \u00b7 ');
}

function draw(status) {
  const hover = hoverText(status);
  byId('status-text').textContent = shown(statusText(status) + (hover ? '   |   ' + hover : ''));
  byId('status-note').textContent = (status.pending ? '\u2026 ' : '') + status.note;
}

/** Says what waits to be said, at most twice a second. */
function announce(status) {
  if (status.speaking) return;
  status.speaking = setTimeout(() => {
    status.speaking = 0;
    status.spoken = performance.now();
    byId('live').textContent = status.unspoken.map((text) => text()).join('. ');
    status.unspoken = [];
  }, Math.max(20, status.spoken + between - performance.now()));
}

/** A place to who listens, by default the state at the cursor: as it is when it is said. */
function speak(status, place = () => [status.happened(), statusText(status)].filter(Boolean)
  .join('. ')) {
  const said = () => shown(place());
  status.unspoken = [...status.unspoken.filter((text) => !text.ofState), said];
  said.ofState = true;
  announce(status);
}

function note(status, text) {
  status.note = text;
  clearTimeout(status.noting);
  status.noting = setTimeout(() => {
    status.note = '';
    draw(status);
  }, noted);
  draw(status);
  status.unspoken.push(() => text);
  announce(status);
}

function failed(status, error) {
  status.pending = false;
  const alarm = byId('alarm');
  alarm.hidden = false;
  alarm.textContent = shown(error && error.message ? error.message : error);
}

/** `holding()`: who holds the memory at the cursor, or null; `hovering()`: { over, pile, passed },
 * what is known of the point under the pointer; `happened()`: the event before the cursor, where
 * it is to be said. */
export function createStatus({ store, recording, look, holding, hovering, happened }) {
  const status = { store, recording, look, holding, hovering, happened,
    said: '',           // of the point under the pointer, by a view that is no plot
    pending: false,     // a picture is being made
    note: '', noting: 0, // what the page has to say, and the timer of its end
    speaking: 0,        // the timer of what is to be said,
    spoken: -Infinity,  // when something was said last,
    unspoken: [] };     // and what is to be said
  return {
    draw: () => draw(status),
    speak: (place) => speak(status, place),
    note: (text) => note(status, text),
    /** What was noted is of what was done before. */
    forgetNote: () => {
      if (!status.note) return;
      status.note = '';
      clearTimeout(status.noting);
      draw(status);
    },
    /** What is to be known of the picture as long as it is there. */
    remark: (text) => { byId('status-remark').textContent = text; },
    say: (text) => {
      status.said = text;
      draw(status);
    },
    pending: (on) => {
      status.pending = on;
      draw(status);
    },
    failed: (error) => failed(status, error),
  };
}
