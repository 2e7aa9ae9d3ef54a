// capacity.js - the box in which a person says how much memory the device has.
import { bytes } from '../../core/model/human.js';
import { el, fill } from '../draw/dom.js';
import { parseBytes } from '../draw/text.js';

let boxes = 0;

/** { node, show(cap) }: a labelled box that changes the state, and what is wrong with its text. */
export function createCapacity(store) {
  const id = `capacity-fault-${++boxes}`;
  const fault = el('span', { class: 'problem', id, role: 'status' });
  const judge = () => {
    const text = box.value.trim();
    const value = parseBytes(text, 'gib');
    const wrong = text !== '' && value === null;
    box.setAttribute('aria-invalid', String(wrong));
    fill(fault, wrong ? 'no size: a number with GiB, MiB or TiB' : '');
    return { value, wrong };
  };
  const box = el('input', { type: 'text', placeholder: '80GiB', autocomplete: 'off',
    spellcheck: 'false', 'aria-describedby': id, on: {
      input: () => { if (fault.textContent) judge(); },
      change: () => {
        const { value, wrong } = judge();
        if (!wrong) store.jump({ cap: value });
      } } });
  return { node: [el('label', { class: 'choice' }, 'capacity ', box), fault], show: (cap) => {
    if (document.activeElement === box || fault.textContent) return;
    box.value = cap ? bytes(cap).replace(/\.00(?= )/, '').replace(' ', '') : '';
  } };
}
