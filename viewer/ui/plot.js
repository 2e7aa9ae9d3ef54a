// plot.js - a picture over time: asks for the exact one, draws it, says what lies under a point.
import { bytes } from '../core/human.js';
import { el, fitCanvas, perFrame } from './dom.js';
import { drawCursor, drawField, drawFlag, drawLevel, drawOutline, drawSpan, drawXAxis, drawYAxis,
  font, label, line, xScale, yScale } from './draw.js';
import { gestures } from './gesture.js';
import { hatch, inkOn, makeInks, paintPicture } from './paint.js';
import { groupText, shortened } from './text.js';

const churnHeight = 24;

function boxOf(width, height, churn) {
  const below = 24 + (churn ? churnHeight + 6 : 0);
  return { left: 66, top: 28, width: Math.max(20, width - 66 - 14),
    height: Math.max(20, height - 28 - below) };
}

/** First column whose shown state is `p` or later. */
export function columnOf(shown, p) {
  let low = 0;
  let high = shown.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (shown[middle] < p) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Runs of equal group in one column, from the top: [group, first row, past row]. */
export function runsOf(picture, column) {
  const { W, H, ids, group } = picture;
  const runs = [];
  for (let y = 0; y < H;) {
    const i = y * W + column;
    const from = y;
    const g = ids[i] < 0 ? -1 : group[i];
    for (y++; y < H && (ids[y * W + column] < 0 ? -1 : group[y * W + column]) === g;) y++;
    if (g >= 0) runs.push([g, from, y]);
  }
  return runs;
}

/** The ids of one column from the bottom, each once. */
export function bandsOf(picture, column) {
  const { W, H, ids } = picture;
  const list = [];
  for (let y = H - 1; y >= 0; y--) {
    const id = ids[y * W + column];
    if (id >= 0 && id !== list[list.length - 1]) list.push(id);
  }
  return list;
}

/** options: { op, churn, paint, drawY, args() }; with `drawY` the y axis is the picture's own. */
export function createPlot(host, ctx, options) {
  const base = el('canvas', { role: 'img' });
  const over = el('canvas', { 'aria-hidden': 'true' });
  const root = el('div', { class: 'plot', tabindex: 0, role: 'group' }, base, over);
  host.append(root);
  const image = document.createElement('canvas');
  let picture = null;   // the last exact one, with .x and .y as it was asked for
  let asked = '';
  let wanted = 0;
  let hovered = null;
  let selecting = null;
  const own = Boolean(options.drawY);

  const box = () => boxOf(root.clientWidth, root.clientHeight, options.churn);
  const yNow = () => {
    const { y } = ctx.store.get();
    if (y.to !== null && !own) return y;
    return picture ? { from: picture.y0, to: picture.y1 } : { from: 0, to: ctx.cover().peak.bytes };
  };

  function ask() {
    const state = ctx.store.get();
    if (!ctx.cover() || !root.clientWidth) return;
    const ratio = self.devicePixelRatio || 1;
    const b = box();
    const args = { x: state.x, W: Math.round(b.width * ratio), H: Math.round(b.height * ratio),
      y0: own || state.y.to === null ? null : state.y.from, y1: own ? null : state.y.to,
      by: state.by, query: state.query, only: state.only, ...(options.args ? options.args() : {}) };
    const key = JSON.stringify([state.file, state.dev, args]);
    if (key === asked) return;
    asked = key;
    const mine = ++wanted;
    ctx.pending(true);
    ctx.call(options.op, args).then((got) => {
      if (mine !== wanted || !got) return;
      ctx.pending(false);
      picture = { ...got, x: state.x };
      ctx.setPicture(picture);
      paint();
    }, (error) => {
      if (mine === wanted) ctx.failed(error);
    });
  }

  function paint() {
    const palette = ctx.palette();
    const state = ctx.store.get();
    const inks = makeInks(picture.groups, ctx.slots(), palette, state.patterns);
    image.width = picture.W;
    image.height = picture.H;
    image.getContext('2d').putImageData((options.paint || paintPicture)(picture, inks, palette), 0,
      0);
    compose();
  }

  function prepare(canvas) {
    const ratio = self.devicePixelRatio || 1;
    fitCanvas(canvas, root.clientWidth, root.clientHeight);
    const g = canvas.getContext('2d');
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, root.clientWidth, root.clientHeight);
    g.font = font;
    return g;
  }

  function compose() {
    const g = prepare(base);
    const b = box();
    const state = ctx.store.get();
    if (picture && picture.x.mode === state.x.mode) {
      const x = xScale(state.x, b);
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
    base.setAttribute('aria-label', ctx.pictureName(options.op));
    root.setAttribute('aria-label', ctx.pictureName(options.op));
    drawOver();
  }

  /** A picture of the very view that is set, or null while one is being made. */
  function exact() {
    const { x, y } = ctx.store.get();
    const same = picture && picture.x.mode === x.mode && picture.x.from === x.from &&
      picture.x.to === x.to && (own || y.to === null || (y.from === picture.y0 &&
        y.to === picture.y1));
    return same ? picture : null;
  }

  function pixelOf(p) {
    const state = ctx.store.get();
    const b = box();
    if (state.x.mode === 'events') return xScale(state.x, b).of(p + 0.5);
    if (!exact()) return null;
    const c = columnOf(picture.shown, p);
    return c >= picture.W ? null : b.left + (c + 0.5) * b.width / picture.W;
  }

  function drawOver() {
    const g = prepare(over);
    const b = box();
    const state = ctx.store.get();
    const palette = ctx.palette();
    const y = yNow();
    if (own) options.drawY(g, y, b, palette, exact());
    else drawYAxis(g, y, b, palette);
    drawXAxis(g, state.x, b, palette, b.top + b.height + (options.churn ? churnHeight + 6 : 0));
    line(g, b.left, b.top + b.height + 0.5, b.left + b.width, b.top + b.height + 0.5,
      palette.control);
    if (!own) drawUnattributed(g, b, y, palette);
    if (exact() && !own) drawBandNames(g, b, palette, state);
    if (options.churn && exact() && exact().churn) drawChurn(g, b, palette);
    drawEnds(g, b, state, palette);
    drawSelections(g, b, state, palette);
    const cap = ctx.capacity();
    if (cap && !own) drawLevel(g, cap.bytes, y, b, cap.name, palette);
    drawFlags(g, b, palette);
    drawCursor(g, pixelOf(state.at), b, palette);
  }

  function drawUnattributed(g, b, y, palette) {
    const adjust = ctx.cover().adjust;
    if (!(adjust > 0)) return;
    const top = Math.max(b.top, yScale(y, b).of(adjust));
    hatch(g, b.left, top, b.width, b.top + b.height - top, palette.hatch);
    g.textAlign = 'left';
    g.textBaseline = 'bottom';
    label(g, 'unattributed', b.left + 6, b.top + b.height - 2, palette);
  }

  function drawEnds(g, b, state, palette) {
    const cover = ctx.cover();
    if (state.x.mode !== 'events') return;
    if (state.x.from === 0 && cover.before > 0) drawField(g, b.left, b, 16, 'before recording',
      palette);
    if (state.x.from === 0 && cover.startUnknown) drawField(g, b.left, b, 16, 'start unknown',
      palette);
    if (cover.cut && state.x.to >= cover.states) {
      drawField(g, b.left + b.width - 16, b, 16, 'file ends here', palette);
    }
  }

  /** The names of groups, where a run of theirs is large enough to hold them. */
  function drawBandNames(g, b, palette, state) {
    if (state.by === 'birth') return;
    const best = new Map();
    const ratio = b.height / picture.H;
    for (let k = 0; k < 24; k++) {
      const column = Math.floor((k + 0.5) * picture.W / 24);
      for (const [group, from, past] of runsOf(picture, column)) {
        const before = best.get(group);
        if (!before || past - from > before.past - before.from) best.set(group, { column, from,
          past });
      }
    }
    g.textBaseline = 'middle';
    g.textAlign = 'center';
    for (const [group, run] of best) {
      const name = ctx.groupName(group);
      if (!name || (run.past - run.from) * ratio < 16) continue;
      const text = shortened(groupText(state.by, name), 36);
      const width = g.measureText(text).width;
      const x = b.left + (run.column + 0.5) * b.width / picture.W;
      const middle = Math.floor((run.from + run.past) / 2);
      if (!fits(group, middle, run.column, width / b.width * picture.W)) continue;
      const slot = (ctx.slots().get(group) || { slot: 9 }).slot;
      g.fillStyle = inkOn(palette, slot);
      g.fillText(text, x, b.top + middle * ratio);
    }
  }

  function fits(group, row, column, width) {
    const half = Math.ceil(width / 2) + 3;
    if (column - half < 0 || column + half >= picture.W) return false;
    for (let c = column - half; c <= column + half; c += 4) {
      for (const y of [row - 5, row, row + 5]) {
        const i = y * picture.W + c;
        if (y < 0 || y >= picture.H || picture.ids[i] < 0 ||
          picture.group[i] !== group) return false;
      }
    }
    return true;
  }

  function drawChurn(g, b, palette) {
    const top = b.top + b.height + 3;
    const most = picture.churn.reduce((a, v) => Math.max(a, v), 1);
    const w = b.width / picture.W;
    g.fillStyle = palette.muted;
    picture.churn.forEach((v, c) => {
      const h = v / most * churnHeight;
      if (h > 0) g.fillRect(b.left + c * w, top + churnHeight - h, Math.max(w, 0.5), h);
    });
    g.textAlign = 'right';
    g.textBaseline = 'middle';
    g.fillText('churn', b.left - 6, top + churnHeight / 2);
  }

  function drawSelections(g, b, state, palette) {
    if (state.range) drawSpan(g, pixelOf(state.range.a), pixelOf(state.range.b), b, palette);
    if (selecting) drawSpan(g, selecting[0], selecting[1], b, palette);
    state.marks.forEach((p, i) => drawFlag(g, pixelOf(p), b.top, i ? 'B' : 'A', palette.focus,
      palette, b));
    const one = exact();
    if (!one || options.op === 'groups') return;
    if (hovered !== null) drawOutline(g, one, hovered, b, palette.text);
    if (state.sel) drawOutline(g, one, state.sel.id, b, palette.focus);
    drawLife(g, b, palette);
  }

  /** The life of the pinned allocation under the picture: it has no pixel of its own when small. */
  function drawLife(g, b, palette) {
    const life = ctx.pinnedLife();
    if (!life) return;
    const x1 = pixelOf(life.born);
    const x2 = pixelOf(life.end === null ? ctx.cover().states : life.end);
    const from = Math.max(b.left, Math.min(x1 === null ? b.left : x1, b.left + b.width));
    const to = Math.max(from + 2, Math.min(x2 === null ? b.left + b.width : x2, b.left + b.width));
    g.fillStyle = palette.focus;
    g.fillRect(from, b.top + b.height + 1, to - from, 3);
  }

  function drawFlags(g, b, palette) {
    const { peak, ooms } = ctx.cover();
    for (const oom of ooms) {
      const at = pixelOf(oom.state);
      if (at !== null) drawFlag(g, at, 16, ooms.length < 9 ? 'OOM' : '', palette.problem, palette,
        b);
    }
    const px = peak && pixelOf(peak.state);
    if (px === null || !peak) return;
    drawFlag(g, px, 4, 'peak ' + bytes(peak.bytes), palette.text, palette, b);
  }

  /** What lies under a point: { column, state, id, bytes }; null outside, or without a picture. */
  function at(px, py) {
    const one = exact();
    const b = box();
    const c = Math.floor((px - b.left) / b.width * (one ? one.W : 1));
    const r = Math.floor((py - b.top) / b.height * (one ? one.H : 1));
    if (!one || c < 0 || c >= one.W) return null;
    const inside = r >= 0 && r < one.H;
    return { column: c, row: r, state: one.shown[c], id: inside ? one.ids[r * one.W + c] : -1,
      group: inside ? one.group[r * one.W + c] : -1, bytes: yScale(yNow(), b).at(py), inside,
      perPixel: (one.y1 - one.y0) / one.H };
  }

  function hover(id) {
    if (id === hovered) return;
    hovered = id;
    soonOver();
  }

  const soonOver = perFrame(drawOver);
  const soon = perFrame(() => {
    compose();
    ask();
  });
  // Called between layout and paint, so that no frame shows a stretched canvas.
  new ResizeObserver(() => { compose(); ask(); }).observe(root);

  const plot = {
    node: root, canvas: base, over, op: options.op, box, at, hover, exact, yNow,
    selecting: (pair) => { selecting = pair; soonOver(); },
    update: soon,
    redraw: () => { if (picture) paint(); else compose(); },
    forget: () => { asked = ''; picture = null; },
    bands: () => { const one = exact(); return one ? bandsOf(one, Math.min(one.W - 1,
      columnOf(one.shown, ctx.store.get().at))) : []; },
  };
  gestures(over, plot, ctx);
  return plot;
}
