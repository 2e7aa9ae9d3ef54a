// svg.js - a drawing surface with the part of Canvas 2D that the page uses, which writes SVG.

const anchors = { left: 'start', center: 'middle', right: 'end' };
const baselines = { top: '.8em', middle: '.35em', bottom: '-.2em' };
const kept = ['fillStyle', 'strokeStyle', 'lineWidth', 'globalAlpha', 'textAlign', 'textBaseline',
  'dash'];

const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text as XML has it: what XML cannot hold is left out. */
export function xmlText(text) {
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

/** The surface.  `measure(text)`: the width of a text in pixels. */
export class Svg {
  constructor(width, height, measure) {
    Object.assign(this, { width, height, measure, vector: true, parts: [], d: '', dash: [],
      saved: [], groups: 0, clips: 0, lineWidth: 1, globalAlpha: 1, fillStyle: '#000000',
      strokeStyle: '#000000', textAlign: 'left', textBaseline: 'alphabetic' });
  }

  measureText(text) { return { width: this.measure(text) }; }
  setLineDash(dash) { this.dash = dash; }
  beginPath() { this.d = ''; }
  moveTo(x, y) { this.d += `M${round(x)} ${round(y)}`; }
  lineTo(x, y) { this.d += `L${round(x)} ${round(y)}`; }
  rect(x, y, w, h) { this.d += `M${round(x)} ${round(y)}h${round(w)}v${round(h)}h${round(-w)}z`; }

  stroked() {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.map(round).join(' ')}"` : '';
    return paint('stroke', this.strokeStyle, this.globalAlpha) +
      (this.lineWidth === 1 ? '' : ` stroke-width="${round(this.lineWidth)}"`) + dash;
  }

  filled() { return paint('fill', this.fillStyle, this.globalAlpha); }
  fill() { this.parts.push(`<path d="${this.d}"${this.filled()}/>`); }
  stroke() { this.parts.push(`<path d="${this.d}" fill="none"${this.stroked()}/>`); }

  box(x, y, w, h, look) {
    this.parts.push(`<rect x="${round(x)}" y="${round(y)}" width="${round(w)}" ` +
      `height="${round(h)}"${look}/>`);
  }

  /** Rectangles that continue the one before are one. */
  fillRect(x, y, w, h) {
    const look = this.filled();
    const { last } = this;
    const goes = last && last.n === this.parts.length && last.look === look && last.y === y &&
      last.h === h && Math.abs(last.x + last.w - x) < 1e-6;
    if (goes) this.parts.pop();
    const from = goes ? last.x : x;
    const wide = goes ? last.w + w : w;
    this.box(from, y, wide, h, look);
    this.last = { n: this.parts.length, look, x: from, y, w: wide, h };
  }

  strokeRect(x, y, w, h) { this.box(x, y, w, h, ' fill="none"' + this.stroked()); }

  text(text, x, y, look) {
    const dy = baselines[this.textBaseline];
    this.parts.push(`<text x="${round(x)}" y="${round(y)}"${dy ? ` dy="${dy}"` : ''} ` +
      `text-anchor="${anchors[this.textAlign] || 'start'}"${look}>${xmlText(text)}</text>`);
  }

  fillText(text, x, y) { this.text(text, x, y, this.filled()); }

  strokeText(text, x, y) {
    this.text(text, x, y, ` fill="none" stroke-linejoin="round"${this.stroked()}`);
  }

  /** A canvas as a picture inside. */
  drawImage(image, x, y, w, h) {
    this.parts.push(`<image x="${round(x)}" y="${round(y)}" width="${round(w)}" ` +
      `height="${round(h)}" preserveAspectRatio="none" image-rendering="pixelated" ` +
      `href="${image.toDataURL('image/png')}"/>`);
  }

  save() {
    this.saved.push([this.groups, Object.fromEntries(kept.map((name) => [name, this[name]]))]);
  }

  restore() {
    const [groups, before] = this.saved.pop();
    for (; this.groups > groups; this.groups--) this.parts.push('</g>');
    Object.assign(this, before);
  }

  open(attributes) {
    this.parts.push(`<g ${attributes}>`);
    this.groups++;
  }

  translate(x, y) { this.open(`transform="translate(${round(x)} ${round(y)})"`); }
  rotate(angle) { this.open(`transform="rotate(${round(angle * 180 / Math.PI)})"`); }

  clip() {
    const id = `c${++this.clips}`;
    this.parts.push(`<clipPath id="${id}"><path d="${this.d}"/></clipPath>`);
    this.open(`clip-path="url(#${id})"`);
  }

  /** All of it; `ground`: the colour beneath. */
  finish(title, ground) {
    const [w, h] = [round(this.width), round(this.height)];
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" ` +
      `viewBox="0 0 ${w} ${h}" role="img" font-family="system-ui, sans-serif" font-size="12">\n` +
      `<title>${xmlText(title)}</title>\n<rect width="${w}" height="${h}"` +
      `${paint('fill', ground, 1)}/>\n${this.parts.join('\n')}\n</svg>\n`;
  }
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
