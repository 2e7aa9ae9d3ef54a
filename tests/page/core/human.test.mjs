// human.test.mjs - numbers as people read them, by the table shared with C.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as human from '../../../viewer/core/model/human.js';

const cases = JSON.parse(readFileSync(new URL('./human_cases.json', import.meta.url), 'utf8'));

for (const kind of ['bytes', 'count', 'share', 'delta', 'duration']) {
  test(`${kind}: the shared table`, () => {
    assert.ok(cases[kind].length > 4);
    for (const [number, text] of cases[kind]) assert.equal(human[kind](number), text);
  });
}

test('what is not known is a dash', () => {
  for (const f of [human.bytes, human.exactBytes, human.delta, human.share, human.duration,
    human.count]) {
    for (const none of [NaN, undefined, null, Infinity]) {
      assert.equal(f(none), '-');
    }
  }
});

test('a share is of a whole that has the part', () => {
  assert.deepEqual([[1, 4], [4, 4], [0, 4]].map((one) => human.ratio(...one)),
    [0.25, 1, 0]);
  for (const none of [[0, 0], [5, 4], [-1, 4], [1, -4], [1, NaN]]) {
    assert.equal(human.share(human.ratio(...none)), '-');
  }
});

test('exact bytes', () => {
  assert.equal(human.exactBytes(25276510208), '25\u202f276\u202f510\u202f208 B');
  assert.equal(human.exactBytes(0), '0 B');
});

test('never 1024.00 below GiB, and more bytes never read as fewer of the same unit', () => {
  for (let n = 1024; n < 2 ** 31; n = Math.ceil(n * 1.003)) {
    assert.doesNotMatch(human.bytes(n), /^1024\.00 [KM]/);
  }
  let last = 0;
  for (let n = 1024; n < 1024 * 900; n += 17) {
    const value = parseFloat(human.bytes(n));
    assert.ok(value >= last);
    last = value;
  }
});

test('pools have the names of peak', () => {
  const none = '18446744073709551615';
  for (const [pair, name] of [[`(${none}, ${none})`, 'unknown'], ['(0, 0)', 'default'],
    ['(0, 2)', 'pool 2'], ['(7, 0)', 'graph 7'], ['(3, 1)', 'pool 3, 1'], [undefined, 'unknown']]) {
    assert.equal(human.poolName(pair), name);
  }
});
