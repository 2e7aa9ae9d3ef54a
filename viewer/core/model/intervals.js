// intervals.js - in which columns something is live: shown states ascend, so it is one interval.

const BUCKETS = 8192;

/** A function from a state to the first column that shows it or a later one (W where none does):
 * something live in [born, end) is in the columns [f(born), f(end)).  A look-up, a short walk. */
export function columnsOf(shown) {
  const W = shown.length;
  const low = W ? shown[0] : 0;
  const high = W ? shown[W - 1] : 0;
  const shift = Math.max(0, Math.ceil(Math.log2((high - low + 1) / BUCKETS)));
  const buckets = new Uint32Array(Math.floor((high - low) / 2 ** shift) + 2);
  let c = 0;
  for (let b = 0; b < buckets.length; b++) {
    while (c < W && shown[c] < low + b * 2 ** shift) c++;
    buckets[b] = c;
  }
  return (state) => {
    if (state <= low) return 0;
    if (state > high) return W;
    let at = buckets[(state - low) >>> shift];
    while (shown[at] < state) at++;
    return at;
  };
}
