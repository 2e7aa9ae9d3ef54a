// ui.test.mjs - the parts of the page that need no browser: state, undo, keys, tables, text, axes.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { limitX, panned, revealed, zoomed } from '../../../viewer/ui/state/span.js';
import { applied, createStore, firstState } from '../../../viewer/ui/state/store.js';
import { actionOf, keyNames, table as keys } from '../../../viewer/ui/state/keys.js';
import { toCsv, toJson } from '../../../viewer/ui/parts/rows.js';
import { deltaColumn, sortRows, visibleRows } from '../../../viewer/ui/draw/table.js';
import { callings, cutMiddle, cutTo, eventName, groupText, parseBytes, shortened, shown, withEvents,
  withoutText }
  from '../../../viewer/ui/draw/text.js';
import { byteLabel, eventTicks, ticks } from '../../../viewer/ui/draw/axis.js';
import { bandsOf, columnOf, placeIn, runsOf } from '../../../viewer/ui/draw/picture.js';
import { foldStack, stackText } from '../../../viewer/ui/parts/details.js';
import { editorLink } from '../../../viewer/ui/parts/editor.js';
import { fileName } from '../../../viewer/ui/parts/export.js';
import { quoted } from '../../../viewer/ui/draw/shell.js';
import { toggled } from '../../../viewer/ui/parts/peel.js';
import { sourcesOf } from '../../../viewer/ui/state/recording.js';
import { findingsOf, placeOf } from '../../../viewer/ui/state/report.js';
import { fadedFor, slotsOf } from '../../../viewer/ui/draw/colours.js';
import { makeInks, paintPicture } from '../../../viewer/ui/draw/paint.js';
import { inkOf, toned } from '../../../viewer/ui/draw/tones.js';
import { areasOf, createSvg } from '../../../viewer/ui/draw/svg.js';
import { lineTerm, termOf } from '../../../viewer/ui/state/terms.js';
import { wheelFactor, wheelPixels } from '../../../viewer/ui/views/gesture.js';
import { cellName } from '../../../viewer/ui/views/flame.js';
import { childCells } from '../../../viewer/ui/views/twin.js';
import { chosenRows, drawRows, pinsOf, shownRows } from '../../../viewer/ui/views/map.js';
import { momentOf, sidesOf } from '../../../viewer/ui/state/compared.js';
import { leftByStep } from '../../../viewer/ui/views/leaks.js';
import { poolsOf } from '../../../viewer/ui/views/allocator.js';

const limits = { states: 1000, first: 400, time: [0, 5000] };

function random(seed) {
  let a = seed;
  return () => {
    a = a + 0x6d2b79f5 | 0;
    let t = Math.imul(a ^ a >>> 15, 1 | a);
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
    return ((t ^ t >>> 14) >>> 0) / 4294967296;
  };
}

test('the page opens at the peak, over the whole recording', () => {
  const state = firstState(limits);
  assert.equal(state.at, 400);
  assert.deepEqual(state.x, { mode: 'events', from: 0, to: 1000 });
});

test('a page of some events begins with them and does not leave them', () => {
  const some = { ...limits, window: [200, 500] };
  assert.deepEqual(firstState(some).x, { mode: 'events', from: 200, to: 500 });
  const wide = limitX({ mode: 'events', from: 0, to: 1000 }, some);
  assert.deepEqual([wide.from, wide.to], [200, 500]);
  const { at, range } = applied(firstState(some), { at: 3, range: { a: 0, b: 700 } }, some);
  assert.deepEqual([at, range], [200, { a: 200, b: 499 }]);
  const cover = { states: 1000, window: [200, 500], peak: { state: 400 } };
  assert.deepEqual(['end', 'cursor', 'peak'].map((one) => momentOf(one, cover, 3).state), [499, 200, 400]);
});

test('no zoom or pan leaves the recording or goes below eight states', () => {
  const next = random(7);
  for (const least of [1, 2, 5, 8, 40, 1000]) {
    let x = { mode: 'events', from: 0, to: least };
    for (let i = 0; i < 500; i++) {
      const middle = x.from + next() * (x.to - x.from);
      x = next() < 0.6 ? zoomed(x, Math.exp(next() * 2 - 1), middle, { states: least,
        time: null }) :
        panned(x, next() * 2 - 1, { states: least, time: null });
      assert.ok(x.from >= 0 && x.to <= least, `${x.from} ${x.to} of ${least}`);
      assert.ok(x.to - x.from >= Math.min(8, least), `${x.to - x.from} of ${least}`);
      assert.ok(Number.isInteger(x.from) && Number.isInteger(x.to));
    }
  }
});

test('time is limited to the recording and to ten microseconds', () => {
  const x = limitX({ mode: 'time', from: 4999, to: 4999.5 }, limits);
  assert.ok(x.to - x.from >= 10 && x.to <= 5000);
});

test('zooming out from the least range goes on', () => {
  let x = { mode: 'events', from: 500, to: 508 };
  for (let i = 0; i < 40; i++) x = zoomed(x, 1 / 1.05, 504, limits);
  assert.ok(x.to - x.from > 20);
});

test('values out of the recording are brought back', () => {
  const state = applied(firstState(limits), { at: 5000, range: { a: 900, b: -3 }, bogus: 1 },
    limits);
  assert.equal(state.at, 999);
  assert.deepEqual(state.range, { a: 0, b: 900 });
  assert.equal('bogus' in state, false);
});

test('the view follows a state that is out of sight', () => {
  const x = { mode: 'events', from: 0, to: 100 };
  assert.equal(revealed(x, 50, limits), x);
  const moved = revealed(x, 800, limits);
  assert.ok(moved.from <= 800 && moved.to > 800 && moved.to - moved.from === 100);
});

test('jumps are undone and done again, moves are not entries', () => {
  const store = createStore(firstState(limits), limits);
  const heard = [];
  store.listen((state, before, kind) => heard.push(kind));
  store.jump({ at: 1 });
  store.move({ at: 2 });
  store.jump({ at: 3 });
  assert.ok(store.undo());
  assert.equal(store.get().at, 2);
  assert.ok(store.redo());
  assert.equal(store.get().at, 3);
  assert.ok(store.undo() && store.undo());
  assert.equal(store.get().at, 400);
  assert.equal(store.undo(), false);
  store.jump({ at: 9 });
  assert.equal(store.redo(), false);
  assert.deepEqual(heard.slice(0, 4), ['jump', 'move', 'jump', 'undo']);
});

test('a jump to where one is adds nothing; fifty are remembered', () => {
  const store = createStore(firstState(limits), limits);
  store.jump({ at: 400 });
  assert.equal(store.undo(), false);
  for (let i = 0; i < 80; i++) store.jump({ at: i });
  let undone = 0;
  while (store.undo()) undone++;
  assert.equal(undone, 50);
});

test('undo keeps the theme', () => {
  const store = createStore(firstState(limits), limits);
  store.jump({ at: 5 });
  store.move({ theme: 'dark' });
  store.undo();
  assert.equal(store.get().theme, 'dark');
});

const free = { field: false, widget: false, single: true };

test('every key has one action', () => {
  const all = keys.flatMap(([, list]) => list);
  assert.equal(new Set(all).size, all.length);
  for (const [action, list] of keys) {
    for (const key of list) {
      const shift = /^[A-Z?{}+]$/.test(key);
      assert.equal(actionOf({ key, shiftKey: shift }, free), action, key);
    }
  }
});

test('keys rest in fields, on widgets of their own, with modifiers, and when switched off', () => {
  assert.equal(actionOf({ key: 'p' }, { ...free, field: true }), null);
  assert.equal(actionOf({ key: 'Escape' }, { ...free, field: true }), 'escape');
  assert.equal(actionOf({ key: 'Enter' }, { ...free, widget: true }), null);
  assert.equal(actionOf({ key: 'o', ctrlKey: true }, free), null);
  assert.equal(actionOf({ key: 'p', ctrlKey: true }, { ...free, field: true }), 'print');
  assert.equal(actionOf({ key: 'p' }, { ...free, single: false }), null);
  assert.equal(actionOf({ key: 'ArrowLeft' }, { ...free, single: false }), 'left');
  assert.equal(actionOf({ key: 'P', shiftKey: false }, free), 'peak', 'caps lock is not Shift');
  assert.equal(actionOf({ key: 'G', shiftKey: true }, free), 'group-back');
  assert.deepEqual(keyNames(['g', 'G', 'ArrowUp']), ['G', 'Shift+G', '\u2191']);
});

const columns = [
  { id: 'name', value: (row) => row.name },
  { id: 'size', unit: 'bytes', number: true, value: (row) => row.size },
];

test('rows sort stably, unknown last whichever way', () => {
  const rows = [{ name: 'a', size: 2 }, { name: 'b', size: null }, { name: 'c', size: 9 },
    { name: 'd', size: 2 }];
  assert.deepEqual(sortRows(rows, columns[1], true).map((r) => r.name), ['c', 'a', 'd', 'b']);
  assert.deepEqual(sortRows(rows, columns[1], false).map((r) => r.name), ['a', 'd', 'c', 'b']);
  assert.deepEqual(sortRows(rows, columns[0], true).map((r) => r.name), ['d', 'c', 'b', 'a']);
});

test('changes are sorted by how much they are', () => {
  const rows = [{ id: 'none', delta: 0 }, { id: 'less', delta: -9 }, { id: 'more', delta: 2 }];
  const change = deltaColumn('delta', 'change');
  assert.deepEqual(sortRows(rows, change, true).map((r) => r.id), ['less', 'more', 'none']);
});

test('CSV quotes, disarms formulas, and writes bytes as integers', () => {
  const rows = [{ name: '=1+1', size: 2 ** 52 }, { name: 'a "b", c\n', size: null }, { name: '-x',
    size: -5 }, { name: '@f', size: 0 }, { name: '+1', size: 1 }, { name: '\n=2', size: 2 }];
  assert.equal(toCsv(columns, rows), 'name,size_bytes\r\n\'=1+1,4503599627370496\r\n' +
    '"a ""b"", c\n",\r\n\'-x,-5\r\n\'@f,0\r\n\'+1,1\r\n"\'\n=2",2\r\n');
  assert.deepEqual(JSON.parse(toJson(columns, rows))[1], { name: 'a "b", c\n', size_bytes: null });
  const bytes = { id: 'bytes', unit: 'bytes', value: () => 7 };
  assert.equal(toCsv([bytes], [{}]), 'bytes\r\n7\r\n');
  assert.deepEqual(JSON.parse(toJson([bytes], [{}])), [{ bytes: 7 }]);
});

test('the rows in sight are among those made', () => {
  assert.deepEqual(visibleRows(0, 260, 5), [0, 5]);
  const [from, to] = visibleRows(26000, 260, 100000);
  assert.ok(from <= 1000 && from > 900 && to >= 1010 && to < 1100);
  assert.deepEqual(visibleRows(1e9, 260, 10), [10, 10]);
});

test('control and direction characters are escaped, and nothing else', () => {
  assert.equal(shown('a\u202eb\u0000\u2066\u0085'), 'a\\u{202e}b\\x00\\u{2066}\\u{85}');
  assert.equal(shown('</script><img onerror=1> \u00e9 \u4e2d'),
    '</script><img onerror=1> \u00e9 \u4e2d');
  assert.equal(shortened('x'.repeat(1e6), 11).length, 11);
});

test('a name with less and less room keeps its line, or its two ends', () => {
  const g = { measureText: (text) => ({ width: text.length * 10 }) };
  assert.deepEqual(callings(g, 'model.py:22 forward', [260, 150, 130, 100, 60]),
    ['model.py:22 forward', 'model.py:22 fo\u2026', 'model.py:22']);
  assert.deepEqual(callings(g, 'activation', [260, 60]), ['activation', 'activ\u2026']);
  assert.deepEqual(callings(g, 'a.py:1', [260, 40]), ['a.py:1']);
  assert.equal(cutMiddle('three_gpu.pickle cuda:1', 30), 'three_gpu.pickle cuda:1');
  assert.equal(cutMiddle('three_gpu_expandable_oom.pickle cuda:1', 15), 'three_g\u2026 cuda:1');
});

test('events in sentences of the report are grouped, and nothing else', () => {
  assert.equal(withEvents('at event 3160, in 3161 events; event 42 of event 12345678.'),
    'at event 3\u202f160, in 3161 events; event 42 of event 12\u202f345\u202f678.');
});

test('sizes that people type', () => {
  for (const [text, value] of [['80GiB', 80 * 2 ** 30], ['1.5 g', 1.5 * 2 ** 30], ['1024', 1024],
    ['24 gb', 24 * 2 ** 30],
    ['', null], ['-1', null], ['5 apples', null], ['0', null], ['99999999 TiB', null]]) {
    assert.equal(parseBytes(text), value, text);
  }
  assert.equal(parseBytes(' 24 ', 'gib'), 24 * 2 ** 30);
  assert.equal(parseBytes('24 MiB', 'gib'), 24 * 2 ** 20);
});

test('the groups of a picture are those that have a pixel', () => {
  const picture = { ids: Int32Array.of(-1, 4, 5, -1, 5, -1),
    group: Uint16Array.of(7, 3, 3, 0, 2, 2) };
});

test('ticks lie inside, are few, and differ in their words', () => {
  const next = random(3);
  for (let i = 0; i < 400; i++) {
    const low = next() < 0.5 ? 0 : Math.floor(next() * 2 ** 33);
    const high = low + Math.max(1, Math.floor(2 ** (next() * 42)));
    for (const kind of ['bytes', 'count', 'time']) {
      const list = ticks(kind, low, high, 400);
      assert.ok(list.length <= 12, `${kind} ${low} ${high}: ${list.length}`);
      assert.ok(list.every((t) => t.value >= low && t.value <= high));
    }
  }
  assert.equal(byteLabel(20 * 2 ** 30), '20 GiB');
  assert.equal(byteLabel(-512 * 2 ** 20), '\u2212512 MiB');
  assert.equal(byteLabel(1000 * 2 ** 20), '1000 MiB');
  assert.equal(byteLabel(-1024 * 2 ** 50), '\u22121 EiB');
  assert.equal(byteLabel(1.125 * 2 ** 30), '1.12 GiB', 'rounded as everywhere else');
  assert.equal(new Set(ticks('bytes', 0, 62e9, 400).map((t) => t.label)).size, ticks('bytes', 0,
    62e9, 400).length);
});

test('a memory axis that is zoomed in tells its ticks apart', () => {
  const labels = (low, span) => ticks('bytes', low, low + span, 540).map((t) => t.label);
  for (let bits = 16; bits < 40; bits++) {
    for (const low of [0, 1428160512, 23e9, -5e9]) {
      const list = labels(low, 2 ** bits);
      assert.equal(new Set(list).size, list.length, list.join());
      assert.ok(list.every((text) => text.length <= 11), list.join());
    }
  }
  assert.deepEqual(labels(1428160512, 65536).slice(0, 3), ['1.33 GiB', '+8 KiB', '+16 KiB']);
});

test('the memory axis stays within four times what there is', () => {
  const most = 2 ** 30;
  const y = (from, to, cap = null) => applied({ ...firstState(limits), cap }, { y: { from, to } },
    { ...limits, bytes: most }).y;
  assert.deepEqual(y(0, 2 ** 47), { from: 0, to: 4 * most });
  assert.deepEqual(y(0, 2 ** 47, 2 * most), { from: 0, to: 8 * most });
  assert.deepEqual(y(100, 1e6), { from: 100, to: 1e6 });
  assert.deepEqual(y(5 * most, 6 * most), { from: 3 * most, to: 4 * most });
  assert.deepEqual(y(-(2 ** 50), 2 ** 50).from, -2 * most);
});

const picture = { W: 2, H: 5, ids: Int32Array.from([-1, -1, 7, -1, 7, 9, 7, 9, 3, 3]),
  group: Uint16Array.from([0, 0, 1, 0, 1, 1, 1, 1, 0, 0]), mark: new Uint8Array(10) };

test('bands and runs of a column', () => {
  assert.deepEqual(bandsOf(picture, 0), [3, 7]);
  assert.deepEqual(bandsOf(picture, 1), [3, 9]);
  assert.deepEqual(runsOf(picture, 0), [[1, 1, 4], [0, 4, 5]]);
  assert.equal(columnOf(Uint32Array.from([0, 4, 9]), 5), 2);
  assert.equal(columnOf(Uint32Array.from([0, 4, 9]), 10), 3);
  const last = { shown: Uint32Array.from([0, 4, 9]), span: [0, 11] };
  assert.deepEqual([4, 9, 10, 11].map((p) => placeIn(last, p)), [1, 2, 2, Infinity]);
});

test('a column holds the state carried into it, and nothing of what came before', () => {
  const later = { W: 3, shown: Uint32Array.from([100, 120, 130]), span: [100, 140] };
  assert.deepEqual([0, 98, 99, 100, 101, 139, 140].map((p) => placeIn(later, p)),
    [-Infinity, -Infinity, 0, 0, 1, 2, Infinity]);
});

test('ticks of events stand on the state that the status line calls by them', () => {
  const next = random(11);
  const plain = (label) => Number(label.replaceAll('\u202f', '').replace(/ ?k$/, '000')
    .replace(/^([\d.]+) M$/, (_, n) => n * 1e6));
  for (let i = 0; i < 300; i++) {
    const from = next() < 0.3 ? 0 : Math.floor(next() * 5000);
    const to = from + 8 + Math.floor(2 ** (next() * 18));
    const list = eventTicks(from, to, 700);
    assert.ok(list.length >= 1);
    list.forEach(({ value, label }, k) => {
      assert.ok(value >= from && value <= to);
      const state = value - 0.5;
      if (label === 'start') assert.equal(state, 0);
      else assert.equal(`event ${plain(label)}`, eventName(state).replaceAll('\u202f', ''));
      if (k > 0) assert.ok((value - list[k - 1].value) * 700 / (to - from) >= 60);
    });
    assert.equal(list[0].label === 'start', from === 0);
  }
  assert.deepEqual(eventTicks(0, 1, 700).map((t) => t.label), ['start'], 'a state without events');
});

test('what the page escapes is what src/render/write/escape.c does', () => {
  const source = readFileSync(new URL('../../../src/render/write/escape.c', import.meta.url), 'utf8');
  const [, table] = /unsafe\[\] = \{(.*?)\n {4}\};/s.exec(source);
  const ranges = [...table.matchAll(/\{ (0x\w+), (0x\w+) \}/g)].map((m) => m.slice(1).map(Number));
  assert.ok(ranges.length >= 8);
  const wrong = [];
  for (let p = 0; p <= 0x10ffff; p++) {
    if (p >= 0xd800 && p <= 0xdfff) continue;
    const needed = ranges.some(([first, last]) => p >= first && p <= last);
    const text = String.fromCodePoint(p);
    if ((shown(text) !== text) !== needed) wrong.push(p.toString(16));
  }
  assert.deepEqual(wrong, []);
  assert.equal(shown('a\u{e0041}\u202e\ud800b\u{1f600}'),
    'a\\u{e0041}\\u{202e}\\u{d800}b\u{1f600}');
});

const palette = { dark: false, slots: Array.from({ length: 11 }, (_, i) => [200, i, 0]),
  groundRgb: [255, 255, 255], matchRgb: [1, 2, 3] };
const rgb = (pixel) => [pixel & 255, pixel >> 8 & 255, pixel >> 16 & 255];

test('painting leaves what no allocation has clear; a search fades the rest and has a colour of its own', () => {
  const given = slotsOf('category', [{ key: 0, name: 'parameter' }, { key: 1,
    name: 'activation' }]);
  const marked = { ...picture, mark: Uint8Array.from([0, 0, 0, 0, 1, 0, 0, 0, 0, 0]) };
  const plain = paintAsArray(marked, makeInks(2, given, palette, false));
  assert.equal(plain[0], 0);
  assert.deepEqual(rgb(plain[2]), [200, 4, 0]);
  const searched = paintAsArray(marked, makeInks(2, given, palette, false, true));
  assert.deepEqual(rgb(searched[2]), [1, 2, 3]);
  assert.deepEqual(rgb(searched[4]), fadedFor(palette, given.get(picture.group[4])));
  assert.ok(Math.min(...rgb(searched[4])) > 190, 'most of the ground');
});

function paintAsArray(one, inks) {
  globalThis.ImageData ??= class { constructor(data, w, h) { Object.assign(this, { data, width: w,
    height: h }); } };
  return new Uint32Array(paintPicture(one, inks).data.buffer);
}

test('lines of a file share a hue and differ in tone; what is wrong is told of the only hot line', () => {
  const rows = ['a.py:1 f', 'b.py:2 g', 'a.py:3 f', 'c.py:9 h', '(no stack) parameter'].map((name,
    key) => ({ key, name, bare: key === 4 ? 'parameter' : undefined }));
  const quiet = [...slotsOf('site', rows).values()];
  assert.equal(quiet[0].hue, quiet[2].hue);
  assert.notEqual(quiet[0].tone, quiet[2].tone);
  assert.equal(new Set([0, 1, 3].map((i) => quiet[i].hue)).size, 3);
  assert.ok(quiet.slice(0, 4).every((one) => one.strength === 'quiet'));
  assert.deepEqual(quiet[4], { slot: 0, second: false });
  const told = [...slotsOf('site', rows, 'a.py:3 f').values()];
  assert.deepEqual(told.slice(0, 4).map((one) => one.strength), ['warm', 'quiet', 'strong',
    'quiet']);
  assert.ok(![told[0].hue, told[1].hue, told[3].hue].includes(told[2].hue));
});

test('every tone stands out from the ground and bears letters', () => {
  const light = (colour) => colour.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 :
    ((v / 255 + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152,
    0.0722][i], 0);
  const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  for (const [dark, ground] of [[false, [255, 255, 255]], [true, [0x15, 0x18, 0x1d]]]) {
    for (const [strength, only] of [['quiet', null], ['warm', 52], ['strong', 38]]) {
      for (let hue = only ?? 0; hue < (only ?? 359) + 1; hue += 5) {
        for (let tone = 0; tone < 12; tone++) {
          const colour = toned({ hue, tone, strength }, dark);
          const where = [dark, strength, hue, tone, colour].join(' ');
          assert.ok(contrast(light(colour), light(ground)) >= 3, where);
          assert.ok(contrast(light(colour), inkOf(colour) === '#000000' ? 0 : 1) >= 4.5, where);
        }
      }
    }
  }
});

test('stacks fold runs of library frames but never the culprit', () => {
  const frame = (kind) => ({ func: 'f' + kind, file: 'a.py', line: 1, kind });
  const stack = [frame(2), frame(2), frame(1), frame(3), frame(2), frame(1)];
  assert.deepEqual(foldStack(stack, 2, true).map((r) => r.folded || 'frame'), [2, 'frame', 2,
    'frame']);
  assert.deepEqual(foldStack(stack, 1, true).map((r) => r.folded || 'frame'), [1, 'frame', 'frame',
    2, 'frame']);
  assert.equal(foldStack(stack, 2, false).length, 6);
  assert.ok(stackText(stack).trimEnd().endsWith('in f2'), 'innermost last');
});

test('only known editors are linked, and paths are encoded', () => {
  assert.equal(editorLink('vscode', null, '/a b/"c.py', 3), 'vscode://file/a%20b/%22c.py:3');
  assert.equal(editorLink('zed', '/job=/home/me', '/job/a.py', 3), 'zed://file/home/me/a.py:3');
  assert.equal(editorLink('idea', 'src=/home/{line}', 'src/a&b=c?.py', 0),
    'idea://open?file=/home/%7Bline%7D/a%26b%3Dc%3F.py&line=1');
  assert.equal(editorLink('cursor', null, 'C:\\x\\a.py', 7), 'cursor://file/C%3A/x/a.py:7');
  for (const bad of ['javascript', 'http', 'file', 'vscode://', '__proto__', '', null]) {
    assert.equal(editorLink(bad, null, '/a.py', 1), null, String(bad));
  }
  assert.equal(editorLink('vscode', null, 'train.py', 1), null, 'not a whole path');
  assert.equal(editorLink('vscode', 'x', '<frozen importlib>', 1), null);
});

test('saved files have plain names', () => {
  assert.equal(fileName('dir/../run "3"<>.pickle', 'who', 'csv'), 'run_3_-who.csv');
  assert.equal(fileName('', 'who', 'csv'), 'recording-who.csv');
});

test('findings: worst first, in report order, of this device; each leads somewhere', () => {
  const finding = (id, severity, device) => ({ id, severity, device, text: id,
    evidence: { event: 41 } });
  const head = { files: [{ devices: [{ device: 0 }, { device: 1 }],
    report: { findings: [finding('a', 'note', 0),
    finding('b', 'problem', 0), finding('c', 'problem', 1), finding('d', 'problem', 0), finding('e',
      'advice', null)] } }] };
  assert.deepEqual(findingsOf(head, { file: 0, dev: 0 }).map((f) => f.id), ['b', 'd', 'e', 'a']);
  assert.deepEqual(placeOf(finding('oom', 'problem', 0), () => true), { at: 42, view: 'stack' });
  const leak = { id: 'leak', evidence: { culprit: 'log.py:40 append' } };
  assert.deepEqual(placeOf(leak, () => true), { view: 'leaks', query: 'line="log.py:40 append"' });
  assert.equal(placeOf(leak, (id) => id === 'stack').view, 'stack');
  const kept = { id: 'kept', text: 'alive at the peak', evidence: { at_events: [7, 9] } };
  assert.deepEqual(placeOf(kept, () => true, 30), { at: 30, view: 'stack' });
  assert.equal(placeOf({ ...kept, text: 'made in each step' }, () => true, 30).at, 8);
});

test('terms quote what holds blanks', () => {
  assert.equal(termOf('category', 'optimizer_state'), 'cat:optimizer_state');
  assert.equal(termOf('line', 'a.py:3 f"g'), 'line="a.py:3 f g"');
  assert.equal(termOf('line', { name: 'a.py:3 f' }), 'line="a.py:3 f"');
  assert.equal(termOf('site', { name: 'a.py:3 f', site: 7 }), 'site="#7 a.py:3 f"');
  assert.equal(termOf('size', '4096'), 'size=4096');
  assert.equal(termOf('age', 'old'), '');
  assert.equal(termOf('line', undefined), '');
  assert.equal(lineTerm('a.py:3 f'), 'line="a.py:3 f"');
  assert.equal(lineTerm('size:4096'), 'site=size:4096');
});

test('groups are called as the command prints them', () => {
  assert.equal(groupText('category', 'optimizer_state'), 'optimizer state');
  assert.equal(groupText('line', '(no stack) optimizer_state'), '(no stack) optimizer state');
  assert.equal(groupText('site', 'size:16777216'), '(no stack, 16.00 MiB each)');
  assert.equal(groupText('size', '4096'), '4.00 KiB (4096)');
  assert.equal(groupText('line', 'a_b.py:3 f_g'), 'a_b.py:3 f_g');
  assert.equal(groupText('name', 'size:16777216'), 'size:16777216');
});

test('the wheel zooms by at most half at once, whatever its unit', () => {
  assert.equal(wheelFactor(1e9), 1 / 1.5);
  assert.equal(wheelFactor(-1e9), 1.5);
  assert.ok(Math.abs(wheelFactor(100) * wheelFactor(-100) - 1) < 1e-12);
  assert.equal(wheelPixels(3, 1), 48);
});

test('cells lie in their callers, the heaviest first', () => {
  const cell = (node, depth, total, merged = 0) => ({ node, depth, total, merged, name: 'f',
    file: '', line: 0 });
  const tree = { parent: [0, 0, 0, 1], cells: [cell(0, 0, 9), cell(1, 1, 3), cell(2, 1, 6), cell(3,
    2, 3, 7)] };
  const lists = childCells(tree);
  assert.deepEqual(lists.get(0).map((c) => c.node), [2, 1]);
  assert.equal(cellName(lists.get(1)[0]), '7 narrower than a pixel');
  assert.equal(lists.get(2), undefined);
});

const bar = (base, bytes, blocks, flags = 0, pool = 1) => ({ base, bytes, flags, pool, stream: 0,
  blocks,
  used: blocks.reduce((n, b) => n + b.size, 0), free: bytes - blocks.reduce((n, b) => n + b.size,
    0), largest: 0, empty: blocks.length ? [] : [{ at: 0, size: bytes }] });

test('the parts of a segment fill it, and say what its free memory is', () => {
  const device = { pools: ['(18446744073709551615, 18446744073709551615)', '(0, 0)', '(3, 1)'],
    streams: ['0x0'] };
  const pools = poolsOf([bar(4096, 100, [{ at: 10, size: 20, row: 5 }, { at: 40, size: 60, row: 6,
    pending: true }]),
    bar(8192, 50, [], 0, 0), bar(9000, 10, [], 2, 2)], device);
  assert.deepEqual(pools.map((p) => p.name), ['pool default \u00b7 stream 0x0',
    'pool 3, 1 \u00b7 stream 0x0']);
  const [first, second] = pools[0].segments;
  assert.deepEqual(first.parts.map((p) => [p.kind, p.bytes]), [['stranded', 10], ['used', 20],
    ['stranded', 10], ['pending', 60]]);
  assert.deepEqual([first.stranded, second.returnable, second.stranded], [20, 50, 0]);
  const [grown] = poolsOf([{ ...bar(0, 100, [{ at: 15, size: 10, row: 1 }], 1),
    empty: [{ at: 30, size: 20 }, { at: 50, size: 10 }] }], device)[0].segments;
  assert.deepEqual(grown.parts.map((p) => [p.kind, p.bytes]), [['stranded', 15], ['used', 10],
    ['stranded', 5], ['returnable', 20], ['returnable', 10], ['stranded', 40]]);
  assert.deepEqual([grown.stranded, grown.returnable, grown.kind], [60, 30, 'expandable']);
  assert.deepEqual(pools[1].segments[0].parts.map((p) => p.kind), ['held']);
  assert.equal(pools[1].segments[0].stranded + pools[1].segments[0].returnable, 0);
});

test('rows of the map: all, those mapped at the cursor, the most stranded first', () => {
  const rows = [{ base: 0, bytes: 100 }, { base: 1000, bytes: 100 }, { base: 2000, bytes: 100 }];
  const segments = [{ base: 1000, stranded: 5 }, { base: 2050, stranded: 50 }, { base: 7777,
    stranded: 1 }];
  assert.equal(chosenRows(rows, segments, { which: 'history', sort: 'address' }), null);
  assert.deepEqual(chosenRows(rows, segments, { which: 'now', sort: 'address' }), [1, 2]);
  assert.deepEqual(chosenRows(rows, segments, { which: 'history', sort: 'stranded' }), [2, 1, 0]);
  assert.deepEqual(chosenRows(rows, segments, { which: 'now', only: 1099 }), [1]);
  assert.equal(chosenRows(rows, segments, { which: 'now', only: 500 }), null, 'gone for good');
});

test('a segment that the map has no row of is no longer shown alone', () => {
  const only = { setAttribute: (name, value) => { only[name] = value; } };
  const map = { store: { get: () => ({ sel: null }) }, found: [], only,
    chosen: { which: 'history', sort: 'address', only: 130 } };
  assert.deepEqual(shownRows(map, [{ base: 0, bytes: 100 }, { base: 100, bytes: 50 }]), [1]);
  assert.equal(map.chosen.only, 130);
  assert.equal(shownRows(map, [{ base: 0, bytes: 100 }]), null);
  assert.deepEqual([map.chosen.only, only['aria-pressed']], [null, 'false']);
});

test('pins: of what is stranded, not of what is free or full', () => {
  const pin = { row: 7, size: 30, name: 'a.py:1 f' };
  assert.deepEqual(pinsOf([{ base: 1, stranded: 70, pin }, { base: 2, stranded: 0, pin },
    { base: 3, stranded: 0 }]), [{ base: 1, stranded: 70, id: 7, size: 30, name: 'a.py:1 f' }]);
});

test('what steps left, but for the lines that leak', () => {
  const steps = [{ name: 'step 1' }, { name: '', number: 2 }];
  const rows = [{ name: 'a.py:1 f', bytes: [1, 2], total: 3, first: 1 }, { name: 'b.py:1 g',
    bytes: [4, 0], total: 4, first: 0 }];
  assert.deepEqual(leftByStep({ rows, steps }, new Set(['b.py:1 g'])),
    [{ line: 'a.py:1 f', left: [1, 2], total: 3, first: 'step 2' }]);
});

test('sides of a difference: every device of every file, at its own moment', () => {
  const head = { files: [{ name: 'x/a.pickle', devices: [{ name: 'cuda:0' }, { name: 'cuda:1' }] },
    { name: 'b.pickle', devices: [{ name: 'cuda:0' }] }] };
  assert.deepEqual(sidesOf(head), [['0.0', 'x/a.pickle cuda:0'], ['0.1', 'x/a.pickle cuda:1'],
    ['1.0', 'b.pickle cuda:0']]);
  const cover = { states: 10, peak: { state: 4 } };
  assert.deepEqual(['peak', 'end', 'cursor'].map((m) => momentOf(m, cover, 50).state), [4, 9, 9]);
  assert.equal(momentOf('peak', { states: 0, peak: null }, 0).state, 0);
});

test('a drawing becomes SVG: nested, escaped, and neighbours joined', () => {
  const g = createSvg(100, 50, (text) => text.length * 7);
  g.fillStyle = '#0b57d022';
  g.fillRect(0, 0, 10, 5);
  g.fillRect(10, 0, 10, 5);
  g.fillRect(30, 0, 10, 5);
  g.save();
  g.rect(0, 0, 9, 9);
  g.clip();
  g.translate(3, 4);
  g.textAlign = 'right';
  g.fillText('</text><script>"&\u0000', 1, 2);
  g.restore();
  assert.equal(g.textAlign, 'left');
  const text = g.finish('a < b', '#ffffff');
  assert.equal(text.match(/<rect /g).length, 3, 'the ground, two joined, one apart');
  assert.ok(text.includes('fill="#0b57d0" fill-opacity="0.13"'));
  assert.ok(text.includes('&lt;/text&gt;&lt;script&gt;&quot;&amp;</text>'));
  assert.equal(text.match(/<g /g).length, text.match(/<\/g>/g).length);
  assert.ok(text.includes('<title>a &lt; b</title>'));
});

test('areas of groups are the runs of their columns, joined along', () => {
  const columns = [[[0, 2, 4], [1, 4, 6]], [[0, 2, 4], [1, 4, 5]], [[0, 2, 4]]];
  const areas = areasOf(3, (c) => columns[c]);
  assert.deepEqual([...areas], [[0, [[0, 3, 2, 4]]], [1, [[0, 1, 4, 6], [1, 2, 4, 5]]]]);
});

test('the sizes beside the rows of the address map are short enough for their room', () => {
  const said = [];
  const g = new Proxy({ fillText: (text) => said.push(text) }, { get: (o, key) => o[key] || (() => {}) });
  const box = { left: 66, top: 28, width: 700, height: 300 };
  for (const mib of [160, 900 * 1024, 1000, 1228.5, 2.5]) {
    const row = { bytes: mib * 2 ** 20 };
    drawRows(g, null, box, {}, { rows: [row], tops: [0], y0: 0, y1: row.bytes });
  }
  assert.deepEqual(said, ['160 MiB', '900 GiB', '1000 MiB', '1.2 GiB', '2.5 MiB']);
});

test('groups are taken out and put back by name; another grouping begins anew', () => {
  const one = toggled(null, 'site', 'a');
  assert.deepEqual(one, { by: 'site', names: ['a'] });
  const two = toggled(one, 'site', 'b');
  assert.deepEqual(two, { by: 'site', names: ['a', 'b'] });
  assert.deepEqual(toggled(two, 'site', 'a'), { by: 'site', names: ['b'] });
  assert.equal(toggled(one, 'site', 'a'), null);
  assert.deepEqual(toggled(two, 'category', 'a'), { by: 'category', names: ['a'] });
});

test('what is taken out is named where it is one, else counted', () => {
  assert.equal(withoutText(null, ', '), '');
  assert.equal(withoutText({ by: 'pool', names: ['a', 'b'] }, ', '), ', without 2 pools');
  assert.equal(withoutText({ by: 'category', names: ['optimizer_state'] }),
    'without optimizer state');
  assert.equal(withoutText({ by: 'line', names: ['a', 'b'] }), 'without 2 lines');
  assert.ok(withoutText({ by: 'site', names: ['x'.repeat(99)] }).length < 50);
  assert.equal(withoutText({ by: 'size', names: ['a', 'b', 'c'] }), 'without 3 sizes');
});

test('words of a command are as a shell reads them', () => {
  assert.equal(quoted('run/a.pickle'), 'run/a.pickle');
  assert.equal(quoted('a.py:1 f'), "'a.py:1 f'");
  assert.equal(quoted("a'$(b)"), "'a'\\''$(b)'");
  assert.equal(quoted(''), "''");
});

test('a line has the text of its file, unless two files differ about it', () => {
  const source = [['a:1 f', 'x'], ['b:1 f', 'y'], ['b:1 f', 'z'], ['a:1 f', 'x'], ['b:1 f', 'y']]
    .map(([site, text]) => ({ site, text }));
  assert.deepEqual([...sourcesOf({ source })], [['a:1 f', 'x'], ['b:1 f', '']]);
  assert.equal(sourcesOf({}).size, 0);
});

test('names are cut at their ends, and left out where too little of them is left', () => {
  const g = { measureText: (text) => ({ width: text.length * 7 }) };
  assert.equal(shortened('model.py:22 forward', 12), 'model.py:22\u2026');
  assert.equal(cutTo(g, 'optimizer', 63), 'optimizer');
  assert.equal(cutTo(g, 'optimizer', 50), 'optimi\u2026');
  assert.equal(cutTo(g, 'optimizer', 28), '');
});
