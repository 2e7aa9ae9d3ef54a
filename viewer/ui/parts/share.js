// share.js - the dialog that gives what is on screen to somebody else: the end of an address.
import { button, byId, el, fill } from '../draw/dom.js';

/** A text to be copied, alone in its field. */
function field(place, name, what, text) {
  const input = el('input', { readonly: true, value: text, 'aria-label': name, spellcheck: 'false',
    on: { focus: () => input.select() } });
  return el('div', { class: 'share' }, input, button('copy', () => place.copy(what, text)));
}

function open({ place, recording }) {
  const dialog = byId('dialog');
  const { fragment, whole } = place.address();
  const words = location.protocol === 'file:' ? 'Send the file of this page, then append this to ' +
    'its address, wherever it lies then:' : 'Append this to the address of the page:';
  fill(dialog, el('h2', { text: `Share what is on screen of ${recording.fileName()}` }),
    el('p', { text: words }), field(place, 'end of the address', 'end of the address', fragment),
    el('p', { text: 'For yourself, the whole link (Shift+C copies it):' }),
    field(place, 'whole link', 'link', whole),
    el('div', { class: 'buttons' }, button('close', () => dialog.close())));
  dialog.showModal();
}

export function createShare({ place, recording }) {
  return { open: () => open({ place, recording }) };
}
