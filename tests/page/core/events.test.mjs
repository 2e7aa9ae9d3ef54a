// events.test.mjs - the words for one event: sizes with their signs, lines, cells, sentences.
import test from 'node:test';
import assert from 'node:assert/strict';
import { cellTexts, lineOf, rowOf, sentenceOf, sizeOf } from '../../../viewer/ui/draw/events.js';

const GIB = 2 ** 30;
const segment = { base: 0x7f2a40000000, bytes: 2 * GIB, free: GIB / 2 };
const event = { state: 3160, kind: 'alloc', row: 7, bytes: GIB, name: '', segment,
  line: 'model.py:22 forward', category: 'optimizer_state' };
const oom = { ...event, kind: 'oom', row: -1, category: '', free: GIB / 4, segment: null };
const plain = (text) => text.replaceAll('\u202f', ' ');

test('the sign is that of requested or reserved memory; what changes neither has none', () => {
  const sizes = { alloc: '+1.00 GiB', segment_alloc: '+1.00 GiB', segment_map: '+1.00 GiB',
    free: '\u22121.00 GiB', free_completed: '\u22121.00 GiB', segment_free: '\u22121.00 GiB',
    segment_unmap: '\u22121.00 GiB', free_requested: '1.00 GiB', oom: '1.00 GiB refused' };
  for (const [kind, text] of Object.entries(sizes)) assert.equal(sizeOf({ ...event, kind }), text);
  assert.equal(sizeOf({ kind: 'snapshot', bytes: 0 }), 'snapshot');
  assert.equal(sizeOf({ kind: 'segment_alloc', bytes: null }), '-');
});

test('the line of an allocation, the name in the trace of what no line is known of', () => {
  assert.equal(lineOf(event), 'model.py:22 forward');
  assert.equal(lineOf({ ...event, kind: 'segment_unmap', row: -1, line: '' }), 'segment_unmap');
  assert.equal(lineOf({ ...oom, line: '' }), '(no stack)');
  assert.equal(lineOf({ ...event, line: 'a\u202e' }), 'a\\u{202e}');
  assert.equal(lineOf({ ...event, line: 'x'.repeat(500) }).length, 80);
});

test('a cell: line, category, segment, what is free in it', () => {
  const line = 'model.py:22 forward';
  const where = 'seg 0x7f2a4\u2026 2.00 GiB';
  assert.deepEqual(cellTexts(event), [line, 'optimizer state', where, '512.00 MiB free after']);
  assert.deepEqual(cellTexts({ ...event, kind: 'free_requested' }),
    [line, 'optimizer state', where, 'free requested']);
  assert.deepEqual(cellTexts({ ...event, kind: 'segment_free', row: -1, category: '',
    segment: { ...segment, bytes: 0, free: 0 } }),
  ['segment_free', '', 'seg 0x7f2a4\u2026', 'returned']);
  assert.deepEqual(cellTexts({ ...event, segment: null }), [line, 'optimizer state', '', '']);
  assert.deepEqual(cellTexts({ ...event, segment: { ...segment, base: null } })[2],
    'seg unknown 2.00 GiB');
  assert.deepEqual(cellTexts(oom), [line, 'out of memory', '256.00 MiB free', 'on the card']);
});

test('a sentence and a row say all of it', () => {
  const [size, free] = ['of 2.00 GiB', '512.00 MiB free after'];
  assert.equal(plain(sentenceOf(event)), 'event 3 159, +1.00 GiB, model.py:22 forward, ' +
    `optimizer state, segment 0x7f2a40000000 ${size}, ${free}`);
  assert.equal(plain(sentenceOf({ ...event, kind: 'free_requested', segment: null })),
    'event 3 159, 1.00 GiB, model.py:22 forward, optimizer state, free requested');
  assert.equal(plain(sentenceOf({ ...event, segment: { ...segment, bytes: 0 }, category: '' })),
    'event 3 159, +1.00 GiB, model.py:22 forward, segment 0x7f2a40000000 returned');
  assert.equal(plain(sentenceOf(oom)), 'event 3 159, 1.00 GiB refused, model.py:22 forward');
  assert.equal(plain(rowOf({ ...event, kind: 'free_completed', name: 'a.weight' })),
    'event 3 159  free completed 1.00 GiB  a.weight  model.py:22 forward \u00b7 optimizer state');
  assert.equal(plain(rowOf({ ...event, kind: 'snapshot', bytes: null, line: '', category: '' })),
    'event 3 159  snapshot');
});
