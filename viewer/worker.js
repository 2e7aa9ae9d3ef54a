// worker.js - the engine in a worker, or on the page in slices where there is none.
import { createEngine } from './core/engine.js';
import { SLOW, TOO_SLOW, createPictureOps, matchStrings } from './core/memory/pictures.js';
import { createQueue } from './core/model/queue.js';
import { fromBase64 } from './core/model/unpack.js';
import { inSlices } from './core/model/slices.js';

/* Arrays of these answers are made for the asker: they move instead of being copied. */
const MOVED = ['raster', 'groups', 'map', 'tree'];

// Milliseconds until a worker has to be running.
const STARTING = 5000;

function buffersOf(op, value) {
  if (!MOVED.includes(op) || !value) return [];
  const arrays = Object.values(value).filter((part) => ArrayBuffer.isView(part));
  return [...new Set(arrays.map((array) => array.buffer))];
}

/* After the messages that wait; a timer would add milliseconds. */
function soon() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(0);
  });
}

/* Blocks arrive as text, which only the engine's side decodes. */
function decoding(call) {
  const bytesOf = ({ n, text }) => {
    try {
      return { n, bytes: fromBase64(text, `block ${n}`) };
    } catch (error) {
      return { n, error };
    }
  };
  return (op, args) => call(op, op === 'block' && args.text !== undefined ? bytesOf(args) : args);
}

/* What a short-lived worker is for: an expression that never ends, ended from outside. */
function answerMatch(scope, { sources, strings }) {
  scope.postMessage({ began: true });
  try {
    scope.postMessage({ found: matchStrings(sources, strings) });
  } catch (e) {
    scope.postMessage({ error: e.message });
  }
}

/* matchStrings in a worker of its own, which ends when it takes too long; here, where a worker
 * cannot have another. */
function createMatcher(create) {
  return (sources, strings) => {
    const worker = create();
    if (!worker) return matchStrings(sources, strings);
    return new Promise((resolve, reject) => {
      let timer = 0;
      const limit = (ms) => {
        clearTimeout(timer);
        timer = setTimeout(() => end({ error: TOO_SLOW }), ms);
      };
      const end = ({ found, error }) => {
        clearTimeout(timer);
        worker.terminate();
        if (error) reject(new Error(error));
        else resolve(found);
      };
      worker.onmessage = ({ data }) => (data.began ? limit(SLOW) : end(data));
      worker.onerror = () => end({ error: 'the worker failed' });
      limit(STARTING);
      worker.postMessage({ sources, strings });
    });
  };
}

/** The worker's side: the first message is {files, text}, the others are requests; or there is one
 * of {sources, strings}. `workersOf(text)` makes what makes one more worker like it, or null. */
export function runWorker(scope, workersOf) {
  let push = null;
  scope.onmessage = ({ data }) => {
    if (data.files) {
      const answer = (reply) => scope.postMessage(reply, buffersOf(reply.op, reply.value));
      const ops = createPictureOps(createMatcher(workersOf(data.text)));
      push = createQueue(decoding(createEngine(data.files, ops)), answer, soon);
    } else if (data.strings) {
      answerMatch(scope, data);
    } else if (push) {
      push(data);
    }
  };
}

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
 * runs `runWorker`, of the script `text`, or null: then, or when it ends before it has answered,
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
