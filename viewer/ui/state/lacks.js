// lacks.js - what of a recording the page is without, in words.  No DOM.
import { count } from '../../core/model/human.js';

/** Which events of a device the page has, where that is not all. */
function heldText(device) {
  const { window, states, tables } = device ?? {};
  if (!window) return '';
  const from = window.first ? `events ${count(window.first - 1)}` : 'events from the start';
  const all = count(states - 1);
  const held = window.last ? `${from} to ${count(window.last - 1)} of ${all} only` :
    `the start alone, and none of ${all} events`;
  return `The page holds ${held}: the ` +
    `${count(tables.alloc?.rows ?? 0)} of ${count(window.of_allocations)} allocations that live ` +
    'then. The curves of the overview are of all events. ';
}

/** What becomes of numbers that are larger than this page can count. */
function clippedText(device) {
  return device?.clipped ? `Sizes and addresses above 2^53 \u2212 1 (${count(device.clipped)} in ` +
    'the columns of this page) are too large for it: such a size is shown and added as 2^53 ' +
    '\u2212 1, and such an address is not shown. The report has the true sums. ' : '';
}

/** Files beside a single one that were not read; with several the view of all names them. */
function unreadText({ files, unread = [] }) {
  return files.length > 1 ? '' : unread.map(({ file, why }) => `Not read: ${file}: ${why}. `)
    .join('');
}

/** What of the recording the page is without; '' where it has all. */
export function lacksOf(head, { file, dev }) {
  const device = head.files[file].devices[dev];
  const missing = (head.left_out ?? []).join(', ');
  return unreadText(head) + heldText(device) + clippedText(device) +
    (missing && `To stay small the page goes without ${missing}.`);
}
