// colours.js - which colour stands for which group, in either theme.
import { inkOf, mixed, toned } from './tones.js';

const slots = ['parameter', 'gradient', 'optimizer-state', 'optimizer-temp', 'activation', 'input',
  'temporary', 'autograd-detail', 'workspace', 'persistent', 'unknown'];
export const otherSlot = slots.indexOf('unknown');

// Slot and whether the name shares its hue with another, of which it is a darker or lighter tint.
const categories = new Map(Object.entries({
  parameter: [0, 0], buffer: [0, 1], gradient: [1, 0], optimizer_state: [2, 0],
  parameter_copy: [2, 1],
  optimizer_temp: [3, 0], activation: [4, 0], input: [5, 0], kv_cache: [5, 1], temporary: [6, 0],
  autograd_detail: [7, 0], workspace: [8, 0], communication: [8, 1], persistent: [9, 0],
  unknown: [10, 0],
}));

/** Hues of families, the largest first; that of `hot` is none of them. */
const hues = [255, 168, 85, 310, 215, 135, 345, 285];
const hot = 38;
/** That of the other lines of its file. */
const warm = 52;
/** How much of a group's colour is left where a search shows others. */
const faded = 0.22;

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
    'shrank', 'focus', 'wash', 'free', 'hatch', 'control', 'frame', 'frame-next', 'match']) {
    palette[name] = of(name);
  }
  palette.slots = slots.map((name) => rgbOf(of(name)));
  palette.groundRgb = rgbOf(palette.ground);
  palette.matchRgb = rgbOf(palette.match);
  return palette;
}

/** What lines that share a hue have in common: their file. */
function familyOf(name) {
  return name.split(':')[0];
}

function slotOf(category) {
  const [slot, second] = categories.get(category) || [otherSlot, 0];
  return { slot, second: second === 1 };
}

/** Lines by the hue of their file and a tone of their own, what has no line by what it is for;
 * `line`, which an answer is about, has the hot hue, and the others of its file a warm one. */
function toneOf(families, { name, bare }, line) {
  const family = familyOf(name);
  if (bare !== undefined || categories.has(family)) return slotOf(bare ?? family);
  if (!families.has(family)) {
    const isHot = line && familyOf(line) === family;
    const taken = [...families.values()].filter((one) => one.hue !== hot).length;
    families.set(family, { hue: isHot ? hot : hues[taken % hues.length],
      // The first tone of the hot hue is the line's alone.
      next: isHot ? 1 : Math.floor(taken / hues.length) });
  }
  const of = families.get(family);
  return name === line ? { hue: hot, tone: 0, strength: 'strong' } :
    { hue: of.hue === hot ? warm : of.hue, tone: of.next++,
      strength: of.hue === hot ? 'warm' : 'quiet' };
}

/** Which colour each group has: categories their own, other groups that of their family. */
export function slotsOf(by, rows, line = null) {
  const given = new Map();
  const families = new Map();
  for (const row of rows) {
    given.set(row.key, by === 'category' || by === 'birth' ? slotOf(row.name)
      : toneOf(families, row, line));
  }
  return given;
}

/** The colour of what `slotsOf` gave. */
export function rgbFor(palette, given) {
  if (given.hue !== undefined) return toned(given, palette.dark);
  const rgb = palette.slots[given.slot] || palette.slots[otherSlot];
  return given.second ? mixed(rgb, palette.dark ? [255, 255, 255] : [0, 0, 0], 0.68) : rgb;
}

/** The same where a search shows others. */
export function fadedFor(palette, given) {
  return mixed(rgbFor(palette, given), palette.groundRgb, faded);
}

export function cssOf([r, g, b]) {
  return `rgb(${r}, ${g}, ${b})`;
}

/** Black or white, whichever reads better on a group. */
export function inkOn(palette, given) {
  return inkOf(rgbFor(palette, given));
}
