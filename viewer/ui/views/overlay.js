// overlay.js - what lies over a plot: axes, names of bands, churn, ends, selections, flags.
import { bytes } from '../../core/model/human.js';
import { inkOn } from '../draw/colours.js';
import { align, drawBandEdge, drawCursor, drawField, drawFlag, drawLevel, drawOutline, drawSpan,
  drawXAxis, drawYAxis, font, label, line, yScale } from '../draw/draw.js';
import { hatch } from '../draw/paint.js';
import { runsOf } from '../draw/picture.js';
import { callings, groupText, grouped, withoutText } from '../draw/text.js';
import { isPart } from '../state/span.js';
import { bandAt, bandsHeight, drawBands, drawEdges, drawTicks } from './backdrop.js';

const churnHeight = 16;
const cursorWidth = 3;
const flagWidth = 200;
const axisHeight = 17;
const fieldWidth = 16;
const namedColumns = 24;    // where names of bands are looked for a place
const triedRuns = 8;
const leastNamed = 16;      // pixels of a band that has its name in it

/** Where the picture of a plot lies in its canvas. */
export function boxOf(width, height, { churn, drawY }, cover) {
  const below = axisHeight + (churn ? churnHeight + 3 : 0) + (drawY ? 0 : bandsHeight(cover));
  return { left: 58, top: 16, width: Math.max(20, width - 58 - 8),
    height: Math.max(20, height - 16 - below) };
}

function bandsTop({ box, options }) {
  const b = box();
  return b.top + b.height + axisHeight + (options.churn ? churnHeight + 3 : 0);
}

/** The step or phase whose name lies at a point of a plot; undefined: none. */
export function markAt(plot, px, py) {
  return plot.options.drawY ? undefined : bandAt(sceneOf(plot, null), bandsTop(plot), px, py);
}

function drawUnattributed({ g, cover, box: b, y, palette }) {
  const { adjust } = cover;
  if (!(adjust > 0)) return;
  const top = Math.max(b.top, yScale(y, b).of(adjust));
  hatch(g, b.left, top, b.width, b.top + b.height - top, palette.hatch);
  align(g, 'left', 'bottom');
  label(g, 'unattributed', b.left + 6, b.top + b.height - 2, palette);
}

function drawEnds({ g, cover, box: b, state, palette }) {
  const { before, startUnknown, cut, cutAt, states } = cover;
  const { mode, from, to } = state.x;
  if (mode !== 'events') return;
  const field = (left, word) => drawField(g, left, b, fieldWidth, word, palette);
  if (from === 0 && before > 0) field(b.left, 'before recording');
  if (from === 0 && startUnknown) field(b.left, 'start unknown');
  if (cut && to >= states) field(b.left + b.width - fieldWidth,
    'file ends here' + (cutAt ? `, at byte ${grouped(cutAt)}` : ''));
}

/** The runs of each group to be named in, { column, from, past }: first the largest, or one that is
 * nearly as large and further from the ends, where a name has room. */
function namedRuns(picture) {
  const best = new Map();
  for (let k = 0; k < namedColumns; k++) {
    const column = Math.floor((k + 0.5) * picture.W / namedColumns);
    const room = 1 - 0.3 * Math.abs((2 * k + 1) / namedColumns - 1);
    for (const [group, from, past] of runsOf(picture, column)) {
      const worth = (past - from) * room;
      if (!best.has(group)) best.set(group, []);
      best.get(group).push({ column, from, past, worth });
    }
  }
  for (const runs of best.values()) runs.sort((a, b) => b.worth - a.worth || a.column - b.column);
  return best;
}

/** Whether all of a name, `width` columns wide, lies in its group. */
function fits({ W, H, ids, group }, wanted, row, column, width) {
  const half = Math.ceil(width / 2) + 3;
  if (column - half < 0 || column + half >= W) return false;
  for (let c = column - half; c <= column + half; c += 4) {
    for (const y of [row - 5, row, row + 5]) {
      const i = y * W + c;
      if (y < 0 || y >= H || ids[i] < 0 || group[i] !== wanted) return false;
    }
  }
  return true;
}

/** The longest calling of a name that has room in a run of its group, { text, x, y }, or null. */
function nameIn({ g, box: b, picture, avoid }, group, name, { from, past, column }) {
  const perColumn = b.width / picture.W;
  const middle = b.left + (column + 0.5) * perColumn;
  const row = Math.floor((from + past) / 2);
  for (const text of callings(g, name, [260, 190, 130, 90, 60])) {
    const { width } = g.measureText(text);
    const clear = avoid === null || Math.abs(avoid - middle) > width / 2 + 4;
    if (clear && fits(picture, group, row, column, width / perColumn)) {
      return { text, x: middle, y: b.top + row * b.height / picture.H };
    }
  }
  return null;
}

/** The longest calling of a group that one of its runs has a place for, as `nameIn`. */
function namedIn(scene, group, name, runs) {
  const { box: b, picture } = scene;
  const least = leastNamed * picture.H / b.height;
  return runs.slice(0, triedRuns).filter(({ from, past }) => past - from >= least)
    .map((run) => nameIn(scene, group, name, run))
    .reduce((most, one) => (one && !(most?.text.length >= one.text.length) ? one : most), null);
}

/** The names of groups, where a run of theirs is large enough to hold them. */
function drawBandNames(scene) {
  const { g, look, state, palette, picture } = scene;
  if (state.by === 'birth' || picture.matching) return;
  align(g, 'center', 'middle');
  for (const [group, runs] of namedRuns(picture)) {
    const name = look.groupName(group);
    const named = name && namedIn(scene, group, groupText(state.by, name), runs);
    if (!named) continue;
    g.fillStyle = inkOn(palette, look.slotOf(group));
    g.fillText(named.text, named.x, named.y);
  }
}

function drawChurn({ g, box: b, palette, picture }) {
  const top = b.top + b.height + 3;
  const most = picture.churn.reduce((a, v) => Math.max(a, v), 1);
  const w = b.width / picture.W;
  g.fillStyle = palette.muted;
  picture.churn.forEach((v, c) => {
    const h = v / most * churnHeight;
    if (h > 0) g.fillRect(b.left + c * w, top + churnHeight - h, Math.max(w, 0.5), h);
  });
  align(g, 'right', 'middle');
  g.fillText('churn', b.left - 6, top + churnHeight / 2);
}

/** What is selected, beneath all words. */
function drawSpans({ g, plot, box, state, palette }) {
  const { pixelOf, selected } = plot;
  if (selected) drawSpan(g, selected[0], selected[1], box, palette);
  else if (state.range) drawSpan(g, pixelOf(state.range.a), pixelOf(state.range.b), box, palette);
}

function drawSelections(scene) {
  const { g, plot, box, state, palette, picture } = scene;
  const { pixelOf } = plot;
  state.marks.forEach((p, i) =>
    drawFlag(g, pixelOf(p), box.top, i ? 'B' : 'A', palette.focus, palette, box));
  if (!picture || plot.op === 'groups') return;
  for (const [id, colour] of [[plot.hovered, palette.text], [state.sel?.id ?? null,
    palette.focus]]) {
    if (id === null) continue;
    const band = plot.bandOf(id);
    if (plot.own) drawOutline(g, picture, id, box, colour);
    else if (band) drawBandEdge(g, band, picture.W, scene.y, box, colour);
  }
  drawLife(scene);
}

/** The life of the pinned allocation under the picture: it has no pixel of its own when small. */
function drawLife({ g, cover, plot, box: b, palette }) {
  const life = plot.pointer.pinned();
  if (!life) return;
  const end = b.left + b.width;
  const x1 = plot.pixelOf(life.born);
  const x2 = plot.pixelOf(life.end ?? cover.states);
  if (x1 === null || x1 > end || x2 < b.left) return;
  const from = Math.max(b.left, Math.min(x1, end));
  const to = Math.max(from + 2, Math.min(x2, end));
  g.fillStyle = palette.focus;
  g.fillRect(from, b.top + b.height + 1, to - from, 3);
}

/** The peak of what is drawn, with its words. */
function peakFlag({ cover, plot, state, picture }) {
  const { peak } = state.only && state.query && !plot.own ? picture ?? {} : cover;
  if (!peak) return null;
  return { ...peak, words: peak === cover.peak ? isPart(cover) ? 'peak here' : 'peak' :
    'peak of the matches' };
}

function drawFlags(scene) {
  const { g, cover, plot, box, palette } = scene;
  const { ooms } = cover;
  const peak = peakFlag(scene);
  const flag = (p, top, word, colour) => {
    const at = plot.pixelOf(p);
    if (at !== null) drawFlag(g, at, top, word, colour, palette, box);
  };
  // One word where two flags would touch: that of the failure.
  const near = peak && ooms.some(({ state }) =>
    Math.abs(plot.pixelOf(state) - plot.pixelOf(peak.state)) < flagWidth);
  if (peak) flag(peak.state, 4, near ? '' : `${peak.words} ${bytes(peak.bytes)}`, palette.text);
  ooms.forEach(({ state, bytes: wanted }, i) => {
    // Of several that would touch the last one is told.
    const next = i + 1 < ooms.length ? plot.pixelOf(ooms[i + 1].state) - plot.pixelOf(state) :
      Infinity;
    flag(state, 4, ooms.length >= 9 || next < flagWidth ? '' : 'OOM' + (wanted === null ? '' :
      `: asked for ${bytes(wanted)}`), palette.problem);
  });
}

function drawAxes({ g, plot, box: b, y, state, palette, picture }) {
  const { drawY, churn } = plot.options;
  const bottom = b.top + b.height;
  (drawY || drawYAxis)(g, y, b, palette, picture);
  drawXAxis(g, state.x, b, palette, bottom + (churn ? churnHeight + 3 : 0));
  line(g, b.left, bottom + 0.5, b.left + b.width, bottom + 0.5, palette.control);
}

/** What is taken out, so that no picture is taken for the whole. */
function drawWithout({ g, box: b, state, palette }) {
  g.save();
  g.font = `bold ${font}`;
  align(g, 'left', 'top');
  label(g, withoutText(state.without), b.left + 6, b.top + 4, palette);
  g.restore();
}

/** All that is drawn of a plot on `g`, an empty canvas of its size. */
export function sceneOf(plot, g) {
  const { store, recording, look } = plot;
  const cover = plot.options.drawY ? recording.cover() : recording.left();
  return { g, plot, look, cover, box: plot.box(), y: plot.yNow(),
    state: store.get(), palette: look.palette(), picture: plot.exact(), pixelOf: plot.pixelOf,
    avoid: plot.pixelOf(store.get().at) };
}

/** Where the line of the cursor is drawn: of what is too narrow for it behind its state, so that a
 * peak of one event is not covered; null where that is not known. */
function besideOf({ pixelOf }, { box, picture, state: { at } }) {
  const px = pixelOf(at);
  const states = picture ? picture.span[1] - picture.span[0] : Infinity;
  return px === null || box.width / states >= cursorWidth ? px : px + 2;
}

/** Draws what lies over the picture. */
export function drawOver(g, plot) {
  const scene = sceneOf(plot, g);
  const { box, y, palette, picture } = scene;
  const memory = !plot.options.drawY;
  drawSpans(scene);
  drawAxes(scene);
  if (memory) {
    drawBands(scene, bandsTop(plot));
    drawTicks(scene);
  }
  if (memory && picture) drawEdges(scene);
  if (memory) drawUnattributed(scene);
  if (memory && picture) drawBandNames(scene);
  if (plot.options.churn && picture && picture.churn) drawChurn(scene);
  drawEnds(scene);
  drawSelections(scene);
  const cap = plot.recording.capacity();
  if (cap && memory) drawLevel(g, cap.bytes, y, box, cap.name, palette);
  drawFlags(scene);
  if (memory && scene.state.without) drawWithout(scene);
  drawCursor(g, besideOf(plot, scene), box, palette);
}
