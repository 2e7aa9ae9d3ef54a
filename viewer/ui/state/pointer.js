// pointer.js - how the page answers the pointer over a picture.
import { bytes } from '../../core/model/human.js';
import { words } from '../draw/text.js';
import { termOf } from './terms.js';

/** Shows an allocation in passing: outline, status line, grey details. */
function pass(pointer, id, aloud = false) {
  const { store, ask, stage, status } = pointer;
  if (id === pointer.passing) {
    status.draw();
    return;
  }
  pointer.passing = id;
  pointer.passed = null;
  const plot = stage.plot();
  if (plot) plot.hover(id);
  if (id === null) {
    passed(pointer, null);
    return;
  }
  ask('row', { id, state: store.get().at, what: 'pointer' }).then((d) => {
    if (!d || pointer.passing !== id) return;
    passed(pointer, d);
    const line = d.line || d.owner || 'no stack';
    if (aloud) status.speak(() => `${words(d.category)}, ${bytes(d.bytes)}, ${line}`);
  }, status.failed);
}

function passed(pointer, d) {
  pointer.passed = d;
  pointer.tell(d);
  pointer.status.draw();
}

/** What shares the pixel under the pointer, when a pixel is more than the allocation shown. */
async function askPile(pointer, found) {
  const { store, ask, stage, status } = pointer;
  const { by, at, without } = store.get();
  const { H, y0 } = stage.picture();
  const low = y0 + (H - 1 - found.row) * found.perPixel;
  const pile = await ask('pile', { state: found.state, low, high: low + found.perPixel,
    by: by === 'age' ? `age@${at}` : by, without });
  if (!pile || pointer.over !== found || pile.count < 2) return;
  pointer.pile = pile;
  status.draw();
}

/** `found`: what `plot.at` says of the point under the pointer, or null. */
function hovered(pointer, plot, found) {
  const { store, recording, status } = pointer;
  const id = found && found.id >= 0 ? found.id : null;
  plot.hover(id);
  pointer.over = found;
  pointer.pile = null;
  pointer.peek(found ? found.state : null);
  if (plot.op === 'groups') {
    status.draw();
    return;
  }
  pass(pointer, id);
  if (plot.op === 'raster' && id !== null && !store.get().only &&
      recording.cover().ops.includes('pile')) {
    askPile(pointer, found).catch(status.failed);
  }
}

/** The cursor goes to the point; an allocation is pinned, a group stacked alone. */
function clicked({ store, look }, plot, found) {
  if (!found) return;
  const { sel, by } = store.get();
  const { state: at, id, group } = found;
  if (plot.op !== 'groups') {
    store.move({ at, sel: id < 0 || (sel && sel.id === id) ? null : { kind: 'alloc', id } });
  } else if (group < 0 || id < 0) store.move({ at });
  else store.jump({ at, view: 'stack', query: termOf(by, look.groupOf(group)), only: true });
}

function pinPassing({ store, passing: id }) {
  const { sel } = store.get();
  if (id !== null) store.move({ sel: sel && sel.id === id ? null : { kind: 'alloc', id } });
}

/** Pins an allocation, and goes to a state where one is given. */
function pin({ store }, id, at) {
  const sel = { kind: 'alloc', id };
  store.jump(at === undefined ? { sel } : { sel, at });
}

/** What the engine said of the pinned allocation. */
function selected(pointer, d) {
  pointer.selected = d;
  const plot = pointer.stage.plot();
  if (plot) plot.update();
}

/** `tell(d)`: shows what the engine says of the allocation under the pointer, null of none;
 * `peek(p)` who holds the memory there. */
export function createPointer({ store, ask, recording, look, stage, status, tell, peek }) {
  const pointer = { store, ask, recording, look, stage, status, tell, peek,
    over: null,         // what a plot says of the point under the pointer
    pile: null,         // what shares that pixel
    passing: null,      // the allocation under the pointer,
    passed: null,       // and what the engine says of it
    selected: null };   // what the engine says of the pinned allocation
  return {
    hovering: () => pointer,
    passing: () => pointer.passing,
    pinned: () => pointer.selected,
    pass: (id, aloud) => pass(pointer, id, aloud),
    hovered: (plot, found) => hovered(pointer, plot, found),
    clicked: (plot, found) => clicked(pointer, plot, found),
    pinPassing: () => pinPassing(pointer),
    pin: (id, at) => pin(pointer, id, at),
    selected: (d) => selected(pointer, d),
  };
}
