// paint.js - pictures of ids turned into pixels, in inks with patterns.
import { otherSlot } from './colours.js';

/** Bits of a picture's `mark`: 3 of shade, then these. */
const EXCLUDED = 8;
const BEFORE = 16;

// Away from the background only, so that contrast never falls.
function shaded(rgb, shade, dark) {
  const by = shade * 0.035;
  return rgb.map((v) => Math.round(dark ? v + (255 - v) * by : v * (1 - by)));
}

function grey(rgb) {
  const v = Math.round(0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]);
  return [v, v, v];
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
  (x, y) => (x & 7) === 0 && (y & 7) === 0,
];

function stripes(x, y) {
  return (x + y & 7) < 2;
}

function dotted(x, y) {
  return (x + (y & 2) & 3) === 0 && (y & 1) === 0;
}

/** Tables by group for `paintPicture`. */
export function makeInks(groups, given, palette, withPatterns) {
  const colour = new Uint32Array(groups * 16);
  const pattern = new Array(groups).fill(null);
  const second = new Uint8Array(groups);
  for (let g = 0; g < groups; g++) {
    const { slot, second: striped } = given.get(g) || { slot: otherSlot, second: false };
    for (let shade = 0; shade < 8; shade++) {
      const rgb = shaded(palette.slots[slot], shade, palette.dark);
      colour[g * 16 + shade] = packed(rgb);
      colour[g * 16 + EXCLUDED + shade] = packed(grey(rgb));
    }
    if (withPatterns || palette.patterned) pattern[g] = patterns[slot];
    second[g] = striped ? 1 : 0;
  }
  return { colour, pattern, second, ground: packed(palette.groundRgb), white: 0xffffffff };
}

/**
 * Pixels of a picture { W, H, ids (-1 none), group, mark }.  The top row of a band four or more
 * rows high is of the background's colour: that edge separates neighbours.
 */
export function paintPicture(picture, inks) {
  const { W, H, ids, group, mark } = picture;
  const pixels = new Uint32Array(W * H);
  const { colour, pattern, second, ground, white } = inks;
  for (let y = 0; y < H; y++) {
    const edges = y + 3 < H;
    for (let x = 0, i = y * W; x < W; x++, i++) {
      const id = ids[i];
      if (id < 0) continue;
      if (edges && id === ids[i + W] && id === ids[i + 2 * W] && id === ids[i + 3 * W] &&
          (y === 0 || id !== ids[i - W])) {
        pixels[i] = ground;
        continue;
      }
      const g = group[i];
      const m = mark[i];
      pixels[i] = colour[g * 16 + (m & 15)];
      if (second[g] && stripes(x, y)) pixels[i] = white;
      else if (m & BEFORE && dotted(x, y)) pixels[i] = ground;
      else if (pattern[g] && pattern[g](x, y)) pixels[i] = ground;
    }
  }
  return new ImageData(new Uint8ClampedArray(pixels.buffer), W, H);
}

/** Draws a swatch of a group, with its patterns. */
export function paintSwatch(canvas, given, palette, withPatterns) {
  canvas.width = canvas.height = 14;
  const inks = makeInks(1, new Map([[0, given]]), palette, withPatterns);
  const size = 14 * 14;
  const picture = { W: 14, H: 14, ids: new Int32Array(size), group: new Uint16Array(size),
    mark: new Uint8Array(size) };
  const image = paintPicture(picture, inks);
  new Uint32Array(image.data.buffer).subarray(0, 14).fill(inks.colour[0]);
  canvas.getContext('2d').putImageData(image, 0, 0);
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
