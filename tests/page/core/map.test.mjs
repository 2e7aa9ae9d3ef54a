// map.test.mjs - the paint of the address map.
import assert from 'node:assert/strict';
import test from 'node:test';
import { PLACE } from '../../../viewer/core/memory/address.js';
import { paintMap } from '../../../viewer/ui/views/map.js';

globalThis.ImageData ??= class {
  constructor(data, width, height) {
    Object.assign(this, { data, width, height });
  }
};

test('what a block has beyond its request is lighter than the rest of it', () => {
  const picture = { W: 1, H: 3, ids: [5, 5, -1], kinds: [PLACE.slack, PLACE.used, PLACE.unmapped],
    group: [0, 0, 0], mark: [0, 0, 0], used: [1, 1, 0], mapped: [1, 1, 0] };
  const inks = { colour: new Uint32Array(16).fill(0xff000000) };
  const palette = { free: '#ffffff', hatch: '#888888', ground: '#ffffff' };
  const { data } = paintMap(picture, inks, palette);
  assert.deepEqual([...data.subarray(4, 8)], [0, 0, 0, 255]);
  assert.ok(data[0] > 100 && data[0] < 200, 'between its colour and the free fill');
  assert.deepEqual([...data.subarray(8)], [0, 0, 0, 0], 'nothing is mapped there');
});
