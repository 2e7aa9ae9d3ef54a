// colours.test.mjs - colours of groups, by the table shared with C.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { rgbFor, slotsOf } from '../../../../viewer/ui/draw/colours.js';
import { toned } from '../../../../viewer/ui/draw/tones.js';
import { paletteOf } from './palette.mjs';

const cases = JSON.parse(readFileSync(new URL('./colour_cases.json', import.meta.url), 'utf8'));
const hex = (rgb) => '#' + rgb.map((v) => v.toString(16).padStart(2, '0')).join('');

// What the groups of the table that have no line are for.
const purposeOf = (name) => (/^\(no stack\) (\w+)$/.exec(name)?.[1]
  ?? (/^(older than|\(no |size:)/.test(name) ? 'persistent' : undefined));

test('tones: the shared table', () => {
  assert.ok(cases.tones.length > 40);
  for (const [hue, tone, strength, light, dark] of cases.tones) {
    assert.equal(hex(toned({ hue, tone, strength }, false)), light);
    assert.equal(hex(toned({ hue, tone, strength }, true)), dark);
  }
});

for (const [kind, line] of [['quiet', null], ['hot', 'train.py:30 step']]) {
  test(`groups where the line that stands out is ${line}: the shared table`, () => {
    const given = slotsOf('line', cases[kind].map(([name], key) => ({ key, name,
      bare: purposeOf(name) })), line);
    cases[kind].forEach(([name, ...themes], key) => {
      for (const [i, theme] of ['light', 'dark'].entries()) {
        assert.equal(hex(rgbFor(paletteOf(theme), given.get(key))), themes[i], name);
      }
    });
  });
}

test('the first eight lines of a file have eight colours, in either theme', () => {
  const rows = Array.from({ length: 8 }, (_, key) => ({ key, name: `model.py:${key} forward` }));
  for (const line of [null, 'model.py:3 forward']) {
    const given = [...slotsOf('line', rows, line).values()];
    for (const theme of ['light', 'dark']) {
      assert.equal(new Set(given.map((one) => hex(rgbFor(paletteOf(theme), one)))).size, 8);
    }
  }
});

test('a line may be called as memory without one', () => {
  const rows = ['size:9 read', '(no good.py:3 load', 'older than.py:4 f'].map((name, key) => ({
    key, name }));
  for (const { hue } of slotsOf('line', rows).values()) assert.ok(hue !== undefined);
});
