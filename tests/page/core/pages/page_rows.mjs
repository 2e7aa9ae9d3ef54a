// page_rows.mjs - prints who holds the memory by the page's words, for tests that compare it.
//
//     node page_rows.mjs PAGE < questions.json
//
// A question is {dev, by, at}, `at` an event as `vramscope peak --json` counts it.  For each the rows
// [name, bytes, count, largest, oldest event], as the page orders them; what the curve has beside
// them; and `found`, the bytes alive that the search finds for the first rows, null where there is no
// term.
import { readFileSync } from 'node:fs';
import { adjustAt } from '../../../../viewer/core/memory/curves.js';
import { grouping, groupRows, liveAt } from '../../../../viewer/core/memory/live.js';
import { parse, run } from '../../../../viewer/core/memory/query.js';
import { termOf } from '../../../../viewer/ui/state/terms.js';
import { readPage } from './read_page.mjs';

const FOUND = 12;

function foundBytes(d, by, row, state) {
  const term = termOf(by, row);
  return term ? run(d.model, parse(term), { grouping: d.grouping }).atCursor(state) : null;
}

const page = readPage(process.argv[2]);
const answers = [];
for (const { dev, by, at } of JSON.parse(readFileSync(0, 'utf8'))) {
  const d = await page.device(dev);
  const { model } = d;
  const state = at + 1;
  const rows = groupRows(model, liveAt(model, state), grouping(model, by, state), state);
  answers.push({ adjust: adjustAt(model, state),
    rows: rows.map((r) => [r.name, r.bytes, r.count, r.largest, r.since - 1]),
    found: rows.slice(0, FOUND).map((row) => foundBytes(d, by, row, state)) });
}
process.stdout.write(JSON.stringify(answers));
