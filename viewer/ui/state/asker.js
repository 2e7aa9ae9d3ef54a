// asker.js - asks the engine again when the question changes; only the newest answer counts.

export function createAsker(ctx) {
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
      ctx.call(op, args).then((got) => { if (got && mine === wanted) then(got); }, ctx.failed);
    },
    forget() { asked = ''; },
  };
}
