// colours.js - which colour stands for which group, in either theme.

const slots = ['parameter', 'gradient', 'optimizer-state', 'optimizer-temp', 'activation', 'input',
  'temporary', 'autograd-detail', 'workspace', 'unknown'];
export const otherSlot = slots.length - 1;

// Slot and whether the second pattern marks the name, which shares its hue with another.
const categories = {
  parameter: [0, 0], buffer: [0, 1], gradient: [1, 0], optimizer_state: [2, 0],
  parameter_copy: [2, 1],
  optimizer_temp: [3, 0], activation: [4, 0], input: [5, 0], kv_cache: [5, 1], temporary: [6, 0],
  autograd_detail: [7, 0], workspace: [8, 0], communication: [8, 1], unknown: [9, 0],
  persistent: [9, 1],
};

function rgbOf(text) {
  const n = parseInt(text.trim().slice(1, 7), 16);
  return [n >> 16 & 255, n >> 8 & 255, n & 255];
}

/** The colours of the stylesheet as it stands: { dark, slots: [[r, g, b]], text, ground, … }. */
export function readPalette() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue('--' + name).trim();
  const palette = { dark: document.documentElement.dataset.theme === 'dark' };
  for (const name of ['ground', 'raised', 'line', 'text', 'muted', 'problem', 'advice', 'grew',
    'shrank', 'focus', 'wash', 'free', 'hatch', 'control', 'frame', 'frame-next']) {
    palette[name] = of(name);
  }
  palette.slots = slots.map((name) => rgbOf(of(name)));
  palette.groundRgb = rgbOf(palette.ground);
  return palette;
}

/** Which slot each group has: categories their own, else the nine largest at the peak. */
export function slotsOf(by, rows) {
  const given = new Map();
  rows.forEach((row, i) => {
    const known = by === 'category' || by === 'birth' ? categories[row.name] || [otherSlot, 0] :
      null;
    const [slot, second] = known || [i < otherSlot ? i : otherSlot, 0];
    given.set(row.key, { slot, second: second === 1 });
  });
  return given;
}

export function slotColour(palette, slot) {
  const [r, g, b] = palette.slots[slot] || palette.slots[otherSlot];
  return `rgb(${r}, ${g}, ${b})`;
}

/** Black or white, whichever reads better on a slot. */
export function inkOn(palette, slot) {
  const [r, g, b] = (palette.slots[slot] || palette.slots[otherSlot]).map((v) => {
    const c = v / 255;
    return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  const light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return (light + 0.05) / 0.05 > 1.05 / (light + 0.05) ? '#000000' : '#ffffff';
}
