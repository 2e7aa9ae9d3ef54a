// paint.js - pictures of ids turned into pixels, in inks with patterns.
import { fadedFor, otherSlot, rgbFor } from './colours.js';
import { mixed } from './tones.js';

/** Bits of a picture's `mark`: 3 of shade, then these. */
const EXCLUDED = 8;
const BEFORE = 16;

/** Pixels of a band from which on an edge sets it off from its neighbour. */
const leastEdged = 8;
/** How much of a band's colour its edge has. */
const edged = 0.7;

// Away from the background only, so that contrast never falls.
function shaded(rgb, shade, dark) {
  const by = shade * 0.02;
  return rgb.map((v) => Math.round(dark ? v + (255 - v) * by : v * (1 - by)));
}

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

/** Tables by group for `paintPicture`; `matching`: what is not excluded is what a search found, and
 * is of the colour of matches. */
export function makeInks(groups, given, palette, withPatterns, matching = false) {
  const colour = new Uint32Array(groups * 16);
  const patterned = withPatterns || palette.patterned;
  const edge = new Uint32Array(groups * 2);
  const pattern = new Array(groups).fill(null);
  const second = new Uint8Array(groups);
  for (let g = 0; g < groups; g++) {
    const one = given.get(g) || { slot: otherSlot, second: false };
    const own = rgbFor(palette, one);
    const weak = fadedFor(palette, one);
    edge[g * 2] = packed(mixed(matching ? palette.matchRgb : own, palette.groundRgb, edged));
    edge[g * 2 + 1] = packed(mixed(weak, palette.groundRgb, edged));
    for (let shade = 0; shade < 8; shade++) {
      // Tones tell lines apart already.
      const rgb = matching ? palette.matchRgb : own;
      colour[g * 16 + shade] = packed(one.hue === undefined || matching ?
        shaded(rgb, shade, palette.dark) : rgb);
      colour[g * 16 + EXCLUDED + shade] = packed(weak);
    }
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
        pixels[i] = edge[g * 2 + (m & EXCLUDED ? 1 : 0)];
        continue;
      }
      pixels[i] = colour[g * 16 + (m & 15)];
      if (!patterned) continue;
      if (second[g] && stripes(x, y)) pixels[i] = white;
      else if (m & BEFORE && dotted(x, y)) pixels[i] = ground;
      else if (pattern[g] && pattern[g](x, y)) pixels[i] = ground;
    }
  }
  return new ImageData(new Uint8ClampedArray(pixels.buffer), W, H);
}

/** Draws a swatch of a group, with its patterns; `faded`: as a search leaves it. */
export function paintSwatch(canvas, given, palette, withPatterns, faded = false) {
  canvas.width = canvas.height = 14;
  const inks = makeInks(1, new Map([[0, given]]), palette, withPatterns);
  if (faded) inks.colour.copyWithin(0, EXCLUDED);
  const size = 14 * 14;
  const picture = { W: 14, H: 14, ids: new Int32Array(size), group: new Uint16Array(size),
    mark: new Uint8Array(size) };
  const image = paintPicture(picture, inks);
  new Uint32Array(image.data.buffer).subarray(0, 14).fill(inks.colour[0]);
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
