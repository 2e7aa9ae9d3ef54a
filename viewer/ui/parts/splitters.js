// splitters.js - the splitter between the picture and what stands beside it, by mouse and keys.
import { byId } from '../draw/dom.js';

const least = 220;
const stride = 16;
const mostShare = 0.7;      // of the window

/** `moved()` draws what is of the width. */
export function setSplitters(moved) {
  const [handle, side] = ['split-side', 'side'].map(byId);
  const size = () => side.getBoundingClientRect().width;
  const set = (value) => {
    const next = Math.min(Math.max(least, value), innerWidth * mostShare);
    side.style.setProperty('width', next + 'px');
    handle.setAttribute('aria-valuenow', String(Math.round(next)));
    moved();
  };
  let drag = null;
  handle.addEventListener('pointerdown', (event) => {
    drag = { at: event.clientX, size: size() };
    handle.setPointerCapture(event.pointerId);
  });
  handle.addEventListener('pointermove', (event) => {
    if (drag) set(drag.size + drag.at - event.clientX);
  });
  handle.addEventListener('pointerup', () => { drag = null; });
  handle.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: 1, ArrowRight: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    set(size() + step * stride);
  });
  handle.setAttribute('aria-valuemin', String(least));
  handle.setAttribute('aria-valuenow', String(Math.round(size())));
}
