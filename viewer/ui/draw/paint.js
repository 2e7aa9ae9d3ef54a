// paint.js - pictures of ids turned into pixels, in inks with patterns.
import { fadedFor, otherSlot, rgbFor } from './colours.js';
import { mixed } from './tones.js';

/** Bits of a picture's `mark`. */
const EXCLUDED = 1;
const BEFORE = 2;

/** Pixels of a band from which on an edge sets it off from its neighbour. */
const leastEdged = 8;
/** How much of a band's colour its edge has. */
const edged = 0.7;

function packed([r, g, b]) {
  return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
}

const wave = [0, 1, 2, 1];
const patterns = [
  null,
  (x, y) => (x + y & 7) === 0,
  (x, y) => (x - y & 7) === 0,
  (x, y) => (x + y & 7) === 0 || (x - y & 7) === 0,
  (x, y) => (x & 3) === 0 && (y & 3) === 0,
  (x) => x % 6 === 0,
  (x, y) => y % 6 === 0,
  (x, y) => (y + wave[x >> 1 & 3]) % 6 === 0,
  (x, y) => (x & 7) === 0 || (y & 7) === 0,
  (x, y) => (x - y & 7) < 2,
  (x, y) => (x & 7) === 0 && (y & 7) === 0,
];

function stripes(x, y) {
  return (x + y & 7) < 2;
}

function dotted(x, y) {
  return (x + (y & 2) & 3) === 0 && (y & 1) === 0;
}

/** Tables by group for `paintPicture`: colours and edges, each followed by that of what a search
 * excludes.  `matching`: what is not excluded is what a search found, of the colour of matches. */
export function makeInks(groups, given, palette, withPatterns, matching = false) {
  const colour = new Uint32Array(groups * 2);
  const edge = new Uint32Array(groups * 2);
  const patterned = withPatterns || palette.patterned;
  const pattern = new Array(groups).fill(null);
  const second = new Uint8Array(groups);
  for (let g = 0; g < groups; g++) {
    const one = given.get(g) || { slot: otherSlot, second: false };
    const own = matching ? palette.matchRgb : rgbFor(palette, one);
    [own, fadedFor(palette, one)].forEach((rgb, i) => {
      colour[g * 2 + i] = packed(rgb);
      edge[g * 2 + i] = packed(mixed(rgb, palette.groundRgb, edged));
    });
    if (!patterned) continue;
    pattern[g] = patterns[(one.slot ?? one.hue + one.tone) % patterns.length];
    second[g] = one.second ? 1 : 0;
  }
  return { colour, edge, pattern, second, patterned, ground: packed(palette.groundRgb),
    white: 0xffffffff };
}

/**
 * Pixels of a picture { W, H, ids (-1 none), group, mark }.  The top row of a band eight or more
 * rows high is paler: that edge separates neighbours.
 */
export function paintPicture(picture, inks) {
  const { W, H, ids, group, mark } = picture;
  const pixels = new Uint32Array(W * H);
  const { colour, edge, pattern, second, patterned, ground, white } = inks;
  const below = (leastEdged - 1) * W;
  for (let y = 0; y < H; y++) {
    const edges = y + leastEdged <= H;
    for (let x = 0, i = y * W; x < W; x++, i++) {
      const id = ids[i];
      if (id < 0) continue;
      // A band is of one piece in its column.
      const g = group[i];
      const m = mark[i];
      if (edges && id === ids[i + below] && (y === 0 || id !== ids[i - W])) {
        pixels[i] = edge[g * 2 + (m & EXCLUDED)];
        continue;
      }
      pixels[i] = colour[g * 2 + (m & EXCLUDED)];
      if (!patterned) continue;
      if (second[g] && stripes(x, y)) pixels[i] = white;
      else if (m & BEFORE && dotted(x, y)) pixels[i] = ground;
      else if (pattern[g] && pattern[g](x, y)) pixels[i] = ground;
    }
  }
  return new ImageData(new Uint8ClampedArray(pixels.buffer), W, H);
}

/** Draws a swatch of a group, with its patterns; `found`: the share of it that a search finds,
 * which has the colour of matches, and the rest is faded; null: nothing is looked for. */
export function paintSwatch(canvas, given, palette, withPatterns, found = null) {
  canvas.width = canvas.height = 14;
  const inks = makeInks(1, new Map([[0, given]]), palette, withPatterns, found !== null);
  const size = 14 * 14;
  const picture = { W: 14, H: 14, ids: new Int32Array(size), group: new Uint16Array(size),
    mark: new Uint8Array(size).fill(found === null ? 0 : EXCLUDED) };
  // Some of it is the corner below the diagonal.
  for (let i = 0; i < size && found > 0; i++) {
    if (found === 1 || i % 14 + Math.floor(i / 14) >= 14) picture.mark[i] = 0;
  }
  const image = paintPicture(picture, inks);
  new Uint32Array(image.data.buffer).subarray(0, 14)
    .fill(inks.colour[picture.mark[0] & EXCLUDED]);
  canvas.getContext('2d').putImageData(image, 0, 0);
}

/** Draws a swatch of what a search found. */
export function paintMatch(canvas, palette) {
  canvas.width = canvas.height = 14;
  const g = canvas.getContext('2d');
  g.fillStyle = palette.match;
  g.fillRect(0, 0, 14, 14);
}

/** Diagonal lines over a rectangle: free, unknown, unattributed. */
export function hatch(context, x, y, w, h, colour, gap = 6) {
  if (w <= 0 || h <= 0) return;
  context.save();
  context.beginPath();
  context.rect(x, y, w, h);
  context.clip();
  context.beginPath();
  for (let at = x - h; at < x + w; at += gap) {
    context.moveTo(at, y + h);
    context.lineTo(at + h, y);
  }
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.stroke();
  context.restore();
}
