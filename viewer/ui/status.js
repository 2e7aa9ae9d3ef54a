// status.js - the status line, and what the page says aloud.
import { bytes, count, duration } from '../core/human.js';
import { byId } from './dom.js';
import { eventName, groupText, shown, words } from './text.js';
import { gradeOf } from './header.js';

const spokenAfter = 500;

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

function peakText({ cut, peak }) {
  return (cut ? 'peak of the part read' : 'peak') + (peak.ties > 1 ? `, ${peak.ties} times` : '');
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
  byId('status-note').textContent = ctx.now.pending ? '\u2026' : '';
}

/** The state at the cursor to who listens, once the cursor rests. */
function speak(ctx) {
  clearTimeout(ctx.now.speaking);
  ctx.now.speaking = setTimeout(() => {
    byId('live').textContent = shown(statusText(ctx));
  }, spokenAfter);
}

function note(ctx, text) {
  byId('status-note').textContent = text;
  byId('live').textContent = text;
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
