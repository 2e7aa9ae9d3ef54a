// look.js - the colours of the theme, and the colour and the name of each group.
import { otherSlot } from '../draw/colours.js';

export function createLook() {
  let palette = null;
  let slots = new Map();
  let groups = new Map();
  return {
    palette: () => palette,
    slots: () => slots,
    /** Grey for what was given no colour, in each picture and in each legend. */
    slotOf: (group) => slots.get(group) || { slot: otherSlot, second: false },
    /** { name } of a group, with the number of a `site`; undefined where nobody told of it. */
    groupOf: (group) => groups.get(group),
    groupName: (group) => groups.get(group)?.name || '',
    setPalette: (next) => { palette = next; },
    setGroups: (nextSlots, rows) => {
      slots = nextSlots;
      groups = new Map(rows.map((row) => [row.key, row]));
    },
    addNames: (rows) => { for (const row of rows) groups.set(row.key, row); },
  };
}
