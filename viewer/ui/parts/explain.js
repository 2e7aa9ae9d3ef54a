// explain.js - the one-line explanation behind a `?`.
import { button, el } from '../draw/dom.js';

/** A `?` button that unfolds one sentence after its heading. */
export function explainButton(text) {
  const words = el('span', { class: 'muted', hidden: true, text });
  const ask = button('?', () => {
    words.hidden = !words.hidden;
    ask.setAttribute('aria-expanded', words.hidden ? 'false' : 'true');
  }, { 'aria-label': 'what is this', 'aria-expanded': 'false' });
  return [ask, words];
}
