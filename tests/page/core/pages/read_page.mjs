// read_page.mjs - the devices of a page of `vramscope view`, decoded by its own core.
import { readFileSync } from 'node:fs';
import { createDevice } from '../../../../viewer/core/memory/device.js';
import { decodeDevice } from '../../../../viewer/core/model/decode.js';

/** {head, device(dev)}: a promise of a device of the first file of a page. */
export function readPage(path) {
  const page = readFileSync(path, 'utf8');
  const script = (id) => page.match(new RegExp(`<script[^>]* id="${id}"[^>]*>([^<]*)<`))?.[1];
  const head = JSON.parse(script('head'));
  const blocks = [Buffer.from(script('cover'), 'base64')];
  for (let i = 1, text; (text = script(`b${i}`)) !== undefined; i++) {
    blocks.push(Buffer.from(text, 'base64'));
  }
  const devices = [];
  return { head, device: async (dev) => (devices[dev] ??=
    createDevice(await decodeDevice(head.files[0].devices[dev], blocks))) };
}
