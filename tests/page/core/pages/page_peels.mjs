// page_peels.mjs - prints, as JSON, what a page makes of a recording without one of its lines.
//
//     node page_peels.mjs PAGE COUNT
//
// For each device { device, peels }: what the operation `peel` answers, for each of the COUNT lines
// with most bytes at the peak, and for the three of them with most at once.
import { readFileSync } from 'node:fs';
import { createDevice } from '../../../../viewer/core/memory/device.js';
import { groupRows, liveAt } from '../../../../viewer/core/memory/live.js';
import { peel } from '../../../../viewer/core/memory/peel.js';
import { decodeDevice } from '../../../../viewer/core/model/decode.js';

const page = readFileSync(process.argv[2], 'utf8');
const script = (id) => page.match(new RegExp(`<script[^>]* id="${id}"[^>]*>([^<]*)<`))?.[1];
const head = JSON.parse(script('head'));
const blocks = [Buffer.from(script('cover'), 'base64')];
for (let i = 1, text; (text = script(`b${i}`)) !== undefined; i++) {
  blocks.push(Buffer.from(text, 'base64'));
}
const told = [];
for (const one of head.files[0].devices) {
  const d = createDevice(await decodeDevice(one, blocks));
  const lines = groupRows(d.model, liveAt(d.model, d.peak()), d.grouping('line'))
    .filter(({ name }) => !name.startsWith('(no stack)'));
  const names = lines.slice(0, Number(process.argv[3])).map(({ name }) => name);
  const sets = names.length < 3 ? [] : [names.slice(0, 3)];
  told.push({ device: one.device, peels: [...names.map((name) => [name]), ...sets].map((some) =>
    ({ ...peel(d, { without: { by: 'line', names: some } }), requested: null })) });
}
process.stdout.write(JSON.stringify(told));
