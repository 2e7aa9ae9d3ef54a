// steps.js - the view Steps: curves over one another above a table; two clicks compare two steps.
import { bytes, count, delta, duration } from '../../core/model/human.js';
import { button, choice, el, fill, perFrame, setOptions } from '../draw/dom.js';
import { prepare } from '../draw/draw.js';
import { drawCurve } from '../draw/spark.js';
import { bytesColumn, createTable } from '../draw/table.js';
import { eventName, shortened, shown, withoutText } from '../draw/text.js';
import { derived, following } from '../state/derived.js';
import { marked } from '../state/marks.js';
import { revealed } from '../state/span.js';
import { axisOf, boxOf, colourOf, drawAll, drawLoud, stepNear } from './overlaid.js';

const fewSteps = 'Fewer than two steps were found, so none can be laid over another. Record ' +
  'several steps; where they are not found by themselves, put each inside ' +
  'torch.profiler.record_function(f"step {i}").';
const keys = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };
const swatch = [72, 18];

/** `step 3, chunk 2`: with what the program calls it. */
function nameOf({ name, mark }) {
  return mark && mark !== name ? `${name}, ${shortened(mark, 40)}` : name;
}

function whatOf({ steps, outlier }, i) {
  const { complete, oom } = steps[i];
  return [oom && `\u25bc ${complete ? 'a request failed' : 'incomplete'}`,
    outlier?.step === i && 'stands out'].filter(Boolean).join(', ');
}

/** All of a step in words. */
function sentenceOf(answer, i) {
  const step = answer.steps[i];
  return [`${nameOf(step)}: peak ${bytes(step.peak)} at ${eventName(step.peakState)}`,
    `${bytes(step.start)} at its start` +
      (step.complete ? `, ${delta(step.growth)} at its end` : ''), whatOf(answer, i)]
    .filter(Boolean).join(', ');
}

function leadOf({ steps, left, curves, outlier }, without) {
  const parts = without ? [`The steps are shown ${withoutText(without)}.`] : [];
  if (steps.length < 2) parts.push(fewSteps);
  if (curves < steps.length) {
    parts.push(`Of ${count(steps.length)} steps ${count(curves)} are drawn; the table has all.`);
  }
  if (left) {
    parts.push(`${left === 1 ? '1 more step is' : `${count(left)} more steps are`} not among the ` +
      'events that this page holds.');
  }
  if (outlier) {
    const step = steps[outlier.step];
    parts.push(`One step stands out: ${nameOf(step)} reaches ${bytes(step.peak)}, ` +
      `${bytes(outlier.above)} above the median of the others.`);
  }
  return parts.join(' ');
}

/** What the marks ask for next. */
function hintOf({ steps }, marks) {
  const a = steps.find(({ peakState }) => peakState === marks[0]);
  return marks.length === 1 ? `A is ${a ? nameOf(a) : eventName(marks[0])}; click another step ` +
    'to see what changed (A is then the earlier of both)' :
    'Click two steps to see what changed between their peaks';
}

/** Which of two steps is A: the earlier, whichever was clicked first. */
function whichText({ steps }, marks) {
  const [a, b] = marks.map((at) => {
    const step = steps.find(({ peakState }) => peakState === at);
    return step ? nameOf(step) : eventName(at);
  });
  return `A is ${a}, the earlier; B is ${b}`;
}

/** A small curve of a step in its colour, on the scale of all. */
function swatchOf(view, i) {
  const palette = view.look.palette();
  const { curve } = view.answer.steps[i];
  const canvas = el('canvas', { 'aria-hidden': 'true' });
  drawCurve(canvas, swatch[0] * curve.length / view.answer.columns, swatch[1],
    { requested: curve }, view.y.to,
    { ...palette, muted: colourOf(view.answer, i, palette) });
  return canvas;
}

/** A or B, where the step is marked. */
function tagNode({ tags }, i) {
  return el('b', { 'data-tag': '', text: tags.has(i) ? `${tags.get(i)} ` : '' });
}

/** What a row has no column for, in words. */
function restOf({ mark: name, peakState, events, duration: time, start, end }) {
  return [name && shortened(name, 40), `peak at ${eventName(peakState)}`,
    `${count(events)} events`, duration(time),
    `from ${bytes(start)} to ${bytes(end)}`].filter(Boolean).join(', ');
}

function phasesOf({ phases }) {
  return phases.map(({ name, peak }) => `${shown(name).replaceAll('_', ' ')} ${bytes(peak)}`)
    .join(', ');
}

function columnsOf(view) {
  const act = (f) => (row) => () => f(view, row.i);
  // What did not end is measured at no end.
  const signed = (id, name, explain) => ({ explain, id, name, number: true, unit: 'bytes',
    value: (row) => (row.complete ? row[id] : null),
    text: (row) => (row.complete && row[id] !== null ? delta(row[id]) : '-'),
    order: (row) => (row.complete && row[id] !== null ? Math.abs(row[id]) : null) });
  const [marks, zooms] = [act(mark), act(zoom)];
  return [
    { id: 'name', name: 'step', order: (row) => row.i, cell: (row) => [
      el('span', { class: 'curve' }, swatchOf(view, row.i)), tagNode(view, row.i),
      button(row.name, marks(row), { class: 'link', 'data-step': row.i, title: restOf(row) }), ' ',
      el('span', { class: row.oom ? 'problem' : 'muted', text: whatOf(view.answer, row.i) })] },
    bytesColumn('peak', 'peak'),
    { id: 'peak_event', name: 'at', folded: true, value: (row) => row.peakState - 1 },
    { ...bytesColumn('start', 'start'), folded: true },
    { ...bytesColumn('end', 'end'), folded: true },
    signed('growth', 'growth', 'what is held at its end, less what was held at its start'),
    signed('sinceLast', 'since the last', 'what is held at its end, less what was held at the ' +
      'end of the step before: also what came between the two'),
    { id: 'events', name: 'events', folded: true },
    { id: 'duration', name: 'time', unit: 'us', folded: true },
    { id: 'phases', name: 'peaks of its phases', fixed: true, name_: true, value: phasesOf,
      cell: (row) => el('span', { text: phasesOf(row), title: phasesOf(row) }) },
    { id: 'mark', name: 'called', folded: true },
    { id: 'zoom', name: '', fixed: true, unsaved: true, value: () => null, text: () => '',
      cell: (row) => button('zoom', zooms(row)) },
  ];
}

/** A, then B at the peak of a step, and what changed from one to the other; again: no mark. */
function mark({ store, answer, status }, i) {
  status.say('');
  const state = store.get();
  const at = answer.steps[i].peakState;
  const x = revealed(state.x, at, store.limits());
  if (state.marks.includes(at)) {
    store.jump({ marks: state.marks.filter((one) => one !== at), range: null });
    return;
  }
  const next = marked(state, at);
  store.jump({ ...next, at, x, view: next.marks.length === 2 ? 'diff' : state.view });
  if (next.marks.length === 2) status.note(whichText(answer, next.marks));
}

function zoom({ store, answer, status }, i) {
  status.say('');
  const { first, last, peakState } = answer.steps[i];
  store.jump({ view: 'stack', x: { mode: 'events', from: first, to: last + 1 }, at: peakState });
}

/** Another step is looked at: its curve, its row, and what is said of it. */
function lookAt(view, i) {
  if (i === view.current) return;
  view.current = i;
  view.drawOver();
  markRows(view);
  view.status.say(i < 0 ? '' : sentenceOf(view.answer, i));
}

/* The rows stay, as one of them may have the focus, and a press that begins on one ends on it. */
function markRows(view) {
  for (const row of view.body.querySelectorAll('tr[data-row]')) {
    row.setAttribute('aria-selected', stepOf(row) === view.current);
    row.querySelector('[data-tag]').replaceWith(tagNode(view, stepOf(row)));
  }
}

/* The step of what lies in a row; -1: none. */
function stepOf(node) {
  const row = node.closest('tr[data-row]');
  return row ? Number(row.querySelector('[data-step]').dataset.step) : -1;
}

function hearKey(view, event) {
  const { steps } = view.answer;
  const { key } = event;
  if (event.ctrlKey || event.altKey || event.metaKey || !steps.length) return;
  const to = { Home: 0, End: steps.length - 1 }[key] ?? (keys[key] === undefined ? -1 :
    Math.min(Math.max(0, view.current + keys[key]), steps.length - 1));
  if (to < 0 && (view.current < 0 || !['Enter', 'f'].includes(key))) return;
  event.preventDefault();
  event.stopPropagation();
  if (key === 'Enter') mark(view, view.current);
  else if (key === 'f') zoom(view, view.current);
  else {
    lookAt(view, to);
    view.status.speak(() => sentenceOf(view.answer, to));
  }
}

function hear(view) {
  const { node, body } = view;
  const at = ({ clientX, clientY }) => {
    const { left, top } = node.getBoundingClientRect();
    return stepNear(view.answer, view.y, view.box(), clientX - left, clientY - top);
  };
  const on = (target, type, stepAt, act) => target.addEventListener(type, (event) => {
    const i = stepAt(event);
    if (i >= 0) act(view, i);
  });
  on(node, 'pointermove', at, lookAt);
  on(node, 'click', at, mark);
  on(node, 'dblclick', at, zoom);
  on(body, 'pointerover', ({ target }) => stepOf(target), lookAt);
  on(body, 'focusin', ({ target }) => stepOf(target), lookAt);
  on(body, 'dblclick', ({ target }) => stepOf(target), zoom);
  node.addEventListener('pointerleave', () => view.status.say(''));
  node.addEventListener('keydown', (event) => hearKey(view, event));
}

/** Draws by one of the two functions of overlaid.js. */
function paint(view, draw, g) {
  const { answer, current, tags, recording, look, y } = view;
  draw(g, answer, { y, box: view.box(), palette: look.palette(), capacity: recording.capacity(),
    current, tags });
}

/** Draws on a canvas of its own, as large as the plot, before the next frame. */
function layer(view, draw, props) {
  const { node } = view;
  const canvas = el('canvas', props);
  node.append(canvas);
  return perFrame(() =>
    paint(view, draw, prepare(canvas, node.clientWidth, node.clientHeight)));
}

/** The steps that are A and B. */
function showMarks(view) {
  const { answer: { steps }, store, bar } = view;
  const { marks } = store.get();
  view.tags = new Map(steps.flatMap(({ peakState }, i) =>
    (marks.includes(peakState) ? [[i, 'AB'[marks.indexOf(peakState)]]] : [])));
  fill(bar.hint, steps.length > 1 ? hintOf(view.answer, marks) : '');
  markRows(view);
  view.drawOver();
}

/** Curves, table and words of the answer. */
function show(view) {
  const { answer, store, recording, node, body, bar } = view;
  const { x } = store.get();
  view.y = axisOf(answer, recording.capacity());
  const { time } = recording.cover();
  setOptions(bar.axis.select, [['events', 'events'], ['time', 'time', !time]], x.mode);
  fill(bar.lead, leadOf(answer, view.store.get().without));
  for (const one of [node, body, bar.axis.node]) one.hidden = answer.steps.length === 0;
  node.setAttribute('aria-label', `Requested bytes of ${count(answer.steps.length)} steps, each ` +
    'from its start on; arrows go from step to step, Enter marks one, F zooms to it');
  view.table.set(answer.steps.map((step, i) => ({ ...step, i })), null, true);
  view.draw();
  showMarks(view);
}

/** Asks for curves as wide as the plot. */
function ask(view) {
  const { at, x, without } = view.store.get();
  view.asker.ask('steps', { mode: x.mode, W: view.box().width, without }, (got) => {
    view.current = got.steps.findIndex(({ first, last }) => first <= at && at <= last);
    view.answer = got;
    show(view);
  });
}

/** Draws again what the state changes. */
function update(view) {
  if (!view.host.clientWidth) return;
  for (const one of [view.curves, view.painted, view.sized]) one();
  showMarks(view);
}

/** What the view shows, each with what it follows from. */
function follow(view) {
  const { store, box } = view;
  view.curves = derived(() => {
    const { file, dev, x, without } = store.get();
    return [file, dev, x.mode, box().width, without];
  }, () => ask(view));
  view.painted = following(() => [view.look.palette()?.dark, store.get().cap], () => show(view));
  view.sized = following(() => [box().height], () => view.draw());
}

export function createSteps(host, { store, recording, look: colours, status, newAsker, setAxis }) {
  const bar = { lead: el('span'), hint: el('span', { class: 'muted' }),
    axis: choice('x', [], 'events', setAxis) };
  const node = el('div', { class: 'plot steps', tabindex: 0, role: 'group' });
  const body = el('div', { class: 'pane padded' });
  host.append(el('div', { class: 'bar' }, bar.axis.node, el('p', null, bar.lead, ' ', bar.hint)),
    node, body);
  const view = { host, store, recording, look: colours, status, bar, node, body,
    answer: { steps: [], left: 0, curves: 0, length: 1, columns: 1, outlier: null },
    asker: newAsker(), y: { from: 0, to: 1 }, tags: new Map(),
    current: -1,        // the step that is looked at
    box: () => boxOf(node.clientWidth, node.clientHeight) };
  view.draw = layer(view, drawAll, { role: 'img', 'aria-label': 'curves of the steps' });
  view.drawOver = layer(view, drawLoud, { 'aria-hidden': 'true' });
  view.table = createTable(body, columnsOf(view), { caption: 'Steps',
    key: ({ i }) => i === view.current, pick: ({ i }) => mark(view, i) });
  hear(view);
  follow(view);
  const soon = perFrame(() => update(view));
  new ResizeObserver(soon).observe(node);
  return { update: soon, redraw: () => show(view), forget: view.curves.forget,
    table: () => view.table,
    drawing: () => (view.answer.steps.length ? { width: node.clientWidth,
      height: node.clientHeight,
      draw: (g) => [drawAll, drawLoud].forEach((draw) => paint(view, draw, g)) } : null) };
}
