// svg.js - a drawing surface with the part of Canvas 2D that the page uses, which writes SVG.

const anchors = { left: 'start', center: 'middle', right: 'end' };
const baselines = { top: '.8em', middle: '.35em', bottom: '-.2em' };
const kept = ['fillStyle', 'strokeStyle', 'lineWidth', 'globalAlpha', 'textAlign', 'textBaseline',
  'dash', 'font'];
/** Of a text in a font other than that of all. */
const fonts = /^(bold )?(\d+)px/;

const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text as XML has it: what XML cannot hold is left out. */
function xmlText(text) {
  return String(text).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd')
    .replace(/[&<>"]/g, (c) => entities[c]);
}

const round = (n) => String(Math.round(n * 100) / 100);

/** A colour as `name="#rrggbb"`, with its opacity where it has one. */
function paint(name, colour, alpha) {
  const [, rgb, a] = /^(#[0-9a-f]{6})([0-9a-f]{2})$/i.exec(colour) || [null, colour, 'ff'];
  const opacity = alpha * parseInt(a, 16) / 255;
  return ` ${name}="${xmlText(rgb)}"${opacity < 1 ? ` ${name}-opacity="${round(opacity)}"` : ''}`;
}

const methods = {
  measureText: (g, text) => ({ width: g.measure(text, g.font) }),
  setLineDash: (g, dash) => { g.dash = dash; },
  beginPath: (g) => { g.d = ''; },
  moveTo: (g, x, y) => { g.d += `M${round(x)} ${round(y)}`; },
  lineTo: (g, x, y) => { g.d += `${g.d ? 'L' : 'M'}${round(x)} ${round(y)}`; },
  rect: (g, x, y, w, h) => {
    g.d += `M${round(x)} ${round(y)}h${round(w)}v${round(h)}h${round(-w)}z`;
  },

  stroked: (g) => {
    const dash = g.dash.length ? ` stroke-dasharray="${g.dash.map(round).join(' ')}"` : '';
    return paint('stroke', g.strokeStyle, g.globalAlpha) +
      (g.lineWidth === 1 ? '' : ` stroke-width="${round(g.lineWidth)}"`) + dash;
  },

  filled: (g) => paint('fill', g.fillStyle, g.globalAlpha),
  fill: (g) => { g.parts.push(`<path d="${g.d}"${g.filled()}/>`); },
  stroke: (g) => { g.parts.push(`<path d="${g.d}" fill="none"${g.stroked()}/>`); },

  box: (g, x, y, w, h, look) => {
    g.parts.push(`<rect x="${round(x)}" y="${round(y)}" width="${round(w)}" ` +
      `height="${round(h)}"${look}/>`);
  },

  /** Rectangles that continue the one before are one. */
  fillRect: (g, x, y, w, h) => {
    const look = g.filled();
    const { last } = g;
    const goes = last && last.n === g.parts.length && last.look === look && last.y === y &&
      last.h === h && Math.abs(last.x + last.w - x) < 1e-6;
    if (goes) g.parts.pop();
    const from = goes ? last.x : x;
    const wide = goes ? last.w + w : w;
    g.box(from, y, wide, h, look);
    g.last = { n: g.parts.length, look, x: from, y, w: wide, h };
  },

  strokeRect: (g, x, y, w, h) => { g.box(x, y, w, h, ' fill="none"' + g.stroked()); },

  text: (g, text, x, y, look) => {
    const dy = baselines[g.textBaseline];
    const [, bold, size] = fonts.exec(g.font) ?? [];
    g.parts.push(`<text x="${round(x)}" y="${round(y)}"${dy ? ` dy="${dy}"` : ''} ` +
      `text-anchor="${anchors[g.textAlign] || 'start'}"${bold ? ' font-weight="bold"' : ''}` +
      `${(size ?? '12') === '12' ? '' : ` font-size="${size}"`}${look}>${xmlText(text)}</text>`);
  },

  fillText: (g, text, x, y, most = Infinity) => {
    g.text(text, x, y, (g.measureText(text).width > most ?
      ` textLength="${round(most)}" lengthAdjust="spacingAndGlyphs"` : '') + g.filled());
  },

  strokeText: (g, text, x, y) => {
    g.text(text, x, y, ` fill="none" stroke-linejoin="round"${g.stroked()}`);
  },

  /** A canvas as a picture inside. */
  drawImage: (g, image, x, y, w, h) => {
    g.parts.push(`<image x="${round(x)}" y="${round(y)}" width="${round(w)}" ` +
      `height="${round(h)}" preserveAspectRatio="none" image-rendering="pixelated" ` +
      `href="${image.toDataURL('image/png')}"/>`);
  },

  save: (g) => {
    g.saved.push([g.groups, Object.fromEntries(kept.map((name) => [name, g[name]]))]);
  },

  restore: (g) => {
    const [groups, before] = g.saved.pop();
    for (; g.groups > groups; g.groups--) g.parts.push('</g>');
    Object.assign(g, before);
  },

  open: (g, attributes) => {
    g.parts.push(`<g ${attributes}>`);
    g.groups++;
  },

  translate: (g, x, y) => { g.open(`transform="translate(${round(x)} ${round(y)})"`); },
  rotate: (g, angle) => { g.open(`transform="rotate(${round(angle * 180 / Math.PI)})"`); },

  clip: (g) => {
    const id = `c${++g.clips}`;
    g.parts.push(`<clipPath id="${id}"><path d="${g.d}"/></clipPath>`);
    g.open(`clip-path="url(#${id})"`);
  },

  /** All of it; `ground`: the colour beneath. */
  finish: (g, title, ground) => {
    const [w, h] = [round(g.width), round(g.height)];
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" ` +
      `viewBox="0 0 ${w} ${h}" role="img" font-family="system-ui, sans-serif" font-size="12">\n` +
      `<title>${xmlText(title)}</title>\n<rect width="${w}" height="${h}"` +
      `${paint('fill', ground, 1)}/>\n${g.parts.join('\n')}\n</svg>\n`;
  },
};

/** The surface.  `measure(text, font)`: the width of a text in pixels. */
export function createSvg(width, height, measure) {
  const g = { width, height, measure, vector: true, parts: [], d: '', dash: [], saved: [],
    groups: 0, clips: 0, lineWidth: 1, globalAlpha: 1, fillStyle: '#000000',
    strokeStyle: '#000000', font: '', textAlign: 'left', textBaseline: 'alphabetic' };
  for (const [name, f] of Object.entries(methods)) g[name] = (...rest) => f(g, ...rest);
  return g;
}

/**
 * The areas of the groups of a picture W columns wide: by group, rectangles [first column, past
 * column, first row, past row].  `runsAt(c)`: the runs [group, first row, past row] of a column.
 */
export function areasOf(W, runsAt) {
  const areas = new Map();
  let open = new Map();
  for (let c = 0; c <= W; c++) {
    const next = new Map();
    for (const [group, from, past] of c < W ? runsAt(c) : []) {
      const key = `${group} ${from} ${past}`;
      const run = open.get(key) || [c, c, from, past];
      run[1] = c + 1;
      if (run[0] === c) {
        if (!areas.has(group)) areas.set(group, []);
        areas.get(group).push(run);
      }
      next.set(key, run);
    }
    open = next;
  }
  return areas;
}
