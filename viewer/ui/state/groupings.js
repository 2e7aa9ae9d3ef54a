// groupings.js - by what a recording can be split, in the order of the list box.  No DOM.
import { GROUPINGS } from '../../core/memory/live.js';

const groupings = [...GROUPINGS.map((by) => [by, by]), ['birth', 'time of birth']];

/** The groupings that a recording can be split by, as options of a list box. */
export function groupingsOf(cover) {
  return groupings.filter(([id]) => cover.by.includes(id));
}

export function nextGrouping(cover, by, step) {
  const ids = groupingsOf(cover).map(([id]) => id);
  return ids[(ids.indexOf(by) + step + ids.length) % ids.length];
}
