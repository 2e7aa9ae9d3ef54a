// bench.mjs - medians of the operations of the page's core on the four shapes, in ms and in u.
//
//   node tests/page/core/bench.mjs [SHAPE...] [--times N]     default: all shapes of a million
//
// One u is the median time of 20 million read-modify-write steps on a Float64Array of 65,536,
// measured before each shape, since other work on the machine slows both.
import { makeShape, SHAPES } from './made/shapes.mjs';
import { pyramid, requested } from '../../../viewer/core/memory/curves.js';
import { shownStates } from '../../../viewer/core/memory/columns.js';
import { groupSums, groupsPicture, mapPicture, mapRows, stackPicture } from './made/whole.mjs';
import { eventsAround, mapExtent, segmentsAt } from '../../../viewer/core/memory/address.js';
import { flame, layout } from '../../../viewer/core/memory/tree.js';
import { parse, run } from '../../../viewer/core/memory/query.js';
import { createDevice } from '../../../viewer/core/memory/device.js';
import { peel } from '../../../viewer/core/memory/peel.js';
import { diffRows } from '../../../viewer/core/memory/diff.js';
import { survivorsBy } from '../../../viewer/core/memory/leaks.js';

const W = 1600;
const H = 900;

function median(times, task) {
  const taken = [];
  for (let i = 0; i < times; i++) {
    const began = performance.now();
    task();
    taken.push(performance.now() - began);
  }
  return taken.sort((a, b) => a - b)[times >> 1];
}

function steps(list) {
  for (let i = 0; i < 2e7; i++) list[i & 65535] += 1;
}

function unit() {
  const list = new Float64Array(65536);
  return median(7, () => steps(list));
}

function liveRows({ alloc }, p) {
  const rows = [];
  for (let r = 0; r < alloc.rows && alloc.born[r] <= p; r++) if (alloc.end[r] > p) rows.push(r);
  return Uint32Array.from(rows);
}

/* The operations by name; what they work on is made before, and not measured. */
function operations(model) {
  const curve = requested(model);
  const pyr = pyramid(curve);
  const { states } = model;
  const shown = shownStates(pyr, 0, states, W);
  const zoomed = shownStates(pyr, Math.floor(states * 0.6), Math.floor(states * 0.65), W);
  const peak = shown.reduce((best, p) => (curve[p] > curve[best] ? p : best), 0);
  const view = { shown, y0: 0, y1: curve[peak], H };
  const groups = { ...view, groupOf: model.alloc.cat, groups: 12 };
  const map = mapRows(model);
  const mapView = { shown, y0: 0, y1: mapExtent(map).bytes, H };
  const [live, half] = [liveRows(model, peak), liveRows(model, states >> 1)];
  const tree = flame(model, live);
  const device = createDevice(model);
  device.grouping('site');
  device.peak();
  let peels = 0;
  return {
    live: live.length,
    tasks: {
      curve: () => requested(model),
      pyramid: () => pyramid(curve),
      '1,600 columns': () => shownStates(pyr, 0, states, W),
      stack: () => stackPicture(model, view),
      'stack, 5 %': () => stackPicture(model, { ...view, shown: zoomed }),
      'stack, 800 x 450': () => stackPicture(model,
        { ...view, shown: shown.filter((_, c) => c % 2 === 0), H: 450 }),
      'group sums (12)': () => groupSums(model, groups),
      'groups, drawn': () => groupsPicture(model, groups),
      'map, places': () => mapRows(model),
      map: () => mapPicture(model, map, mapView),
      'live set': () => liveRows(model, peak),
      'segments at p': () => segmentsAt(model, peak),
      '200 events': () => eventsAround(model, states >> 1),
      flame: () => flame(model, live),
      'flame, callee': () => flame(model, live, { root: 'callee' }),
      layout: () => layout(tree, W),
      'query, word': () => run(model, parse('forward_77')),
      'query, terms': () => run(model, parse('cat:gradient size>=64KiB life<1000 | -fn:forward_7')),
      // A name of its own each time: what was made once is kept.
      'peel, one line': () => peel(device, { without: { by: 'site',
        names: [device.grouping('site').names[0], `${++peels}`] } }),
      survivors: () => survivorsBy(model, { of: model.alloc.cat, names: [] }),
      diff: () => diffRows({ model, rows: half }, { model, rows: live }),
    },
  };
}

function printShape(name, times) {
  const large = { stacks: 100000, strings: 50000 };
  const model = makeShape(name, name === 'training-small' ? {} : large);
  const { live, tasks } = operations(model);
  const u = unit();
  console.log(`\n${name}: ${model.alloc.rows} allocations, ${model.states - 1} events, ` +
    `${live} live at the peak; u = ${u.toFixed(1)} ms`);
  for (const [task, work] of Object.entries(tasks)) {
    if (!work) continue;
    work();
    const ms = median(times, work);
    const [inMs, inU] = [ms.toFixed(1).padStart(8), (ms / u).toFixed(2).padStart(8)];
    console.log(`  ${task.padEnd(18)} ${inMs} ms ${inU} u`);
  }
}

function main(args) {
  const at = args.indexOf('--times');
  const times = at < 0 ? 5 : Number(args.splice(at, 2)[1]);
  const names = args.length ? args : ['training-small', 'training', 'fifo', 'random'];
  const unknown = names.find((name) => !SHAPES[name]);
  if (unknown) {
    console.error(`bench.mjs: no shape ${unknown}; there are ${Object.keys(SHAPES).join(', ')}`);
    process.exit(2);
  }
  console.log(`pictures of ${W} x ${H}; medians of ${times}`);
  for (const name of names) printShape(name, times);
}

main(process.argv.slice(2));
