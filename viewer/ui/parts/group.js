// group.js - the name of a group as a button.
import { button } from '../draw/dom.js';
import { groupText } from '../draw/text.js';
import { termOf } from '../state/terms.js';

/** The name of a group, which finds its allocations; `source`: the text of a line. */
export function groupButton(find, by, group, source = '') {
  return button(groupText(by, group.name), () => find(termOf(by, group), false),
    { class: 'plain', title: [group.name, source].filter(Boolean).join(' \u2013 ') });
}
