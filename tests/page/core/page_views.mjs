// page_views.mjs - prints what the page makes of views, for tests that compare it with C.
//
//     node page_views.mjs PAGE < views.json
//
// A view is {op: groups | raster | map, by, W, H, from, to, y0, y1, [paint: light | dark]}, of the
// first device, or of `dev`.  For each: ids and sums (of a map places and fractions), as
// tests/page/picture_ids.c prints them; painted, W * H pixels of four bytes instead, alpha 0
// where nothing is.
import { readFileSync } from 'node:fs';
import { createPictureOps } from '../../../viewer/core/memory/pictures.js';
import { atOnce, isWork } from '../../../viewer/core/model/slices.js';
import { groupRows, liveAt } from '../../../viewer/core/memory/live.js';
import { slotsOf } from '../../../viewer/ui/draw/colours.js';
import { makeInks, paintPicture } from '../../../viewer/ui/draw/paint.js';
import { paintMap } from '../../../viewer/ui/views/map.js';
import { readPage } from './read_page.mjs';

const ops = createPictureOps();

globalThis.ImageData = class {
  constructor(data) { this.data = data; }
};

function paletteOf(theme) {
  const css = readFileSync(new URL('../../../viewer/style.css', import.meta.url), 'utf8');
  const start = theme === 'dark' ? css.indexOf(':root[data-theme="dark"]') : css.indexOf(':root {');
  const rule = css.slice(start, css.indexOf('}', start));
  const of = (name) => rule.match(new RegExp(`--${name}: (#[0-9a-f]{6})`))[1];
  const rgb = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  const slots = ['parameter', 'gradient', 'optimizer-state', 'optimizer-temp', 'activation',
    'input', 'temporary', 'autograd-detail', 'workspace', 'persistent', 'unknown'].map((name) => rgb(of(name)));
  return { dark: theme === 'dark', slots, groundRgb: rgb(of('ground')), matchRgb: rgb(of('match')), free: of('free'),
    hatch: of('hatch'), ground: of('ground') };
}

function slotsFor(d, by) {
  const grouping = d.grouping(by);
  if (by === 'category') return slotsOf(by, grouping.names.map((name, key) => ({ key, name })));
  return slotsOf(by, groupRows(d.model, liveAt(d.model, d.peak()), grouping));
}

function out(array) {
  process.stdout.write(Buffer.from(array.buffer, array.byteOffset, array.byteLength));
}

const page = readPage(process.argv[2]);
for (const view of JSON.parse(readFileSync(0, 'utf8'))) {
  const d = await page.device(view.dev ?? 0);
  const to = view.to ?? d.model.states;
  const made = await ops[view.op](d, { ...view, x: { mode: 'events', from: view.from, to } });
  const picture = isWork(made) ? atOnce(made) : made;
  if (view.paint) {
    const palette = paletteOf(view.paint);
    const inks = makeInks(picture.groups, slotsFor(d, view.by), palette, false);
    out((view.op === 'map' ? paintMap : paintPicture)(picture, inks, palette).data);
    continue;
  }
  out(picture.ids);
  if (view.op === 'map') {
    out(picture.kinds);
    out(picture.used);
    out(picture.mapped);
  } else {
    out(picture.sums);
  }
}
