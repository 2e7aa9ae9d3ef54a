// splitters.js - splitters moved by mouse and keys.
import { byId } from '../draw/dom.js';

function splitter(handle, target, property, sign, least, most, moved) {
  const size = () => target.getBoundingClientRect()[property];
  const set = (value) => {
    const next = Math.min(Math.max(least, value), most());
    target.style.setProperty(property, next + 'px');
    handle.setAttribute('aria-valuenow', String(Math.round(next)));
    moved();
  };
  const across = property === 'height';
  let drag = null;
  handle.addEventListener('pointerdown', (event) => {
    drag = { at: across ? event.clientY : event.clientX, size: size() };
    handle.setPointerCapture(event.pointerId);
  });
  handle.addEventListener('pointermove', (event) => {
    if (drag) set(drag.size + sign * ((across ? event.clientY : event.clientX) - drag.at));
  });
  handle.addEventListener('pointerup', () => { drag = null; });
  handle.addEventListener('keydown', (event) => {
    const step = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || across !== event.key.length < 8 && !across) return;
    event.preventDefault();
    event.stopPropagation();
    set(size() + sign * step * 16);
  });
  handle.setAttribute('aria-valuemin', String(least));
  handle.setAttribute('aria-valuenow', String(Math.round(size())));
}

export function setSplitters(moved) {
  splitter(byId('split-side'), byId('side'), 'width', -1, 220, () => innerWidth * 0.7, moved);
}
