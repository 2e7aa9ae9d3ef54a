// cursor.js - whether a picture follows from the cursor.  No DOM.

/** What the engine is told of the cursor where a picture depends on it: ages are counted to it, and
 * a search may ask what is alive there.  Null where it does not. */
export function cursorIn({ by, query, at }) {
  return by === 'age' || query.includes('alive:') ? { state: at } : null;
}
