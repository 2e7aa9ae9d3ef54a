// queue.js - requests in turn; of each kind only the newest waits.

// Each of these says something of its own.
const ALL = ['block', 'end', 'cover', 'range'];

/* Requests of one kind: a later one makes the earlier ones needless. */
function kindOf({ op, args = {} }, serial) {
  if (ALL.includes(op)) return `${op} ${serial}`;
  if (op === 'band') return `${op} ${args.id}`;
  // Who asks says what for, where others ask the same: for the cursor, the pointer, a strip.
  return `${op} ${args.what ?? ''} ${op === 'row' ? args.id : ''}`;
}

/**
 * push(request) takes {id, op, args}; each is answered once by answer({id, value} or {id, error}):
 * value null where a newer one came before its turn. `pause` lets waiting messages in between two.
 */
export function createQueue(call, answer, pause) {
  const waiting = new Map();
  let running = false;
  let serial = 0;

  async function one({ id, op, args }) {
    try {
      answer({ id, op, value: await call(op, args) });
    } catch (e) {
      answer({ id, op, error: e?.message ?? String(e), column: e?.column ?? null });
    }
  }

  async function run() {
    running = true;
    await pause();
    while (waiting.size > 0) {
      const [kind, request] = waiting.entries().next().value;
      waiting.delete(kind);
      // Not waited for: what waits for blocks must not keep the blocks from coming.
      one(request);
      await pause();
    }
    running = false;
  }

  return (request) => {
    const kind = kindOf(request, ++serial);
    const older = waiting.get(kind);
    if (older) answer({ id: older.id, op: older.op, value: null });
    waiting.delete(kind);
    waiting.set(kind, request);
    if (!running) run();
  };
}
