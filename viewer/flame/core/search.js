// search.js - which frames have a text in their names, and what share of a weight is in them.
import { rootsOf } from './paths.js';

/** { names, frames, value }: whether each name has the text, whatever the case; how many ways down
 * the tree end in a frame that has it; and the sum of the weight in such frames and in all below
 * them, each part once, however many of the frames above it have the text. null: there is no text.
 * A thread that is the only one is no frame. */
export function search(paths, self, total, text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return null;
  const has = (name) => (name.toLowerCase().includes(wanted) ? 1 : 0);
  const names = Uint8Array.from(paths.names, has);
  const { count, parent, name } = paths;
  const several = rootsOf(paths).length > 1;
  const inside = new Uint8Array(count);
  let frames = 0;
  let value = 0;
  for (let p = 0; p < count; p++) {
    const up = parent[p];
    const own = names[name[p]] && (several || up >= 0);
    if (own && total[p] > 0) frames++;
    inside[p] = own || (up >= 0 && inside[up]) ? 1 : 0;
    if (inside[p]) value += self[p];
  }
  return { names, frames, value };
}
