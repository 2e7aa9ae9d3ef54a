// status.js - what the page tells of itself: on the status line, aloud, as an alarm.
import { bytes, count, duration } from '../../core/model/human.js';
import { byId } from '../draw/dom.js';
import { eventName, groupText, shown, words } from '../draw/text.js';
import { gradeOf } from '../parts/header.js';

/** Milliseconds from one saying to the next. */
const between = 500;
/** Milliseconds that a note stays. */
const noted = 8000;

function hoverText(ctx) {
  const { said, passed: d, pile, over } = ctx.now;
  if (said) return said;
  if (d) {
    return `${words(d.category)} ${bytes(d.bytes)} \u00b7 ${d.owner || 'no stack'} \u00b7 ` +
      `${eventName(d.born)} \u2013 ${d.end === null ? 'the end' : eventName(d.end)}` +
      (pile ? ` \u00b7 ${count(pile.count)} share this pixel, ${bytes(pile.bytes)}` : '');
  }
  return over && over.group >= 0 && over.id >= 0 ?
    groupText(ctx.store.get().by, ctx.groupName(over.group)) : '';
}

function peakText({ cut, peak, requested }) {
  const higher = requested.some((bytes) => bytes > peak.bytes);
  return (cut ? 'peak of the part read' : higher ? 'peak of the events here' : 'peak') +
    (peak.ties > 1 ? `, ${peak.ties} times` : '');
}

/** The state at the cursor: `event 12 · 1.2 s · 3.4 GiB requested · …`. */
function statusText(ctx) {
  const { live, cover } = ctx.now;
  if (!live) return '';
  const known = (value) => value !== null && value !== undefined;
  const grade = gradeOf(ctx.head(), ctx.store.get());
  return [
    (grade === 'D' ? 'grade D \u00b7 ' : '') + eventName(live.state),
    known(live.time) && duration(live.time),
    `${cover.startUnknown ? '\u2265 ' : ''}${bytes(live.bytes)} requested`,
    known(live.active) && `${cover.activeExact ? '' : '~ '}${bytes(live.active)} active`,
    known(live.reserved) && `${bytes(live.reserved)} reserved`,
    `${count(live.count)} live`,
    cover.peak && cover.peak.state === live.state && peakText(cover),
  ].filter(Boolean).join(' \u00b7 ');
}

function drawStatus(ctx) {
  const hover = hoverText(ctx);
  byId('status-text').textContent = shown(statusText(ctx) + (hover ? '   |   ' + hover : ''));
  byId('status-note').textContent = (ctx.now.pending ? '\u2026 ' : '') + ctx.now.note;
}

/** Says what waits to be said, at most twice a second. */
function announce({ now }) {
  if (now.speaking) return;
  now.speaking = setTimeout(() => {
    now.speaking = 0;
    now.spoken = performance.now();
    byId('live').textContent = now.unspoken.map((text) => text()).join('. ');
    now.unspoken = [];
  }, Math.max(20, now.spoken + between - performance.now()));
}

/** The state at the cursor to who listens: as it is when it is said. */
function speak(ctx) {
  const { now } = ctx;
  const state = () => shown(statusText(ctx));
  now.unspoken = [...now.unspoken.filter((text) => !text.ofState), state];
  state.ofState = true;
  announce(ctx);
}

function note(ctx, text) {
  const { now } = ctx;
  now.note = text;
  clearTimeout(now.noting);
  now.noting = setTimeout(() => {
    now.note = '';
    drawStatus(ctx);
  }, noted);
  drawStatus(ctx);
  now.unspoken.push(() => text);
  announce(ctx);
}

/** What the pointer is over, in views that are no plot. */
function say(ctx, text) {
  ctx.now.said = text;
  drawStatus(ctx);
}

function pending(ctx, on) {
  ctx.now.pending = on;
  drawStatus(ctx);
}

function failed(ctx, error) {
  ctx.now.pending = false;
  const alarm = byId('alarm');
  alarm.hidden = false;
  alarm.textContent = shown(error && error.message ? error.message : error);
}

/** Methods of the context. */
export const status = { drawStatus, speak, note, say, pending, failed };
