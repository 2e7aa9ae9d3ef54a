// asking.js - asks the engine of a worker, or one on the page where there is no worker.
import { createEngine } from '../core/engine.js';
import { createPictureOps } from '../core/memory/pictures.js';
import { createQueue } from '../core/model/queue.js';
import { inSlices, soon } from '../core/model/slices.js';
import { decoding } from './serving.js';

/* Sends requests and settles their promises; `kept` are those that may have to be sent again. */
function createAsker(send) {
  const open = new Map();
  let serial = 0;
  const asker = {
    kept: [],
    call: (op, args) => new Promise((resolve, reject) => {
      const id = ++serial;
      open.set(id, { resolve, reject });
      asker.kept?.push({ id, op, args });
      send({ id, op, args });
    }),
    settle: ({ id, value, error, column }) => {
      const asked = open.get(id);
      open.delete(id);
      if (!asked) return;
      if (error === undefined) asked.resolve(value);
      else asked.reject(Object.assign(new Error(error), { column }));
    },
    fail: (message) => {
      for (const { reject } of open.values()) reject(new Error(message));
      open.clear();
    },
  };
  return asker;
}

/** `call` of a worker, whose first `cover` may be answered here: what was computed beforehand is
 * small, and a worker takes longer to start than to decode it. `text` is block 0. */
export function coverFirst(call, files, text) {
  let here = decoding(createEngine(files, createPictureOps()));
  here('block', { n: 0, text }).catch(() => {});
  return (op, args) => {
    const answer = call(op, args);
    if (op !== 'cover' || !here) return answer;
    const early = here(op, args);
    here = null;
    return Promise.any([early, answer]).catch(() => answer);
  };
}

/**
 * The page's side: call(op, args) as of the engine, block(n, text), end(). `worker` is one that
 * runs `text`, the worker's script, or null: then, or when it ends before it has answered,
 * the engine runs here, in slices. An answer is null where a newer request of its kind made it
 * needless.
 */
export function startEngine(files, worker, text) {
  let push = null;
  const asker = createAsker((request) => push(request));
  const runHere = () => {
    const engine = createEngine(files, createPictureOps(), (work) => inSlices(work, soon), soon);
    push = createQueue(decoding(engine), asker.settle, soon);
    const { kept } = asker;
    asker.kept = null;
    kept.forEach(push);
  };
  if (worker) {
    worker.onmessage = ({ data }) => {
      asker.kept = null;
      asker.settle(data);
    };
    worker.onerror = (event) => {
      if (!asker.kept) {
        asker.fail(event.message ?? 'the worker failed');
        return;
      }
      worker.onerror = null;
      worker.terminate();
      runHere();
    };
    worker.postMessage({ files, text });
    push = (request) => worker.postMessage(request);
  } else {
    runHere();
  }
  return { call: asker.call, block: (n, text) => asker.call('block', { n, text }),
    end: () => asker.call('end', {}) };
}
