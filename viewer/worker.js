// worker.js - the engine in a worker, or on the page in slices where there is none.
import { createEngine } from './core/engine.js';
import { pictureOps } from './core/pictures.js';
import { createQueue } from './core/queue.js';
import { fromBase64 } from './core/unpack.js';

/* Arrays of these answers are made for the asker: they move instead of being copied. */
const MOVED = ['raster', 'groups', 'map', 'tree'];

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
  return (op, args) => (op === 'block' && args.text !== undefined
    ? call(op, { n: args.n, bytes: fromBase64(args.text, `block ${args.n}`) }) : call(op, args));
}

/** The worker's side: the first message is {files}, the others are requests. */
export function runWorker(scope) {
  let push = null;
  scope.onmessage = ({ data }) => {
    if (data.files) {
      const answer = (reply) => scope.postMessage(reply, buffersOf(reply.op, reply.value));
      push = createQueue(decoding(createEngine(data.files, pictureOps)), answer, soon);
    } else if (push) {
      push(data);
    }
  };
}

/* Sends requests and settles their promises. */
function createAsker(send) {
  const open = new Map();
  let serial = 0;
  return {
    call: (op, args) => new Promise((resolve, reject) => {
      const id = ++serial;
      open.set(id, { resolve, reject });
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
}

/**
 * The page's side: call(op, args) as of the engine, block(n, text), end(). `worker` is one that
 * runs `runWorker`, or null: then the engine runs here, one request at a time. An answer is null
 * where a newer request of its kind made it needless.
 */
export function startEngine(files, worker) {
  let push = null;
  const asker = createAsker((request) => push(request));
  if (worker) {
    worker.onmessage = ({ data }) => asker.settle(data);
    worker.onerror = (event) => asker.fail(event.message ?? 'the worker failed');
    worker.postMessage({ files });
    push = (request) => worker.postMessage(request);
  } else {
    push = createQueue(decoding(createEngine(files, pictureOps)), asker.settle, soon);
  }
  return { call: asker.call, block: (n, text) => asker.call('block', { n, text }),
    end: () => asker.call('end', {}) };
}
