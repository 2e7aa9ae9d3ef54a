// capacity.js - the box in which a person says how much memory the device has.
import { bytes } from '../../core/model/human.js';
import { el, fill } from '../draw/dom.js';
import { parseBytes } from '../draw/text.js';

let boxes = 0;

const wrongText = 'no size: a number with GiB, MiB or TiB';

/** { node, show(cap) }: a labelled box that changes the state.  A text that is no size turns the
 * label into that, as it has room for no more; `note` says what is one. */
export function createCapacity(store, note) {
  const id = `capacity-fault-${++boxes}`;
  const fault = el('span', { class: 'offscreen', id, role: 'status' });
  const name = el('span', { class: 'capacity', text: 'capacity' });
  const judge = () => {
    const text = box.value.trim();
    const value = parseBytes(text, 'gib');
    const wrong = text !== '' && value === null;
    box.setAttribute('aria-invalid', String(wrong));
    fill(fault, wrong ? wrongText : '');
    fill(name, wrong ? 'no size' : 'capacity');
    box.title = wrong ? wrongText : '';
    return { value, wrong };
  };
  const box = el('input', { type: 'text', placeholder: 'e.g. 80GiB', autocomplete: 'off',
    spellcheck: 'false', 'aria-describedby': id, on: {
      input: () => { if (fault.textContent) judge(); },
      change: () => {
        const { value, wrong } = judge();
        if (wrong) note(wrongText);
        else store.jump({ cap: value });
      } } });
  return { node: [el('label', { class: 'choice' }, name, ' ', box), fault], show: (cap) => {
    if (document.activeElement === box || fault.textContent) return;
    box.value = cap ? bytes(cap).replace(/\.00(?= )/, '').replace(' ', '') : '';
  } };
}
