// main.js - what runs first on the page: reads its head, starts the engine and shows the page.
import { read, write } from './ui/state/link.js';
import { schemaProblem } from './core/model/decode.js';
import { start } from './ui/page.js';
import { coverFirst, startEngine } from './worker/asking.js';

/* The text of a block, whose element ends: it would be held twice. */
function takeText(element) {
  const text = element.textContent;
  element.remove();
  return text;
}

/* Links have short names for what the page's state has whole words for. */
const link = {
  write: (state) => write({ ...state, q: state.query,
    sel: state.sel ? { kind: 'a', id: state.sel.id } : null }),
  read: (fragment) => {
    const { state: { q, sel, ...state }, notes } = read(fragment);
    if (q !== undefined) state.query = q;
    if (sel) state.sel = { kind: 'alloc', id: sel.id };
    return { state, notes };
  },
};

function fail(message) {
  const alarm = document.getElementById('alarm');
  // Where there is no page to show, above the report.
  if (document.getElementById('page').hidden) document.body.prepend(alarm);
  alarm.hidden = false;
  alarm.textContent = message;
}

/* The head of the page; null where it cannot be read, which the page then says. */
function readHead() {
  try {
    const head = JSON.parse(document.getElementById('head').textContent);
    const problem = schemaProblem(head);
    if (problem) {
      fail(problem);
      return null;
    }
    for (const file of head.files) {
      const { path, entry } = file.report.file;
      file.name = path + (entry ? ` ${entry}` : '');
    }
    return head;
  } catch {
    fail('head: damaged data; the file was altered');
    return null;
  }
}

function runPage() {
  const head = readHead();
  if (!head) return;
  const { worker: text, started, blocks } = globalThis.vramscope;
  // It is long, and each worker has its own.
  globalThis.vramscope.worker = '';
  const worker = started?.failed ? null : started;
  const engine = startEngine(head.files, worker, text);
  // What is wrong with a block is said by the answers that lack it.
  const take = (element) => {
    engine.block(Number(element.id.slice(1)), takeText(element)).catch(() => {});
  };
  const cover = takeText(document.getElementById('cover'));
  // All but the covers can be shown without it.
  engine.block(0, cover).catch((error) => fail(error.message));
  /* None is kept: an element that has left the page would still hold its text. */
  blocks.splice(0).forEach(take);
  globalThis.vrs_block = () => take(document.currentScript.previousElementSibling);
  // The parser may be at its end already.
  if (document.readyState === 'loading') addEventListener('DOMContentLoaded', () => engine.end());
  else engine.end();
  const call = worker ? coverFirst(engine.call, head.files, cover) : engine.call;
  start(head, call, link).catch((error) => fail(String(error.message ?? error)));
}

runPage();
