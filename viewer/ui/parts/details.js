// details.js - one allocation: what it is, how long it lives, and the stack that made it.
import { bytes, count, duration, exactBytes } from '../../core/model/human.js';
import { button, el, fill } from '../draw/dom.js';
import { quotedFile } from '../draw/shell.js';
import { drawCurve } from '../draw/spark.js';
import { baseName, lifeName, shown, words } from '../draw/text.js';
import { derived } from '../state/derived.js';
import { termOf } from '../state/terms.js';
import { lineOf, sourceNode } from './readout.js';
import { editorLink } from './editor.js';

const sparkWidth = 120;

/** Frames of native code may have no file. */
function named(frame) {
  return frame.file && frame.file !== '??';
}

/** As Python prints it: innermost last. */
export function stackText(stack) {
  return stack.slice().reverse().map((frame) =>
    `  File "${shown(frame.file)}", line ${frame.line}, in ${shown(frame.func)}`).join('\n') + '\n';
}

/** Rows of a stack: frames, and runs of library frames as one row when folded. */
export function foldStack(stack, culprit, folded) {
  const rows = [];
  for (let i = 0; i < stack.length; i++) {
    if (!folded || stack[i].kind === 1 || i === culprit) {
      rows.push({ frame: stack[i], culprit: i === culprit });
      continue;
    }
    const from = i;
    while (i + 1 < stack.length && stack[i + 1].kind !== 1 && i + 1 !== culprit) i++;
    rows.push({ folded: i - from + 1 });
  }
  return rows;
}

function frameNode(frame, { editor, editorPath }) {
  const link = editorLink(editor, editorPath, frame.file, frame.line);
  if (!named(frame)) return frame.func;
  const name = baseName(frame.file);
  const place = [el('span', { class: 'muted', text: frame.file.slice(0, -name.length) }),
    `${name}:${frame.line}`];
  return [link ? el('a', { href: link }, place) : place, '  ', frame.func];
}

function stackNode(stack, culprit, { store, settings }) {
  const { folded } = store.get();
  return el('ol', { class: 'stack' }, foldStack(stack, culprit, folded).map((row) => (row.folded ?
    el('li', { class: 'library' }, button(
      `\u25b8 ${row.folded} library frame${row.folded > 1 ? 's' : ''}`,
      () => store.move({ folded: false }), { class: 'plain muted' })) :
    el('li', { class: row.culprit ? 'culprit' : row.frame.kind === 1 ? '' : 'library' },
      frameNode(row.frame, settings)))));
}

/** What the program said of its tensor, but for its name and type. */
function tensorPairs(tensor) {
  if (!tensor) return [];
  const { kind, of, shared } = tensor;
  return [['kind', words(kind || '-') + (of ? ` of ${of}` : '')],
    ...(shared ? [['shared with', shared]] : [])];
}

function pairsOf(d, { steps }) {
  const slack = d.block === null || d.block === undefined ? null : d.block - d.bytes;
  const pairs = [
    ...tensorPairs(d.tensor),
    ['requested', exactBytes(d.bytes)],
    ['block', slack === null ? '-' : `${exactBytes(d.block)} (${words(d.source || '-')}), ` +
      `slack ${bytes(slack)}`],
    ['life', lifeName(d)],
  ];
  if (d.times) {
    pairs.push(['time', duration(d.times[0]) + (d.end === null ? ' \u2013' :
      ` \u2013 ${duration(d.times[1])}`) +
      (d.end === null ? '' : `, ${duration(d.times[1] - d.times[0])} long`)]);
  }
  if (steps.length) pairs.push(['step', d.step || 'in none']);
  pairs.push(['category', `${words(d.category)} (rule ${d.rule || '-'}, ` +
    `confidence ${d.sure || '-'})`]);
  pairs.push(['phase', words(d.phase || '-')], ['stream', d.stream], ['pool', d.pool],
    ['origin', words(d.origin || '-')], ['address', d.address || '-']);
  if (d.wait) pairs.push(['pending', `${count(d.wait)} states before its free completed`]);
  if (d.context) pairs.push(['context', d.context]);
  if (d.same) pairs.push(['same site', `${count(d.same.live)} live, ${count(d.same.ever)} ever`]);
  return pairs;
}

function buttons(d, { place, find, zoomToLife }) {
  return el('div', { class: 'buttons' },
    d.stack.length ? button('copy stack', () => place.copy('stack', stackText(d.stack))) : null,
    button('copy link', place.copyLink),
    button('find same', () => find(d.site ? termOf('site', { name: d.line, site: d.site }) :
      d.line ? termOf('line', d.line) : termOf('category', d.category), false)),
    button('zoom to life', () => zoomToLife({ id: d.id })));
}

/** The most bytes that the line holds in each part of the recording. */
function curveNode({ curve }, { look }) {
  if (!curve) return null;
  const top = Math.max(...curve);
  const text = `this site over the recording, at most ${bytes(top)}`;
  const canvas = el('canvas', { class: 'spark', role: 'img', 'aria-label': text });
  drawCurve(canvas, sparkWidth, 22, { requested: curve }, top || 1, look.palette());
  return [el('p', { class: 'muted', text }), canvas];
}

function neighbours(list) {
  if (!list || !list.length) return null;
  return [el('h3', { text: 'beside it in the segment, at the cursor' }),
    el('p', { class: 'muted', text: list.map((n) =>
      `${n.side} ${bytes(n.bytes)} ${n.name}`).join(' \u00b7 ') })];
}

function render(host, d, details) {
  const { store, recording } = details;
  const cover = recording.cover();
  const pairs = pairsOf(d, cover).map(([name, value]) => [el('dt', { text: name }), el('dd',
    { text: value })]);
  fill(host,
    el('h2', { class: 'identity' }, lineOf(d)),
    sourceNode(recording.sourceOf(d.line)),
    d.module ? el('div', null, el('span', { class: 'muted', text: `module ${d.module}` })) : null,
    d.tensor ? el('div', { class: 'tensor' }, d.tensor.name, ' ',
      el('span', { class: 'muted', text: d.tensor.type })) : null,
    el('div', null, el('strong', { text: bytes(d.bytes) }), ` ${words(d.category)}`),
    el('div', { class: 'muted' }, `${lifeName(d)}${d.step ? ', ' + d.step : ''}`),
    buttons(d, details),
    d.stack.length ? stackNode(d.stack, d.culprit, details) :
      el('p', { class: 'muted', text: 'no stacks recorded' +
        (cover.has.stacks ? '' : ' (stacks="all" at capture would have them)') }),
    d.owner && d.stack.length ? el('p', { class: 'muted', text: 'owner: ' + d.owner }) : null,
    el('dl', null, pairs),
    curveNode(d, details),
    d.freeStack.length ? [el('h3', { text: 'freed by' }), stackNode(d.freeStack, -1, details)] :
      null,
    neighbours(d.neighbours),
    el('p', null, el('span', { class: 'muted', text: 'in a terminal: ' }), el('code', { text:
      `vramscope peak ${quotedFile(recording.fileName())} --at ` +
        (store.get().at === 0 ? 'start' : store.get().at - 1) })));
}

/** `selected(d)` hears what the engine says of the pinned allocation. */
export function createDetails(host, { store, newAsker, recording, look, settings, place,
  find, zoomToLife, selected }) {
  const details = { store, recording, look, settings, place, find, zoomToLife };
  let pinned = null;
  const asker = newAsker();

  function draw() {
    host.hidden = !pinned;
    host.parentNode.classList.toggle('pinning', Boolean(pinned));
    host.classList.toggle('pinned', Boolean(pinned));
    if (pinned) render(host, pinned, details);
  }

  function ask() {
    const { sel, at } = store.get();
    if (!sel) {
      pinned = null;
      draw();
      selected(null);
      return;
    }
    asker.ask('row', { id: sel.id, state: at, columns: sparkWidth }, (d) => {
      if (!store.get().sel) return;
      pinned = d;
      draw();
      selected(d);
    });
  }

  const update = derived(() => {
    const { sel, file, dev, folded, at } = store.get();
    const { editor, editorPath } = settings;
    return [sel, file, dev, folded, sel && at, editor, editorPath, recording.cover().complete];
  }, ask);
  draw();
  return { update, redraw: draw, forget: update.forget, pinned: () => pinned };
}
