// serving.js - answers in a worker what its page asks.
import { createEngine } from '../core/engine.js';
import { SLOW, TOO_SLOW, createPictureOps, matchStrings } from '../core/memory/pictures.js';
import { createQueue } from '../core/model/queue.js';
import { soon } from '../core/model/slices.js';
import { fromBase64 } from '../core/model/unpack.js';

/* Arrays of these answers are made for the asker: they move instead of being copied. */
const MOVED = ['raster', 'groups', 'map', 'tree'];

// Milliseconds until a worker has to be running.
const STARTING = 5000;

function buffersOf(op, value) {
  if (!MOVED.includes(op) || !value) return [];
  const arrays = Object.values(value).filter((part) => ArrayBuffer.isView(part));
  return [...new Set(arrays.map((array) => array.buffer))];
}

/** `call` of an engine that is given the text of blocks, which only its side decodes. */
export function decoding(call) {
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

/** Answers what `scope` is told: first {files, text}, where `text` is this worker's script, then
 * requests; or there is one message, of {sources, strings}. `workersOf(text)` makes what makes one
 * more worker like it, or null. */
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
