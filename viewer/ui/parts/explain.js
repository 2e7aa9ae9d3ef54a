// explain.js - the one-line explanation behind a `?`.
import { button, el } from '../draw/dom.js';

/** A `?` button that unfolds one sentence after its heading. */
export function explainButton(text) {
  const told = el('span', { class: 'muted', hidden: true, text });
  const ask = button('?', () => {
    told.hidden = !told.hidden;
    ask.setAttribute('aria-expanded', told.hidden ? 'false' : 'true');
  }, { 'aria-label': 'what is this', 'aria-expanded': 'false' });
  return [ask, told];
}
