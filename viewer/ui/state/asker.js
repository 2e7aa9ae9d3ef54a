// asker.js - asks the engine, of whose answers only that to the newest question counts.

export function createAsker({ ask, failed }) {
  let wanted = 0;
  return {
    /** Asks, and gives the answer to `then` unless something was asked since. */
    ask(op, args, then) {
      const serial = ++wanted;
      ask(op, args).then((got) => { if (got && serial === wanted) then(got); }, failed);
    },
  };
}
