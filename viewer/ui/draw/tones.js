// tones.js - colours made by number: tones of a hue, mixtures, the ink that reads on them.  No DOM.

/** Lightness of the tones of a hue, in turn, so that neighbours differ. */
const tones = { light: [0.59, 0.655, 0.5, 0.63, 0.44, 0.55],
  dark: [0.7, 0.59, 0.8, 0.65, 0.55, 0.75],
  warmlight: [0.62, 0.665, 0.58, 0.65, 0.53], warmdark: [0.72, 0.84, 0.66, 0.78, 0.6] };
const chroma = { strong: 0.2, warm: 0.11, quiet: 0.09 };
/** How much of the chroma is left where a hue has more tones than that. */
const pale = 0.5;

const rounded = (v) => Math.round(Math.min(1, Math.max(0, v)) * 255);

function encoded(v) {
  return v <= 0.0031308 ? 12.92 * v : 1.055 * v ** (1 / 2.4) - 0.055;
}

/** Linear sRGB of a colour in OKLCH (Ottosson 2020); parts outside of 0 to 1 cannot be shown. */
function linearOf(lightness, c, hue) {
  const a = c * Math.cos(hue * Math.PI / 180);
  const b = c * Math.sin(hue * Math.PI / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s];
}

/** The colour of a tone of a hue, `strength` of chroma: quiet, warm or strong.  Once all have had
 * their turn, they come again paler, and only then the same. */
export function toned({ hue, tone, strength }, dark) {
  const list = tones[(strength === 'warm' ? 'warm' : '') + (dark ? 'dark' : 'light')];
  let c = chroma[strength] * (Math.floor(tone / list.length) % 2 ? pale : 1);
  let rgb = linearOf(list[tone % list.length], c, hue);
  for (; c > 0 && rgb.some((v) => v < 0 || v > 1); c -= 0.01) {
    rgb = linearOf(list[tone % list.length], c, hue);
  }
  return rgb.map((v) => rounded(encoded(Math.max(0, v))));
}

/** `part` of one colour, the rest of another. */
export function mixed(one, other, part) {
  return one.map((v, i) => Math.round(other[i] + (v - other[i]) * part));
}

/** Black or white, whichever reads better on a colour. */
export function inkOf(rgb) {
  const [r, g, b] = rgb.map((v) => {
    const c = v / 255;
    return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  const light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return (light + 0.05) / 0.05 > 1.05 / (light + 0.05) ? '#000000' : '#ffffff';
}
