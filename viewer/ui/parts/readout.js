// readout.js - what lies under the pointer, in a corner of the picture.
import { bytes } from '../../core/model/human.js';
import { el, fill } from '../draw/dom.js';
import { lifeName, shown, words } from '../draw/text.js';

/** The line of an allocation: its culprit, else what is known of it. */
export function lineOf({ line, owner, category }) {
  return shown(line || owner || `(no stack) ${words(category)}`);
}

export function createReadout(host) {
  return { show: (d) => {
    host.hidden = !d;
    if (!d) return;
    fill(host, el('strong', { text: lineOf(d) }), ' ', el('span', { text:
      `${bytes(d.bytes)} ${words(d.category)}` }),
    el('span', { class: 'muted', text: lifeName(d) }));
  } };
}
