// place.js - the address of the page, whose fragment holds the state: written, read, copied.
import { copyText } from './dom.js';

/** A jump is an entry of the browser's history, any other `kind` of change is not. */
function writeLink(ctx, kind) {
  if (!ctx.link) return;
  const fragment = ctx.link.write(ctx.store.get()).replace(/^#?/, '#');
  if (fragment === location.hash) return;
  if (kind === 'jump') history.pushState(null, '', fragment);
  else history.replaceState(null, '', fragment);
}

/** The part of the state that the address gives, or null. */
function readLink(ctx) {
  if (!ctx.link || location.hash.length < 2) return null;
  const { state, notes } = ctx.link.read(location.hash);
  if (notes.length) ctx.note(notes.join('; '));
  return state;
}

function copyLink(ctx) {
  writeLink(ctx);
  copyText(location.href).then((done) =>
    ctx.note(done ? 'link copied' : 'the browser refused to copy'));
}

/** Methods of the context. */
export const place = { writeLink, readLink, copyLink };
