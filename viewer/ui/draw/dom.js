// dom.js - making elements.  Text goes in as text, never as markup.
import { shown } from './text.js';

/** An element; `props`: class, text, and attributes or listeners ({ on: { click: f } }). */
export function el(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key === 'class') node.className = value;
    else if (key === 'text') node.textContent = shown(value);
    else if (key === 'on') for (const [type, f] of Object.entries(value)) listen(node, type, f);
    else node.setAttribute(key, value === true ? '' : shown(value));
  }
  add(node, children);
  return node;
}

function listen(node, type, f) {
  node.addEventListener(type, f, type === 'wheel' ? { passive: false } : undefined);
}

function add(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(shown(child)));
  }
}

/** Replaces what `node` holds. */
export function fill(node, ...children) {
  node.textContent = '';
  add(node, children);
  return node;
}

export function button(label, act, props) {
  return el('button', { type: 'button', ...props, on: { click: act } }, label);
}

/** A labelled list box; `options` are [value, label, disabled]. */
export function choice(label, options, value, act) {
  const select = el('select', { on: { change: () => act(select.value) } });
  setOptions(select, options, value);
  return { node: el('label', { class: 'choice' }, label + ' ', select), select };
}

export function setOptions(select, options, value) {
  fill(select, options.map(([id, name, off]) =>
    el('option', { value: id, selected: id === value, disabled: off }, name)));
  select.value = value;
}

export function byId(id) {
  return document.getElementById(id);
}

export function isPrinting() {
  return 'printing' in document.documentElement.dataset;
}

/** Pixels of a picture for each of the page's: paper has twice as many. */
export function pixelRatio() {
  return Math.max(isPrinting() ? 2 : 0, self.devicePixelRatio || 1);
}

/** A canvas of the size of its box in device pixels; true when it changed. */
export function fitCanvas(canvas, width, height) {
  const ratio = pixelRatio();
  const w = Math.max(1, Math.round(width * ratio));
  const h = Math.max(1, Math.round(height * ratio));
  if (canvas.width === w && canvas.height === h) return false;
  canvas.width = w;
  canvas.height = h;
  return true;
}

/** Calls `act` once per frame however often it is asked. */
export function perFrame(act) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      act();
    });
  };
}

/** Text to the clipboard; a selected field stands in where the browser refuses. */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = el('textarea', { class: 'offscreen', 'aria-hidden': 'true' });
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand('copy');
    field.remove();
    return done;
  }
}
