// look.js - the colours of the theme, and the colour and the name of each group.
import { otherSlot } from '../draw/colours.js';

export function createLook() {
  let palette = null;
  let slots = new Map();
  let names = new Map();
  return {
    palette: () => palette,
    slots: () => slots,
    /** Grey for what was given no colour, in each picture and in each legend. */
    slotOf: (group) => slots.get(group) || { slot: otherSlot, second: false },
    groupName: (group) => names.get(group) || '',
    setPalette: (next) => { palette = next; },
    setGroups: (nextSlots, rows) => {
      slots = nextSlots;
      names = new Map(rows.map(({ key, name }) => [key, name]));
    },
    addNames: (rows) => { for (const { key, name } of rows) names.set(key, name); },
  };
}
