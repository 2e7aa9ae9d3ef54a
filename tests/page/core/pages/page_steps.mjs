// page_steps.mjs - prints what the page knows of steps, for tests that compare it with C.
//
//     node page_steps.mjs PAGE
//
// JSON: of each device what the operation `steps` answers.
import { readFileSync } from 'node:fs';
import { createDevice } from '../../../../viewer/core/memory/device.js';
import { decodeDevice } from '../../../../viewer/core/model/decode.js';
import { atOnce } from '../../../../viewer/core/model/slices.js';
import { steps } from '../../../../viewer/core/memory/steps.js';

const page = readFileSync(process.argv[2], 'utf8');
const script = (id) => page.match(new RegExp(`<script[^>]* id="${id}"[^>]*>([^<]*)<`))?.[1];
const blocks = [Buffer.from(script('cover'), 'base64')];
for (let i = 1, text; (text = script(`b${i}`)) !== undefined; i++) {
  blocks.push(Buffer.from(text, 'base64'));
}
const devices = [];
for (const head of JSON.parse(script('head')).files[0].devices) {
  const d = createDevice(await decodeDevice(head, blocks));
  const answer = (mode) => {
    const got = atOnce(steps(d, { mode, W: 300 }));
    return { ...got, steps: got.steps.map((step) => ({ ...step, curve: Array.from(step.curve) })) };
  };
  devices.push({ device: head.device, events: answer('events'), time: answer('time') });
}
console.log(JSON.stringify(devices));
