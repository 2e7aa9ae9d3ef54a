// frame.js - what a picture needs away from the page: a title, what it is of, a legend.
import { bytes } from '../../core/model/human.js';
import { cssOf, fadedFor, rgbFor } from './colours.js';
import { font } from './draw.js';
import { paintSwatch } from './paint.js';
import { cutTo } from './text.js';

const titleFont = font.replace('12px', 'bold 16px');
const margin = 12;
const [titleHeight, lineHeight, entryHeight] = [22, 18, 20];
const swatchSize = 12;
const least = 480;

/** Words in lines no wider than `width` pixels of `g`; a longer word is cut. */
function linesOf(g, text, width) {
  const lines = [];
  let line = '';
  for (const word of text.split(/ +/)) {
    const longer = line ? `${line} ${word}` : word;
    if (g.measureText(longer).width <= width) {
      line = longer;
      continue;
    }
    if (line) lines.push(line);
    line = cutTo(g, word, width);
  }
  return line ? [...lines, line] : lines;
}

/** The colour of a group; `found`, as of paintSwatch, is drawn over it.  Patterns are pixels. */
function drawSwatch(g, { given, found }, x, y, { palette, patterns }) {
  const past = [x + swatchSize, y + swatchSize];
  if (given && (patterns || palette.patterned)) {
    const canvas = document.createElement('canvas');
    paintSwatch(canvas, given, palette, patterns, found);
    g.drawImage(canvas, x, y, swatchSize, swatchSize);
    return;
  }
  if (given) {
    g.fillStyle = cssOf((found === null ? rgbFor : fadedFor)(palette, given));
    g.fillRect(x, y, swatchSize, swatchSize);
  }
  if (!found) return;
  g.fillStyle = palette.match;
  g.beginPath();
  if (found === 1) g.moveTo(x, y);
  for (const [px, py] of [[past[0], y], past, [x, past[1]]]) g.lineTo(px, py);
  g.fill();
}

/** Where the entries of a legend go: as many columns as the longest has room in. */
function placed(g, legend, width) {
  const texts = legend.map((entry) => ({ ...entry, value: entry.bytes === undefined ? '' :
    bytes(entry.bytes) }));
  const valueWidth = Math.max(0, ...texts.map(({ value }) => g.measureText(value).width));
  const whole = Math.max(0, ...texts.map(({ name }) => g.measureText(name).width));
  const around = swatchSize + 6 + 12 + valueWidth;
  const columns = Math.max(1, Math.min(legend.length, Math.floor((width + 28) /
    (whole + around + 28))));
  const rows = Math.ceil(legend.length / columns);
  const room = Math.min(whole, (width + 28) / columns - 28 - around);
  return { height: rows * entryHeight, entries: texts.map((entry, i) => ({ ...entry,
    name: cutTo(g, entry.name, room), x: Math.floor(i / rows) * (room + around + 28),
    y: i % rows * entryHeight, past: room + around })) };
}

function drawLegend(g, entries, x, y, look) {
  g.textBaseline = 'middle';
  for (const entry of entries) {
    const [left, middle] = [x + entry.x, y + entry.y + entryHeight / 2];
    drawSwatch(g, entry, left, middle - swatchSize / 2, look);
    g.fillStyle = look.palette.text;
    g.textAlign = 'left';
    g.fillText(entry.name, left + swatchSize + 6, middle);
    g.textAlign = 'right';
    if (entry.value) g.fillText(entry.value, left + entry.past, middle);
  }
}

/**
 * A drawing { width, height, draw(g) } in its frame, which is one too.  `frame`: title, facts
 * (texts below it) and legend: [{ name, bytes, and given, a group's colour, or found, or both }].
 */
export function framed({ width, height, draw }, { title, facts, legend }, look) {
  const ruler = document.createElement('canvas').getContext('2d');
  const all = Math.max(width, least);
  const room = all - 2 * margin;
  ruler.font = titleFont;
  const titles = linesOf(ruler, title, room);
  ruler.font = font;
  const lines = facts.flatMap((text) => linesOf(ruler, text, room));
  const { entries, height: below } = placed(ruler, legend, room);
  const top = margin + titles.length * titleHeight + lines.length * lineHeight + 6;
  return { width: all, height: top + height + below + margin + (below ? 8 : 0), draw: (g) => {
    g.textAlign = 'left';
    g.textBaseline = 'top';
    g.fillStyle = look.palette.text;
    g.font = titleFont;
    titles.forEach((text, i) => g.fillText(text, margin, margin + i * titleHeight));
    g.font = font;
    g.fillStyle = look.palette.muted;
    lines.forEach((text, i) =>
      g.fillText(text, margin, margin + titles.length * titleHeight + i * lineHeight));
    drawLegend(g, entries, margin, top + height + 8, look);
    g.save();
    g.translate(0, top);
    draw(g);
    g.restore();
  } };
}
