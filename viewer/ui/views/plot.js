// plot.js - a picture over time: asks for the exact one, shows it, says what lies under a point.
import { bytes, duration } from '../../core/model/human.js';
import { cssOf, rgbFor } from '../draw/colours.js';
import { el, perFrame, pixelRatio } from '../draw/dom.js';
import { prepare, xScale, yScale } from '../draw/draw.js';
import { makeInks, paintPicture } from '../draw/paint.js';
import { bandsOf, columnOf, placeIn, runsOf } from '../draw/picture.js';
import { areasOf } from '../draw/svg.js';
import { eventName, shown, withoutText } from '../draw/text.js';
import { gestures } from './gesture.js';
import { cursorIn } from '../state/cursor.js';
import { derived } from '../state/derived.js';
import { plainBy } from '../state/holders.js';
import { createAway } from './away.js';
import { drawBackdrop } from './backdrop.js';
import { createHandle } from './handle.js';
import { boxOf, drawOver, markAt, sceneOf } from './overlay.js';

/** Allocations that are laid out, those of each column counted. */
const manyCells = 20e6;
/** Allocations of which it is kept where they lie. */
const edgesKept = 8;
const pictureWords = { raster: 'Allocations', map: 'Addresses' };

/** What the memory axis is to reach where it is not far above what is in use. */
function reachOf({ own, recording }, { mode, from, to }) {
  const { reserved, at } = recording.cover();
  const capacity = recording.capacity();
  if (own) return null;
  let most = 0;
  (reserved ?? []).forEach((v, c) => {
    if ((mode !== 'events' || (at[c] >= from && at[c] < to)) && v > most) most = v;
  });
  return [most, capacity ? capacity.bytes : 0];
}

/** What of the state a picture is of. */
function whatOf({ x, by, query, only, without, at }) {
  // What a link says may be equal to what was there without being the same.
  return { x, by, query, only, without: JSON.stringify(without),
    cursor: cursorIn({ by, query, at })?.state };
}

/** What the engine is asked for the picture of the state as it stands. */
function argsOf(plot, ratio = pixelRatio()) {
  const { x, y, by, query, only, without, at } = plot.store.get();
  const { width, height } = plot.box();
  const fit = plot.own || y.to === null;
  return { x, W: Math.round(width * ratio), H: Math.round(height * ratio),
    y0: fit ? null : y.from, y1: fit ? null : y.to, by, query, only, reach: reachOf(plot, x),
    without: plot.own ? null : without,
    ...cursorIn({ by, query, at }),
    ...(plot.options.args ? plot.options.args() : {}) };
}

/** The answer; where much is alive in many columns, a picture of half the size is shown before. */
async function request(plot, args, what, serial) {
  const { op, recording } = plot;
  if (op === 'raster' && args.W * recording.cover().mostLive > manyCells) {
    const half = await plot.ask(op, { ...args, W: args.W >> 1 || 1, H: args.H >> 1 || 1 });
    if (serial !== plot.wanted) return null;
    if (half) {
      plot.picture = { ...half, ...what, half: true };
      paint(plot);
    }
  }
  return plot.ask(op, args);
}

/** Whether the groups of a picture are known: while columns come, categories and lines are. */
function isKnown({ store, recording }) {
  const { complete, names, lines } = recording.cover();
  return complete !== false || Boolean({ category: names, line: lines }[plainBy(store.get().by)]);
}

function askPicture(plot) {
  const { store, stage, status } = plot;
  const asked = whatOf(store.get());
  const serial = ++plot.wanted;
  status.pending(true);
  request(plot, argsOf(plot), asked, serial).then((got) => {
    if (serial !== plot.wanted || !got) return;
    status.pending(false);
    plot.picture = { ...got, ...asked };
    stage.setPicture(plot.picture);
    paint(plot);
  }, (error) => {
    if (serial === plot.wanted) status.failed(error);
  });
}

/** The picture again with `ratio` pixels for each of the page's, until `refresh`. */
async function sharpen(plot, ratio) {
  const { store, stage, status } = plot;
  const asked = whatOf(store.get());
  const serial = ++plot.wanted;
  const got = await plot.ask(plot.op, argsOf(plot, ratio));
  if (!got || serial !== plot.wanted) return;
  plot.picture = { ...got, ...asked };
  status.pending(false);
  stage.setPicture(plot.picture);
  paint(plot);
}

/** The picture as pixels, kept to be drawn at any place and size. */
function paint(plot) {
  const { store, look, picture, image, options } = plot;
  const palette = look.palette();
  const inks = makeInks(picture.groups, look.slots(), palette, store.get().patterns,
    picture.matching);
  image.width = picture.W;
  image.height = picture.H;
  image.getContext('2d').putImageData((options.paint || paintPicture)(picture, inks, palette), 0,
    0);
  compose(plot);
}

/** `Allocations of run.pickle, cuda:0, peak 3.00 GiB, start to event 12`. */
function nameOf({ op, own, store, recording }) {
  const { x, without } = store.get();
  const { peak, name } = own ? recording.cover() : recording.left();
  const named = x.mode === 'time' ? [duration(x.from), duration(x.to)] :
    [eventName(x.from), eventName(x.to - 1)];
  return shown(`${pictureWords[op] || 'Groups'} of ${recording.fileName()}, ${name || ''}` +
    `${own ? '' : withoutText(without, ', ')}, peak ${peak ? bytes(peak.bytes) : '-'}, ` +
    named.join(' to '));
}

/** Paints the picture again; the groups of an older one have other colours. */
function redraw(plot) {
  if (plot.picture?.by === plot.store.get().by) paint(plot);
  else compose(plot);
}

/** Draws the last picture where it lies now, and what lies over it. */
function compose(plot) {
  const { store, canvas, node, picture } = plot;
  const g = prepare(canvas, node.clientWidth, node.clientHeight);
  const state = store.get();
  if (!plot.own) drawBackdrop(sceneOf(plot, g));
  if (picture && picture.x.mode === state.x.mode) drawPicture(g, plot, state.x);
  for (const named of [canvas, node]) named.setAttribute('aria-label', nameOf(plot));
  node.dataset.box = Object.values(plot.box()).join(' ');
  for (const part of plot.parts) part.draw();
  redrawOver(plot);
}

function drawPicture(g, { picture, image, own, box, yNow }, span) {
  const b = box();
  const x = xScale(span, b);
  const y = yScale(yNow(), b);
  const left = x.of(picture.x.from);
  const top = own ? b.top : y.of(picture.y1);
  g.save();
  g.beginPath();
  g.rect(b.left, b.top, b.width, b.height);
  g.clip();
  g.imageSmoothingEnabled = false;
  g.drawImage(image, left, top, x.of(picture.x.to) - left,
    own ? b.height : y.of(picture.y0) - top);
  g.restore();
}

/** The groups of a picture as areas, for a surface without pixels. */
function drawAreas(g, { look, picture, box }) {
  const b = box();
  const [kx, ky] = [b.width / picture.W, b.height / picture.H];
  for (const [group, runs] of areasOf(picture.W, (c) => runsOf(picture, c))) {
    g.fillStyle = cssOf(rgbFor(look.palette(), look.slotOf(group)));
    g.beginPath();
    for (const [c, past, top, bottom] of runs) {
      g.rect(b.left + c * kx, b.top + top * ky, (past - c) * kx, (bottom - top) * ky);
    }
    g.fill();
  }
}

/** The plot for another surface; null while its picture is being made. */
function drawing(plot) {
  if (!plot.exact()) return null;
  return { width: plot.node.clientWidth, height: plot.node.clientHeight, draw: (g) => {
    if (!plot.own) drawBackdrop(sceneOf(plot, g));
    if (g.vector && plot.op === 'groups') drawAreas(g, plot);
    else drawPicture(g, plot, plot.store.get().x);
    drawOver(g, plot);
  } };
}

function redrawOver(plot) {
  const { over, node } = plot;
  drawOver(prepare(over, node.clientWidth, node.clientHeight), plot);
}

/** The memory axis that is shown. */
function yNow({ store, recording, own, picture }) {
  const { y } = store.get();
  if (y.to !== null && !own) return y;
  return picture ? { from: picture.y0, to: picture.y1 } :
    { from: 0, to: recording.cover().peak?.bytes ?? 0 };
}

/** A picture of the very view that is set, or null while one is being made. */
function exact({ store, own, picture }) {
  if (!picture || picture.half) return null;
  const { y } = store.get();
  const { x, ...rest } = whatOf(store.get());
  const isSame = (one, other) => Object.keys(other).every((key) => one[key] === other[key]);
  const isInHeight = own || y.to === null || (y.from === picture.y0 && y.to === picture.y1);
  return isInHeight && isSame(picture, rest) && isSame(picture.x, x) ? picture : null;
}

/** Where state `p` lies, in CSS pixels, in sight or not; null where no picture knows it yet. */
function pixelOf(plot, p) {
  const { x } = plot.store.get();
  const b = plot.box();
  if (x.mode === 'events') return xScale(x, b).of(p + 0.5);
  const picture = plot.exact();
  if (!picture) return null;
  return b.left + (placeIn(picture, p) + 0.5) * b.width / picture.W;
}

/** Where an allocation lies in the picture, once that is known; it is asked for when it is not. */
function bandOf(plot, id) {
  if (plot.own || !plot.exact()) return null;
  const { picture } = plot;
  const kept = plot.edges.get(id);
  if (kept && kept.picture === picture) return kept.band;
  plot.edges.set(id, { picture, band: null });
  if (plot.edges.size > edgesKept) plot.edges.delete(plot.edges.keys().next().value);
  plot.ask('band', { ...argsOf(plot), id }).then((band) => {
    const one = plot.edges.get(id);
    if (!one || one.picture !== picture) return;
    one.band = band;
    plot.soonOver();
  }, plot.status.failed);
  return null;
}

/** What lies under a point: { column, state, id, bytes }; null outside, or without a picture. */
function pointAt(plot, px, py) {
  const one = plot.exact();
  const b = plot.box();
  const c = Math.floor((px - b.left) / b.width * (one ? one.W : 1));
  const r = Math.floor((py - b.top) / b.height * (one ? one.H : 1));
  if (!one || c < 0 || c >= one.W) return null;
  const inside = r >= 0 && r < one.H;
  return { column: c, row: r, state: one.shown[c], id: inside ? one.ids[r * one.W + c] : -1,
    group: inside ? one.group[r * one.W + c] : -1, bytes: yScale(plot.yNow(), b).at(py), inside,
    perPixel: (one.y1 - one.y0) / one.H };
}

/** The allocations at the cursor from the bottom, each once. */
function bands(plot) {
  const one = plot.exact();
  if (!one) return [];
  return bandsOf(one, Math.min(one.W - 1, columnOf(one.shown, plot.store.get().at)));
}

/** options: { op, churn, paint, drawY, args() }; with `drawY` the y axis is the picture's own. */
export function createPlot(host, { store, ask, recording, look, stage, pointer, travel,
  settings, status }, options) {
  const canvas = el('canvas', { role: 'img' });
  const over = el('canvas', { 'aria-hidden': 'true' });
  const node = el('div', { class: 'plot', tabindex: 0, role: 'group' }, canvas, over);
  host.append(node);
  const refresh = () => {
    compose(plot);
    if (node.clientWidth && isKnown(plot)) plot.pictured();
  };
  const soonOver = perFrame(() => redrawOver(plot));
  const plot = {
    store, ask, recording, look, stage, pointer, status,
    options, op: options.op, own: Boolean(options.drawY), node, canvas, over,
    image: document.createElement('canvas'),
    picture: null,     // the last exact one, with .x as it was asked for
    wanted: 0,         // counts the questions
    edges: new Map(),  // where allocations lie in it, by id
    soonOver,
    bandOf: (id) => bandOf(plot, id),
    hovered: null,     // the allocation that is outlined
    selected: null,    // the pixels that are being selected, [from, to]
    box: () => boxOf(node.clientWidth, node.clientHeight, options, recording.cover()),
    yNow: () => yNow(plot),
    exact: () => exact(plot),
    pixelOf: (p) => pixelOf(plot, p),
    at: (px, py) => pointAt(plot, px, py),
    markAt: (px, py) => markAt(plot, px, py),
    bands: () => bands(plot),
    drawing: () => drawing(plot),
    hover: (id) => {
      if (id === plot.hovered) return;
      plot.hovered = id;
      soonOver();
    },
    selecting: (pair) => {
      plot.selected = pair;
      soonOver();
    },
    update: perFrame(refresh),
    sharpen: (ratio) => sharpen(plot, ratio),
    refresh: () => {
      plot.pictured.forget();
      plot.update();
    },
    redraw: () => redraw(plot),
    forget: () => {
      plot.pictured.forget();
      plot.picture = null;
    },
  };
  plot.pictured = derived(() => [store.get().file, store.get().dev, argsOf(plot)],
    () => askPicture(plot));
  plot.parts = [createAway(plot, travel), ...(plot.own ? [] : [createHandle(plot)])];
  // Called between layout and paint, so that no frame shows a stretched canvas.
  new ResizeObserver(refresh).observe(node);
  gestures(over, plot, { store, recording, pointer, travel, settings });
  return plot;
}
