// asker.js - asks the engine again when the question changes; only the newest answer counts.

export function createAsker({ ask, failed }) {
  let asked = '';
  let wanted = 0;
  return {
    /** Whether `key`, what the answer follows from, differs from that of the last question. */
    isNew(key) {
      const text = JSON.stringify(key);
      const differs = text !== asked;
      asked = text;
      return differs;
    },
    /** Asks, and gives the answer to `then` unless something was asked since. */
    ask(op, args, then) {
      const mine = ++wanted;
      ask(op, args).then((got) => { if (got && mine === wanted) then(got); }, failed);
    },
    forget() { asked = ''; },
  };
}
