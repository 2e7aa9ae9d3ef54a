// page_views.mjs - prints what the page makes of views, for tests that compare it with C.
//
//     node page_views.mjs PAGE < views.json
//
// A view is {op: groups | raster | map, by, W, H, from, to, y0, y1, [paint: light | dark]}, of the
// first device, or of `dev`, the cursor at `state` or at the peak.  For each: ids and sums (of a
// map places and fractions), as tests/page/picture_ids.c prints them; painted, W * H pixels of four
// bytes instead, alpha 0 where nothing is.
import { readFileSync } from 'node:fs';
import { createPictureOps } from '../../../../viewer/core/memory/pictures.js';
import { atOnce, isWork } from '../../../../viewer/core/model/slices.js';
import { groupRows, liveAt } from '../../../../viewer/core/memory/live.js';
import { slotsOf } from '../../../../viewer/ui/draw/colours.js';
import { subjectOf } from '../../../../viewer/ui/state/holders.js';
import { makeInks, paintPicture } from '../../../../viewer/ui/draw/paint.js';
import { paintMap } from '../../../../viewer/ui/views/map.js';
import { paletteOf } from '../draw/palette.mjs';
import { readPage } from './read_page.mjs';

const ops = createPictureOps();

globalThis.ImageData = class {
  constructor(data) { this.data = data; }
};

/* As the page colours groups: those alive at the peak, to which ages are counted then, and then the
 * others; `line` stands out. */
function slotsFor(d, by, line) {
  const grouping = d.grouping(by === 'age' ? `age@${d.peak()}` : by);
  const names = grouping.names.map((name, key) => ({ key, name, bare: grouping.bare?.[key] }));
  if (by === 'category') return slotsOf(by, names);
  const alive = groupRows(d.model, liveAt(d.model, d.peak()), grouping);
  const here = new Set(alive.map(({ key }) => key));
  return slotsOf(by, [...alive, ...names.filter(({ key }) => !here.has(key))], line);
}

function out(array) {
  process.stdout.write(Buffer.from(array.buffer, array.byteOffset, array.byteLength));
}

const page = readPage(process.argv[2]);
for (const view of JSON.parse(readFileSync(0, 'utf8'))) {
  const dev = view.dev ?? 0;
  const d = await page.device(dev);
  const line = subjectOf(page.head, { file: 0, dev });
  const to = view.to ?? d.model.states;
  const made = await ops[view.op](d, { state: d.peak(), ...view,
    x: { mode: 'events', from: view.from, to } });
  const picture = isWork(made) ? atOnce(made) : made;
  if (view.paint) {
    const palette = paletteOf(view.paint);
    const inks = makeInks(picture.groups, slotsFor(d, view.by, line), palette, false);
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
