// slices.js - long work as a generator, to be done at once or in parts.

/** Milliseconds of work between two pauses. */
export const SLICE = 8;
/** Rows or so from one standstill to the next: well under a slice. */
export const STRIDE = 16384;

/** Whether an operation gave work, not its answer. */
export function isWork(made) {
  return typeof made?.next === 'function';
}

/** All of it. */
export function atOnce(work) {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** A promise of the same; between slices `pause` lets others work. */
export async function inSlices(work, pause, now = () => performance.now()) {
  for (;;) {
    const until = now() + SLICE;
    do {
      const { done, value } = work.next();
      if (done) return value;
    } while (now() < until);
    await pause();
  }
}

/** `act(from, to)` over [0, n) in strides, standing still after each. */
export function* strides(n, act, stride = STRIDE) {
  for (let from = 0; from < n; from += stride) {
    act(from, Math.min(n, from + stride));
    yield;
  }
}

/** After the messages that wait; a timer would add milliseconds. */
export function soon() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(0);
  });
}
