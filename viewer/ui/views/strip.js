// strip.js - the stack of the whole recording as a strip, in which what a search finds lights up.
import { windowOf } from '../../core/memory/curves.js';
import { el, perFrame, pixelRatio } from '../draw/dom.js';
import { drawCursor, prepare, xScale } from '../draw/draw.js';
import { makeInks, paintPicture } from '../draw/paint.js';
import { cursorIn } from '../state/cursor.js';
import { derived } from '../state/derived.js';

const stripHeight = 60;
/** How much of its colours the stack keeps while nothing is searched. */
const faded = 0.4;

function draw({ node, canvas, image, picture, store, look }) {
  const box = { left: 0, top: 0, width: node.clientWidth, height: stripHeight };
  const g = prepare(canvas, box.width, stripHeight);
  if (!picture) return;
  g.imageSmoothingEnabled = false;
  g.globalAlpha = picture.matching ? 1 : faded;
  g.drawImage(image, 0, 0, box.width, stripHeight);
  g.globalAlpha = 1;
  drawCursor(g, xScale(picture.x, box).of(store.get().at + 0.5), box, look.palette());
}

function paint(strip, picture) {
  const { image, look, store } = strip;
  const palette = look.palette();
  strip.picture = picture;
  image.width = picture.W;
  image.height = picture.H;
  image.getContext('2d').putImageData(paintPicture(picture, makeInks(picture.groups, look.slots(),
    palette, store.get().patterns, picture.matching), palette), 0, 0);
  draw(strip);
}

/** What the engine is asked for the picture. */
function argsOf({ store, recording, node, passing }) {
  const { by, query: found, without, at } = store.get();
  const query = passing || found;
  const [from, to] = windowOf(recording.cover());
  const ratio = pixelRatio();
  return { x: { mode: 'events', from, to }, W: Math.round(node.clientWidth * ratio),
    H: Math.round(stripHeight * ratio), y0: null, y1: null, by, query, only: false, without,
    ...cursorIn({ by, query, at }) };
}

function ask(strip) {
  const args = argsOf(strip);
  strip.canvas.setAttribute('aria-label', args.query ?
    `Where ${args.query} lies in the stack` : 'The stack of the whole recording');
  strip.asker.ask('raster', { ...args, what: 'strip' }, (got) =>
    paint(strip, { ...got, x: args.x }));
}

function update(strip) {
  if (!strip.node.clientWidth || !strip.recording.cover().ops.includes('raster')) return;
  strip.pictured();
  strip.soon();
}

export function createStrip({ store, recording, look, newAsker }) {
  const canvas = el('canvas', { role: 'img' });
  const node = el('div', { class: 'plot strip' }, canvas);
  const strip = { store, recording, look, node, canvas, asker: newAsker(),
    image: document.createElement('canvas'),
    picture: null,
    passing: '',    // what is searched in passing, before what is searched
    soon: perFrame(() => draw(strip)) };
  strip.pictured = derived(() => {
    const { file, dev, patterns } = store.get();
    return [argsOf(strip), file, dev, look.palette().dark, patterns];
  }, () => ask(strip));
  return { node, update: () => update(strip),
    redraw: () => { if (strip.picture) paint(strip, strip.picture); },
    forget: () => {
      strip.pictured.forget();
      strip.picture = null;
    },
    pass: (query) => {
      if (query === strip.passing) return;
      strip.passing = query;
      update(strip);
    } };
}
