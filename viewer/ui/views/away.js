// away.js - where the cursor is while it is out of sight: an arrow at the edge, which leads there.
import { el } from '../draw/dom.js';
import { eventName } from '../draw/text.js';

/** -1 where a state lies to the left of a span [from, past), 1 to the right, 0 in sight. */
export function sideOf(at, [from, past]) {
  return at < from ? -1 : at >= past ? 1 : 0;
}

/** The states in sight; null in time while no picture tells. */
function spanOf({ store, exact }) {
  const { x } = store.get();
  return x.mode === 'events' ? [x.from, x.to] : exact()?.span ?? null;
}

export function createAway(plot, travel) {
  const node = el('button', { type: 'button', class: 'away', hidden: true,
    title: 'bring the cursor back in sight', on: { click: () => {
      plot.node.focus();
      travel.showCursor();
    } } });
  plot.node.append(node);
  return { draw: () => {
    const { at } = plot.store.get();
    const span = spanOf(plot);
    const side = span ? sideOf(at, span) : 0;
    node.hidden = side === 0;
    if (!side) return;
    const word = `cursor: ${eventName(at)}`;
    node.textContent = side < 0 ? `\u25c2 ${word}` : `${word} \u25b8`;
    node.classList.toggle('right', side > 0);
  } };
}
