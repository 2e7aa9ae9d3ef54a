// bands.js - a row of steps or phases by name, below a picture of time.
import { align, line } from './draw.js';
import { cutTo } from './text.js';

const height = 13;
const narrow = 4;        // pixels of a band below which it fades
const numberRoom = 40;   // pixels that the number of a step takes, with room beside it

/** The number of a step, where it is one of those that have room; `pixels` for each. */
function numberOf(name, pixels) {
  const [, number] = /^step (\d+)$/.exec(name) ?? [];
  return number % 10 ** Math.ceil(Math.log10(numberRoom / pixels)) === 0 ? number : '';
}

/** Bands { name, i, a, b } from pixel to pixel, those in sight, narrow ones faded; of steps
 * without room for their names every tenth, hundredth and so on has its number. */
export function drawBandRow(g, bands, top, box, palette) {
  const each = box.width / Math.max(1, bands.length);
  for (const { i, a, b } of bands) {
    g.globalAlpha = Math.min(1, (b - a) / narrow);
    g.fillStyle = i % 2 ? palette.raised : palette.free;
    g.fillRect(a, top, b - a, height);
    line(g, a, top, a, top + height, palette.control);
  }
  g.globalAlpha = 1;
  g.fillStyle = palette.text;
  align(g, 'left', 'middle');
  for (const { name, a, b } of bands) {
    const text = cutTo(g, name, b - a - 8) || numberOf(name, each);
    const fits = a + 4 + g.measureText(text).width < box.left + box.width;
    if (text && fits) g.fillText(text, a + 4, top + 7);
  }
}
