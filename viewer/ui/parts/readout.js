// readout.js - what lies under the pointer, in a corner of the picture.
import { bytes } from '../../core/model/human.js';
import { el, fill } from '../draw/dom.js';
import { lifeName, shown, words } from '../draw/text.js';

/** The line of an allocation: its culprit, else what is known of it. */
export function lineOf({ line, owner, category }) {
  return shown(line || owner || `(no stack) ${words(category)}`);
}

/** The text of a line in its file, where the page has it. */
export function sourceNode(text) {
  return text ? el('code', { class: 'source', text,
    title: 'as the file was when this page was made' }) : null;
}

/** `sourceOf(site)`: the text of a line. */
export function createReadout(host, sourceOf) {
  return { show: (d) => {
    host.hidden = !d;
    if (!d) return;
    fill(host, el('strong', { text: lineOf(d) }), ' ', sourceNode(sourceOf(d.line)),
      el('span', { text: `${bytes(d.bytes)} ${words(d.category)}` }),
      el('span', { class: 'muted', text: lifeName(d) }));
  } };
}
