// check.js - compares what the page adds up with what the C core did, before anything is believed.
import { at } from './curves.js';

/** Live allocations in each of some states. */
function liveCounts(model, states) {
  const { rows, born, end } = model.alloc;
  return states.map((p) => {
    let n = 0;
    for (let i = 0; i < rows && born[i] <= p; i++) if (end[i] > p) n++;
    return n;
  });
}

/** What differs at the states the head has figures of: [{state, what, page, core}], by state. */
export function differences(model, { curve, pending, reserved }) {
  const checks = (model.head.check ?? []).filter((c) => c.state >= 0 && c.state < model.states);
  const counts = liveCounts(model, checks.map((c) => c.state));
  const found = [];
  checks.forEach((check, i) => {
    const p = check.state;
    const page = { requested_bytes: curve[p], live: counts[i], pending_bytes: at(pending, p),
      reserved_bytes: at(reserved, p) };
    for (const [what, value] of Object.entries(page)) {
      const core = check[what];
      if (core !== undefined && core !== null && core !== value) {
        found.push({ state: p, what, page: value, core });
      }
    }
  });
  return found.sort((a, b) => a.state - b.state);
}
