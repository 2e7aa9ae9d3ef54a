// check.js - compares what the page adds up with what the C core did, before anything is believed.
import { at, sumsIn } from './curves.js';

/** What differs at the states the head has figures of: [{state, what, page, core}], by state. */
export function differences(model, { curve, reserved }) {
  const checks = (model.head.check ?? []).filter((c) => c.state >= 0 && c.state < model.states)
    .sort((a, b) => a.state - b.state);
  const { live, pending } = sumsIn(model, checks.map((c) => c.state));
  const found = [];
  checks.forEach((check, i) => {
    const p = check.state;
    const page = { requested_bytes: curve[p], live: live[i], pending_bytes: pending[i],
      reserved_bytes: at(reserved, p) };
    for (const [what, value] of Object.entries(page)) {
      const core = check[what];
      if (core !== undefined && core !== null && core !== value) {
        found.push({ state: p, what, page: value, core });
      }
    }
  });
  return found;
}
